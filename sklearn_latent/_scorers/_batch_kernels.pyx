# SPDX-License-Identifier: BSD-3-Clause
"""The features of a few sequences, numbered anew, and gradients in the order of tokens.

A mini-batch touches few of a large model's weights. `collect` numbers the features that occur in it by first
occurrence, `narrow` lists their weights, and from then on the batch is a small model of its own whose arrays stay in
the cache. The gradient goes token by token, as the scores do: to transpose a batch would take longer than to use it.

Cost: a few steps a stored value and a touched weight; nothing depends on the number of features or weights.
"""

from libc.stdint cimport int32_t, int64_t

cdef extern from "_sparse.h" nogil:
    void fetch "SL_FETCH" (const void *address) noexcept

cdef enum:
    AHEAD = 24

ctypedef fused index_t:
    int32_t
    int64_t


def collect(
    const index_t[::1] row_ptr,          # IN    (n_tokens + 1,) of the corpus, a CSR matrix
    const index_t[::1] feature,          # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty
    const int64_t[::1] first,            # IN    (n_sequences,) first row of each sequence drawn
    const int64_t[::1] last,             # IN    (n_sequences,) end of its rows
    int32_t[::1] number,                 # WORK  (n_features,) -1 everywhere, before and after
    int32_t[::1] batch_ptr,              # OUT   (rows drawn + 1,)
    int32_t[::1] batch_feature,          # OUT   (values drawn,) features by their new numbers
    double[::1] batch_values,            # OUT   (values drawn,) or empty
    int64_t[::1] used,                   # OUT   (values drawn,) old number of each new one; the first entries
):
    """Copy the rows of some sequences, features numbered by first occurrence; returns how many there are."""
    cdef Py_ssize_t i, t, k, row = 0, at = 0, n_used = 0
    cdef index_t f
    cdef bint ones = values.shape[0] == 0
    with nogil:
        batch_ptr[0] = 0
        for i in range(first.shape[0]):
            for t in range(first[i], last[i]):
                for k in range(row_ptr[t], row_ptr[t + 1]):
                    f = feature[k]
                    if k + AHEAD < feature.shape[0]:
                        fetch(&number[feature[k + AHEAD]])
                    if number[f] < 0:
                        number[f] = <int32_t> n_used
                        used[n_used] = f
                        n_used += 1
                    batch_feature[at] = number[f]
                    if not ones:
                        batch_values[at] = values[k]
                    at += 1
                row += 1
                batch_ptr[row] = <int32_t> at
        for k in range(n_used):
            number[used[k]] = -1
    return n_used


def count_weights(
    const int64_t[::1] used,             # IN    (n_used,) features
    const int64_t[::1] pattern_ptr,      # IN    (n_features + 1,)
    int64_t[::1] ptr,                    # OUT   (n_used + 1,) of the narrowed pattern
):
    """Where the weights of some features will stand."""
    cdef Py_ssize_t i, n = used.shape[0]
    with nogil:
        ptr[0] = 0
        for i in range(n):
            if i + AHEAD < n:
                fetch(&pattern_ptr[used[i + AHEAD]])
            ptr[i + 1] = ptr[i] + pattern_ptr[used[i] + 1] - pattern_ptr[used[i]]


def narrow(
    const int64_t[::1] used,             # IN    (n_used,) features
    const int64_t[::1] pattern_ptr,      # IN    (n_features + 1,)
    const int32_t[::1] pattern_column,   # IN    (n_weights,)
    const int64_t[::1] ptr,              # IN    (n_used + 1,) of the narrowed pattern
    Py_ssize_t start,                    # position of the pattern's first weight among all weights
    int32_t[::1] column,                 # OUT   (ptr[-1],)
    int64_t[::1] index,                  # OUT   (ptr[-1],) position of each weight among all weights
):
    """The columns of the weights of some features, and where they are."""
    cdef Py_ssize_t i, j, k
    cdef int64_t low
    if column.shape[0] == 0:
        return
    with nogil:
        for i in range(used.shape[0]):
            if i + AHEAD < used.shape[0]:
                fetch(&pattern_column[0] + pattern_ptr[used[i + AHEAD]])
            k = ptr[i]
            low = pattern_ptr[used[i]]
            for j in range(ptr[i + 1] - k):
                column[k + j] = pattern_column[low + j]
                index[k + j] = start + low + j


def add_row_gradient(
    const int32_t[::1] row_ptr,          # IN    (n_tokens + 1,) of the CSR matrix
    const int32_t[::1] feature,          # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty
    const double[:, ::1] delta,          # IN    (n_tokens, n_columns)
    double[:, ::1] gradient,             # INOUT (n_features, n_columns)
):
    """Add the gradient of a matrix of weights, token by token."""
    cdef Py_ssize_t t, k, c, C = delta.shape[1]
    cdef bint ones = values.shape[0] == 0
    cdef double x
    cdef double *out
    cdef const double *row
    if C == 0 or feature.shape[0] == 0:
        return
    with nogil:
        for t in range(delta.shape[0]):
            row = &delta[t, 0]
            for k in range(row_ptr[t], row_ptr[t + 1]):
                x = 1.0 if ones else values[k]
                out = &gradient[feature[k], 0]
                for c in range(C):
                    out[c] += x * row[c]


def add_row_pattern_gradient(
    const int32_t[::1] row_ptr,          # IN    (n_tokens + 1,)
    const int32_t[::1] feature,          # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty
    const int64_t[::1] pattern_ptr,      # IN    (n_features + 1,)
    const int32_t[::1] pattern_column,   # IN    (n_weights,)
    const double[:, ::1] delta,          # IN    (n_tokens, n_columns)
    double[::1] gradient,                # INOUT (n_weights,)
):
    """Add the gradient of the weights of a pattern, token by token."""
    cdef Py_ssize_t t, k, j, C = delta.shape[1]
    cdef bint ones = values.shape[0] == 0
    cdef double x
    cdef double *out
    cdef const double *row
    cdef const int32_t *column
    if C == 0 or gradient.shape[0] == 0:
        return
    out = &gradient[0]
    column = &pattern_column[0]
    with nogil:
        for t in range(delta.shape[0]):
            row = &delta[t, 0]
            for k in range(row_ptr[t], row_ptr[t + 1]):
                x = 1.0 if ones else values[k]
                for j in range(pattern_ptr[feature[k]], pattern_ptr[feature[k] + 1]):
                    out[j] += x * row[column[j]]
