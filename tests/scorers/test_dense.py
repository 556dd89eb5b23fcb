# SPDX-License-Identifier: BSD-3-Clause
"""Products with dense rows against NumPy's, whatever share of the numbers are zeros."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent._scorers import _spn_kernels
from sklearn_latent._scorers.dense import add_transposed_product, product


def run(f, ranges):
    for r in ranges:
        f(r)


def rows_of(n, d, share, kind, seed):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d)) * (rng.random((n, d)) < share)).astype(kind)


sizes = st.sampled_from([0, 1, 3, 31, 32, 33, 64, 129, 300])


@settings(deadline=None)
@given(n=sizes, d=sizes, columns=st.sampled_from([1, 31, 32, 33, 64, 65, 700]), share=st.sampled_from([0, 0.1, 0.5, 1]),
       kind=st.sampled_from(["float64", "float32"]), seed=st.integers(0, 99))  # fmt: skip
def test_both_products(n, d, columns, share, kind, seed):
    rows, rng = rows_of(n, d, share, kind, seed), np.random.default_rng(seed)
    coef, delta = (rng.standard_normal((k, columns)).astype(kind) for k in (d, n))
    tight = {"rtol": 1e-12, "atol": 1e-11} if kind == "float64" else {"rtol": 1e-5, "atol": 1e-3}
    out = np.full((n, columns), np.nan, dtype=kind)
    product(rows, coef, out)
    np.testing.assert_allclose(out, rows.astype(float) @ coef.astype(float), **tight)
    start = rng.standard_normal((d, columns))
    grad = start.copy()
    add_transposed_product(rows, delta, grad, run)
    np.testing.assert_allclose(grad, start + rows.T.astype(float) @ delta.astype(float), **tight)


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("more", [True, False])
@pytest.mark.parametrize("columns", [1, 5, 32, 64, 100])
def test_sums_of_listed_rows(kind, more, columns):
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((7, 200)).astype(kind)
    rows = wide[:, 20 : 20 + columns]  # rows of a larger array
    ptr, index = np.array([0, 3, 3, 8], dtype=np.int32), np.array([6, 0, 6, 1, 2, 3, 4, 5], dtype=np.int32)
    value = rng.standard_normal(8).astype(kind)
    around = rng.standard_normal((3, 200)).astype(kind)
    out, before = around[:, 7 : 7 + columns], around.copy()
    _spn_kernels.sums(ptr, index, value, rows, out, np.empty(8 * 64, dtype=kind), more)
    expected = before.astype(float)
    for s in range(3):
        total = sum(float(value[k]) * rows[index[k]].astype(float) for k in range(ptr[s], ptr[s + 1]))
        expected[s, 7 : 7 + columns] = total + (before[s, 7 : 7 + columns] if more else 0)
    np.testing.assert_allclose(around, expected, rtol=1e-12 if kind == "float64" else 1e-5, atol=1e-6)


def test_numbers_that_are_not_finite_stay():
    rows = np.zeros((40, 40))
    rows[3, 5] = np.nan
    out = np.empty((40, 40))
    product(rows, np.ones((40, 40)), out)
    assert np.isnan(out[3]).all() and (np.delete(out, 3, axis=0) == 0).all()
