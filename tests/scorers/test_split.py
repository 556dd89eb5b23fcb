# SPDX-License-Identifier: BSD-3-Clause
"""The two halves of a split scorer against the whole."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent import LatentCRFTagger
from sklearn_latent._lattice import latent_topology
from sklearn_latent._scorers import Design, LinearScorer, Pattern, Support
from sklearn_latent._scorers import split as split_module
from sklearn_latent._scorers.split import split_of
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer


def random_pattern(rng, n_features: int, n_columns: int) -> Pattern:
    """Some features with hardly any weight, some with almost all."""
    seen = rng.random((n_features, n_columns)) < rng.choice([0.02, 0.1, 0.5, 0.95], size=(n_features, 1))
    feature, column = np.nonzero(seen)
    ptr = np.searchsorted(feature, np.arange(n_features + 1)).astype(np.int64)
    return Pattern(n_features, n_columns, ptr, column.astype(np.int32))


def random_matrix(rng, n_tokens: int, n_features: int, *, ones: bool, index) -> sp.csr_array:
    matrix = sp.csr_array(sp.random_array((n_tokens, n_features), density=0.3, rng=rng, format="csr"))
    matrix.data[:] = 1.0 if ones else rng.normal(size=matrix.nnz)
    return sp.csr_array((matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index)), shape=matrix.shape)


@pytest.mark.parametrize("seed", range(12))
def test_halves_add_up(seed):
    rng = np.random.default_rng(seed)
    n_latent = rng.integers(1, 4, size=int(rng.integers(2, 9)))
    topology = latent_topology(n_latent)
    S, n_features, n_tokens = topology.n_states, 30, 25
    pattern = random_pattern(rng, n_features, S)
    arcs, states = np.arange(topology.n_arcs), np.arange(S)
    support = Support(pattern, None, arcs, states, states)
    matrix = random_matrix(rng, n_tokens, n_features, ones=seed % 2 == 0, index=[np.int32, np.int64][seed % 3 == 0])
    offsets = np.array([0, 10, 10, n_tokens])
    whole, halves = (LinearScorer(topology, support, sparse=True, split=split) for split in (False, True))
    least = 1 if S <= 4 else max(2, S / 6)
    assert (halves.split is None) == (not (np.diff(pattern.ptr) >= least).any())
    params = {name: rng.normal(size=shape) for name, shape in whole.shapes().items()}
    found = [scorer.forward(scorer.prepare(params), Design(matrix), offsets) for scorer in (whole, halves)]
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found[1][1], found[0][1])

    delta, arc_delta = rng.normal(size=(n_tokens, S)), rng.normal(size=(1, topology.n_arcs))
    gradients = []
    for scorer in (whole, halves):
        grad = {name: np.full(shape, 0.5) for name, shape in scorer.shapes().items()}
        buffers = scorer.gradient_buffers(grad)
        for _ in range(2):  # two chunks add up
            scorer.add_gradient(
                buffers, Design(matrix), offsets, delta, arc_delta, lambda f, ranges: [f(r) for r in ranges]
            )
        scorer.finish_gradient(buffers, grad)
        gradients.append(grad)
    for name, expected in gradients[0].items():
        np.testing.assert_allclose(gradients[1][name], expected, rtol=1e-12, atol=1e-12)


def test_rows_go_to_the_features_with_most_weights(monkeypatch):
    rng = np.random.default_rng(1)
    pattern = random_pattern(rng, 200, 12)
    count = np.diff(pattern.ptr)
    everything = split_of(pattern)
    assert np.array_equal(everything.row >= 0, count >= 2)
    monkeypatch.setattr(split_module, "_ROW_BYTES", 20 * 12 * 8)
    few = split_of(pattern)
    assert few.rows.n_features == 20 and count[few.row >= 0].min() >= np.sort(count)[-20]
    coef = rng.normal(size=pattern.n_weights)
    full = pattern.to_matrix(coef)
    np.testing.assert_array_equal(few.matrix(coef), full[few.row >= 0])
    assert split_of(Pattern(5, 12)) is None
    # Rows of few columns are as short as lists of weights: every feature that has a weight gets one.
    narrow = random_pattern(rng, 50, 3)
    np.testing.assert_array_equal(split_of(narrow).row >= 0, np.diff(narrow.ptr) > 0)


@pytest.mark.parametrize("n_latent", [1, 2])
def test_training_is_the_same_without_it(n_latent, monkeypatch):
    X, y = load_chunks(return_X_y=True)
    X = TemplateVectorizer("chunking").fit_transform(X[:100])
    fit = lambda: LatentCRFTagger(n_latent, random_state=0, callback=lambda info: info.n_iter == 8).fit(X, y[:100])  # noqa: E731
    halves = fit()
    monkeypatch.setattr(split_module, "_ROW_BYTES", 0)
    whole = fit()
    # Sums in another order: eight iterations later the difference is still rounding.
    np.testing.assert_allclose(halves.loss_curve_, whole.loss_curve_, rtol=1e-9)
    np.testing.assert_allclose(halves.coef_, whole.coef_, rtol=1e-6, atol=1e-8)
