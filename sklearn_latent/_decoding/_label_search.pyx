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

from ._answers cimport order_first
from ._beam cimport BEAM_WIDTH, Beam, beam_free, beam_start, beam_token
from ._cones cimport Graph, cones_backward, cones_forward, graph_free
from ._dive cimport dive_token, leave_dive, look_at_children
from ._fronts cimport meeting_begin, meeting_free, meeting_open
from ._heap cimport grown
from ._line_graph cimport OUT_OF_MEMORY, TOO_LARGE, Pairs, pairs_backward, pairs_free, pairs_open
from ._meeting cimport MEETING_FOUND, MEETING_GAVE_UP, meeting_step
from ._prefixes cimport (
    BACKWARD, BEAM, BOUND, DIVE, DONE, FINISH, FORWARD, GRAPH, IDLE, MEET, NO_MEMORY, PAIRS, RUNNING, SEARCH, Prefix,
    Search, Status, expand,
)
from ._sequence cimport bound_token, larger, sequence_begin, sequence_free, sequence_open
from ._stages cimport arc_cost, finish_graph, graph_pays, start_graph

cdef extern from "_search.h" nogil:
    void sl_row_factors(const double *score, double *factor, double *shift, double *low, Py_ssize_t n_rows,
                        Py_ssize_t n_columns)
    void sl_add_term(double *sum, double *rest, double value)
    double sl_sum_of(double sum, double rest)

cdef enum:
    SLICE = 1 << 27            # multiplications or cycles between two looks at pending signals


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
                s.phase = DIVE if s.answers.n_best == 1 else MEET
                if s.phase == DIVE:
                    look_at_children(s, NULL, -1, 0, INFINITY)
        elif s.phase == DIVE:
            left -= s.q.width * s.q.n_states
            if dive_token(s) < 0:
                return NO_MEMORY
        elif s.phase == MEET:
            spent = s.meeting.work_done
            done = meeting_step(&s.meeting, &s.q, &s.answers)
            left -= s.meeting.work_done - spent
            s.n_expanded = s.meeting.n_expanded
            if done < 0:
                return NO_MEMORY
            if done == MEETING_FOUND:
                return DONE
            if done == MEETING_GAVE_UP:
                s.spent = spent = s.meeting.work_done
                look_at_children(s, NULL, -1, 0, INFINITY)
                if leave_dive(s, 0) < 0:
                    return NO_MEMORY
        elif s.phase == BEAM:
            left -= s.beam_width * s.q.width * s.q.n_states
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
                if beam_start(&s.beam, &s.q, s.beam_width) < 0:
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
            if beam_start(&s.beam, &s.q, s.beam_width) < 0:
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
    if s.prefix == NULL or s.vector == NULL:
        return -1
    return meeting_open(&s.meeting, &s.q, longest) if s.answers.n_best > 1 else 0


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
    meeting_begin(&s.meeting, &s.q, s.answers.n_best, s.max_expansions)


cdef bint search_end(Search *s, double *log_upper) noexcept nogil:
    """Whether the best answers are proven, and the bound on the weight of all."""
    cdef double top
    cdef bint proven
    if s.dead:
        log_upper[0] = -INFINITY
        return True
    order_first(&s.answers, &s.q)
    top = s.heap.entry[0].value if s.heap.size > 0 else 0.0
    top = larger(top, s.answers.dropped)
    proven = top <= s.answers.lower * (1.0 + s.q.eta) and not s.huge
    if proven and s.answers.n_found > 0:
        log_upper[0] = s.answers.log_weight[0]
        return True
    # Computed bounds may lie below the true ones by rounding; eta is more than that.
    log_upper[0] = log(top) + <double>s.q.exponent * log(2.0) + log1p(s.q.eta) if top > 0.0 else -INFINITY
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
    meeting_free(&s.meeting)


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


cdef bint factors_of(const double *score, Py_ssize_t n_tokens, Py_ssize_t n_states, double least, double *factor,
                     double *rows, double *unit) noexcept nogil:
    """Factors of one sequence and the sum of what they were divided by; False if one is smaller than `least`.

    rows, (2, n_tokens), is for work.
    """
    cdef double *low = rows + n_tokens
    cdef double rest = 0.0
    cdef Py_ssize_t t
    unit[0] = 0.0
    sl_row_factors(score, factor, rows, low, n_tokens, n_states)
    for t in range(n_tokens):
        if not low[t] >= least:
            return False
        sl_add_term(unit, &rest, rows[t])
    unit[0] = sl_sum_of(unit[0], rest)
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
    Py_ssize_t beam_width=BEAM_WIDTH,    # prefixes of a token in the beam
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
    s.beam_width = beam_width
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
    const double[:, ::1] node,           # IN  (n_tokens, n_states) log-scores, -inf = forbidden
    const double[:, :, ::1] arc_factor,  # IN  (1 | n_tokens, n_states, n_states) [source, target] into the token
    const double[::1] arc_shift,         # IN  (1 | n_tokens,) log of what each row of factors was divided by
    const int32_t[::1] label_ptr,        # IN  (n_labels + 1,) states of a label are neighbours
    const int64_t[::1] offsets,          # IN  (n_sequences + 1,)
    Py_ssize_t n_best,
    Py_ssize_t max_search,
    Py_ssize_t free_expansions,          # a token, granted beyond max_search
    double epsilon,
    Py_ssize_t max_order,
    Py_ssize_t patience,
    Py_ssize_t budget,
    double least_factor,                 # sequences with smaller positive node factors are left out
    uint8_t[::1] served,                 # INOUT (n_sequences,) 0 = leave it out; 0 comes back where it was left out
    int32_t[::1] labels,                 # OUT (n_best n_tokens,) label ids, for each sequence (n_best, its tokens)
    double[:, ::1] log_weight,           # OUT (n_sequences, n_best) log of the summed scores, -inf where unused
    double[::1] gap,                     # OUT (n_sequences,) log of bound over best weight, inf = no sequence found
    uint8_t[::1] proven,                 # OUT (n_sequences,)
    int64_t[::1] n_expanded,             # OUT (n_sequences,)
) -> None:
    """`label_search` for each sequence of a batch, in the same room; empty ones are left out."""
    cdef Search s
    cdef Status status = RUNNING
    cdef Py_ssize_t n_states = node.shape[1]
    cdef Py_ssize_t longest = 0
    cdef Py_ssize_t i, n, k
    cdef int64_t left = SLICE
    cdef double log_upper
    cdef double *factor = NULL
    cdef double unit = 0.0
    memset(&s, 0, sizeof(Search))
    for i in range(served.shape[0]):
        longest = max(longest, <Py_ssize_t> (offsets[i + 1] - offsets[i]))
    if longest == 0:
        return
    s.q.label_ptr = &label_ptr[0]
    s.q.n_states = s.q.arc_stride = n_states
    s.q.n_labels = label_ptr.shape[0] - 1
    s.q.arc = &arc_factor[0, 0, 0]
    s.q.arc_step = n_states * n_states if arc_factor.shape[0] > 1 else 0
    s.answers.n_best = n_best
    s.epsilon = epsilon
    s.most_order = max_order
    s.patience = patience
    s.budget = budget
    s.beam_width = BEAM_WIDTH
    i = 0
    try:
        with nogil:
            factor = <double *> malloc(<size_t>longest * (n_states + 2) * sizeof(double))
            if factor == NULL or search_open(&s, longest) < 0:
                status = NO_MEMORY
        while status == RUNNING and i < served.shape[0]:
            with nogil:
                left = SLICE
                while i < served.shape[0] and left > 0:
                    n = offsets[i + 1] - offsets[i]
                    if s.phase == IDLE:
                        served[i] = served[i] and n > 0 and factors_of(
                            &node[offsets[i], 0], n, n_states, least_factor, factor, factor + longest * n_states, &unit)
                        if not served[i]:
                            i += 1
                            continue
                        s.q.node = factor
                        if s.q.arc_step > 0:
                            s.q.arc = &arc_factor[offsets[i], 0, 0]
                        # No more than there are, so that an answer does not depend on what else is in the batch.
                        s.answers.n_best = 1
                        k = 0
                        while k < n and s.answers.n_best < n_best:
                            s.answers.n_best = min(s.answers.n_best * s.q.n_labels, n_best)
                            k += 1
                        s.answers.labels = &labels[n_best * offsets[i]]
                        s.answers.log_weight = &log_weight[i, 0]
                        s.max_expansions = max_search + free_expansions * n
                        search_begin(&s, n)
                    status = advance(&s)
                    if status != DONE:
                        break
                    status = RUNNING
                    left -= n * n_states * n_states
                    proven[i] = search_end(&s, &log_upper)
                    gap[i] = log_upper - log_weight[i, 0] if s.answers.n_found > 0 else INFINITY
                    n_expanded[i] = s.n_expanded
                    for k in range(1, n):
                        unit += arc_shift[offsets[i] + k] if s.q.arc_step > 0 else arc_shift[0]
                    for k in range(s.answers.n_found):
                        log_weight[i, k] += unit
                    forget(&s)
                    i += 1
            PyErr_CheckSignals()
        if status == NO_MEMORY:
            raise MemoryError(f"label_search_batch: no memory for more prefixes at sequence {i}")
    finally:
        search_free(&s)
        free(factor)
