# SPDX-License-Identifier: BSD-3-Clause
"""Which weights exist, against sets built from the words of the contract."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.cases import Corpus, corpora, csr, named_weights, seen_weights
from sklearn_latent._lattice import latent_topology
from sklearn_latent._scorers import Design, Pattern
from sklearn_latent._scorers import support as support_module
from sklearn_latent._scorers.support import full_support, observed_support


def design_of(X: np.ndarray, form: str) -> Design:
    if form == "dense":
        return Design(X)
    matrix = csr(X, index=np.int64 if form == "long" else np.int32)
    if form == "zeros":
        # Stored zeros show nothing.
        matrix = csr(np.where(X == 0, 7.0, X))
        matrix.data[matrix.data == 7.0] = 0.0
    return Design(matrix)


def parts_of(corpus: Corpus, form: str, pieces: int) -> list:
    """The corpus in chunks of whole sequences."""
    out = []
    for some in np.array_split(np.arange(len(corpus.offsets) - 1), pieces):
        if len(some) == 0:
            continue
        first, last = corpus.offsets[some[0]], corpus.offsets[some[-1] + 1]
        offsets = corpus.offsets[some[0] : some[-1] + 2] - first
        out.append((design_of(corpus.X[first:last], form), corpus.codes[first:last], offsets))
    return out


@pytest.mark.parametrize("cells", [1 << 28, 0], ids=["table", "sorted"])
@given(
    corpora(), st.sampled_from(["sparse", "long", "dense", "zeros"]), st.integers(1, 3), st.sampled_from([1, 5, 999])
)
@settings(max_examples=100, deadline=None)
def test_observed_is_what_training_shows(cells, corpus, form, pieces, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(support_module, "_TABLE_CELLS", cells)
        patch.setattr(support_module, "_BLOCK_CELLS", block)
        parts = parts_of(corpus, form, pieces)
        support = observed_support(corpus.topology, corpus.X.shape[1], parts, **corpus.rules)
    expected = seen_weights(corpus)
    for name, found in named_weights(corpus.topology, support).items():
        assert len(set(found)) == len(found), "a weight twice"
        assert set(found) == expected[name], name
    for name in ("coef", "transition", "start", "end"):
        found = named_weights(corpus.topology, support)[name]
        assert name == "coef" or found == sorted(found)
    assert (support.edge is None) == (len(corpus.edge_features) == 0)


@given(corpora())
@settings(max_examples=80, deadline=None)
def test_all_is_everything_that_constraints_leave(corpus):
    top, n_features = corpus.topology, corpus.X.shape[1]
    support = full_support(top, n_features, **corpus.rules)
    states = range(top.n_states)
    moves = {
        (a, b)
        for a, b in product(states, states)
        if corpus.allowed is None or corpus.allowed[top.state_label[a], top.state_label[b]]
    }
    found = named_weights(top, support)
    assert found["coef"] == [(f, h) for f in range(n_features) if not corpus.edge_only[f] for h in states]
    assert set(found["transition"]) == moves and len(found["transition"]) == len(moves)
    assert found["edge"] == [(f, *move) for f in corpus.edge_features for move in sorted(moves)]
    for name, allowed in (("start", corpus.start_allowed), ("end", corpus.end_allowed)):
        assert found[name] == [h for h in states if allowed is None or allowed[h]]


def test_dense_numbers_are_not_copied():
    """The places of all numbers would take three times their memory."""
    X = np.random.default_rng(0).normal(size=(8000, 400))
    parts = [(Design(X), np.zeros(8000, dtype=np.int32), np.arange(0, 8001, 20))]
    none = {"edge_features": np.empty(0, dtype=np.int64), "edge_only": np.zeros(400, dtype=bool)}
    tracemalloc.start()
    support = observed_support(latent_topology(np.array([1])), 400, parts, **none)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(support.state.column) == 400
    assert peak < 0.8 * X.nbytes


def test_a_worked_case():
    # Two labels, the second with two states; feature 0 at a token of label 0, feature 1 at an unknown one after it.
    topology = latent_topology(np.array([1, 2]))
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    support = observed_support(
        topology,
        2,
        [(Design(csr(X)), np.array([0, -1], dtype=np.int32), np.array([0, 2]))],
        edge_features=np.array([0, 1]),
        edge_only=np.zeros(2, dtype=bool),
    )
    assert named_weights(topology, support) == {
        "coef": [(0, 0), (1, 0), (1, 1), (1, 2)],
        "edge": [(1, 0, 0), (1, 0, 1), (1, 0, 2)],
        "transition": [(0, 0), (0, 1), (0, 2)],
        "start": [0],
        "end": [0, 1, 2],
    }


@given(corpora())
@settings(max_examples=40, deadline=None)
def test_patterns_go_to_matrices_and_back(corpus):
    support = observed_support(corpus.topology, corpus.X.shape[1], parts_of(corpus, "sparse", 1), **corpus.rules)
    for pattern in (support.state, support.edge, Pattern(corpus.X.shape[1], 3)):
        if pattern is None:
            continue
        weight = np.arange(1.0, pattern.n_weights + 1)
        matrix = pattern.to_matrix(weight)
        assert matrix.shape == (pattern.n_features, pattern.n_columns)
        assert np.count_nonzero(matrix) == pattern.n_weights
        np.testing.assert_array_equal(pattern.from_matrix(matrix), weight)
