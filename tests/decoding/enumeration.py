# SPDX-License-Identifier: BSD-3-Clause
"""Random lattices and slow answers: every latent path, in numpy, no cleverness."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


class Lattice(NamedTuple):
    """Log-scores of one sequence and the states of its labels."""

    node: np.ndarray  # (n_tokens, n_states)
    arc: np.ndarray  # (1 | n_tokens, n_states, n_states), row t moves into token t
    label_ptr: np.ndarray  # (n_labels + 1,) int32
    label_state: np.ndarray  # (n_states,) int32

    @property
    def n_labels(self) -> int:
        return len(self.label_ptr) - 1

    @property
    def state_label(self) -> np.ndarray:
        out = np.empty(len(self.label_state), dtype=np.int32)
        out[self.label_state] = np.repeat(np.arange(self.n_labels), np.diff(self.label_ptr))
        return out

    def arc_into(self, t: int) -> np.ndarray:
        return self.arc[t if len(self.arc) > 1 else 0]

    def states(self, label: int) -> np.ndarray:
        return self.label_state[self.label_ptr[label] : self.label_ptr[label + 1]]


def random_lattice(
    rng: np.random.Generator,
    n_latents,
    n_tokens: int,
    spread: float,
    *,
    forbidden: float = 0.0,
    positional: bool = False,
) -> Lattice:
    """Return normal scores with the given s.d.; states are shuffled so that a label's are not neighbours."""
    n_states = int(np.sum(n_latents))
    node = rng.normal(scale=spread, size=(n_tokens, n_states))
    arc = rng.normal(scale=spread, size=(n_tokens if positional else 1, n_states, n_states))
    arc[rng.random(arc.shape) < forbidden] = -np.inf
    node[rng.random(node.shape) < forbidden / 2] = -np.inf
    label_ptr = np.concatenate([[0], np.cumsum(n_latents)]).astype(np.int32)
    return Lattice(node, arc, label_ptr, rng.permutation(n_states).astype(np.int32))


def clique_lattice(adjacent: np.ndarray) -> Lattice:
    """Return the lattice whose heaviest label sequence has the weight of the graph's largest clique."""
    n = len(adjacent)
    node = np.full((n, 2 * n), -np.inf)
    arc = np.full((1, 2 * n, 2 * n), -np.inf)
    for i in range(n):
        arc[0, 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = 0.0
        for j in range(n):
            if j == i:
                node[j, 2 * i + 1] = 0.0
            elif adjacent[i, j]:
                node[j, 2 * i : 2 * i + 2] = 0.0
            else:
                node[j, 2 * i] = 0.0
    return Lattice(node, arc, np.array([0, n, 2 * n], dtype=np.int32), np.argsort(np.arange(2 * n) % 2, kind="stable"))


def largest_clique(adjacent: np.ndarray) -> int:
    n = len(adjacent)
    subsets = (np.flatnonzero(chosen) for chosen in product([0, 1], repeat=n))
    return max(len(s) for s in subsets if adjacent[np.ix_(s, s)].sum() == len(s) * (len(s) - 1))


def path_scores(lattice: Lattice) -> np.ndarray:
    """Return the score of every latent path, one axis a token."""
    total = lattice.node[0]
    for t in range(1, len(lattice.node)):
        total = total[..., None] + lattice.arc_into(t) + lattice.node[t]
    return total


def ranked_labels(lattice: Lattice) -> list[tuple[tuple[int, ...], float]]:
    """Return every label sequence of positive weight with its log-weight, heaviest first."""
    scores = path_scores(lattice)
    top = scores.max()
    if top == -np.inf:
        return []
    mass = np.exp(scores - top)
    member = np.eye(lattice.n_labels)[lattice.state_label]
    for _ in range(mass.ndim):
        mass = np.tensordot(mass, member, axes=(0, 0))  # the axis of one token goes from states to labels
    found = [(y, float(np.log(mass[y]) + top)) for y in np.ndindex(mass.shape) if mass[y] > 0]
    return sorted(found, key=lambda item: -item[1])


def sequence_log_weight(lattice: Lattice, labels) -> float:
    """Return the log-weight of one label sequence by a forward pass in the log domain."""
    states = lattice.states(labels[0])
    forward = lattice.node[0, states]
    for t in range(1, len(labels)):
        previous, states = states, lattice.states(labels[t])
        forward = np.logaddexp.reduce(forward[:, None] + lattice.arc_into(t)[np.ix_(previous, states)], axis=0)
        forward = forward + lattice.node[t, states]
    return float(np.logaddexp.reduce(forward))


@st.composite
def lattices(draw, max_tokens: int = 5) -> Lattice:
    """Draw small lattices: unequal latents, forbidden arcs, shared or positional arcs, equal scores among them."""
    n_latents = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    n_tokens = draw(st.integers(1, max_tokens))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0.0, 0.1, 1.0, 10.0]))
    forbidden = draw(st.sampled_from([0.0, 0.3, 0.7]))
    return random_lattice(rng, n_latents, n_tokens, spread, forbidden=forbidden, positional=draw(st.booleans()))
