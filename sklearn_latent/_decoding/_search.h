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
#define SL_LEAST_JOINED 1e-150 /* smallest threshold of a search from both ends, and the largest of its bounds: */
#define SL_MOST_FRONT 1e120
#define SL_SPARE 1.4     /* sequences that its threshold is to leave, times those wanted */
#define SL_DETOUR 0.5   /* the way down goes on while its bound is not below this of the best one passed by */

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

#if SL_BLOCKS

/* One instruction each where there are registers of eight numbers; without the pragma the compiler takes the loops
 * apart before it sees that. */
static inline __attribute__((always_inline)) sl_block8 sl_larger(sl_block8 a, sl_block8 b)
{
    sl_block8 out;
#pragma omp simd
    for (int l = 0; l < SL_BLOCK; l++)
        out[l] = a[l] > b[l] ? a[l] : b[l];
    return out;
}

static inline __attribute__((always_inline)) sl_block8 sl_smaller(sl_block8 a, sl_block8 b)
{
    sl_block8 out;
#pragma omp simd
    for (int l = 0; l < SL_BLOCK; l++)
        out[l] = a[l] < b[l] ? a[l] : b[l];
    return out;
}

/* sl_rest for one to three blocks of columns at a time; `tops` gathers the largest. */
static inline __attribute__((always_inline)) sl_block8 sl_rest_columns(const double *SL_RESTRICT turned,
                                                                       ptrdiff_t stride,
                                                                       const int32_t *SL_RESTRICT label_ptr,
                                                                       ptrdiff_t n_labels,
                                                                       const double *SL_RESTRICT reach,
                                                                       double *SL_RESTRICT rest, sl_block8 tops,
                                                                       const int n_blocks)
{
    const sl_block8 nothing = {0.0};
    sl_block8 best0 = nothing, best1 = nothing, best2 = nothing;
    for (ptrdiff_t label = 0; label < n_labels; label++) {
        sl_block8 total0 = nothing, total1 = nothing, total2 = nothing;
        for (ptrdiff_t left = label_ptr[label + 1] - label_ptr[label]; left > 0; left--) {
            const double factor = *reach++;
            total0 += factor * SL_AT(sl_block8, turned);
            if (n_blocks > 1)
                total1 += factor * SL_AT(sl_block8, turned + SL_BLOCK);
            if (n_blocks > 2)
                total2 += factor * SL_AT(sl_block8, turned + 2 * SL_BLOCK);
            turned += stride;
        }
        best0 = sl_larger(total0, best0);
        if (n_blocks > 1)
            best1 = sl_larger(total1, best1);
        if (n_blocks > 2)
            best2 = sl_larger(total2, best2);
    }
    *(sl_block8 *)rest = best0;
    tops = sl_larger(best0, tops);
    if (n_blocks > 1) {
        *(sl_block8 *)(rest + SL_BLOCK) = best1;
        tops = sl_larger(best1, tops);
    }
    if (n_blocks > 2) {
        *(sl_block8 *)(rest + 2 * SL_BLOCK) = best2;
        tops = sl_larger(best2, tops);
    }
    return tops;
}

#endif

/* rest(g) = max over labels of the sum over its states h of turned(h, g) reach(h), for `stride` columns g; the largest
 * of them. Sums of a few blocks of columns stay in registers over all labels. */
SL_WIDE static double sl_rest(const double *SL_RESTRICT turned, ptrdiff_t stride, const int32_t *SL_RESTRICT label_ptr,
                              ptrdiff_t n_labels, const double *SL_RESTRICT reach, double *SL_RESTRICT rest)
{
    double top = 0.0;
    ptrdiff_t g = 0;
#if SL_BLOCKS
    sl_block8 tops = {0.0};
    for (; g + 3 * SL_BLOCK <= stride; g += 3 * SL_BLOCK)
        tops = sl_rest_columns(turned + g, stride, label_ptr, n_labels, reach, rest + g, tops, 3);
    if (g + 2 * SL_BLOCK <= stride)
        tops = sl_rest_columns(turned + g, stride, label_ptr, n_labels, reach, rest + g, tops, 2);
    else if (g < stride)
        tops = sl_rest_columns(turned + g, stride, label_ptr, n_labels, reach, rest + g, tops, 1);
    for (int l = 0; l < SL_BLOCK; l++)
        top = tops[l] > top ? tops[l] : top;
#else
    for (; g < stride; g++) {
        double best = 0.0;
        for (ptrdiff_t label = 0; label < n_labels; label++) {
            double total = 0.0;
            for (ptrdiff_t h = label_ptr[label]; h < label_ptr[label + 1]; h++)
                total += reach[h] * turned[h * stride + g];
            best = total > best ? total : best;
        }
        rest[g] = best;
        top = best > top ? best : top;
    }
#endif
    return top;
}

/* out(h) = sum over rows k of a(k) rows(k, h), for `n` columns h. */
SL_WIDE static void sl_spread(const double *SL_RESTRICT rows, ptrdiff_t stride, const double *SL_RESTRICT a,
                              ptrdiff_t n_rows, ptrdiff_t n, double *SL_RESTRICT out)
{
    ptrdiff_t h = 0;
#if SL_BLOCKS
    for (; h + SL_BLOCK <= n; h += SL_BLOCK) {
        sl_block8 total = a[0] * SL_AT(sl_block8, rows + h);
        for (ptrdiff_t k = 1; k < n_rows; k++)
            total += a[k] * SL_AT(sl_block8, rows + k * stride + h);
        *(sl_block8 *)(out + h) = total;
    }
    for (; h + SL_BLOCK / 2 <= n; h += SL_BLOCK / 2) {
        sl_block4 total = a[0] * SL_AT(sl_block4, rows + h);
        for (ptrdiff_t k = 1; k < n_rows; k++)
            total += a[k] * SL_AT(sl_block4, rows + k * stride + h);
        *(sl_block4 *)(out + h) = total;
    }
#endif
    for (; h < n; h++) {
        double total = 0.0;
        for (ptrdiff_t k = 0; k < n_rows; k++)
            total += a[k] * rows[k * stride + h];
        out[h] = total;
    }
}

/* out(g) = sum over columns h of rows(g, h) v(h), for `n_rows` rows of `n` columns. */
SL_WIDE static void sl_gather(const double *SL_RESTRICT rows, ptrdiff_t stride, const double *SL_RESTRICT v,
                              ptrdiff_t n_rows, ptrdiff_t n, double *SL_RESTRICT out)
{
    for (ptrdiff_t g = 0; g < n_rows; g++) {
        const double *row = rows + g * stride;
        double total = 0.0;
        for (ptrdiff_t h = 0; h < n; h++)
            total += row[h] * v[h];
        out[g] = total;
    }
}

/* Positive numbers by quarters of octaves, in their order (zero: 0), and the smallest number of a quarter. */
static inline int64_t sl_quarter_octave(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x > 0.0 ? bits >> 50 : 0;
}

static inline double sl_of_quarter_octave(int64_t key)
{
    double x;
    key <<= 50;
    memcpy(&x, &key, sizeof x);
    return x;
}

/* out(i + shift) += values(i) as far as there is room */
SL_WIDE static void sl_add_shifted(double *SL_RESTRICT out, const double *SL_RESTRICT values, ptrdiff_t shift, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n - shift; i++)
        out[i + shift] += values[i];
}

/* out(h) = node(h) rest(h); the largest, and the smallest in `low`. */
SL_WIDE static double sl_product(const double *SL_RESTRICT node, const double *SL_RESTRICT rest,
                                 double *SL_RESTRICT out, ptrdiff_t n, double *SL_RESTRICT low)
{
    double top = 0.0, least = SL_HUGE;
    ptrdiff_t h = 0;
#if SL_BLOCKS
    if (n >= SL_BLOCK) {
        sl_block8 tops = {0.0}, lows = SL_AT(sl_block8, node) * SL_AT(sl_block8, rest);
        for (; h < n; h += SL_BLOCK) {
            /* The last block begins earlier rather than being shorter. */
            const ptrdiff_t first = h + SL_BLOCK <= n ? h : n - SL_BLOCK;
            const sl_block8 x = SL_AT(sl_block8, node + first) * SL_AT(sl_block8, rest + first);
            *(sl_block8 *)(out + first) = x;
            tops = sl_larger(x, tops);
            lows = sl_smaller(x, lows);
        }
        for (int l = 0; l < SL_BLOCK; l++) {
            top = tops[l] > top ? tops[l] : top;
            least = lows[l] < least ? lows[l] : least;
        }
    }
#endif
    for (; h < n; h++) {
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
