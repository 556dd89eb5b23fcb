# SPDX-License-Identifier: BSD-3-Clause
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import Window
from sklearn_latent.feature_extraction import _window as module


def twin(sequences, before, after, n_features):
    """Each token's neighbours in a row, one by one."""
    rows = []
    for sequence in sequences:
        for t in range(len(sequence)):
            row = []
            for s in range(t - before, t + after + 1):
                row.extend(sequence[s] if 0 <= s < len(sequence) else [0] * n_features)
            rows.append(row)
    return np.array(rows, dtype=float).reshape(len(rows), (before + 1 + after) * n_features)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(0, 5), max_size=6), st.integers(0, 3), st.integers(0, 7), st.integers(0, 7),
    st.integers(0, 10**6), st.integers(1, 9),
)  # fmt: skip
def test_equals_the_slow_twin(lengths, n_features, before, after, seed, block):
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, size=(sum(lengths), n_features)).astype(float)
    dense = SequenceMatrix(values, lengths)
    expected = twin(list(dense), before, after, n_features)
    old, module.BLOCK_VALUES = module.BLOCK_VALUES, block
    try:
        for corpus in (dense, SequenceMatrix(sp.csr_array(values), lengths)):
            found = Window(before, after).fit_transform(corpus)
            found._check()
            assert sp.issparse(found.values) == sp.issparse(corpus.values)
            shown = found.values.toarray() if sp.issparse(found.values) else found.values
            assert np.array_equal(shown, expected)
            assert found.lengths.tolist() == lengths
    finally:
        module.BLOCK_VALUES = old


def test_forms_of_numbers():
    arrays = [np.arange(6.0).reshape(3, 2), np.ones((1, 2))]
    expected = twin(arrays, 1, 1, 2)
    forms = [SequenceMatrix(np.vstack(arrays), [3, 1]), arrays, [a.tolist() for a in arrays], iter(arrays),
             [sp.csr_array(a) for a in arrays], [sp.csr_matrix(a) for a in arrays]]  # fmt: skip
    for X in forms:
        found = Window().fit_transform(X).values
        assert np.array_equal(found.toarray() if sp.issparse(found) else found, expected)
    cube = np.arange(12.0).reshape(2, 3, 2)
    assert np.array_equal(Window(2, 0).fit_transform(cube).values, twin(cube, 2, 0, 2))
    for dtype in (np.float32, np.int8, bool):
        assert Window().fit_transform([a.astype(dtype) for a in arrays]).dtype == dtype


def test_names_and_marks():
    corpus = SequenceMatrix(np.eye(2), [2], feature_names=["x", "y"], edge_only=[True, False])
    window = Window(1, 1)
    found = window.fit_transform(corpus)
    names = ["x[-1]", "y[-1]", "x[0]", "y[0]", "x[1]", "y[1]"]
    assert found.feature_names.tolist() == window.get_feature_names_out().tolist() == names
    assert found.edge_only.tolist() == [True, False] * 3
    assert window.feature_names_in_.tolist() == ["x", "y"]
    assert window.get_feature_names_out(["x", "y"]).tolist() == names
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        window.get_feature_names_out(["y", "x"])
    with pytest.raises(ValueError, match="2 names"):
        window.get_feature_names_out(["x"])
    window.fit([np.eye(2)])
    assert window.get_feature_names_out().tolist()[:2] == ["x0[-1]", "x1[-1]"]
    assert window.get_feature_names_out(["p", "q"]).tolist()[:2] == ["p[-1]", "q[-1]"]
    assert not hasattr(window, "feature_names_in_")
    assert window.fit([np.zeros((2, 0))]).get_feature_names_out().tolist() == []


def test_contract():
    window = Window(before=2, after=0)
    assert clone(window).get_params() == {"before": 2, "after": 0}
    X = [np.arange(6.0).reshape(3, 2), np.zeros((0, 2))]
    with pytest.raises(NotFittedError):
        window.transform(X)
    assert window.fit(X) is window and window.n_features_in_ == 2
    window.set_params(before=0)
    assert window.transform(X).n_features == 6  # as fitted
    again = pickle.loads(pickle.dumps(window))
    assert np.array_equal(again.transform(X).values, window.transform(X).values)
    assert window.set_output(transform="pandas").transform(X).n_features == 6
    tags = window.__sklearn_tags__().input_tags
    assert not tags.two_d_array and tags.three_d_array and tags.sparse
    assert window.transform([]).values.shape == window.transform(iter([[], []])).values.shape == (0, 6)
    assert Window().fit_transform([[], []]).lengths.tolist() == [0, 0]


@pytest.mark.parametrize("parameters", [{"before": -1}, {"after": -1}, {"before": 1.5}, {"after": "a"}])
def test_bad_parameters(parameters):
    with pytest.raises(InvalidParameterError):
        Window(**parameters).fit([np.eye(2)])
    with pytest.raises(InvalidParameterError):
        Window(**parameters).fit_transform([np.eye(2)])


def test_bad_input():
    for X in ([["a", "b"]], [[{"w": "a"}]]):
        with pytest.raises(TypeError, match=r"Window takes numbers, but X\[0\] is a list of tokens"):
            Window().fit(X)
    with pytest.raises(TypeError, match=r"pass \[X\]"):
        Window().fit(np.eye(2))
    with pytest.raises(ValueError, match=r"3 features.*fitted with 2"):
        Window().fit([np.eye(2)]).transform([np.eye(3)])
    bad = np.zeros((4, 2))
    bad[3, 1] = np.nan
    for values in (bad, sp.csr_array(bad)):
        with pytest.raises(ValueError, match=r"X\[1\], token 1, feature 1.*nan"):
            Window().fit(SequenceMatrix(values, [2, 2]))
        with pytest.raises(ValueError, match=r"X\[1\], token 1, feature 1.*nan"):
            Window().fit([np.eye(2)]).transform(SequenceMatrix(values, [2, 2]))


def test_many_columns_need_64_bits():
    values = sp.csr_array(([1.0, 2.0], ([0, 1], [2**31 - 2, 0])), shape=(2, 2**31 - 1))
    found = Window().fit_transform(SequenceMatrix(values, [2]))
    assert found.values.indices.tolist() == [2 * (2**31 - 1) - 1, 2 * (2**31 - 1), 2**31 - 2, 2**31 - 1]
    assert found.values.indptr.tolist() == [0, 2, 4]


@pytest.mark.parametrize("sparse", [True, False])
def test_memory_is_that_of_the_result(sparse):
    n = 200_000
    values = np.ones((n, 2))
    corpus = SequenceMatrix(sp.csr_array(values) if sparse else values, [n])
    tracemalloc.start()
    found = Window(2, 2).fit_transform(corpus).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = found.data.nbytes + found.indices.nbytes + found.indptr.nbytes if sparse else found.nbytes
    assert peak < 4 * size


def test_a_tagger_needs_the_neighbours():
    rng = np.random.default_rng(0)
    X = [rng.integers(0, 2, size=(6, 1)).astype(float) for _ in range(40)]
    y = [["a", *("b" if row[0] else "a" for row in x[:-1])] for x in X]
    pipeline = Pipeline([("window", Window(0, 0)), ("tagger", LatentCRFTagger(n_latent=1, max_iter=50))])
    search = GridSearchCV(pipeline, {"window__before": [0, 1], "window__after": [0, 1]}, cv=2).fit(X, y)
    assert search.best_params_["window__before"] == 1
    assert search.score(X, y) == 1.0
