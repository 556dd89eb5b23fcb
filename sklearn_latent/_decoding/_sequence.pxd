# SPDX-License-Identifier: BSD-3-Clause
# One sequence in the units of the label search: factors, the bound R, forward vectors of prefixes.
#
# With node factors E_t(h) and arc factors A_t(g, h) (row t moves into token t) the bound of what follows state g is
#
#     R_{T-1}(g) = 1,   R_{t-1}(g) = max_y sum_{h in H_y} A_t(g, h) V_t(h),   V_t(h) = E_t(h) R_t(h) s_t,
#
# where s_t is a power of two that keeps max R within 1e6 of one; the exponents add up to `exponent`. A forward vector
# is a_t(h) = s_t E_t(h) sum_g a_{t-1}(g) A_t(g, h), so vectors of equal length compare directly and no step rounds.
#
# States are numbered so that those of a label are neighbours: label y has [label_ptr[y], label_ptr[y + 1]).
#
# Range. A positive entry of V, R or a never underflows to zero: it is raised to FLOOR, which keeps every bound an upper
# one and is worth at most 1e-300 of the total.

from libc.math cimport frexp, ldexp
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

cdef extern from "_search.h" nogil:
    enum:
        BLOCK "SL_BLOCK"       # rows are padded to a multiple of it
    const double FLOOR "SL_FLOOR"
    const double TINY "SL_TINY"
    const double HUGE "SL_HUGE"
    double sl_rest(const double *turned, Py_ssize_t stride, const int32_t *label_ptr, Py_ssize_t n_labels,
                   const double *reach, double *rest)
    void sl_spread(const double *rows, Py_ssize_t stride, const double *a, Py_ssize_t n_rows, Py_ssize_t n,
                   double *out)
    double sl_product(const double *node, const double *rest, double *out, Py_ssize_t n, double *low)
    void sl_scale(double *row, double factor, Py_ssize_t n)
    void sl_turn(const double *arc, Py_ssize_t arc_stride, double *out, Py_ssize_t stride, Py_ssize_t n)
    double sl_largest(const double *row, Py_ssize_t n)

cdef struct Sequence:
    const double *node         # E, (n_tokens, n_states)
    const double *arc          # A, [source, target] with rows of arc_stride
    Py_ssize_t arc_step        # from one token's arcs to the next token's, 0 = shared
    Py_ssize_t arc_stride
    const int32_t *label_ptr
    Py_ssize_t n_tokens
    Py_ssize_t n_states
    Py_ssize_t n_labels
    Py_ssize_t stride          # n_states padded to whole blocks
    Py_ssize_t width           # most states of a label
    double eta                 # relative rounding that bounds and weights may have
    double *reach              # V, (n_tokens, stride)
    double *rest               # R, (n_tokens, stride)
    double *scale              # s, (n_tokens,)
    double *turned             # A of the token at hand as [target, source], rows of stride
    double *spread             # (stride,) sums over the sources of one prefix
    double *forward            # (2 * width,)
    double *room               # what holds these
    int64_t exponent           # true value = value here * 2^exponent


# libm's fmax and fmin are calls; nothing here is NaN.

cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double smaller(double a, double b) noexcept nogil:
    return a if a < b else b


cdef inline int exponent_of(double x) noexcept nogil:
    cdef int exponent = 0
    frexp(x, &exponent)
    return min(max(exponent, -1000), 1000)


cdef inline bint leads_on(const double *row, const double *reach, Py_ssize_t n_states) noexcept nogil:
    cdef Py_ssize_t h
    for h in range(n_states):
        if row[h] > 0.0 and reach[h] > 0.0:
            return True
    return False


cdef inline void lift(Sequence *q, Py_ssize_t t) noexcept nogil:
    """Raise to FLOOR what is positive but for underflow in R and V of token t."""
    cdef Py_ssize_t n = q.n_states
    cdef const double *node = q.node + t * n
    cdef const double *arc = q.arc + (t + 1) * q.arc_step
    cdef double *reach = q.reach + t * q.stride
    cdef double *rest = q.rest + t * q.stride
    cdef Py_ssize_t h
    for h in range(n):
        if rest[h] == 0.0 and leads_on(arc + h * q.arc_stride, reach + q.stride, n):
            rest[h] = FLOOR
        reach[h] = larger(node[h] * rest[h], FLOOR) if node[h] > 0.0 and rest[h] > 0.0 else 0.0


cdef inline bint bound_token(Sequence *q, Py_ssize_t t) noexcept nogil:
    """V and s of token t and R of token t - 1 from R of token t; False if nothing reaches the end."""
    cdef Py_ssize_t n = q.n_states
    cdef double *reach = q.reach + t * q.stride
    cdef double *before = q.rest + (t - 1) * q.stride
    cdef double low
    cdef double top = sl_product(q.node + t * n, q.rest + t * q.stride, reach, n, &low)
    cdef int shift = 0
    cdef int more = 0
    if not low > FLOOR:
        lift(q, t)
        top = sl_largest(reach, n)
        if top == 0.0:
            return False
    if not 1e-100 < top < 1e100:
        shift = exponent_of(top)
        sl_scale(reach, ldexp(1.0, -shift), n)
    if t > 0:
        if q.arc_step > 0:
            sl_turn(q.arc + t * q.arc_step, q.arc_stride, q.turned, q.stride, n)
        top = sl_rest(q.turned, q.stride, q.label_ptr, q.n_labels, reach, before)
        if not 1e-6 < top < 1e6:
            # The scale of a token must be a double itself; a remainder is left to the token before.
            more = min(max(exponent_of(top), -1000 - shift), 1000 - shift)
            sl_scale(before, ldexp(1.0, -more), n)
            sl_scale(reach, ldexp(1.0, -more), n)
    q.scale[t] = ldexp(1.0, -(shift + more))
    q.exponent += shift + more
    return True


# -- prefixes: a forward vector over the states of its last label; label -1 is the empty prefix

cdef inline void spread_out(const Sequence *q, const double *a, Py_ssize_t source, Py_ssize_t t) noexcept nogil:
    """spread(h) = sum over the states g of the source label of a(g) A_t(g, h), for all states h."""
    cdef Py_ssize_t first = q.label_ptr[source]
    sl_spread(q.arc + t * q.arc_step + first * q.arc_stride, q.arc_stride, a, q.label_ptr[source + 1] - first,
              q.arc_stride, q.spread)


cdef inline bint reached(const Sequence *q, const double *a, Py_ssize_t source, Py_ssize_t t,
                         Py_ssize_t h) noexcept nogil:
    """Whether the prefix (a, source) has an allowed way into state h, however small its weight."""
    cdef Py_ssize_t first, k
    if source < 0:
        return True
    first = q.label_ptr[source]
    for k in range(first, q.label_ptr[source + 1]):
        if a[k - first] > 0.0 and q.arc[t * q.arc_step + k * q.arc_stride + h] > 0.0:
            return True
    return False


cdef inline double child_bound(const Sequence *q, const double *a, Py_ssize_t source, Py_ssize_t label,
                               Py_ssize_t t) noexcept nogil:
    """a . R of the prefix that puts `label` at token t; `spread` belongs to (a, source)."""
    cdef const double *reach = q.reach + t * q.stride
    cdef double bound = 0.0
    cdef Py_ssize_t h
    if source < 0:
        for h in range(q.label_ptr[label], q.label_ptr[label + 1]):
            bound += reach[h]
    else:
        for h in range(q.label_ptr[label], q.label_ptr[label + 1]):
            bound += q.spread[h] * reach[h]
    if bound < FLOOR:
        for h in range(q.label_ptr[label], q.label_ptr[label + 1]):
            if reach[h] > 0.0 and reached(q, a, source, t, h):
                return FLOOR
    return bound


cdef inline void extend(const Sequence *q, const double *a, Py_ssize_t source, Py_ssize_t label, Py_ssize_t t,
                        double *out) noexcept nogil:
    """Forward vector of that prefix. States that cannot reach the end hold 0, which leaves them out of comparisons."""
    cdef const double *arc = q.arc + t * q.arc_step
    cdef const double *node = q.node + t * q.n_states
    cdef const double *reach = q.reach + t * q.stride
    cdef Py_ssize_t first = q.label_ptr[label]
    cdef Py_ssize_t origin = q.label_ptr[source] if source >= 0 else 0
    cdef Py_ssize_t end = q.label_ptr[source + 1] if source >= 0 else 0
    cdef double scale = q.scale[t]
    cdef Py_ssize_t j, h
    cdef double total
    for h in range(first, q.label_ptr[label + 1]):
        total = 0.0
        if reach[h] > 0.0:
            total = 0.0 if source >= 0 else 1.0
            for j in range(origin, end):
                total += a[j - origin] * arc[j * q.arc_stride + h]
            total *= node[h] * scale
            if total < FLOOR:
                total = FLOOR if reached(q, a, source, t, h) else 0.0
        out[h - first] = total


cdef inline bint covers(const double *b, const double *a, Py_ssize_t width) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(width):
        if b[k] < a[k]:
            return False
    return True


cdef inline double sequence_weight(const Sequence *q, const int32_t *labels, int64_t *exponent) noexcept nogil:
    """Weight of a label sequence as the result times 2^exponent, rescaled on the way."""
    cdef double *a = q.forward
    cdef double *b = q.forward + q.width
    cdef const double *arc
    cdef double top, total
    cdef Py_ssize_t t, j, h, first, last
    cdef Py_ssize_t origin = 0
    cdef Py_ssize_t end = 0
    cdef int shift
    exponent[0] = 0
    for t in range(q.n_tokens):
        arc = q.arc + t * q.arc_step
        first, last = q.label_ptr[labels[t]], q.label_ptr[labels[t] + 1]
        top = 0.0
        for h in range(first, last):
            total = 0.0 if t > 0 else 1.0
            for j in range(origin, end):
                total += a[j - origin] * arc[j * q.arc_stride + h]
            total = total * q.node[t * q.n_states + h] if q.reach[t * q.stride + h] > 0.0 else 0.0
            b[h - first] = total
            top = total if total > top else top
        if not 1e-20 < top < 1e20:
            shift = exponent_of(top)
            exponent[0] += shift
            for h in range(last - first):
                b[h] *= ldexp(1.0, -shift)
        a, b = b, a
        origin, end = first, last
    total = 0.0
    for h in range(end - origin):
        total += a[h]
    return total


# -- room for sequences of one batch

cdef inline int sequence_open(Sequence *q, Py_ssize_t longest) noexcept nogil:
    """Room for sequences of up to `longest` tokens; sizes, label_ptr and shared arcs (arc_step = 0) are given."""
    cdef Py_ssize_t n = q.n_states
    cdef size_t rows, square
    cdef Py_ssize_t i, h
    cdef double *at
    q.width = 1
    for i in range(q.n_labels):
        q.width = max(q.width, q.label_ptr[i + 1] - q.label_ptr[i])
    q.stride = (n + BLOCK - 1) // BLOCK * BLOCK
    rows = <size_t>longest * q.stride
    square = <size_t>n * q.stride
    q.room = <double *> calloc(2 * rows + 2 * square + q.stride + longest + 2 * q.width + BLOCK, sizeof(double))
    if q.room == NULL:
        return -1
    # Rows begin with a cache line, as long as none of the arrays before breaks one.
    at = q.room + (-(<size_t>q.room // sizeof(double))) % BLOCK
    q.reach = at
    q.rest = q.reach + rows
    q.turned = q.rest + rows
    q.spread = q.turned + square
    at = q.spread + q.stride
    if q.arc_step == 0:
        sl_turn(q.arc, q.arc_stride, q.turned, q.stride, n)
        for i in range(n):
            for h in range(n):
                at[i * q.stride + h] = q.arc[i * q.arc_stride + h]
        q.arc = at
        q.arc_stride = q.stride
    at += square
    q.scale = at
    q.forward = q.scale + longest
    return 0


cdef inline void sequence_begin(Sequence *q, Py_ssize_t n_tokens) noexcept nogil:
    """Before the bound of a sequence, whose factors `node` and `arc` point to."""
    cdef double *rest = q.rest + (n_tokens - 1) * q.stride
    cdef Py_ssize_t h
    q.n_tokens = n_tokens
    # One factor a sum, one addition a state, four times over.
    q.eta = 4.0 * n_tokens * (q.width + 2) * 2.0**-53
    q.exponent = 0
    for h in range(q.n_states):
        rest[h] = 1.0


cdef inline void sequence_free(Sequence *q) noexcept nogil:
    free(q.room)
