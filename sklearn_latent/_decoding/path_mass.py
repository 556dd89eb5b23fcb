# SPDX-License-Identifier: BSD-3-Clause
"""Probability of the best latent paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._lattice import Lattice
from .exact_ldi import label_nbest

__all__ = ["path_mass"]


def path_mass(lattice: Lattice, n: int, max_search: int) -> list[np.ndarray]:
    """Share of the probability of each sequence with tokens that its best 1, 2, ... n latent paths hold, (n,) each.

    The best latent paths are the best label sequences of a chain in which each state is a label of its own. Where there
    are fewer than `n`, the rest of the row is what all of them hold.
    """
    S = lattice.topology.n_states
    every = np.arange(S, dtype=np.int32)
    bounds = np.arange(S + 1, dtype=np.int32)
    topology = replace(lattice.topology, n_labels=S, state_label=every, label_ptr=bounds, label_state=every)
    full = np.diff(lattice.offsets) > 0
    found = label_nbest(Lattice(topology, lattice.node, lattice.arc, lattice.offsets), n, max_search)
    return [_held(ranked.log_prob, n) for ranked, there in zip(found, full, strict=True) if there]


def _held(log_prob: np.ndarray, n: int) -> np.ndarray:
    mass = np.minimum(np.cumsum(np.exp(log_prob)), 1.0)
    return np.concatenate([mass, np.full(n - len(mass), mass[-1] if len(mass) else 0.0)])
