# SPDX-License-Identifier: BSD-3-Clause
"""Both walks against the list of all paths, against each other, and the certificate between them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from sklearn_latent._lattice import Lattice, _exact_walk, _kernels, latent_topology
from sklearn_latent._lattice.lattice import Factors
from strategies import Batch, batches, lattice_of, random_batch


def tolerance(batch: Batch) -> dict:
    """Rounding of path scores (1e-16 of their size, a few additions) as it shows in logs and in probabilities."""
    return {"rtol": 1e-12, "atol": 4e-15 * batch.size + 1e-14}


class Walked(NamedTuple):
    log_sum: np.ndarray
    state_mass: np.ndarray
    arc_mass: np.ndarray
    certified: np.ndarray


def walk_fast(batch: Batch, clamp=None, *, masses: bool = True) -> Walked:
    top, n = batch.topology, len(batch.offsets) - 1
    longest = int(np.diff(batch.offsets).max(initial=0))
    node, arc = Factors.of(batch.node), Factors.of(batch.arc)
    out = Walked(np.full(n, np.nan), np.zeros_like(batch.node), np.zeros_like(batch.arc), np.full(n, 7, dtype=np.uint8))
    _kernels.accumulate_fast(
        node.factor,
        node.shift,
        node.low,
        arc.factor,
        arc.shift,
        arc.low,
        top.arc_target,
        top.arc_ptr,
        top.dense,
        top.state_label,
        top.label_ptr,
        top.label_state,
        np.empty(0, dtype=np.int32) if clamp is None else clamp,
        batch.offsets,
        batch.weight,
        masses,
        out.state_mass,
        out.arc_mass,
        out.log_sum,
        out.certified,
        np.full((3, (longest + 1) * top.n_states), np.nan),
        np.full((2, longest), np.nan),
        np.full((top.n_states, top.n_states), np.nan),
    )
    return out


def walk_exact(batch: Batch, clamp=None, *, masses: bool = True) -> Walked:
    top, n = batch.topology, len(batch.offsets) - 1
    longest = int(np.diff(batch.offsets).max(initial=0))
    out = Walked(np.zeros(n), np.zeros_like(batch.node), np.zeros_like(batch.arc), np.ones(n, dtype=np.uint8))
    _exact_walk.accumulate(
        batch.node,
        batch.arc,
        top.arc_target,
        top.arc_ptr,
        top.state_label,
        top.label_ptr,
        top.label_state,
        np.empty(0, dtype=np.int32) if clamp is None else clamp,
        batch.offsets,
        np.arange(n),
        batch.weight,
        masses,
        out.state_mass,
        out.arc_mass,
        out.log_sum,
        np.full((1, (2 * longest + 1) * top.n_states), np.nan),
    )
    return out


def of_sequences(batch: Batch, chosen: np.ndarray) -> Batch:
    """The batch with only the sequences chosen, the others empty of weight: rows stay, so that masses compare."""
    rows = np.repeat(chosen, np.diff(batch.offsets))
    arc = batch.arc[rows] if len(batch.arc) > 1 else batch.arc
    offsets = np.concatenate([[0], np.cumsum(np.diff(batch.offsets)[chosen])])
    node, clamp = np.ascontiguousarray(batch.node[rows]), batch.clamp[rows]
    return batch._replace(
        node=node, arc=np.ascontiguousarray(arc), offsets=offsets, clamp=clamp, weight=batch.weight[chosen]
    )


@given(batches(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_exact_walk_is_the_list_of_paths(batch, clamped):
    clamp = batch.clamp if clamped else None
    expected = oracle.masses(batch.topology, batch.node, batch.arc, batch.offsets, clamp, batch.weight)
    got = walk_exact(batch, clamp)
    np.testing.assert_allclose(got.log_sum, expected.log_sum, **tolerance(batch))
    np.testing.assert_allclose(got.state_mass, expected.state, **tolerance(batch))
    np.testing.assert_allclose(got.arc_mass, expected.arc, **tolerance(batch))
    np.testing.assert_array_equal(walk_exact(batch, clamp, masses=False).log_sum, got.log_sum)


@given(batches(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_fast_walk_is_exact_wherever_it_says_so(batch, clamped):
    clamp = batch.clamp if clamped else None
    certified = walk_fast(batch, clamp).certified.astype(bool)
    assert set(certified.tolist()) <= {False, True}
    part = of_sequences(batch, certified)
    if len(part.arc) == 1 < len(batch.arc):  # a single token keeps no row of its own
        return
    clamp = part.clamp if clamped else None
    fast, exact = walk_fast(part, clamp), walk_exact(part, clamp)
    assert fast.certified.all()
    np.testing.assert_allclose(fast.log_sum, exact.log_sum, **tolerance(batch))
    np.testing.assert_allclose(fast.state_mass, exact.state_mass, **tolerance(batch))
    np.testing.assert_allclose(fast.arc_mass, exact.arc_mass, **tolerance(batch))


@given(batches(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_is_not_certified_leaves_no_trace(batch, clamped):
    clamp = batch.clamp if clamped else None
    got = walk_fast(batch, clamp)
    assert np.isin(got.certified, [0, 1]).all()
    refused = np.repeat(got.certified == 0, np.diff(batch.offsets))
    assert not got.state_mass[refused].any()
    if len(batch.arc) > 1:
        assert not got.arc_mass[refused].any()


@given(batches(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_lattice_is_the_list_of_paths(batch, clamped):
    clamp = batch.clamp if clamped else None
    expected = oracle.masses(batch.topology, batch.node, batch.arc, batch.offsets, clamp)
    lattice = lattice_of(batch)
    state_mass, arc_mass, log_sum = lattice.expectations(clamp)
    np.testing.assert_allclose(log_sum, expected.log_sum, **tolerance(batch))
    np.testing.assert_allclose(lattice.log_sum(clamp), expected.log_sum, **tolerance(batch))
    np.testing.assert_allclose(state_mass, expected.state, **tolerance(batch))
    np.testing.assert_allclose(arc_mass, expected.arc, **tolerance(batch))


@given(batches())
@settings(max_examples=60, deadline=None)
def test_weighted_masses_are_added_to_what_is_there(batch):
    expected = oracle.masses(batch.topology, batch.node, batch.arc, batch.offsets, batch.clamp, batch.weight)
    state_mass, arc_mass = np.full_like(batch.node, 3.0), np.full_like(batch.arc, -5.0)
    lattice_of(batch).add_expectations(batch.clamp, batch.weight, state_mass, arc_mass)
    np.testing.assert_allclose(state_mass - 3.0, expected.state, **tolerance(batch))
    np.testing.assert_allclose(arc_mass + 5.0, expected.arc, **tolerance(batch))


# -- the certificate ------------------------------------------------------------------------------------------


FORMS = ["dense", "listed", "positional"]


def in_form(form: str, node: np.ndarray, moves: np.ndarray) -> Batch:
    """One sequence over as many labels as states, arcs as a matrix shared by all tokens."""
    topology = latent_topology(np.ones(len(moves), dtype=int))
    if form == "listed":
        topology = replace(topology, dense=False)
    rows = len(node) if form == "positional" else 1
    arc = np.repeat(moves.reshape(1, -1), rows, axis=0)
    return Batch(topology, node, arc, np.array([0, len(node)]), np.full(len(node), -1, dtype=np.int32), np.array([1.0]))


def scaled_forward(batch: Batch) -> tuple[float, float]:
    """The textbook's forward pass with normalised vectors: its log sum and its smallest normaliser."""
    alpha, total, smallest = None, 0.0, np.inf
    moves = np.exp(oracle.arc_matrix(batch.topology, batch.arc[0]))
    for t in range(len(batch.node)):
        shift = batch.node[t].max()
        alpha = np.exp(batch.node[t] - shift) * (1.0 if t == 0 else alpha @ moves)
        smallest = min(smallest, alpha.sum())
        total += shift + np.log(alpha.sum())
        alpha = alpha / alpha.sum()
    return float(total), float(smallest)


@pytest.mark.parametrize("form", FORMS)
def test_losses_that_add_up_over_positions_are_not_certified(form):
    # Two lanes without a way between. The second falls behind by 100 a token, past what a double holds, and
    # then catches up and wins: forward it is lost on the way, although no normaliser is ever small.
    node = np.zeros((21, 2))
    node[:10, 1] = -100.0
    node[10:, 0] = -100.0
    batch = in_form(form, node, np.array([[0.0, -np.inf], [-np.inf, 0.0]]))
    truth = np.logaddexp(-1000.0, -1100.0)
    naive, smallest = scaled_forward(batch)
    assert smallest > 1e-200 and naive < truth - 50, "the case would not catch the simple test"
    got = walk_fast(batch)
    assert got.certified.tolist() == [0]
    exact = walk_exact(batch)
    np.testing.assert_allclose(exact.log_sum, truth, rtol=1e-14, atol=0.0)
    np.testing.assert_allclose(exact.state_mass[:, 1], 1.0, rtol=1e-12, atol=0.0)
    np.testing.assert_allclose(lattice_of(batch).log_sum(), truth, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("form", FORMS)
@given(st.integers(0, 2**32 - 1), st.sampled_from([20.0, 60.0, 150.0, 400.0]))
@settings(max_examples=60, deadline=None)
def test_long_sequences_are_never_certified_wrongly(form, seed, drop):
    # Lanes with losses at random tokens: sums wander in and out of the range of doubles.
    rng = np.random.default_rng(seed)
    node = -drop * rng.integers(0, 2, (int(rng.integers(2, 40)), 3))
    moves = np.where(rng.random((3, 3)) < 0.3, 0.0, -np.inf)
    np.fill_diagonal(moves, 0.0)
    batch = in_form(form, node, moves)
    fast, exact = walk_fast(batch), walk_exact(batch)
    if fast.certified[0]:
        np.testing.assert_allclose(fast.log_sum, exact.log_sum, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(fast.state_mass, exact.state_mass, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(fast.arc_mass, exact.arc_mass, rtol=1e-9, atol=1e-11)


def test_product_of_normalisers_does_not_underflow():
    # The only reachable lane pays 1e-139, then 1e-280, in steps each of which is safe by itself; the other lane,
    # which no path enters, keeps the rows' largest score at zero.
    node = np.array([[0.0, -np.inf]] * 3)
    batch = in_form("positional", node, np.zeros((2, 2)))
    batch.arc[:, 0] = [0.0, -139.0 * np.log(10), -280.0 * np.log(10)]
    got = walk_fast(batch)
    assert got.certified.tolist() == [1]
    np.testing.assert_allclose(got.log_sum, -419.0 * np.log(10), rtol=1e-13, atol=0.0)


@pytest.mark.parametrize("listed", [False, True])
def test_a_lane_that_no_path_enters_does_not_overflow(listed):
    # The second state is never reached, yet from it everything would cost nothing, while each step of the first
    # costs 1e-100: its backward sum, in units of the path's, would be 1e500.
    node = np.zeros((6, 2))
    node[0, 1] = -np.inf
    batch = in_form("positional", node, np.array([[-100.0 * np.log(10), -np.inf], [0.0, 0.0]]))
    batch = batch._replace(topology=replace(batch.topology, dense=not listed))
    got = walk_fast(batch)
    assert got.certified.tolist() == [1]
    np.testing.assert_allclose(got.log_sum, -500.0 * np.log(10), rtol=1e-14, atol=0.0)
    np.testing.assert_array_equal(got.state_mass, [[1.0, 0.0]] * 6)
    np.testing.assert_allclose(got.arc_mass, [[0.0] * 4] + [[1.0, 0.0, 0.0, 0.0]] * 5, rtol=1e-12, atol=0.0)


def merging(entry: np.ndarray, moves: list[np.ndarray]) -> Batch:
    """One sequence over two states whose arcs differ by position; no node costs anything after the first."""
    node = np.zeros((len(moves) + 1, 2))
    node[0] = entry
    batch = in_form("positional", node, np.zeros((2, 2)))
    batch.arc[1:] = np.array(moves).reshape(-1, 4)
    return batch


FAR = -200.0 * np.log(10)
FROM_SECOND = np.array([[0.0, 0.0], [FAR, FAR]])


@pytest.mark.parametrize(
    ("entry", "moves"),
    [
        # A start of 1e-200 whose only way on is the second state, which others reach too and which leads on at 1e-200.
        pytest.param([0.0, FAR], [np.array([[0.0, 0.0], [-np.inf, 0.0]]), FROM_SECOND], id="both sums of a state"),
        # A move of 1e-200 to that state.
        pytest.param([0.0, 0.0], [np.array([[0.0, 0.0], [0.0, FAR]]), FROM_SECOND], id="an arc and after"),
    ],
)
def test_masses_that_underflow_are_not_certified(entry, moves):
    batch = merging(np.array(entry), moves)
    # The sum is safe, a mass of 1e-400 is not.
    alone, masses = walk_fast(batch, masses=False), walk_fast(batch)
    assert masses.certified.tolist() == [0], "a positive mass was lost"
    assert alone.certified.tolist() == [1]
    np.testing.assert_allclose(alone.log_sum, walk_exact(batch).log_sum, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("dense", [True, False])
def test_large_weights_and_forbidden_arcs(dense):
    # The second lane is 1e-250 of the first at the fourth token, and all there is at the end; from lane to lane no way
    # leads, but the product of the first's forward and the second's backward sum is 1e250.
    node = np.zeros((8, 2))
    node[:4, 1] = -62.5 * np.log(10)
    node[4:, 0] = -np.inf
    batch = in_form("dense", node, np.array([[0.0, -np.inf], [-np.inf, 0.0]]))
    batch = batch._replace(topology=replace(batch.topology, dense=dense), weight=np.array([1e80]))
    got = walk_fast(batch)
    assert got.certified.tolist() == [1]
    np.testing.assert_allclose(got.arc_mass, [[0.0, 0.0, 0.0, 7e80]], rtol=1e-12, atol=0.0)


@given(batches(), st.sampled_from([1e16, 1e20, 1e100, 1e300]))
@settings(max_examples=100, deadline=None)
def test_masses_of_absurd_scores_stay_masses(batch, size):
    # Rounding alone is worth more than the range of exp here: what is left is that masses are masses.
    huge = batch._replace(node=size * np.tanh(batch.node), arc=size * np.tanh(batch.arc))
    state_mass, arc_mass, log_sum = lattice_of(huge).expectations(batch.clamp)
    assert np.isfinite(state_mass).all() and (state_mass >= 0).all() and not np.isnan(log_sum).any()
    possible = np.repeat(log_sum > -np.inf, np.diff(batch.offsets))
    np.testing.assert_allclose(state_mass.sum(axis=1), possible, rtol=1e-12, atol=0.0)
    moves = 1 if len(huge.arc) > 1 else max(1, len(huge.node))
    assert np.isfinite(arc_mass).all() and (arc_mass >= 0).all() and (arc_mass <= moves).all()


@pytest.mark.parametrize("n_states", [22, 44, 100])
@pytest.mark.parametrize("positional", [False, True])
def test_ordinary_models_are_certified(n_states, positional):
    n_tokens = 2000 if not positional or n_states < 100 else 500
    topology = latent_topology(np.full(n_states // 2, 2))
    batch = random_batch(topology, [n_tokens], seed=n_states, spread=2.0, positional=positional, clamped=1.0)
    batch.clamp[batch.clamp == -2] = 0
    for clamp in (None, batch.clamp):
        assert walk_fast(batch, clamp).certified.tolist() == [1]
    if n_states == 22:
        fast, exact = walk_fast(batch), walk_exact(batch)
        # 2,000 additions of rounded terms.
        np.testing.assert_allclose(fast.log_sum, exact.log_sum, rtol=1e-12, atol=0.0)
        np.testing.assert_allclose(fast.state_mass, exact.state_mass, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(fast.arc_mass, exact.arc_mass, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize("states", [[0], [0, 1]])
def test_scores_that_are_no_numbers_are_not_taken_for_no_path(form, value, states):
    node = np.zeros((3, 2))
    node[1, states] = value
    batch = in_form(form, node, np.zeros((2, 2)))
    assert np.isnan(lattice_of(batch).log_sum()).all() or np.isposinf(lattice_of(batch).log_sum()).all()


# -- the wide loops -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_states", [*range(1, 20), 31, 32, 33, 47, 63, 64, 65])
@pytest.mark.parametrize("positional", [False, True])
def test_dense_loops_at_any_width(n_states, positional):
    batch = random_batch(
        latent_topology(np.ones(n_states, dtype=int)), [4, 1], seed=n_states, positional=positional, clamped=0.0
    )
    listed = batch._replace(topology=replace(batch.topology, dense=False))
    wide, narrow = walk_fast(batch), walk_fast(listed)
    assert wide.certified.all() and narrow.certified.all()
    for a, b in zip(wide, narrow, strict=True):
        # The same sums in another order.
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(wide.log_sum, walk_exact(batch).log_sum, rtol=1e-13, atol=1e-14)
    for a, b in zip(lattice_of(batch).best_path(), lattice_of(listed).best_path(), strict=True):
        np.testing.assert_array_equal(a, b)
    # Max-plus by numpy, for the first sequence.
    score = batch.node[0]
    for t in range(1, 4):
        move = batch.arc[t if positional else 0].reshape(n_states, n_states)
        score = (score[:, None] + move).max(axis=0) + batch.node[t]
    assert lattice_of(batch).best_path()[1][0] == score.max()


# -- what goes in stays as it was -----------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("spread", [1.0, 5000.0])
def test_read_only_inputs(dense, spread):
    topology = replace(latent_topology(np.array([2, 1])), dense=dense)
    batch = random_batch(topology, [3, 0, 2], seed=0, spread=spread)
    frozen = [batch.node, batch.arc, batch.offsets, batch.clamp, batch.weight]
    frozen += [value for value in vars(topology).values() if isinstance(value, np.ndarray)]
    for array in frozen:
        array.flags.writeable = False
    lattice = lattice_of(batch)
    expected = oracle.masses(topology, batch.node, batch.arc, batch.offsets, batch.clamp)
    np.testing.assert_allclose(lattice.expectations(batch.clamp)[0], expected.state, **tolerance(batch))
    lattice.add_expectations(batch.clamp, batch.weight, np.zeros((5, 3)), np.zeros((1, 9)))
    lattice.best_path()
    lattice.search_factors(0)
    walk_fast(batch, batch.clamp)
    walk_exact(batch, batch.clamp)


def test_an_empty_batch_and_empty_sequences():
    topology = latent_topology(np.array([2, 1]))
    for offsets in ([0], [0, 0, 0]):
        for rows in (0, 1):
            lattice = Lattice(topology, np.zeros((0, 3)), np.zeros((rows, 9)), np.array(offsets))
            state_mass, arc_mass, log_sum = lattice.expectations()
            assert state_mass.shape == (0, 3) and arc_mass.shape == (rows, 9) and not arc_mass.any()
            assert log_sum.tolist() == [0.0] * (len(offsets) - 1)
            path, score = lattice.best_path()
            assert len(path) == 0 and score.tolist() == [0.0] * (len(offsets) - 1)
            assert lattice.label_marginals().shape == (0, 2)
            assert lattice.label_log_prob(np.empty(0, dtype=np.int32)).tolist() == [0.0] * (len(offsets) - 1)
