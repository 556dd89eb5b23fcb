# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of mini-batches against loops and dense products."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sklearn_latent._scorers import _batch_kernels


def matrix(rng, n_rows: int, n_columns: int, ones: bool) -> sp.csr_array:
    values = np.where(rng.random((n_rows, n_columns)) < 0.3, 1.0 if ones else rng.standard_normal(), 0.0)
    return sp.csr_array(values if ones else values * rng.uniform(1, 2, values.shape))


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([np.int32, np.int64]))
def test_features_are_numbered_by_first_occurrence(seed, ones, dtype):
    rng = np.random.default_rng(seed)
    X = matrix(rng, 20, int(rng.integers(1, 12)), ones)
    offsets = np.sort(rng.integers(0, 21, 6))
    chosen = rng.permutation(5)[: rng.integers(0, 6)]
    first, last = offsets[:-1][chosen].astype(np.int64), offsets[1:][chosen].astype(np.int64)
    rows = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)] or [np.arange(0)]).astype(int)
    part = X[rows]
    number, used = np.full(X.shape[1], -1, dtype=np.int32), np.empty(part.nnz, dtype=np.int64)
    ptr, feature = np.empty(len(rows) + 1, dtype=np.int32), np.empty(part.nnz, dtype=np.int32)
    data = X.data[:0] if ones else X.data
    values = np.empty(0 if ones else part.nnz)
    n_used = _batch_kernels.collect(
        X.indptr.astype(dtype), X.indices.astype(dtype), data, first, last, number, ptr, feature, values, used
    )
    order = list(dict.fromkeys(part.indices.tolist()))
    assert n_used == len(order) and used[:n_used].tolist() == order
    assert ptr.tolist() == part.indptr.tolist()
    assert [order[k] for k in feature] == part.indices.tolist()
    if not ones:
        np.testing.assert_array_equal(values, part.data)
    assert (number == -1).all(), "the work array is not as it was"


@given(st.integers(0, 2**32 - 1))
def test_weights_of_features_are_listed(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, 9)
    pattern_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    pattern_column = rng.integers(0, 50, pattern_ptr[-1]).astype(np.int32)
    used = rng.permutation(9)[: rng.integers(0, 10)].astype(np.int64)
    ptr = np.empty(len(used) + 1, dtype=np.int64)
    _batch_kernels.count_weights(used, pattern_ptr, ptr)
    assert ptr.tolist() == [0, *np.cumsum(counts[used])]
    column, index = np.empty(ptr[-1], dtype=np.int32), np.empty(ptr[-1], dtype=np.int64)
    _batch_kernels.narrow(used, pattern_ptr, pattern_column, ptr, 100, column, index)
    expected = [k for f in used for k in range(pattern_ptr[f], pattern_ptr[f + 1])]
    assert index.tolist() == [100 + k for k in expected]
    assert column.tolist() == pattern_column[expected].tolist()


@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("shape", [(15, 8, 5), (15, 8, 1), (15, 8, 0), (0, 8, 5), (1, 1, 70)])
def test_gradients_in_the_order_of_tokens(shape, ones):
    n_tokens, n_features, C = shape
    rng = np.random.default_rng(0)
    X, delta = matrix(rng, n_tokens, n_features, ones), rng.standard_normal((n_tokens, C))
    rows = (X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data[:0] if ones else X.data)
    before = rng.standard_normal((n_features, C))
    expected = before + X.toarray().T @ delta
    found = before.copy()
    _batch_kernels.add_row_gradient(*rows, delta, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    has_weight = rng.random((n_features, C)) < 0.5
    ptr = np.concatenate([[0], np.cumsum(has_weight.sum(axis=1))]).astype(np.int64)
    found = before[has_weight]
    _batch_kernels.add_row_pattern_gradient(*rows, ptr, np.nonzero(has_weight)[1].astype(np.int32), delta, found)
    np.testing.assert_allclose(found, expected[has_weight], rtol=1e-12, atol=1e-13)
