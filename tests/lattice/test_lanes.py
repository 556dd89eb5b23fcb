# SPDX-License-Identifier: BSD-3-Clause
"""Eight sequences at a time: the list of all paths, the walk of one sequence, and the certificate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from sklearn_latent._lattice import Lattice, _lanes, all_ngrams, latent_topology, ngram_space
from sklearn_latent._lattice import lattice as lattice_module
from strategies import Batch, batches, lattice_of, random_batch, topologies

pytestmark = pytest.mark.skipif(not _lanes.LANES_WORK, reason="built by a compiler without blocks of numbers")


@pytest.fixture(autouse=True, scope="module")
def always_in_lanes():
    """Whatever the processor, and however few of the lanes are filled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lanes, "LANES_PAY", True)
        patch.setattr(lattice_module, "_FILLED", 0.0)
        yield


def tolerance(batch: Batch) -> dict:
    """Rounding of path scores (1e-16 of their size, a few additions) as it shows in logs and in probabilities."""
    return {"rtol": 1e-12, "atol": 4e-15 * batch.size + 1e-14}


def dense(batch: Batch) -> Batch:
    """The batch with every pair of states an arc and one arc row."""
    top = batch.topology
    matrix = top.as_matrix(batch.arc[:1])
    if not len(batch.arc):
        matrix = np.zeros((1, top.n_states, top.n_states))
    S = top.n_states
    full = replace(
        top,
        arc_source=np.repeat(np.arange(S, dtype=np.int32), S),
        arc_target=np.tile(np.arange(S, dtype=np.int32), S),
        arc_ptr=np.arange(0, S * S + 1, S, dtype=np.int64),
        dense=True,
        arc_allowed=None,
    )
    return batch._replace(topology=full, arc=matrix.reshape(1, -1).copy())


def listed(batch: Batch) -> Batch:
    """The batch with one arc row, its arcs as they are or, where every pair of states is one, as a list."""
    arc = batch.arc[:1].copy() if len(batch.arc) else np.zeros((1, batch.topology.n_arcs))
    return batch._replace(topology=replace(batch.topology, dense=False), arc=arc)


FORMS = pytest.mark.parametrize("form", [dense, listed])


def walk(batch: Batch, clamp):
    lattice = lattice_of(batch)
    assert len(batch.node) == 0 or lattice._in_lanes is not None
    state, arc = np.zeros_like(batch.node), np.zeros_like(batch.arc)
    log_sum = lattice.add_expectations(clamp, batch.weight, state, arc)
    return log_sum, state, arc


@FORMS
@given(batch=batches(max_sequences=10), clamped=st.booleans())
@settings(max_examples=200, deadline=None)
def test_lanes_are_the_list_of_paths(form, batch, clamped):
    batch = form(batch)
    clamp = batch.clamp if clamped else None
    expected = oracle.masses(batch.topology, batch.node, batch.arc, batch.offsets, clamp, batch.weight)
    log_sum, state, arc = walk(batch, clamp)
    np.testing.assert_allclose(log_sum, expected.log_sum, **tolerance(batch))
    np.testing.assert_allclose(state, expected.state, **tolerance(batch))
    np.testing.assert_allclose(arc, expected.arc, **tolerance(batch))
    alone = lattice_of(batch).log_sum(clamp)
    if clamped and (batch.clamp >= 0).all():  # which takes other steps where no masses are wanted
        np.testing.assert_allclose(alone, log_sum, **tolerance(batch))
    else:
        np.testing.assert_array_equal(alone, log_sum)


@pytest.mark.parametrize("n_latent", [[1], [1, 1, 1], [3, 2], [7, 6], [9, 8], [22], [40, 30]])
@pytest.mark.parametrize("clamped", [0.0, 0.3, 1.0])
@FORMS
def test_many_states_and_lengths_as_one_by_one(monkeypatch, form, n_latent, clamped):
    # Numbers of states around the blocks of the kernels, groups that are full, not full, and one that ends early.
    lengths = [*range(1, 24), 0, 90, 3]
    batch = form(random_batch(latent_topology(np.array(n_latent)), lengths, seed=len(n_latent), clamped=clamped))
    mine = walk(batch, batch.clamp)
    monkeypatch.setattr(_lanes, "LANES_PAY", False)
    assert lattice_of(batch)._in_lanes is None
    state, arc = np.zeros_like(batch.node), np.zeros_like(batch.arc)
    theirs = lattice_of(batch).add_expectations(batch.clamp, batch.weight, state, arc), state, arc
    for ours, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("n_states", [1, 3, 44])
def test_zero_scores_count_paths_however_many(n_states):
    # 44 states and 400 tokens: the number of paths is far beyond the largest double, and so is its inverse.
    lengths, offsets = [400, 399, 2, 397], np.array([0, 400, 799, 801, 1198])
    topology = latent_topology(np.array([n_states]))
    for score in (0.0, -300.0):
        lattice = Lattice(topology, np.full((1198, n_states), score), np.zeros((1, n_states**2)), offsets)
        assert lattice._in_lanes is not None
        expected = np.array(lengths) * (np.log(n_states) + score)
        np.testing.assert_allclose(lattice.log_sum(), expected, rtol=1e-13, atol=1e-12)
    node, arc = np.full((1198, n_states), -np.inf), np.full((1, n_states**2), -400.0)
    node[:, 0] = 0.0
    log_sum = Lattice(topology, node, arc, offsets).log_sum()
    np.testing.assert_allclose(log_sum, -400.0 * (np.array(lengths) - 1), rtol=1e-13)


@pytest.mark.parametrize("lengths", [[600] * 3, [700, 690, 5], [1] * 9 + [800] * 9])
def test_lanes_without_a_sequence_stay_numbers(lengths):
    # 22 states for hundreds of steps: what is not divided by its sum overflows.
    batch = random_batch(latent_topology(np.ones(22, dtype=np.int64)), lengths, seed=0, clamped=0.3)
    batch.arc[:] = 0.0
    log_sum, state, arc = walk(batch, None)
    assert np.isfinite(log_sum).all()
    # The masses of a token add up to its sequence's weight, and so do those of a move.
    weight = np.repeat(batch.weight, lengths)
    np.testing.assert_allclose(state.sum(axis=1), weight, rtol=1e-11)
    np.testing.assert_allclose(arc.sum(), batch.weight @ (np.array(lengths) - 1.0), rtol=1e-9)


@FORMS
@given(
    topology=topologies(),
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_a_sequence_is_the_same_bits_in_any_company(form, topology, lengths, seed):
    batch = form(random_batch(topology, lengths, seed=seed))
    log_sum, state, _ = walk(batch, None)
    for i, (first, last) in enumerate(lattice_of(batch).ranges()):
        node, offsets = np.ascontiguousarray(batch.node[first:last]), np.array([0, last - first])
        alone = Lattice(batch.topology, node, batch.arc, offsets)
        own = np.zeros_like(node)
        found = alone.add_expectations(None, batch.weight[i : i + 1], own, np.zeros_like(batch.arc))
        np.testing.assert_array_equal(found[0], log_sum[i])
        np.testing.assert_array_equal(own, state[first:last])


@FORMS
def test_certified_or_done_again(form):
    # Spreads at which factors of some sequences underflow: those go to the exact walk, the others stay.
    kinds = set()
    for seed in range(60):
        spread = [100.0, 300.0, 1000.0][seed % 3]
        batch = form(random_batch(latent_topology(np.array([2, 2])), [3] * 9, seed=seed, spread=spread, clamped=0.2))
        lattice = lattice_of(batch)
        certified = np.ones(len(lattice), dtype=np.uint8)
        state, arc, log_sum = np.zeros_like(batch.node), np.zeros_like(batch.arc), np.zeros(len(lattice))
        lattice._walk_in_lanes(lattice._in_lanes, batch.clamp, batch.weight, True, state, arc, log_sum, certified)
        kinds |= set(certified.tolist())
        fine = certified.astype(bool)
        expected = oracle.masses(
            batch.topology, batch.node, batch.arc, batch.offsets, batch.clamp, np.where(fine, batch.weight, 0.0)
        )
        np.testing.assert_allclose(log_sum[fine], expected.log_sum[fine], **tolerance(batch))
        np.testing.assert_allclose(state, expected.state, **tolerance(batch))
        np.testing.assert_allclose(arc, expected.arc, **tolerance(batch))
    assert kinds == {0, 1}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_stays_in_its_lane(value):
    batch = dense(random_batch(latent_topology(np.array([2, 1])), [4, 3, 5, 2], seed=1, clamped=0.0))
    good, *_ = walk(batch, None)
    batch.node[5, 1] = value  # a token of the second sequence
    log_sum, state, arc = walk(batch, None)
    assert np.isnan(log_sum[1])
    np.testing.assert_array_equal(np.delete(log_sum, 1), np.delete(good, 1))
    assert np.isfinite(state).all() and np.isfinite(arc).all() and not state[4:7].any()


def test_arcs_that_are_no_numbers_are_walked_one_by_one():
    batch = dense(random_batch(latent_topology(np.array([2, 1])), [4, 1], seed=1, clamped=0.0))
    batch.arc[0, 3] = np.nan
    lattice = lattice_of(batch)
    assert lattice._in_lanes is None
    log_sum = lattice.log_sum()
    assert np.isnan(log_sum[0]) and np.isfinite(log_sum[1])


@given(batches(max_sequences=6))
@settings(max_examples=100, deadline=None)
def test_one_path_is_its_score(batch):
    top = latent_topology(np.ones(batch.topology.n_states, dtype=np.int64))
    full = dense(batch)
    positional = len(batch.arc) > 1 and batch.topology.n_arcs == top.n_arcs
    batch = full._replace(topology=top, arc=batch.arc if positional else full.arc)
    path = np.abs(batch.clamp) % top.n_states
    path = path.astype(np.int32)
    expected = oracle.masses(top, batch.node, batch.arc, batch.offsets, path, batch.weight)
    log_sum, state, arc = np.zeros(len(batch.weight)), np.zeros_like(batch.node), np.zeros_like(batch.arc)
    if len(batch.node):
        move = np.concatenate([[0], path[:-1] * np.int64(top.n_states) + path[1:]])
        _lanes.path_walk(batch.node, batch.arc, path, move, batch.offsets, batch.weight, True, state, arc, log_sum)
    np.testing.assert_allclose(log_sum, expected.log_sum, **tolerance(batch))
    np.testing.assert_allclose(state, expected.state, **tolerance(batch))
    np.testing.assert_allclose(arc, expected.arc, **tolerance(batch))
    np.testing.assert_array_equal(Lattice(top, batch.node, batch.arc, batch.offsets).log_sum(path), log_sum)


def histories(seed: int, n_labels: int, longest: int, n_latent: int, lengths, *, forbid: bool, positional: bool):
    """Scores of sequences over the states of some label n-grams of up to `longest` labels."""
    rng = np.random.default_rng(seed)
    ngrams = {n: all_ngrams(n_labels, n) for n in range(2, longest + 1)}
    ngrams = {n: rows[rng.random(len(rows)) < 0.6] for n, rows in ngrams.items()}
    space = ngram_space(np.full(n_labels, n_latent), ngrams, forbid=forbid)
    batch = random_batch(space.topology, lengths, seed=seed, positional=positional, clamped=0.7)
    firsts = batch.offsets[:-1][np.diff(batch.offsets) > 0]
    batch.node[firsts] = np.where(space.starts, batch.node[firsts], -np.inf)
    return batch


@pytest.mark.parametrize("lanes", [False, True])
@given(
    seed=st.integers(0, 2**32 - 1),
    longest=st.integers(2, 4),
    n_latent=st.integers(1, 2),
    forbid=st.booleans(),
    positional=st.booleans(),
    known=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_label_histories_are_the_list_of_paths(lanes, seed, longest, n_latent, forbid, positional, known):
    """Where all labels are known and a label has one state they are one path, which may break off."""
    batch = histories(seed, 2, longest, n_latent, [1, 0, 3, 2, 3], forbid=forbid, positional=positional)
    top, clamp = batch.topology, np.abs(batch.clamp) % 2 if known else batch.clamp
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lanes, "LANES_PAY", lanes)
        lattice = lattice_of(batch)
        state, arc = np.zeros_like(batch.node), np.zeros_like(batch.arc)
        log_sum = lattice.add_expectations(clamp, batch.weight, state, arc)
    assert (lattice._path_of(clamp) is not None) == (n_latent == 1 and bool((clamp >= 0).all()))
    expected = oracle.masses(top, batch.node, batch.arc, batch.offsets, clamp, batch.weight)
    np.testing.assert_allclose(log_sum, expected.log_sum, **tolerance(batch))
    np.testing.assert_allclose(state, expected.state, **tolerance(batch))
    np.testing.assert_allclose(arc, expected.arc, **tolerance(batch))


def test_labels_that_may_begin_in_several_states_are_no_path():
    batch = histories(0, 2, 3, 1, [3], forbid=False, positional=False)
    batch.node[0] = 0.0
    clamp = np.zeros(3, dtype=np.int32)
    assert batch.topology.one_path and lattice_of(batch)._path_of(clamp) is None
    expected = oracle.log_sums(batch.topology, batch.node, batch.arc, batch.offsets, clamp)
    np.testing.assert_allclose(lattice_of(batch).log_sum(clamp), expected, rtol=1e-13)


def test_many_label_histories_as_one_by_one(monkeypatch):
    batch = histories(3, 6, 4, 1, [*range(1, 24), 0, 90, 3], forbid=False, positional=False)
    assert batch.topology.n_states > 100
    for clamp in (None, batch.clamp):
        monkeypatch.setattr(_lanes, "LANES_PAY", True)
        mine = walk(batch, clamp)
        monkeypatch.setattr(_lanes, "LANES_PAY", False)
        state, arc = np.zeros_like(batch.node), np.zeros_like(batch.arc)
        theirs = lattice_of(batch).add_expectations(clamp, batch.weight, state, arc), state, arc
        for ours, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(ours, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_path_over_what_is_no_number(value):
    top = latent_topology(np.array([1, 1]))
    node, arc, offsets = np.zeros((4, 2)), np.zeros((1, 4)), np.array([0, 2, 4])
    node[1, 0] = value
    state, arcs = np.zeros_like(node), np.zeros_like(arc)
    path = np.zeros(4, dtype=np.int32)
    log_sum = Lattice(top, node, arc, offsets).add_expectations(path, np.ones(2), state, arcs)
    np.testing.assert_array_equal(log_sum, [-np.inf if value == -np.inf else np.nan, 0.0])
    np.testing.assert_array_equal(state, [[0, 0], [0, 0], [1, 0], [1, 0]])
    np.testing.assert_array_equal(arcs, [[1, 0, 0, 0]])


@pytest.mark.parametrize("in_lanes", [False, True])
def test_the_loss_of_a_long_sequence_is_not_lost_in_its_scores(monkeypatch, in_lanes):
    # Scores of a hundred thousand tokens add up to 1e9; all of them but for 1e-9 are on the path.
    monkeypatch.setattr(_lanes, "LANES_PAY", in_lanes)
    rng = np.random.default_rng(0)
    n, top = 100_000, latent_topology(np.array([1, 1]))
    node = np.stack([1e4 + rng.standard_normal(n), np.zeros(n)], axis=1)
    node[:, 1] = node[:, 0] - 30.0
    lattice = Lattice(top, node, np.zeros((1, 4)), np.array([0, n]))
    loss = lattice.log_sum() - lattice.log_sum(np.zeros(n, dtype=np.int32))
    # Two sums of 1e9, each rounded once to 1e-7, and their logarithms' part to less.
    np.testing.assert_allclose(loss, n * np.log1p(np.exp(-30.0)), rtol=0.0, atol=3e-7)
