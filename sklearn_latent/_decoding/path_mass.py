# SPDX-License-Identifier: BSD-3-Clause
"""Probability of the best latent paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._lattice import Lattice
from .exact_ldi import label_nbest

__all__ = ["path_mass"]


def path_mass(lattice: Lattice, i: int, n: int, max_search: int) -> np.ndarray:
    """Share of the probability of sequence `i` that its best 1, 2, ... n latent paths hold, (n,).

    The best latent paths are the best label sequences of a chain in which each state is a label of its own. Where there
    are fewer than `n`, the rest of the row is what all of them hold.
    """
    first, last = int(lattice.offsets[i]), int(lattice.offsets[i + 1])
    S = lattice.topology.n_states
    every = np.arange(S, dtype=np.int32)
    bounds = np.arange(S + 1, dtype=np.int32)
    topology = replace(lattice.topology, n_labels=S, state_label=every, label_ptr=bounds, label_state=every)
    arc = lattice.arc[first:last] if lattice.arc_rows_differ else lattice.arc
    node, offsets = np.ascontiguousarray(lattice.node[first:last]), np.array([0, last - first], dtype=np.int64)
    alone = Lattice(topology, node, np.ascontiguousarray(arc), offsets)
    _, log_prob, _, _ = label_nbest(alone, 0, n, max_search)
    mass = np.minimum(np.cumsum(np.exp(log_prob)), 1.0)
    return np.concatenate([mass, np.full(n - len(mass), mass[-1] if len(mass) else 0.0)])
