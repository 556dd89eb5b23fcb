# SPDX-License-Identifier: BSD-3-Clause
"""Lists of the n best label sequences, searched from both ends: against enumeration and against the heap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.enumeration import Lattice, lattices, random_lattice, ranked_labels, sequence_log_weight
from decoding.test_label_search import AMPLE, CLOSE, assert_best
from decoding.test_search_stages import persistent, search
from sklearn_latent._decoding import label_nbest
from sklearn_latent._lattice import Lattice as ScoredLattice
from sklearn_latent._lattice.topology import latent_topology


def peaked(rng, n_latents, n_tokens: int, *, positional: bool = False) -> Lattice:
    """Scores that mostly agree on the labels, as a trained model's do."""
    lattice = random_lattice(rng, n_latents, n_tokens, 0.7, positional=positional)
    for t, label in enumerate(rng.integers(len(n_latents), size=n_tokens)):
        lattice.node[t, lattice.states(label)] += rng.choice([0.0, 2.0, 4.0])
    return lattice


@settings(max_examples=300, deadline=None)
@given(lattices(max_tokens=6), st.integers(2, 40))
def test_equals_enumeration(lattice, n_best):
    assert_best(search(lattice, 4, n_best=n_best), lattice, n_best)


@pytest.mark.parametrize("positional", [False, True])
@pytest.mark.parametrize("n_best", [2, 10, 100])
def test_equals_enumeration_where_few_expansions_serve(positional, n_best):
    rng = np.random.default_rng(n_best)
    for i in range(10):
        lattice = peaked(rng, [(3, 2), (1, 4, 2), (2, 3, 2)][i % 3], 7, positional=positional)
        found = search(lattice, 0, n_best=n_best)
        assert_best(found, lattice, n_best)
        assert found.n_expanded <= 20 * n_best + 70  # the heap was not needed


def test_a_list_begins_with_the_shorter_list():
    rng = np.random.default_rng(2)
    for _ in range(5):
        lattice = peaked(rng, (4,) * 6, 40)
        lists = [search(lattice, 4, n_best=n) for n in (1, 3, 30, 300)]
        assert all(found.proven for found in lists)
        for shorter, longer in zip(lists, lists[1:], strict=False):
            n = len(shorter.labels)
            assert shorter.labels == longer.labels[:n]
            np.testing.assert_allclose(shorter.log_weight, longer.log_weight[:n], **CLOSE)
            assert shorter.log_upper >= longer.log_weight[0] - 1e-11


@pytest.mark.parametrize("n_tokens", [300, 3000])
def test_long_sequences(n_tokens):
    lattice = peaked(np.random.default_rng(n_tokens), (3, 2, 4), n_tokens)
    best, found = search(lattice, 4), search(lattice, 4, n_best=20)
    assert best.proven == found.proven == 1
    assert found.labels[0] == best.labels[0]
    # Each of n_tokens steps of a pass errs by 1e-16 of the log-weight.
    np.testing.assert_allclose(found.log_weight[0], best.log_weight[0], rtol=1e-16 * n_tokens)
    assert (np.diff(found.log_weight) <= 0).all()


def test_where_bounds_are_loose_the_heap_goes_on():
    rng = np.random.default_rng(3)
    lattice = random_lattice(rng, (4,) * 8, 20, 0.3)
    by_graph, by_heap = search(lattice, 4, n_best=3), search(lattice, 0, n_best=3)
    assert by_graph.proven == by_heap.proven == 1
    assert by_heap.n_expanded > 20 * 3 + 10 * 20  # more than what is spent from both ends
    assert by_graph.labels == by_heap.labels
    for labels, weight in zip(by_graph.labels, by_graph.log_weight, strict=True):
        np.testing.assert_allclose(weight, sequence_log_weight(lattice, labels), **CLOSE)
    lattice = persistent(rng, 4, 2, 7, 0.2, 3.0)
    assert_best(search(lattice, 4, n_best=3), lattice, 3)


def test_all_sequences_equal():
    """Each threshold is either above all of them or below."""
    lattice = Lattice(np.zeros((9, 4)), np.zeros((1, 4, 4)), np.array([0, 2, 4], dtype=np.int32), np.arange(4))
    lattice = lattice._replace(label_state=lattice.label_state.astype(np.int32))
    found = search(lattice, 4, n_best=5)
    assert found.proven == 1 and len(set(found.labels)) == 5
    np.testing.assert_allclose(found.log_weight, 9 * np.log(2.0), **CLOSE)


@pytest.mark.parametrize("power", [-250, 0, 250])
def test_sequences_that_weigh_next_to_nothing(power):
    """Below the range of the thresholds the heap has to answer, and above it units change nothing."""
    rng = np.random.default_rng(4)
    lattice = peaked(rng, (2, 3), 6)
    lattice.node[2, lattice.states(1)] -= 420.0  # half of the sequences
    lattice = lattice._replace(node=lattice.node + power)
    assert_best(search(lattice, 4, n_best=40), lattice, 40)


@pytest.mark.parametrize("max_expansions", [0, 1, 5, 50])
def test_bounds_hold_when_the_search_is_cut_short(max_expansions):
    rng = np.random.default_rng(5)
    for _ in range(20):
        lattice = peaked(rng, (3, 2, 2), 6)
        truth = ranked_labels(lattice)
        found = search(lattice, 4, n_best=6, max_expansions=max_expansions)
        assert found.n_expanded <= max_expansions
        assert found.log_upper >= truth[0][1] - 1e-11
        weights = dict(truth)
        np.testing.assert_allclose([weights[y] for y in found.labels], found.log_weight, **CLOSE)
        if found.proven:
            assert_best(found, lattice, 6)


# -- lists for a batch --------------------------------------------------------------------------------


def scored(rng, lengths) -> ScoredLattice:
    topology = latent_topology([3, 1, 2])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    node = rng.normal(scale=2.0, size=(int(offsets[-1]), 6))
    return ScoredLattice(topology, node, rng.normal(size=(1, 36)), offsets)


def test_lists_of_a_batch_do_not_depend_on_how_it_is_cut(monkeypatch):
    from sklearn_latent._decoding import exact_ldi

    lattice = scored(np.random.default_rng(6), [4, 0, 1, 7, 3, 12, 0])
    whole = list(label_nbest(lattice, 50, AMPLE))
    monkeypatch.setattr(exact_ldi, "_MOST_LABELS", 200)
    parts = list(label_nbest(lattice, 50, AMPLE))
    assert [len(r.labels) for r in whole] == [50, 1, 3, 50, 27, 50, 1]
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
        np.testing.assert_allclose(a.log_prob, b.log_prob, rtol=0, atol=1e-13)
        assert a.proven and b.proven
    assert whole[1].labels.shape == (1, 0) and whole[1].log_prob.tolist() == [0.0]
    np.testing.assert_allclose(np.exp(whole[2].log_prob).sum(), 1.0, rtol=1e-12)


def test_far_more_sequences_asked_for_than_there_are():
    lattice = scored(np.random.default_rng(7), [2, 3])
    found = list(label_nbest(lattice, 10**9, 100))
    assert [len(r.labels) for r in found] == [9, 27]
    for ranked in found:
        np.testing.assert_allclose(np.exp(ranked.log_prob).sum(), 1.0, rtol=1e-12)
