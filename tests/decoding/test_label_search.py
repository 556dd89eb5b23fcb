# SPDX-License-Identifier: BSD-3-Clause
"""The search over label prefixes against enumeration, and its certificate where enumeration cannot go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.enumeration import (
    Lattice,
    clique_lattice,
    largest_clique,
    lattices,
    random_lattice,
    ranked_labels,
    sequence_log_weight,
)
from sklearn_latent._decoding._label_search import label_search

# Log-weights here are below 1e4 in size and sums have a few thousand terms at most.
CLOSE = {"rtol": 1e-12, "atol": 1e-11}
AMPLE = 10**6


class Found(NamedTuple):
    labels: list[tuple[int, ...]]
    log_weight: np.ndarray
    log_upper: float
    proven: int
    n_expanded: int


def factors(lattice: Lattice) -> tuple[np.ndarray, np.ndarray, float]:
    """Return node and arc factors, shifted by their maxima as a caller would, and what the shifts add up to."""
    node_top = lattice.node.max(axis=1, keepdims=True)
    arc_top = lattice.arc.max(axis=(1, 2), keepdims=True)
    node_top[node_top == -np.inf] = 0.0
    arc_top[arc_top == -np.inf] = 0.0
    steps = len(lattice.node) - 1
    shift = node_top.sum() + (arc_top[1:].sum() if len(lattice.arc) > 1 else steps * arc_top.sum())
    return np.exp(lattice.node - node_top), np.exp(lattice.arc - arc_top), float(shift)


def search(lattice: Lattice, *, n_best: int = 1, max_expansions: int = AMPLE, epsilon: float = 0.0) -> Found:
    node_factor, arc_factor, shift = factors(lattice)
    labels = np.full((n_best, len(node_factor)), -1, dtype=np.int32)
    log_weight = np.full(n_best, np.nan)
    n_found, log_upper, proven, n_expanded = label_search(
        node_factor,
        arc_factor,
        lattice.label_ptr,
        lattice.label_state.astype(np.int32),
        n_best,
        max_expansions,
        epsilon,
        labels,
        log_weight,
    )
    assert np.all(log_weight[n_found:] == -np.inf)
    assert np.all(np.diff(log_weight[:n_found]) <= 0)
    sequences = [tuple(row) for row in labels[:n_found].tolist()]
    assert len(set(sequences)) == n_found
    return Found(sequences, log_weight[:n_found] + shift, log_upper + shift, proven, n_expanded)


def assert_best(found: Found, lattice: Lattice, n_best: int) -> None:
    """Check weights, their order and their number; labels through their weights, for equal ones may trade places."""
    expected = ranked_labels(lattice)
    weights = dict(expected)
    np.testing.assert_allclose(found.log_weight, [w for _, w in expected[:n_best]], **CLOSE)
    np.testing.assert_allclose([weights[y] for y in found.labels], found.log_weight, **CLOSE)
    assert found.proven == 1
    if expected:
        assert found.log_upper == found.log_weight[0]
    else:
        assert found.log_upper == -np.inf


@settings(max_examples=300, deadline=None)
@given(lattices(), st.sampled_from([1, 2, 7, 1000]))
def test_equals_enumeration(lattice, n_best):
    assert_best(search(lattice, n_best=n_best), lattice, n_best)


@pytest.mark.parametrize("n_latents", [(3, 2), (1, 4, 2), (2, 2, 2)])
@pytest.mark.parametrize("spread", [0.3, 1.0])
@pytest.mark.parametrize("n_best", [1, 7])
def test_equals_enumeration_on_flat_lattices(n_latents, spread, n_best):
    # With n = 7, dropping a prefix that only one other dominates loses answers on most of these.
    rng = np.random.default_rng(7)
    for i in range(16):
        lattice = random_lattice(rng, n_latents, 6, spread, forbidden=0.2 * (i % 3), positional=i % 2 == 1)
        assert_best(search(lattice, n_best=n_best), lattice, n_best)


@settings(max_examples=200, deadline=None)
@given(lattices(), st.sampled_from([0, 1, 5, 50]), st.sampled_from([1, 3]))
def test_stopping_early_keeps_its_promises(lattice, max_expansions, n_best):
    expected = ranked_labels(lattice)
    found = search(lattice, n_best=n_best, max_expansions=max_expansions)
    assert found.n_expanded <= max_expansions
    if not expected:
        assert (found.labels, found.proven, found.log_upper) == ([], 1, -np.inf)
        return
    weights = dict(expected)
    assert found.labels
    np.testing.assert_allclose([weights[y] for y in found.labels], found.log_weight, **CLOSE)
    # The bound itself may round: 1e-11 is the tolerance of the enumeration.
    assert found.log_upper >= expected[0][1] - 1e-11
    assert found.log_upper >= found.log_weight[0]
    if found.proven:
        assert_best(found, lattice, n_best)


def test_budget_is_spent_before_giving_up():
    lattice = random_lattice(np.random.default_rng(0), (4, 4, 4), 12, 0.3)
    gaps = []
    for max_expansions in (0, 5, 20, 40):
        found = search(lattice, max_expansions=max_expansions)
        assert found.proven == 0
        assert found.n_expanded == max_expansions
        gaps.append(found.log_upper - found.log_weight[0])
    assert np.all(np.diff(gaps) <= 1e-12)  # a longer search knows no less; up to rounding of two logs
    assert gaps[-1] < gaps[0]


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.5])
def test_epsilon_is_the_accepted_gap(epsilon):
    rng = np.random.default_rng(3)
    fewer = 0
    for _ in range(20):
        lattice = random_lattice(rng, (3, 3, 3), 9, 0.4)
        best = search(lattice)
        near = search(lattice, epsilon=epsilon)
        slack = np.log1p(epsilon) + 1e-11  # rounding of logs below 100
        assert near.log_upper - near.log_weight[0] <= slack
        assert best.log_weight[0] <= near.log_upper + 1e-11
        assert best.log_weight[0] - near.log_weight[0] <= slack
        assert near.n_expanded <= best.n_expanded
        # Up to its stop it is the same search, so an earlier stop is one before the proof.
        if near.n_expanded < best.n_expanded:
            assert near.proven == 0
        fewer += near.n_expanded < best.n_expanded
    assert fewer > 0


def test_the_beam_waits_for_two_expansions_a_token():
    lattice = random_lattice(np.random.default_rng(16), (4,) * 11, 30, 0.3)
    assert search(lattice).n_expanded > 100
    # Any complete sequence satisfies this gap; on so flat a lattice the beam is the first to have one.
    assert search(lattice, epsilon=1e6).n_expanded == 60


def test_ties_go_to_the_longer_prefix():
    lattice = Lattice(
        np.zeros((20, 4)), np.zeros((1, 4, 4)), np.arange(5, dtype=np.int32), np.arange(4, dtype=np.int32)
    )
    assert search(lattice).n_expanded == 19


def clones(rng: np.random.Generator, n_labels: int, n_latents: int, n_tokens: int) -> Lattice:
    """Labels that are copies of one another with their latents permuted: every sequence has an equal."""
    order = np.concatenate([rng.permutation(n_latents) for _ in range(n_labels)])
    node = np.ascontiguousarray(rng.normal(scale=0.5, size=(n_tokens, n_latents))[:, order])
    arc = np.ascontiguousarray(rng.normal(scale=0.5, size=(1, n_latents, n_latents))[:, order][:, :, order])
    label_ptr = np.arange(n_labels + 1, dtype=np.int32) * n_latents
    return Lattice(node, arc, label_ptr, np.arange(n_labels * n_latents, dtype=np.int32))


def test_clone_labels_tie():
    rng = np.random.default_rng(11)
    for _ in range(10):
        lattice = clones(rng, 3, 3, 5)
        for n_best in (1, 4):
            assert_best(search(lattice, n_best=n_best), lattice, n_best)


def test_clone_labels_do_not_explode():
    lattice = clones(np.random.default_rng(12), 6, 4, 30)
    found = search(lattice, max_expansions=20_000)
    assert found.proven == 1
    # Every label sequence has the same weight, so the right answer is known.
    np.testing.assert_allclose(found.log_weight[0], sequence_log_weight(lattice, [0] * 30), **CLOSE)


@pytest.mark.parametrize("n_best", [1, 5])
def test_one_label_has_one_answer(n_best):
    lattice = random_lattice(np.random.default_rng(5), (4,), 40, 1.0)
    found = search(lattice, n_best=n_best)
    assert found.labels == [(0,) * 40]
    assert found.proven == 1
    np.testing.assert_allclose(found.log_weight[0], sequence_log_weight(lattice, [0] * 40), **CLOSE)


def test_one_state_a_label_needs_one_expansion_a_token():
    lattice = random_lattice(np.random.default_rng(6), (1,) * 5, 30, 0.1)
    found = search(lattice)
    best, back = lattice.node[0], []
    for t in range(1, 30):
        step = best[:, None] + lattice.arc_into(t)
        back.append(step.argmax(axis=0))
        best = step.max(axis=0) + lattice.node[t]
    path = [int(best.argmax())]
    for row in reversed(back):
        path.append(int(row[path[-1]]))
    labels = lattice.state_label[path[::-1]]
    assert found.labels == [tuple(labels.tolist())]
    assert (found.proven, found.n_expanded) == (1, 29)


@pytest.mark.parametrize(("n_tokens", "spread"), [(300, 0.3), (300, 10.0), (100, 3.0), (3000, 0.3)])
@pytest.mark.parametrize("positional", [False, True])
def test_long_sequences_stay_in_range(n_tokens, spread, positional):
    # The log-weights reach thousands: far outside what a double can hold as a plain number.
    lattice = random_lattice(np.random.default_rng(8), (3, 2, 4), n_tokens, spread, positional=positional)
    found = search(lattice, max_expansions=20 * n_tokens, n_best=2)
    assert len(found.labels) == 2
    assert found.log_upper >= found.log_weight[0]
    expected = [sequence_log_weight(lattice, y) for y in found.labels]
    # Each of n_tokens steps of the log-domain pass errs by 1e-16 of the log-weight.
    np.testing.assert_allclose(found.log_weight, expected, rtol=1e-16 * n_tokens)
    single = search(lattice, max_expansions=100 * n_tokens)
    assert single.proven == 1
    assert single.log_weight[0] >= found.log_weight[0] - 1e-9


def test_an_answer_too_light_for_the_units_of_the_search():
    # The gap passes 700, so the answer's weight is zero in units where the bound is one.
    lattice = random_lattice(np.random.default_rng(15), (6,) * 11, 7000, 0.7)
    found = search(lattice, max_expansions=1000, n_best=3)
    assert found.proven == 0
    assert found.log_upper - found.log_weight[0] > 700
    expected = [sequence_log_weight(lattice, y) for y in found.labels]
    np.testing.assert_allclose(found.log_weight, expected, rtol=1e-16 * 7000)  # as above
    assert len(found.labels) == 3
    # The beam must see as well at the far end as one that starts there: 0.3 apart if so, 22 if it is blind by then.
    tail = lattice._replace(node=lattice.node[-1000:])
    afresh = search(tail, max_expansions=0)
    assert sequence_log_weight(tail, found.labels[0][-1000:]) > afresh.log_weight[0] - 5.0


def drifting(n_tokens: int, slope: float, extra: float, *, by_arcs: bool) -> Lattice:
    """Two labels that never meet; one gains what the other loses, until the tables turn half-way."""
    gain = np.zeros((n_tokens, 4))
    gain[: n_tokens // 2, :2] = slope
    gain[n_tokens // 2 :, 2:] = slope
    node, arc = np.zeros((n_tokens, 4)), np.full((n_tokens, 4, 4), -np.inf)
    arc[:, :2, :2] = arc[:, 2:, 2:] = 0.0
    if by_arcs:
        arc += gain[:, None, :]
    else:
        node += gain
    node[0, :2] += extra
    return Lattice(node, arc, np.array([0, 2, 4], dtype=np.int32), np.arange(4, dtype=np.int32))


@pytest.mark.parametrize("by_arcs", [False, True])
@pytest.mark.parametrize("extra", [-0.5, 0.5])
@pytest.mark.parametrize("n_tokens", [100, 1000])
def test_no_false_proof_after_underflow(n_tokens, extra, by_arcs):
    # Half-way, the label that wins by exp(0.5) may be exp(-1500) of the other: out of range at 1,000 tokens.
    lattice = drifting(n_tokens, 3.0, extra, by_arcs=by_arcs)
    weights = [sequence_log_weight(lattice, [label] * n_tokens) for label in (0, 1)]
    found = search(lattice)
    assert found.log_upper >= max(weights) - 1e-9  # 1,000 rounded additions to a log below 4,000
    if found.proven:
        np.testing.assert_allclose(found.log_weight[0], max(weights), **CLOSE)
    if n_tokens == 100:
        assert found.proven == 1


@pytest.mark.parametrize("n_tokens", [100, 600, 1000])
def test_no_false_proof_when_a_latent_underflows(n_tokens):
    # The same within one label: its second latent is out of range half-way and carries all the weight in the end.
    lattice = drifting(n_tokens, 3.0, -2.0, by_arcs=False)
    lattice.arc[:, :2, :2] = lattice.arc[:, 2:, 2:] = np.where(np.eye(2), 0.0, -np.inf)
    lattice = lattice._replace(label_ptr=np.array([0, 4], dtype=np.int32))
    truth = sequence_log_weight(lattice, [0] * n_tokens)
    found = search(lattice)
    assert found.log_upper >= truth - 1e-9  # as above
    if found.proven:
        np.testing.assert_allclose(found.log_weight[0], truth, **CLOSE)
    if n_tokens == 100:
        assert found.proven == 1


def test_an_underflowing_rival_is_found_but_not_proven():
    node = np.zeros((3, 2))
    arc = np.array([[[0.0, -np.inf], [-np.inf, -600.0]]])
    lattice = Lattice(node, arc, np.arange(3, dtype=np.int32), np.arange(2, dtype=np.int32))
    found = search(lattice, n_best=2)
    assert found.labels == [(0, 0, 0), (1, 1, 1)]
    np.testing.assert_allclose(found.log_weight, [0.0, -1200.0], rtol=1e-14, atol=1e-14)
    assert found.proven == 0  # the second is below what the search can compare
    assert search(lattice).proven == 1


def test_a_rival_through_an_underflowing_latent_is_not_forgotten():
    # Label 1 can only follow the second latent of label 0, which has 1e-302 of the first one's weight.
    node = np.array([[0.0, -695.0, -np.inf], [0.0, -np.inf, 0.0]])
    arc = np.full((1, 3, 3), -np.inf)
    arc[0, 0, 0] = arc[0, 1, 2] = 0.0
    lattice = Lattice(node, arc, np.array([0, 2, 3], dtype=np.int32), np.arange(3, dtype=np.int32))
    found = search(lattice, n_best=3)
    assert found.labels == [(0, 0), (0, 1)]
    np.testing.assert_allclose(found.log_weight, [0.0, -695.0], rtol=1e-14, atol=1e-14)
    assert found.proven == 0


def test_tiny_and_large_factors():
    # Factors that no caller shifted: powers of two change no bit but the exponent.
    lattice = random_lattice(np.random.default_rng(9), (2, 3), 8, 1.0)
    node_factor, arc_factor = np.exp(lattice.node), np.exp(lattice.arc)
    results = []
    for node_power, arc_power in ((0, 0), (-300, 0), (0, -300), (300, 0), (-250, 250)):
        labels, log_weight = np.empty((3, 8), dtype=np.int32), np.empty(3)
        args = np.ldexp(node_factor, node_power), np.ldexp(arc_factor, arc_power), lattice.label_ptr
        out = label_search(*args, lattice.label_state, 3, AMPLE, 0.0, labels, log_weight)
        assert out[2] == 1
        shift = (8 * node_power + 7 * arc_power) * np.log(2.0)
        results.append((labels.tolist(), log_weight - shift, out[3]))
    for labels, log_weight, n_expanded in results[1:]:
        assert labels == results[0][0]
        np.testing.assert_allclose(log_weight, results[0][1], rtol=0, atol=1e-11)  # logs below 2,000 are shifted
        assert n_expanded == results[0][2]


@pytest.mark.parametrize("n_vertices", [5, 8])
def test_heaviest_labels_find_the_largest_clique(n_vertices):
    rng = np.random.default_rng(n_vertices)
    for density in (0.3, 0.5, 0.8):
        upper = np.triu(rng.random((n_vertices, n_vertices)) < density, k=1)
        adjacent = upper | upper.T
        found = search(clique_lattice(adjacent))
        assert found.proven == 1
        np.testing.assert_allclose(np.exp(found.log_weight[0]), largest_clique(adjacent), rtol=1e-12)  # counts


def test_shared_arcs_equal_repeated_ones():
    lattice = random_lattice(np.random.default_rng(10), (3, 2, 2), 9, 0.7, forbidden=0.2)
    repeated = lattice._replace(arc=np.repeat(lattice.arc, 9, axis=0))
    one, other = search(lattice, n_best=5), search(repeated, n_best=5)
    assert one.labels == other.labels
    assert one.n_expanded == other.n_expanded
    np.testing.assert_allclose(one.log_weight, other.log_weight, **CLOSE)


def test_the_first_row_of_positional_arcs_is_not_read():
    lattice = random_lattice(np.random.default_rng(13), (2, 2), 6, 1.0, positional=True)
    node_factor, arc_factor, _ = factors(lattice)
    results = []
    for first in (0.0, np.nan):
        arc_factor[0] = first
        labels, log_weight = np.empty((1, 6), dtype=np.int32), np.empty(1)
        out = label_search(
            node_factor, arc_factor, lattice.label_ptr, lattice.label_state, 1, AMPLE, 0.0, labels, log_weight
        )
        results.append((labels.tolist(), log_weight.tolist(), out))
    assert results[0] == results[1]


def test_read_only_inputs_are_accepted_and_left_alone():
    lattice = random_lattice(np.random.default_rng(14), (2, 3), 6, 1.0)
    node_factor, arc_factor, _ = factors(lattice)
    inputs = [node_factor, arc_factor, lattice.label_ptr.copy(), lattice.label_state.copy()]
    before = [a.copy() for a in inputs]
    for a in inputs:
        a.flags.writeable = False
    labels, log_weight = np.full((1, 6), -1, dtype=np.int32), np.empty(1)
    assert label_search(*inputs, 1, AMPLE, 0.0, labels, log_weight)[0] == 1
    assert labels.min() >= 0
    for a, b in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(a, b)
