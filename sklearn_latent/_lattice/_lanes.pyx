# SPDX-License-Identifier: BSD-3-Clause
"""The fast walk of `_kernels.pyx` for eight sequences at a time, and the walk along paths that are given.

`lane_walk` serves topologies with one arc row, on batches of sequences of similar lengths; formulas, certificate and
results are those of `_kernels.accumulate_fast`. Sequences are grouped by eights in the order given; lane k of group
g holds sequence order[8 g + k], or none (-1). Steps of all groups are laid out one after another: group g has steps
group_ptr[g]:group_ptr[g + 1], as many as its longest sequence has tokens.
"""

from ._numeric cimport INFINITY, NAN, add_term, int32_t, int64_t, sum_of, uint8_t

cdef extern from "_lanes.h" nogil:
    enum: SL_LANES
    int lanes_work "sl_lanes_work" () noexcept
    int lanes_pay "sl_lanes_pay" () noexcept
    void lanes_factors "sl_lanes_factors" (const double **rows, double *factor, double *shift, double *low,
                                           Py_ssize_t n) noexcept
    void lanes_forward "sl_lanes_forward" (
        const double *factor, const double *low, const double *M, const int64_t *ptr, const int32_t *end,
        double arc_low, const int64_t *length, Py_ssize_t n_steps, Py_ssize_t n, double *alpha, double *alpha_low,
        double *scale, double *fault, int64_t *possible) noexcept
    void lanes_backward "sl_lanes_backward" (
        const double *factor, const double *low, const double *turned, const int64_t *ptr, const int32_t *end,
        double arc_low, const int64_t *length, Py_ssize_t n_steps, Py_ssize_t n, const double *alpha,
        const double *alpha_low, const double *scale, const double *weight, double *beta, double *gain, double *mass,
        double *weighted, double *fault) noexcept
    void lanes_outer "sl_lanes_outer" (const double *alpha, const double *weighted, Py_ssize_t n_steps, Py_ssize_t n,
                                       double *out) noexcept
    void lanes_outer_listed "sl_lanes_outer_listed" (const double *alpha, const double *weighted, const int64_t *ptr,
                                                     const int32_t *end, Py_ssize_t n_steps, Py_ssize_t n,
                                                     double *out) noexcept
    void lanes_clamp "sl_lanes_clamp" (const double *factor, const int64_t *code, const int32_t *state_label,
                                       Py_ssize_t n_steps, Py_ssize_t n, double *out) noexcept
    void lanes_log_product "sl_lanes_log_product" (const double *scale, Py_ssize_t n_steps,
                                                   double *log_product) noexcept
    void lanes_add "sl_lanes_add" (const double *mass, const double *weight, double **rows, Py_ssize_t n) noexcept

#: Whether this build can walk in lanes.
LANES_WORK = bool(lanes_work())
#: Whether this processor has registers of eight numbers, so that lanes pay.
LANES_PAY = bool(lanes_pay())
#: Sequences of a group.
LANES = int(SL_LANES)

# As in the fast walk of one sequence.
cdef double TINY = 1e-290


def lane_factors(
    const double[:, ::1] score,          # IN   (n_tokens, n_states) log-scores
    const int64_t[::1] offsets,          # IN   (n_sequences + 1,)
    const int64_t[::1] order,            # IN   (8 n_groups,)
    const int64_t[::1] group_ptr,        # IN   (n_groups + 1,)
    const double[::1] nothing,           # IN   (n_states,) zeros, the scores of lanes that have ended
    double[::1] factor,                  # OUT  (n_steps n_states 8,) exp(score - shift of the token), aligned
    double[::1] low,                     # OUT  (n_steps 8,) smallest positive factor of the token
    double[::1] unit,                    # OUT  (n_sequences,) sum of the shifts of the sequence's tokens
):
    """Turn scores into factors of at most one, in the order of the lanes."""
    cdef Py_ssize_t group, t, k, i, S = score.shape[1]
    cdef const double *rows[8]
    cdef double shift[8]
    cdef double total[8]
    cdef double rest[8]
    with nogil:
        for group in range(group_ptr.shape[0] - 1):
            for k in range(8):
                total[k] = rest[k] = 0.0
            for t in range(group_ptr[group + 1] - group_ptr[group]):
                for k in range(8):
                    i = order[8 * group + k]
                    if i >= 0 and t < offsets[i + 1] - offsets[i]:
                        rows[k] = &score[offsets[i] + t, 0]
                    else:
                        rows[k] = &nothing[0]
                lanes_factors(rows, &factor[(group_ptr[group] + t) * S * 8], &shift[0],
                              &low[(group_ptr[group] + t) * 8], S)
                for k in range(8):
                    # Beyond a sequence's end the shift is zero.
                    add_term(&total[k], &rest[k], shift[k])
            for k in range(8):
                i = order[8 * group + k]
                if i >= 0:
                    unit[i] = sum_of(total[k], rest[k])


def lane_walk(
    const double[::1] factor,            # IN    (n_steps n_states 8,) of `lane_factors`
    const double[::1] low,               # IN    (n_steps 8,)
    const double[::1] unit,              # IN    (n_sequences,)
    const double[::1] arc_factor,        # IN    (n_arcs,) by source, then target
    const double[::1] turned,            # IN    (n_arcs,) by target, then source
    const int64_t[::1] out_ptr,          # IN    (n_states + 1,) arcs by source; empty = every pair of states is an arc
    const int32_t[::1] target,           # IN    (n_arcs,) their ends
    const int64_t[::1] in_ptr,           # IN    (n_states + 1,) arcs by target
    const int32_t[::1] source,           # IN    (n_arcs,) where they come from
    double arc_shift,
    double arc_low,                      # smallest positive arc factor
    const int32_t[::1] state_label,      # IN    (n_states,)
    const int32_t[::1] clamp,            # IN    (n_tokens,) label id, -1 = free, -2 = no state; empty = all free
    const int64_t[::1] offsets,          # IN    (n_sequences + 1,)
    const int64_t[::1] order,            # IN    (8 n_groups,)
    const int64_t[::1] group_ptr,        # IN    (n_groups + 1,)
    const double[::1] weight,            # IN    (n_sequences,) factor of the masses
    bint masses,                         # IN    whether masses are wanted, or log_sum only
    double[:, ::1] state_mass,           # INOUT (n_tokens, n_states) masses are added; unused without masses
    double[:, ::1] arc_mass,             # INOUT (1, n_arcs) zeros at first; unused without masses
    double[::1] log_sum,                 # OUT   (n_sequences,) -inf if no path, NaN if a score is NaN or inf
    uint8_t[::1] certified,              # OUT   (n_sequences,) 0 = nothing was added, redo exactly
    double[::1] work,                    # WORK  ((4 longest + 2) n_states 8 + 2 * 8 * longest,), aligned
    int64_t[::1] codes,                  # WORK  (8 longest,) if something is clamped, aligned
):
    """Forward-backward of every sequence that has a lane, with the certificate of each."""
    cdef Py_ssize_t group, t, k, i, h, n_steps, block, S = state_label.shape[0], n_arcs = arc_factor.shape[0]
    cdef bint listed = out_ptr.shape[0] > 0
    cdef const int64_t *by_source = &out_ptr[0] if listed else NULL
    cdef const int64_t *by_target = &in_ptr[0] if listed else NULL
    cdef const int32_t *ends = &target[0] if listed and n_arcs else NULL
    cdef const int32_t *begins = &source[0] if listed and n_arcs else NULL
    # Listed arcs are summed by the state that they lead to, which a matrix has in its columns.
    cdef const double *onward = NULL
    cdef const double *back = NULL
    cdef int64_t length[8]
    cdef int64_t possible[8]
    cdef double fault[8]
    cdef double log_product[8]
    cdef double share[8]
    cdef double *rows[8]
    cdef const double *node
    cdef const double *node_low
    cdef double *alpha
    cdef double *mass
    cdef double *gain
    cdef double *held
    cdef double *alpha_low
    cdef double *scale
    cdef double *beta
    cdef double value
    cdef bint any_left, all_left
    if n_arcs:
        onward = &turned[0] if listed else &arc_factor[0]
        back = &arc_factor[0] if listed else &turned[0]
    with nogil:
        for group in range(group_ptr.shape[0] - 1):
            n_steps = group_ptr[group + 1] - group_ptr[group]
            block = n_steps * S * 8
            alpha = &work[0]
            mass = alpha + block
            gain = mass + block
            held = gain + block
            beta = held + block
            alpha_low = beta + 2 * S * 8
            scale = alpha_low + n_steps * 8
            node = &factor[group_ptr[group] * S * 8]
            node_low = &low[group_ptr[group] * 8]
            for k in range(8):
                i = order[8 * group + k]
                length[k] = offsets[i + 1] - offsets[i] if i >= 0 else 0
                share[k] = weight[i] if i >= 0 else 0.0
            if clamp.shape[0]:
                for k in range(8):
                    i = order[8 * group + k]
                    for t in range(n_steps):
                        codes[t * 8 + k] = clamp[offsets[i] + t] if t < length[k] else -1
                lanes_clamp(node, &codes[0], &state_label[0], n_steps, S, held)
                node = held
            lanes_forward(node, node_low, onward, by_target, begins, arc_low, &length[0], n_steps, S, alpha, alpha_low,
                          scale, &fault[0], &possible[0])
            lanes_log_product(scale, n_steps, &log_product[0])
            if masses:
                lanes_backward(node, node_low, back, by_source, ends, arc_low, &length[0], n_steps, S, alpha, alpha_low,
                               scale, &share[0], beta, beta + S * 8, mass, gain, &fault[0])
            any_left = False
            all_left = True
            for k in range(8):
                i = order[8 * group + k]
                rows[k] = NULL
                if i < 0:
                    # Its factors of one are no sequence's, and its weight is zero.
                    continue
                certified[i] = fault[k] >= TINY
                if possible[k]:
                    value = log_product[k] + unit[i] + arc_shift * (length[k] - 1)
                    log_sum[i] = value if value == value and value < INFINITY else NAN
                else:
                    log_sum[i] = -INFINITY
                if certified[i] and log_sum[i] > -INFINITY:
                    any_left = True
                    if masses:
                        rows[k] = &state_mass[offsets[i], 0]
                else:
                    all_left = False
            if not masses or not any_left:
                continue
            for t in range(n_steps):
                for k in range(8):
                    if t == length[k]:
                        rows[k] = NULL
                lanes_add(mass + t * S * 8, &share[0], rows, S)
                for k in range(8):
                    if rows[k] != NULL:
                        rows[k] += S
            if not all_left:
                # What a lane left that has no path or no certificate may be NaN, which no weight takes away.
                for k in range(8):
                    i = order[8 * group + k]
                    if i >= 0 and not (certified[i] and log_sum[i] > -INFINITY):
                        for h in range(n_steps * S):
                            gain[h * 8 + k] = 0.0
                            alpha[h * 8 + k] = 0.0
            if listed:
                if n_arcs:
                    lanes_outer_listed(alpha, gain, by_source, ends, n_steps, S, &arc_mass[0, 0])
            else:
                lanes_outer(alpha, gain, n_steps, S, &arc_mass[0, 0])
        if masses:
            for k in range(n_arcs):
                # What was summed for a forbidden arc may be anything up to infinity.
                arc_mass[0, k] = arc_mass[0, k] * arc_factor[k] if arc_factor[k] > 0.0 else 0.0


def follow(
    const double[:, ::1] node,           # IN    (n_tokens, n_states) log-scores
    const int32_t[::1] codes,            # IN    (n_tokens,) label ids
    const int64_t[::1] offsets,          # IN    (n_sequences + 1,)
    const int32_t[::1] arc_target,       # IN    (n_arcs,)
    const int64_t[::1] arc_ptr,          # IN    (n_states + 1,)
    const int32_t[::1] state_label,      # IN    (n_states,)
    const int32_t[::1] label_ptr,        # IN    (n_labels + 1,)
    const int32_t[::1] label_state,      # IN    (n_states,)
    int32_t[::1] path,                   # OUT   (n_tokens,) the state at each token, -1 after a move that no arc is
    int64_t[::1] move,                   # OUT   (n_tokens,) the arc into each token; none (-1) into the first
):
    """The states that labels lead through, where they lead through one at most; False where a sequence begins with
    more.

    A label may lead from a state to one state at most.
    """
    cdef Py_ssize_t i, t, k
    cdef int32_t state
    cdef bint single = True
    with nogil:
        for i in range(offsets.shape[0] - 1):
            state = -1
            for t in range(offsets[i], offsets[i + 1]):
                move[t] = -1
                if t == offsets[i]:
                    for k in range(label_ptr[codes[t]], label_ptr[codes[t] + 1]):
                        if not node[t, label_state[k]] == -INFINITY:
                            single = single and state < 0
                            state = label_state[k]
                elif state >= 0:
                    for k in range(arc_ptr[state], arc_ptr[state + 1]):
                        if state_label[arc_target[k]] == codes[t]:
                            move[t] = k
                            break
                    state = arc_target[move[t]] if move[t] >= 0 else -1
                path[t] = state
    return single


def path_walk(
    const double[:, ::1] node,           # IN    (n_tokens, n_states) log-scores
    const double[:, ::1] arc,            # IN    (1 | n_tokens, n_arcs) log-scores
    const int32_t[::1] path,             # IN    (n_tokens,) the state at each token, -1 = none
    const int64_t[::1] move,             # IN    (n_tokens,) the arc into each token but a sequence's first
    const int64_t[::1] offsets,          # IN    (n_sequences + 1,)
    const double[::1] weight,            # IN    (n_sequences,) factor of the masses
    bint masses,                         # IN    whether masses are wanted, or log_sum only
    double[:, ::1] state_mass,           # INOUT (n_tokens, n_states) masses are added
    double[:, ::1] arc_mass,             # INOUT (1 | n_tokens, n_arcs) as many rows as arc
    double[::1] log_sum,                 # OUT   (n_sequences,) its score, -inf if there is none, NaN if one of its is
):
    """Where clamping leaves one path, its score is the log sum and its masses are ones."""
    cdef Py_ssize_t i, t, stride = 1 if arc.shape[0] > 1 else 0
    cdef double total, rest
    with nogil:
        for i in range(offsets.shape[0] - 1):
            log_sum[i] = -INFINITY
            if offsets[i + 1] > offsets[i] and path[offsets[i + 1] - 1] < 0:
                continue
            total = rest = 0.0
            for t in range(offsets[i], offsets[i + 1]):
                add_term(&total, &rest, node[t, path[t]])
                if t > offsets[i]:
                    add_term(&total, &rest, arc[t * stride, move[t]])
            total = sum_of(total, rest)
            log_sum[i] = total if total < INFINITY else NAN
            if not masses or not total > -INFINITY or not total < INFINITY:
                continue
            for t in range(offsets[i], offsets[i + 1]):
                state_mass[t, path[t]] += weight[i]
                if t > offsets[i]:
                    arc_mass[t * stride, move[t]] += weight[i]
