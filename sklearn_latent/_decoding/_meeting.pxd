# SPDX-License-Identifier: BSD-3-Clause
# The n best label sequences from both ends: prefixes and suffixes that may matter, joined where they meet.
#
# Beside R, the bound of what follows a state, goes its mirror image, the bound of what precedes it, itself included:
#
#     F_0(h) = s_0 E_0(h),   F_t(h) = s_t E_t(h) max_y sum_{g in H_y} F_{t-1}(g) A_t(g, h).
#
# A suffix y_t..y_{T-1} has the vector b(h), the weight of what follows state h of y_t along its labels; no sequence
# that ends in it weighs more than F_t . b, none that begins with a prefix more than a . R_t, and none with label y at t
# more than cell(t, y) = sum of F_t R_t over H_y. For a threshold, `least`, all prefixes and suffixes above it are made,
# token by token, always on the side that has fewer; where the sides meet, at a token m, the weights of all sequences
# above the threshold are the products a . b of prefixes and suffixes with one label at m. If these are n, the heaviest
# n of them are the answer; if they are fewer, the threshold is lowered. It is first set by a count of the sequences
# above it, made from the cells (see _fronts.pxd).
#
# A prefix is made once for all of its continuations beyond m, so n sequences cost far less than n ways to the end.
# Where bounds are loose too many are made: the search gives up and leaves the sequence to the heap.
#
# Range. `least` is at least LEAST_JOINED and F at most MOST_FRONT: what underflows, times what R or F say of it, is
# nothing beside that.

from libc.math cimport log
from libc.stdint cimport int32_t

from ._answers cimport Answers
from ._fronts cimport SPARE, Meeting, count_sequences, front_token, threshold
from ._heap cimport Entry, pop, push
from ._sequence cimport Sequence, larger, sl_spread
from ._sides cimport Side, side_add, side_begin, side_end

cdef extern from "_search.h" nogil:
    const double LEAST_JOINED "SL_LEAST_JOINED"
    void sl_gather(const double *rows, Py_ssize_t stride, const double *v, Py_ssize_t n_rows, Py_ssize_t n, double *out)

cdef enum:
    TRIES = 6
    MEETING_GOES_ON = 0
    MEETING_FOUND = 1
    MEETING_GAVE_UP = 2


# -- prefixes and suffixes

cdef inline int side_start(Meeting *m, const Sequence *q, Side *side, Py_ssize_t t) noexcept nogil:
    """The labels of the first token, or of the last one."""
    cdef const double *cell = m.cell + t * q.n_labels
    cdef Py_ssize_t label, h, first
    cdef double *a
    side.n_items = 0
    side_begin(side, q.n_labels)
    for label in range(q.n_labels):
        if cell[label] > m.least:
            a = side_add(side, q.width, -1, label)
            if a == NULL:
                return -1
            first = q.label_ptr[label]
            for h in range(first, q.label_ptr[label + 1]):
                a[h - first] = m.own[h] if side == &m.left else 1.0
        else:
            m.cut = m.cut or cell[label] > 0.0
    side_end(side, t)
    return 0


cdef inline double look_forward(Meeting *m, const Sequence *q, Py_ssize_t t, Py_ssize_t source,
                                Py_ssize_t target) noexcept nogil:
    """work . a bounds what goes from prefix a over the arc into token t; the bound of all that goes over it."""
    cdef Py_ssize_t first = q.label_ptr[source]
    cdef Py_ssize_t size = q.label_ptr[source + 1] - first
    cdef Py_ssize_t into = q.label_ptr[target]
    cdef const double *front = m.front + (t - 1) * q.stride + first
    cdef double total = 0.0
    cdef Py_ssize_t k
    sl_gather(q.arc + t * q.arc_step + first * q.arc_stride + into, q.arc_stride, q.reach + t * q.stride + into,
              size, q.label_ptr[target + 1] - into, m.work)
    for k in range(size):
        total += m.work[k] * front[k]
    return total


cdef inline double look_back(Meeting *m, const Sequence *q, Py_ssize_t t, Py_ssize_t source,
                             Py_ssize_t target) noexcept nogil:
    """The same for suffixes that begin with `source` at token t, and `target` before it."""
    cdef Py_ssize_t first = q.label_ptr[source]
    cdef Py_ssize_t size = q.label_ptr[source + 1] - first
    cdef Py_ssize_t origin = q.label_ptr[target]
    cdef const double *own = m.own + t * q.stride + first
    cdef const double *rest = q.rest + t * q.stride + first
    cdef double total = 0.0
    cdef Py_ssize_t k
    sl_spread(q.arc + t * q.arc_step + origin * q.arc_stride + first, q.arc_stride,
              m.front + (t - 1) * q.stride + origin, q.label_ptr[target + 1] - origin, size, m.work)
    for k in range(size):
        m.work[k] *= own[k]
        total += m.work[k] * rest[k]
    return total


cdef inline void step_forward(const Meeting *m, const Sequence *q, Py_ssize_t t, Py_ssize_t source, Py_ssize_t target,
                              const double *a, double *out) noexcept nogil:
    """Vector of a prefix a that ends in `source`, with `target` at token t behind it."""
    cdef Py_ssize_t first = q.label_ptr[source]
    cdef Py_ssize_t into = q.label_ptr[target]
    cdef Py_ssize_t size = q.label_ptr[target + 1] - into
    cdef const double *own = m.own + t * q.stride + into
    cdef Py_ssize_t k
    sl_spread(q.arc + t * q.arc_step + first * q.arc_stride + into, q.arc_stride, a, q.label_ptr[source + 1] - first,
              size, out)
    for k in range(size):
        out[k] *= own[k]


cdef inline void step_back(const Meeting *m, const Sequence *q, Py_ssize_t t, Py_ssize_t source, Py_ssize_t target,
                           const double *b, double *out) noexcept nogil:
    """Vector of a suffix b that begins with `source` at token t, with `target` before it."""
    cdef Py_ssize_t first = q.label_ptr[source]
    cdef Py_ssize_t size = q.label_ptr[source + 1] - first
    cdef Py_ssize_t origin = q.label_ptr[target]
    cdef const double *own = m.own + t * q.stride + first
    cdef double *lit = m.work + q.stride
    cdef Py_ssize_t k
    for k in range(size):
        lit[k] = own[k] * b[k]
    sl_gather(q.arc + t * q.arc_step + origin * q.arc_stride + first, q.arc_stride, lit,
              q.label_ptr[target + 1] - origin, size, out)


cdef inline int extend_side(Meeting *m, const Sequence *q, bint forward) noexcept nogil:
    """All items of the next token of one side whose bounds exceed the threshold."""
    cdef Side *side = &m.left if forward else &m.right
    cdef Py_ssize_t to = side.token + 1 if forward else side.token - 1
    cdef const double *cell = m.cell + to * q.n_labels
    cdef Py_ssize_t source, target, i, k, size
    cdef const double *a
    cdef double *out
    cdef double bound
    side_begin(side, q.n_labels)
    m.n_expanded += side.n_items - side.first
    for source in range(q.n_labels):
        if side.head[source] < 0:
            continue
        size = q.label_ptr[source + 1] - q.label_ptr[source]
        for target in range(q.n_labels):
            bound = 0.0
            if cell[target] > m.least:
                m.work_done += size * q.width
                bound = (look_forward(m, q, to, source, target) if forward
                         else look_back(m, q, to + 1, source, target))
            if not bound > m.least:
                # A cell or an arc of positive weight, whichever it was, may be part of a sequence.
                m.cut = m.cut or cell[target] > 0.0
                continue
            i = side.head[source]
            while i >= 0:
                a = side.vector + (i - side.first) * q.width
                bound = 0.0
                for k in range(size):
                    bound += a[k] * m.work[k]
                if bound > m.least:
                    out = side_add(side, q.width, i, target)
                    if out == NULL:
                        return -1
                    if forward:
                        step_forward(m, q, to, source, target, a, out)
                    else:
                        step_back(m, q, to + 1, source, target, a, out)
                    m.work_done += size * q.width
                else:
                    m.cut = m.cut or bound > 0.0
                m.work_done += size
                i = side.item[i].link
    side_end(side, to)
    return 0


# -- where they meet

cdef inline int join(Meeting *m, const Sequence *q, Py_ssize_t n_best) noexcept nogil:
    """Weights of the sequences that go through one item of the left side; the n heaviest of all are kept."""
    cdef Py_ssize_t i = m.left.first + m.joined
    cdef Py_ssize_t label = m.left.item[i].label
    cdef Py_ssize_t size = q.label_ptr[label + 1] - q.label_ptr[label]
    cdef const double *a = m.left.vector + m.joined * q.width
    cdef const double *b
    cdef Py_ssize_t j = m.right.head[label]
    cdef Py_ssize_t k
    cdef double weight
    while j >= 0:
        b = m.right.vector + (j - m.right.first) * q.width
        weight = 0.0
        for k in range(size):
            weight += a[k] * b[k]
        if weight > m.least:
            m.n_found += 1
            if m.best.size < n_best or weight > -m.best.entry[0].value:
                if m.best.size == n_best:
                    pop(&m.best, NULL, 0)
                if push(&m.best, NULL, 0, -weight, i, j) < 0:
                    return -1
        else:
            m.cut = m.cut or weight > 0.0
        m.work_done += size
        j = m.right.item[j].link
    m.joined += 1
    return 0


cdef inline void take_answers(Meeting *m, const Sequence *q, Answers *answers) noexcept nogil:
    cdef Py_ssize_t n = answers.n_best
    cdef Py_ssize_t i, j, t
    cdef int32_t *labels
    cdef Entry entry
    for i in range(n - 1, -1, -1):
        entry = pop(&m.best, NULL, 0)
        answers.value[i] = -entry.value
        answers.log_weight[i] = log(-entry.value) + <double>q.exponent * log(2.0)
        labels = answers.labels + i * q.n_tokens
        t = m.left.token
        j = entry.parent
        while j >= 0:
            labels[t] = m.left.item[j].label
            j = m.left.item[j].parent
            t -= 1
        t = m.left.token + 1
        j = m.right.item[entry.choice].parent
        while j >= 0:
            labels[t] = m.right.item[j].label
            j = m.right.item[j].parent
            t += 1
    answers.n_found = n
    answers.lower = answers.value[n - 1]


cdef inline int start_try(Meeting *m, const Sequence *q, Py_ssize_t n_best) noexcept nogil:
    """The next threshold: the first one, or a lower one after too few sequences were above the last."""
    cdef double least
    if m.tries > 0:
        m.wanted *= larger(1.4, SPARE * n_best / (m.n_found + 1.0))
    else:
        count_sequences(m, q)
    least = threshold(m)
    # What is found at a threshold is not to be missed for its rounding.
    least *= 1.0 - 2.0 * q.eta
    m.least = least if m.tries == 0 or least < 0.5 * m.least else 0.5 * m.least
    m.tries += 1
    m.cut = False
    m.joined = m.n_found = m.best.size = 0
    if side_start(m, q, &m.left, 0) < 0:
        return -1
    return side_start(m, q, &m.right, q.n_tokens - 1)


cdef inline int meeting_step(Meeting *m, Sequence *q, Answers *answers) noexcept nogil:
    """A token of F, of one of the sides, or a part of the joining: where that leads; -1 if there is no memory."""
    cdef Py_ssize_t n_left, n_right
    if m.token < q.n_tokens:
        return MEETING_GOES_ON if front_token(m, q) else MEETING_GAVE_UP
    if m.tries == 0:
        return start_try(m, q, answers.n_best)
    if not m.least > LEAST_JOINED:
        return MEETING_GAVE_UP
    if m.left.token < m.right.token:
        n_left = m.left.n_items - m.left.first
        n_right = m.right.n_items - m.right.first
        if m.n_expanded + min(n_left, n_right) > m.most_expanded:
            return MEETING_GAVE_UP
        return extend_side(m, q, n_left <= n_right)
    if m.joined < m.left.n_items - m.left.first:
        return join(m, q, answers.n_best)
    if m.n_found >= answers.n_best:
        take_answers(m, q, answers)
        return MEETING_FOUND
    if m.tries == TRIES or not m.cut:
        return MEETING_GAVE_UP
    return start_try(m, q, answers.n_best)
