# SPDX-License-Identifier: BSD-3-Clause
"""Forward-backward and max-product over a lattice of states.

For one sequence of T tokens, node scores u_t(h), arc scores c_t(g, h) of the move into token t, and a set of
states allowed at each token (all of them, or those of one label where the token is clamped):

    log_sum = log sum over paths h_1..h_T of exp( sum_t u_t(h_t) + sum_{t>=2} c_t(h_{t-1}, h_t) )
    mass_t(h), mass_t(g, h) = share of that sum on paths through the state, the arc

Index convention: arcs are sorted by (source, target); the arcs out of g are arc_ptr[g]:arc_ptr[g + 1], their
ends arc_target. A topology is *dense* when every pair of states is an arc: then arc g * n_states + h is (g, h),
the order of the public transition matrix, and the wide loops of `_vector.h` serve. Arc rows are one (the same
everywhere) or one a token; row t scores the move into token t, and the row of a sequence's first token is unused.

Two walks. The *fast* walk multiplies factors exp(score - row maximum) and divides each token's forward vector by
its sum. All terms are sums and products of non-negative numbers, so the only thing that can go wrong is that a
positive term underflows; the walk checks that none can (the product of the smallest positive forward mass, arc
factor and node factor stays above TINY at every token, likewise backward, and in the product of both) and certifies
the sequence only then. The *exact* walk (`_exact_walk.pyx`) works with logarithms and is right always, at several
times the cost; the caller runs it for the sequences that were not certified.

Cost per token: S^2 multiplications for each of forward, backward and arc masses (fast), S^2 exponentials (exact).
"""

from ._numeric cimport (
    INFINITY, NAN, add_outer, add_outer_product, add_scaled, add_term, finish_forward, int32_t, int64_t, log,
    matrix_vector, max_plus, row_factors_c, start_backward, sum_of, uint8_t, vector_matrix,
)
from ._structure cimport Scores, Topology, active, all_free, allowed, topology_of

cdef double TINY = 1e-290


def row_factors(
    const double[:, ::1] score,          # IN   (n_rows, n_columns)
    double[:, ::1] factor,               # OUT  (n_rows, n_columns) exp(score - shift of the row)
    double[::1] shift,                   # OUT  (n_rows,) largest score, 0 if all are -inf
    double[::1] low,                     # OUT  (n_rows,) smallest positive factor; 0 = one may have underflowed
):
    """Turn scores into factors of at most one, row by row."""
    if score.shape[0] and score.shape[1]:
        with nogil:
            row_factors_c(&score[0, 0], &factor[0, 0], &shift[0], &low[0], score.shape[0], score.shape[1])


# ---------------------------------------------------------------------------------------------------------------
# Fast walk

cdef double fast_forward(const Topology *topology, const Scores *scores, const double *node_low, const double *arc_low,
                         Py_ssize_t n_tokens, double *alpha, double *scale, double *alpha_low,
                         bint *certified) noexcept nogil:
    """Normalised forward vectors; returns the log of the product of their sums, -inf if no path, else NaN if a factor
    is one."""
    cdef Py_ssize_t S = topology.n_states, t, i, j, k, n_here, n_before
    cdef const int32_t *here
    cdef const int32_t *before
    cdef const double *node
    cdef const double *arc
    cdef double *row
    cdef double *last
    cdef double total, smallest, value, log_product = 0.0, product = 1.0
    cdef int32_t g
    cdef bint free
    certified[0] = True
    for t in range(n_tokens):
        node = scores.node + t * S
        row = alpha + t * S
        n_here = active(topology, scores, t, &here)
        free = n_here == S
        if node_low[t] < TINY:
            certified[0] = False
            return 0.0
        if t == 0:
            for i in range(n_here):
                row[here[i]] = 1.0
        else:
            arc = scores.arc + t * scores.arc_stride
            last = alpha + (t - 1) * S
            if alpha_low[t - 1] * arc_low[t if scores.arc_stride else 0] * node_low[t] < TINY:
                certified[0] = False
                return 0.0
            if topology.dense and all_free(scores, t):
                vector_matrix(last, arc, row, S)
            else:
                n_before = active(topology, scores, t - 1, &before)
                for i in range(n_here):
                    row[here[i]] = 0.0
                if topology.dense:
                    for j in range(n_before):
                        g = before[j]
                        for i in range(n_here):
                            row[here[i]] += last[g] * arc[g * S + here[i]]
                else:
                    for j in range(n_before):
                        g = before[j]
                        for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                            if allowed(topology, scores, t, topology.arc_target[k]):
                                row[topology.arc_target[k]] += last[g] * arc[k]
        if free:
            total = finish_forward(row, node, S, &alpha_low[t])
        else:
            total = 0.0
            smallest = INFINITY
            for i in range(n_here):
                value = row[here[i]] * node[here[i]]
                row[here[i]] = value
                total += value
                if value > 0.0 and value < smallest:
                    smallest = value
        if total == 0.0:
            return -INFINITY
        if total != total:
            return NAN
        scale[t] = total
        if not free:
            value = 1.0 / total
            for i in range(n_here):
                row[here[i]] *= value
            alpha_low[t] = smallest * value
        # One logarithm for many tokens: the product of sums is kept until it leaves a safe range, and neither of
        # two factors that meet may be so small that their product could underflow.
        if total < 1e-140:
            log_product += log(total)
            continue
        product *= total
        if product < 1e-140 or product > 1e140:
            log_product += log(product)
            product = 1.0
    return log_product + log(product)


cdef bint fast_backward(const Topology *topology, const Scores *scores, const double *node_low, const double *arc_low,
                        Py_ssize_t n_tokens, const double *alpha, const double *scale, const double *alpha_low,
                        const double *turned, double *mass, double *gain, double *beta) noexcept nogil:
    """State masses alpha beta, and gain = node factor times beta over the scale; False if not certified.

    `turned`: the one arc row of a dense topology as [target, source], or NULL."""
    cdef Py_ssize_t S = topology.n_states, t, i, j, k, n_here, n_before
    cdef const int32_t *here
    cdef const int32_t *before
    cdef const double *node
    cdef const double *arc
    cdef double smallest = 1.0, value, inverse
    cdef int32_t g, h
    n_here = active(topology, scores, n_tokens - 1, &here)
    for i in range(n_here):
        beta[here[i]] = 1.0
    for t in range(n_tokens - 1, -1, -1):
        # A state that no path reaches gets beta zero: its beta could overflow, and is never wanted.
        node = scores.node + t * S
        inverse = 1.0 / scale[t]
        if n_here == S:
            smallest = start_backward(alpha + t * S, beta, node, inverse, mass + t * S, gain + t * S, S)
        else:
            smallest = INFINITY
            for i in range(n_here):
                h = here[i]
                if alpha[t * S + h] == 0.0:
                    beta[h] = 0.0
                value = beta[h]
                mass[t * S + h] = alpha[t * S + h] * value
                gain[t * S + h] = node[h] * value * inverse
                if value > 0.0 and value < smallest:
                    smallest = value
        if smallest * alpha_low[t] < TINY:
            return False
        if t == 0:
            break
        if smallest * arc_low[t if scores.arc_stride else 0] * node_low[t] < TINY:
            return False
        arc = scores.arc + t * scores.arc_stride
        n_before = active(topology, scores, t - 1, &before)
        if topology.dense and all_free(scores, t):
            if turned != NULL:
                vector_matrix(gain + t * S, turned, beta, S)
            else:
                matrix_vector(arc, gain + t * S, beta, S)
        elif topology.dense:
            for j in range(n_before):
                g = before[j]
                value = 0.0
                for i in range(n_here):
                    value += arc[g * S + here[i]] * gain[t * S + here[i]]
                beta[g] = value
        else:
            for j in range(n_before):
                g = before[j]
                value = 0.0
                for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                    if allowed(topology, scores, t, topology.arc_target[k]):
                        value += arc[k] * gain[t * S + topology.arc_target[k]]
                beta[g] = value
        n_here = n_before
        here = before
    return True


cdef void add_fast_masses(const Topology *topology, const Scores *scores, Py_ssize_t n_tokens, const double *alpha,
                          const double *mass, const double *gain, double weight, double *state_mass, double *arc_mass,
                          Py_ssize_t arc_mass_stride) noexcept nogil:
    """Add weight times the masses. With one arc row the factors are left out: the caller multiplies at the end."""
    cdef Py_ssize_t S = topology.n_states, t, i, j, k, n_here, n_before
    cdef const int32_t *here
    cdef const int32_t *before
    cdef const double *arc
    cdef const double *row
    cdef double *out
    cdef double value
    cdef int32_t g, h
    cdef bint at_once = topology.dense and scores.clamp == NULL and scores.arc_stride == 0
    if scores.clamp == NULL:
        add_scaled(state_mass, mass, weight, n_tokens * S)
    if at_once:
        add_outer(arc_mass, alpha, gain + S, weight, n_tokens - 1, S)
        return
    for t in range(n_tokens):
        n_here = active(topology, scores, t, &here)
        if scores.clamp != NULL:
            for i in range(n_here):
                state_mass[t * S + here[i]] += weight * mass[t * S + here[i]]
        if t == 0:
            continue
        row = gain + t * S
        arc = scores.arc + t * scores.arc_stride
        out = arc_mass + t * arc_mass_stride
        if topology.dense and all_free(scores, t):
            if scores.arc_stride:
                add_outer_product(out, arc, alpha + (t - 1) * S, row, weight, S)
            else:
                add_outer(out, alpha + (t - 1) * S, row, weight, 1, S)
            continue
        n_before = active(topology, scores, t - 1, &before)
        for j in range(n_before):
            g = before[j]
            value = weight * alpha[(t - 1) * S + g]
            if topology.dense:
                for i in range(n_here):
                    h = here[i]
                    k = g * S + h
                    out[k] += value * row[h] * (arc[k] if scores.arc_stride else 1.0)
            else:
                for k in range(topology.arc_ptr[g], topology.arc_ptr[g + 1]):
                    h = topology.arc_target[k]
                    if allowed(topology, scores, t, h):
                        out[k] += value * row[h] * (arc[k] if scores.arc_stride else 1.0)


def accumulate_fast(
    const double[:, ::1] node_factor,    # IN    (n_tokens, n_states)
    const double[::1] node_shift,        # IN    (n_tokens,)
    const double[::1] node_low,          # IN    (n_tokens,)
    const double[:, ::1] arc_factor,     # IN    (1 | n_tokens, n_arcs)
    const double[::1] arc_shift,         # IN    (1 | n_tokens,)
    const double[::1] arc_low,           # IN    (1 | n_tokens,)
    const int32_t[::1] arc_target,       # IN    (n_arcs,)
    const int64_t[::1] arc_ptr,          # IN    (n_states + 1,)
    bint dense,                          # IN    every pair of states is an arc
    const int32_t[::1] state_label,      # IN    (n_states,)
    const int32_t[::1] label_ptr,        # IN    (n_labels + 1,)
    const int32_t[::1] label_state,      # IN    (n_states,)
    const int32_t[::1] clamp,            # IN    (n_tokens,) label id, -1 = free, -2 = no state; empty = all free
    const int64_t[::1] offsets,          # IN    (n_sequences + 1,)
    const double[::1] weight,            # IN    (n_sequences,) factor of the masses
    bint masses,                         # IN    whether masses are wanted, or log_sum only
    double[:, ::1] state_mass,           # INOUT (n_tokens, n_states) masses are added; unused without masses
    double[:, ::1] arc_mass,             # INOUT (1 | n_tokens, n_arcs) as many rows as arc_factor
    double[::1] log_sum,                 # OUT   (n_sequences,) -inf if no path, NaN if a score is NaN or inf
    uint8_t[::1] certified,              # OUT   (n_sequences,) 0 = nothing was added, redo exactly
    double[:, ::1] work,                 # WORK  (3, longest * n_states + n_states)
    double[:, ::1] rows,                 # WORK  (2, longest)
    double[:, ::1] turned,               # WORK  (n_states, n_states) if dense with one arc row and masses, else empty
):
    """Fast forward-backward of every sequence, with the certificate of each."""
    cdef Topology topology
    cdef Scores scores
    cdef Py_ssize_t n_sequences = offsets.shape[0] - 1, i, t, first, n_tokens, S = node_factor.shape[1], k
    cdef Py_ssize_t stride, n_arcs = arc_factor.shape[1]
    cdef double total, unit, rest
    cdef bint safe
    cdef double *alpha
    cdef double *mass
    cdef double *gain
    cdef double *beta
    cdef double *turned_row = NULL
    if S == 0 or node_factor.shape[0] == 0:
        for i in range(n_sequences):
            log_sum[i] = 0.0
            certified[i] = 1
        return
    topology = topology_of(S, dense, arc_target, arc_ptr, state_label, label_ptr, label_state)
    stride = n_arcs if arc_factor.shape[0] > 1 else 0
    alpha = &work[0, 0]
    mass = &work[1, 0]
    gain = &work[2, 0]
    if dense and masses and stride == 0 and turned.shape[0]:
        turned_row = &turned[0, 0]
    with nogil:
        if turned_row != NULL:
            for k in range(S):
                for t in range(S):
                    turned[t, k] = arc_factor[0, k * S + t]
        for i in range(n_sequences):
            first = offsets[i]
            n_tokens = offsets[i + 1] - first
            certified[i] = 1
            if n_tokens == 0:
                log_sum[i] = 0.0
                continue
            scores.node = &node_factor[first, 0]
            scores.arc = (&arc_factor[first, 0] if stride else &arc_factor[0, 0]) if n_arcs else NULL
            scores.arc_stride = stride
            scores.clamp = &clamp[first] if clamp.shape[0] else NULL
            total = fast_forward(&topology, &scores, &node_low[first], &arc_low[first if stride else 0], n_tokens,
                                 alpha, &rows[0, 0], &rows[1, 0], &safe)
            if not safe:
                certified[i] = 0
                continue
            if total > -INFINITY:
                unit = rest = 0.0
                for t in range(n_tokens):
                    add_term(&unit, &rest, node_shift[first + t])
                if stride:
                    for t in range(1, n_tokens):
                        add_term(&unit, &rest, arc_shift[first + t])
                else:
                    add_term(&unit, &rest, arc_shift[0] * (n_tokens - 1))
                total += sum_of(unit, rest)
            log_sum[i] = total
            if not masses or not total > -INFINITY:
                continue
            beta = gain + n_tokens * S
            if not fast_backward(&topology, &scores, &node_low[first], &arc_low[first if stride else 0], n_tokens,
                                 alpha, &rows[0, 0], &rows[1, 0], turned_row, mass, gain, beta):
                certified[i] = 0
                continue
            if n_arcs:
                add_fast_masses(&topology, &scores, n_tokens, alpha, mass, gain, weight[i], &state_mass[first, 0],
                                &arc_mass[first if stride else 0, 0], stride)
            else:
                add_fast_masses(&topology, &scores, n_tokens, alpha, mass, gain, weight[i], &state_mass[first, 0],
                                NULL, 0)
        if masses and not stride:
            for k in range(n_arcs):
                # What was summed for a forbidden arc may be anything up to infinity.
                arc_mass[0, k] = arc_mass[0, k] * arc_factor[0, k] if arc_factor[0, k] > 0.0 else 0.0


# ---------------------------------------------------------------------------------------------------------------
# Max walk

def best_paths(
    const double[:, ::1] node,           # IN   (n_tokens, n_states) log-scores
    const double[:, ::1] arc,            # IN   (1 | n_tokens, n_arcs) log-scores
    const int32_t[::1] arc_target,       # IN   (n_arcs,)
    const int64_t[::1] arc_ptr,          # IN   (n_states + 1,)
    bint dense,                          # IN   every pair of states is an arc
    const int64_t[::1] offsets,          # IN   (n_sequences + 1,)
    int32_t[::1] path,                   # OUT  (n_tokens,) states of the best path, -1 if there is none
    double[::1] score,                   # OUT  (n_sequences,) its score, -inf if there is none
    double[:, ::1] work,                 # WORK (longest, n_states)
):
    """Best path of each sequence (Viterbi); ties go to the lowest state, from the last token backward.

    No back-pointers are kept: the way back looks again for the source that gave the maximum, S additions a token
    in place of S^2 stores.
    """
    cdef Py_ssize_t n_sequences = offsets.shape[0] - 1, i, first, n_tokens, S = node.shape[1], t, h, g, k
    cdef Py_ssize_t stride, n_arcs = arc.shape[1]
    cdef const double *row
    cdef double *here
    cdef double *last
    cdef double best, value
    cdef int32_t state
    stride = n_arcs if arc.shape[0] > 1 else 0
    with nogil:
        for i in range(n_sequences):
            first = offsets[i]
            n_tokens = offsets[i + 1] - first
            score[i] = 0.0
            if n_tokens == 0:
                continue
            for h in range(S):
                work[0, h] = node[first, h]
            for t in range(1, n_tokens):
                here = &work[t, 0]
                last = &work[t - 1, 0]
                row = (&arc[first + t, 0] if stride else &arc[0, 0]) if n_arcs else NULL
                if dense:
                    max_plus(last, row, here, S)
                else:
                    for h in range(S):
                        here[h] = -INFINITY
                    for g in range(S):
                        if last[g] == -INFINITY:
                            continue
                        for k in range(arc_ptr[g], arc_ptr[g + 1]):
                            value = last[g] + row[k]
                            if value > here[arc_target[k]]:
                                here[arc_target[k]] = value
                for h in range(S):
                    here[h] += node[first + t, h]
            best = -INFINITY
            state = -1
            for h in range(S):
                if work[n_tokens - 1, h] > best:
                    best = work[n_tokens - 1, h]
                    state = <int32_t> h
            score[i] = best
            for t in range(n_tokens - 1, -1, -1):
                path[first + t] = state
                if t == 0 or state < 0:
                    if state < 0:
                        for h in range(n_tokens):
                            path[first + h] = -1
                    break
                row = (&arc[first + t, 0] if stride else &arc[0, 0]) if n_arcs else NULL
                state = source_of(&work[t - 1, 0], row, &arc_target[0], &arc_ptr[0], dense, S, state,
                                  work[t, state], node[first + t, state])


cdef int32_t source_of(const double *last, const double *row, const int32_t *arc_target, const int64_t *arc_ptr,
                       bint dense, Py_ssize_t S, int32_t state, double reached, double node) noexcept nogil:
    """Lowest source whose arc into `state` gives exactly the score that the forward sweep reached."""
    cdef Py_ssize_t g, low, high, middle
    cdef double value
    for g in range(S):
        if last[g] == -INFINITY:
            continue
        if dense:
            value = last[g] + row[g * S + state]
        else:
            low = arc_ptr[g]
            high = arc_ptr[g + 1]
            while low < high:
                middle = (low + high) // 2
                if arc_target[middle] < state:
                    low = middle + 1
                else:
                    high = middle
            if low == arc_ptr[g + 1] or arc_target[low] != state:
                continue
            value = last[g] + row[low]
        if value + node == reached:
            return <int32_t> g
    return -1
