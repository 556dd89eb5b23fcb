# SPDX-License-Identifier: BSD-3-Clause
"""Steps of the stochastic solvers in one sweep each: over the weights that a batch touched, or over all of them.

`index` holds positions in vectors much longer than the caches, in no order and none twice; each is asked for some steps
before it is needed.
"""

from libc.math cimport pow
from libc.stdint cimport int64_t

cdef extern from "_steps.h" nogil:
    void fetch "sl_fetch" (const void *address) noexcept
    void scaled_step_c "sl_scaled_step" (double *x, double *rest, double *squares, double *last, const int64_t *index,
                                         const double *grad, double rate, double shrink, double ahead, double now,
                                         double n_samples, Py_ssize_t n) noexcept
    void scaled_prior_c "sl_scaled_prior" (double *x, double *rest, const double *squares, double *last, double rate,
                                           double shrink, double ahead, double now, Py_ssize_t n) noexcept
    void adam_step_c "sl_adam_step" (double *x, double *first, double *second, const double *grad, double shrink,
                                     double rate, double correction, Py_ssize_t n) noexcept

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
    if index.shape[0]:
        with nogil:
            scaled_step_c(&x[0], &rest[0], &squares[0], &last[0], &index[0], &grad[0], rate, shrink, ahead, now,
                          n_samples, index.shape[0])


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
    if x.shape[0]:
        with nogil:
            scaled_prior_c(&x[0], &rest[0], &squares[0], &last[0], rate, shrink, ahead, now, x.shape[0])


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
    if x.shape[0]:
        with nogil:
            adam_step_c(&x[0], &first[0], &second[0], &grad[0], shrink, rate, correction, x.shape[0])


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
