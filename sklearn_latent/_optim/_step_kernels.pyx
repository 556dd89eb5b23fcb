# SPDX-License-Identifier: BSD-3-Clause
"""Steps of the stochastic solvers in one sweep each: over the weights that a batch touched, or over all of them.

`index` holds positions in vectors much longer than the caches, in no order and none twice; each is asked for some steps
before it is needed.
"""

from libc.math cimport pow, sqrt
from libc.stdint cimport int64_t

cdef extern from "_fetch.h" nogil:
    void fetch "sl_fetch" (const void *address) noexcept

cdef enum:
    AHEAD = 24


def gather(
    const double[::1] x,                 # IN    (n,)
    const int64_t[::1] index,            # IN    (n_touched,)
    double factor,
    double[::1] out,                     # OUT   (n_touched,)
):
    """out = factor x[index]"""
    cdef Py_ssize_t k, n = index.shape[0]
    with nogil:
        for k in range(n):
            if k + AHEAD < n:
                fetch(&x[index[k + AHEAD]])
            out[k] = factor * x[index[k]]


def averaged_step(
    double[::1] x,                       # INOUT (n,)
    double[::1] rest,                    # INOUT (n,)
    const int64_t[::1] index,            # IN    (n_touched,)
    const double[::1] grad,              # IN    (n_touched,)
    double length,
    double share,
):
    """x[index] -= length grad, rest[index] += share grad"""
    cdef Py_ssize_t k, n = index.shape[0]
    with nogil:
        for k in range(n):
            if k + AHEAD < n:
                fetch(&x[index[k + AHEAD]])
                fetch(&rest[index[k + AHEAD]])
            x[index[k]] -= length * grad[k]
            rest[index[k]] += share * grad[k]


def scaled_step(
    double[::1] x,                       # INOUT (n,)
    double[::1] rest,                    # INOUT (n,)
    double[::1] squares,                 # INOUT (n,) sum of the squared derivatives
    double[::1] last,                    # INOUT (n,) sample after which the prior was last applied
    const int64_t[::1] index,            # IN    (n_touched,)
    const double[::1] grad,              # IN    (n_touched,) of the mean loss
    double rate,
    double shrink,
    double ahead,                        # what x counts for in the mean, beside rest
    double now,                          # samples so far, these included
    double n_samples,                    # samples of this step
):
    """A step of AdaGrad with lengths ``rate / sqrt(1 + squares)``, then the prior's share since a weight was last
    touched, implicitly; `rest` makes up in the mean for what `x` changes."""
    cdef Py_ssize_t k, i, n = index.shape[0]
    cdef double g, length, moved
    with nogil:
        for k in range(n):
            if k + AHEAD < n:
                i = index[k + AHEAD]
                fetch(&x[i])
                fetch(&rest[i])
                fetch(&squares[i])
                fetch(&last[i])
            i = index[k]
            g = n_samples * grad[k]
            squares[i] += g * g
            length = rate / sqrt(1.0 + squares[i])
            moved = (x[i] - length * g) / (1.0 + length * shrink * (now - last[i]))
            last[i] = now
            rest[i] += ahead * (x[i] - moved)
            x[i] = moved


def scaled_prior(
    double[::1] x,                       # INOUT (n,)
    double[::1] rest,                    # INOUT (n,)
    const double[::1] squares,           # IN    (n,)
    double[::1] last,                    # INOUT (n,)
    double rate,
    double shrink,
    double ahead,
    double now,
):
    """The prior's share of `scaled_step` for all weights."""
    cdef Py_ssize_t i
    cdef double moved
    with nogil:
        for i in range(x.shape[0]):
            moved = x[i] / (1.0 + rate / sqrt(1.0 + squares[i]) * shrink * (now - last[i]))
            last[i] = now
            rest[i] += ahead * (x[i] - moved)
            x[i] = moved


def adam_step(
    double[::1] x,                       # INOUT (n,)
    double[::1] first,                   # INOUT (n,) moment
    double[::1] second,                  # INOUT (n,) moment
    const double[::1] grad,              # IN    (n,) of the loss
    double shrink,                       # the prior's derivative is shrink x
    double rate,
    double correction,                   # what the second moment is divided by
):
    """One step of Adam on all weights."""
    cdef Py_ssize_t k
    cdef double whole
    with nogil:
        for k in range(x.shape[0]):
            whole = shrink * x[k] + grad[k]
            first[k] += 0.1 * (whole - first[k])
            second[k] += 0.001 * (whole * whole - second[k])
            x[k] -= rate * first[k] / (sqrt(second[k] / correction) + 1e-8)


def adaptive_step(
    double[::1] x,                       # INOUT (n,)
    const double[::1] length,            # IN    (n,)
    double[::1] count,                   # INOUT (n,) samples in which a weight was touched
    double[::1] last,                    # INOUT (n,) sample after which the prior was last applied
    const int64_t[::1] index,            # IN    (n_touched,)
    const double[::1] grad,              # IN    (n_touched,)
    double shrink,
    double now,                          # samples so far, these included
    double n_samples,                    # samples of this step
):
    """One step of ADF: the prior's share since a weight was last touched, then ``length`` times the derivative."""
    cdef Py_ssize_t k, i, n = index.shape[0]
    cdef double kept, missed
    with nogil:
        for k in range(n):
            if k + AHEAD < n:
                i = index[k + AHEAD]
                fetch(&x[i])
                fetch(&length[i])
                fetch(&count[i])
                fetch(&last[i])
            i = index[k]
            if shrink > 0.0:
                missed = (now - last[i]) / n_samples
                kept = 1.0 - length[i] * shrink
                if kept < 0.0:
                    kept = 0.0
                x[i] *= kept if missed == 1.0 else pow(kept, missed)
                last[i] = now
            x[i] -= length[i] * grad[k]
            count[i] += n_samples


def slow_down(
    double[::1] length,                  # INOUT (n,)
    double[::1] count,                   # INOUT (n,) set to zero
    double period,                       # samples that were counted
    double slow, double fast,            # factors of weights never touched, and touched by every sample
):
    """Shorten the steps of ADF by how often each weight was touched."""
    cdef Py_ssize_t k
    cdef double share
    with nogil:
        for k in range(length.shape[0]):
            share = count[k] / period
            length[k] *= slow - (share if share < 1.0 else 1.0) * (slow - fast)
            count[k] = 0.0
