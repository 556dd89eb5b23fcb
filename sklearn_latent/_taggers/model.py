# SPDX-License-Identifier: BSD-3-Clause
"""The fitted linear chain model as plain arrays: topology, support, weights and their public views."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._lattice import Topology
from .._scorers import LinearScorer, Pattern, Support
from ..exceptions import ModelTooLargeError

__all__ = ["LinearChainModel", "check_size", "edge_pattern", "fits", "latent_weights"]

#: Weight-length vectors alive while L-BFGS runs: twice the history, and the current points and gradients.
_TRAINING_VECTORS = 20


@dataclass
class LinearChainModel:
    """Arrays of a fitted model; no kernels, closures or buffers, so that saving is boring.

    Attributes
    ----------
    topology : Topology
    support : Support
    params : dict of str to ndarray
        ``coef``, ``edge`` (with edge features), ``transition``, ``start``, ``end``, over the support.
    edge_features : ndarray of int64
        Features with weights on edges.
    """

    topology: Topology
    support: Support
    params: dict[str, np.ndarray]
    edge_features: np.ndarray

    def scorer(self, sparse: bool) -> LinearScorer:
        """The scorer that reads `params`, for sparse or dense designs."""
        return LinearScorer(self.topology, self.support, sparse=sparse)

    def coef(self) -> np.ndarray:
        """(n_features, n_states), zero where the support has no weight."""
        return self.support.state.to_matrix(self.params["coef"]).copy()

    def transition_coef(self) -> np.ndarray:
        """(n_states, n_states), [from, to]."""
        top, out = self.topology, np.zeros((self.topology.n_states, self.topology.n_states))
        arcs = self.support.transition
        out[top.arc_source[arcs], top.arc_target[arcs]] = self.params["transition"]
        return out

    def boundary_coef(self, name: str) -> np.ndarray:
        """(n_states,) start or end weights."""
        out = np.zeros(self.topology.n_states)
        out[getattr(self.support, name)] = self.params[name]
        return out

    def edge_coef(self) -> sp.csr_array:
        """(n_edge_features, n_states ** 2), column from * n_states + to."""
        S, n = self.topology.n_states, len(self.edge_features)
        pattern = self.support.edge
        if pattern is None:
            return sp.csr_array((n, S * S))
        arc = pattern.column
        column = self.topology.arc_source[arc].astype(np.int64) * S + self.topology.arc_target[arc]
        ptr = np.concatenate([pattern.ptr[self.edge_features], pattern.ptr[-1:]])
        return sp.csr_array((self.params["edge"].copy(), column, ptr), shape=(n, S * S))


def edge_pattern(edge_coef: sp.csr_array, features: np.ndarray, n_features: int, topology: Topology):
    """Pattern and weights of stored edge weights (n_edge_features, n_states ** 2)."""
    S = topology.n_states
    rows = np.repeat(np.arange(edge_coef.shape[0]), np.diff(edge_coef.indptr))
    source, target = np.divmod(edge_coef.indices.astype(np.int64), S)
    arc_of = np.full(S * S, -1, dtype=np.int64)
    arc_of[topology.arc_source.astype(np.int64) * S + topology.arc_target] = np.arange(topology.n_arcs)
    arc = arc_of[source * S + target]
    kept = arc >= 0
    counts = np.bincount(features[rows[kept]], minlength=n_features)
    pattern = Pattern(n_features, topology.n_arcs, np.concatenate([[0], np.cumsum(counts)]), arc[kept].astype(np.int32))
    return pattern, edge_coef.data[kept].astype(np.float64)


def latent_weights(labels: Topology, support: Support, counts: np.ndarray) -> int:
    """Weights of a model with `counts` states a label, from the support of its label-level model."""
    total = int(counts[support.state.column].sum())
    if support.edge is not None:
        arc = support.edge.column
        total += int((counts[labels.arc_source[arc]] * counts[labels.arc_target[arc]]).sum())
    return total


def fits(n_params: int, n_states: int) -> bool:
    """Whether this machine's memory can hold the training of a model."""
    return _training_bytes(n_params, n_states) <= _memory()


def check_size(n_params: int, n_states: int) -> None:
    """Refuse a model that this machine can't hold, before anything is allocated.

    Raises
    ------
    ModelTooLargeError
        With the estimated parameters and bytes, and what would shrink the model.
    """
    if not fits(n_params, n_states):
        n_bytes, memory = _training_bytes(n_params, n_states), _memory()
        raise ModelTooLargeError(
            f"the model would have {n_params:,} parameters ({n_states:,} states) and training it takes about "
            f"{n_bytes:,} bytes ({n_bytes / 1e9:,.1f} GB), this machine has {memory / 1e9:,.1f} GB; "
            "support='observed', a smaller n_latent, edge_features=False or on fewer features, and a vectorizer with a "
            "larger min_df make it smaller"
        )


def _training_bytes(n_params: int, n_states: int) -> int:
    return 8 * int(n_params) * _TRAINING_VECTORS + 40 * int(n_states) ** 2


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 40
