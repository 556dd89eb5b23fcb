# SPDX-License-Identifier: BSD-3-Clause
# A narrow beam over label prefixes, ordered by the bound R: complete sequences, and with them lower bounds.
#
# It goes token by token; at each it keeps the `most` prefixes of the largest bounds of which fewer than n_best
# others in the beam are at least as large in every state. Only ratios matter within it.

from libc.math cimport ldexp
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from ._answers cimport Answers, record
from ._heap cimport Entry, Heap, pop, push
from ._sequence cimport Sequence, child_bound, covers, exponent_of, extend, larger, spread_out

cdef enum:
    BEAM_WIDTH = 16            # where nothing else is asked for

cdef struct Beam:
    Heap candidate
    double *vector             # (2, most, width), this token's and the next one's by turns
    int32_t *label             # (n_tokens, most)
    int32_t *parent
    Py_ssize_t most            # prefixes of a token
    Py_ssize_t size
    Py_ssize_t token           # the next one, n_tokens = done
    bint used


cdef inline int beam_start(Beam *b, const Sequence *q, Py_ssize_t most) noexcept nogil:
    cdef size_t cells = <size_t>q.n_tokens * most
    b.most = most
    b.used = True
    b.token = 0
    b.size = 0
    b.vector = <double *> malloc(2 * b.most * <size_t>q.width * sizeof(double))
    b.label = <int32_t *> malloc(cells * sizeof(int32_t))
    b.parent = <int32_t *> malloc(cells * sizeof(int32_t))
    return 0 if b.vector != NULL and b.label != NULL and b.parent != NULL else -1


cdef inline void beam_record(Beam *b, const Sequence *q, Answers *answers) noexcept nogil:
    """The best complete candidates become answers."""
    cdef Py_ssize_t left = answers.n_best
    cdef Py_ssize_t t, i
    cdef Entry entry
    while b.candidate.size > 0 and left > 0:
        entry = pop(&b.candidate, NULL, 0)
        answers.scratch[q.n_tokens - 1] = entry.choice
        i = entry.parent
        for t in range(q.n_tokens - 2, -1, -1):
            answers.scratch[t] = b.label[t * b.most + i]
            i = b.parent[t * b.most + i]
        record(answers, q)
        left -= 1


cdef inline void beam_select(Beam *b, const Sequence *q, Py_ssize_t n_best, const double *old,
                             double *new) noexcept nogil:
    """Keep the best candidates of this token that are not dominated."""
    cdef int32_t *label = b.label + b.token * b.most
    cdef int32_t *parent = b.parent + b.token * b.most
    cdef const int32_t *old_label = label - b.most if b.token > 0 else label
    cdef Py_ssize_t width = q.width
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t i, n, count
    cdef double top = 0.0
    cdef double factor
    cdef Entry entry
    while b.candidate.size > 0 and size < b.most:
        entry = pop(&b.candidate, NULL, 0)
        n = q.label_ptr[entry.choice + 1] - q.label_ptr[entry.choice]
        extend(q, old + entry.parent * width, old_label[entry.parent] if b.token > 0 else -1, entry.choice, b.token,
               new + size * width)
        count = 0
        for i in range(size):
            count += label[i] == entry.choice and covers(new + i * width, new + size * width, n)
        if count >= n_best:
            continue
        for i in range(n):
            top = larger(top, new[size * width + i])
        for i in range(n, width):
            new[size * width + i] = 0.0
        label[size] = entry.choice
        parent[size] = entry.parent
        size += 1
    # Lifting the beam as it falls keeps long sequences from underflowing.
    if top < 1.0:
        factor = ldexp(1.0, -exponent_of(top))
        for i in range(size * width):
            new[i] *= factor
    b.size = size


cdef inline int beam_token(Beam *b, const Sequence *q, Answers *answers) noexcept nogil:
    """One token further; -1 if there is no memory."""
    cdef Py_ssize_t t = b.token
    cdef Py_ssize_t half = b.most * q.width
    cdef double *old = b.vector + (t & 1) * half
    cdef double *new = b.vector + half - (t & 1) * half
    cdef Py_ssize_t i, label, source
    cdef double bound
    b.candidate.size = 0
    for i in range(b.size if t > 0 else 1):
        source = -1
        if t > 0:
            source = b.label[(t - 1) * b.most + i]
            spread_out(q, old + i * q.width, source, t)
        for label in range(q.n_labels):
            bound = child_bound(q, old + i * q.width, source, label, t)
            if bound > 0.0 and push(&b.candidate, NULL, 0, bound, i, label) < 0:
                return -1
    if t == q.n_tokens - 1:
        beam_record(b, q, answers)
    else:
        beam_select(b, q, answers.n_best, old, new)
    b.token += 1
    return 0


cdef inline void beam_free(Beam *b) noexcept nogil:
    free(b.candidate.entry)
    free(b.vector)
    free(b.label)
    free(b.parent)
