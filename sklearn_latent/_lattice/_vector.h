/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The innermost loops of the lattice, in plain C so that the compiler vectorises them for each
 * processor: with gcc on x86-64 glibc every function is compiled three times (AVX-512, AVX2,
 * baseline) and the loader picks one, so that a wheel built for any x86-64 still runs wide. The order of the
 * sums depends on the processor's width, never on threads or addresses: same machine, same bits.
 * Never build this with -ffast-math: the rounding trick of `row_factors` and every infinity would go.
 */
#ifndef SKLEARN_LATENT_VECTOR_H
#define SKLEARN_LATENT_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define SL_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), noinline))
#else
#define SL_WIDE
#endif

#if defined(_MSC_VER)
#define SL_RESTRICT __restrict
#else
#define SL_RESTRICT restrict
#endif

/* exp(r) for |r| <= ln 2 / 2 by its Taylor series to degree 13 (the next term is below 2e-17), in numbers or blocks of them;
 * p is 1 / 13! at first. */
#define SL_EXP_START 1.6059043836821614599e-10
#define SL_EXP_SERIES(p, r) \
    p = p * r + 2.0876756987868098979e-09; \
    p = p * r + 2.5052108385441718775e-08; \
    p = p * r + 2.7557319223985890653e-07; \
    p = p * r + 2.7557319223985890653e-06; \
    p = p * r + 2.4801587301587301587e-05; \
    p = p * r + 1.9841269841269841270e-04; \
    p = p * r + 1.3888888888888888889e-03; \
    p = p * r + 8.3333333333333333333e-03; \
    p = p * r + 4.1666666666666666667e-02; \
    p = p * r + 1.6666666666666666667e-01; \
    p = p * r + 0.5; \
    p = p * r + 1.0; \
    p = p * r + 1.0

/* exp(x) for x <= 0, below 2 ulp; 0 for x < -708 (where the result would leave the normal range).
 * x = k ln 2 + r, |r| <= ln 2 / 2; exp(r) by its Taylor series to degree 13 (the next term is below 2e-17). */
static inline double sl_exp_nonpositive(double x)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
    double inside = x < -708.0 ? -708.0 : x;
    double shifted = inside * 1.4426950408889634074 + magic;
    double k = shifted - magic;
    double r = (inside - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double p = SL_EXP_START;
    SL_EXP_SERIES(p, r);
    {
        uint64_t bits;
        double scale;
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023u) << 52; /* the low bits of `shifted` are k */
        memcpy(&scale, &bits, sizeof scale);
        p *= scale;
    }
    return x < -708.0 ? 0.0 : p;
}

/* exp of numbers that are not positive, in place */
SL_WIDE static void sl_exp_all(double *SL_RESTRICT x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = sl_exp_nonpositive(x[i]);
}

/* Long sums of scores with the rounding of each addition kept (Neumaier 1974): a loss is the difference of two such sums,
 * and what rounding leaves of it has to be small beside the loss and not beside the sums. */
static inline void sl_add_term(double *sum, double *rest, double value)
{
    const double next = *sum + value;
    *rest += fabs(*sum) >= fabs(value) ? (*sum - next) + value : (value - next) + *sum;
    *sum = next;
}

/* Infinities and NaN are the sum's own: beside them the rest means nothing. */
static inline double sl_sum_of(double sum, double rest)
{
    return sum - sum == 0.0 ? sum + rest : sum;
}

/* Row by row: shift = largest score, factor = exp(score - shift), low = smallest positive factor.
 * low = 0 where a finite score is too far below the largest for its factor to be a normal number.
 * A row of -inf alone gets shift 0, factors 0 and low 1 (it has no positive factor that could be lost).
 * NaN and +inf give a factor NaN, and low is then such that the fast walk meets it. */
SL_WIDE static void sl_row_factors(const double *SL_RESTRICT score, double *SL_RESTRICT factor, double *SL_RESTRICT shift,
                                   double *SL_RESTRICT low, ptrdiff_t n_rows, ptrdiff_t n_columns)
{
    for (ptrdiff_t t = 0; t < n_rows; t++) {
        const double *row = score + t * n_columns;
        double *out = factor + t * n_columns;
        double top = -INFINITY, bottom = INFINITY;
        int any = 0;
        /* Some compilers begin a reduction with the largest finite number in place of infinity: `any` tells. */
#pragma omp simd reduction(max : top) reduction(min : bottom) reduction(| : any)
        for (ptrdiff_t s = 0; s < n_columns; s++) {
            double value = row[s];
            double finite = value == -INFINITY ? INFINITY : value;
            any |= value > -INFINITY;
            top = value > top ? value : top;
            bottom = finite < bottom ? finite : bottom;
        }
        if (!any) {
            for (ptrdiff_t s = 0; s < n_columns; s++)
                out[s] = row[s] == row[s] ? 0.0 : row[s];
            shift[t] = 0.0;
            low[t] = 1.0;
            continue;
        }
        for (ptrdiff_t s = 0; s < n_columns; s++)
            out[s] = sl_exp_nonpositive(row[s] - top);
        shift[t] = top;
        low[t] = top < INFINITY ? sl_exp_nonpositive(bottom - top) : 1.0;
    }
}

/* Blocks of numbers that the compiler keeps in registers, of whatever width the processor has; where it knows no such
 * types a block is one number. Columns are taken in blocks, and where the last block would not be full it is moved back over
 * columns that were done already: they come out the same again. */
#if defined(__GNUC__)
typedef double sl_block8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef double sl_block4 __attribute__((vector_size(32), aligned(8), may_alias));
#define SL_BLOCKS 1
#else
#define SL_BLOCKS 0
#endif

#define SL_AT(TYPE, ADDRESS) (*(const TYPE *)(ADDRESS))

/* out[h] = sum_g a[g] M[g, h] for a block of columns from `first` */
#define SL_VECTOR_MATRIX_BLOCK(TYPE)                                                                                   \
    {                                                                                                                  \
        TYPE sum = a[0] * SL_AT(TYPE, M + first);                                                                      \
        for (ptrdiff_t g = 1; g < n; g++)                                                                              \
            sum += a[g] * SL_AT(TYPE, M + g * n + first);                                                              \
        *(TYPE *)(out + first) = sum;                                                                                  \
    }

SL_WIDE static void sl_vector_matrix(const double *SL_RESTRICT a, const double *SL_RESTRICT M, double *SL_RESTRICT out,
                                     ptrdiff_t n)
{
#if SL_BLOCKS
    if (n >= 8) {
        for (ptrdiff_t h = 0; h < n; h += 8) {
            const ptrdiff_t first = h + 8 <= n ? h : n - 8;
            SL_VECTOR_MATRIX_BLOCK(sl_block8)
        }
        return;
    }
    if (n >= 4) {
        for (ptrdiff_t h = 0; h < n; h += 4) {
            const ptrdiff_t first = h + 4 <= n ? h : n - 4;
            SL_VECTOR_MATRIX_BLOCK(sl_block4)
        }
        return;
    }
#endif
    for (ptrdiff_t first = 0; first < n; first++)
        SL_VECTOR_MATRIX_BLOCK(double)
}

/* out[g] = sum_h M[g, h] v[h] */
SL_WIDE static void sl_matrix_vector(const double *SL_RESTRICT M, const double *SL_RESTRICT v, double *SL_RESTRICT out,
                                     ptrdiff_t n)
{
    for (ptrdiff_t g = 0; g < n; g++) {
        const double *row = M + g * n;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t h = 0; h < n; h++)
            sum += row[h] * v[h];
        out[g] = sum;
    }
}

/* M[g, h] += weight sum over t < count of a[t, g] v[t, h] for a block of columns from h, and one row or four: four sums at
 * a time hide the time that an addition takes. */
#define SL_ADD_OUTER_BLOCK(TYPE)                                                                                       \
    {                                                                                                                  \
        TYPE sum = a[g] * SL_AT(TYPE, v + h);                                                                          \
        for (ptrdiff_t t = 1; t < count; t++)                                                                          \
            sum += a[t * n + g] * SL_AT(TYPE, v + t * n + h);                                                          \
        *(TYPE *)(M + g * n + h) += weight * sum;                                                                      \
    }

#define SL_ADD_OUTER_FOUR(TYPE)                                                                                        \
    {                                                                                                                  \
        TYPE row = SL_AT(TYPE, v + h);                                                                                 \
        TYPE sum0 = a[g] * row, sum1 = a[g + 1] * row, sum2 = a[g + 2] * row, sum3 = a[g + 3] * row;                   \
        for (ptrdiff_t t = 1; t < count; t++) {                                                                        \
            const double *factor = a + t * n + g;                                                                      \
            row = SL_AT(TYPE, v + t * n + h);                                                                          \
            sum0 += factor[0] * row;                                                                                   \
            sum1 += factor[1] * row;                                                                                   \
            sum2 += factor[2] * row;                                                                                   \
            sum3 += factor[3] * row;                                                                                   \
        }                                                                                                              \
        *(TYPE *)(M + g * n + h) += weight * sum0;                                                                     \
        *(TYPE *)(M + (g + 1) * n + h) += weight * sum1;                                                               \
        *(TYPE *)(M + (g + 2) * n + h) += weight * sum2;                                                               \
        *(TYPE *)(M + (g + 3) * n + h) += weight * sum3;                                                               \
    }

#if SL_BLOCKS
#define SL_ADD_OUTER_ROWS(BLOCK)                                                                                       \
    {                                                                                                                  \
        ptrdiff_t h = 0;                                                                                               \
        for (; h + 8 <= n; h += 8)                                                                                     \
            BLOCK(sl_block8)                                                                                           \
        for (; h + 4 <= n; h += 4)                                                                                     \
            BLOCK(sl_block4)                                                                                           \
        for (; h < n; h++)                                                                                             \
            BLOCK(double)                                                                                              \
    }
#else
#define SL_ADD_OUTER_ROWS(BLOCK)                                                                                       \
    for (ptrdiff_t h = 0; h < n; h++)                                                                                  \
        BLOCK(double)
#endif

SL_WIDE static void sl_add_outer(double *SL_RESTRICT M, const double *SL_RESTRICT a, const double *SL_RESTRICT v,
                                 double weight, ptrdiff_t count, ptrdiff_t n)
{
    ptrdiff_t g = 0;
    if (count <= 0)
        return;
    for (; g + 4 <= n; g += 4)
        SL_ADD_OUTER_ROWS(SL_ADD_OUTER_FOUR)
    for (; g < n; g++)
        SL_ADD_OUTER_ROWS(SL_ADD_OUTER_BLOCK)
}

/* M[g, h] += a[g] A[g, h] v[h] weight */
SL_WIDE static void sl_add_outer_product(double *SL_RESTRICT M, const double *SL_RESTRICT A, const double *SL_RESTRICT a,
                                         const double *SL_RESTRICT v, double weight, ptrdiff_t n)
{
    for (ptrdiff_t g = 0; g < n; g++) {
        const double scaled = weight * a[g];
        const double *factor = A + g * n;
        double *row = M + g * n;
        for (ptrdiff_t h = 0; h < n; h++)
            row[h] += scaled * factor[h] * v[h];
    }
}

/* The end of a forward step: row *= node, then row /= its sum; returns the sum, low = smallest positive entry. Where the
 * sum is not a positive number the row is left undivided. */
SL_WIDE static double sl_finish_forward(double *SL_RESTRICT row, const double *SL_RESTRICT node, ptrdiff_t n,
                                        double *SL_RESTRICT low)
{
    double total = 0.0, smallest = INFINITY;
#pragma omp simd reduction(+ : total) reduction(min : smallest)
    for (ptrdiff_t h = 0; h < n; h++) {
        const double value = row[h] * node[h];
        const double positive = value > 0.0 ? value : INFINITY;
        row[h] = value;
        total += value;
        smallest = positive < smallest ? positive : smallest;
    }
    if (total > 0.0) {
        const double factor = 1.0 / total;
        for (ptrdiff_t h = 0; h < n; h++)
            row[h] *= factor;
        *low = smallest * factor;
    }
    return total;
}

/* The start of a backward step: beta is zeroed where alpha is zero, mass = alpha beta, gain = node beta inverse; returns the
 * smallest positive beta. */
SL_WIDE static double sl_start_backward(const double *SL_RESTRICT alpha, double *SL_RESTRICT beta,
                                        const double *SL_RESTRICT node, double inverse, double *SL_RESTRICT mass,
                                        double *SL_RESTRICT gain, ptrdiff_t n)
{
    double smallest = INFINITY;
#pragma omp simd reduction(min : smallest)
    for (ptrdiff_t h = 0; h < n; h++) {
        const double value = alpha[h] == 0.0 ? 0.0 : beta[h];
        const double positive = value > 0.0 ? value : INFINITY;
        beta[h] = value;
        mass[h] = alpha[h] * value;
        gain[h] = node[h] * value * inverse;
        smallest = positive < smallest ? positive : smallest;
    }
    return smallest;
}

/* out += weight * values */
SL_WIDE static void sl_add_scaled(double *SL_RESTRICT out, const double *SL_RESTRICT values, double weight, ptrdiff_t n)
{
    for (ptrdiff_t h = 0; h < n; h++)
        out[h] += weight * values[h];
}

#if SL_BLOCKS

/* One to three blocks of columns of sl_max_plus at a time, in registers over all rows; as a loop over numbers, of which the
 * compiler makes one instruction where it has registers of eight. */
static inline __attribute__((always_inline)) void sl_max_plus_columns(const double *SL_RESTRICT d,
                                                                      const double *SL_RESTRICT M,
                                                                      double *SL_RESTRICT out, ptrdiff_t n,
                                                                      const int n_blocks)
{
    sl_block8 best[3];
    for (int j = 0; j < n_blocks; j++)
        best[j] = d[0] + SL_AT(sl_block8, M + 8 * j);
    for (ptrdiff_t g = 1; g < n; g++) {
        const double base = d[g];
        const double *row = M + g * n;
        for (int j = 0; j < n_blocks; j++) {
            const sl_block8 value = base + SL_AT(sl_block8, row + 8 * j);
#pragma omp simd
            for (int l = 0; l < 8; l++)
                best[j][l] = value[l] > best[j][l] ? value[l] : best[j][l];
        }
    }
    for (int j = 0; j < n_blocks; j++)
        *(sl_block8 *)(out + 8 * j) = best[j];
}

#endif

/* out[h] = max_g (d[g] + M[g, h]); a last block that would not be full is moved back over columns done already. */
SL_WIDE static void sl_max_plus(const double *SL_RESTRICT d, const double *SL_RESTRICT M, double *SL_RESTRICT out,
                                ptrdiff_t n)
{
#if SL_BLOCKS
    if (n >= 8) {
        ptrdiff_t h = 0;
        for (; h + 24 <= n; h += 24)
            sl_max_plus_columns(d, M + h, out + h, n, 3);
        for (; h + 16 <= n; h += 16)
            sl_max_plus_columns(d, M + h, out + h, n, 2);
        for (; h < n; h += 8) {
            const ptrdiff_t first = h + 8 <= n ? h : n - 8;
            sl_max_plus_columns(d, M + first, out + first, n, 1);
        }
        return;
    }
#endif
    for (ptrdiff_t h = 0; h < n; h++)
        out[h] = d[0] + M[h];
    for (ptrdiff_t g = 1; g < n; g++) {
        const double base = d[g];
        const double *row = M + g * n;
        for (ptrdiff_t h = 0; h < n; h++) {
            double value = base + row[h];
            out[h] = value > out[h] ? value : out[h];
        }
    }
}

#endif
