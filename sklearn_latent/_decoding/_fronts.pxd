# SPDX-License-Identifier: BSD-3-Clause
# What a search from both ends needs to know of a sequence before it starts: the bound F and the cells, and about how
# many label sequences weigh how much; see _meeting.pxd.

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ._heap cimport Heap
from ._sequence cimport Sequence, larger, sl_product, sl_rest
from ._sides cimport Side, side_free, side_open

cdef extern from "_search.h" nogil:
    const double MOST_FRONT "SL_MOST_FRONT"
    const double SPARE "SL_SPARE"
    int64_t sl_quarter_octave(double x)
    double sl_of_quarter_octave(int64_t key)
    void sl_add_shifted(double *out, const double *values, Py_ssize_t shift, Py_ssize_t n)

cdef enum:
    BUCKETS = 96               # half octaves

cdef struct Meeting:
    double *own                # s_t E_t(h), 0 where nothing leads on, (n_tokens, stride)
    double *front              # F, (n_tokens, stride)
    double *cell               # (n_tokens, n_labels)
    double *work               # (2, stride)
    Side left
    Side right
    Heap best                  # of the n heaviest sequences, by falling lightness
    double least
    bint cut                   # something possible was left out
    double *count              # (2, BUCKETS)
    int64_t top                # of the cells, in quarters of octaves
    double wanted              # sequences above the threshold
    Py_ssize_t tries
    Py_ssize_t token           # next token of F, n_tokens = all there
    Py_ssize_t joined          # items of the left side that met the right side
    Py_ssize_t n_found         # sequences above the threshold
    Py_ssize_t n_expanded
    Py_ssize_t most_expanded
    int64_t work_done          # multiplications, roughly


cdef inline int meeting_open(Meeting *m, const Sequence *q, Py_ssize_t longest) noexcept nogil:
    """Room for sequences of up to `longest` tokens; -1 if there is none."""
    cdef size_t rows = <size_t>longest * q.stride
    cdef size_t cells = <size_t>longest * q.n_labels
    m.own = <double *> malloc((2 * rows + cells + 2 * <size_t>q.stride + 2 * BUCKETS) * sizeof(double))
    if m.own == NULL or side_open(&m.left, q.n_labels) < 0 or side_open(&m.right, q.n_labels) < 0:
        return -1
    m.front = m.own + rows
    m.work = m.front + rows
    m.count = m.work + 2 * q.stride
    m.cell = m.count + 2 * BUCKETS
    return 0


cdef inline void meeting_free(Meeting *m) noexcept nogil:
    free(m.own)
    free(m.best.entry)
    side_free(&m.left)
    side_free(&m.right)


cdef inline void meeting_begin(Meeting *m, const Sequence *q, Py_ssize_t n_best,
                               Py_ssize_t max_expansions) noexcept nogil:
    """Before a sequence."""
    m.token = 0
    m.tries = 0
    m.wanted = SPARE * <double>n_best
    m.least = -1.0
    m.n_expanded = 0
    m.work_done = 0
    # Enough for what bounds that are nearly tight leave; far more would be needed where they are not.
    m.most_expanded = min(max_expansions, 20 * n_best + 10 * q.n_tokens)


cdef inline bint front_token(Meeting *m, Sequence *q) noexcept nogil:
    """F and the cells of the next token; False if they leave the range."""
    cdef Py_ssize_t t = m.token
    cdef Py_ssize_t n = q.n_states
    cdef const double *node = q.node + t * n
    cdef const double *reach = q.reach + t * q.stride
    cdef const double *rest = q.rest + t * q.stride
    cdef double *own = m.own + t * q.stride
    cdef double *front = m.front + t * q.stride
    cdef const double *arc = q.arc
    cdef double top = 0.0
    cdef double low, total
    cdef Py_ssize_t h, g, label
    for h in range(n):
        own[h] = q.scale[t] * node[h] if reach[h] > 0.0 else 0.0
    for h in range(n, q.stride):
        own[h] = front[h] = 0.0
    if t == 0:
        for h in range(n):
            front[h] = own[h]
            top = larger(own[h], top)
    else:
        if q.arc_step > 0:
            # Rows padded to whole blocks, as shared arcs have them.
            arc = q.arc + t * q.arc_step
            for g in range(n):
                for h in range(n):
                    q.turned[g * q.stride + h] = arc[g * q.arc_stride + h]
            arc = q.turned
        sl_rest(arc, q.stride, q.label_ptr, q.n_labels, front - q.stride, m.work)
        top = sl_product(own, m.work, front, n, &low)
    m.work_done += n * n
    for label in range(q.n_labels):
        total = 0.0
        for h in range(q.label_ptr[label], q.label_ptr[label + 1]):
            total += front[h] * rest[h]
        m.cell[t * q.n_labels + label] = total
    m.token += 1
    return top <= MOST_FRONT


cdef inline void count_sequences(Meeting *m, const Sequence *q) noexcept nogil:
    """About how many sequences lose how much against the best one; what is lost in half octaves.

    As if tokens chose their labels independently, each cell losing against the largest of its token. A cell that loses
    as much as one of the token before is most likely part of the same sequence, and is not counted again.
    """
    cdef double *count = m.count
    cdef int32_t seen[2 * BUCKETS + 2]
    cdef const double *cell = m.cell
    cdef Py_ssize_t n = q.n_labels
    cdef Py_ssize_t t, label, best, loss
    cdef int64_t top
    m.top = 0
    memset(seen, 0, sizeof(seen))
    memset(count, 0, 2 * BUCKETS * sizeof(double))
    count[0] = 1.0
    for t in range(q.n_tokens):
        best = 0
        for label in range(n):
            best = label if cell[label] > cell[best] else best
        top = sl_quarter_octave(cell[best])
        m.top = max(m.top, top)
        memcpy(count + BUCKETS, count, BUCKETS * sizeof(double))
        for label in range(n):
            loss = <Py_ssize_t>(top - sl_quarter_octave(cell[label]))
            if label == best or loss >= 2 * BUCKETS:
                continue
            # seen[loss + 1] was t + 1 where token t had such a loss; what this token has is not to be met by itself.
            if t == 0 or (seen[loss] != t and seen[loss + 1] != t and seen[loss + 2] != t):
                sl_add_shifted(count, count + BUCKETS, loss >> 1, BUCKETS)
        for label in range(n):
            loss = <Py_ssize_t>(top - sl_quarter_octave(cell[label]))
            if label != best and loss < 2 * BUCKETS:
                seen[loss + 1] = <int32_t>(t + 1)
        cell += n


cdef inline double threshold(const Meeting *m) noexcept nogil:
    """A value that about `wanted` sequences exceed."""
    cdef Py_ssize_t bucket
    cdef double total = 0.0
    for bucket in range(BUCKETS):
        total += m.count[bucket]
        if total >= m.wanted:
            break
    return sl_of_quarter_octave(max(m.top - 2 * (bucket + 1), 0))
