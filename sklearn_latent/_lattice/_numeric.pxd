# SPDX-License-Identifier: BSD-3-Clause
# Type names and the wide inner loops shared by kernels.

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.math cimport INFINITY, NAN, exp, log

cdef extern from "_vector.h" nogil:
    void add_term "sl_add_term" (double *sum, double *rest, double value) noexcept
    double sum_of "sl_sum_of" (double sum, double rest) noexcept
    void row_factors_c "sl_row_factors" (const double *score, double *factor, double *shift, double *low,
                                         Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept
    void vector_matrix "sl_vector_matrix" (const double *a, const double *M, double *out, Py_ssize_t n) noexcept
    void matrix_vector "sl_matrix_vector" (const double *M, const double *v, double *out, Py_ssize_t n) noexcept
    void add_outer "sl_add_outer" (double *M, const double *a, const double *v, double weight, Py_ssize_t count,
                                   Py_ssize_t n) noexcept
    void add_outer_product "sl_add_outer_product" (double *M, const double *A, const double *a, const double *v,
                                                   double weight, Py_ssize_t n) noexcept
    double finish_forward "sl_finish_forward" (double *row, const double *node, Py_ssize_t n, double *low) noexcept
    double start_backward "sl_start_backward" (const double *alpha, double *beta, const double *node, double inverse,
                                               double *mass, double *gain, Py_ssize_t n) noexcept
    void add_scaled "sl_add_scaled" (double *out, const double *values, double weight, Py_ssize_t n) noexcept
    void max_plus "sl_max_plus" (const double *d, const double *M, double *out, Py_ssize_t n) noexcept
