# SPDX-License-Identifier: BSD-3-Clause
# From stage to stage of a label search: when a graph pays, making it, and taking prefixes and heap over.

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ._cones cimport Graph, graph_free, sum_up_behind
from ._heap cimport Entry, push
from ._line_graph cimport TOO_LARGE, graph_of_pairs, line_graph
from ._prefixes cimport (
    ARC_COST, CORNER_COST, FORWARD, NO_MEMORY, RUNNING, SEARCH, Prefix, Search, Status, arc_bound,
)
from ._sequence cimport TINY, larger, smaller


cdef inline Py_ssize_t find_arc(const Graph *g, Py_ssize_t node, Py_ssize_t target) noexcept nogil:
    cdef int64_t a
    if node >= 0 and target >= 0:
        for a in range(g.arc_ptr[node], g.arc_ptr[node + 1]):
            if g.target[a] == target:
                return a
    return -1


cdef inline int carry_over(Search *s, const int32_t *node_of) noexcept nogil:
    """Prefixes and entries get their nodes and arcs in the new graph, entries their new bounds.

    node_of is indexed by [token, label] if they were made by labels, else by arcs of the graph before.
    """
    cdef Graph *g = &s.graph
    cdef Py_ssize_t n = s.q.n_labels
    cdef Py_ssize_t i, t, key, width
    cdef Py_ssize_t arc
    cdef Prefix *p
    cdef Entry entry
    cdef double bound
    s.prefix[0].node = 0
    for i in range(1, s.n_prefixes):
        p = s.prefix + i
        arc = -1
        if p.made_by >= 0:
            key = p.token * n + p.made_by if s.order == 0 else p.made_by
            arc = find_arc(g, s.prefix[p.parent].node, node_of[key])
        p.made_by = <int32_t> arc
        p.node = g.target[arc] if arc >= 0 else -1
    s.heap, s.spare = s.spare, s.heap
    s.heap.size = 0
    for i in range(s.spare.size):
        entry = s.spare.entry[i]
        p = s.prefix + entry.parent
        t = p.token + 1
        key = t * n + entry.choice if s.order == 0 else entry.choice
        arc = find_arc(g, p.node, node_of[key])
        if arc < 0:
            continue
        width = s.q.label_ptr[p.label + 1] - s.q.label_ptr[p.label] if p.label >= 0 else 1
        bound = smaller(arc_bound(s, s.vector + p.vector, width, arc), entry.value)
        if bound <= s.answers.lower:
            continue
        if bound < TINY:
            s.answers.dropped = larger(s.answers.dropped, TINY)
        elif push(&s.heap, &s.prefix[0].token, sizeof(Prefix), bound, entry.parent, arc) < 0:
            return -1
    return 0


cdef inline double least_of_interest(Search *s) noexcept nogil:
    """What sequences must weigh to matter; the search answers for what is left out."""
    cdef double least = s.answers.lower * (1.0 + s.epsilon)
    if s.epsilon > 0.0:
        s.answers.dropped = larger(s.answers.dropped, least)
    return least


cdef inline int64_t arc_cost(const Search *s) noexcept nogil:
    return ARC_COST + CORNER_COST * s.q.width * s.q.width


cdef inline bint graph_pays(const Search *s) noexcept nogil:
    if s.order == s.max_order:
        return False
    if s.patience >= 0:
        return s.n_expanded >= s.expanded_before + s.patience
    if s.order == 0 and s.n_expanded < 2 * s.q.n_tokens:
        return False
    return s.spent >= s.next_order_at or (s.order == 0 and s.answers.n_best == 1)


cdef inline int finish_graph(Search *s) noexcept nogil:
    """The cones of a new graph stand: go on with it."""
    sum_up_behind(&s.graph)
    if carry_over(s, s.pairs.node) < 0:
        return -1
    s.phase = SEARCH
    s.order += 1
    s.expanded_before = s.n_expanded
    s.spent = 0
    s.next_order_at = s.graph.n_arcs * arc_cost(s)
    return 0


cdef inline Status start_graph(Search *s) noexcept nogil:
    """The first graph, or the line graph of the one at hand."""
    cdef Graph new
    cdef int32_t *node_of_arc
    cdef int done
    cdef int64_t budget = s.budget
    memset(&new, 0, sizeof(Graph))
    if s.order == 0:
        done = graph_of_pairs(&s.q, &s.pairs, least_of_interest(s), &s.graph)
        s.phase = FORWARD
        s.token = 0
        return RUNNING if done == 0 else NO_MEMORY
    s.phase = SEARCH
    node_of_arc = <int32_t *> malloc(<size_t>(s.graph.n_arcs + 1) * sizeof(int32_t))
    if node_of_arc == NULL:
        return NO_MEMORY
    if s.patience < 0:
        budget = min(budget, s.spent // arc_cost(s))
    done = line_graph(&s.graph, least_of_interest(s), budget, &new, node_of_arc)
    if done == 0:
        free(s.pairs.node)
        s.pairs.node = node_of_arc
        graph_free(&s.graph)
        s.graph = new
        s.phase = FORWARD
        s.token = 0
        return RUNNING
    free(node_of_arc)
    graph_free(&new)
    # Too large now; more work or a better lower bound may change that.
    s.next_order_at = 2 * s.spent
    s.expanded_before = s.n_expanded + 8 * s.q.n_tokens
    return RUNNING if done == TOO_LARGE else NO_MEMORY
