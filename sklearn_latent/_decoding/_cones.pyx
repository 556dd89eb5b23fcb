# SPDX-License-Identifier: BSD-3-Clause
"""Cones of prefixes and of suffixes: the sharper bound of the label search, and its sharper dominance.

What is computed. A label sequence is a path through a graph: a node of token t stands for all prefixes that end in its
label at t and came along one of its arcs (of order one: all that end in that label). In shares x(h) = a(h) R(h) a step
multiplies by M(g, h) = A(g, h) V(h) / R(g), whose rows add up to at most one over any label, so nothing here
under- or overflows. The shares of a node's prefixes, divided by their sum, lie in a simplex of K corners,

    corner_h = p + s e_h,   p(h) = smallest share among the images of the corners one token earlier,   s = 1 - sum p,

so a prefix is a sum of corners with non-negative weights. What may be gained is convex in the prefix; it is bounded
by the linear function through its values at the corners,

    u_h = max over arcs of  w' . (corner_h M),   m = min_h u_h,
    w(h) = m + (u_h - m) / s - sum_j p(j) (u_j - m) / s,

where w' belongs to the arc's target; w = 1 at the last token. Negative w are raised to zero, which only lifts the
bound. A step along an arc keeps at most the factor  rho = max_h  w' . (corner_h M) / u_h.

Suffixes: b(h) is the weight of what follows state h, b / R is at most one. With q = the middle of the node's prefix
cone the shares y(h) = q(h) b(h) / R(h), divided by their sum, are enclosed in the same way, from the last token
backward; the corners d_j of that simplex are the directions in which prefixes must be compared.

Cost. K^2 a token and arc, forward and backward: corners differ from p in one state, so the images of all K of them
need one product of p with M and one row of M each.

Rounding. p is lowered by SHRINK of itself, more than the rounding of prefixes, so that computed prefixes lie within.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc

from ._sequence cimport FLOOR, Sequence, larger, leads_on, smaller

cdef double SHRINK = 1e-13     # of the lower corner; at least 8 (K + 2) 2^-53
cdef double NARROW = 1e-9      # below this width all corners get the largest value
cdef double VAGUE = 1e-250     # images smaller than this have no reliable direction
cdef double LEAST = 1e-200     # smallest weight of a state among suffixes


cdef int graph_open(Graph *g, Py_ssize_t n_tokens, Py_ssize_t width, Py_ssize_t n_nodes,
                    Py_ssize_t n_arcs) noexcept nogil:
    """Room for a graph; -1 if there is none (and then what there is must still be freed)."""
    cdef size_t corners = <size_t>n_nodes * width * sizeof(double)
    cdef size_t nodes = <size_t>n_nodes * sizeof(double)
    g.n_tokens = n_tokens
    g.width = width
    g.n_nodes = n_nodes
    g.n_arcs = n_arcs
    g.node_ptr = <int64_t *> calloc(<size_t>n_tokens + 2, sizeof(int64_t))
    g.label = <int32_t *> malloc(<size_t>n_nodes * sizeof(int32_t))
    g.arc_ptr = <int64_t *> calloc(<size_t>n_nodes + 1, sizeof(int64_t))
    g.target = <int32_t *> malloc(<size_t>(n_arcs + 1) * sizeof(int32_t))
    g.low = <double *> malloc(corners)
    g.high = <double *> malloc(corners)
    g.room = <double *> malloc(nodes)
    g.weight = <double *> malloc(corners)
    g.ray_low = <double *> malloc(corners)
    g.ray_unit = <double *> malloc(corners)
    g.gain = <double *> malloc(<size_t>(n_arcs + 1) * width * sizeof(double))
    g.loss = <double *> malloc(<size_t>(n_arcs + 1) * sizeof(double))
    g.ahead = <double *> malloc(nodes)
    g.behind = <double *> malloc(nodes)
    g.work = <double *> malloc(8 * <size_t>width * sizeof(double))
    if (g.node_ptr == NULL or g.label == NULL or g.arc_ptr == NULL or g.target == NULL or g.low == NULL
            or g.high == NULL or g.room == NULL or g.weight == NULL or g.ray_low == NULL or g.ray_unit == NULL
            or g.gain == NULL or g.loss == NULL or g.ahead == NULL or g.behind == NULL or g.work == NULL):
        return -1
    return 0


cdef void graph_free(Graph *g) noexcept nogil:
    free(g.node_ptr)
    free(g.label)
    free(g.arc_ptr)
    free(g.target)
    free(g.low)
    free(g.high)
    free(g.room)
    free(g.weight)
    free(g.ray_low)
    free(g.ray_unit)
    free(g.gain)
    free(g.loss)
    free(g.ahead)
    free(g.behind)
    free(g.work)


# -- prefixes, from the first token to the last

cdef inline double shrink(Py_ssize_t width) noexcept nogil:
    return 1.0 - larger(SHRINK, 8.0 * (width + 2) * 2.0**-53)


cdef inline void enclose(const double *member, double total, Py_ssize_t n, double *low, double *high) noexcept nogil:
    """Let the simplex of a node hold one more direction."""
    cdef Py_ssize_t k
    cdef double inverse
    if total < VAGUE:
        for k in range(n):
            low[k] = 0.0
            high[k] = 1.0
        return
    inverse = 1.0 / total
    for k in range(n):
        low[k] = smaller(low[k], member[k] * inverse)
        high[k] = larger(high[k], member[k])


cdef double close_simplex(double *low, Py_ssize_t n) noexcept nogil:
    """Lower the corner by its rounding; what is left for the others."""
    cdef double factor = shrink(n)
    cdef double total = 0.0
    cdef Py_ssize_t k
    for k in range(n):
        low[k] *= factor
        total += low[k]
    return larger(1.0 - total, 0.0)


cdef void carry_corners(const Sequence *q, Graph *g, Py_ssize_t t, Py_ssize_t n, Py_ssize_t m) noexcept nogil:
    """Images of the corners of node n (token t - 1), p / R and s / R of which are given, along its arc to node m."""
    cdef Py_ssize_t w = g.width
    cdef Py_ssize_t first = q.label_ptr[g.label[m]]
    cdef Py_ssize_t size = q.label_ptr[g.label[m] + 1] - first
    cdef Py_ssize_t origin = q.label_ptr[g.label[n]]
    cdef Py_ssize_t n_corners = q.label_ptr[g.label[n] + 1] - origin
    cdef const double *reach = q.reach + t * q.stride + first
    cdef const double *arc = q.arc + t * q.arc_step + origin * q.arc_stride + first
    cdef const double *row
    cdef double *base = g.work
    cdef double *image = g.work + w
    cdef const double *low = g.work + 2 * w
    cdef const double *unit = g.work + 3 * w
    cdef double factor, total
    cdef Py_ssize_t i, k
    for k in range(size):
        base[k] = 0.0
    for i in range(n_corners):
        factor = low[i]
        row = arc + i * q.arc_stride
        for k in range(size):
            base[k] += factor * row[k]
    for i in range(n_corners):
        if g.high[n * w + i] > 0.0:
            factor = unit[i]
            row = arc + i * q.arc_stride
            total = 0.0
            for k in range(size):
                image[k] = (base[k] + factor * row[k]) * reach[k]
                total += image[k]
            if total > 0.0:
                enclose(image, total, size, g.low + m * w, g.high + m * w)
                g.room[m] = 1.0


cdef void cones_forward(const Sequence *q, Graph *g, Py_ssize_t t) noexcept nogil:
    """Simplices of the nodes of token t from those of token t - 1."""
    cdef Py_ssize_t w = g.width
    cdef Py_ssize_t n, m, k, first, size
    cdef int64_t a
    cdef double total
    for m in range(g.node_ptr[t + 1], g.node_ptr[t + 2]):
        g.room[m] = -1.0
        for k in range(w):
            g.low[m * w + k] = 1.0
            g.high[m * w + k] = 0.0
    for n in range(g.node_ptr[t], g.node_ptr[t + 1]):
        if t > 0 and g.room[n] < 0.0:
            continue
        if t > 0:
            first = q.label_ptr[g.label[n]]
            for k in range(q.label_ptr[g.label[n] + 1] - first):
                total = q.rest[(t - 1) * q.stride + first + k]
                g.work[2 * w + k] = g.low[n * w + k] / total if total > 0.0 else 0.0
                g.work[3 * w + k] = g.room[n] / total if total > 0.0 else 0.0
        for a in range(g.arc_ptr[n], g.arc_ptr[n + 1]):
            m = g.target[a]
            if t > 0:
                carry_corners(q, g, t, n, m)
                continue
            first = q.label_ptr[g.label[m]]
            size = q.label_ptr[g.label[m] + 1] - first
            total = 0.0
            for k in range(size):
                total += q.reach[first + k]
            if total > 0.0:
                enclose(q.reach + first, total, size, g.low + m * w, g.high + m * w)
                g.room[m] = 1.0
    for m in range(g.node_ptr[t + 1], g.node_ptr[t + 2]):
        size = q.label_ptr[g.label[m] + 1] - q.label_ptr[g.label[m]]
        if g.room[m] > 0.0:
            g.room[m] = close_simplex(g.low + m * w, size)
        else:
            for k in range(w):
                g.low[m * w + k] = 0.0


# -- suffixes and bounds, from the last token to the first

cdef void weigh(Graph *g, Py_ssize_t n, Py_ssize_t size, const double *u) noexcept nogil:
    """w of node n from the largest values u at its corners (of states outside the cone: of the state alone)."""
    cdef const double *low = g.low + n * g.width
    cdef const double *high = g.high + n * g.width
    cdef double *weight = g.weight + n * g.width
    cdef double s = g.room[n]
    cdef double least = -1.0
    cdef double most = 0.0
    cdef double offset = 0.0
    cdef Py_ssize_t k
    for k in range(size):
        if high[k] > 0.0:
            least = u[k] if least < 0.0 or u[k] < least else least
            most = larger(most, u[k])
    if s >= NARROW:
        for k in range(size):
            if high[k] > 0.0:
                offset += low[k] * (u[k] - least) / s
    for k in range(size):
        if high[k] > 0.0:
            weight[k] = larger(least + (u[k] - least) / s - offset, 0.0) if s >= NARROW else most
        else:
            weight[k] = u[k]


cdef void look_ahead(const Sequence *q, Graph *g, Py_ssize_t t, Py_ssize_t n) noexcept nogil:
    """Everything about node n of token t < T - 1 that depends on what follows."""
    cdef Py_ssize_t w = g.width
    cdef Py_ssize_t origin = q.label_ptr[g.label[n]]
    cdef Py_ssize_t size = q.label_ptr[g.label[n] + 1] - origin
    cdef const double *rest = q.rest + t * q.stride + origin
    cdef const double *low = g.low + n * w
    cdef const double *high = g.high + n * w
    cdef const double *arc
    cdef const double *row
    cdef const double *reach
    cdef double *inverse = g.work
    cdef double *u = g.work + w
    cdef double *middle = g.work + 2 * w
    cdef double *z = g.work + 3 * w
    cdef double *lit = g.work + 4 * w
    cdef double *ray = g.work + 5 * w
    cdef double *unit = g.work + 6 * w
    cdef double *share = g.work + 7 * w
    cdef double *ray_low = g.ray_low + n * w
    cdef double room = larger(g.room[n], 0.0)
    cdef double total, base, value, loss
    cdef Py_ssize_t i, k, m, first, width
    cdef int64_t a
    for i in range(size):
        inverse[i] = 1.0 / rest[i] if rest[i] > 0.0 else 0.0
        middle[i] = larger(low[i] + room / size, LEAST) if high[i] > 0.0 else LEAST
        u[i] = 0.0
        ray_low[i] = 1.0
    for a in range(g.arc_ptr[n], g.arc_ptr[n + 1]):
        m = g.target[a]
        first = q.label_ptr[g.label[m]]
        width = q.label_ptr[g.label[m] + 1] - first
        reach = q.reach + (t + 1) * q.stride + first
        arc = q.arc + (t + 1) * q.arc_step + origin * q.arc_stride + first
        for k in range(width):
            lit[k] = reach[k] * g.weight[m * w + k]
            ray[k] = reach[k] * g.ray_low[m * w + k]
            unit[k] = reach[k] * g.ray_unit[m * w + k]
        total = 0.0
        for i in range(size):
            row = arc + i * q.arc_stride
            value = base = 0.0
            for k in range(width):
                value += row[k] * lit[k]
                base += row[k] * ray[k]
            g.gain[a * w + i] = value
            if value < FLOOR:
                g.gain[a * w + i] = FLOOR if leads_on(row, reach, width) else 0.0
            value *= inverse[i]
            total += low[i] * value
            z[i] = value
            inverse[i] *= middle[i]
            share[i] = base * inverse[i]
        for i in range(size):
            u[i] = larger(u[i], total + room * z[i] if high[i] > 0.0 else z[i])
        for k in range(width):
            total = 0.0
            for i in range(size):
                z[i] = share[i] + arc[i * q.arc_stride + k] * unit[k] * inverse[i]
                total += z[i]
            if total > 0.0:
                enclose(z, total, size, ray_low, lit)
        for i in range(size):
            inverse[i] = 1.0 / rest[i] if rest[i] > 0.0 else 0.0
    weigh(g, n, size, u)
    total = close_simplex(ray_low, size)
    for i in range(size):
        ray_low[i] /= middle[i]
        g.ray_unit[n * w + i] = total / middle[i]
    # What each step loses at least, which takes the largest values of all arcs.
    g.ahead[n] = 0.0
    for a in range(g.arc_ptr[n], g.arc_ptr[n + 1]):
        total = loss = 0.0
        for i in range(size):
            z[i] = g.gain[a * w + i] * inverse[i]
            total += low[i] * z[i]
        for i in range(size):
            if high[i] > 0.0 and u[i] > 0.0:
                loss = larger(loss, (total + room * z[i]) / u[i])
        g.loss[a] = loss
        g.ahead[n] = larger(g.ahead[n], loss * g.ahead[g.target[a]])


cdef void at_the_end(const Sequence *q, Graph *g, Py_ssize_t n) noexcept nogil:
    """The same for a node of the last token: nothing follows, and that weighs one."""
    cdef Py_ssize_t w = g.width
    cdef Py_ssize_t size = q.label_ptr[g.label[n] + 1] - q.label_ptr[g.label[n]]
    cdef double room
    cdef double total = 0.0
    cdef Py_ssize_t k
    g.ahead[n] = 1.0
    for k in range(size):
        g.weight[n * w + k] = 1.0
        g.work[k] = LEAST
        if g.high[n * w + k] > 0.0:
            g.work[k] = larger(g.low[n * w + k] + larger(g.room[n], 0.0) / size, LEAST)
        total += g.work[k]
    for k in range(size):
        g.ray_low[n * w + k] = g.work[k] / total
    room = close_simplex(g.ray_low + n * w, size)
    for k in range(size):
        g.ray_low[n * w + k] /= g.work[k]
        g.ray_unit[n * w + k] = room / g.work[k]


cdef void cones_backward(const Sequence *q, Graph *g, Py_ssize_t t) noexcept nogil:
    """Bounds, losses and suffix cones of the nodes of token t (-1: of the root) from those of token t + 1."""
    cdef Py_ssize_t w = g.width
    cdef Py_ssize_t n, m, k, first
    cdef int64_t a
    cdef double total
    if t >= 0:
        for n in range(g.node_ptr[t + 1], g.node_ptr[t + 2]):
            if t == q.n_tokens - 1:
                at_the_end(q, g, n)
            else:
                look_ahead(q, g, t, n)
        return
    g.ahead[0] = 0.0
    for a in range(g.arc_ptr[0], g.arc_ptr[1]):
        m = g.target[a]
        first = q.label_ptr[g.label[m]]
        total = 0.0
        for k in range(q.label_ptr[g.label[m] + 1] - first):
            total += q.reach[first + k] * g.weight[m * w + k]
        g.gain[a * w] = larger(total, FLOOR)
        g.loss[a] = total
        g.ahead[0] = larger(g.ahead[0], total * g.ahead[m])


cdef void sum_up_behind(Graph *g) noexcept nogil:
    """Largest product of losses from the root to each node."""
    cdef Py_ssize_t n
    cdef int64_t a
    for n in range(g.n_nodes):
        g.behind[n] = 0.0
    g.behind[0] = 1.0
    # Nodes are numbered by token, so sources come before their targets.
    for n in range(g.n_nodes):
        for a in range(g.arc_ptr[n], g.arc_ptr[n + 1]):
            g.behind[g.target[a]] = larger(g.behind[g.target[a]], g.behind[n] * g.loss[a])


# -- for the tests

def enclosing_simplex(
    const double[:, ::1] member,         # IN  (n, K) non-negative rows
    double[::1] low,                     # OUT (K,) the corner below all of them
    double[::1] high,                    # OUT (K,) 0 where all of them are 0
) -> float:
    """The simplex with corners low + s e_h that holds each row divided by its sum; returns s."""
    cdef Py_ssize_t i, k
    cdef double total
    for k in range(member.shape[1]):
        low[k] = 1.0
        high[k] = 0.0
    for i in range(member.shape[0]):
        total = 0.0
        for k in range(member.shape[1]):
            total += member[i, k]
        if total > 0.0:
            enclose(&member[i, 0], total, member.shape[1], &low[0], &high[0])
    return close_simplex(&low[0], member.shape[1])
