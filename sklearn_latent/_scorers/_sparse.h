/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of weighted rows, the inner loops of the sparse products. The rows lie anywhere in a matrix larger than the
 * caches, so each is asked for some steps before it is needed; the sum is then limited by the number of fetches under
 * way rather than by the time of one.
 */
#ifndef SKLEARN_LATENT_SPARSE_H
#define SKLEARN_LATENT_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "_vector.h"

#if defined(__GNUC__)
#define SL_FETCH(address) __builtin_prefetch((address), 0, 3)
#else
#define SL_FETCH(address) ((void)0)
#endif

enum { SL_AHEAD = 24 };

/* out[c] += sum over k in [first, last) of values[k] rows[index[k], c]; values may be NULL (ones). Fetches go on past
 * `last` up to `end`, into the rows of the next sum. */
#define SL_ADD_ROWS(NAME, INDEX)                                                                                       \
    SL_WIDE static void NAME(const INDEX *SL_RESTRICT index, const double *SL_RESTRICT values, ptrdiff_t first,       \
                             ptrdiff_t last, ptrdiff_t end, const double *SL_RESTRICT rows, ptrdiff_t n_columns,      \
                             double *SL_RESTRICT out)                                                                  \
    {                                                                                                                  \
        for (ptrdiff_t k = first; k < last; k++) {                                                                     \
            const double *row = rows + (ptrdiff_t)index[k] * n_columns;                                                \
            if (k + SL_AHEAD < end) {                                                                                  \
                const double *later = rows + (ptrdiff_t)index[k + SL_AHEAD] * n_columns;                               \
                for (ptrdiff_t c = 0; c < n_columns; c += 8)                                                           \
                    SL_FETCH(later + c);                                                                               \
                SL_FETCH(later + n_columns - 1);                                                                       \
            }                                                                                                          \
            if (values == NULL) {                                                                                      \
                for (ptrdiff_t c = 0; c < n_columns; c++)                                                              \
                    out[c] += row[c];                                                                                  \
            } else {                                                                                                   \
                const double x = values[k];                                                                            \
                for (ptrdiff_t c = 0; c < n_columns; c++)                                                              \
                    out[c] += x * row[c];                                                                              \
            }                                                                                                          \
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

SL_ADD_ROWS(sl_add_rows_32, int32_t)
SL_ADD_ROWS(sl_add_rows_64, int64_t)
SL_ADD_PATTERN_ROWS(sl_add_pattern_rows_32, int32_t)
SL_ADD_PATTERN_ROWS(sl_add_pattern_rows_64, int64_t)

#endif
