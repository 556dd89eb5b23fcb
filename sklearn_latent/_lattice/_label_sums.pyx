# SPDX-License-Identifier: BSD-3-Clause
"""Summed weight of the paths of given label sequences, which go through few of the states.

What is computed. For labels y_1..y_T with states H_y the log of the sum over h_t in H_{y_t} of the path weights
exp(node_1(h_1) + sum_{t>1} arc_t(h_{t-1}, h_t) + node_t(h_t)), by a forward pass over these states alone:

    a_1(h) = E_1(h),   a_t(h) = E_t(h) sum_g a_{t-1}(g) A_t(g, h),   E_t(h) = exp(node_t(h) - shift_t),

with A the arc factors of `row_factors` and shift_t the largest node score over H_{y_t}. Vectors are rescaled where they
leave the middle of the range of a double; the logs of what was taken out are added up.

Certificate, as in the fast walk of `_kernels`: no positive quantity can have underflowed. Where that is not sure, or a
score is NaN or infinite, the sequence is left to the exact walk.

Cost. |H_{y_t}| exponentials and |H_{y_{t-1}}| |H_{y_t}| multiplications a token.
"""

from ._numeric cimport INFINITY, add_term, int32_t, int64_t, log, sum_of, uint8_t

cdef extern from "_vector.h" nogil:
    void exp_all "sl_exp_all" (double *x, Py_ssize_t n) noexcept

cdef double TINY = 1e-290


cdef bint enter(const double *node, const int32_t *state, Py_ssize_t n, double *exponent, double *shift) noexcept nogil:
    """Logs of E of one token and its shift; False if no score is finite, or one is infinite or NaN."""
    cdef double top = -INFINITY
    cdef Py_ssize_t k
    cdef bint known = True
    for k in range(n):
        known &= node[state[k]] < INFINITY
        top = node[state[k]] if node[state[k]] > top else top
    if not known or top == -INFINITY:
        return False
    for k in range(n):
        exponent[k] = node[state[k]] - top
    shift[0] = top
    return True


def label_sums(
    const double[:, ::1] node,           # IN   (n_tokens, n_states) log-scores
    const double[:, ::1] arc_factor,     # IN   (1 | n_tokens, n_states n_states) of a dense topology
    const double[::1] arc_shift,         # IN   (1 | n_tokens,)
    const double[::1] arc_low,           # IN   (1 | n_tokens,) smallest positive factor of the row
    const int32_t[::1] label_ptr,        # IN   (n_labels + 1,)
    const int32_t[::1] label_state,      # IN   (n_states,) states grouped by label
    const int32_t[::1] codes,            # IN   (n_tokens,) label ids, not negative
    const int64_t[::1] offsets,          # IN   (n_sequences + 1,)
    double[::1] log_sum,                 # OUT  (n_sequences,)
    uint8_t[::1] certified,              # OUT  (n_sequences,) 0 = redo exactly
    double[::1] work,                    # WORK (2 n_states,)
    double[::1] factor,                  # WORK (longest n_states,)
):
    """Log of the summed weight of each label sequence; 0.0 for one without tokens."""
    cdef Py_ssize_t i, t, g, h, n, m, at, S = node.shape[1], differ = 1 if arc_factor.shape[0] > 1 else 0
    cdef const int32_t *state
    cdef const int32_t *source
    cdef const double *row
    cdef const double *own
    cdef double *here = &work[0]
    cdef double *before = &work[S]
    cdef double total, unit, rest, logs, shift, low, least, value
    cdef bint lost
    with nogil:
        for i in range(offsets.shape[0] - 1):
            unit = rest = logs = 0.0
            certified[i] = 1
            at = 0
            for t in range(offsets[i], offsets[i + 1]):
                n = label_ptr[codes[t] + 1] - label_ptr[codes[t]]
                if not enter(&node[t, 0], &label_state[label_ptr[codes[t]]], n, &factor[at], &shift):
                    certified[i] = 0
                    break
                add_term(&unit, &rest, shift)
                if t > offsets[i]:
                    add_term(&unit, &rest, arc_shift[t * differ])
                at += n
            exp_all(&factor[0], at)
            own = &factor[0]
            total = least = 1.0
            m = 0
            source = NULL
            for t in range(offsets[i], offsets[i + 1] if certified[i] else offsets[i]):
                state = &label_state[label_ptr[codes[t]]]
                n = label_ptr[codes[t] + 1] - label_ptr[codes[t]]
                low = 1.0
                lost = False
                for h in range(n):
                    here[h] = 0.0 if m else 1.0
                    # A finite score whose factor vanishes is for the exact walk; -inf is not.
                    lost |= (own[h] == 0.0) & (node[t, state[h]] > -INFINITY)
                    value = own[h] if own[h] > 0.0 else 1.0
                    low = value if value < low else low
                for g in range(m):
                    value = before[g]
                    row = &arc_factor[t * differ, source[g] * S]
                    for h in range(n):
                        here[h] += value * row[state[h]]
                if m:
                    low *= arc_low[t * differ] * least
                total = 0.0
                least = INFINITY
                for h in range(n):
                    here[h] *= own[h]
                    total += here[h]
                    value = here[h] if here[h] > 0.0 else INFINITY
                    least = value if value < least else least
                if lost or not (low >= TINY and TINY < total < INFINITY):
                    certified[i] = 0
                    break
                if total < 1e-100 or total > 1e100:
                    logs += log(total)
                    for h in range(n):
                        here[h] /= total
                    least /= total
                    total = 1.0
                here, before = before, here
                source = state
                own += n
                m = n
            log_sum[i] = logs + log(total) + sum_of(unit, rest) if certified[i] else 0.0
