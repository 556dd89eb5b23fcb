# SPDX-License-Identifier: BSD-3-Clause
"""The linear scorer forward against loops, backward against finite differences, sparse against dense."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.cases import Corpus, corpora, csr, loop_forward, named_weights, weights_of
from sklearn_latent._lattice import latent_topology
from sklearn_latent._scorers import Design, LinearScorer
from sklearn_latent._scorers.support import full_support, observed_support

# A few dozen products of numbers of order one, in another order.
SUMS = {"rtol": 1e-12, "atol": 1e-13}


def support_of(corpus: Corpus, kind: str):
    n_features = corpus.X.shape[1]
    if kind == "all":
        return full_support(corpus.topology, n_features, **corpus.rules)
    parts = [(Design(csr(corpus.X)), corpus.codes, corpus.offsets)]
    return observed_support(corpus.topology, n_features, parts, **corpus.rules)


def forward(corpus: Corpus, scorer: LinearScorer, params, matrix):
    node, arc = scorer.forward(scorer.prepare(params), Design(matrix), corpus.offsets)
    return node, corpus.topology.as_matrix(arc)


def run(f, ranges):
    for r in ranges:
        f(r)


KINDS = st.sampled_from(["all", "observed"])


@given(corpora(), KINDS, st.booleans())
@settings(max_examples=120, deadline=None)
def test_forward_is_the_loop(corpus, kind, sparse):
    support = support_of(corpus, kind)
    scorer = LinearScorer(corpus.topology, support, sparse=sparse)
    params = weights_of(scorer)
    node, move = forward(corpus, scorer, params, csr(corpus.X) if sparse else corpus.X)
    expected_node, expected_move = loop_forward(corpus, support, params)
    np.testing.assert_allclose(node, expected_node, **SUMS)
    if len(move) == 1:
        move = np.repeat(move, len(expected_move), axis=0)
    np.testing.assert_allclose(move, expected_move, **SUMS)


@given(corpora())
@settings(max_examples=60, deadline=None)
def test_a_pattern_is_the_whole_with_zeros(corpus):
    observed, everything = support_of(corpus, "observed"), support_of(corpus, "all")
    for sparse in (False, True):
        narrow = LinearScorer(corpus.topology, observed, sparse=sparse)
        wide = LinearScorer(corpus.topology, everything, sparse=sparse)
        params = weights_of(narrow)
        value_of = {
            (name, at): w
            for name, names in named_weights(corpus.topology, observed).items()
            for at, w in zip(names, params.get(name, np.empty(0)), strict=True)
        }
        names = named_weights(corpus.topology, everything)
        assert {(name, at) for name in names for at in names[name]} >= set(value_of)
        padded = {name: np.array([value_of.get((name, at), 0.0) for at in names[name]]) for name in wide.shapes()}
        matrix = csr(corpus.X) if sparse else corpus.X
        for a, b in zip(forward(corpus, narrow, params, matrix), forward(corpus, wide, padded, matrix), strict=True):
            np.testing.assert_allclose(a, b, **SUMS)


VALUES = [np.float64, np.float32, np.int64, np.uint8, np.bool_]


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ["all", "observed"])
@given(st.data())
@settings(max_examples=12, deadline=None)
def test_every_type_of_value_and_index(dtype, index, kind, data):
    corpus = data.draw(corpora())
    X = corpus.X.astype(dtype).astype(float)
    matrix = csr(X, dtype, index)
    design = Design(matrix)
    assert design.row_ptr.dtype == design.feature.dtype == index
    support = support_of(corpus._replace(X=X), kind)
    scorer = LinearScorer(corpus.topology, support, sparse=True)
    params = weights_of(scorer)
    expected = loop_forward(corpus, support, params, X)[0]
    np.testing.assert_allclose(forward(corpus, scorer, params, matrix)[0], expected, **SUMS)
    dense = LinearScorer(corpus.topology, support, sparse=False)
    np.testing.assert_allclose(forward(corpus, dense, params, X.astype(dtype))[0], expected, **SUMS)
    # And the way back, over the transposed matrix.
    delta = np.random.default_rng(0).standard_normal(expected.shape)
    buffers = scorer.gradient_buffers({name: np.zeros(shape) for name, shape in scorer.shapes().items()})
    arc_delta = np.zeros((len(X) if support.edge is not None else 1, corpus.topology.n_arcs))
    scorer.add_gradient(buffers, design, corpus.offsets, delta, arc_delta, run)
    whole = X.T @ delta
    np.testing.assert_allclose(buffers["coef"].reshape(-1), support.state.from_matrix(whole), **SUMS)


@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("kind", ["all", "observed"])
def test_unsorted_and_repeated_entries_add_up(ones, kind):
    rng = np.random.default_rng(0)
    feature = np.array([3, 0, 3, 2, 1, 1, 0, 3])
    value = np.ones(8) if ones else rng.standard_normal(8)
    matrix = sp.csr_array((value, feature, np.array([0, 3, 3, 6, 8])), shape=(4, 5))
    X = np.zeros((4, 5))
    np.add.at(X, (np.repeat(np.arange(4), [3, 0, 3, 2]), feature), value)
    topology, none = latent_topology(np.array([2, 1])), np.zeros(5, dtype=bool)
    corpus = Corpus(
        topology, X, np.array([0, 1, 1, 0], np.int32), np.array([0, 3, 4]), None, np.array([0, 3]), none, None, None
    )
    support = support_of(corpus, kind)
    scorer = LinearScorer(topology, support, sparse=True)
    params = weights_of(scorer)
    node, move = forward(corpus, scorer, params, matrix)
    expected = loop_forward(corpus, support, params)
    np.testing.assert_allclose(node, expected[0], **SUMS)
    np.testing.assert_allclose(move, expected[1], **SUMS)
    feature_ptr, token, values = Design(matrix).transposed
    back = sp.csc_array((np.ones(8) if ones else values, token, feature_ptr), shape=(4, 5))
    np.testing.assert_allclose(back.toarray(), X, **SUMS)
    assert (len(values) == 0) == ones


@given(corpora())
@settings(max_examples=60, deadline=None)
def test_transposed_keeps_tokens_in_order(corpus):
    for index in (np.int32, np.int64):
        design = Design(csr(corpus.X, index=index))
        feature_ptr, token, values = design.transposed
        assert feature_ptr[0] == 0 and feature_ptr[-1] == len(token) == np.count_nonzero(corpus.X)
        for f in range(corpus.X.shape[1]):
            mine = slice(feature_ptr[f], feature_ptr[f + 1])
            assert token[mine].tolist() == np.flatnonzero(corpus.X[:, f]).tolist()
            if len(values):
                assert values[mine].tolist() == corpus.X[token[mine], f].tolist()
        assert [r for ranges in design.feature_ranges for r in range(*ranges)] == list(range(corpus.X.shape[1]))


@given(corpora(), st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_rows_of_a_design(corpus, first, count):
    first = min(first, len(corpus.X))
    last = min(first + count, len(corpus.X))
    for matrix in (csr(corpus.X), csr(corpus.X, np.float32, np.int64), corpus.X):
        part = Design(matrix).rows(first, last)
        alone = Design(matrix[first:last])
        assert part.shape == alone.shape == (last - first, corpus.X.shape[1])
        if part.sparse:
            np.testing.assert_array_equal(part.row_ptr, alone.row_ptr)
            np.testing.assert_array_equal(part.feature, alone.feature)
            ones = np.ones(len(part.feature))
            np.testing.assert_array_equal(*(d.values if len(d.values) else ones for d in (part, alone)))
        else:
            np.testing.assert_array_equal(part.dense_rows(), corpus.X[first:last])


@given(corpora(), KINDS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_backward_is_the_derivative(corpus, kind, sparse):
    # The scores are linear in the weights, so a central difference is exact but for rounding: 1e-16 / step.
    support = support_of(corpus, kind)
    scorer = LinearScorer(corpus.topology, support, sparse=sparse)
    params = weights_of(scorer)
    matrix = csr(corpus.X) if sparse else corpus.X
    rng = np.random.default_rng(1)
    node_delta = rng.standard_normal((len(corpus.X), corpus.topology.n_states))
    arc_delta = rng.standard_normal((len(corpus.X) if support.edge is not None else 1, corpus.topology.n_arcs))

    def value(of: dict) -> float:
        node, arc = scorer.forward(scorer.prepare(of), Design(matrix), corpus.offsets)
        with np.errstate(invalid="ignore"):
            terms = [np.where(np.isfinite(s), s * d, 0.0).sum() for s, d in ((node, node_delta), (arc, arc_delta))]
        return float(sum(terms))

    # A score of -inf stays where it is: its derivative has to arrive as zero, as it does from a lattice.
    node, arc = scorer.forward(scorer.prepare(params), Design(matrix), corpus.offsets)
    node_delta[node == -np.inf] = 0.0
    arc_delta[arc == -np.inf] = 0.0
    start = 10.0
    grad = {name: np.full(shape, start) for name, shape in scorer.shapes().items()}
    buffers = scorer.gradient_buffers(grad)
    scorer.add_gradient(buffers, Design(matrix), corpus.offsets, node_delta, arc_delta, run)
    scorer.finish_gradient(buffers, grad)
    for name, w in params.items():
        for k in range(w.size):
            sides = []
            for step in (1.0, -1.0):
                moved = {n: v.copy() for n, v in params.items()}
                moved[name].reshape(-1)[k] += step
                sides.append(value(moved))
            np.testing.assert_allclose(
                grad[name].reshape(-1)[k] - start, (sides[0] - sides[1]) / 2.0, rtol=1e-10, atol=1e-11
            )


@pytest.mark.parametrize("sparse", [True, False])
def test_read_only_inputs(sparse):
    X = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0]])
    matrix = csr(X) if sparse else X
    for array in (matrix.data, matrix.indices, matrix.indptr) if sparse else (matrix,):
        array.flags.writeable = False
    topology = latent_topology(np.array([1, 2]))
    corpus = Corpus(
        topology,
        X,
        np.array([0, 1, -1], np.int32),
        np.array([0, 3]),
        None,
        np.array([1]),
        np.zeros(2, bool),
        None,
        None,
    )
    design = Design(matrix)
    support = observed_support(topology, 2, [(design, corpus.codes, corpus.offsets)], **corpus.rules)
    scorer = LinearScorer(topology, support, sparse=sparse)
    params = weights_of(scorer)
    for array in params.values():
        array.flags.writeable = False
    node, arc = scorer.forward(scorer.prepare(params), design, corpus.offsets)
    np.testing.assert_allclose(node, loop_forward(corpus, support, params)[0], **SUMS)
    grad = {name: np.zeros(shape) for name, shape in scorer.shapes().items()}
    scorer.add_gradient(scorer.gradient_buffers(grad), design, corpus.offsets, node, arc, run)


def test_an_empty_design():
    topology = latent_topology(np.array([1, 2]))
    for matrix in (np.empty((0, 4)), sp.csr_array((0, 4)), np.empty((0, 0)), sp.csr_array((3, 0)), np.empty((3, 0))):
        n_tokens, n_features = matrix.shape
        offsets = np.array([0, n_tokens])
        support = full_support(
            topology, n_features, edge_features=np.empty(0, dtype=int), edge_only=np.zeros(n_features, bool)
        )
        scorer = LinearScorer(topology, support, sparse=sp.issparse(matrix))
        params = weights_of(scorer)
        node, arc = scorer.forward(scorer.prepare(params), Design(matrix), offsets)
        assert node.shape == (n_tokens, 3) and arc.shape == (1, 9)
        grad = {name: np.zeros(shape) for name, shape in scorer.shapes().items()}
        scorer.add_gradient(scorer.gradient_buffers(grad), Design(matrix), offsets, node, arc, run)
