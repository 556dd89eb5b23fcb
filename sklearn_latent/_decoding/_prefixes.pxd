# SPDX-License-Identifier: BSD-3-Clause
# The state of a label search, and its one step: take the best prefix, drop it or keep it, open its children.
#
# Prefix 0 is the empty one; lists of kept prefixes end in 0. A prefix and a heap entry hold what they were made by: a
# label in stage 1 (order 0), an arc of the graph later.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from ._answers cimport Answers, record
from ._beam cimport Beam
from ._cones cimport Graph
from ._fronts cimport Meeting
from ._heap cimport Entry, Heap, grown, pop, push
from ._line_graph cimport Pairs
from ._sequence cimport HUGE, TINY, Sequence, child_bound, covers, extend, larger, smaller, spread_out

cdef enum:
    # Cycles, roughly, as measured with 2 to 8 states a label; only the balance between stages hangs on them.
    EXPANSION_COST = 1000
    CHILD_COST = 60
    COMPARISON_COST = 30
    ARC_COST = 40              # and CORNER_COST for each pair of states
    CORNER_COST = 14

cdef enum Status:
    DONE
    RUNNING
    NO_MEMORY

cdef enum Phase:
    IDLE
    BOUND
    DIVE
    MEET
    SEARCH
    BEAM
    PAIRS
    GRAPH
    FORWARD
    BACKWARD
    FINISH

cdef struct Prefix:
    int64_t vector             # where its forward vector starts in Search.vector
    int32_t parent
    int32_t label
    int32_t token
    int32_t next               # next kept prefix of the same token and label
    int32_t made_by            # label, or arc of the graph, -1 = the graph has none
    int32_t node               # its node of the graph, -1 = none: no completion of interest

cdef struct Search:
    Sequence q
    Answers answers
    Beam beam
    Py_ssize_t beam_width
    Meeting meeting
    Py_ssize_t max_expansions
    double epsilon
    double accepted            # stop when top <= lower * (1 + accepted)
    # the prefixes
    Heap heap
    Heap spare
    Prefix *prefix
    Py_ssize_t n_prefixes
    Py_ssize_t prefix_capacity
    double *vector
    Py_ssize_t n_vector
    Py_ssize_t vector_capacity
    int32_t *kept              # (n_tokens, n_labels) first kept prefix
    double *direction          # (3, width) of comparisons
    # the way down without a heap
    double *dive_vector        # (n_tokens, width)
    double *dive_bound         # (n_tokens, n_labels)
    int32_t *dive_label        # (n_tokens,)
    double rival               # largest bound left behind
    bint plain                 # nothing on the way was near the end of the range
    # the graph
    Py_ssize_t patience        # expansions before each graph, -1 = when they pay
    Py_ssize_t most_order      # as asked for
    Py_ssize_t max_order       # of this sequence
    Py_ssize_t budget
    Py_ssize_t order           # 0 = stage 1
    Py_ssize_t expanded_before  # at the last change of stage
    int64_t spent              # work since then, in cycles or so
    int64_t next_order_at      # work
    Pairs pairs
    Graph graph
    # where it stands
    Phase phase
    Phase after_beam
    Py_ssize_t token
    Py_ssize_t n_expanded
    bint dead                  # no label sequence has positive weight
    bint huge


# -- comparing prefixes

cdef inline bint dominated(Search *s, const double *a, Py_ssize_t width, int32_t kept) noexcept nogil:
    cdef Py_ssize_t count = 0
    while kept != 0:
        s.spent += COMPARISON_COST
        if covers(s.vector + s.prefix[kept].vector, a, width):
            count += 1
            if count == s.answers.n_best:
                return True
        kept = s.prefix[kept].next
    return False


cdef inline bint dominated_along_rays(Search *s, const double *a, Py_ssize_t node, Py_ssize_t t,
                                      int32_t kept) noexcept nogil:
    """Whether enough kept prefixes are as large as `a` along all corners of the suffix cone of its node."""
    cdef Graph *g = &s.graph
    cdef Py_ssize_t first = s.q.label_ptr[g.label[node]]
    cdef Py_ssize_t width = s.q.label_ptr[g.label[node] + 1] - first
    cdef const double *rest = s.q.rest + t * s.q.stride + first
    cdef double *low = s.direction
    cdef double *unit = s.direction + g.width
    cdef double *along = s.direction + 2 * g.width
    cdef const double *b
    cdef double total = 0.0
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t k
    if kept == 0:
        return False
    for k in range(width):
        low[k] = g.ray_low[node * g.width + k] * rest[k]
        unit[k] = g.ray_unit[node * g.width + k] * rest[k]
        total += low[k] * a[k]
    for k in range(width):
        along[k] = total + unit[k] * a[k]
    while kept != 0:
        s.spent += COMPARISON_COST
        b = s.vector + s.prefix[kept].vector
        total = 0.0
        for k in range(width):
            total += low[k] * b[k]
        for k in range(width):
            if total + unit[k] * b[k] < along[k]:
                break
        else:
            count += 1
            if count == s.answers.n_best:
                return True
        kept = s.prefix[kept].next
    return False


# -- the search

cdef inline int keep(Search *s, Py_ssize_t parent, Py_ssize_t made_by, Py_ssize_t node, Py_ssize_t label,
                     Py_ssize_t t) noexcept nogil:
    """Make a prefix of the vector that lies behind the last one's."""
    cdef Prefix *new
    cdef int32_t *kept = s.kept + t * s.q.n_labels + label
    cdef Py_ssize_t width = s.q.label_ptr[label + 1] - s.q.label_ptr[label]
    cdef Py_ssize_t k
    cdef void *moved = grown(s.prefix, &s.prefix_capacity, s.n_prefixes + 1, sizeof(Prefix))
    if moved == NULL:
        return -1
    s.prefix = <Prefix *> moved
    for k in range(width):
        if not s.vector[s.n_vector + k] < HUGE:
            s.huge = True
    new = s.prefix + s.n_prefixes
    new.vector = s.n_vector
    new.parent = <int32_t> parent
    new.label = <int32_t> label
    new.token = <int32_t> t
    new.made_by = <int32_t> made_by
    new.node = <int32_t> node
    new.next = kept[0]
    kept[0] = <int32_t> s.n_prefixes
    s.n_vector += width
    s.n_prefixes += 1
    return 0


cdef inline int vector_room(Search *s) noexcept nogil:
    cdef void *moved = grown(s.vector, &s.vector_capacity, s.n_vector + s.q.width, sizeof(double))
    if moved == NULL:
        return -1
    s.vector = <double *> moved
    return 0


cdef inline int open_child(Search *s, Py_ssize_t parent, Py_ssize_t made_by, Py_ssize_t label, double bound,
                           double cap) noexcept nogil:
    """Push a child that may be worth it; complete ones become answers at once, their bound being their weight."""
    cdef Py_ssize_t t = s.prefix[parent].token + 1
    cdef Py_ssize_t i
    if bound <= s.answers.lower:
        return 0
    if bound < TINY:
        s.answers.dropped = larger(s.answers.dropped, TINY)
    elif t == s.q.n_tokens - 1:
        s.answers.scratch[t] = <int32_t> label
        i = parent
        while i != 0:
            s.answers.scratch[s.prefix[i].token] = s.prefix[i].label
            i = s.prefix[i].parent
        if not bound <= record(&s.answers, &s.q) * (1.0 + s.q.eta):
            s.answers.dropped = larger(s.answers.dropped, smaller(bound, cap))
    else:
        return push(&s.heap, &s.prefix[0].token, sizeof(Prefix), smaller(bound, cap), parent, made_by)
    return 0


cdef inline double arc_bound(const Search *s, const double *a, Py_ssize_t width, int64_t arc) noexcept nogil:
    cdef const double *gain = s.graph.gain + arc * s.graph.width
    cdef double bound = 0.0
    cdef Py_ssize_t k
    for k in range(width):
        bound += a[k] * gain[k]
    return bound * s.graph.ahead[s.graph.target[arc]]


cdef inline int open_children(Search *s, Py_ssize_t parent, double cap) noexcept nogil:
    cdef Py_ssize_t source = s.prefix[parent].label
    cdef Py_ssize_t t = s.prefix[parent].token + 1
    cdef const double *a = s.vector + s.prefix[parent].vector
    cdef Py_ssize_t width, node, label
    cdef Py_ssize_t best = -1
    cdef int64_t arc
    cdef double bound
    cdef double top = 0.0
    if s.order == 0:
        if source >= 0:
            spread_out(&s.q, a, source, t)
        if t == s.q.n_tokens - 1:
            # The best one first: then the others mostly need no forward pass of their own.
            for label in range(s.q.n_labels):
                bound = child_bound(&s.q, a, source, label, t)
                if bound > top:
                    top = bound
                    best = label
            if best >= 0 and open_child(s, parent, best, best, top, cap) < 0:
                return -1
        for label in range(s.q.n_labels):
            if label != best and open_child(s, parent, label, label, child_bound(&s.q, a, source, label, t), cap) < 0:
                return -1
        return 0
    node = s.prefix[parent].node
    width = s.q.label_ptr[source + 1] - s.q.label_ptr[source] if source >= 0 else 1
    for arc in range(s.graph.arc_ptr[node], s.graph.arc_ptr[node + 1]):
        if open_child(s, parent, arc, s.graph.label[s.graph.target[arc]], arc_bound(s, a, width, arc), cap) < 0:
            return -1
    return 0


cdef inline int expand(Search *s) noexcept nogil:
    """Take the best prefix from the heap; unless it is dominated, keep it and open its children."""
    cdef Entry entry = pop(&s.heap, &s.prefix[0].token, sizeof(Prefix))
    cdef Py_ssize_t source = s.prefix[entry.parent].label
    cdef Py_ssize_t t = s.prefix[entry.parent].token + 1
    cdef Py_ssize_t node = s.graph.target[entry.choice] if s.order > 0 else -1
    cdef Py_ssize_t label = s.graph.label[node] if s.order > 0 else entry.choice
    cdef Py_ssize_t width = s.q.label_ptr[label + 1] - s.q.label_ptr[label]
    cdef int32_t kept = s.kept[t * s.q.n_labels + label]
    cdef double *a
    if vector_room(s) < 0:
        return -1
    a = s.vector + s.n_vector
    extend(&s.q, s.vector + s.prefix[entry.parent].vector, source, label, t, a)
    if dominated_along_rays(s, a, node, t, kept) if s.order > 0 else dominated(s, a, width, kept):
        return 0
    if keep(s, entry.parent, entry.choice, node, label, t) < 0:
        return -1
    s.n_expanded += 1
    s.spent += EXPANSION_COST + CHILD_COST * s.q.n_labels
    return open_children(s, s.n_prefixes - 1, entry.value)
