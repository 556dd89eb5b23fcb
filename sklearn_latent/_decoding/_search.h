/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers and innermost loops of the search over label prefixes. The loops are compiled once for each width of
 * registers (see `_vector.h`); states of a label are neighbours, and rows of `stride` numbers are padded with zeros to
 * whole blocks where the search owns them.
 */
#ifndef SKLEARN_LATENT_SEARCH_H
#define SKLEARN_LATENT_SEARCH_H

#include "_vector.h"

enum { SL_BLOCK = 8 };

#define SL_FLOOR 1e-300 /* smallest value of something positive */
#define SL_TINY 1e-270  /* prefixes below are given up; SL_FLOOR is no more than rounding beside it */
#define SL_HUGE 1e290   /* vectors beyond it void the certificate */

/* out(h, g) = arc(g, h) for an n x n matrix, tile by tile. */
static void sl_turn(const double *SL_RESTRICT arc, ptrdiff_t arc_stride, double *SL_RESTRICT out,
                    ptrdiff_t stride, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i += SL_BLOCK)
        for (ptrdiff_t j = 0; j < n; j += SL_BLOCK)
            for (ptrdiff_t h = j; h < j + SL_BLOCK && h < n; h++)
                for (ptrdiff_t g = i; g < i + SL_BLOCK && g < n; g++)
                    out[h * stride + g] = arc[g * arc_stride + h];
}

/* rest(g) = max over labels of the sum over its states h of turned(h, g) reach(h), for `stride` columns g: sums of a
 * block of columns stay in registers over all labels. */
SL_WIDE static void sl_rest(const double *SL_RESTRICT turned, ptrdiff_t stride,
                                   const int32_t *SL_RESTRICT label_ptr, ptrdiff_t n_labels,
                                   const double *SL_RESTRICT reach, double *SL_RESTRICT rest)
{
    for (ptrdiff_t g = 0; g < stride; g += SL_BLOCK) {
        double best[SL_BLOCK];
        for (int l = 0; l < SL_BLOCK; l++)
            best[l] = 0.0;
        for (ptrdiff_t label = 0; label < n_labels; label++) {
            double total[SL_BLOCK];
            for (int l = 0; l < SL_BLOCK; l++)
                total[l] = 0.0;
            for (ptrdiff_t h = label_ptr[label]; h < label_ptr[label + 1]; h++) {
                const double *row = turned + h * stride + g;
                const double factor = reach[h];
                for (int l = 0; l < SL_BLOCK; l++)
                    total[l] += factor * row[l];
            }
            for (int l = 0; l < SL_BLOCK; l++)
                best[l] = total[l] > best[l] ? total[l] : best[l];
        }
        for (int l = 0; l < SL_BLOCK; l++)
            rest[g + l] = best[l];
    }
}

/* out(h) = sum over rows k of a(k) rows(k, h), for `n` columns h. */
SL_WIDE static void sl_spread(const double *SL_RESTRICT rows, ptrdiff_t stride,
                                     const double *SL_RESTRICT a, ptrdiff_t n_rows, ptrdiff_t n,
                                     double *SL_RESTRICT out)
{
    ptrdiff_t h = 0;
    for (; h + SL_BLOCK <= n; h += SL_BLOCK) {
        double total[SL_BLOCK];
        for (int l = 0; l < SL_BLOCK; l++)
            total[l] = 0.0;
        for (ptrdiff_t k = 0; k < n_rows; k++)
            for (int l = 0; l < SL_BLOCK; l++)
                total[l] += a[k] * rows[k * stride + h + l];
        for (int l = 0; l < SL_BLOCK; l++)
            out[h + l] = total[l];
    }
    for (; h < n; h++) {
        double total = 0.0;
        for (ptrdiff_t k = 0; k < n_rows; k++)
            total += a[k] * rows[k * stride + h];
        out[h] = total;
    }
}

/* out(h) = node(h) rest(h); the largest, and the smallest in `low`. */
SL_WIDE static double sl_product(const double *SL_RESTRICT node, const double *SL_RESTRICT rest,
                                        double *SL_RESTRICT out, ptrdiff_t n, double *SL_RESTRICT low)
{
    double top = 0.0, least = SL_HUGE;
#pragma omp simd reduction(max : top) reduction(min : least)
    for (ptrdiff_t h = 0; h < n; h++) {
        const double x = node[h] * rest[h];
        out[h] = x;
        top = x > top ? x : top;
        least = x < least ? x : least;
    }
    *low = least;
    return top;
}

/* Multiply a row by a power of two; what is positive stays at SL_FLOOR or above. */
SL_WIDE static void sl_scale(double *SL_RESTRICT row, double factor, ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t h = 0; h < n; h++) {
        const double least = row[h] > 0.0 ? SL_FLOOR : 0.0;
        const double x = row[h] * factor;
        row[h] = x > least ? x : least;
    }
}

SL_WIDE static double sl_largest(const double *SL_RESTRICT row, ptrdiff_t n)
{
    double top = 0.0;
#pragma omp simd reduction(max : top)
    for (ptrdiff_t h = 0; h < n; h++)
        top = row[h] > top ? row[h] : top;
    return top;
}

#endif
