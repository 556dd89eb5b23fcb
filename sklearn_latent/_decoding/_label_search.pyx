# SPDX-License-Identifier: BSD-3-Clause
"""Best-first search over label prefixes: the n most probable label sequences, with a certificate.

What is computed. The weight of a label sequence is the sum over its latent paths,

    weight(y_1..y_T) = sum over h_t in H_{y_t} of  E_1(h_1) * prod_{t>1} A_t(h_{t-1}, h_t) E_t(h_t).

A prefix y_1..y_t carries its forward vector a(h), h in H_{y_t}, and an upper bound of the weight of its completions.
Prefixes leave the heap by falling bound; a child's bound is capped by its parent's, ties go to the longer prefix. A
prefix is dropped when n_best kept ones of its token and label are at least as good whatever follows.

Stages. (1) The bound is a . R (see _sequence.pxd), and a kept prefix is as good if it is at least as large in every
state that can still reach the end. For the single best sequence the search first follows the best child without a
heap, until that falls behind; on peaked models it mostly arrives. After 2 T expansions a narrow beam supplies lower
bounds. (2) Then prefixes become nodes of a graph with cones (see _cones.pyx): sharper bounds, and comparisons along
the suffixes that exist. (3) Then nodes that know one label more, and again (see _line_graph.pyx), up to max_order,
as long as a graph has at most `budget` arcs. A new stage takes the prefixes and the heap over; bounds only fall.

When. The graph comes after 2 T expansions; for n_best answers after T / 2 more for each, if expansions have then cost
as much as it will. A line graph comes when the expansions since the last graph have cost as much as it will: so the
work is never much more than twice that of the better choice. With `patience` each graph comes after so many expansions
instead.

Range. See _sequence.pxd. What the search gives up for being below TINY, or leaves out because no more than epsilon can
be gained by it, is remembered in `dropped`.

Index convention. Prefix 0 is the empty one; lists of kept prefixes end in 0. A prefix and a heap entry hold what they
were made by: a label in stage 1, an arc of the graph later.

Cost. Stage 1: S^2 multiplications a token, and |H_y| S an expansion. Later: K^2 an arc and token of the graph, and
|H_y| an arc for an expansion. At most one heap entry a label.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, log, log1p
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ._answers cimport Answers, record
from ._beam cimport BEAM_WIDTH, Beam, beam_free, beam_start, beam_token
from ._cones cimport Graph, cones_backward, cones_forward, graph_free, sum_up_behind
from ._heap cimport Entry, Heap, grown, pop, push
from ._line_graph cimport (
    OUT_OF_MEMORY, TOO_LARGE, Pairs, graph_of_pairs, line_graph, pairs_backward, pairs_free, pairs_open,
)
from ._sequence cimport (
    FLOOR, HUGE, TINY, Sequence, bound_token, child_bound, covers, extend, larger, reached, sequence_begin,
    sequence_free, sequence_open, smaller, spread_out,
)

cdef enum:
    SLICE = 1 << 27            # multiplications or cycles between two looks at pending signals
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
    SEARCH
    BEAM
    PAIRS
    GRAPH
    FORWARD
    BACKWARD
    FINISH

cdef double LOG_2 = log(2.0)
cdef double DETOUR = 0.5        # the way down goes on while its bound is not below this of the best one left behind

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

cdef bint dominated(Search *s, const double *a, Py_ssize_t width, int32_t kept) noexcept nogil:
    cdef Py_ssize_t count = 0
    while kept != 0:
        s.spent += COMPARISON_COST
        if covers(s.vector + s.prefix[kept].vector, a, width):
            count += 1
            if count == s.answers.n_best:
                return True
        kept = s.prefix[kept].next
    return False


cdef bint dominated_along_rays(Search *s, const double *a, Py_ssize_t node, Py_ssize_t t,
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

cdef int keep(Search *s, Py_ssize_t parent, Py_ssize_t made_by, Py_ssize_t node, Py_ssize_t label,
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


cdef int vector_room(Search *s) noexcept nogil:
    cdef void *moved = grown(s.vector, &s.vector_capacity, s.n_vector + s.q.width, sizeof(double))
    if moved == NULL:
        return -1
    s.vector = <double *> moved
    return 0


cdef int open_child(Search *s, Py_ssize_t parent, Py_ssize_t made_by, Py_ssize_t label, double bound,
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


cdef double arc_bound(const Search *s, const double *a, Py_ssize_t width, int64_t arc) noexcept nogil:
    cdef const double *gain = s.graph.gain + arc * s.graph.width
    cdef double bound = 0.0
    cdef Py_ssize_t k
    for k in range(width):
        bound += a[k] * gain[k]
    return bound * s.graph.ahead[s.graph.target[arc]]


cdef int open_children(Search *s, Py_ssize_t parent, double cap) noexcept nogil:
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


cdef int expand(Search *s) noexcept nogil:
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


# -- the way down without a heap

cdef void look_at_children(Search *s, const double *a, Py_ssize_t source, Py_ssize_t t, double cap) noexcept nogil:
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


cdef int leave_dive(Search *s, Py_ssize_t opened) noexcept nogil:
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


cdef int dive_token(Search *s) noexcept nogil:
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
        s.answers.log_weight[0] = log(bound) + <double>s.q.exponent * LOG_2
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


# -- changing stages

cdef Py_ssize_t find_arc(const Graph *g, Py_ssize_t node, Py_ssize_t target) noexcept nogil:
    cdef int64_t a
    if node >= 0 and target >= 0:
        for a in range(g.arc_ptr[node], g.arc_ptr[node + 1]):
            if g.target[a] == target:
                return a
    return -1


cdef int carry_over(Search *s, const int32_t *node_of) noexcept nogil:
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


cdef double least_of_interest(Search *s) noexcept nogil:
    """What sequences must weigh to matter; the search answers for what is left out."""
    cdef double least = s.answers.lower * (1.0 + s.epsilon)
    if s.epsilon > 0.0:
        s.answers.dropped = larger(s.answers.dropped, least)
    return least


cdef int64_t arc_cost(const Search *s) noexcept nogil:
    return ARC_COST + CORNER_COST * s.q.width * s.q.width


cdef bint graph_pays(const Search *s) noexcept nogil:
    if s.order == s.max_order:
        return False
    if s.patience >= 0:
        return s.n_expanded >= s.expanded_before + s.patience
    # Walking to the end of each further answer is no sign of a hard sequence.
    if s.order == 0 and 2 * s.n_expanded < (s.answers.n_best + 3) * s.q.n_tokens:
        return False
    return s.spent >= s.next_order_at or (s.order == 0 and s.answers.n_best == 1)


cdef int finish_graph(Search *s) noexcept nogil:
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


cdef Status start_graph(Search *s) noexcept nogil:
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


cdef Status advance(Search *s) noexcept nogil:
    """Work for one slice, or to the end."""
    cdef int64_t left = SLICE
    cdef int64_t spent = s.spent
    cdef double top
    cdef int done
    while left > 0:
        if s.phase == BOUND:
            left -= s.q.n_states * s.q.n_states
            s.dead = not bound_token(&s.q, s.token)
            s.token -= 1
            if s.dead:
                return DONE
            if s.token < 0:
                s.token = 0
                look_at_children(s, NULL, -1, 0, INFINITY)
                if s.answers.n_best == 1:
                    s.phase = DIVE
                elif leave_dive(s, 0) < 0:
                    return NO_MEMORY
        elif s.phase == DIVE:
            left -= s.q.width * s.q.n_states
            if dive_token(s) < 0:
                return NO_MEMORY
        elif s.phase == BEAM:
            left -= BEAM_WIDTH * s.q.width * s.q.n_states
            if beam_token(&s.beam, &s.q, &s.answers) < 0:
                return NO_MEMORY
            if s.beam.token == s.q.n_tokens:
                s.phase = s.after_beam
        elif s.phase == SEARCH:
            # Kept prefixes to compare with may be thousands: what an expansion costs is known only afterwards.
            left -= s.spent - spent
            spent = s.spent
            top = s.heap.entry[0].value if s.heap.size > 0 else 0.0
            if (top <= s.answers.lower * (1.0 + s.accepted) or s.n_expanded >= s.max_expansions
                    or s.n_prefixes == INT32_MAX):
                s.phase = FINISH
            elif s.n_expanded >= 2 * s.q.n_tokens and not s.beam.used:
                s.phase = BEAM
                s.after_beam = SEARCH
                if beam_start(&s.beam, &s.q) < 0:
                    return NO_MEMORY
            elif graph_pays(s):
                s.phase = GRAPH
                if s.order == 0:
                    done = pairs_open(&s.pairs, &s.q)
                    if done == OUT_OF_MEMORY:
                        return NO_MEMORY
                    s.phase = PAIRS if done == 0 else SEARCH
                    s.token = s.q.n_tokens - 1
                    if done == TOO_LARGE:
                        s.max_order = 0
            elif expand(s) < 0:
                return NO_MEMORY
        elif s.phase == PAIRS:
            left -= s.q.n_states * s.q.n_states
            pairs_backward(&s.q, &s.pairs, s.token)
            s.token -= 1
            if s.token < 0:
                s.phase = GRAPH
        elif s.phase == GRAPH:
            left -= s.q.n_tokens * s.q.n_labels * s.q.n_labels + s.graph.n_arcs * s.q.n_labels
            if start_graph(s) == NO_MEMORY:
                return NO_MEMORY
        elif s.phase == FORWARD:
            left -= cone_work(s)
            cones_forward(&s.q, &s.graph, s.token)
            s.token += 1
            if s.token == s.q.n_tokens:
                s.phase = BACKWARD
                s.token -= 1
        elif s.phase == BACKWARD:
            left -= cone_work(s)
            cones_backward(&s.q, &s.graph, s.token)
            s.token -= 1
            if s.token < -1:
                if finish_graph(s) < 0:
                    return NO_MEMORY
                spent = s.spent
        else:
            # Whatever the reason to stop, an answer is owed.
            if (s.answers.n_found == s.answers.n_best or s.beam.used
                    or (s.heap.size == 0 and s.answers.dropped == 0.0)):
                return DONE
            s.phase = BEAM
            s.after_beam = FINISH
            if beam_start(&s.beam, &s.q) < 0:
                return NO_MEMORY
    return RUNNING


cdef int64_t cone_work(const Search *s) noexcept nogil:
    """Multiplications of one token of the cones."""
    cdef const int64_t *node = s.graph.node_ptr + s.token + 1
    return 4 * (s.graph.arc_ptr[node[1]] - s.graph.arc_ptr[node[0]] + 1) * s.q.width * s.q.width


cdef int search_open(Search *s, Py_ssize_t longest) noexcept nogil:
    """Room for sequences of up to `longest` tokens."""
    cdef size_t n = <size_t> longest
    cdef Py_ssize_t n_prefixes = min(longest, 4096)
    cdef void *moved
    if sequence_open(&s.q, longest) < 0:
        return -1
    s.kept = <int32_t *> malloc(n * s.q.n_labels * sizeof(int32_t))
    s.direction = <double *> malloc(3 * <size_t>s.q.width * sizeof(double))
    s.dive_vector = <double *> malloc(n * s.q.width * sizeof(double))
    s.dive_bound = <double *> malloc(n * s.q.n_labels * sizeof(double))
    s.dive_label = <int32_t *> malloc(n * sizeof(int32_t))
    s.answers.scratch = <int32_t *> malloc(n * sizeof(int32_t))
    s.answers.value = <double *> malloc(<size_t>s.answers.n_best * sizeof(double))
    if (s.kept == NULL or s.direction == NULL or s.dive_vector == NULL or s.dive_bound == NULL
            or s.dive_label == NULL or s.answers.scratch == NULL or s.answers.value == NULL):
        return -1
    moved = grown(NULL, &s.prefix_capacity, n_prefixes + 1, sizeof(Prefix))
    s.prefix = <Prefix *> moved
    moved = grown(NULL, &s.vector_capacity, n_prefixes * s.q.width, sizeof(double))
    s.vector = <double *> moved
    return -1 if s.prefix == NULL or s.vector == NULL else 0


cdef void search_begin(Search *s, Py_ssize_t n_tokens) noexcept nogil:
    """Before a sequence, whose factors s.q points to and whose answers s.answers points to."""
    cdef Py_ssize_t i
    sequence_begin(&s.q, n_tokens)
    s.accepted = larger(s.epsilon, s.q.eta)
    s.answers.n_found = 0
    s.answers.lower = 0.0
    s.answers.dropped = 0.0
    for i in range(s.answers.n_best):
        s.answers.log_weight[i] = -INFINITY
    # The empty prefix has the vector (1,), as if there were one state to begin with.
    s.vector[0] = 1.0
    s.n_vector = 1
    s.n_prefixes = 1
    memset(s.prefix, 0, sizeof(Prefix))
    s.prefix[0].label = s.prefix[0].token = s.prefix[0].made_by = -1
    s.heap.size = 0
    s.rival = 0.0
    s.plain = True
    s.huge = False
    s.dead = False
    s.order = 0
    s.expanded_before = 0
    s.spent = 0
    s.next_order_at = n_tokens * (s.q.n_labels * s.q.n_labels * arc_cost(s) + s.q.n_states * s.q.n_states)
    s.max_order = s.most_order
    s.n_expanded = 0
    s.phase = BOUND
    s.token = n_tokens - 1


cdef bint search_end(Search *s, double *log_upper) noexcept nogil:
    """Whether the best answers are proven, and the bound on the weight of all."""
    cdef double top
    cdef bint proven
    if s.dead:
        log_upper[0] = -INFINITY
        return True
    top = s.heap.entry[0].value if s.heap.size > 0 else 0.0
    top = larger(top, s.answers.dropped)
    proven = top <= s.answers.lower * (1.0 + s.q.eta) and not s.huge
    if proven and s.answers.n_found > 0:
        log_upper[0] = s.answers.log_weight[0]
        return True
    # Computed bounds may lie below the true ones by rounding; eta is more than that.
    log_upper[0] = log(top) + <double>s.q.exponent * LOG_2 + log1p(s.q.eta) if top > 0.0 else -INFINITY
    if s.answers.n_found > 0:
        log_upper[0] = larger(log_upper[0], s.answers.log_weight[0])
    return proven


cdef void forget(Search *s) noexcept nogil:
    """Free what not every sequence needs."""
    s.phase = IDLE
    if s.beam.used:
        beam_free(&s.beam)
        memset(&s.beam, 0, sizeof(Beam))
    if s.pairs.loss != NULL or s.graph.node_ptr != NULL:
        pairs_free(&s.pairs)
        memset(&s.pairs, 0, sizeof(Pairs))
        graph_free(&s.graph)
        memset(&s.graph, 0, sizeof(Graph))


cdef void search_free(Search *s) noexcept nogil:
    forget(s)
    sequence_free(&s.q)
    free(s.kept)
    free(s.direction)
    free(s.dive_vector)
    free(s.dive_bound)
    free(s.dive_label)
    free(s.answers.scratch)
    free(s.answers.value)
    free(s.prefix)
    free(s.vector)
    free(s.heap.entry)
    free(s.spare.entry)


cdef double *renumbered(const double *rows, Py_ssize_t n_rows, const int32_t *state, Py_ssize_t n) noexcept nogil:
    """A copy of rows (n_rows, n) with column `state[k]` at k."""
    cdef double *out = <double *> malloc(<size_t>n_rows * n * sizeof(double))
    cdef Py_ssize_t i, k
    if out != NULL:
        for i in range(n_rows):
            for k in range(n):
                out[i * n + k] = rows[i * n + state[k]]
    return out


cdef bint renumber(Search *s, Py_ssize_t n_tokens, Py_ssize_t n_arc_rows, const int32_t *state, double **node,
                   double **arc) noexcept nogil:
    """Make the states of a label neighbours where they are not; False if there is no memory."""
    cdef Py_ssize_t n = s.q.n_states
    cdef Py_ssize_t i, k
    cdef bint sorted = True
    cdef double *columns
    for k in range(n):
        sorted = sorted and state[k] == k
    if sorted:
        return True
    node[0] = renumbered(s.q.node, n_tokens, state, n)
    columns = renumbered(s.q.arc, n_arc_rows * n, state, n)
    arc[0] = <double *> malloc(<size_t>n_arc_rows * n * n * sizeof(double))
    if node[0] == NULL or columns == NULL or arc[0] == NULL:
        free(columns)
        return False
    for i in range(n_arc_rows):
        for k in range(n):
            memcpy(arc[0] + (i * n + k) * n, columns + (i * n + state[k]) * n, <size_t>n * sizeof(double))
    free(columns)
    s.q.node = node[0]
    s.q.arc = arc[0]
    return True


def label_search(
    const double[:, ::1] node_factor,    # IN  (n_tokens, n_states) exp of shifted scores, 0 = forbidden
    const double[:, :, ::1] arc_factor,  # IN  (1 | n_tokens, n_states, n_states) [source, target] into the token
    const int32_t[::1] label_ptr,        # IN  (n_labels + 1,)
    const int32_t[::1] label_state,      # IN  (n_states,) states grouped by label
    Py_ssize_t n_best,
    Py_ssize_t max_expansions,
    double epsilon,                      # accepted relative gap, 0 = exact up to rounding
    int32_t[:, ::1] labels,              # OUT (n_best, n_tokens) label ids, best first
    double[::1] log_weight,              # OUT (n_best,) log of the weights, -inf where unused
    Py_ssize_t max_order=0,              # labels that the nodes of a graph may know, 0 = no graph
    Py_ssize_t patience=-1,              # expansions before each graph, -1 = when they pay
    Py_ssize_t budget=300_000,           # most arcs of a line graph
) -> tuple:
    """Find the n_best heaviest label sequences: (n_found, log_upper_bound, proven, n_expanded).

    No label sequence weighs more than exp(log_upper_bound). `proven` is 1 if no sequence left out is heavier than
    the last one returned by a factor beyond 1 + 2 eta, eta = 4 T (K + 2) 2^-53, K the most states of a label.
    """
    cdef Search s
    cdef Status status = RUNNING
    cdef double log_upper
    cdef bint proven
    cdef double *node = NULL
    cdef double *arc = NULL
    memset(&s, 0, sizeof(Search))
    s.q.node = &node_factor[0, 0]
    s.q.arc = &arc_factor[0, 0, 0]
    s.q.label_ptr = &label_ptr[0]
    s.q.n_states = s.q.arc_stride = node_factor.shape[1]
    s.q.n_labels = label_ptr.shape[0] - 1
    s.q.arc_step = node_factor.shape[1] * node_factor.shape[1] if arc_factor.shape[0] > 1 else 0
    s.answers.n_best = n_best
    s.answers.labels = &labels[0, 0]
    s.answers.log_weight = &log_weight[0]
    s.max_expansions = max_expansions
    s.epsilon = epsilon
    s.most_order = max_order
    s.patience = patience
    s.budget = budget
    try:
        with nogil:
            if (not renumber(&s, node_factor.shape[0], arc_factor.shape[0], &label_state[0], &node, &arc)
                    or search_open(&s, node_factor.shape[0]) < 0):
                status = NO_MEMORY
            else:
                search_begin(&s, node_factor.shape[0])
        while status == RUNNING:
            with nogil:
                status = advance(&s)
            PyErr_CheckSignals()
        if status == NO_MEMORY:
            raise MemoryError("label_search: no memory for more prefixes")
        proven = search_end(&s, &log_upper)
        return s.answers.n_found, log_upper, int(proven), s.n_expanded
    finally:
        search_free(&s)
        free(node)
        free(arc)


def label_search_batch(
    const double[:, ::1] node_factor,    # IN  (n_tokens, n_states) exp of shifted scores, 0 = forbidden
    const double[:, :, ::1] arc_factor,  # IN  (1 | n_tokens, n_states, n_states) [source, target] into the token
    const int32_t[::1] label_ptr,        # IN  (n_labels + 1,) states of a label are neighbours
    const int64_t[::1] offsets,          # IN  (n_sequences + 1,)
    const uint8_t[::1] wanted,           # IN  (n_sequences,) 0 = leave it out
    Py_ssize_t max_search,
    Py_ssize_t free_expansions,          # a token, granted beyond max_search
    double epsilon,
    Py_ssize_t max_order,
    Py_ssize_t patience,
    Py_ssize_t budget,
    int32_t[::1] labels,                 # OUT (n_tokens,) label ids
    double[::1] gap,                     # OUT (n_sequences,) log of bound over weight, inf = no sequence found
    uint8_t[::1] proven,                 # OUT (n_sequences,)
    int64_t[::1] n_expanded,             # OUT (n_sequences,)
) -> None:
    """`label_search` for the best sequence of each of a batch, in the same room; empty ones are left out."""
    cdef Search s
    cdef Status status = RUNNING
    cdef Py_ssize_t n_states = node_factor.shape[1]
    cdef Py_ssize_t longest = 0
    cdef Py_ssize_t i, n
    cdef int64_t left = SLICE
    cdef double log_weight, log_upper
    memset(&s, 0, sizeof(Search))
    for i in range(wanted.shape[0]):
        longest = max(longest, <Py_ssize_t> (offsets[i + 1] - offsets[i]))
    if longest == 0:
        return
    s.q.label_ptr = &label_ptr[0]
    s.q.n_states = s.q.arc_stride = n_states
    s.q.n_labels = label_ptr.shape[0] - 1
    s.q.arc = &arc_factor[0, 0, 0]
    s.q.arc_step = n_states * n_states if arc_factor.shape[0] > 1 else 0
    s.answers.n_best = 1
    s.answers.log_weight = &log_weight
    s.epsilon = epsilon
    s.most_order = max_order
    s.patience = patience
    s.budget = budget
    i = 0
    try:
        with nogil:
            if search_open(&s, longest) < 0:
                status = NO_MEMORY
        while status == RUNNING and i < wanted.shape[0]:
            with nogil:
                left = SLICE
                while i < wanted.shape[0] and left > 0:
                    n = offsets[i + 1] - offsets[i]
                    if n == 0 or not wanted[i]:
                        i += 1
                        continue
                    if s.phase == IDLE:
                        s.q.node = &node_factor[offsets[i], 0]
                        if s.q.arc_step > 0:
                            s.q.arc = &arc_factor[offsets[i], 0, 0]
                        s.answers.labels = &labels[offsets[i]]
                        s.max_expansions = max_search + free_expansions * n
                        search_begin(&s, n)
                    status = advance(&s)
                    if status != DONE:
                        break
                    status = RUNNING
                    left -= n * n_states * n_states
                    proven[i] = search_end(&s, &log_upper)
                    gap[i] = log_upper - log_weight if s.answers.n_found > 0 else INFINITY
                    n_expanded[i] = s.n_expanded
                    forget(&s)
                    i += 1
            PyErr_CheckSignals()
        if status == NO_MEMORY:
            raise MemoryError(f"label_search_batch: no memory for more prefixes at sequence {i}")
    finally:
        search_free(&s)
