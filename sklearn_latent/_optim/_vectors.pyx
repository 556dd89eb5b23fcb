# SPDX-License-Identifier: BSD-3-Clause
"""The passes of L-BFGS over weight-length vectors, each over a range of entries.

At millions of weights an iteration is bound by how often such vectors go through the memory, so what can be done in one
pass is: the new pair of the history is made while its products with the pairs kept are summed, and the direction while
its slope and the first trial point are. Ranges go to different threads; the caller adds up their sums in order.
"""

cdef extern from "_vectors.h" nogil:
    double new_pair_32 "sl_new_pair_32" (double step, const double *d, const double *g, const double *before, float *s,
                                         float *y, Py_ssize_t n) noexcept
    double new_pair_64 "sl_new_pair_64" (double step, const double *d, const double *g, const double *before, double *s,
                                         double *y, Py_ssize_t n) noexcept
    void four_dots_32 "sl_four_dots_32" (const float *s, const float *y, const float *change, const double *g,
                                         double *out, Py_ssize_t n) noexcept
    void four_dots_64 "sl_four_dots_64" (const double *s, const double *y, const double *change, const double *g,
                                         double *out, Py_ssize_t n) noexcept
    void add_pair_32 "sl_add_pair_32" (double a, const float *s, double b, const float *y, double *out,
                                       Py_ssize_t n) noexcept
    void add_pair_64 "sl_add_pair_64" (double a, const double *s, double b, const double *y, double *out,
                                       Py_ssize_t n) noexcept
    void scale "sl_scale" (double a, const double *v, double *out, Py_ssize_t n) noexcept
    void try_step "sl_try_step" (const double *x, double step, const double *d, const double *g, double *to,
                                 double *out, Py_ssize_t n) noexcept
    void slope_c "sl_slope" (const double *g, const double *d, double *out, Py_ssize_t n) noexcept

ctypedef fused history_t:
    float
    double

# Entries of a stretch: three stretches of doubles and two of the history stay in the first cache.
cdef Py_ssize_t STRETCH = 1024


def store_pair(
    double step,
    const double[::1] direction,         # IN    (n,)
    const double[::1] grad,              # IN    (n,)
    const double[::1] before,            # IN    (n,) the gradient that `direction` was made from
    history_t[:, ::1] s,                 # INOUT (n_pairs, n) steps; row `slot` is written
    history_t[:, ::1] y,                 # INOUT (n_pairs, n) changes of the gradient; row `slot` is written
    Py_ssize_t slot,
    Py_ssize_t n_used,                   # rows [0, n_used) hold pairs, `slot` among them
    double[:, ::1] dots,                 # OUT   (n_pairs, 4): s_i.y, y_i.y, s_i.grad, y_i.grad of each pair i
    Py_ssize_t first, Py_ssize_t last,   # entries [first, last)
):
    """Write a pair and sum its products with every pair, itself included, over a range of entries."""
    cdef Py_ssize_t part, at, n, i, k
    with nogil:
        for i in range(n_used):
            for k in range(4):
                dots[i, k] = 0.0
        for part in range((last - first + STRETCH - 1) // STRETCH):
            at = first + part * STRETCH
            n = min(STRETCH, last - at)
            if history_t is float:
                new_pair_32(step, &direction[at], &grad[at], &before[at], &s[slot, at], &y[slot, at], n)
            else:
                new_pair_64(step, &direction[at], &grad[at], &before[at], &s[slot, at], &y[slot, at], n)
            for i in range(n_used):
                if history_t is float:
                    four_dots_32(&s[i, at], &y[i, at], &y[slot, at], &grad[at], &dots[i, 0], n)
                else:
                    four_dots_64(&s[i, at], &y[i, at], &y[slot, at], &grad[at], &dots[i, 0], n)


def project(
    const double[::1] grad,              # IN    (n,)
    history_t[:, ::1] s,                 # IN    (n_pairs, n)
    history_t[:, ::1] y,                 # IN    (n_pairs, n)
    Py_ssize_t n_used,
    double[:, ::1] dots,                 # OUT   (n_pairs, 4): columns 2 and 3 as in `store_pair`
    Py_ssize_t first, Py_ssize_t last,
):
    """Products of a gradient with the pairs kept, where no pair is added."""
    cdef Py_ssize_t part, at, n, i, k
    with nogil:
        for i in range(n_used):
            for k in range(4):
                dots[i, k] = 0.0
        for part in range((last - first + STRETCH - 1) // STRETCH):
            at = first + part * STRETCH
            n = min(STRETCH, last - at)
            for i in range(n_used):
                if history_t is float:
                    four_dots_32(&s[i, at], &y[i, at], &y[i, at], &grad[at], &dots[i, 0], n)
                else:
                    four_dots_64(&s[i, at], &y[i, at], &y[i, at], &grad[at], &dots[i, 0], n)


def combine(
    const double[::1] grad,              # IN    (n,)
    double of_grad,                      # direction = of_grad * grad + sum_i of_s[i] s_i + of_y[i] y_i
    history_t[:, ::1] s,                 # IN    (n_pairs, n)
    history_t[:, ::1] y,                 # IN    (n_pairs, n)
    const double[::1] of_s,              # IN    (n_used,)
    const double[::1] of_y,              # IN    (n_used,)
    const double[::1] x,                 # IN    (n,)
    double step,
    double[::1] direction,               # OUT   (n,)
    double[::1] trial,                   # OUT   (n,) x + step * direction
    double[::1] sums,                    # OUT   (2,): grad.direction, direction.direction
    Py_ssize_t first, Py_ssize_t last,
):
    """The direction of descent and the first point along it."""
    cdef Py_ssize_t part, at, n, i
    sums[0] = 0.0
    sums[1] = 0.0
    with nogil:
        for part in range((last - first + STRETCH - 1) // STRETCH):
            at = first + part * STRETCH
            n = min(STRETCH, last - at)
            scale(of_grad, &grad[at], &direction[at], n)
            for i in range(of_s.shape[0]):
                if history_t is float:
                    add_pair_32(of_s[i], &s[i, at], of_y[i], &y[i, at], &direction[at], n)
                else:
                    add_pair_64(of_s[i], &s[i, at], of_y[i], &y[i, at], &direction[at], n)
            try_step(&x[at], step, &direction[at], &grad[at], &trial[at], &sums[0], n)


def move(
    const double[::1] x,                 # IN    (n,)
    double step,
    const double[::1] direction,         # IN    (n,)
    double[::1] trial,                   # OUT   (n,)
    Py_ssize_t first, Py_ssize_t last,
):
    """Another point along the direction."""
    cdef double unused[2]
    unused[0] = unused[1] = 0.0
    if first < last:
        with nogil:
            try_step(&x[first], step, &direction[first], &direction[first], &trial[first], &unused[0], last - first)


def slope(
    const double[::1] grad,              # IN    (n,)
    const double[::1] direction,         # IN    (n,)
    double[::1] sums,                    # OUT   (2,): grad.direction, largest absolute entry of grad
    Py_ssize_t first, Py_ssize_t last,
):
    """Slope along a direction, and the size of the gradient."""
    sums[0] = 0.0
    sums[1] = 0.0
    if first < last:
        with nogil:
            slope_c(&grad[first], &direction[first], &sums[0], last - first)
