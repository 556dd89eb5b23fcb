# SPDX-License-Identifier: BSD-3-Clause
"""The training criterion: value against enumeration, gradient against finite differences, cuts and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from scorers.cases import Corpus, corpora, csr, loop_forward
from sklearn_latent import _threads
from sklearn_latent._lattice import latent_topology
from sklearn_latent._objective import ChainObjective, Chunk, Packing
from sklearn_latent._objective import chain as chain_module
from sklearn_latent._scorers import Design, LinearScorer
from sklearn_latent._scorers.support import full_support, observed_support
from sklearn_latent._threads import Workers

ONE = Workers(1)


def support_of(corpus: Corpus, kind: str):
    n_features = corpus.X.shape[1]
    if kind == "all":
        return full_support(corpus.topology, n_features, **corpus.rules)
    parts = [(Design(csr(corpus.X)), corpus.codes, corpus.offsets)]
    return observed_support(corpus.topology, n_features, parts, **corpus.rules)


def objective_of(corpus: Corpus, kind: str, sparse: bool, sigma: float = 0.7) -> ChainObjective:
    return ChainObjective(
        corpus.topology, LinearScorer(corpus.topology, support_of(corpus, kind), sparse=sparse), sigma
    )


def chunks_of(corpus: Corpus, weight: np.ndarray, sparse: bool, row_bytes: int = 1) -> list[Chunk]:
    return Chunk.cut(csr(corpus.X) if sparse else corpus.X, corpus.codes, corpus.offsets, weight, row_bytes)


def theta_of(objective: ChainObjective, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng(seed).standard_normal(objective.packing.size)


def listed_value(corpus: Corpus, objective: ChainObjective, theta: np.ndarray, weight: np.ndarray) -> float:
    """The objective by its formula, every path listed."""
    node, move = loop_forward(corpus, objective.scorer.support, objective.packing.views(theta))
    top = corpus.topology
    arc = np.ascontiguousarray(move[:, top.arc_source, top.arc_target])
    if len(arc) == 0:
        arc = np.zeros((1, top.n_arcs))
    loss = oracle.log_sums(top, node, arc, corpus.offsets) - oracle.log_sums(
        top, node, arc, corpus.offsets, corpus.codes
    )
    prior = 0.0 if np.isinf(objective.sigma) else (theta**2).sum() / (2.0 * objective.sigma**2)
    return float(weight @ loss + prior)


def possible(corpus: Corpus, objective: ChainObjective) -> bool:
    """Whether no sequence is forbidden by the constraints drawn, and the list of paths is short."""
    longest = int(np.diff(corpus.offsets).max())
    if corpus.topology.n_states**longest > 3000:
        return False
    return (
        objective.impossible_sequence(np.zeros(objective.packing.size), chunks_of(corpus, np.ones(9), True), ONE)
        is None
    )


KINDS = st.sampled_from(["all", "observed"])
WEIGHTS = np.array([1.0, 0.5, 3.0, 0.25])


@given(corpora(), KINDS, st.booleans(), st.sampled_from([0.3, 1.0, np.inf]))
@settings(max_examples=120, deadline=None)
def test_value_is_the_formula(corpus, kind, sparse, sigma):
    objective = objective_of(corpus, kind, True, sigma)
    if not possible(corpus, objective):
        return
    objective = objective_of(corpus, kind, sparse, sigma)
    weight, theta = WEIGHTS[: len(corpus.offsets) - 1], theta_of(objective)
    value, _ = objective.value_and_grad(theta, chunks_of(corpus, weight, sparse), ONE)
    np.testing.assert_allclose(value, listed_value(corpus, objective, theta, weight), rtol=1e-11, atol=1e-11)


@given(corpora(), KINDS, st.booleans())
@settings(max_examples=100, deadline=None)
def test_gradient_is_the_derivative(corpus, kind, sparse):
    # Central differences with h = 1e-5: h^2 times a third derivative of order a hundred, and 1e-15 / h, both 1e-8.
    objective = objective_of(corpus, kind, True)
    if not possible(corpus, objective):
        return
    objective = objective_of(corpus, kind, sparse)
    weight, theta = WEIGHTS[: len(corpus.offsets) - 1], theta_of(objective)
    chunks = chunks_of(corpus, weight, sparse)
    grad = objective.value_and_grad(theta, chunks, ONE)[1]
    chosen = np.random.default_rng(0).permutation(len(theta))[:25]
    h = 1e-5
    for k in chosen:
        step = np.zeros(len(theta))
        step[k] = h
        sides = [objective.value_and_grad(theta + s * step, chunks, ONE)[0] for s in (1.0, -1.0)]
        np.testing.assert_allclose(grad[k], (sides[0] - sides[1]) / (2 * h), rtol=1e-6, atol=2e-7)


def worked(n_sequences: int = 60, *, edges: bool = False, constrained: bool = False, seed: int = 0) -> Corpus:
    """A corpus large enough to be cut, latents unequal, some labels unknown, empty sequences among the others."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, n_sequences)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_tokens, n_features = int(offsets[-1]), 30
    X = np.where(rng.random((n_tokens, n_features)) < 0.2, rng.standard_normal((n_tokens, n_features)), 0.0)
    allowed = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool) if constrained else None
    codes = np.empty(n_tokens, dtype=np.int32)
    for first, last in zip(offsets[:-1], offsets[1:], strict=True):
        for t in range(first, last):
            labels = np.arange(3) if allowed is None or t == first else np.flatnonzero(allowed[codes[t - 1]])
            codes[t] = rng.choice(labels)
    codes[rng.random(n_tokens) < 0.1] = -1
    edge_only = np.zeros(n_features, dtype=bool)
    edge_only[:3] = edges
    edge_features = np.arange(0, 12) if edges else np.empty(0, dtype=np.int64)
    return Corpus(
        latent_topology(np.array([2, 1, 3]), allowed), X, codes, offsets, allowed, edge_features, edge_only, None, None
    )


CASES = [
    pytest.param(kind, sparse, edges, constrained, id=f"{kind}-{'sparse' if sparse else 'dense'}"
                 f"{'-edges' if edges else ''}{'-constraints' if constrained else ''}")
    for kind in ("all", "observed")
    for sparse in (True, False)
    for edges in (True, False)
    for constrained in (True, False)
]  # fmt: skip


@pytest.mark.parametrize(("kind", "sparse", "edges", "constrained"), CASES)
def test_cuts_change_nothing(kind, sparse, edges, constrained, monkeypatch):
    corpus = worked(edges=edges, constrained=constrained)
    objective = objective_of(corpus, kind, sparse)
    theta = theta_of(objective, scale=0.5)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(corpus.offsets) - 1)
    whole = chunks_of(corpus, weight, sparse)
    assert len(whole) == 1 and len(whole[0].blocks) == 1
    value, grad = objective.value_and_grad(theta, whole, ONE)
    for chunk_tokens, block_tokens in ((40, 10), (1, 1), (10_000, 7), (13, 10_000)):
        monkeypatch.setattr(chain_module, "CHUNK_BYTES", chunk_tokens)
        monkeypatch.setattr(chain_module, "BLOCK_TOKENS", block_tokens)
        chunks = chunks_of(corpus, weight, sparse)
        assert len(chunks) > 1 or len(chunks[0].blocks) > 1
        assert sum(len(c.offsets) - 1 for c in chunks) == len(corpus.offsets) - 1
        again = objective.value_and_grad(theta, chunks, ONE)
        # The same terms in other sums.
        np.testing.assert_allclose(again[0], value, rtol=1e-10, atol=0.0)
        np.testing.assert_allclose(again[1], grad, rtol=1e-10, atol=1e-11)
        for n_threads in (2, 3):
            with Workers(n_threads) as workers:
                threaded = objective.value_and_grad(theta, chunks, workers)
            assert threaded[0] == again[0], "threads changed bits of the value"
            assert threaded[1].tobytes() == again[1].tobytes(), "threads changed bits of the gradient"


@pytest.mark.parametrize(("kind", "sparse", "edges", "constrained"), CASES)
def test_gradient_of_a_larger_corpus(kind, sparse, edges, constrained):
    # Along random directions; see test_gradient_is_the_derivative for the step.
    corpus = worked(edges=edges, constrained=constrained)
    objective = objective_of(corpus, kind, sparse)
    theta = theta_of(objective, scale=0.5)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(corpus.offsets) - 1)
    chunks = chunks_of(corpus, weight, sparse)
    grad = objective.value_and_grad(theta, chunks, ONE)[1]
    for seed in range(4):
        direction = theta_of(objective, 100 + seed)
        direction /= np.linalg.norm(direction)
        h = 1e-5
        sides = [objective.value_and_grad(theta + s * h * direction, chunks, ONE)[0] for s in (1.0, -1.0)]
        # A value of some hundreds is known to 1e-13: 1e-8 after division by the step.
        np.testing.assert_allclose(grad @ direction, (sides[0] - sides[1]) / (2 * h), rtol=1e-7, atol=1e-6)


def test_weights_are_repetitions():
    corpus = worked(8)
    objective = objective_of(corpus, "all", True)
    theta = theta_of(objective)
    weight = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0, 0.0])
    order = np.repeat(np.arange(8), weight.astype(int))
    rows = np.concatenate([np.arange(corpus.offsets[i], corpus.offsets[i + 1]) for i in order])
    repeated = corpus._replace(
        X=corpus.X[rows],
        codes=corpus.codes[rows],
        offsets=np.concatenate([[0], np.cumsum(np.diff(corpus.offsets)[order])]),
    )
    a = objective.value_and_grad(theta, chunks_of(corpus, weight, True), ONE)
    b = objective.value_and_grad(theta, chunks_of(repeated, np.ones(len(order)), True), ONE)
    np.testing.assert_allclose(a[0], b[0], rtol=1e-12, atol=0.0)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-10, atol=1e-12)


def test_one_state_a_label_with_tied_latents_gives_the_same_gradient_for_each():
    # papers: where the latents of a label share their weights, they get the same gradient.
    corpus = worked(20)
    objective = objective_of(corpus, "all", True)
    grad = objective.packing.views(
        objective.value_and_grad(np.zeros(objective.packing.size), chunks_of(corpus, np.ones(20), True), ONE)[1]
    )
    by_state = grad["coef"].reshape(corpus.X.shape[1], -1)
    for label in range(3):
        own = by_state[:, corpus.topology.state_label == label]
        np.testing.assert_allclose(own, own[:, :1] * np.ones(own.shape[1]), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("scale", [1e3, 1e5])
def test_weights_beyond_the_range_of_exp(scale):
    # The fast walk is not certified here; the exact one gives a finite value and a gradient of bounded masses.
    corpus = worked(12)
    objective = objective_of(corpus, "all", True, np.inf)
    theta = theta_of(objective, scale=scale)
    weight = np.ones(12)
    value, grad = objective.value_and_grad(theta, chunks_of(corpus, weight, True), ONE)
    assert np.isfinite(value) and np.isfinite(grad).all()
    node, move = loop_forward(corpus, objective.scorer.support, objective.packing.views(theta))
    # Some paths are longer than can be listed: log sums by logaddexp, position by position.
    expected = 0.0
    for first, last in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True):
        for sign, held in ((1.0, False), (-1.0, True)):
            if first == last:
                continue
            forward = None
            for t in range(first, last):
                own = np.where(
                    held & (corpus.codes[t] != -1) & (corpus.topology.state_label != corpus.codes[t]), -np.inf, node[t]
                )
                forward = own if forward is None else np.logaddexp.reduce(forward[:, None] + move[t], axis=0) + own
            expected += sign * np.logaddexp.reduce(forward)
    np.testing.assert_allclose(value, expected, rtol=1e-10, atol=scale * 1e-11)


def test_the_first_impossible_sequence_is_named():
    corpus = worked(30, constrained=True)
    objective = objective_of(corpus, "all", True)
    theta = np.zeros(objective.packing.size)
    assert objective.impossible_sequence(theta, chunks_of(corpus, np.ones(30), True), ONE) is None
    lengths = np.diff(corpus.offsets)
    wrong = int(np.flatnonzero(lengths >= 2)[5])
    corpus.codes[corpus.offsets[wrong] : corpus.offsets[wrong] + 2] = [0, 2]
    for row_bytes in (1, _threads.CHUNK_BYTES // 20):
        chunks = chunks_of(corpus, np.ones(30), True, row_bytes)
        assert (len(chunks) > 1) == (row_bytes > 1)
        assert objective.impossible_sequence(theta, chunks, ONE) == wrong


# -- packing --------------------------------------------------------------------------------------------------


def test_packing_is_views_in_order():
    packing = Packing({"a": (2, 3), "nothing": (0, 4), "b": (), "c": (5,)})
    assert packing.size == 12
    flat = np.arange(12.0)
    views = packing.views(flat)
    assert list(views) == ["a", "nothing", "b", "c"]
    assert {name: v.shape for name, v in views.items()} == packing.shapes
    np.testing.assert_array_equal(np.concatenate([v.reshape(-1) for v in views.values()]), flat)
    views["a"][1, 2] = 50.0
    views["c"][:] += 1.0
    assert flat[5] == 50.0 and flat[-1] == 12.0
    assert Packing({}).size == 0
