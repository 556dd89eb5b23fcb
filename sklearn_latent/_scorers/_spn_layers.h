/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layers of a sum-product network over rows of leaf scores, for one kind of numbers: included by `_spn.h` once for
 * each, with SL_REAL, SL_NAME, SL_EXP, SL_LOG and SL_PRODUCT_LIMIT set.
 *
 * A level of C parents has values [h][i][c]: state h of hidden variable i of parent c, the parents' index innermost, so
 * that every loop runs over neighbours in memory and vectorises whatever the number of states is. Blocks of parents
 * are small enough for their maxima and sums to stay in the first cache.
 */

/* value[(h I + i) C + c] += bias, then
 *
 *     parent[c] = sum_i op_h value[(h I + i) C + c],   op = log sum exp, or max
 *
 * With `keep`, values become the shares of their states: exp(value) over its sum, or one for the first maximum. The
 * logarithms of up to `run` sums are taken as one logarithm of their product, which can't overflow. */
SL_WIDE static void SL_NAME(spn_level)(SL_REAL *SL_RESTRICT value, const SL_REAL *SL_RESTRICT bias,
                                       SL_REAL *SL_RESTRICT parent, ptrdiff_t C, ptrdiff_t I, ptrdiff_t H, int use_max,
                                       int keep)
{
    SL_REAL top[SL_SPN_BLOCK], sum[SL_SPN_BLOCK], product[SL_SPN_BLOCK], total[SL_SPN_BLOCK];
    const ptrdiff_t run = H > 1 ? (ptrdiff_t)(SL_PRODUCT_LIMIT / log2((double)H)) : I;
    for (ptrdiff_t first = 0; first < C; first += SL_SPN_BLOCK) {
        const ptrdiff_t n = C - first < SL_SPN_BLOCK ? C - first : SL_SPN_BLOCK;
        ptrdiff_t in_run = 0;
        for (ptrdiff_t b = 0; b < n; b++) {
            total[b] = 0;
            product[b] = 1;
        }
        for (ptrdiff_t i = 0; i < I; i++) {
            for (ptrdiff_t h = 0; h < H; h++) {
                SL_REAL *SL_RESTRICT v = value + (h * I + i) * C + first;
                const SL_REAL *SL_RESTRICT w = bias + (h * I + i) * C + first;
                if (h == 0) {
#pragma omp simd
                    for (ptrdiff_t b = 0; b < n; b++)
                        top[b] = v[b] = v[b] + w[b];
                } else {
#pragma omp simd
                    for (ptrdiff_t b = 0; b < n; b++) {
                        const SL_REAL x = v[b] + w[b];
                        v[b] = x;
                        /* A NaN stays: the sum says so. */
                        top[b] = x <= top[b] ? top[b] : x;
                    }
                }
            }
#pragma omp simd
            for (ptrdiff_t b = 0; b < n; b++)
                total[b] += top[b];
            if (use_max) {
                if (keep) {
                    for (ptrdiff_t b = 0; b < n; b++)
                        sum[b] = 1;
                    for (ptrdiff_t h = 0; h < H; h++) {
                        SL_REAL *SL_RESTRICT v = value + (h * I + i) * C + first;
#pragma omp simd
                        for (ptrdiff_t b = 0; b < n; b++) {
                            const SL_REAL share = v[b] == top[b] ? sum[b] : (SL_REAL)0;
                            v[b] = share;
                            sum[b] -= share;
                        }
                    }
                }
                continue;
            }
            for (ptrdiff_t h = 0; h < H; h++) {
                SL_REAL *SL_RESTRICT v = value + (h * I + i) * C + first;
                if (h == 0) {
#pragma omp simd
                    for (ptrdiff_t b = 0; b < n; b++)
                        sum[b] = v[b] = SL_EXP(v[b] - top[b]);
                } else {
#pragma omp simd
                    for (ptrdiff_t b = 0; b < n; b++) {
                        const SL_REAL x = SL_EXP(v[b] - top[b]);
                        v[b] = x;
                        sum[b] += x;
                    }
                }
            }
#pragma omp simd
            for (ptrdiff_t b = 0; b < n; b++)
                product[b] *= sum[b];
            if (++in_run >= run || i + 1 == I) {
#pragma omp simd
                for (ptrdiff_t b = 0; b < n; b++) {
                    total[b] += SL_LOG(product[b]);
                    product[b] = 1;
                }
                in_run = 0;
            }
            if (keep) {
#pragma omp simd
                for (ptrdiff_t b = 0; b < n; b++)
                    sum[b] = 1 / sum[b];
                for (ptrdiff_t h = 0; h < H; h++) {
                    SL_REAL *SL_RESTRICT v = value + (h * I + i) * C + first;
#pragma omp simd
                    for (ptrdiff_t b = 0; b < n; b++)
                        v[b] *= sum[b];
                }
            }
        }
        for (ptrdiff_t b = 0; b < n; b++)
            parent[first + b] = total[b];
    }
}

/* Shares of states become derivatives: value[(h I + i) C + c] *= parent[c]. */
SL_WIDE static void SL_NAME(spn_down)(SL_REAL *SL_RESTRICT value, const SL_REAL *SL_RESTRICT parent, ptrdiff_t C,
                                      ptrdiff_t n_children)
{
    for (ptrdiff_t k = 0; k < n_children; k++) {
        SL_REAL *SL_RESTRICT v = value + k * C;
#pragma omp simd
        for (ptrdiff_t c = 0; c < C; c++)
            v[c] *= parent[c];
    }
}

/* out[k R + r] = row[k]: scores that all R roots share. */
SL_WIDE static void SL_NAME(spn_spread)(const SL_REAL *SL_RESTRICT row, SL_REAL *SL_RESTRICT out, ptrdiff_t n,
                                        ptrdiff_t R)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        const SL_REAL x = row[k];
        SL_REAL *SL_RESTRICT o = out + k * R;
        for (ptrdiff_t r = 0; r < R; r++)
            o[r] = x;
    }
}

/* row[k] = sum_r out[k R + r]. */
SL_WIDE static void SL_NAME(spn_collect)(const SL_REAL *SL_RESTRICT out, SL_REAL *SL_RESTRICT row, ptrdiff_t n,
                                         ptrdiff_t R)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        const SL_REAL *SL_RESTRICT o = out + k * R;
        SL_REAL sum = 0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t r = 0; r < R; r++)
            sum += o[r];
        row[k] = sum;
    }
}
