# SPDX-License-Identifier: BSD-3-Clause
"""Scores to factors, against numpy's exp."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_latent._lattice import _kernels

# The kernel promises 2 ulp, numpy 1 ulp; an ulp is at most 2.3e-16 of a number.
EXP = {"rtol": 3 * 2.3e-16, "atol": 0.0}


def factors(score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    score = np.ascontiguousarray(score, dtype=float)
    score.flags.writeable = False
    factor, shift, low = np.full_like(score, np.nan), np.full(len(score), np.nan), np.full(len(score), np.nan)
    _kernels.row_factors(score, factor, shift, low)
    return factor, shift, low


@pytest.mark.parametrize("n_columns", [*range(1, 20), 31, 33, 64, 100])
def test_rows_of_any_width(n_columns):
    rng = np.random.default_rng(n_columns)
    score = 100.0 * rng.standard_normal((17, n_columns)) + rng.choice([-1e6, 0.0, 1e6], (17, 1))
    factor, shift, low = factors(score)
    np.testing.assert_array_equal(shift, score.max(axis=1))
    expected = np.exp(score - shift[:, None])
    np.testing.assert_allclose(factor, expected, **EXP)
    np.testing.assert_allclose(low, expected.min(axis=1), **EXP)


def test_the_whole_range_of_exp():
    below = np.concatenate([[0.0], -np.logspace(-320, np.log10(708.0), 20_000), -np.linspace(0.0, 708.0, 20_000)])
    factor, _, _ = factors(np.column_stack([np.zeros(len(below)), below]))
    np.testing.assert_allclose(factor[:, 1], np.exp(below), **EXP)
    assert (factor[:, 0] == 1.0).all() and (factor <= 1.0).all()


def test_forbidden_entries_are_zero_and_not_the_lowest():
    factor, shift, low = factors([[-np.inf, 2.0, 1.0], [5.0, -np.inf, -np.inf]])
    np.testing.assert_allclose(factor, [[0.0, 1.0, np.exp(-1.0)], [1.0, 0.0, 0.0]], **EXP)
    assert shift.tolist() == [2.0, 5.0]
    np.testing.assert_allclose(low, [np.exp(-1.0), 1.0], **EXP)


def test_a_row_without_any_finite_score():
    factor, shift, low = factors(np.full((2, 5), -np.inf))
    assert not factor.any() and shift.tolist() == [0.0, 0.0] and low.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("gap", [709.0, 745.0, 800.0, 1e4, 1e300])
def test_a_finite_score_that_becomes_zero_is_reported(gap):
    factor, _, low = factors([[0.0, -gap, -1.0]])
    assert factor[0, 1] == 0.0 and low[0] == 0.0
    assert factors([[0.0, -np.inf, -1.0]])[2][0] > 0.0


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("row", [[0.0, 1.0], [-np.inf, -np.inf], []])
def test_what_is_no_score_becomes_no_factor(value, row):
    factor, _, low = factors([[*row, value]])
    assert np.isnan(factor[0, -1]) and low[0] != 0.0


def test_nothing_to_do():
    assert factors(np.empty((0, 3)))[0].shape == (0, 3)
    assert factors(np.empty((3, 0)))[0].shape == (3, 0)
