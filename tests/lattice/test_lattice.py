# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked of a `Lattice`: identities that hold for any, best paths, and factors for searches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from sklearn_latent._lattice import Lattice, latent_topology
from strategies import Batch, batches, lattice_of, random_batch, topologies


def rounding(batch: Batch) -> dict:
    """Path scores are sums of a few terms: 1e-16 of their size each."""
    return {"rtol": 1e-12, "atol": 4e-15 * batch.size + 1e-14}


# -- identities -----------------------------------------------------------------------------------------------


@given(batches())
@settings(max_examples=100, deadline=None)
def test_masses_of_a_token_add_up_to_one(batch):
    lattice = lattice_of(batch)
    state_mass, arc_mass, log_sum = lattice.expectations()
    assert (state_mass >= 0).all() and (arc_mass >= 0).all()
    possible = np.repeat(log_sum > -np.inf, np.diff(batch.offsets))
    np.testing.assert_allclose(state_mass.sum(axis=1), possible, rtol=1e-12, atol=0.0)
    np.testing.assert_allclose(lattice.label_marginals().sum(axis=1), possible, rtol=1e-12, atol=0.0)
    moves = np.maximum(np.diff(batch.offsets) - 1, 0) @ (log_sum > -np.inf)
    np.testing.assert_allclose(arc_mass.sum(), moves, rtol=1e-9, atol=1e-12)


@given(batches())
@settings(max_examples=100, deadline=None)
def test_best_score_never_exceeds_the_log_sum(batch):
    lattice = lattice_of(batch)
    score, log_sum = lattice.best_path()[1], lattice.log_sum()
    np.testing.assert_array_equal(np.isneginf(score), np.isneginf(log_sum))
    assert (score <= log_sum + 4e-15 * batch.size).all()


@given(topologies(), st.lists(st.integers(0, 40), max_size=3))
@settings(max_examples=60, deadline=None)
def test_zero_scores_count_paths(topology, lengths):
    batch = random_batch(topology, lengths, seed=0, spread=0.0)
    ways = topology.as_matrix(np.where(topology.free_arcs, 0.0, -np.inf)[None, :])[0] == 0.0
    counts = []
    for n in lengths:
        reached = np.ones(topology.n_states, dtype=object)  # Python integers: no rounding, no overflow
        for _ in range(n - 1):
            reached = ways.T.astype(object) @ reached
        counts.append(1 if n == 0 else int(reached.sum()))
    expected = [-np.inf if c == 0 else float(np.log(float(c))) for c in counts]
    np.testing.assert_allclose(lattice_of(batch).log_sum(), expected, rtol=1e-13, atol=1e-14)


@given(batches(), st.floats(-1e4, 1e4))
@settings(max_examples=60, deadline=None)
def test_shifting_a_tokens_nodes_shifts_the_log_sum(batch, shift):
    lattice = lattice_of(batch)
    for i, (first, last) in enumerate(lattice.ranges()):
        if first == last:
            continue
        node = batch.node.copy()
        node[last - 1] += shift
        moved = Lattice(batch.topology, node, batch.arc, batch.offsets).log_sum()
        expected = lattice.log_sum()
        expected[i] += shift
        np.testing.assert_allclose(moved, expected, rtol=1e-12, atol=1e-14 * (batch.size + abs(shift)) + 1e-14)


def cut(batch: Batch, order) -> Batch:
    """The sequences named, in that order."""
    rows = [np.arange(batch.offsets[i], batch.offsets[i + 1]) for i in order]
    rows = np.concatenate([*rows, np.empty(0, dtype=int)]).astype(int)
    lengths = np.diff(batch.offsets)[list(order)] if len(order) else []
    return batch._replace(
        node=np.ascontiguousarray(batch.node[rows]),
        # A batch of one token has one row, whichever kind its rows were.
        arc=np.ascontiguousarray(batch.arc[rows]) if len(batch.arc) != 1 else batch.arc,
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        clamp=batch.clamp[rows],
        weight=batch.weight[list(order)],
    )


@given(batches(max_sequences=5), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_a_batch_is_its_sequences_in_any_order(batch, random):
    n = len(batch.offsets) - 1
    order = random.sample(range(n), n)
    together = lattice_of(batch)
    shuffled = cut(batch, order)
    # The same bits in one kind of walk; a batch that fills its lanes and one that does not differ by rounding.
    close = {"rtol": 1e-12, "atol": 4e-15 * batch.size + 1e-14}
    np.testing.assert_allclose(
        lattice_of(shuffled).log_sum(shuffled.clamp), together.log_sum(batch.clamp)[order], **close
    )
    state_mass = together.expectations(batch.clamp)[0]
    path, score = together.best_path()
    for i, (first, last) in enumerate(together.ranges()):
        alone = cut(batch, [i])
        single = lattice_of(alone)
        np.testing.assert_allclose(single.log_sum(alone.clamp)[0], together.log_sum(batch.clamp)[i], **close)
        np.testing.assert_allclose(single.expectations(alone.clamp)[0], state_mass[first:last], **close)
        np.testing.assert_array_equal(single.best_path()[0], path[first:last])
        assert single.best_path()[1][0] == score[i]


@given(batches())
@settings(max_examples=60, deadline=None)
def test_clamping_every_token_to_a_path_gives_its_score(batch):
    # With one state a label.
    states = batch.topology.n_states
    own = np.arange(states, dtype=np.int32)
    topology = replace(
        batch.topology,
        n_labels=states,
        state_label=own,
        label_state=own,
        label_ptr=np.arange(states + 1, dtype=np.int32),
    )
    lattice = Lattice(topology, batch.node, batch.arc, batch.offsets)
    path = np.random.default_rng(0).integers(0, states, len(batch.node)).astype(np.int32)
    scores = []
    for first, last in lattice.ranges():
        score = batch.node[np.arange(first, last), path[first:last]].sum()
        for t in range(first + 1, last):
            row = batch.arc[t] if len(batch.arc) > 1 else batch.arc[0]
            score += oracle.arc_matrix(topology, row)[path[t - 1], path[t]]
        scores.append(score)
    np.testing.assert_allclose(lattice.log_sum(path), scores, **rounding(batch))


@given(batches(spreads=[0.0, 1.0, 10.0]))
@settings(max_examples=60, deadline=None)
def test_probabilities_of_label_sequences(batch):
    lattice = lattice_of(batch)
    for i, (first, last) in enumerate(lattice.ranges()):
        if first == last or lattice.free_log_sum[i] == -np.inf:
            continue
        ranked = oracle.ranked_labels(batch.topology, batch.node, batch.arc, first, last)
        np.testing.assert_allclose(sum(np.exp(p) for _, p in ranked), 1.0, rtol=1e-12, atol=0.0)
        for labels, log_prob in ranked[:5]:
            codes = np.full(len(batch.node), -1, dtype=np.int32)
            codes[first:last] = labels
            np.testing.assert_allclose(lattice.label_log_prob(codes)[i], log_prob, rtol=0.0, atol=1e-11)
            assert lattice.label_log_prob(codes)[i] <= 0.0
    assert not lattice.label_log_prob(np.full(len(batch.node), -1, dtype=np.int32))[
        lattice.free_log_sum > -np.inf
    ].any()


def test_fewer_states_are_the_same_as_forbidden_ones():
    topology = latent_topology(np.array([2, 1]))
    batch = random_batch(topology, [4, 1], seed=3)
    node = batch.node.copy()
    node[:, 1] = -np.inf
    small = Lattice(
        latent_topology(np.array([1, 1])),
        np.ascontiguousarray(node[:, [0, 2]]),
        np.ascontiguousarray(batch.arc.reshape(3, 3)[np.ix_([0, 2], [0, 2])].reshape(1, 4)),
        batch.offsets,
    )
    np.testing.assert_allclose(
        Lattice(topology, node, batch.arc, batch.offsets).log_sum(), small.log_sum(), rtol=1e-13, atol=1e-14
    )


# -- best paths -----------------------------------------------------------------------------------------------


@given(batches())
@settings(max_examples=150, deadline=None)
def test_best_path_is_the_best_of_the_list(batch):
    path, score = lattice_of(batch).best_path()
    for i, (first, last) in enumerate(lattice_of(batch).ranges()):
        own = path[first:last]
        _, best = oracle.best_path(batch.topology, batch.node, batch.arc, first, last)
        np.testing.assert_allclose(score[i], best, **rounding(batch))
        if best == -np.inf:
            assert (own == -1).all()
            continue
        paths, scores = oracle.path_scores(batch.topology, batch.node, batch.arc, None, first, last)
        at = np.flatnonzero((paths == own).all(axis=1))
        np.testing.assert_allclose(scores[at], best, **rounding(batch))


@given(topologies(), st.lists(st.integers(1, 4), min_size=1, max_size=2), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=150, deadline=None)
def test_ties_go_to_the_lowest_state_from_the_last_token_backward(topology, lengths, seed, positional):
    # Whole numbers add up exactly, so ties are ties.
    batch = random_batch(topology, lengths, seed=seed, spread=0.8, forbidden=0.2, positional=positional, whole=True)
    path, score = lattice_of(batch).best_path()
    for i, (first, last) in enumerate(lattice_of(batch).ranges()):
        expected, best = oracle.best_path(topology, batch.node, batch.arc, first, last)
        assert path[first:last].tolist() == expected and score[i] == best


# -- factors for searches -------------------------------------------------------------------------------------


def check_search_factors(batch: Batch, i: int) -> bool:
    """Compare every path's weight; say whether the plain factors served."""
    lattice = lattice_of(batch)
    first, last = lattice.ranges()[i]
    found = lattice.search_factors(i)
    n_tokens = last - first
    assert found.node.shape == (n_tokens, batch.topology.n_states)
    assert found.arc.shape[1:] == (batch.topology.n_states,) * 2 and len(found.arc) in (1, n_tokens)
    assert (found.node >= 0).all() and (found.arc >= 0).all() and np.isfinite(found.log_unit)
    assert np.isfinite(found.node).all() and np.isfinite(found.arc).all()
    paths, scores = oracle.path_scores(batch.topology, batch.node, batch.arc, None, first, last)
    with np.errstate(divide="ignore"):
        log_weight = np.zeros(len(paths))
        for t in range(n_tokens):
            log_weight += np.log(found.node[t, paths[:, t]])
            if t:
                row = found.arc[t] if len(found.arc) > 1 else found.arc[0]
                log_weight += np.log(row[paths[:, t - 1], paths[:, t]])
    best = scores.max()
    forbidden = scores == -np.inf
    assert (log_weight[forbidden] == -np.inf).all()
    # What is less than 1e-300 of the best may be lost.
    wanted = ~forbidden & (scores > best - 690.0)
    np.testing.assert_allclose(log_weight[wanted] + found.log_unit, scores[wanted], **rounding(batch))
    lost = ~forbidden & ~wanted
    assert (log_weight[lost] + found.log_unit <= best - 680.0).all()
    return found.node.min() < 1.0 or n_tokens == 1


@given(batches(spreads=[0.0, 1.0, 10.0]))
@settings(max_examples=100, deadline=None)
def test_search_factors_in_the_ordinary_range(batch):
    for i, (first, last) in enumerate(lattice_of(batch).ranges()):
        if first < last:
            check_search_factors(batch, i)


@given(batches(spreads=[300.0, 20_000.0]))
@settings(max_examples=150, deadline=None)
def test_search_factors_beyond_the_range_of_exp(batch):
    for i, (first, last) in enumerate(lattice_of(batch).ranges()):
        if first < last:
            check_search_factors(batch, i)


@pytest.mark.parametrize("positional", [False, True])
@pytest.mark.parametrize("dense", [False, True])
def test_both_kinds_of_search_factors_occur(positional, dense):
    topology = replace(latent_topology(np.array([2, 1])), dense=dense)
    for spread, rescaled in ((1.0, False), (1000.0, True)):
        batch = random_batch(topology, [2, 3], seed=1, spread=spread, positional=positional)
        check_search_factors(batch, 1)
        nodes = lattice_of(batch).search_factors(1).node
        assert (nodes[1:] == 1.0).all() == rescaled


# -- the topology ---------------------------------------------------------------------------------------------


@given(topologies())
@settings(max_examples=100, deadline=None)
def test_topology_invariants(topology):
    order = topology.arc_source.astype(int) * topology.n_states + topology.arc_target
    assert (np.diff(order) > 0).all()
    for g in range(topology.n_states):
        assert (topology.arc_source[topology.arc_ptr[g] : topology.arc_ptr[g + 1]] == g).all()
    assert topology.arc_ptr[0] == 0 and topology.arc_ptr[-1] == topology.n_arcs
    for label in range(topology.n_labels):
        states = topology.label_state[topology.label_ptr[label] : topology.label_ptr[label + 1]]
        assert len(states) and (topology.state_label[states] == label).all()
    assert sorted(topology.label_state.tolist()) == list(range(topology.n_states))
    if topology.dense:
        assert topology.n_arcs == topology.n_states**2
    assert topology.one_state_a_label == (topology.n_states == topology.n_labels)
    values = np.arange(2.0 * topology.n_states).reshape(2, -1)
    sums = [values[:, topology.state_label == label].sum(axis=1) for label in range(topology.n_labels)]
    np.testing.assert_array_equal(topology.label_sums(values), np.transpose(sums))
    row = np.arange(float(topology.n_arcs))
    np.testing.assert_array_equal(topology.as_matrix(row[None, :])[0], oracle.arc_matrix(topology, row))


@pytest.mark.parametrize("share", [0.1, 0.19, 0.21, 0.5, 1.0])
def test_few_arcs_are_listed_and_many_are_not(share):
    n = 10
    allowed = np.zeros(n * n, dtype=bool)
    allowed[: round(share * n * n)] = True
    allowed = np.random.default_rng(0).permutation(allowed).reshape(n, n)
    topology = latent_topology(np.full(n, 2), allowed)
    assert topology.dense == (share >= 0.2)
    free = np.zeros((2 * n, 2 * n), dtype=bool)
    free[topology.arc_source[topology.free_arcs], topology.arc_target[topology.free_arcs]] = True
    np.testing.assert_array_equal(free, np.kron(allowed, np.ones((2, 2), dtype=bool)))
