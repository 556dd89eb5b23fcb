# SPDX-License-Identifier: BSD-3-Clause
"""Sparse products of a linear scorer, on every column or on the (feature, column) pairs of a pattern.

    score[t, c]   += sum over features f of token t:  x[t, f] * weight[f, c]
    gradient[f, c] += sum over tokens t with f:       x[t, f] * delta[t, c]

A column is a state, or an arc for edge features. Scores run over the tokens of a CSR matrix: the rows of weights are
gathered, the output row stays in registers. The gradient runs over the features that occur (compressed CSC): each
weight's sum is finished where it lies, in token order, so that ranges of features can go to different threads
without changing a bit, and rare features (most of them) touch their weights once.

A pattern lists the weights that exist: weights k in pattern_ptr[f]:pattern_ptr[f + 1] belong to feature f and to
column pattern_column[k]. `values` may be empty, for a matrix of ones.

Cost: one multiplication a stored value and weight; the time goes into fetching weight rows.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "_sparse.h" nogil:
    void add_rows_32 "sl_add_rows_32" (
        const int32_t *ptr, Py_ssize_t n_sums, const int32_t *index, const double *values, Py_ssize_t end,
        const double *rows, Py_ssize_t n_columns, const int64_t *to, double *out) noexcept
    void add_rows_64 "sl_add_rows_64" (
        const int64_t *ptr, Py_ssize_t n_sums, const int64_t *index, const double *values, Py_ssize_t end,
        const double *rows, Py_ssize_t n_columns, const int64_t *to, double *out) noexcept
    void add_rows_of_features "sl_add_rows_of_features" (
        const int64_t *ptr, Py_ssize_t n_sums, const int32_t *index, const double *values, Py_ssize_t end,
        const double *rows, Py_ssize_t n_columns, const int64_t *to, double *out) noexcept
    void add_pattern_rows_32 "sl_add_pattern_rows_32" (
        const int32_t *index, const double *values, Py_ssize_t first, Py_ssize_t last, Py_ssize_t end,
        const int64_t *ptr, const int32_t *column, const double *weight, double *out) noexcept
    void add_pattern_rows_64 "sl_add_pattern_rows_64" (
        const int64_t *index, const double *values, Py_ssize_t first, Py_ssize_t last, Py_ssize_t end,
        const int64_t *ptr, const int32_t *column, const double *weight, double *out) noexcept
    void pattern_gradient "sl_add_pattern_gradient" (
        const int64_t *feature, const int64_t *ptr, Py_ssize_t n_features, const int32_t *index, const double *values,
        Py_ssize_t end, const double *rows, Py_ssize_t n_columns, const int64_t *pattern_ptr,
        const int32_t *pattern_column, double *gradient) noexcept

ctypedef fused index_t:
    int32_t
    int64_t


def add_scores(
    const index_t[::1] row_ptr,          # IN    (n_tokens + 1,) of the CSR matrix
    const index_t[::1] feature,          # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty
    const double[:, ::1] weight,         # IN    (n_features, n_columns)
    double[:, ::1] score,                # INOUT (n_tokens, n_columns)
):
    """Add the scores of a matrix of weights."""
    cdef Py_ssize_t C = score.shape[1], n_stored = feature.shape[0], n_tokens = score.shape[0]
    cdef const double *x = &values[0] if values.shape[0] else NULL
    if C == 0 or n_stored == 0:
        return
    with nogil:
        if index_t is int32_t:
            add_rows_32(&row_ptr[0], n_tokens, &feature[0], x, n_stored, &weight[0, 0], C, NULL, &score[0, 0])
        else:
            add_rows_64(&row_ptr[0], n_tokens, &feature[0], x, n_stored, &weight[0, 0], C, NULL, &score[0, 0])


def add_pattern_scores(
    const index_t[::1] row_ptr,          # IN    (n_tokens + 1,)
    const index_t[::1] feature,          # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty
    const int64_t[::1] pattern_ptr,      # IN    (n_features + 1,)
    const int32_t[::1] pattern_column,   # IN    (n_weights,)
    const double[::1] weight,            # IN    (n_weights,)
    double[:, ::1] score,                # INOUT (n_tokens, n_columns)
):
    """Add the scores of the weights of a pattern."""
    cdef Py_ssize_t t, n_stored = feature.shape[0]
    cdef const double *x = &values[0] if values.shape[0] else NULL
    if score.shape[1] == 0 or n_stored == 0 or weight.shape[0] == 0:
        return
    with nogil:
        for t in range(score.shape[0]):
            if index_t is int32_t:
                add_pattern_rows_32(&feature[0], x, row_ptr[t], row_ptr[t + 1], n_stored, &pattern_ptr[0],
                                    &pattern_column[0], &weight[0], &score[t, 0])
            else:
                add_pattern_rows_64(&feature[0], x, row_ptr[t], row_ptr[t + 1], n_stored, &pattern_ptr[0],
                                    &pattern_column[0], &weight[0], &score[t, 0])


def add_gradient(
    const int64_t[::1] feature,          # IN    (n_present,) features that occur, ascending
    const int64_t[::1] feature_ptr,      # IN    (n_present + 1,) occurrences of each
    const int32_t[::1] token,            # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty
    const double[:, ::1] delta,          # IN    (n_tokens, n_columns)
    double[:, ::1] gradient,             # INOUT (n_features, n_columns)
    Py_ssize_t first, Py_ssize_t last,   # of the features present [first, last)
):
    """Add the gradient of a matrix of weights, for a range of features."""
    cdef Py_ssize_t C = delta.shape[1], n_stored = token.shape[0]
    cdef const double *x = &values[0] if values.shape[0] else NULL
    if C == 0 or n_stored == 0 or first >= last:
        return
    with nogil:
        add_rows_of_features(&feature_ptr[first], last - first, &token[0], x, n_stored, &delta[0, 0], C,
                             &feature[first], &gradient[0, 0])


def add_pattern_gradient(
    const int64_t[::1] feature,          # IN    (n_present,) features that occur, ascending
    const int64_t[::1] feature_ptr,      # IN    (n_present + 1,)
    const int32_t[::1] token,            # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty
    const int64_t[::1] pattern_ptr,      # IN    (n_features + 1,)
    const int32_t[::1] pattern_column,   # IN    (n_weights,)
    const double[:, ::1] delta,          # IN    (n_tokens, n_columns)
    double[::1] gradient,                # INOUT (n_weights,)
    Py_ssize_t first, Py_ssize_t last,   # of the features present [first, last)
):
    """Add the gradient of the weights of a pattern, for a range of features."""
    cdef Py_ssize_t n_stored = token.shape[0]
    cdef const double *x = &values[0] if values.shape[0] else NULL
    if delta.shape[1] == 0 or n_stored == 0 or first >= last or gradient.shape[0] == 0:
        return
    with nogil:
        pattern_gradient(&feature[first], &feature_ptr[first], last - first, &token[0], x, n_stored, &delta[0, 0],
                         delta.shape[1], &pattern_ptr[0], &pattern_column[0], &gradient[0])


def mark_seen(
    const index_t[::1] row_ptr,          # IN    (n_tokens + 1,)
    const index_t[::1] feature,          # IN    (n_stored,)
    const double[::1] values,            # IN    (n_stored,) or empty; a stored zero marks nothing
    const int64_t[::1] seen_ptr,         # IN    (n_tokens + 1,)
    const int32_t[::1] seen_column,      # IN    columns seen at token t: seen_ptr[t]:seen_ptr[t + 1]
    uint8_t[:, ::1] seen,                # INOUT (n_features, n_columns)
):
    """Mark each (feature, column) pair that occurs at some token."""
    cdef Py_ssize_t t, k, j
    cdef bint ones = values.shape[0] == 0
    with nogil:
        for t in range(seen_ptr.shape[0] - 1):
            for k in range(row_ptr[t], row_ptr[t + 1]):
                if ones or values[k] != 0.0:
                    for j in range(seen_ptr[t], seen_ptr[t + 1]):
                        seen[feature[k], seen_column[j]] = 1


def transpose(
    const index_t[::1] row_ptr,          # IN   (n_tokens + 1,) of the CSR matrix
    const index_t[::1] feature,          # IN   (n_stored,)
    const double[::1] values,            # IN   (n_stored,) or empty
    int64_t[::1] feature_ptr,            # OUT  (n_features + 1,), zeros on entry
    int32_t[::1] token,                  # OUT  (n_stored,)
    double[::1] values_out,              # OUT  (n_stored,) or empty
):
    """CSR to CSC, tokens of a feature in order."""
    cdef Py_ssize_t t, k, f, n_features = feature_ptr.shape[0] - 1
    cdef int64_t place, total = 0, count
    cdef bint ones = values.shape[0] == 0
    with nogil:
        for k in range(row_ptr[row_ptr.shape[0] - 1]):
            feature_ptr[feature[k]] += 1
        for f in range(n_features + 1):
            count = feature_ptr[f]
            feature_ptr[f] = total
            total += count
        for t in range(row_ptr.shape[0] - 1):
            for k in range(row_ptr[t], row_ptr[t + 1]):
                place = feature_ptr[feature[k]]
                feature_ptr[feature[k]] += 1
                token[place] = <int32_t> t
                if not ones:
                    values_out[place] = values[k]
        # Each pointer now stands at its feature's end, which is the next one's start.
        for f in range(n_features, 0, -1):
            feature_ptr[f] = feature_ptr[f - 1]
        if n_features >= 0:
            feature_ptr[0] = 0


def halve(
    const index_t[::1] row_ptr,          # IN   (n_tokens + 1,) of a CSR matrix
    const index_t[::1] feature,          # IN   (n_stored,)
    const double[::1] values,            # IN   (n_stored,) or empty
    const int32_t[::1] row,              # IN   (n_features,) number of each feature that goes to the first half, or -1
    index_t[::1] first_ptr,              # OUT  (n_tokens + 1,)
    index_t[::1] first_feature,          # OUT  (n_first,) numbers by `row`
    double[::1] first_values,            # OUT  (n_first,) or empty
    index_t[::1] second_ptr,             # OUT  (n_tokens + 1,)
    index_t[::1] second_feature,         # OUT  (n_stored - n_first,)
    double[::1] second_values,           # OUT  (n_stored - n_first,) or empty
):
    """Deal the values of a matrix into two, by feature, their order kept."""
    cdef Py_ssize_t t, k, a = 0, b = 0
    cdef bint ones = values.shape[0] == 0
    with nogil:
        first_ptr[0] = 0
        second_ptr[0] = 0
        for t in range(row_ptr.shape[0] - 1):
            for k in range(row_ptr[t], row_ptr[t + 1]):
                if row[feature[k]] >= 0:
                    first_feature[a] = row[feature[k]]
                    if not ones:
                        first_values[a] = values[k]
                    a += 1
                else:
                    second_feature[b] = feature[k]
                    if not ones:
                        second_values[b] = values[k]
                    b += 1
            first_ptr[t + 1] = <index_t> a
            second_ptr[t + 1] = <index_t> b


def count_chosen(
    const index_t[::1] feature,          # IN  (n_stored,)
    const int32_t[::1] row,              # IN  (n_features,) -1: not chosen
):
    """How many values belong to features that are chosen."""
    cdef Py_ssize_t k, n = 0
    with nogil:
        for k in range(feature.shape[0]):
            n += row[feature[k]] >= 0
    return n
