/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Passes over stretches of weight-length vectors for L-BFGS. A stretch fits in the cache, so that what one line writes the
 * next reads from there. History is float or double; sums are always double.
 */
#ifndef SKLEARN_LATENT_VECTORS_H
#define SKLEARN_LATENT_VECTORS_H

#include "_vector.h"

/* The new pair of a stretch: s = step * d, y = g - before, both rounded to the type of the history; `own` gets y.y. */
#define SL_NEW_PAIR(NAME, TYPE)                                                                                        \
    SL_WIDE static double NAME(double step, const double *SL_RESTRICT d, const double *SL_RESTRICT g,                  \
                               const double *SL_RESTRICT before, TYPE *SL_RESTRICT s, TYPE *SL_RESTRICT y,             \
                               ptrdiff_t n)                                                                            \
    {                                                                                                                  \
        double own = 0.0;                                                                                              \
        _Pragma("omp simd reduction(+ : own)") for (ptrdiff_t i = 0; i < n; i++)                                       \
        {                                                                                                              \
            const TYPE change = (TYPE)(g[i] - before[i]);                                                              \
            s[i] = (TYPE)(step * d[i]);                                                                                \
            y[i] = change;                                                                                             \
            own += (double)change * (double)change;                                                                    \
        }                                                                                                              \
        return own;                                                                                                    \
    }

/* Adds s.new, y.new, s.g, y.g to `out`. */
#define SL_FOUR_DOTS(NAME, TYPE)                                                                                       \
    SL_WIDE static void NAME(const TYPE *SL_RESTRICT s, const TYPE *SL_RESTRICT y, const TYPE *SL_RESTRICT change,     \
                             const double *SL_RESTRICT g, double *SL_RESTRICT out, ptrdiff_t n)                        \
    {                                                                                                                  \
        double sums0 = 0.0, sums1 = 0.0, sums2 = 0.0, sums3 = 0.0;                                                     \
        _Pragma("omp simd reduction(+ : sums0, sums1, sums2, sums3)") for (ptrdiff_t i = 0; i < n; i++)                \
        {                                                                                                              \
            const double si = (double)s[i], yi = (double)y[i], ci = (double)change[i];                                 \
            sums0 += si * ci;                                                                                          \
            sums1 += yi * ci;                                                                                          \
            sums2 += si * g[i];                                                                                        \
            sums3 += yi * g[i];                                                                                        \
        }                                                                                                              \
        out[0] += sums0;                                                                                               \
        out[1] += sums1;                                                                                               \
        out[2] += sums2;                                                                                               \
        out[3] += sums3;                                                                                               \
    }

/* out += a s + b y */
#define SL_ADD_PAIR(NAME, TYPE)                                                                                        \
    SL_WIDE static void NAME(double a, const TYPE *SL_RESTRICT s, double b, const TYPE *SL_RESTRICT y,                 \
                             double *SL_RESTRICT out, ptrdiff_t n)                                                     \
    {                                                                                                                  \
        for (ptrdiff_t i = 0; i < n; i++)                                                                              \
            out[i] += a * (double)s[i] + b * (double)y[i];                                                             \
    }

SL_NEW_PAIR(sl_new_pair_32, float)
SL_NEW_PAIR(sl_new_pair_64, double)
SL_FOUR_DOTS(sl_four_dots_32, float)
SL_FOUR_DOTS(sl_four_dots_64, double)
SL_ADD_PAIR(sl_add_pair_32, float)
SL_ADD_PAIR(sl_add_pair_64, double)

/* out = a v */
SL_WIDE static void sl_scale(double a, const double *SL_RESTRICT v, double *SL_RESTRICT out, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = a * v[i];
}

/* to = x + step d; adds g.d and d.d to `out`. */
SL_WIDE static void sl_try_step(const double *SL_RESTRICT x, double step, const double *SL_RESTRICT d,
                                const double *SL_RESTRICT g, double *SL_RESTRICT to, double *SL_RESTRICT out, ptrdiff_t n)
{
    double slope = 0.0, length = 0.0;
#pragma omp simd reduction(+ : slope, length)
    for (ptrdiff_t i = 0; i < n; i++) {
        to[i] = x[i] + step * d[i];
        slope += g[i] * d[i];
        length += d[i] * d[i];
    }
    out[0] += slope;
    out[1] += length;
}

/* Adds g.d to `out`, and raises out[1] to the largest |g|; NaN anywhere makes the sum NaN. */
SL_WIDE static void sl_slope(const double *SL_RESTRICT g, const double *SL_RESTRICT d, double *SL_RESTRICT out, ptrdiff_t n)
{
    double slope = 0.0, top = out[1];
#pragma omp simd reduction(+ : slope) reduction(max : top)
    for (ptrdiff_t i = 0; i < n; i++) {
        const double size = g[i] < 0.0 ? -g[i] : g[i];
        slope += g[i] * d[i];
        top = size > top ? size : top;
    }
    out[0] += slope;
    out[1] = top;
}

#endif
