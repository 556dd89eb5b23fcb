# SPDX-License-Identifier: BSD-3-Clause
"""The layers of sum-product networks, forward and backward, over rows of leaf scores.

With L layers, I hidden variables under each parent and H states each (Ratajczak, Tschiatschek and Pernkopf 2018,
equation 5), a leaf is a path from a root through (variable, state) pairs. From the leaves up, for l = L..1,

    q_{l-1}(path) = b_{l-1}(path) + sum_i log sum_h exp q_l(path + (i, h)),       q_L = b_L + w x,

with the maximum over h in the place of the log sum for the max networks. The share of a state in its sum is what the
derivative needs: going down, d q_0 / d q_l(path + (i, h)) = share(i, h) d q_0 / d q_{l-1}(path).

Index convention: level l of R roots has N_l = R (I H)^l values in the order [h_l][i_l] ... [h_1][i_1][root], so that
each reduction runs over whole blocks of memory (`_spn_layers.h`). Biases of all levels lie one after the other, roots
first; the inner levels 1..L-1 of a token likewise, in a row of `inner`.

All levels of a token are done before the next one, so that what one level writes the next reads from the cache.
Cost: one exponential a leaf and inner value, one logarithm a parent, a few passes over each.
"""

from libc.stdint cimport int32_t, int64_t

cdef extern from "_spn.h" nogil:
    void spn_level_64 "sl_spn_level_64" (double *, const double *, double *, Py_ssize_t C, Py_ssize_t I, Py_ssize_t H,
                                         bint use_max, bint keep) noexcept
    void spn_level_32 "sl_spn_level_32" (float *, const float *, float *, Py_ssize_t C, Py_ssize_t I, Py_ssize_t H,
                                         bint use_max, bint keep) noexcept
    void spn_down_64 "sl_spn_down_64" (double *, const double *, Py_ssize_t C, Py_ssize_t n_children) noexcept
    void spn_down_32 "sl_spn_down_32" (float *, const float *, Py_ssize_t C, Py_ssize_t n_children) noexcept
    void spn_spread_64 "sl_spn_spread_64" (const double *, double *, Py_ssize_t n, Py_ssize_t R) noexcept
    void spn_spread_32 "sl_spn_spread_32" (const float *, float *, Py_ssize_t n, Py_ssize_t R) noexcept
    void spn_collect_64 "sl_spn_collect_64" (const double *, double *, Py_ssize_t n, Py_ssize_t R) noexcept
    void spn_collect_32 "sl_spn_collect_32" (const float *, float *, Py_ssize_t n, Py_ssize_t R) noexcept
    void spn_sums_64 "sl_spn_sums_64" (
        const int32_t *, const int32_t *, const double *, Py_ssize_t n_sums,
        const double *, Py_ssize_t n_rows, Py_ssize_t rows_stride,
        double *, Py_ssize_t out_stride, Py_ssize_t n_columns, double *work, bint more) noexcept
    void spn_sums_32 "sl_spn_sums_32" (
        const int32_t *, const int32_t *, const float *, Py_ssize_t n_sums,
        const float *, Py_ssize_t n_rows, Py_ssize_t rows_stride,
        float *, Py_ssize_t out_stride, Py_ssize_t n_columns, float *work, bint more) noexcept

ctypedef fused real:
    float
    double


def layers_up(
    real[:, ::1] leaf,            # INOUT (n_tokens, N_L) leaf scores without bias; then shares if kept
    real[:, ::1] inner,           # OUT   (n_tokens, N_1 + ... + N_{L-1}) shares of the inner levels if kept, else work
    const real[::1] bias,         # IN    (N_0 + ... + N_L,)
    real[:, ::1] root,            # OUT   (n_tokens, R)
    Py_ssize_t n_layers, Py_ssize_t n_products, Py_ssize_t n_states,
    bint use_max, bint keep,
):
    """Scores of the roots, without the removed offset; at least one layer."""
    cdef Py_ssize_t t, level, width, R = root.shape[1], n_leaves = leaf.shape[1], fan = n_products * n_states
    cdef Py_ssize_t bias_at, inner_at
    cdef real *value
    cdef real *parent
    if leaf.shape[0] == 0 or R == 0:
        return
    with nogil:
        for t in range(leaf.shape[0]):
            width = n_leaves
            bias_at = bias.shape[0]
            inner_at = inner.shape[1]
            value = &leaf[t, 0]
            for level in range(n_layers, 0, -1):
                bias_at -= width
                width //= fan
                if level > 1:
                    inner_at -= width
                    parent = &inner[t, inner_at]
                else:
                    parent = &root[t, 0]
                if real is double:
                    spn_level_64(value, &bias[bias_at], parent, width, n_products, n_states, use_max, keep)
                else:
                    spn_level_32(value, &bias[bias_at], parent, width, n_products, n_states, use_max, keep)
                value = parent
            for level in range(R):
                root[t, level] += bias[level]


def layers_down(
    real[:, ::1] leaf,            # INOUT (n_tokens, N_L) shares, then derivatives
    real[:, ::1] inner,           # INOUT (n_tokens, N_1 + ... + N_{L-1}) likewise
    const real[:, ::1] root,      # IN    (n_tokens, R) derivatives of the roots
    Py_ssize_t n_layers, Py_ssize_t n_products, Py_ssize_t n_states,
):
    """Derivatives of all levels from those of the roots."""
    cdef Py_ssize_t t, level, width, inner_at, R = root.shape[1], fan = n_products * n_states
    cdef const real *parent
    cdef real *value
    if leaf.shape[0] == 0 or R == 0:
        return
    with nogil:
        for t in range(leaf.shape[0]):
            parent = &root[t, 0]
            width = R
            inner_at = 0
            for level in range(1, n_layers + 1):
                value = &leaf[t, 0] if level == n_layers else &inner[t, inner_at]
                if real is double:
                    spn_down_64(value, parent, width, fan)
                else:
                    spn_down_32(value, parent, width, fan)
                parent = value
                width *= fan
                inner_at += width


def spread(
    const real[:, ::1] shared,    # IN  (n_tokens, n) scores that all roots share
    real[:, ::1] leaf,            # OUT (n_tokens, N_L), the last n R columns; the ones before become zero
    Py_ssize_t n_roots,
):
    """Give every root the shared scores."""
    cdef Py_ssize_t t, c, n = shared.shape[1], start = leaf.shape[1] - shared.shape[1] * n_roots
    if leaf.shape[0] == 0 or leaf.shape[1] == 0:
        return
    with nogil:
        for t in range(leaf.shape[0]):
            for c in range(start):
                leaf[t, c] = 0
            if n:
                if real is double:
                    spn_spread_64(&shared[t, 0], &leaf[t, start], n, n_roots)
                else:
                    spn_spread_32(&shared[t, 0], &leaf[t, start], n, n_roots)


def collect(
    const real[:, ::1] leaf,      # IN  (n_tokens, N_L) derivatives
    real[:, ::1] shared,          # OUT (n_tokens, n) their sums over roots, of the last n R columns
    Py_ssize_t n_roots,
):
    """Sum the derivatives of shared scores over the roots."""
    cdef Py_ssize_t t, n = shared.shape[1], start = leaf.shape[1] - shared.shape[1] * n_roots
    if leaf.shape[0] == 0 or n == 0 or n_roots == 0:
        return
    with nogil:
        for t in range(leaf.shape[0]):
            if real is double:
                spn_collect_64(&leaf[t, start], &shared[t, 0], n, n_roots)
            else:
                spn_collect_32(&leaf[t, start], &shared[t, 0], n, n_roots)


def sums(
    const int32_t[::1] ptr,       # IN    (n_sums + 1,)
    const int32_t[::1] index,     # IN    (n,) rows
    const real[::1] value,        # IN    (n,)
    const real[:, :] rows,        # IN    (n_rows, n_columns), each row contiguous
    real[:, :] out,               # INOUT (n_sums, n_columns), likewise
    real[::1] work,               # WORK  SL_SPN_TILE bytes for each row and one more
    bint more,
):
    """out[s] = sum of value[k] rows[index[k]] over k in [ptr[s], ptr[s + 1]), added to what is there if `more`."""
    cdef Py_ssize_t n_sums = out.shape[0], n_rows = rows.shape[0], n = out.shape[1]
    cdef Py_ssize_t rows_stride = rows.strides[0] // sizeof(real), out_stride = out.strides[0] // sizeof(real)
    if n_sums == 0 or n == 0:
        return
    if n_rows == 0 or value.shape[0] == 0:
        if not more:
            out[:, :] = 0
        return
    with nogil:
        if real is double:
            spn_sums_64(&ptr[0], &index[0], &value[0], n_sums, &rows[0, 0], n_rows, rows_stride, &out[0, 0],
                        out_stride, n, &work[0], more)
        else:
            spn_sums_32(&ptr[0], &index[0], &value[0], n_sums, &rows[0, 0], n_rows, rows_stride, &out[0, 0],
                        out_stride, n, &work[0], more)


def add_places(
    const double[:, ::1] root,    # IN    (n_tokens, n_roots) scores
    const int64_t[::1] column,    # IN    (n_places,) none twice
    const int64_t[::1] owner,     # IN    (n_places,) the root whose score counts there
    double[:, ::1] out,           # INOUT (n_tokens, n_columns)
):
    """out[t, column[k]] += root[t, owner[k]]"""
    cdef Py_ssize_t t, k
    with nogil:
        for t in range(out.shape[0]):
            for k in range(column.shape[0]):
                out[t, column[k]] += root[t, owner[k]]


def collect_places(
    const double[:, ::1] delta,   # IN    (n_tokens, n_columns)
    const int64_t[::1] column,    # IN    (n_places,)
    const int64_t[::1] owner,     # IN    (n_places,) ascending
    real[:, ::1] out,             # OUT   (n_tokens, n_roots)
):
    """out[t, r] = sum over the places k of root r of delta[t, column[k]], summed as doubles"""
    cdef Py_ssize_t t, k, n = column.shape[0]
    cdef double total
    with nogil:
        for t in range(out.shape[0]):
            for k in range(out.shape[1]):
                out[t, k] = 0
            total = 0.0
            for k in range(n):
                total += delta[t, column[k]]
                if k == n - 1 or owner[k + 1] != owner[k]:
                    out[t, owner[k]] = <real> total
                    total = 0.0
