# SPDX-License-Identifier: BSD-3-Clause
"""Forward-backward in the log domain: right for scores of any size.

What is computed, and the conventions, are those of `_kernels.pyx`, whose fast walk certifies most sequences; this walk
serves the rest, and whoever wants log forward and backward sums. S^2 exponentials a token for each of its sweeps.
"""

from ._numeric cimport INFINITY, NAN, exp, int32_t, int64_t, log
from ._structure cimport Scores, Topology, allowed, topology_of


cdef double forward_sums(const Topology *topology, const Scores *scores, Py_ssize_t n_tokens, double *alpha,
                         double *top) noexcept nogil:
    """Log forward sums; two sweeps over the arcs of a token, for the maximum and for the sum above it. NaN if a score
    met on the way is NaN or infinite."""
    cdef Py_ssize_t S = topology.n_states, t, h, k, g
    cdef const double *arc
    cdef double *row
    cdef double *last
    cdef double value, peak, total
    for t in range(n_tokens):
        row = alpha + t * S
        for h in range(S):
            if not scores.node[t * S + h] < INFINITY:
                return NAN
        if t == 0:
            for h in range(S):
                row[h] = scores.node[h] if allowed(topology, scores, 0, <int32_t> h) else -INFINITY
            continue
        arc = scores.arc + t * scores.arc_stride
        last = row - S
        for h in range(S):
            top[h] = -INFINITY
            row[h] = 0.0
        for g in range(S):
            if last[g] == -INFINITY:
                continue
            for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                if not arc[k] < INFINITY:
                    return NAN
                value = last[g] + arc[k]
                if value > top[topology.arc_target[k]]:
                    top[topology.arc_target[k]] = value
        for g in range(S):
            if last[g] == -INFINITY:
                continue
            for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                if arc[k] > -INFINITY and top[topology.arc_target[k]] > -INFINITY:
                    row[topology.arc_target[k]] += exp(last[g] + arc[k] - top[topology.arc_target[k]])
        for h in range(S):
            if row[h] > 0.0 and allowed(topology, scores, t, <int32_t> h):
                row[h] = top[h] + log(row[h]) + scores.node[t * S + h]
            else:
                row[h] = -INFINITY
    row = alpha + (n_tokens - 1) * S
    peak = -INFINITY
    for h in range(S):
        if row[h] > peak:
            peak = row[h]
    if peak == -INFINITY:
        return peak
    total = 0.0
    for h in range(S):
        if row[h] > -INFINITY:
            total += exp(row[h] - peak)
    return peak + log(total)


cdef void backward_sums(const Topology *topology, const Scores *scores, Py_ssize_t n_tokens, const double *alpha,
                        double *beta) noexcept nogil:
    """Log backward sums, -inf for states that no path reaches."""
    cdef Py_ssize_t S = topology.n_states, t, h, k, g
    cdef const double *arc
    cdef const double *node
    cdef const double *later
    cdef double *row
    cdef double value, peak, total
    for h in range(S):
        beta[(n_tokens - 1) * S + h] = 0.0 if alpha[(n_tokens - 1) * S + h] > -INFINITY else -INFINITY
    for t in range(n_tokens - 1, 0, -1):
        arc = scores.arc + t * scores.arc_stride
        node = scores.node + t * S
        later = beta + t * S
        row = beta + (t - 1) * S
        for g in range(S):
            row[g] = -INFINITY
            if alpha[(t - 1) * S + g] == -INFINITY:
                continue
            peak = -INFINITY
            for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                h = topology.arc_target[k]
                # A state without a way in or out adds nothing: -inf is not put into sums where +inf could meet it.
                if later[h] > -INFINITY and arc[k] > -INFINITY:
                    value = arc[k] + node[h] + later[h]
                    if value > peak:
                        peak = value
            if peak == -INFINITY:
                continue
            total = 0.0
            for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                h = topology.arc_target[k]
                if later[h] > -INFINITY and arc[k] > -INFINITY:
                    total += exp(arc[k] + node[h] + later[h] - peak)
            row[g] = peak + log(total)


cdef void add_masses(const Topology *topology, const Scores *scores, Py_ssize_t n_tokens, const double *alpha,
                     const double *beta, double log_total, double weight, double *state_mass, double *arc_mass,
                     Py_ssize_t arc_mass_stride) noexcept nogil:
    """Add weight times the masses, from log forward and backward sums."""
    cdef Py_ssize_t S = topology.n_states, t, h, k, g
    cdef const double *arc
    cdef const double *node
    cdef double *out
    cdef double value, peak, total, normaliser, share
    for t in range(n_tokens):
        # The masses of a token add up to one whatever the rounding of long sums: divide by their own sum. The log sum
        # comes off first: twice a score near the largest number would be infinite.
        total = 0.0
        peak = -INFINITY
        for h in range(S):
            value = alpha[t * S + h] - log_total + beta[t * S + h]
            if value > peak:
                peak = value
        for h in range(S):
            value = alpha[t * S + h] - log_total + beta[t * S + h]
            if value > -INFINITY:
                total += exp(value - peak)
        normaliser = 1.0 / total
        for h in range(S):
            value = alpha[t * S + h] - log_total + beta[t * S + h]
            if value > -INFINITY:
                state_mass[t * S + h] += weight * (exp(value - peak) * normaliser)
        if t == 0:
            continue
        arc = scores.arc + t * scores.arc_stride
        node = scores.node + t * S
        out = arc_mass + t * arc_mass_stride
        for g in range(S):
            if alpha[(t - 1) * S + g] == -INFINITY:
                continue
            for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                h = topology.arc_target[k]
                if beta[t * S + h] > -INFINITY and arc[k] > -INFINITY:
                    value = alpha[(t - 1) * S + g] - log_total + (arc[k] + node[h] + beta[t * S + h])
                    # Where scores are so large that their rounding shows (1e16 and beyond) a mass still is at most one.
                    share = exp(value - peak) * normaliser
                    out[k] += weight * (share if share < 1.0 else 1.0)


def accumulate(
    const double[:, ::1] node,           # IN    (n_tokens, n_states) log-scores
    const double[:, ::1] arc,            # IN    (1 | n_tokens, n_arcs) log-scores
    const int32_t[::1] arc_target,       # IN    (n_arcs,)
    const int64_t[::1] arc_ptr,          # IN    (n_states + 1,)
    const int32_t[::1] state_label,      # IN    (n_states,)
    const int32_t[::1] label_ptr,        # IN    (n_labels + 1,)
    const int32_t[::1] label_state,      # IN    (n_states,)
    const int32_t[::1] clamp,            # IN    (n_tokens,) label id, -1 = free, -2 = no state; empty = all free
    const int64_t[::1] offsets,          # IN    (n_sequences + 1,)
    const int64_t[::1] sequences,        # IN    (any,) the sequences to walk
    const double[::1] weight,            # IN    (n_sequences,) factor of the masses
    bint masses,                         # IN    whether masses are wanted, or log_sum only
    double[:, ::1] state_mass,           # INOUT (n_tokens, n_states) masses are added
    double[:, ::1] arc_mass,             # INOUT (1 | n_tokens, n_arcs) as many rows as arc
    double[::1] log_sum,                 # OUT   (n_sequences,) -inf if no path, NaN if a score is NaN or inf
    double[:, ::1] work,                 # WORK  (1, (2 * longest + 1) * n_states)
):
    """Forward-backward in the log domain of the sequences named."""
    cdef Topology topology
    cdef Scores scores
    cdef Py_ssize_t i, n, first, n_tokens, S = node.shape[1], stride, n_arcs = arc.shape[1]
    cdef double total
    cdef double *alpha
    cdef double *beta
    if S == 0 or node.shape[0] == 0:
        return
    topology = topology_of(S, False, arc_target, arc_ptr, state_label, label_ptr, label_state)
    stride = n_arcs if arc.shape[0] > 1 else 0
    alpha = &work[0, 0]
    with nogil:
        for n in range(sequences.shape[0]):
            i = sequences[n]
            first = offsets[i]
            n_tokens = offsets[i + 1] - first
            if n_tokens == 0:
                log_sum[i] = 0.0
                continue
            scores.node = &node[first, 0]
            scores.arc = (&arc[first, 0] if stride else &arc[0, 0]) if n_arcs else NULL
            scores.arc_stride = stride
            scores.clamp = &clamp[first] if clamp.shape[0] else NULL
            total = forward_sums(&topology, &scores, n_tokens, alpha, alpha + n_tokens * S)
            log_sum[i] = total
            if masses and total > -INFINITY:
                beta = alpha + (n_tokens + 1) * S
                backward_sums(&topology, &scores, n_tokens, alpha, beta)
                add_masses(&topology, &scores, n_tokens, alpha, beta, total, weight[i], &state_mass[first, 0],
                           (&arc_mass[first, 0] if stride else &arc_mass[0, 0]) if n_arcs else NULL, stride)


def messages(
    const double[:, ::1] node,           # IN    (n_tokens, n_states) log-scores
    const double[:, ::1] arc,            # IN    (1 | n_tokens, n_arcs) log-scores
    const int32_t[::1] arc_target,       # IN    (n_arcs,)
    const int64_t[::1] arc_ptr,          # IN    (n_states + 1,)
    const int32_t[::1] state_label,      # IN    (n_states,)
    const int32_t[::1] label_ptr,        # IN    (n_labels + 1,)
    const int32_t[::1] label_state,      # IN    (n_states,)
    const int64_t[::1] offsets,          # IN    (n_sequences + 1,)
    double[:, ::1] forward,              # OUT   (n_tokens, n_states) log sum of the paths up to and with the state
    double[:, ::1] backward,             # OUT   (n_tokens, n_states) log sum of what follows the state
    double[::1] log_sum,                 # OUT   (n_sequences,)
    double[::1] work,                    # WORK  (n_states,)
):
    """Log forward and backward sums of every sequence, nothing clamped; backward is unset where there is no path."""
    cdef Topology topology
    cdef Scores scores
    cdef Py_ssize_t i, first, n_tokens, S = node.shape[1], stride, n_arcs = arc.shape[1]
    if S == 0 or node.shape[0] == 0:
        return
    topology = topology_of(S, False, arc_target, arc_ptr, state_label, label_ptr, label_state)
    stride = n_arcs if arc.shape[0] > 1 else 0
    scores.arc_stride = stride
    scores.clamp = NULL
    with nogil:
        for i in range(offsets.shape[0] - 1):
            first = offsets[i]
            n_tokens = offsets[i + 1] - first
            log_sum[i] = 0.0
            if n_tokens == 0:
                continue
            scores.node = &node[first, 0]
            scores.arc = (&arc[first, 0] if stride else &arc[0, 0]) if n_arcs else NULL
            log_sum[i] = forward_sums(&topology, &scores, n_tokens, &forward[first, 0], &work[0])
            if log_sum[i] > -INFINITY:
                backward_sums(&topology, &scores, n_tokens, &forward[first, 0], &backward[first, 0])
