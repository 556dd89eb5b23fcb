/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Products with a dense matrix that is mostly zeros, for one kind of numbers: included by `_spn.h` once for each, with
 * SL_REAL and SL_NAME set. Only what is not zero is multiplied.
 */
#if SL_BLOCKS
typedef SL_REAL SL_NAME(block) __attribute__((vector_size(64), aligned(sizeof(SL_REAL)), may_alias));
#else
typedef SL_REAL SL_NAME(block);
#endif

/* out[s, c] = sum over k in [ptr[s], ptr[s + 1]) of value[k] rows[index[k], c], or += if `more`
 *
 * Columns are taken SL_SPN_TILE bytes at a time: those of all rows are copied side by side into `work`, which has one row
 * more than `rows` and stays in the first cache (rows far apart would fall on the same places of it), and each sum stays in
 * registers. */
SL_WIDE static void SL_NAME(spn_sums)(const int32_t *SL_RESTRICT ptr, const int32_t *SL_RESTRICT index,
                                      const SL_REAL *SL_RESTRICT value, ptrdiff_t n_sums,
                                      const SL_REAL *SL_RESTRICT rows, ptrdiff_t n_rows, ptrdiff_t rows_stride,
                                      SL_REAL *SL_RESTRICT out, ptrdiff_t out_stride, ptrdiff_t n_columns,
                                      SL_REAL *SL_RESTRICT work, int more)
{
    /* Blocks across two lines of the cache would take twice as long to load. */
    SL_REAL *SL_RESTRICT tile = (SL_REAL *)(((uintptr_t)work + 63) & ~(uintptr_t)63);
    enum {
        WIDTH = SL_SPN_TILE / sizeof(SL_REAL),
        COUNT = SL_SPN_TILE / sizeof(SL_NAME(block)),
        STEP = sizeof(SL_NAME(block)) / sizeof(SL_REAL)
    };
    for (ptrdiff_t first = 0; first < n_columns; first += WIDTH) {
        const ptrdiff_t width = n_columns - first < WIDTH ? n_columns - first : WIDTH;
        for (ptrdiff_t r = 0; r < n_rows; r++) {
            memcpy(tile + r * WIDTH, rows + r * rows_stride + first, (size_t)width * sizeof(SL_REAL));
            for (ptrdiff_t c = width; c < WIDTH; c++)
                tile[r * WIDTH + c] = 0;
        }
        for (ptrdiff_t s = 0; s < n_sums; s++) {
            SL_NAME(block) sum[COUNT];
            SL_REAL done[WIDTH], *to = out + s * out_stride + first;
            for (int b = 0; b < COUNT; b++)
                sum[b] = (SL_NAME(block)){0};
            for (ptrdiff_t k = ptr[s]; k < ptr[s + 1]; k++) {
                const SL_REAL *row = tile + (ptrdiff_t)index[k] * WIDTH, x = value[k];
                for (int b = 0; b < COUNT; b++)
                    sum[b] += x * *(const SL_NAME(block) *)(row + b * STEP);
            }
            if (width == WIDTH && !more) {
                for (int b = 0; b < COUNT; b++)
                    *(SL_NAME(block) *)(to + b * STEP) = sum[b];
                continue;
            }
            for (int b = 0; b < COUNT; b++)
                *(SL_NAME(block) *)(done + b * STEP) = sum[b];
            for (ptrdiff_t c = 0; c < width; c++)
                to[c] = more ? to[c] + done[c] : done[c];
        }
    }
}
