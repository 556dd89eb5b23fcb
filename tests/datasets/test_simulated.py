# SPDX-License-Identifier: BSD-3-Clause
import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import chi2

from sklearn_latent import LabelSequences, SequenceMatrix
from sklearn_latent.datasets import make_latent_sequences
from sklearn_latent.datasets._simulated import draw_path


def path_probabilities(scores, transition):
    """Probability of every state path, by enumeration: a dict of tuples."""
    n_tokens, n_states = scores.shape
    mass = {}
    for path in itertools.product(range(n_states), repeat=n_tokens):
        total = sum(scores[t, s] for t, s in enumerate(path))
        mass[path] = np.exp(total + sum(transition[a, b] for a, b in itertools.pairwise(path)))
    z = sum(mass.values())
    return {path: m / z for path, m in mass.items()}


def check_frequencies(probability, counts, n):
    """Chi-square test at a level that a sound sampler fails once in 100,000 seeds."""
    expected = np.array([n * p for p in probability.values()])
    found = np.array([counts.get(key, 0) for key in probability])
    rare = expected < 5
    expected, found = (np.append(a[~rare], a[rare].sum()) for a in (expected, found))
    if expected[-1] < 5:
        expected, found = expected[:-1], found[:-1]
    statistic = ((found - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(1e-5, len(expected) - 1)


@pytest.mark.parametrize("n_tokens", [1, 2, 3])
def test_paths_are_drawn_in_proportion(n_tokens):
    rng = np.random.RandomState(0)
    scores, transition = rng.standard_normal((n_tokens, 3)), rng.standard_normal((3, 3))
    n, counts = 4000, {}
    for _ in range(n):
        path = tuple(draw_path(scores, transition, rng).tolist())
        counts[path] = counts.get(path, 0) + 1
    check_frequencies(path_probabilities(scores, transition), counts, n)


def test_labels_follow_the_returned_weights():
    """Over the inputs that were drawn, each label pair comes up as often as its probabilities add up to."""
    corpus = make_latent_sequences(3000, n_labels=2, n_latent=2, n_features=2, mean_length=2, scale=1.5, random_state=1)
    pairs = list(itertools.product(range(2), repeat=2))
    expected, variance, found = (dict.fromkeys(pairs, 0.0) for _ in range(3))
    for x, y in zip(corpus.data, corpus.target, strict=True):
        if len(y) != 2:
            continue
        probability = dict.fromkeys(pairs, 0.0)
        for path, p in path_probabilities(x @ corpus.coef, corpus.transition_coef).items():
            probability[tuple(corpus.state_labels[list(path)].tolist())] += p
        found[tuple(y)] += 1
        for pair, p in probability.items():
            expected[pair] += p
            variance[pair] += p * (1 - p)
    assert sum(found.values()) > 800
    for pair in pairs:
        assert abs(found[pair] - expected[pair]) < 4.5 * np.sqrt(variance[pair])


def test_contents():
    corpus = make_latent_sequences(30, n_labels=3, n_latent=2, n_features=4, mean_length=5, random_state=0)
    assert isinstance(corpus.data, SequenceMatrix) and len(corpus.data) == 30
    assert corpus.data.n_features == 4 and corpus.data.dtype == np.float64
    assert isinstance(corpus.data.values, np.ndarray)
    assert type(corpus.target) is LabelSequences and type(corpus.latent) is LabelSequences
    assert corpus.coef.shape == (4, 6) and corpus.transition_coef.shape == (6, 6)
    assert corpus.state_labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert corpus.target_names == [0, 1, 2]
    assert "30 sequences of 4" in corpus.DESCR
    for y, h, n in zip(corpus.target, corpus.latent, corpus.data.lengths, strict=True):
        assert len(y) == len(h) == n >= 1
        assert all(type(label) is int for label in y)
        assert h.dtype == np.int64
        assert y == corpus.state_labels[h].tolist()
    assert 4 < corpus.data.lengths.mean() < 6
    pickle.loads(pickle.dumps(corpus))


def test_return_X_y():
    X, y = make_latent_sequences(5, random_state=3, return_X_y=True)
    corpus = make_latent_sequences(5, random_state=3)
    assert_array_equal(X.values, corpus.data.values)
    assert y == corpus.target


def test_seed():
    a, b, c = (make_latent_sequences(5, random_state=seed) for seed in (0, np.random.RandomState(0), 1))
    assert_array_equal(a.data.values, b.data.values)
    assert a.target == b.target
    assert a.target != c.target


def test_ends_of_the_ranges():
    corpus = make_latent_sequences(1, n_labels=1, n_latent=1, n_features=1, mean_length=1, random_state=0)
    assert corpus.target == [[0]]
    loud = make_latent_sequences(20, scale=1e4, random_state=0)  # far beyond what exp can hold
    assert all(np.isin(h, np.arange(6)).all() for h in loud.latent)
    even = make_latent_sequences(2000, n_labels=2, mean_length=1, scale=0, random_state=0)
    assert abs(np.mean([y[0] for y in even.target]) - 0.5) < 0.05


@pytest.mark.parametrize("name", ["n_sequences", "n_labels", "n_latent", "n_features"])
def test_bad_counts(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1"):
        make_latent_sequences(**{name: 0})
    for value in (2.0, "2", True, None):
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            make_latent_sequences(**{name: value})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mean_length": 0.5}, ValueError),
        ({"mean_length": np.inf}, ValueError),
        ({"mean_length": "10"}, TypeError),
        ({"scale": -1}, ValueError),
        ({"scale": np.nan}, ValueError),
        ({"scale": None}, TypeError),
    ],
)
def test_bad_numbers(options, error):
    with pytest.raises(error, match=next(iter(options))):
        make_latent_sequences(**options)
