/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forward-backward of eight sequences at a time, one a lane. A step of eight recursions is the recursion of one with blocks
 * of eight numbers in place of numbers: there is no remainder whatever the number of states, no sum across a
 * block, and one division where there would be eight. Sequences of a group are of about the same length; where
 * one has ended its lane goes on with factors of one that nothing reads.
 *
 * Layout: value [t, state, lane] of a group at ((t * n_states) + state) * 8 + lane.
 */
#ifndef SKLEARN_LATENT_LANES_H
#define SKLEARN_LATENT_LANES_H

#include "_vector.h"

enum { SL_LANES = 8 };

/* Whether the compiler knows blocks of numbers: without them the walk is empty. */
static int sl_lanes_work(void)
{
    return SL_BLOCKS;
}

/* Whether eight lanes are one register here; where they are two or more the walk of one sequence is as fast. */
static int sl_lanes_pay(void)
{
#if defined(__AVX512F__)
    return SL_BLOCKS;
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd");
#else
    return 0;
#endif
}

#if SL_BLOCKS

typedef int64_t sl_mask8 __attribute__((vector_size(64), aligned(8), may_alias));

#define SL_INLINE static inline __attribute__((always_inline))

/* Choices lane by lane are written as loops: the compiler makes one instruction of each where it has registers of eight
 * numbers, and pieces where it has not (it would take comparisons of whole blocks apart number by number). */
#define SL_LANE_BY_LANE(VALUE)                                                                                         \
    {                                                                                                                  \
        sl_block8 out;                                                                                                 \
        for (int l = 0; l < SL_LANES; l++)                                                                             \
            out[l] = (VALUE);                                                                                          \
        return out;                                                                                                    \
    }

SL_INLINE sl_block8 sl_all(double value)
{
    const sl_block8 out = {value, value, value, value, value, value, value, value};
    return out;
}

SL_INLINE sl_block8 sl_lower(sl_block8 a, sl_block8 b)
{
    SL_LANE_BY_LANE(a[l] < b[l] ? a[l] : b[l])
}

SL_INLINE sl_block8 sl_higher(sl_block8 a, sl_block8 b)
{
    SL_LANE_BY_LANE(a[l] > b[l] ? a[l] : b[l])
}

/* The smaller of `least` and the positive entries of `value`. */
SL_INLINE sl_block8 sl_lower_positive(sl_block8 value, sl_block8 least)
{
    sl_block8 positive;
    for (int l = 0; l < SL_LANES; l++)
        positive[l] = value[l] > 0.0 ? value[l] : INFINITY;
    return sl_lower(positive, least);
}

/* The smaller of `least` and the finite entries of `value`. */
SL_INLINE sl_block8 sl_lower_finite(sl_block8 value, sl_block8 least)
{
    sl_block8 finite;
    for (int l = 0; l < SL_LANES; l++)
        finite[l] = value[l] > -INFINITY ? value[l] : INFINITY;
    return sl_lower(finite, least);
}

/* `other` where `value` is `of`, else `value` */
SL_INLINE sl_block8 sl_replace(sl_block8 value, double of, double other)
{
    SL_LANE_BY_LANE(value[l] == of ? other : value[l])
}

/* `value` where `by` is not zero, else zero */
SL_INLINE sl_block8 sl_where_not_zero(sl_block8 by, sl_block8 value)
{
    SL_LANE_BY_LANE(by[l] == 0.0 ? 0.0 : value[l])
}

/* `yes` where the lane's sequence is longer than t, else `no` */
SL_INLINE sl_block8 sl_if_longer(sl_mask8 length, ptrdiff_t t, sl_block8 yes, sl_block8 no)
{
    SL_LANE_BY_LANE(length[l] > t ? yes[l] : no[l])
}

/* exp of a block; see sl_exp_nonpositive */
SL_INLINE sl_block8 sl_exp_lanes(sl_block8 x)
{
    const sl_block8 magic = sl_all(6755399441055744.0), inside = sl_higher(x, sl_all(-708.0));
    const sl_block8 shifted = inside * 1.4426950408889634074 + magic;
    const sl_block8 k = shifted - magic;
    const sl_block8 r = (inside - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    sl_block8 p = sl_all(SL_EXP_START);
    SL_EXP_SERIES(p, r);
    p *= (sl_block8)(((sl_mask8)shifted + 1023) << 52);
    /* sl_higher gave NaN its second argument: x itself brings it back. */
    SL_LANE_BY_LANE(x[l] < -708.0 ? 0.0 : x[l] == x[l] ? p[l] : x[l])
}

/* One step of scores, row by row in `rows` (n each), as factors of at most one: factor = exp(score - shift), shift = the
 * largest score, low = the smallest positive factor (see sl_row_factors for infinities and NaN). */
SL_WIDE static void sl_lanes_factors(const double *const *rows, double *SL_RESTRICT factor, double *SL_RESTRICT shift,
                                     double *SL_RESTRICT low, ptrdiff_t n)
{
    sl_block8 *out = (sl_block8 *)factor;
    sl_block8 top = sl_all(-INFINITY), bottom = sl_all(INFINITY), unit;
    for (ptrdiff_t h = 0; h < n; h++) {
        const sl_block8 value = {rows[0][h], rows[1][h], rows[2][h], rows[3][h],
                                 rows[4][h], rows[5][h], rows[6][h], rows[7][h]};
        out[h] = value;
    }
    /* In a loop of its own: put together from numbers and looked at in one loop, blocks would be taken apart again. */
    for (ptrdiff_t h = 0; h < n; h++) {
        top = sl_higher(out[h], top);
        bottom = sl_lower_finite(out[h], bottom);
    }
    /* Where all are -inf each factor is exp(-inf) = 0; NaN minus anything is NaN. */
    unit = sl_replace(top, -INFINITY, 0.0);
    for (ptrdiff_t h = 0; h < n; h++)
        out[h] = sl_exp_lanes(out[h] - unit);
    *(sl_block8 *)shift = unit;
    bottom = sl_exp_lanes(sl_lower(bottom, unit) - unit);
    for (int l = 0; l < SL_LANES; l++)
        low[l] = top[l] == INFINITY || top[l] == -INFINITY ? 1.0 : bottom[l];
}

/* out[h] = sum_g a[g] M[g, h] for `COUNT` columns from h */
#define SL_LANES_SUM(COUNT)                                                                                            \
    {                                                                                                                  \
        sl_block8 sum[COUNT];                                                                                          \
        for (int j = 0; j < COUNT; j++)                                                                                \
            sum[j] = a[0] * M[h + j];                                                                                  \
        for (ptrdiff_t g = 1; g < n; g++) {                                                                            \
            const double *row = M + g * n + h;                                                                         \
            const sl_block8 value = a[g];                                                                              \
            for (int j = 0; j < COUNT; j++)                                                                            \
                sum[j] += value * row[j];                                                                              \
        }                                                                                                              \
        for (int j = 0; j < COUNT; j++)                                                                                \
            out[h + j] = sum[j];                                                                                       \
        h += COUNT;                                                                                                    \
    }

SL_INLINE void sl_lanes_product(const sl_block8 *a, const double *M, sl_block8 *out, ptrdiff_t n)
{
    ptrdiff_t h = 0;
    while (n - h >= 6)
        SL_LANES_SUM(6)
    if (n - h >= 4)
        SL_LANES_SUM(4)
    if (n - h >= 2)
        SL_LANES_SUM(2)
    if (n - h >= 1)
        SL_LANES_SUM(1)
}

/* out[h] = sum over the arcs k of ptr[h]:ptr[h + 1] of M[k] a[end[k]]; four sums at a time hide the time that an addition
 * takes. */
SL_INLINE void sl_lanes_listed(const sl_block8 *a, const double *M, const int64_t *ptr, const int32_t *end, sl_block8 *out,
                               ptrdiff_t n)
{
    for (ptrdiff_t h = 0; h < n; h++) {
        ptrdiff_t k = ptr[h];
        const ptrdiff_t last = ptr[h + 1];
        sl_block8 sum0 = sl_all(0.0), sum1 = sum0, sum2 = sum0, sum3 = sum0;
        for (; k + 4 <= last; k += 4) {
            sum0 += a[end[k]] * M[k];
            sum1 += a[end[k + 1]] * M[k + 1];
            sum2 += a[end[k + 2]] * M[k + 2];
            sum3 += a[end[k + 3]] * M[k + 3];
        }
        for (; k < last; k++)
            sum0 += a[end[k]] * M[k];
        out[h] = (sum0 + sum1) + (sum2 + sum3);
    }
}

/* Normalised forward vectors of a group of `n_steps` steps and n states. M is the matrix of arc factors; or, where `ptr` is
 * given, the arcs into state h are those of ptr[h]:ptr[h + 1], from the states `end`.
 * factor, alpha [t, state, lane]; low, alpha_low, scale [t, lane]; length [lane].
 * fault [lane] gets the smallest of the products that must not underflow; possible [lane] is 0 where no path is left. */
SL_WIDE static void sl_lanes_forward(const double *SL_RESTRICT factor, const double *SL_RESTRICT low,
                                     const double *SL_RESTRICT M, const int64_t *SL_RESTRICT ptr,
                                     const int32_t *SL_RESTRICT end, double arc_low, const int64_t *SL_RESTRICT length,
                                     ptrdiff_t n_steps, ptrdiff_t n, double *SL_RESTRICT alpha,
                                     double *SL_RESTRICT alpha_low, double *SL_RESTRICT scale, double *SL_RESTRICT fault,
                                     int64_t *SL_RESTRICT possible)
{
    const sl_mask8 stop = *(const sl_mask8 *)length;
    const sl_block8 one = sl_all(1.0);
    sl_block8 worst = sl_all(INFINITY), least = one, left = one;
    for (ptrdiff_t t = 0; t < n_steps; t++) {
        const sl_block8 *node = (const sl_block8 *)(factor + t * n * SL_LANES);
        const sl_block8 node_low = *(const sl_block8 *)(low + t * SL_LANES);
        sl_block8 *row = (sl_block8 *)(alpha + t * n * SL_LANES);
        sl_block8 total = sl_all(0.0), inverse, fault_here = node_low;
        if (t == 0) {
            for (ptrdiff_t h = 0; h < n; h++) {
                row[h] = node[h];
                total += row[h];
            }
        } else {
            if (ptr)
                sl_lanes_listed(row - n, M, ptr, end, row, n);
            else
                sl_lanes_product(row - n, M, row, n);
            for (ptrdiff_t h = 0; h < n; h++) {
                row[h] *= node[h];
                total += row[h];
            }
            fault_here = sl_lower(least * arc_low * node_low, node_low);
        }
        worst = sl_if_longer(stop, t, sl_lower(fault_here, worst), worst);
        left = sl_lower(sl_if_longer(stop, t, total, one), left);
        /* Where nothing is left the zeros stay zeros, divided by one. A lane that has ended is divided by its sum too, or it
         * would grow beyond all numbers; but its scale is one. */
        total = sl_replace(total, 0.0, 1.0);
        inverse = 1.0 / total;
        total = sl_if_longer(stop, t, total, one);
        least = sl_all(INFINITY);
        for (ptrdiff_t h = 0; h < n; h++) {
            row[h] *= inverse;
            least = sl_lower_positive(row[h], least);
        }
        *(sl_block8 *)(scale + t * SL_LANES) = total;
        *(sl_block8 *)(alpha_low + t * SL_LANES) = least;
    }
    *(sl_block8 *)fault = worst;
    for (int l = 0; l < SL_LANES; l++)
        possible[l] = left[l] != 0.0;
}

/* Masses alpha beta [t, state, lane], and gains factor beta / scale times the lane's weight. `turned` is M transposed; or,
 * where `ptr` is given, the arcs out of state g are those of ptr[g]:ptr[g + 1], to the states `end`. `beta` and `gain` are
 * (n, lanes) of work. fault [lane] goes on as in the forward walk. */
SL_WIDE static void sl_lanes_backward(const double *SL_RESTRICT factor, const double *SL_RESTRICT low,
                                      const double *SL_RESTRICT turned, const int64_t *SL_RESTRICT ptr,
                                      const int32_t *SL_RESTRICT end, double arc_low, const int64_t *SL_RESTRICT length,
                                      ptrdiff_t n_steps, ptrdiff_t n, const double *SL_RESTRICT alpha, const double *SL_RESTRICT alpha_low,
                                      const double *SL_RESTRICT scale, const double *SL_RESTRICT weight,
                                      double *SL_RESTRICT beta, double *SL_RESTRICT gain, double *SL_RESTRICT mass,
                                      double *SL_RESTRICT weighted, double *SL_RESTRICT fault)
{
    const sl_mask8 stop = *(const sl_mask8 *)length;
    const sl_block8 share = *(const sl_block8 *)weight;
    sl_block8 *back = (sl_block8 *)beta, *own = (sl_block8 *)gain;
    sl_block8 worst = *(sl_block8 *)fault;
    for (ptrdiff_t h = 0; h < n; h++)
        back[h] = sl_all(0.0);
    for (ptrdiff_t t = n_steps - 1; t >= 0; t--) {
        const sl_block8 *node = (const sl_block8 *)(factor + t * n * SL_LANES);
        const sl_block8 *row = (const sl_block8 *)(alpha + t * n * SL_LANES);
        const sl_block8 node_low = *(const sl_block8 *)(low + t * SL_LANES);
        const sl_block8 row_low = *(const sl_block8 *)(alpha_low + t * SL_LANES);
        const sl_block8 inverse = 1.0 / *(const sl_block8 *)(scale + t * SL_LANES);
        sl_block8 *masses = (sl_block8 *)(mass + t * n * SL_LANES);
        sl_block8 *out = (sl_block8 *)(weighted + t * n * SL_LANES);
        sl_block8 least = sl_all(INFINITY), ends;
        /* Beyond a lane's last token beta is zero, there it is one. */
        for (int l = 0; l < SL_LANES; l++)
            ends[l] = length[l] == t + 1 ? 1.0 : 0.0;
        for (ptrdiff_t h = 0; h < n; h++) {
            /* A state that no path reaches gets zero: its beta could overflow, and is never wanted. */
            const sl_block8 value = sl_where_not_zero(row[h], back[h] + ends);
            least = sl_lower_positive(value, least);
            masses[h] = row[h] * value;
            own[h] = node[h] * value * inverse;
            out[h] = own[h] * share;
        }
        worst = sl_if_longer(stop, t, sl_lower(least * row_low, worst), worst);
        if (t == 0)
            break;
        worst = sl_if_longer(stop, t, sl_lower(least * arc_low * node_low, worst), worst);
        if (ptr)
            sl_lanes_listed(own, turned, ptr, end, back, n);
        else
            sl_lanes_product(own, turned, back, n);
    }
    *(sl_block8 *)fault = worst;
}

/* out[g, h] += sum over t >= 1 and lanes of alpha[t - 1, g] weighted[t, h], for ROWS rows from g and COLUMNS from h */
#define SL_LANES_OUTER(ROWS, COLUMNS)                                                                                  \
    {                                                                                                                  \
        sl_block8 sum[ROWS][COLUMNS];                                                                                  \
        const sl_block8 *left = (const sl_block8 *)alpha + g;                                                          \
        const sl_block8 *right = (const sl_block8 *)weighted + n + h;                                                  \
        for (int i = 0; i < ROWS; i++)                                                                                 \
            for (int j = 0; j < COLUMNS; j++)                                                                          \
                sum[i][j] = left[i] * right[j];                                                                        \
        for (ptrdiff_t t = 2; t < n_steps; t++) {                                                                      \
            left += n;                                                                                                 \
            right += n;                                                                                                \
            for (int i = 0; i < ROWS; i++)                                                                             \
                for (int j = 0; j < COLUMNS; j++)                                                                      \
                    sum[i][j] += left[i] * right[j];                                                                   \
        }                                                                                                              \
        for (int i = 0; i < ROWS; i++)                                                                                 \
            for (int j = 0; j < COLUMNS; j++)                                                                          \
                out[(g + i) * n + h + j] += sl_lanes_total(sum[i][j]);                                                 \
    }

SL_INLINE double sl_lanes_total(sl_block8 v)
{
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

SL_WIDE static void sl_lanes_outer(const double *SL_RESTRICT alpha, const double *SL_RESTRICT weighted, ptrdiff_t n_steps,
                                   ptrdiff_t n, double *SL_RESTRICT out)
{
    ptrdiff_t g = 0;
    if (n_steps < 2)
        return;
    for (; g + 4 <= n; g += 4) {
        ptrdiff_t h = 0;
        for (; h + 2 <= n; h += 2)
            SL_LANES_OUTER(4, 2)
        if (h < n)
            SL_LANES_OUTER(4, 1)
    }
    for (; g < n; g++) {
        ptrdiff_t h = 0;
        for (; h + 4 <= n; h += 4)
            SL_LANES_OUTER(1, 4)
        for (; h < n; h++)
            SL_LANES_OUTER(1, 1)
    }
}

/* The same for the arcs ptr[g]:ptr[g + 1] from g to the states `end`: COUNT of them from arc k */
#define SL_LANES_OUTER_LISTED(COUNT)                                                                                   \
    {                                                                                                                  \
        sl_block8 sum[COUNT];                                                                                          \
        for (int j = 0; j < COUNT; j++)                                                                                \
            sum[j] = left[0] * right[n + end[k + j]];                                                                  \
        for (ptrdiff_t t = 2; t < n_steps; t++)                                                                        \
            for (int j = 0; j < COUNT; j++)                                                                            \
                sum[j] += left[(t - 1) * n] * right[t * n + end[k + j]];                                               \
        for (int j = 0; j < COUNT; j++)                                                                                \
            out[k + j] += sl_lanes_total(sum[j]);                                                                      \
        k += COUNT;                                                                                                    \
    }

SL_WIDE static void sl_lanes_outer_listed(const double *SL_RESTRICT alpha, const double *SL_RESTRICT weighted,
                                          const int64_t *SL_RESTRICT ptr, const int32_t *SL_RESTRICT end,
                                          ptrdiff_t n_steps, ptrdiff_t n, double *SL_RESTRICT out)
{
    const sl_block8 *right = (const sl_block8 *)weighted;
    if (n_steps < 2)
        return;
    for (ptrdiff_t g = 0; g < n; g++) {
        const sl_block8 *left = (const sl_block8 *)alpha + g;
        ptrdiff_t k = ptr[g];
        while (k + 4 <= ptr[g + 1])
            SL_LANES_OUTER_LISTED(4)
        while (k < ptr[g + 1])
            SL_LANES_OUTER_LISTED(1)
    }
}

/* out = factor where the lane's code at that step is free (-1) or the state's label, else 0. code [t, lane] */
SL_WIDE static void sl_lanes_clamp(const double *SL_RESTRICT factor, const int64_t *SL_RESTRICT code,
                                   const int32_t *SL_RESTRICT state_label, ptrdiff_t n_steps, ptrdiff_t n,
                                   double *SL_RESTRICT out)
{
    for (ptrdiff_t t = 0; t < n_steps; t++) {
        const sl_mask8 codes = *(const sl_mask8 *)(code + t * SL_LANES);
        const sl_block8 *row = (const sl_block8 *)(factor + t * n * SL_LANES);
        sl_block8 *to = (sl_block8 *)(out + t * n * SL_LANES);
        for (ptrdiff_t h = 0; h < n; h++) {
            const int64_t label = state_label[h];
            sl_block8 value = row[h];
            for (int l = 0; l < SL_LANES; l++)
                value[l] = codes[l] == -1 || codes[l] == label ? value[l] : 0.0;
            to[h] = value;
        }
    }
}

/* log_product [lane] = sum over steps of log(scale); one logarithm for many steps */
SL_WIDE static void sl_lanes_log_product(const double *SL_RESTRICT scale, ptrdiff_t n_steps, double *SL_RESTRICT log_product)
{
    double product[SL_LANES];
    for (int l = 0; l < SL_LANES; l++) {
        product[l] = 1.0;
        log_product[l] = 0.0;
    }
    for (ptrdiff_t t = 0; t < n_steps; t++) {
        const double *row = scale + t * SL_LANES;
        int extreme = 0;
        /* Neither of two factors that meet may be so small that their product could underflow; and a sum is at most the
         * number of states. */
        for (int l = 0; l < SL_LANES; l++)
            extreme |= (row[l] < 1e-140) | (product[l] < 1e-140) | (product[l] > 1e140);
        if (extreme) {
            for (int l = 0; l < SL_LANES; l++) {
                if (row[l] >= 1e-140 && product[l] >= 1e-140 && product[l] <= 1e140) {
                    product[l] *= row[l];
                    continue;
                }
                log_product[l] += log(product[l]);
                product[l] = 1.0;
                if (row[l] < 1e-140)
                    log_product[l] += log(row[l]);
                else
                    product[l] = row[l];
            }
        } else {
            for (int l = 0; l < SL_LANES; l++)
                product[l] *= row[l];
        }
    }
    for (int l = 0; l < SL_LANES; l++)
        log_product[l] += log(product[l]);
}

/* rows[l][h] += weight[l] mass[h, l] for one step; a lane without a row (NULL) is passed over */
SL_WIDE static void sl_lanes_add(const double *SL_RESTRICT mass, const double *SL_RESTRICT weight, double *const *rows,
                                 ptrdiff_t n)
{
    for (int l = 0; l < SL_LANES; l++) {
        double *row = rows[l];
        const double share = weight[l];
        if (row == NULL)
            continue;
        for (ptrdiff_t h = 0; h < n; h++)
            row[h] += share * mass[h * SL_LANES + l];
    }
}

#else

/* Without blocks of numbers nobody calls these. */
static void sl_lanes_factors(const double *const *rows, double *factor, double *shift, double *low, ptrdiff_t n) {}
static void sl_lanes_forward(const double *factor, const double *low, const double *M, const int64_t *ptr,
                             const int32_t *end, double arc_low, const int64_t *length, ptrdiff_t n_steps, ptrdiff_t n,
                             double *alpha, double *alpha_low, double *scale, double *fault, int64_t *possible) {}
static void sl_lanes_backward(const double *factor, const double *low, const double *turned, const int64_t *ptr,
                              const int32_t *end, double arc_low, const int64_t *length, ptrdiff_t n_steps, ptrdiff_t n,
                              const double *alpha, const double *alpha_low, const double *scale, const double *weight,
                              double *beta, double *gain, double *mass, double *weighted, double *fault) {}
static void sl_lanes_outer_listed(const double *alpha, const double *weighted, const int64_t *ptr, const int32_t *end,
                                  ptrdiff_t n_steps, ptrdiff_t n, double *out) {}
static void sl_lanes_outer(const double *alpha, const double *weighted, ptrdiff_t n_steps, ptrdiff_t n, double *out) {}
static void sl_lanes_clamp(const double *factor, const int64_t *code, const int32_t *state_label, ptrdiff_t n_steps,
                           ptrdiff_t n, double *out) {}
static void sl_lanes_log_product(const double *scale, ptrdiff_t n_steps, double *log_product) {}
static void sl_lanes_add(const double *mass, const double *weight, double *const *rows, ptrdiff_t n) {}

#endif

#endif
