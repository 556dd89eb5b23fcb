# SPDX-License-Identifier: BSD-3-Clause
"""The weight of given label sequences: against the list of all paths, and what it leaves to the exact walk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import oracle
from sklearn_latent._lattice import Lattice, _label_sums, latent_topology
from sklearn_latent._lattice.lattice import Factors
from sklearn_latent._lattice.topology import Topology


def shuffled(topology: Topology, rng) -> Topology:
    """The same labels with states in another order, so that those of a label are no neighbours."""
    order = rng.permutation(topology.n_states).astype(np.int32)
    label = np.empty(topology.n_states, dtype=np.int32)
    label[order] = topology.state_label
    return replace(topology, state_label=label, label_state=order)


def run(lattice: Lattice, codes) -> tuple[np.ndarray, np.ndarray]:
    top, arc = lattice.topology, Factors.of(lattice.arc)
    log_sum, certified = np.full(len(lattice), np.nan), np.full(len(lattice), 7, dtype=np.uint8)
    _label_sums.label_sums(
        lattice.node, arc.factor, arc.shift, arc.low, top.label_ptr, top.label_state, codes, lattice.offsets,
        log_sum, certified, np.empty(2 * top.n_states), np.empty(len(lattice.node) * top.n_states),
    )  # fmt: skip
    return log_sum, certified


@pytest.mark.parametrize("n_latent", [[1, 1], [3], [2, 3, 1], [5, 4]])
@pytest.mark.parametrize("positional", [False, True])
@pytest.mark.parametrize("spread", [0.3, 3.0, 30.0])
def test_against_the_list_of_paths(n_latent, positional, spread):
    rng = np.random.default_rng(int(10 * spread) + len(n_latent))
    for forbidden in (0.0, 0.3):
        topology = shuffled(latent_topology(n_latent), rng)
        offsets = np.array([0, 3, 3, 4, 9], dtype=np.int64)
        S = topology.n_states
        node = rng.normal(scale=spread, size=(9, S)) + 50.0
        arc = rng.normal(scale=spread, size=(9 if positional else 1, S * S))
        arc[rng.random(arc.shape) < forbidden] = -np.inf
        node[rng.random(node.shape) < forbidden / 2] = -np.inf
        if S > 6:  # few paths are enough
            node, arc, offsets = node[:4], arc[:4] if positional else arc, np.array([0, 3, 3, 4], dtype=np.int64)
        codes = rng.integers(len(n_latent), size=len(node)).astype(np.int32)
        lattice = Lattice(topology, node, arc, offsets)
        expected = oracle.log_sums(topology, node, arc, offsets, codes)
        # Path scores of hundreds are rounded by 1e-16 of their size.
        np.testing.assert_allclose(lattice.log_sum(codes), expected, rtol=1e-13, atol=1e-13)
        log_sum, certified = run(lattice, codes)
        done = certified == 1
        np.testing.assert_allclose(log_sum[done], expected[done], rtol=1e-13, atol=1e-13)
        assert done[np.isfinite(expected)].all() or spread == 30.0
        assert not done[~np.isfinite(expected)].any()


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_left_to_the_exact_walk(odd):
    topology = latent_topology([2, 2])
    node = np.zeros((4, 4))
    node[1, 0] = odd
    lattice = Lattice(topology, node, np.zeros((1, 16)), np.array([0, 2, 4], dtype=np.int64))
    _, certified = run(lattice, np.zeros(4, dtype=np.int32))
    assert certified.tolist() == [0, 1]
    # A score of a state that no path goes through is not looked at.
    _, certified = run(lattice, np.ones(4, dtype=np.int32))
    assert certified.tolist() == [1, 1]


def test_what_underflows_is_left_to_the_exact_walk():
    topology = latent_topology([2, 1])
    node = np.zeros((4, 3))
    node[0, 1] = -720.0  # as a factor it is zero, and all that leads to the second token's second state
    arc = np.array([[0.0, -np.inf, 0.0], [-np.inf, 0.0, 0.0], [0.0, 0.0, 0.0]])
    node[1, 0] = -np.inf
    lattice = Lattice(topology, node, arc.reshape(1, 9), np.array([0, 2, 4], dtype=np.int64))
    codes = np.zeros(4, dtype=np.int32)
    assert run(lattice, codes)[1].tolist() == [0, 1]
    np.testing.assert_allclose(lattice.log_sum(codes), [-720.0, np.log(2.0)], rtol=1e-14)


def test_a_long_sequence_stays_in_range():
    rng = np.random.default_rng(1)
    topology = latent_topology([3, 2])
    node, arc = rng.normal(size=(20_000, 5)) - 300.0, rng.normal(size=(1, 25))
    codes = rng.integers(2, size=20_000).astype(np.int32)
    lattice = Lattice(topology, node, arc, np.array([0, 20_000], dtype=np.int64))
    log_sum, certified = run(lattice, codes)
    assert certified.tolist() == [1]
    state = np.zeros_like(node)
    expected = lattice.add_expectations(codes, np.ones(1), state, np.zeros_like(arc))
    np.testing.assert_allclose(log_sum, expected, rtol=1e-14)
