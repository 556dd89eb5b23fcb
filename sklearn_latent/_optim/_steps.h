/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps on weights that lie anywhere in vectors larger than the caches: each is asked for some steps before it is
 * needed, and where there is much to reckon a few dozen are brought together first, so that the arithmetic runs wide.
 */
#ifndef SKLEARN_LATENT_STEPS_H
#define SKLEARN_LATENT_STEPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "_vector.h"

#if defined(__GNUC__)
#define sl_fetch(address) __builtin_prefetch((address), 1, 3)
#else
#define sl_fetch(address) ((void)0)
#endif

enum { SL_TOGETHER = 64 };

/* For a block of weights: squares += (n_samples grad)^2, x takes the step, rest makes up for what x changes; last holds
 * on entry the sample after which the prior was last applied. */
SL_WIDE static void sl_scaled_block(double *SL_RESTRICT x, double *SL_RESTRICT rest, double *SL_RESTRICT squares,
                                    const double *SL_RESTRICT last, const double *SL_RESTRICT grad, double rate,
                                    double shrink, double ahead, double now, double n_samples, ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        const double g = n_samples * grad[k];
        const double sum = squares[k] + g * g;
        const double length = rate / sqrt(1.0 + sum);
        const double moved = (x[k] - length * g) / (1.0 + length * shrink * (now - last[k]));
        squares[k] = sum;
        rest[k] += ahead * (x[k] - moved);
        x[k] = moved;
    }
}

/* The block is gathered, stepped, and scattered back. */
static void sl_scaled_step(double *SL_RESTRICT x, double *SL_RESTRICT rest, double *SL_RESTRICT squares,
                           double *SL_RESTRICT last, const int64_t *SL_RESTRICT index, const double *SL_RESTRICT grad,
                           double rate, double shrink, double ahead, double now, double n_samples, ptrdiff_t n)
{
    double own_x[SL_TOGETHER], own_rest[SL_TOGETHER], own_squares[SL_TOGETHER], own_last[SL_TOGETHER];
    for (ptrdiff_t first = 0; first < n; first += SL_TOGETHER) {
        const ptrdiff_t count = n - first < SL_TOGETHER ? n - first : SL_TOGETHER;
        const int64_t *own = index + first;
        for (ptrdiff_t k = 0; k < count; k++) {
            const int64_t i = own[k];
            if (first + k + SL_TOGETHER < n) {
                const int64_t later = own[k + SL_TOGETHER];
                sl_fetch(x + later);
                sl_fetch(rest + later);
                sl_fetch(squares + later);
                sl_fetch(last + later);
            }
            own_x[k] = x[i];
            own_rest[k] = rest[i];
            own_squares[k] = squares[i];
            own_last[k] = last[i];
        }
        sl_scaled_block(own_x, own_rest, own_squares, own_last, grad + first, rate, shrink, ahead, now, n_samples, count);
        for (ptrdiff_t k = 0; k < count; k++) {
            const int64_t i = own[k];
            x[i] = own_x[k];
            rest[i] = own_rest[k];
            squares[i] = own_squares[k];
            last[i] = now;
        }
    }
}

/* The prior's share of such a step for all weights, up to now. */
SL_WIDE static void sl_scaled_prior(double *SL_RESTRICT x, double *SL_RESTRICT rest, const double *SL_RESTRICT squares,
                                    double *SL_RESTRICT last, double rate, double shrink, double ahead, double now,
                                    ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double moved = x[i] / (1.0 + rate / sqrt(1.0 + squares[i]) * shrink * (now - last[i]));
        last[i] = now;
        rest[i] += ahead * (x[i] - moved);
        x[i] = moved;
    }
}

/* One step of Adam on all weights; the prior's derivative is shrink x, `correction` what the second moment is divided
 * by. */
SL_WIDE static void sl_adam_step(double *SL_RESTRICT x, double *SL_RESTRICT first, double *SL_RESTRICT second,
                                 const double *SL_RESTRICT grad, double shrink, double rate, double correction,
                                 ptrdiff_t n)
{
    const double inverse = 1.0 / correction;
    for (ptrdiff_t k = 0; k < n; k++) {
        const double whole = shrink * x[k] + grad[k];
        first[k] += 0.1 * (whole - first[k]);
        second[k] += 0.001 * (whole * whole - second[k]);
        x[k] -= rate * first[k] / (sqrt(second[k] * inverse) + 1e-8);
    }
}

#endif
