# SPDX-License-Identifier: BSD-3-Clause
# The best label sequences known, heaviest first, and what the search gave up.
#
# Weights are reported from a separate forward pass that rescales as it goes, so they are right even where the search's
# own units cannot hold them. If within one vector what matters later falls below 1e-308 of the rest, that pass misses
# it; bounds do not, and the difference is remembered in `dropped`.

from libc.math cimport ldexp, log
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp, memcpy, memmove

from ._sequence cimport TINY, Sequence, larger, sequence_weight

cdef struct Answers:
    Py_ssize_t n_best
    int32_t *labels            # (n_best, n_tokens)
    double *log_weight         # (n_best,)
    double *value              # (n_best,) weights in the units of the search
    int32_t *scratch           # (n_tokens,) a label sequence
    Py_ssize_t n_found
    double lower               # n-th best known value, 0 = fewer known
    double dropped             # largest bound that the range of a double made the search give up


cdef inline double record(Answers *s, const Sequence *q) noexcept nogil:
    """Put the sequence in `scratch` among the answers if it is new and good enough; its weight in search units."""
    cdef Py_ssize_t n_tokens = q.n_tokens
    cdef size_t size = <size_t>n_tokens * sizeof(int32_t)
    cdef Py_ssize_t i, moved
    cdef int64_t exponent
    cdef double weight, log_weight
    weight = sequence_weight(q, s.scratch, &exponent)
    if not weight > 0.0:
        s.dropped = larger(s.dropped, TINY)
        return 0.0
    log_weight = log(weight) + <double>exponent * log(2.0)
    # The same sequence has the same weight to the bit.
    for i in range(s.n_found):
        if s.log_weight[i] == log_weight and memcmp(s.labels + i * n_tokens, s.scratch, size) == 0:
            return s.value[i]
    i = s.n_found
    while i > 0 and s.log_weight[i - 1] < log_weight:
        i -= 1
    exponent -= q.exponent
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


cdef inline bint comes_before(const Answers *answers, Py_ssize_t n_tokens, Py_ssize_t i) noexcept nogil:
    """Whether the labels of answer i come before those of the first one."""
    cdef const int32_t *labels = answers.labels + i * n_tokens
    cdef Py_ssize_t t
    for t in range(n_tokens):
        if labels[t] != answers.labels[t]:
            return labels[t] < answers.labels[t]
    return False


cdef inline void order_first(Answers *answers, const Sequence *q) noexcept nogil:
    """Of answers equal up to rounding the one of the smallest labels becomes the first, as in a search for one."""
    cdef int32_t *labels
    cdef Py_ssize_t i, t
    for i in range(1, answers.n_found):
        if answers.log_weight[i] < answers.log_weight[0] - q.eta:
            break
        if comes_before(answers, q.n_tokens, i):
            labels = answers.labels + i * q.n_tokens
            for t in range(q.n_tokens):
                labels[t], answers.labels[t] = answers.labels[t], labels[t]
