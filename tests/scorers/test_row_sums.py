# SPDX-License-Identifier: BSD-3-Clause
"""Sums of weighted rows at every number of columns around the blocks of the kernels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent._scorers import Design, _linear_kernels
from sklearn_latent._scorers.split import split_of
from sklearn_latent._scorers.support import Pattern

COLUMNS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 22, 24, 25, 31, 32, 33, 40, 65]


def design_of(rng, *, ones: bool, wide: bool) -> tuple[Design, np.ndarray]:
    matrix = np.where(rng.random((40, 13)) < 0.3, 1.0 if ones else rng.standard_normal((40, 13)), 0.0)
    matrix[[3, 4, 39]] = 0.0
    matrix[:, [0, 5]] = 0.0
    csr = sp.csr_array(matrix)
    if wide:
        csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return Design(csr), matrix


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("n_columns", COLUMNS)
def test_scores_and_gradient(n_columns, ones, wide):
    rng = np.random.default_rng(n_columns)
    design, matrix = design_of(rng, ones=ones, wide=wide)
    weight, score = rng.standard_normal((13, n_columns)), rng.standard_normal((40, n_columns))
    expected = score + matrix @ weight
    _linear_kernels.add_scores(design.row_ptr, design.feature, design.values, weight, score)
    np.testing.assert_allclose(score, expected, rtol=1e-13, atol=1e-13)

    delta, gradient = rng.standard_normal((40, n_columns)), rng.standard_normal((13, n_columns))
    expected = gradient + matrix.T @ delta
    for first, last in [(0, 4), (4, 4), (4, len(design.by_feature[0]))]:
        _linear_kernels.add_gradient(*design.by_feature, delta, gradient, first, last)
    np.testing.assert_allclose(gradient, expected, rtol=1e-13, atol=1e-13)


def test_features_that_occur():
    rng = np.random.default_rng(0)
    design, matrix = design_of(rng, ones=False, wide=False)
    feature, ptr, token, values = design.by_feature
    np.testing.assert_array_equal(feature, np.flatnonzero(matrix.any(axis=0)))
    for k, f in enumerate(feature):
        own = slice(ptr[k], ptr[k + 1])
        np.testing.assert_array_equal(token[own], np.flatnonzero(matrix[:, f]))
        np.testing.assert_array_equal(values[own], matrix[token[own], f])
    ranges = [f for bounds in design.ranges_of(Pattern(13, 5)) for f in range(*bounds)]
    assert ranges == list(range(len(feature)))
    empty = Design(sp.csr_array((4, 3)))
    assert [len(part) for part in empty.by_feature] == [0, 1, 0, 0]
    assert [f for bounds in empty.ranges_of(Pattern(3, 5)) for f in range(*bounds)] == []
    assert [f for bounds in empty.feature_ranges for f in range(*bounds)] == [0, 1, 2]


def test_ranges_share_the_work_of_a_pattern():
    # The last ten of a hundred features have all weights; ranges by values alone would give them to one thread.
    rng = np.random.default_rng(0)
    design = Design(sp.csr_array((rng.random((4000, 100)) < 0.5).astype(float)))
    ptr = np.concatenate([np.zeros(91, dtype=np.int64), 300 * np.arange(1, 11)])
    pattern = Pattern(100, 300, ptr, np.tile(np.arange(300, dtype=np.int32), 10))
    ranges = design.ranges_of(pattern)
    assert design.ranges_of(pattern) is ranges
    work = [int((np.diff(design.by_feature[1]) * np.diff(ptr))[a:b].sum()) for a, b in ranges]
    assert len(ranges) >= 8 and max(work) < 0.2 * sum(work)
    assert [f for bounds in ranges for f in range(*bounds)] == list(range(100))


def test_rows_of_a_split_design_are_views_of_its_halves():
    rng = np.random.default_rng(0)
    design, matrix = design_of(rng, ones=False, wide=False)
    pattern = Pattern(13, 6, np.arange(0, 79, 6), np.tile(np.arange(6, dtype=np.int32), 13))
    keep = rng.random(78) < np.repeat(np.linspace(0.1, 1.0, 13), 6)
    ptr = np.concatenate([[0], np.cumsum(keep)])[pattern.ptr]
    split = split_of(Pattern(13, 6, ptr, pattern.column[keep]))
    part = design.rows(5, 23)
    halves = part.split(split)
    assert all(np.shares_memory(h.feature, w.feature) for h, w in zip(halves, design.split(split), strict=True))
    for half, columns in zip(halves, (np.flatnonzero(split.row >= 0), np.arange(13)), strict=True):
        dense = sp.csr_array((half.values, half.feature, half.row_ptr), shape=half.shape).toarray()
        expected = matrix[5:23][:, columns]
        if half.shape[1] == 13:
            expected = np.where(split.row[None] >= 0, 0.0, expected)
        np.testing.assert_array_equal(dense, expected)
