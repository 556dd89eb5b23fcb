# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies: tiny topologies, scores of every size, ragged batches, clamps.

Shapes are drawn by hypothesis, so that failures shrink to small ones; numbers come from a generator whose seed is
drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from sklearn_latent._lattice import Lattice, Topology, latent_topology
from sklearn_latent._lattice import topology as topology_module

__all__ = ["Batch", "batches", "lattice_of", "random_batch", "topologies"]

#: From flat to far beyond what exp can hold.
SPREADS = [0.0, 0.1, 1.0, 10.0, 300.0, 20_000.0]


class Batch(NamedTuple):
    """Scores of a few sequences and labels held at some of their tokens."""

    topology: Topology
    node: np.ndarray  # (n_tokens, n_states)
    arc: np.ndarray  # (1 | n_tokens, n_arcs)
    offsets: np.ndarray  # (n_sequences + 1,)
    clamp: np.ndarray  # (n_tokens,) int32, -1: free, -2: none
    weight: np.ndarray  # (n_sequences,)

    @property
    def size(self) -> float:
        """A bound on the size of path scores: their rounding is some 1e-16 of it."""
        finite = [np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in (self.node, self.arc)]
        longest = int(np.diff(self.offsets).max(initial=0))
        return 1.0 + longest * sum(finite)


def lattice_of(batch: Batch) -> Lattice:
    return Lattice(batch.topology, batch.node, batch.arc, batch.offsets)


@st.composite
def topologies(draw, max_states: int = 5) -> Topology:
    """Draw labels with unequal latents; arcs dense, listed because few are allowed, or listed although all are."""
    n_latent = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).filter(lambda n: sum(n) <= max_states))
    n_labels = len(n_latent)
    allowed = draw(st.none() | st.lists(st.booleans(), min_size=n_labels**2, max_size=n_labels**2))
    if allowed is not None:
        allowed = np.array(allowed).reshape(n_labels, n_labels)
    form = draw(st.sampled_from(["dense", "allowed arcs listed", "every arc listed"]))
    # A share of arcs below which they are listed: none is below 0, every one is below 2.
    with mock.patch.object(topology_module, "DENSE_SHARE", 2.0 if form == "allowed arcs listed" else 0.0):
        topology = latent_topology(np.array(n_latent), allowed)
    if form == "every arc listed":
        topology = replace(topology, dense=False)
    if draw(st.booleans()):
        # The states of a label need not be neighbours.
        states = np.array(draw(st.permutations(range(topology.n_states))), dtype=np.int32)
        state_label = np.empty_like(topology.state_label)
        state_label[states] = topology.state_label
        topology = replace(topology, state_label=state_label, label_state=states)
    return topology


@st.composite
def batches(draw, max_states: int = 5, max_tokens: int = 4, max_sequences: int = 3, spreads=None) -> Batch:
    """Draw ragged batches, empty and one-token sequences among them."""
    topology = draw(topologies(max_states))
    lengths = draw(st.lists(st.integers(0, max_tokens), min_size=0, max_size=max_sequences))
    return random_batch(
        topology,
        lengths,
        seed=draw(st.integers(0, 2**32 - 1)),
        spread=draw(st.sampled_from(SPREADS if spreads is None else spreads)),
        forbidden=draw(st.sampled_from([0.0, 0.0, 0.2, 0.6])),
        positional=draw(st.booleans()),
        clamped=draw(st.sampled_from([0.0, 0.5, 1.0])),
        whole=draw(st.booleans()),
    )


def random_batch(
    topology: Topology,
    lengths,
    *,
    seed: int,
    spread: float = 1.0,
    forbidden: float = 0.0,
    positional: bool = False,
    clamped: float = 0.5,
    whole: bool = False,
) -> Batch:
    """Normal scores (whole numbers on request, for ties) with a share of ``-inf``; a share of tokens clamped."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_tokens = int(offsets[-1])
    node = spread * rng.standard_normal((n_tokens, topology.n_states))
    arc = spread * rng.standard_normal((n_tokens if positional else 1, topology.n_arcs))
    if whole:
        node, arc = np.round(node), np.round(arc)
    node[rng.random(node.shape) < forbidden / 2] = -np.inf
    arc[rng.random(arc.shape) < forbidden] = -np.inf
    if topology.arc_allowed is not None:
        arc[:, ~topology.arc_allowed] = -np.inf
    clamp = rng.integers(0, topology.n_labels, n_tokens).astype(np.int32)
    clamp[rng.random(n_tokens) >= clamped] = -1
    clamp[rng.random(n_tokens) < 0.02] = -2
    return Batch(topology, node, arc, offsets, clamp, rng.uniform(-2.0, 2.0, len(lengths)))
