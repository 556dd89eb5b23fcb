/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Elementary functions of the layers of sum-product networks, in both precisions, and the layers themselves. They are
 * plain arithmetic on purpose: a call of the system's exp or log would keep the loops around it from running wide.
 */
#ifndef SKLEARN_LATENT_SPN_H
#define SKLEARN_LATENT_SPN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_vector.h"

/* Parents taken at a time. */
#define SL_SPN_BLOCK 256
/* Bytes of a row in a tile of columns: those of a hundred rows fit into the first cache, one row into registers. */
#define SL_SPN_TILE 256

/* log(x) for normal x > 0, within 2 ulp or 1e-16: x = 2^k m, 1/sqrt(2) <= m < sqrt(2), log m = 2 artanh((m - 1) / (m + 1))
 * by its series to the 21st power (the next term is below 4e-18). NaN gives NaN. */
static inline double sl_spn_log(double x)
{
    uint64_t bits, shifted;
    double m, k, f, g, p;
    memcpy(&bits, &x, sizeof bits);
    shifted = bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    memcpy(&m, &bits, sizeof m);
    /* The exponent as a double, by the bits of 2^52 + exponent. */
    bits = (shifted >> 52) | 0x4330000000000000u;
    memcpy(&k, &bits, sizeof k);
    k -= 4503599627370496.0 + 1023.0;
    f = (m - 1.0) / (m + 1.0);
    g = f * f;
    p = 1.0 / 21.0;
    p = p * g + 1.0 / 19.0;
    p = p * g + 1.0 / 17.0;
    p = p * g + 1.0 / 15.0;
    p = p * g + 1.0 / 13.0;
    p = p * g + 1.0 / 11.0;
    p = p * g + 1.0 / 9.0;
    p = p * g + 1.0 / 7.0;
    p = p * g + 1.0 / 5.0;
    p = p * g + 1.0 / 3.0;
    p = p * g + 1.0;
    p = k * 0.69314718055994530942 + 2.0 * f * p;
    return x == x ? p : x;
}

/* The same in single precision: to the 9th power (the next term is below 1e-9). */
static inline float sl_spn_logf(float x)
{
    uint32_t bits, shifted;
    float m, k, f, g, p;
    memcpy(&bits, &x, sizeof bits);
    shifted = bits + (0x3f800000u - 0x3f3504f3u);
    bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
    memcpy(&m, &bits, sizeof m);
    k = (float)((int32_t)(shifted >> 23) - 127);
    f = (m - 1.0f) / (m + 1.0f);
    g = f * f;
    p = 1.0f / 9.0f;
    p = p * g + 1.0f / 7.0f;
    p = p * g + 1.0f / 5.0f;
    p = p * g + 1.0f / 3.0f;
    p = p * g + 1.0f;
    p = k * 0.693147181f + 2.0f * f * p;
    return x == x ? p : x;
}

/* exp(x) for x <= 0, a share of a sum whose largest term is one: 0 for x < -87. Series to degree 7. NaN gives NaN. */
static inline float sl_spn_expf(float x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23 */
    float inside = x < -87.0f ? -87.0f : x;
    float shifted = inside * 1.44269504f + magic;
    float k = shifted - magic;
    float r = (inside - k * 6.93145752e-01f) - k * 1.42860677e-06f;
    float p = 1.98412698e-04f, scale;
    uint32_t bits;
    p = p * r + 1.38888889e-03f;
    p = p * r + 8.33333333e-03f;
    p = p * r + 4.16666667e-02f;
    p = p * r + 1.66666667e-01f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23;
    memcpy(&scale, &bits, sizeof scale);
    p *= scale;
    return x < -87.0f ? 0.0f : p;
}

#define SL_REAL double
#define SL_NAME(name) sl_##name##_64
#define SL_EXP sl_exp_nonpositive
#define SL_LOG sl_spn_log
#define SL_PRODUCT_LIMIT 1000.0
#include "_spn_layers.h"
#include "_spn_sums.h"
#undef SL_REAL
#undef SL_NAME
#undef SL_EXP
#undef SL_LOG
#undef SL_PRODUCT_LIMIT

#define SL_REAL float
#define SL_NAME(name) sl_##name##_32
#define SL_EXP sl_spn_expf
#define SL_LOG sl_spn_logf
#define SL_PRODUCT_LIMIT 120.0
#include "_spn_layers.h"
#include "_spn_sums.h"
#undef SL_REAL
#undef SL_NAME
#undef SL_EXP
#undef SL_LOG
#undef SL_PRODUCT_LIMIT

#endif
