# SPDX-License-Identifier: BSD-3-Clause
"""The search over latent paths against the list of all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings

from decoding.enumeration import Lattice, lattices, path_scores, random_lattice, ranked_labels, sequence_log_weight
from sklearn_latent._decoding._path_search import path_search

AMPLE = 10**7
# Logs below 1e3 from at most a hundred terms.
CLOSE = {"rtol": 1e-11, "atol": 1e-11}
# The kernel's own tolerance in its stop.
STOP = 1e-12


class Found(NamedTuple):
    labels: tuple[int, ...]
    log_prob: float
    covered: float
    n_taken: int
    n_expanded: int
    gap_closed: int


def search(
    lattice: Lattice, log_sum: float, *, n_paths: int = AMPLE, alpha: float = 1.0, max_expansions: int = AMPLE
) -> Found:
    labels = np.full(len(lattice.node), -7, dtype=np.int32)
    label_state = lattice.label_state.astype(np.int32)
    out = path_search(
        lattice.node,
        lattice.arc,
        lattice.state_label,
        lattice.label_ptr,
        label_state,
        log_sum,
        n_paths,
        alpha,
        max_expansions,
        labels,
    )
    return Found(tuple(labels.tolist()), *out)


def log_sum_of(lattice: Lattice) -> float:
    return float(np.logaddexp.reduce(path_scores(lattice), axis=None))


def ranked_paths(lattice: Lattice) -> list[tuple[float, tuple[int, ...]]]:
    """Return the score and the labels of every allowed latent path, best first."""
    scores = path_scores(lattice)
    order = np.argsort(-scores, axis=None, kind="stable")
    paths = np.stack(np.unravel_index(order, scores.shape), axis=1)
    labels = lattice.state_label[paths].tolist()
    return [(f, tuple(y)) for f, y in zip(scores.ravel()[order].tolist(), labels, strict=True) if f > -np.inf]


def published_search(lattice: Lattice, n_paths: int, alpha: float) -> Found:
    """Do with the list of all paths what the search does with its heap."""
    probability = {y: np.exp(w - log_sum_of(lattice)) for y, w in ranked_labels(lattice)}
    paths = ranked_paths(lattice)
    seen: list[tuple[int, ...]] = []
    closed, n_taken = 0, 0
    for _, y in paths[:n_paths]:
        n_taken += 1
        if y not in seen:
            seen.append(y)
            best = max(seen, key=probability.__getitem__)
            if probability[best] - alpha * max(0.0, 1 - sum(probability[y] for y in seen)) >= -STOP:
                closed = 1
                break
    closed = int(closed or n_taken == len(paths))
    covered = float(sum(probability[y] for y in seen))
    return Found(best, float(np.log(probability[best])), covered, n_taken, -1, closed)


@settings(max_examples=200, deadline=None)
@given(lattices(max_tokens=4))
def test_ample_search_is_exact(lattice):
    expected = ranked_labels(lattice)
    if not expected:
        assert search(lattice, -np.inf) == ((-1,) * len(lattice.node), -np.inf, 0.0, 0, 0, 1)
        return
    log_sum = log_sum_of(lattice)
    found = search(lattice, log_sum)
    assert found.gap_closed == 1
    np.testing.assert_allclose(found.log_prob, expected[0][1] - log_sum, **CLOSE)
    np.testing.assert_allclose(found.log_prob, dict(expected)[found.labels] - log_sum, **CLOSE)


@pytest.mark.parametrize("n_paths", [1, 2, 5, 30, 10_000])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_follows_the_published_search(n_paths, alpha):
    rng = np.random.default_rng(0)
    for i in range(12):
        lattice = random_lattice(
            rng, [(3, 2), (1, 3, 2), (2, 2, 2)][i % 3], 4, [0.5, 2.0][i % 2], forbidden=0.3 * (i % 2), positional=i > 5
        )
        if not ranked_labels(lattice):
            continue
        expected = published_search(lattice, n_paths, alpha)
        found = search(lattice, log_sum_of(lattice), n_paths=n_paths, alpha=alpha)
        assert found.labels == expected.labels
        assert (found.n_taken, found.gap_closed) == (expected.n_taken, expected.gap_closed)
        np.testing.assert_allclose(found.log_prob, expected.log_prob, **CLOSE)
        np.testing.assert_allclose(found.covered, expected.covered, **CLOSE)


@settings(max_examples=60, deadline=None)
@given(lattices(max_tokens=3))
def test_paths_leave_in_order_of_score(lattice):
    # An alpha no gap can satisfy makes the search go on; `covered` then tells which labels the n-th path brought.
    paths = ranked_paths(lattice)
    if not paths:
        return
    log_sum = log_sum_of(lattice)
    weights = dict(ranked_labels(lattice))
    for n_paths in range(1, min(len(paths), 25) + 1):
        score = paths[n_paths - 1][0]
        # Paths of equal score may come in any order: only labels on either side of the tie are certain.
        certain = {y for f, y in paths if f > score + 1e-9}
        possible = {y for f, y in paths if f >= score - 1e-9}
        found = search(lattice, log_sum, n_paths=n_paths, alpha=1e30)
        if not found.gap_closed:
            assert found.n_taken == n_paths
        low, high = (sum(np.exp(weights[y] - log_sum) for y in group) for group in (certain, possible))
        assert low - 1e-11 <= found.covered <= high + 1e-11  # sums of probabilities
        assert found.labels in possible


def test_every_path_is_taken_once():
    lattice = random_lattice(np.random.default_rng(1), (2, 3), 5, 1.0, forbidden=0.2)
    paths = ranked_paths(lattice)
    # A partition function too large by a factor e keeps the mass seen away from one, so that no gap closes.
    found = search(lattice, log_sum_of(lattice) + 1.0, alpha=1e30)
    assert found.gap_closed == 1  # the heap ran empty
    assert found.n_taken == len(paths)
    np.testing.assert_allclose(found.covered, np.exp(-1.0), **CLOSE)
    # One expansion for each prefix of an allowed path.
    lists = np.stack(np.nonzero(path_scores(lattice) > -np.inf), axis=1)
    assert found.n_expanded == sum(len(np.unique(lists[:, : t + 1], axis=0)) for t in range(5))


def test_equal_scores_are_all_found():
    # 3^4 paths with one score, 2^4 label sequences: sums are powers of two over 81.
    lattice = Lattice(
        np.zeros((4, 3)), np.zeros((1, 3, 3)), np.array([0, 2, 3], dtype=np.int32), np.array([2, 0, 1], dtype=np.int32)
    )
    found = search(lattice, np.log(81.0) + 1.0, alpha=1e30)
    assert found.n_taken == 81
    assert found.labels == (0, 0, 0, 0)
    np.testing.assert_allclose(found.log_prob, np.log(16.0) - np.log(81.0) - 1.0, **CLOSE)
    exact = search(lattice, np.log(81.0))
    assert exact.labels == (0, 0, 0, 0)
    assert exact.n_taken < 81


@pytest.mark.parametrize("max_expansions", [0, 1, 9, 10, 11])
def test_something_is_answered_however_small_the_budget(max_expansions):
    lattice = random_lattice(np.random.default_rng(2), (2, 2), 10, 0.3)
    log_sum = 40.0  # any number will do
    first = search(lattice, log_sum, n_paths=1)
    assert (first.n_taken, first.n_expanded) == (1, 10)
    found = search(lattice, log_sum, max_expansions=max_expansions)
    assert found.labels == first.labels
    assert found.n_taken == int(max_expansions >= 10)
    assert found.n_expanded == max_expansions
    assert (found.log_prob, found.covered, found.gap_closed) == (first.log_prob, first.covered, 0)


def test_a_single_path_cut_short_is_no_empty_heap():
    arc = np.full((1, 2, 2), -np.inf)
    arc[0, 0, 0] = 0.0
    node = np.zeros((6, 2))
    node[0, 1] = -np.inf
    lattice = Lattice(node, arc, np.array([0, 1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32))
    for max_expansions, n_taken, closed in ((3, 0, 0), (6, 1, 1)):
        found = search(lattice, 2.0, alpha=1e30, max_expansions=max_expansions)
        assert found.labels == (0,) * 6
        assert (found.n_taken, found.gap_closed) == (n_taken, closed)


@pytest.mark.parametrize("spread", [0.3, 10.0])
@pytest.mark.parametrize("positional", [False, True])
def test_long_sequences(spread, positional):
    lattice = random_lattice(np.random.default_rng(3), (3, 2, 4), 300, spread, positional=positional)
    best, forward = lattice.node[0], lattice.node[0]
    for t in range(1, 300):
        best = (best[:, None] + lattice.arc_into(t)).max(axis=0) + lattice.node[t]
        forward = np.logaddexp.reduce(forward[:, None] + lattice.arc_into(t), axis=0) + lattice.node[t]
    log_sum = float(np.logaddexp.reduce(forward))
    found = search(lattice, log_sum, n_paths=500)
    assert found.n_taken == 500 or found.gap_closed
    # 300 steps, each off by 1e-16 of a log below 1e4
    np.testing.assert_allclose(found.log_prob, sequence_log_weight(lattice, found.labels) - log_sum, atol=3e-10, rtol=0)
    assert found.log_prob >= best.max() - log_sum - 3e-10
    assert found.covered <= 1 + 1e-9


def test_read_only_inputs_are_accepted_and_left_alone():
    lattice = random_lattice(np.random.default_rng(4), (2, 3), 5, 1.0)
    inputs = [lattice.node, lattice.arc, lattice.state_label, lattice.label_ptr, lattice.label_state]
    inputs = [a.copy() for a in inputs]
    before = [a.copy() for a in inputs]
    for a in inputs:
        a.flags.writeable = False
    labels = np.full(5, -7, dtype=np.int32)
    assert path_search(*inputs, log_sum_of(lattice), 100, 1.0, AMPLE, labels)[2] >= 1
    assert labels.min() >= 0
    for a, b in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(a, b)
