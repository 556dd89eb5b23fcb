# SPDX-License-Identifier: BSD-3-Clause
"""Best-first search over label prefixes: the n most probable label sequences, with a certificate.

What is computed. With node factors E_t(h), arc factors A_t(g, h) (row t moves into token t) and the states H_y of
label y, the weight of a label sequence is the sum over its latent paths,

    weight(y_1..y_T) = sum over h_t in H_{y_t} of  E_1(h_1) * prod_{t>1} A_t(h_{t-1}, h_t) E_t(h_t).

A prefix y_1..y_t carries its forward vector a(h), h in H_{y_t}. No completion of it exceeds

    bound = sum_h a(h) R_t(h),   R_T = 1,   R_{t-1}(g) = max_y sum_{h in H_y} A_t(g, h) V_t(h),   V_t = E_t R_t s_t,

because R lets every state pick its own continuation. s_t is the power of two that keeps max R near one. All vectors
are in these units, so vectors of equal length compare directly and no step rounds; the exponents add up to `exponent`.

Order. Prefixes leave the heap by falling bound; a child's bound is capped by its parent's, and ties go to the longer
prefix. A heap entry is (bound, parent, label): only an expanded prefix owns a vector. A prefix is dropped when n_best
kept ones of its token and label are at least as large in every state that can still reach the end: what follows is
linear in the vector. After 2 T expansions a narrow beam supplies lower bounds.

Range. A positive entry of V, R or a never underflows to zero: it is raised to FLOOR, which keeps every bound an upper
one and is worth at most 1e-300 of the total. What the search gives up for being below TINY is remembered in `dropped`.
Weights are reported from a separate forward pass that rescales as it goes, so they are right even where the search's
own units cannot hold them. If within one vector what matters later falls below 1e-308 of the rest, that pass misses
it; the bound does not, and the difference is remembered too.

Index convention. States are numbered as in the inputs; vectors of a prefix follow the order of label_state. Prefix 0
is the empty one. Lists of kept prefixes end in 0.

Cost. Set-up: S^2 multiplications a token, along the contiguous sources of a transposed arc matrix, so that they are
independent of one another and vectorise. An expansion: |H_y| S multiplications and at most one heap entry a label.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fmax, frexp, ldexp, log, log1p
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memmove, memset

from ._heap cimport Entry, Heap, grown, pop, push

cdef enum:
    BEAM_WIDTH = 16
    BLOCK = 8                  # side of the tiles in which arc factors are transposed
    SLICE = 1 << 27            # multiplications between two looks at pending signals

cdef enum Status:
    DONE
    RUNNING
    NO_MEMORY

cdef enum Phase:
    BOUND
    SEARCH
    BEAM
    FINISH

cdef double FLOOR = 1e-300     # smallest value of something positive
cdef double TINY = 1e-270      # prefixes below are given up; FLOOR is no more than rounding beside it
cdef double HUGE = 1e290       # vectors beyond it void the certificate
cdef double LOG_2 = log(2.0)

cdef struct Prefix:
    int64_t vector             # where its forward vector starts in Search.vector
    int32_t parent
    int32_t label
    int32_t token
    int32_t next               # next kept prefix of the same token and label

cdef struct Search:
    const double *node_factor
    const double *arc_factor
    const int32_t *label_ptr
    const int32_t *label_state
    Py_ssize_t n_tokens
    Py_ssize_t n_states
    Py_ssize_t n_labels
    Py_ssize_t arc_step        # from one token's arcs to the next token's, 0 = shared
    Py_ssize_t width           # most states of a label
    Py_ssize_t n_best
    Py_ssize_t max_expansions
    double eta
    double accepted            # stop when top <= lower * (1 + accepted)
    # the bound
    double *reach              # V, (n_tokens, n_states)
    double *scale              # s, (n_tokens,)
    double *transposed         # arc factors as [target, source]
    double *rest               # R of the token at hand
    double *spread             # (n_states,) sums over the sources of one prefix
    int64_t exponent           # true value = value here * 2^exponent
    # the prefixes
    Heap heap
    Prefix *prefix
    Py_ssize_t n_prefixes
    Py_ssize_t prefix_capacity
    double *vector
    Py_ssize_t n_vector
    Py_ssize_t vector_capacity
    int32_t *kept              # (n_tokens, n_labels) first kept prefix
    # the answers, best first
    int32_t *labels
    double *log_weight
    double *value              # weights in the units of the search
    int32_t *scratch           # (n_tokens,) a label sequence
    double *forward            # (2 * width,)
    Py_ssize_t n_found
    double lower               # n-th best known value, 0 = fewer known
    # the beam
    Heap candidate
    double *beam_vector        # (2, BEAM_WIDTH, width), this token's and the next one's by turns
    int32_t *beam_label        # (n_tokens, BEAM_WIDTH)
    int32_t *beam_parent
    Py_ssize_t beam_size
    bint beam_used
    # where it stands
    Phase phase
    Phase after_beam
    Py_ssize_t token           # next token of the bound or of the beam
    Py_ssize_t n_expanded
    bint dead                  # no label sequence has positive weight
    double dropped             # largest bound that the range of a double made the search give up
    bint huge


# -- the bound, from the last token to the first

cdef void transpose(const double *arc, double *out, Py_ssize_t n_states) noexcept nogil:
    cdef Py_ssize_t n_tiles = (n_states + BLOCK - 1) // BLOCK
    cdef Py_ssize_t i, j, g, h
    for i in range(n_tiles):
        for j in range(n_tiles):
            for h in range(j * BLOCK, min((j + 1) * BLOCK, n_states)):
                for g in range(i * BLOCK, min((i + 1) * BLOCK, n_states)):
                    out[h * n_states + g] = arc[g * n_states + h]


cdef inline int exponent_of(double x) noexcept nogil:
    cdef int exponent = 0
    frexp(x, &exponent)
    return min(max(exponent, -1000), 1000)


cdef void best_rest(const Search *s, const double *reach) noexcept nogil:
    """rest(g) = max over labels of the sum over its states h of A(g, h) reach(h)."""
    cdef Py_ssize_t n_states = s.n_states
    cdef Py_ssize_t label, k, g
    cdef double *rest = s.rest
    cdef double *total = s.spread
    cdef const double *row
    cdef double factor
    cdef bint first
    for g in range(n_states):
        rest[g] = 0.0
    for label in range(s.n_labels):
        first = True
        for k in range(s.label_ptr[label], s.label_ptr[label + 1]):
            factor = reach[s.label_state[k]]
            if factor == 0.0:
                continue
            row = s.transposed + s.label_state[k] * n_states
            if first:
                for g in range(n_states):
                    total[g] = factor * row[g]
                first = False
            else:
                for g in range(n_states):
                    total[g] += factor * row[g]
        if not first:
            for g in range(n_states):
                rest[g] = total[g] if total[g] > rest[g] else rest[g]


cdef bint leads_on(const double *row, const double *reach, Py_ssize_t n_states) noexcept nogil:
    cdef Py_ssize_t h
    for h in range(n_states):
        if row[h] > 0.0 and reach[h] > 0.0:
            return True
    return False


cdef bint bound_token(Search *s, Py_ssize_t t) noexcept nogil:
    """Turn R of token t into V and s of token t and R of token t - 1; False if nothing reaches the end."""
    cdef Py_ssize_t n_states = s.n_states
    cdef const double *node = s.node_factor + t * n_states
    cdef const double *arc = s.arc_factor + t * s.arc_step
    cdef double *reach = s.reach + t * n_states
    cdef double *rest = s.rest
    cdef Py_ssize_t h
    cdef double factor
    cdef double top = 0.0
    cdef int shift
    cdef int more = 0
    for h in range(n_states):
        reach[h] = fmax(node[h] * rest[h], FLOOR) if node[h] > 0.0 and rest[h] > 0.0 else 0.0
        top = reach[h] if reach[h] > top else top
    if top == 0.0:
        return False
    shift = exponent_of(top)
    factor = ldexp(1.0, -shift)
    for h in range(n_states):
        reach[h] = fmax(reach[h] * factor, FLOOR) if reach[h] > 0.0 else 0.0
    if t > 0:
        if t == s.n_tokens - 1 or s.arc_step > 0:
            transpose(arc, s.transposed, n_states)
        best_rest(s, reach)
        top = 0.0
        for h in range(n_states):
            top = rest[h] if rest[h] > top else top
        # The scale of a token must be a double itself; a remainder is left to the token before.
        more = min(max(exponent_of(top), -1000 - shift), 1000 - shift)
        factor = ldexp(1.0, -more)
        for h in range(n_states):
            rest[h] *= factor
            if rest[h] < FLOOR:
                rest[h] = FLOOR if rest[h] > 0.0 or leads_on(arc + h * n_states, reach, n_states) else 0.0
            reach[h] = fmax(reach[h] * factor, FLOOR) if reach[h] > 0.0 else 0.0
    s.scale[t] = ldexp(1.0, -(shift + more))
    s.exponent += shift + more
    return True


# -- prefixes

cdef void spread_out(const Search *s, const double *a, Py_ssize_t source, Py_ssize_t t) noexcept nogil:
    """spread(h) = sum over the states g of the source label of a(g) A_t(g, h), for all states h."""
    cdef Py_ssize_t n_states = s.n_states
    cdef Py_ssize_t first = s.label_ptr[source]
    cdef const double *arc = s.arc_factor + t * s.arc_step
    cdef const double *row
    cdef double *spread = s.spread
    cdef double factor
    cdef Py_ssize_t k, h
    for h in range(n_states):
        spread[h] = 0.0
    for k in range(first, s.label_ptr[source + 1]):
        factor = a[k - first]
        if factor > 0.0:
            row = arc + s.label_state[k] * n_states
            for h in range(n_states):
                spread[h] += factor * row[h]


cdef bint reached(const Search *s, const double *a, Py_ssize_t source, Py_ssize_t t, Py_ssize_t h) noexcept nogil:
    """Whether the prefix (a, source) has an allowed way into state h, however small its weight."""
    cdef Py_ssize_t first
    cdef Py_ssize_t k
    if source < 0:
        return True
    first = s.label_ptr[source]
    for k in range(first, s.label_ptr[source + 1]):
        if a[k - first] > 0.0 and s.arc_factor[t * s.arc_step + s.label_state[k] * s.n_states + h] > 0.0:
            return True
    return False


cdef double child_bound(const Search *s, const double *a, Py_ssize_t source, Py_ssize_t label,
                        Py_ssize_t t) noexcept nogil:
    """Bound of the prefix that puts `label` at token t; `spread` belongs to (a, source); source -1 = empty prefix."""
    cdef const double *reach = s.reach + t * s.n_states
    cdef double bound = 0.0
    cdef Py_ssize_t k, h
    for k in range(s.label_ptr[label], s.label_ptr[label + 1]):
        h = s.label_state[k]
        bound += reach[h] if source < 0 else s.spread[h] * reach[h]
    if bound < FLOOR:
        for k in range(s.label_ptr[label], s.label_ptr[label + 1]):
            h = s.label_state[k]
            if reach[h] > 0.0 and reached(s, a, source, t, h):
                return FLOOR
    return bound


cdef void extend(const Search *s, const double *a, Py_ssize_t source, Py_ssize_t label, Py_ssize_t t,
                 double *out) noexcept nogil:
    """Forward vector of that prefix. States that cannot reach the end hold 0, which leaves them out of comparisons."""
    cdef const double *arc = s.arc_factor + t * s.arc_step
    cdef Py_ssize_t first = s.label_ptr[label]
    cdef Py_ssize_t origin = s.label_ptr[source] if source >= 0 else 0
    cdef Py_ssize_t end = s.label_ptr[source + 1] if source >= 0 else 0
    cdef Py_ssize_t k, j, h
    cdef double total
    for k in range(first, s.label_ptr[label + 1]):
        h = s.label_state[k]
        total = 0.0
        if s.reach[t * s.n_states + h] > 0.0:
            total = 0.0 if source >= 0 else 1.0
            for j in range(origin, end):
                total += a[j - origin] * arc[s.label_state[j] * s.n_states + h]
            total *= s.node_factor[t * s.n_states + h] * s.scale[t]
            if total < FLOOR:
                total = FLOOR if reached(s, a, source, t, h) else 0.0
        out[k - first] = total


cdef inline bint covers(const double *b, const double *a, Py_ssize_t width) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(width):
        if b[k] < a[k]:
            return False
    return True


cdef bint dominated(const Search *s, const double *a, Py_ssize_t width, int32_t kept) noexcept nogil:
    cdef Py_ssize_t count = 0
    while kept != 0:
        if covers(s.vector + s.prefix[kept].vector, a, width):
            count += 1
            if count == s.n_best:
                return True
        kept = s.prefix[kept].next
    return False


# -- complete sequences

cdef double sequence_weight(const Search *s, int64_t *exponent) noexcept nogil:
    """Weight of the sequence in `scratch` as the result times 2^exponent, rescaled on the way."""
    cdef Py_ssize_t n_states = s.n_states
    cdef double *a = s.forward
    cdef double *b = s.forward + s.width
    cdef const double *arc
    cdef double top, total
    cdef Py_ssize_t t, k, j, h, first, last
    cdef Py_ssize_t origin = 0
    cdef Py_ssize_t end = 0
    cdef int shift
    exponent[0] = 0
    for t in range(s.n_tokens):
        arc = s.arc_factor + t * s.arc_step
        first, last = s.label_ptr[s.scratch[t]], s.label_ptr[s.scratch[t] + 1]
        top = 0.0
        for k in range(first, last):
            h = s.label_state[k]
            total = 0.0 if t > 0 else 1.0
            for j in range(origin, end):
                total += a[j - origin] * arc[s.label_state[j] * n_states + h]
            total = total * s.node_factor[t * n_states + h] if s.reach[t * n_states + h] > 0.0 else 0.0
            b[k - first] = total
            top = total if total > top else top
        shift = exponent_of(top)
        if shift > 64 or shift < -64:
            exponent[0] += shift
            for k in range(last - first):
                b[k] *= ldexp(1.0, -shift)
        a, b = b, a
        origin, end = first, last
    total = 0.0
    for k in range(end - origin):
        total += a[k]
    return total


cdef double record(Search *s) noexcept nogil:
    """Put the sequence in `scratch` among the answers if it is new and good enough; its weight in search units."""
    cdef size_t size = <size_t>s.n_tokens * sizeof(int32_t)
    cdef Py_ssize_t n_tokens = s.n_tokens
    cdef Py_ssize_t i, moved
    cdef int64_t exponent
    cdef double weight, log_weight
    for i in range(s.n_found):
        if memcmp(s.labels + i * n_tokens, s.scratch, size) == 0:
            return s.value[i]
    weight = sequence_weight(s, &exponent)
    if not weight > 0.0:
        s.dropped = fmax(s.dropped, TINY)
        return 0.0
    log_weight = log(weight) + <double>exponent * LOG_2
    i = s.n_found
    while i > 0 and s.log_weight[i - 1] < log_weight:
        i -= 1
    exponent -= s.exponent
    weight = ldexp(weight, <int>exponent) if exponent > -2000 else 0.0
    if i == s.n_best:
        return weight
    moved = min(s.n_found, s.n_best - 1) - i
    memmove(s.labels + (i + 1) * n_tokens, s.labels + i * n_tokens, moved * size)
    memmove(s.log_weight + i + 1, s.log_weight + i, moved * sizeof(double))
    memmove(s.value + i + 1, s.value + i, moved * sizeof(double))
    memcpy(s.labels + i * n_tokens, s.scratch, size)
    s.log_weight[i] = log_weight
    s.value[i] = weight
    s.n_found = min(s.n_found + 1, s.n_best)
    if s.n_found == s.n_best and s.value[s.n_best - 1] >= TINY:
        s.lower = s.value[s.n_best - 1]
    return weight


# -- the beam

cdef int beam_start(Search *s, Phase after) noexcept nogil:
    cdef size_t cells = <size_t>s.n_tokens * BEAM_WIDTH
    s.beam_used = True
    s.phase = BEAM
    s.after_beam = after
    s.token = 0
    s.beam_size = 0
    s.beam_vector = <double *> malloc(2 * BEAM_WIDTH * <size_t>s.width * sizeof(double))
    s.beam_label = <int32_t *> malloc(cells * sizeof(int32_t))
    s.beam_parent = <int32_t *> malloc(cells * sizeof(int32_t))
    return 0 if s.beam_vector != NULL and s.beam_label != NULL and s.beam_parent != NULL else -1


cdef void beam_record(Search *s) noexcept nogil:
    """The best complete candidates become answers."""
    cdef Py_ssize_t left = s.n_best
    cdef Py_ssize_t t, i
    cdef Entry entry
    while s.candidate.size > 0 and left > 0:
        entry = pop(&s.candidate, NULL, 0)
        s.scratch[s.n_tokens - 1] = entry.choice
        i = entry.parent
        for t in range(s.n_tokens - 2, -1, -1):
            s.scratch[t] = s.beam_label[t * BEAM_WIDTH + i]
            i = s.beam_parent[t * BEAM_WIDTH + i]
        record(s)
        left -= 1


cdef void beam_select(Search *s, const double *old, double *new) noexcept nogil:
    """Keep the best candidates of token `s.token` that are not dominated."""
    cdef int32_t *label = s.beam_label + s.token * BEAM_WIDTH
    cdef int32_t *parent = s.beam_parent + s.token * BEAM_WIDTH
    cdef const int32_t *old_label = label - BEAM_WIDTH if s.token > 0 else label
    cdef Py_ssize_t width = s.width
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t i, n, count
    cdef double top = 0.0
    cdef double factor
    cdef Entry entry
    while s.candidate.size > 0 and size < BEAM_WIDTH:
        entry = pop(&s.candidate, NULL, 0)
        n = s.label_ptr[entry.choice + 1] - s.label_ptr[entry.choice]
        extend(s, old + entry.parent * width, old_label[entry.parent] if s.token > 0 else -1, entry.choice, s.token,
               new + size * width)
        count = 0
        for i in range(size):
            count += label[i] == entry.choice and covers(new + i * width, new + size * width, n)
        if count >= s.n_best:
            continue
        for i in range(n):
            top = fmax(top, new[size * width + i])
        for i in range(n, width):
            new[size * width + i] = 0.0
        label[size] = entry.choice
        parent[size] = entry.parent
        size += 1
    # Only ratios matter within a beam. Lifting it as it falls keeps long sequences from underflowing.
    if top < 1.0:
        factor = ldexp(1.0, -exponent_of(top))
        for i in range(size * width):
            new[i] *= factor
    s.beam_size = size


cdef int beam_token(Search *s) noexcept nogil:
    cdef Py_ssize_t t = s.token
    cdef Py_ssize_t half = BEAM_WIDTH * s.width
    cdef double *old = s.beam_vector + (t & 1) * half
    cdef double *new = s.beam_vector + half - (t & 1) * half
    cdef Py_ssize_t i, label, source
    cdef double bound
    s.candidate.size = 0
    for i in range(s.beam_size if t > 0 else 1):
        source = -1
        if t > 0:
            source = s.beam_label[(t - 1) * BEAM_WIDTH + i]
            spread_out(s, old + i * s.width, source, t)
        for label in range(s.n_labels):
            bound = child_bound(s, old + i * s.width, source, label, t)
            if bound > 0.0 and push(&s.candidate, NULL, 0, bound, i, label) < 0:
                return -1
    if t == s.n_tokens - 1:
        beam_record(s)
        s.phase = s.after_beam
    else:
        beam_select(s, old, new)
        s.token += 1
    return 0


# -- the search

cdef int open_children(Search *s, Py_ssize_t parent, double cap) noexcept nogil:
    """Push the children of a prefix; complete ones become answers at once, their bound being their weight."""
    cdef Py_ssize_t source = s.prefix[parent].label
    cdef Py_ssize_t t = s.prefix[parent].token + 1
    cdef const double *a = s.vector + s.prefix[parent].vector
    cdef Py_ssize_t label, i
    cdef double bound
    if source >= 0:
        spread_out(s, a, source, t)
    for label in range(s.n_labels):
        bound = child_bound(s, a, source, label, t)
        if bound <= s.lower:
            continue
        if bound < TINY:
            s.dropped = fmax(s.dropped, TINY)
        elif t == s.n_tokens - 1:
            s.scratch[t] = <int32_t> label
            i = parent
            while i != 0:
                s.scratch[s.prefix[i].token] = s.prefix[i].label
                i = s.prefix[i].parent
            if not bound <= record(s) * (1.0 + s.eta):
                s.dropped = fmax(s.dropped, bound if bound < cap else cap)
        elif push(&s.heap, &s.prefix[0].token, sizeof(Prefix), bound if bound < cap else cap, parent, label) < 0:
            return -1
    return 0


cdef int expand(Search *s) noexcept nogil:
    """Take the best prefix from the heap; unless it is dominated, keep it and open its children."""
    cdef Entry entry = pop(&s.heap, &s.prefix[0].token, sizeof(Prefix))
    cdef Py_ssize_t source = s.prefix[entry.parent].label
    cdef Py_ssize_t t = s.prefix[entry.parent].token + 1
    cdef Py_ssize_t width = s.label_ptr[entry.choice + 1] - s.label_ptr[entry.choice]
    cdef int32_t *kept = s.kept + t * s.n_labels + entry.choice
    cdef Prefix *new
    cdef double *a
    cdef Py_ssize_t k
    cdef void *moved = grown(s.vector, &s.vector_capacity, s.n_vector + width, sizeof(double))
    if moved == NULL:
        return -1
    s.vector = <double *> moved
    moved = grown(s.prefix, &s.prefix_capacity, s.n_prefixes + 1, sizeof(Prefix))
    if moved == NULL:
        return -1
    s.prefix = <Prefix *> moved
    a = s.vector + s.n_vector
    extend(s, s.vector + s.prefix[entry.parent].vector, source, entry.choice, t, a)
    if dominated(s, a, width, kept[0]):
        return 0
    for k in range(width):
        if not a[k] < HUGE:
            s.huge = True
    new = s.prefix + s.n_prefixes
    new.vector = s.n_vector
    new.parent = entry.parent
    new.label = entry.choice
    new.token = <int32_t> t
    new.next = kept[0]
    kept[0] = <int32_t> s.n_prefixes
    s.n_vector += width
    s.n_prefixes += 1
    s.n_expanded += 1
    return open_children(s, kept[0], entry.value)


cdef Status advance(Search *s) noexcept nogil:
    """Work for one slice, or to the end."""
    cdef int64_t left = SLICE
    cdef double top
    while left > 0:
        if s.phase == BOUND:
            left -= s.n_states * s.n_states
            s.dead = not bound_token(s, s.token)
            s.token -= 1
            if s.dead:
                return DONE
            if s.token < 0:
                if open_children(s, 0, INFINITY) < 0:
                    return NO_MEMORY
                s.phase = SEARCH
        elif s.phase == BEAM:
            left -= BEAM_WIDTH * s.width * s.n_states
            if beam_token(s) < 0:
                return NO_MEMORY
        elif s.phase == SEARCH:
            left -= s.width * s.n_states
            top = s.heap.entry[0].value if s.heap.size > 0 else 0.0
            if (top <= s.lower * (1.0 + s.accepted) or s.n_expanded >= s.max_expansions
                    or s.n_prefixes == INT32_MAX):
                s.phase = FINISH
            elif s.n_expanded >= 2 * s.n_tokens and not s.beam_used:
                if beam_start(s, SEARCH) < 0:
                    return NO_MEMORY
            elif expand(s) < 0:
                return NO_MEMORY
        else:
            # Whatever the reason to stop, an answer is owed.
            if s.n_found == s.n_best or s.beam_used or (s.heap.size == 0 and s.dropped == 0.0):
                return DONE
            if beam_start(s, FINISH) < 0:
                return NO_MEMORY
    return RUNNING


cdef int set_up(Search *s) noexcept nogil:
    cdef size_t n_states = <size_t> s.n_states
    cdef size_t n_tokens = <size_t> s.n_tokens
    cdef Py_ssize_t n_prefixes = min(s.n_tokens, 4096)
    cdef Py_ssize_t i
    cdef void *moved
    s.width = 1
    for i in range(s.n_labels):
        s.width = max(s.width, s.label_ptr[i + 1] - s.label_ptr[i])
    # One factor a sum, one addition a state, four times over: see the rounding argument of the tests.
    s.eta = 4.0 * s.n_tokens * (s.width + 2) * 2.0**-53
    s.accepted = fmax(s.accepted, s.eta)
    s.reach = <double *> malloc(n_tokens * n_states * sizeof(double))
    s.scale = <double *> malloc(n_tokens * sizeof(double))
    s.transposed = <double *> malloc(n_states * n_states * sizeof(double))
    s.rest = <double *> malloc(n_states * sizeof(double))
    s.spread = <double *> malloc(n_states * sizeof(double))
    s.kept = <int32_t *> calloc(n_tokens * <size_t>s.n_labels, sizeof(int32_t))
    s.scratch = <int32_t *> malloc(n_tokens * sizeof(int32_t))
    s.forward = <double *> malloc(2 * <size_t>s.width * sizeof(double))
    s.value = <double *> malloc(<size_t>s.n_best * sizeof(double))
    if (s.reach == NULL or s.scale == NULL or s.transposed == NULL or s.rest == NULL or s.spread == NULL
            or s.kept == NULL or s.scratch == NULL or s.forward == NULL or s.value == NULL):
        return -1
    moved = grown(NULL, &s.prefix_capacity, n_prefixes + 1, sizeof(Prefix))
    s.prefix = <Prefix *> moved
    moved = grown(NULL, &s.vector_capacity, n_prefixes * s.width, sizeof(double))
    s.vector = <double *> moved
    if s.prefix == NULL or s.vector == NULL:
        return -1
    s.prefix[0].vector = 0
    s.prefix[0].parent = 0
    s.prefix[0].label = -1
    s.prefix[0].token = -1
    s.prefix[0].next = 0
    s.n_prefixes = 1
    for i in range(s.n_states):
        s.rest[i] = 1.0
    for i in range(s.n_best):
        s.log_weight[i] = -INFINITY
    s.phase = BOUND
    s.token = s.n_tokens - 1
    return 0


cdef void tear_down(Search *s) noexcept nogil:
    free(s.reach)
    free(s.scale)
    free(s.transposed)
    free(s.rest)
    free(s.spread)
    free(s.kept)
    free(s.scratch)
    free(s.forward)
    free(s.value)
    free(s.prefix)
    free(s.vector)
    free(s.heap.entry)
    free(s.candidate.entry)
    free(s.beam_vector)
    free(s.beam_label)
    free(s.beam_parent)


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
) -> tuple:
    """Find the n_best heaviest label sequences: (n_found, log_upper_bound, proven, n_expanded).

    No label sequence weighs more than exp(log_upper_bound). `proven` is 1 if no sequence left out is heavier than
    the last one returned by a factor beyond 1 + 2 eta, eta = 4 T (K + 2) 2^-53, K the most states of a label.
    """
    cdef Search s
    cdef Status status = RUNNING
    cdef double top, log_upper
    cdef bint proven
    memset(&s, 0, sizeof(Search))
    s.node_factor = &node_factor[0, 0]
    s.arc_factor = &arc_factor[0, 0, 0]
    s.label_ptr = &label_ptr[0]
    s.label_state = &label_state[0]
    s.n_tokens = node_factor.shape[0]
    s.n_states = node_factor.shape[1]
    s.n_labels = label_ptr.shape[0] - 1
    s.arc_step = node_factor.shape[1] * node_factor.shape[1] if arc_factor.shape[0] > 1 else 0
    s.n_best = n_best
    s.max_expansions = max_expansions
    s.accepted = epsilon
    s.labels = &labels[0, 0]
    s.log_weight = &log_weight[0]
    try:
        with nogil:
            if set_up(&s) < 0:
                status = NO_MEMORY
        while status == RUNNING:
            with nogil:
                status = advance(&s)
            PyErr_CheckSignals()
        if status == NO_MEMORY:
            raise MemoryError("label_search: no memory for more prefixes")
        if s.dead:
            return 0, -INFINITY, 1, 0
        top = s.heap.entry[0].value if s.heap.size > 0 else 0.0
        top = fmax(top, s.dropped)
        proven = top <= s.lower * (1.0 + s.eta) and not s.huge
        if proven and s.n_found > 0:
            log_upper = log_weight[0]
        else:
            # Computed bounds may lie below the true ones by rounding; eta is more than that.
            log_upper = log(top) + <double>s.exponent * LOG_2 + log1p(s.eta) if top > 0.0 else -INFINITY
            if s.n_found > 0:
                log_upper = fmax(log_upper, log_weight[0])
        return s.n_found, log_upper, int(proven), s.n_expanded
    finally:
        tear_down(&s)
