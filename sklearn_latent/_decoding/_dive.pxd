# SPDX-License-Identifier: BSD-3-Clause
# The way down without a heap, for the single best sequence: follow the best child to the end.
#
# What is passed by stays in a table of bounds. If nothing there is above the weight found at the end, that is proven to
# be the best; else, or when the way down falls below DETOUR of the best bound passed by, it becomes prefixes and
# entries of the heap. On peaked models that is seldom.

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from ._prefixes cimport FINISH, SEARCH, Search, keep, open_child, open_children, vector_room
from ._sequence cimport FLOOR, HUGE, TINY, child_bound, larger, reached, smaller, spread_out

cdef extern from "_search.h" nogil:
    const double DETOUR "SL_DETOUR"


cdef inline void look_at_children(Search *s, const double *a, Py_ssize_t source, Py_ssize_t t,
                                  double cap) noexcept nogil:
    """Bounds of all children at token t; the best one is chosen, the best of the others may become the rival."""
    cdef double *bounds = s.dive_bound + t * s.q.n_labels
    cdef const double *reach = s.q.reach + t * s.q.stride
    cdef const double *spread = s.q.spread
    cdef double first = -1.0
    cdef double second = 0.0
    cdef double bound
    cdef Py_ssize_t best = 0
    cdef Py_ssize_t label, h
    if source >= 0:
        spread_out(&s.q, a, source, t)
    for label in range(s.q.n_labels):
        bound = 0.0
        if source >= 0:
            for h in range(s.q.label_ptr[label], s.q.label_ptr[label + 1]):
                bound += spread[h] * reach[h]
        if bound < FLOOR:
            bound = child_bound(&s.q, a, source, label, t)
        bound = smaller(bound, cap)
        bounds[label] = bound
        best = label if bound > first else best
        second = larger(second, smaller(bound, first))
        first = larger(bound, first)
    s.rival = larger(s.rival, second)
    s.dive_label[t] = <int32_t> best


cdef inline int leave_dive(Search *s, Py_ssize_t opened) noexcept nogil:
    """Turn the way down into prefixes, `opened` of them expanded, and what it passed by into entries."""
    cdef Py_ssize_t n = s.q.n_labels
    cdef Py_ssize_t t, label, width
    cdef double bound
    cdef double cap = INFINITY
    memset(s.kept, 0, <size_t>s.q.n_tokens * n * sizeof(int32_t))
    for t in range(opened + 1):
        if t < s.q.n_tokens - 1:
            for label in range(n):
                bound = s.dive_bound[t * n + label]
                if (t == opened or label != s.dive_label[t]) and open_child(s, t, label, label, bound, bound) < 0:
                    return -1
        elif open_children(s, t, cap) < 0:
            return -1
        if t < opened:
            label = s.dive_label[t]
            cap = s.dive_bound[t * n + label]
            width = s.q.label_ptr[label + 1] - s.q.label_ptr[label]
            if vector_room(s) < 0:
                return -1
            memcpy(s.vector + s.n_vector, s.dive_vector + t * s.q.width, <size_t>width * sizeof(double))
            if keep(s, t, label, -1, label, t) < 0:
                return -1
    s.phase = SEARCH
    return 0


cdef inline int dive_token(Search *s) noexcept nogil:
    """One step down; s.token is the token whose children were looked at last."""
    cdef Py_ssize_t t = s.token
    cdef Py_ssize_t n = s.q.n_labels
    cdef Py_ssize_t label = s.dive_label[t]
    cdef double bound = s.dive_bound[t * n + label]
    cdef Py_ssize_t first = s.q.label_ptr[label]
    cdef Py_ssize_t source = s.dive_label[t - 1] if t > 0 else -1
    cdef const double *before = s.dive_vector + (t - 1) * s.q.width
    cdef double *a = s.dive_vector + t * s.q.width
    cdef const double *node = s.q.node + t * s.q.n_states
    cdef Py_ssize_t h
    cdef double value
    if t == s.q.n_tokens - 1 and s.plain and bound >= TINY:
        memcpy(s.answers.labels, s.dive_label, <size_t>s.q.n_tokens * sizeof(int32_t))
        s.answers.log_weight[0] = log(bound) + <double>s.q.exponent * log(2.0)
        s.answers.value[0] = s.answers.lower = bound
        s.answers.n_found = 1
        if s.rival <= bound * (1.0 + s.accepted):
            s.phase = FINISH
            s.answers.dropped = larger(s.answers.dropped, s.rival)
            return 0
    if t == s.q.n_tokens - 1 or bound < DETOUR * s.rival or bound < TINY or s.n_expanded >= s.max_expansions:
        return leave_dive(s, t)
    for h in range(first, s.q.label_ptr[label + 1]):
        value = 0.0
        if s.q.reach[t * s.q.stride + h] > 0.0:
            value = (s.q.spread[h] if source >= 0 else 1.0) * node[h] * s.q.scale[t]
            if not 1e-200 < value < 1e200:
                s.plain = False
                if value < FLOOR:
                    value = FLOOR if reached(&s.q, before, source, t, h) else 0.0
                elif not value < HUGE:
                    s.huge = True
        a[h - first] = value
    s.n_expanded += 1
    s.token += 1
    look_at_children(s, a, label, t + 1, bound)
    return 0
