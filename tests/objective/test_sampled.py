# SPDX-License-Identifier: BSD-3-Clause
"""Mini-batches: the same loss and derivative as of the sequences by themselves, in the weights that they touch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objective.test_chain import CASES, KINDS, ONE, WEIGHTS, objective_of, possible, theta_of, worked
from scorers.cases import Corpus, corpora, csr
from sklearn_latent._objective import ChainObjective, Chunk, SampledObjective
from sklearn_latent._objective import sampled as sampled_module
from sklearn_latent._scorers import batch as batch_module
from sklearn_latent._sequences import SequenceMatrix
from sklearn_latent._threads import Workers


def sampled_of(corpus: Corpus, objective: ChainObjective, sparse: bool, weight, workers=ONE) -> SampledObjective:
    """The sequences that have tokens, as training hands them over."""
    lengths = np.diff(corpus.offsets)
    X = SequenceMatrix(csr(corpus.X) if sparse else corpus.X, lengths[lengths > 0])
    return SampledObjective(objective, X, corpus.codes, weight[lengths > 0], workers)


def of_sequences(problem: SampledObjective, samples: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """Loss and derivative in all weights, by the objective over the whole corpus."""
    part = problem.X[samples]
    codes = problem.codes[problem.X._rows_of(samples)]
    chunks = Chunk.cut(part.values, codes, part.offsets, problem.weight[samples], 1)
    grad = np.zeros(len(theta))
    return problem.objective.add_loss(theta, chunks, ONE, grad), grad


@given(corpora(), KINDS, st.booleans(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_batch_is_its_sequences(corpus, kind, sparse, data):
    objective = objective_of(corpus, kind, True)
    if not possible(corpus, objective):
        return
    objective = objective_of(corpus, kind, sparse)
    weight, theta = WEIGHTS[: len(corpus.offsets) - 1], theta_of(objective)
    problem = sampled_of(corpus, objective, sparse, weight)
    if problem.n_samples == 0:
        return
    samples = np.array(data.draw(st.lists(st.integers(0, problem.n_samples - 1), min_size=1, unique=True)))
    batch = problem.draw(samples)
    for _ in range(2):  # a batch can be used again
        loss, total, grad = problem.evaluate(theta[batch.index], batch)
        whole = np.zeros(len(theta))
        whole[batch.index] = grad
        expected = of_sequences(problem, samples, theta)
        # The same terms in another order.
        np.testing.assert_allclose(loss, expected[0], rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(whole, expected[1], rtol=1e-10, atol=1e-11)
        assert total == pytest.approx(problem.weight[samples].sum())
    if sparse:
        assert len(np.unique(batch.index)) == len(batch.index)


@pytest.mark.parametrize(("kind", "sparse", "edges", "constrained"), CASES)
def test_the_gradient_is_the_derivative(kind, sparse, edges, constrained):
    corpus = worked(edges=edges, constrained=constrained)
    objective = objective_of(corpus, kind, sparse)
    problem = sampled_of(corpus, objective, sparse, np.random.default_rng(1).uniform(0.1, 2.0, len(corpus.offsets) - 1))
    batch = problem.draw(np.array([3, 4, 9, 20]))
    values = theta_of(objective, scale=0.5)[batch.index]
    grad = problem.evaluate(values, batch)[2]
    for seed in range(4):
        direction = np.random.default_rng(seed).standard_normal(len(values))
        direction /= np.linalg.norm(direction)
        h = 1e-5
        sides = [problem.evaluate(values + s * h * direction, batch)[0] for s in (1.0, -1.0)]
        # Central differences: h^2 times a third derivative, and 1e-14 / h.
        np.testing.assert_allclose(grad @ direction, (sides[0] - sides[1]) / (2 * h), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("kind", "sparse", "edges", "constrained"), CASES)
def test_large_batches_are_cut_and_threads_change_nothing(kind, sparse, edges, constrained, monkeypatch):
    corpus = worked(edges=edges, constrained=constrained)
    objective = objective_of(corpus, kind, sparse)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(corpus.offsets) - 1)
    problem = sampled_of(corpus, objective, sparse, weight)
    samples = np.random.default_rng(0).permutation(problem.n_samples)[:30]
    batch = problem.draw(samples)
    values = theta_of(objective, scale=0.5)[batch.index]
    whole = problem.evaluate(values, batch)
    for n_tokens in (1, 7, 40):
        monkeypatch.setattr(sampled_module, "BLOCK_TOKENS", n_tokens)
        cut = problem.evaluate(values, batch)
        np.testing.assert_allclose(cut[0], whole[0], rtol=1e-10, atol=0.0)
        np.testing.assert_allclose(cut[2], whole[2], rtol=1e-10, atol=1e-11)
        with Workers(3) as workers:
            threaded = sampled_of(corpus, objective, sparse, weight, workers)
            again = threaded.evaluate(values, threaded.draw(samples))
        assert again[0] == cut[0] and again[2].tobytes() == cut[2].tobytes()


def test_a_batch_too_large_to_number_is_refused(monkeypatch):
    corpus = worked()
    problem = sampled_of(corpus, objective_of(corpus, "all", True), True, np.ones(60))
    monkeypatch.setattr(batch_module, "_MOST", 3)
    with pytest.raises(ValueError, match=r"a batch of 40 sequences holds [\d,]+ feature values.*lower batch_size"):
        problem.draw(np.arange(40))
