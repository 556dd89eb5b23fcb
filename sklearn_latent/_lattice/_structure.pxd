# SPDX-License-Identifier: BSD-3-Clause
# What a walk sees: the states and arcs, the rows of one sequence, and the states allowed at a token.

from ._numeric cimport int32_t, int64_t

cdef struct Topology:
    Py_ssize_t n_states
    bint dense
    const int32_t *arc_target   # (n_arcs,)
    const int64_t *arc_ptr      # (n_states + 1,)
    const int32_t *state_label  # (n_states,)
    const int32_t *label_ptr    # (n_labels + 1,)
    const int32_t *label_state  # (n_states,) states grouped by label


cdef inline Topology topology_of(
    Py_ssize_t n_states, bint dense, const int32_t[::1] arc_target, const int64_t[::1] arc_ptr,
    const int32_t[::1] state_label, const int32_t[::1] label_ptr, const int32_t[::1] label_state,
) noexcept nogil:
    """Pointers into the arrays of a topology of at least one state."""
    cdef Topology topology
    topology.n_states = n_states
    topology.dense = dense
    topology.arc_target = &arc_target[0] if arc_target.shape[0] else NULL
    topology.arc_ptr = &arc_ptr[0]
    topology.state_label = &state_label[0]
    topology.label_ptr = &label_ptr[0]
    topology.label_state = &label_state[0]
    return topology


cdef struct Scores:
    # One sequence's rows: scores in the exact walk, factors in the fast one.
    const double *node          # (T, n_states)
    const double *arc           # (1 | T, n_arcs)
    Py_ssize_t arc_stride       # 0: one row for all tokens, else n_arcs
    const int32_t *clamp        # (T,) label id, -1 = every state, below -1 = no state; NULL = every state everywhere


cdef inline Py_ssize_t active(const Topology *topology, const Scores *scores, Py_ssize_t t,
                              const int32_t **states) noexcept nogil:
    """States allowed at token t: their number, and where they are listed."""
    cdef int32_t label
    if scores.clamp == NULL or scores.clamp[t] == -1:
        states[0] = topology.label_state
        return topology.n_states
    label = scores.clamp[t]
    if label < 0:
        states[0] = topology.label_state
        return 0
    states[0] = topology.label_state + topology.label_ptr[label]
    return topology.label_ptr[label + 1] - topology.label_ptr[label]


cdef inline bint allowed(const Topology *topology, const Scores *scores, Py_ssize_t t, int32_t state) noexcept nogil:
    return scores.clamp == NULL or scores.clamp[t] == -1 or topology.state_label[state] == scores.clamp[t]


cdef inline bint all_free(const Scores *scores, Py_ssize_t t) noexcept nogil:
    """Neither token t - 1 nor token t is clamped."""
    return scores.clamp == NULL or (scores.clamp[t - 1] == -1 and scores.clamp[t] == -1)
