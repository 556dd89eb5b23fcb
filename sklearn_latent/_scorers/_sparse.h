/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of weighted rows, the inner loops of the sparse products. The rows lie anywhere in a matrix larger than the
 * caches, so each is asked for some steps before it is needed; the sum is then limited by the number of fetches under
 * way rather than by the time of one. Sums stay in registers, up to 32 columns at a time.
 */
#ifndef SKLEARN_LATENT_SPARSE_H
#define SKLEARN_LATENT_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "_vector.h"

#if defined(__GNUC__)
#define SL_FETCH(address) __builtin_prefetch((address), 0, 3)
#define SL_ALWAYS static inline __attribute__((always_inline))
#else
#define SL_FETCH(address) ((void)0)
#define SL_ALWAYS static inline
#endif

enum { SL_AHEAD = 24 };

/* out[at_b ...] += sum over k of values[k] rows[index[k], at_b ...] for COUNT blocks of columns; the last may overlap the
 * one before it, and then both hold the same sums. */
#define SL_SUM_BLOCKS(TYPE, COUNT, WIDTH, LAST)                                                                        \
    {                                                                                                                  \
        TYPE sum[COUNT];                                                                                               \
        ptrdiff_t at[COUNT];                                                                                           \
        for (int b = 0; b < COUNT; b++) {                                                                              \
            at[b] = b + 1 < COUNT ? b * WIDTH : (LAST);                                                                \
            sum[b] = *(const TYPE *)(out + at[b]);                                                                     \
        }                                                                                                              \
        if (values == NULL) {                                                                                          \
            for (ptrdiff_t k = first; k < last; k++) {                                                                 \
                const double *row = rows + (ptrdiff_t)index[k] * stride;                                               \
                if (k + SL_AHEAD < end) {                                                                              \
                    const double *later = rows + (ptrdiff_t)index[k + SL_AHEAD] * stride;                              \
                    for (int b = 0; b < COUNT; b++)                                                                    \
                        SL_FETCH(later + at[b]);                                                                       \
                    SL_FETCH(later + at[COUNT - 1] + WIDTH - 1);                                                       \
                }                                                                                                      \
                for (int b = 0; b < COUNT; b++)                                                                        \
                    sum[b] += *(const TYPE *)(row + at[b]);                                                            \
            }                                                                                                          \
        } else {                                                                                                       \
            for (ptrdiff_t k = first; k < last; k++) {                                                                 \
                const double *row = rows + (ptrdiff_t)index[k] * stride;                                               \
                const double x = values[k];                                                                            \
                if (k + SL_AHEAD < end) {                                                                              \
                    const double *later = rows + (ptrdiff_t)index[k + SL_AHEAD] * stride;                              \
                    for (int b = 0; b < COUNT; b++)                                                                    \
                        SL_FETCH(later + at[b]);                                                                       \
                    SL_FETCH(later + at[COUNT - 1] + WIDTH - 1);                                                       \
                }                                                                                                      \
                for (int b = 0; b < COUNT; b++)                                                                        \
                    sum[b] += x * *(const TYPE *)(row + at[b]);                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (int b = 0; b < COUNT; b++)                                                                                \
            *(TYPE *)(out + at[b]) = sum[b];                                                                           \
    }

/* Up to 32 columns of rows that are `stride` apart. */
#if SL_BLOCKS
#define SL_SUM_COLUMNS                                                                                                 \
    if (n >= 32)                                                                                                       \
        SL_SUM_BLOCKS(sl_block8, 4, 8, 24)                                                                             \
    else if (n > 24)                                                                                                   \
        SL_SUM_BLOCKS(sl_block8, 4, 8, n - 8)                                                                          \
    else if (n > 16)                                                                                                   \
        SL_SUM_BLOCKS(sl_block8, 3, 8, n - 8)                                                                          \
    else if (n > 8)                                                                                                    \
        SL_SUM_BLOCKS(sl_block8, 2, 8, n - 8)                                                                          \
    else if (n == 8)                                                                                                   \
        SL_SUM_BLOCKS(sl_block8, 1, 8, 0)                                                                              \
    else if (n > 4)                                                                                                    \
        SL_SUM_BLOCKS(sl_block4, 2, 4, n - 4)                                                                          \
    else if (n == 4)                                                                                                   \
        SL_SUM_BLOCKS(sl_block4, 1, 4, 0)                                                                              \
    else
#else
#define SL_SUM_COLUMNS                                                                                                 \
    for (; n > 3; n -= 3) {                                                                                            \
        SL_SUM_BLOCKS(double, 3, 1, 2)                                                                                 \
        rows += 3;                                                                                                     \
        out += 3;                                                                                                      \
    }
#endif

/* out[c] += sum over k in [first, last) of values[k] rows[index[k], c]; values may be NULL (ones). Fetches go on past
 * `last` up to `end`, into the rows of the next sum. */
#define SL_ADD_ROWS(NAME, PTR, INDEX)                                                                                       \
    SL_ALWAYS void NAME##_part(const INDEX *SL_RESTRICT index, const double *SL_RESTRICT values, ptrdiff_t first,      \
                               ptrdiff_t last, ptrdiff_t end, const double *SL_RESTRICT rows, ptrdiff_t stride,        \
                               ptrdiff_t n, double *SL_RESTRICT out)                                                   \
    {                                                                                                                  \
        SL_SUM_COLUMNS                                                                                                 \
        if (n == 3)                                                                                                    \
            SL_SUM_BLOCKS(double, 3, 1, 2)                                                                             \
        else if (n == 2)                                                                                               \
            SL_SUM_BLOCKS(double, 2, 1, 1)                                                                             \
        else if (n == 1)                                                                                               \
            SL_SUM_BLOCKS(double, 1, 1, 0)                                                                             \
    }                                                                                                                  \
    /* Sum s goes over k in [ptr[s], ptr[s + 1]) to row to[s] of `out` (row s if NULL). */                             \
    SL_WIDE static void NAME(const PTR *SL_RESTRICT ptr, ptrdiff_t n_sums, const INDEX *SL_RESTRICT index,           \
                             const double *SL_RESTRICT values, ptrdiff_t end, const double *SL_RESTRICT rows,          \
                             ptrdiff_t n_columns, const int64_t *SL_RESTRICT to, double *SL_RESTRICT out)              \
    {                                                                                                                  \
        for (ptrdiff_t s = 0; s < n_sums; s++) {                                                                       \
            double *row = out + (to == NULL ? s : (ptrdiff_t)to[s]) * n_columns;                                       \
            for (ptrdiff_t c = 0; c < n_columns; c += 32)                                                              \
                NAME##_part(index, values, ptr[s], ptr[s + 1], end, rows + c, n_columns,                               \
                            n_columns - c < 32 ? n_columns - c : 32, row + c);                                         \
        }                                                                                                              \
    }

/* out[column[j]] += values[k] weight[j] for k in [first, last) and the weights j of feature index[k]. The pointers of a
 * feature are fetched first, its weights and columns when the pointers have come. */
#define SL_ADD_PATTERN_ROWS(NAME, INDEX)                                                                               \
    static void NAME(const INDEX *SL_RESTRICT index, const double *SL_RESTRICT values, ptrdiff_t first,               \
                     ptrdiff_t last, ptrdiff_t end, const int64_t *SL_RESTRICT ptr, const int32_t *SL_RESTRICT column, \
                     const double *SL_RESTRICT weight, double *SL_RESTRICT out)                                        \
    {                                                                                                                  \
        for (ptrdiff_t k = first; k < last; k++) {                                                                     \
            const double x = values == NULL ? 1.0 : values[k];                                                         \
            const int64_t stop = ptr[index[k] + 1];                                                                    \
            if (k + 2 * SL_AHEAD < end) {                                                                              \
                const int64_t later = ptr[index[k + SL_AHEAD]];                                                        \
                SL_FETCH(ptr + index[k + 2 * SL_AHEAD]);                                                               \
                SL_FETCH(weight + later);                                                                              \
                SL_FETCH(column + later);                                                                              \
            }                                                                                                          \
            for (int64_t j = ptr[index[k]]; j < stop; j++)                                                             \
                out[column[j]] += x * weight[j];                                                                       \
        }                                                                                                              \
    }

/* out[j] += values[k] rows[index[k], column[j]] for k in [first, last) and the weights j of one feature. */
static void sl_add_pattern_columns(const int32_t *SL_RESTRICT index, const double *SL_RESTRICT values, ptrdiff_t first,
                                   ptrdiff_t last, ptrdiff_t end, const double *SL_RESTRICT rows, ptrdiff_t n_columns,
                                   const int32_t *SL_RESTRICT column, ptrdiff_t n_weights, double *SL_RESTRICT out)
{
    for (ptrdiff_t k = first; k < last; k++) {
        const double *row = rows + (ptrdiff_t)index[k] * n_columns;
        const double x = values == NULL ? 1.0 : values[k];
        if (k + SL_AHEAD < end) {
            const double *later = rows + (ptrdiff_t)index[k + SL_AHEAD] * n_columns;
            for (ptrdiff_t c = 0; c < n_columns && c < 64; c += 8)
                SL_FETCH(later + c);
        }
        for (ptrdiff_t j = 0; j < n_weights; j++)
            out[j] += x * row[column[j]];
    }
}

SL_ADD_ROWS(sl_add_rows_32, int32_t, int32_t)
SL_ADD_ROWS(sl_add_rows_64, int64_t, int64_t)
SL_ADD_ROWS(sl_add_rows_of_features, int64_t, int32_t)
SL_ADD_PATTERN_ROWS(sl_add_pattern_rows_32, int32_t)
SL_ADD_PATTERN_ROWS(sl_add_pattern_rows_64, int64_t)

enum { SL_LONGEST_ROW = 1024, SL_ROW_SHARE = 6 };

/* The same for a list of features: gradient[j] += sum over k in [ptr[i], ptr[i + 1]) of values[k] rows[index[k], column[j]]
 * for the weights j of feature[i]. Where a feature has a weight for many columns the sums of all of them cost less than
 * the sums of its own one by one. */
SL_WIDE static void sl_add_pattern_gradient(const int64_t *SL_RESTRICT feature, const int64_t *SL_RESTRICT ptr,
                                            ptrdiff_t n_features, const int32_t *SL_RESTRICT index,
                                            const double *SL_RESTRICT values, ptrdiff_t end,
                                            const double *SL_RESTRICT rows, ptrdiff_t n_columns,
                                            const int64_t *SL_RESTRICT pattern_ptr,
                                            const int32_t *SL_RESTRICT pattern_column, double *SL_RESTRICT gradient)
{
    double sums[SL_LONGEST_ROW];
    for (ptrdiff_t i = 0; i < n_features; i++) {
        const int64_t low = pattern_ptr[feature[i]];
        const ptrdiff_t n_weights = (ptrdiff_t)(pattern_ptr[feature[i] + 1] - low);
        const int32_t *column = pattern_column + low;
        double *out = gradient + low;
        if (n_weights == 0)
            continue;
        if (SL_ROW_SHARE * n_weights < n_columns || n_columns > SL_LONGEST_ROW) {
            sl_add_pattern_columns(index, values, ptr[i], ptr[i + 1], end, rows, n_columns, column, n_weights, out);
            continue;
        }
        memset(sums, 0, (size_t)n_columns * sizeof *sums);
        for (ptrdiff_t c = 0; c < n_columns; c += 32)
            sl_add_rows_of_features_part(index, values, ptr[i], ptr[i + 1], end, rows + c, n_columns,
                                         n_columns - c < 32 ? n_columns - c : 32, sums + c);
        for (ptrdiff_t j = 0; j < n_weights; j++)
            out[j] += sums[column[j]];
    }
}

#endif
