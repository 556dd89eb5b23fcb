# SPDX-License-Identifier: BSD-3-Clause
"""Latent paths in order of probability, projected to label sequences: the published search for the best of these.

What is computed. With log-scores node_t(h) and arc_t(g, h) (row t moves into token t) the score of a latent path is

    score(h_1..h_T) = node_1(h_1) + sum_{t>1} arc_t(h_{t-1}, h_t) + node_t(h_t).

Paths leave the search by falling score. Each is projected to its label sequence y; a new one is given its probability
P(y) = exp(log-sum-exp over its paths - log_sum) by a forward pass through its own states, in the log domain. With
covered = the sum of P over the label sequences seen, nothing unseen holds more than 1 - covered, so the search ends

    when  P(best) - alpha (1 - covered) >= 0                                   (alpha = 1: the best is the optimum)

as well as after n_paths paths or max_expansions steps (Sun and Tsujii, EACL 2009, figure 3 and equation 9).

Order. rest_t(g) = max_h arc_{t+1}(g, h) + node_{t+1}(h) + rest_{t+1}(h), the best score of what follows, is exact, so
the score of a prefix's best completion is known: it is that of its parent minus what the step loses against the best
one. The best successor loses nothing and, ties going to the longer prefix, would leave the heap next; it is therefore
followed at once, down to the last token. On the way each prefix leaves its next best sibling in the heap, found by a
scan of the successors of their parent (by step score, then by state). So every path leaves once, and only O(1) entries
a step are made. Losses are rounded but never negative: the order is exact in what is computed.

Index convention. Prefix 0 is the empty one; a prefix holds its last state and the index of its parent.

Cost. Set-up: S^2 additions a token. A step: two scans of S successors. A new label sequence: sum |H_y|^2 exponentials.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, exp, log
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from ._heap cimport Entry, Heap, grown, pop, push

cdef enum:
    SLICE = 1 << 27            # additions between two looks at pending signals

cdef enum Status:
    DONE
    RUNNING
    NO_MEMORY

cdef double TOLERANCE = 1e-12  # of the stop: rounding of `covered` must not keep the search going

cdef struct Prefix:
    double score               # of its best completion
    uint64_t hash              # of its labels
    int32_t parent
    int32_t state
    int32_t token

cdef struct Search:
    const double *node
    const double *arc
    const int32_t *state_label
    const int32_t *label_ptr
    const int32_t *label_state
    Py_ssize_t n_tokens
    Py_ssize_t n_states
    Py_ssize_t n_labels
    Py_ssize_t arc_step        # from one token's arcs to the next token's, 0 = shared
    Py_ssize_t width           # most states of a label
    double log_sum
    double alpha
    Py_ssize_t n_paths
    Py_ssize_t max_expansions
    double *rest               # (n_tokens, n_states)
    # the prefixes
    Prefix *prefix
    Py_ssize_t n_prefixes
    Py_ssize_t prefix_capacity
    Heap heap
    # the label sequences seen: complete prefixes in an open-addressing table, 0 = free
    int32_t *seen
    Py_ssize_t n_seen
    Py_ssize_t seen_capacity   # a power of two
    double covered
    double carry               # what rounding took from `covered`
    # the answer
    int32_t *labels
    int32_t *scratch           # (n_tokens,)
    double *forward            # (2 * width,)
    double best                # log-probability
    # where it stands
    Py_ssize_t token           # next token of `rest`, below 0 = done
    Py_ssize_t n_taken
    Py_ssize_t n_expanded
    bint closed
    bint cut                   # the budget ended in the middle of a path


# -- successors

cdef void rest_token(Search *s, Py_ssize_t t) noexcept nogil:
    """rest of token t from that of token t + 1."""
    cdef Py_ssize_t n_states = s.n_states
    cdef double *rest = s.rest + t * n_states
    cdef double *ahead = s.rest + (t + 1) * n_states
    cdef const double *node = s.node + (t + 1) * n_states
    cdef const double *arc = s.arc + (t + 1) * s.arc_step
    cdef Py_ssize_t g, h
    cdef double best, score
    for g in range(n_states):
        best = -INFINITY
        for h in range(n_states):
            score = arc[g * n_states + h] + (node[h] + ahead[h])
            best = score if score > best else best
        rest[g] = best


cdef inline double best_step(const Search *s, Py_ssize_t source, Py_ssize_t t) noexcept nogil:
    """What the best successor of the source state at token t scores; of the empty prefix, source -1, at token 0."""
    cdef double best = -INFINITY
    cdef double score
    cdef Py_ssize_t h
    if source >= 0:
        return s.rest[(t - 1) * s.n_states + source]
    for h in range(s.n_states):
        score = s.node[h] + s.rest[h]
        best = score if score > best else best
    return best


cdef Py_ssize_t next_step(const Search *s, Py_ssize_t source, Py_ssize_t t, double limit, Py_ssize_t after,
                          double *score) noexcept nogil:
    """The first successor behind (limit, after), by falling score, then by state; -1 if there is none."""
    cdef Py_ssize_t n_states = s.n_states
    cdef const double *node = s.node + t * n_states
    cdef const double *rest = s.rest + t * n_states
    cdef const double *arc = s.arc + t * s.arc_step + max(source, 0) * n_states
    cdef double best = -INFINITY
    cdef double at
    cdef Py_ssize_t found = -1
    cdef Py_ssize_t h
    for h in range(n_states):
        at = node[h] + rest[h]
        if source >= 0:
            at = arc[h] + at
        if at > best and (at < limit or (at == limit and h > after)):
            best = at
            found = h
    score[0] = best
    return found


# -- label sequences

cdef double log_sum_exp(const double *x, Py_ssize_t n) noexcept nogil:
    cdef double top = -INFINITY
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        top = x[i] if x[i] > top else top
    if top == -INFINITY:
        return top
    for i in range(n):
        total += exp(x[i] - top)
    return top + log(total)


cdef double sequence_score(const Search *s, double *terms) noexcept nogil:
    """Log of the summed weight of the latent paths of the label sequence in `scratch`; `terms` has room for width."""
    cdef Py_ssize_t n_states = s.n_states
    cdef double *a = s.forward
    cdef double *b = s.forward + s.width
    cdef const double *arc
    cdef Py_ssize_t t, k, j, h
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last = 0
    cdef Py_ssize_t origin = 0
    cdef Py_ssize_t end = 0
    for t in range(s.n_tokens):
        arc = s.arc + t * s.arc_step
        first, last = s.label_ptr[s.scratch[t]], s.label_ptr[s.scratch[t] + 1]
        for k in range(first, last):
            h = s.label_state[k]
            b[k - first] = s.node[t * n_states + h]
            if t > 0:
                for j in range(origin, end):
                    terms[j - origin] = a[j - origin] + arc[s.label_state[j] * n_states + h]
                b[k - first] += log_sum_exp(terms, end - origin)
        a, b = b, a
        origin, end = first, last
    return log_sum_exp(a, end - origin)


cdef bint same_labels(const Search *s, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Whether two prefixes of one length have the same labels; they may share their beginning."""
    while i != j:
        if s.state_label[s.prefix[i].state] != s.state_label[s.prefix[j].state]:
            return False
        i = s.prefix[i].parent
        j = s.prefix[j].parent
    return True


cdef Py_ssize_t place(const Search *s, Py_ssize_t i) noexcept nogil:
    """Where the labels of complete prefix i are in the table, or the free place where they belong."""
    cdef Py_ssize_t mask = s.seen_capacity - 1
    cdef uint64_t hash = s.prefix[i].hash
    cdef Py_ssize_t at = <Py_ssize_t>((hash ^ (hash >> 32)) & <uint64_t>mask)
    while s.seen[at] != 0:
        if s.prefix[s.seen[at]].hash == hash and same_labels(s, s.seen[at], i):
            break
        at = (at + 1) & mask
    return at


cdef int widen_table(Search *s) noexcept nogil:
    cdef int32_t *old = s.seen
    cdef Py_ssize_t n_old = s.seen_capacity
    cdef Py_ssize_t i
    cdef int32_t *new = <int32_t *> calloc(<size_t>max(64, 2 * n_old), sizeof(int32_t))
    if new == NULL:
        return -1
    s.seen = new
    s.seen_capacity = max(64, 2 * n_old)
    for i in range(n_old):
        if old[i] != 0:
            s.seen[place(s, old[i])] = old[i]
    free(old)
    return 0


cdef void judge(Search *s) noexcept nogil:
    """Give the label sequence in `scratch` its probability, and see whether the rest still matters."""
    cdef double log_prob = sequence_score(s, s.forward + 2 * s.width) - s.log_sum
    cdef double add = exp(log_prob) - s.carry
    cdef double total = s.covered + add
    s.carry = (total - s.covered) - add
    s.covered = total
    if s.labels[0] < 0 or log_prob > s.best:
        s.best = log_prob
        memcpy(s.labels, s.scratch, <size_t>s.n_tokens * sizeof(int32_t))
    if exp(s.best) - s.alpha * max(0.0, 1.0 - s.covered) >= -TOLERANCE:
        s.closed = True


cdef int take(Search *s, Py_ssize_t i) noexcept nogil:
    """Take note of complete prefix i."""
    cdef Py_ssize_t at
    s.n_taken += 1
    if 2 * s.n_seen >= s.seen_capacity and widen_table(s) < 0:
        return -1
    at = place(s, i)
    if s.seen[at] != 0:
        return 0
    s.seen[at] = <int32_t> i
    s.n_seen += 1
    while i != 0:
        s.scratch[s.prefix[i].token] = s.state_label[s.prefix[i].state]
        i = s.prefix[i].parent
    judge(s)
    return 0


cdef void take_best_path(Search *s) noexcept nogil:
    """The labels of the best path, for a search that was not allowed to reach it."""
    cdef Py_ssize_t state = -1
    cdef Py_ssize_t t
    cdef double score
    for t in range(s.n_tokens):
        state = next_step(s, state, t, INFINITY, -1, &score)
        s.scratch[t] = s.state_label[state]
    judge(s)


# -- the search

cdef int follow(Search *s, Entry entry) noexcept nogil:
    """From a prefix along best successors to the last token, leaving each one's next sibling behind."""
    cdef Py_ssize_t parent = entry.parent
    cdef Py_ssize_t state = entry.choice
    cdef Py_ssize_t t = s.prefix[parent].token + 1
    cdef Py_ssize_t source, sibling
    cdef double score = entry.value
    cdef double step, best
    cdef Prefix *new
    cdef void *moved
    while s.n_expanded < s.max_expansions and s.n_prefixes < INT32_MAX:
        source = s.prefix[parent].state
        # The loss of this step against the best one, then the first step that comes after it.
        step = s.node[t * s.n_states + state] + s.rest[t * s.n_states + state]
        if source >= 0:
            step = s.arc[t * s.arc_step + source * s.n_states + state] + step
        sibling = next_step(s, source, t, step, state, &step)
        if sibling >= 0:
            best = best_step(s, source, t)
            if push(&s.heap, &s.prefix[0].token, sizeof(Prefix), s.prefix[parent].score - (best - step), parent,
                    sibling) < 0:
                return -1
        moved = grown(s.prefix, &s.prefix_capacity, s.n_prefixes + 1, sizeof(Prefix))
        if moved == NULL:
            return -1
        s.prefix = <Prefix *> moved
        new = s.prefix + s.n_prefixes
        new.score = score
        # An odd multiplier and a shift: labels of neighbouring tokens reach all bits.
        new.hash = (s.prefix[parent].hash ^ <uint64_t>(s.state_label[state] + 1)) * <uint64_t>0x9E3779B97F4A7C15
        new.hash ^= new.hash >> 29
        new.parent = <int32_t> parent
        new.state = <int32_t> state
        new.token = <int32_t> t
        parent = s.n_prefixes
        s.n_prefixes += 1
        s.n_expanded += 1
        t += 1
        if t == s.n_tokens:
            return take(s, parent)
        state = next_step(s, state, t, INFINITY, -1, &step)
    s.cut = True
    return 0


cdef Status advance(Search *s) noexcept nogil:
    """Work for one slice, or to the end."""
    cdef int64_t left = SLICE
    cdef Py_ssize_t before, state
    cdef double score
    while left > 0:
        if s.token >= 0:
            left -= s.n_states * s.n_states
            rest_token(s, s.token)
            s.token -= 1
            continue
        if s.n_prefixes == 0:
            state = next_step(s, -1, 0, INFINITY, -1, &score)
            s.n_prefixes = 1
            if state < 0:
                return DONE
            s.prefix[0].score = score
            if push(&s.heap, &s.prefix[0].token, sizeof(Prefix), score, 0, state) < 0:
                return NO_MEMORY
        if s.heap.size == 0 and not s.cut:
            s.closed = True
            return DONE
        if (s.closed or s.cut or s.n_taken == s.n_paths or s.n_expanded >= s.max_expansions
                or s.n_prefixes == INT32_MAX):
            break
        before = s.n_expanded
        if follow(s, pop(&s.heap, &s.prefix[0].token, sizeof(Prefix))) < 0:
            return NO_MEMORY
        left -= 2 * (s.n_expanded - before) * s.n_states
    else:
        return RUNNING
    if s.n_taken == 0:
        take_best_path(s)
    return DONE


cdef int set_up(Search *s) noexcept nogil:
    cdef Py_ssize_t i
    s.width = 1
    for i in range(s.n_labels):
        s.width = max(s.width, s.label_ptr[i + 1] - s.label_ptr[i])
    s.rest = <double *> malloc(<size_t>s.n_tokens * <size_t>s.n_states * sizeof(double))
    s.scratch = <int32_t *> malloc(<size_t>s.n_tokens * sizeof(int32_t))
    s.forward = <double *> malloc(3 * <size_t>s.width * sizeof(double))
    s.prefix = <Prefix *> grown(NULL, &s.prefix_capacity, min(2 * s.n_tokens, 4096), sizeof(Prefix))
    if s.rest == NULL or s.scratch == NULL or s.forward == NULL or s.prefix == NULL:
        return -1
    memset(s.prefix, 0, sizeof(Prefix))
    s.prefix[0].state = -1
    s.prefix[0].token = -1
    for i in range(s.n_states):
        s.rest[(s.n_tokens - 1) * s.n_states + i] = 0.0
    s.token = s.n_tokens - 2
    return 0


cdef void tear_down(Search *s) noexcept nogil:
    free(s.rest)
    free(s.scratch)
    free(s.forward)
    free(s.prefix)
    free(s.heap.entry)
    free(s.seen)


def path_search(
    const double[:, ::1] node,           # IN  (n_tokens, n_states) log-scores, -inf = forbidden
    const double[:, :, ::1] arc,         # IN  (1 | n_tokens, n_states, n_states) [source, target] into the token
    const int32_t[::1] state_label,      # IN  (n_states,) label id of each state
    const int32_t[::1] label_ptr,        # IN  (n_labels + 1,)
    const int32_t[::1] label_state,      # IN  (n_states,) states grouped by label
    double log_sum,                      # IN  log partition function of the sequence
    Py_ssize_t n_paths,
    double alpha,
    Py_ssize_t max_expansions,
    int32_t[::1] labels,                 # OUT (n_tokens,) label ids, -1 if nothing is allowed
) -> tuple:
    """Find the best label sequence among those of the best latent paths.

    Returns (log_prob, covered, n_taken, n_expanded, gap_closed). `gap_closed` is 1 if the stop by probabilities held
    or no path was left.
    """
    cdef Search s
    cdef Status status = RUNNING
    cdef Py_ssize_t t
    for t in range(node.shape[0]):
        labels[t] = -1
    if log_sum == -INFINITY:
        return -INFINITY, 0.0, 0, 0, 1
    memset(&s, 0, sizeof(Search))
    s.node = &node[0, 0]
    s.arc = &arc[0, 0, 0]
    s.state_label = &state_label[0]
    s.label_ptr = &label_ptr[0]
    s.label_state = &label_state[0]
    s.n_tokens = node.shape[0]
    s.n_states = node.shape[1]
    s.n_labels = label_ptr.shape[0] - 1
    s.arc_step = s.n_states * s.n_states if arc.shape[0] > 1 else 0
    s.log_sum = log_sum
    s.alpha = alpha
    s.n_paths = n_paths
    s.max_expansions = max_expansions
    s.labels = &labels[0]
    s.best = -INFINITY
    try:
        with nogil:
            if set_up(&s) < 0:
                status = NO_MEMORY
        while status == RUNNING:
            with nogil:
                status = advance(&s)
            PyErr_CheckSignals()
        if status == NO_MEMORY:
            raise MemoryError("path_search: no memory for more prefixes")
        if labels[0] < 0:
            return -INFINITY, 0.0, 0, 0, 1
        return s.best, s.covered, s.n_taken, s.n_expanded, int(s.closed)
    finally:
        tear_down(&s)
