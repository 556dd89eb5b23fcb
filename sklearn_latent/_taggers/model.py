# SPDX-License-Identifier: BSD-3-Clause
"""The fitted linear chain model as plain arrays: topology, support, weights and their public views."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._lattice import Topology
from .._objective import ChainObjective, Packing
from .._scorers import LinearScorer, Pattern, Support
from ..exceptions import ModelTooLargeError

__all__ = [
    "TRAINING_VECTORS", "LinearChainModel", "check_size", "edge_pattern", "fits", "latent_weights", "machine_memory",
    "transfer",
]  # fmt: skip

#: Weight-length vectors of double precision alive while L-BFGS runs on a large model: the history, which is in single
#: precision, is worth six, and there are three points and directions, three gradients and the start.
TRAINING_VECTORS = 13


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

    def scorer(self, sparse: bool, *, split: bool = False) -> LinearScorer:
        """The scorer that reads `params`, for sparse or dense designs; `split`: see `LinearScorer`."""
        return LinearScorer(self.topology, self.support, sparse=sparse, split=split)

    @property
    def n_features(self) -> int:
        """Columns of the features."""
        return self.support.state.n_features

    @property
    def one_optimum(self) -> bool:
        """Whether the objective is convex: one start is enough."""
        return self.topology.one_state_a_label

    def objective(self, sparse: bool, sigma: float, *, split: bool = False) -> ChainObjective:
        """The training criterion over `params`."""
        return ChainObjective(self.topology, self.scorer(sparse, split=split), sigma)

    def start(self, packing: Packing, scale: float, rng: np.random.RandomState) -> np.ndarray:
        """Zeros where there is one optimum, else uniform within `scale`."""
        return np.zeros(packing.size) if self.one_optimum else rng.uniform(-scale, scale, packing.size)

    def take(self, old: LinearChainModel, columns: np.ndarray, params: dict[str, np.ndarray]) -> None:
        """Put an earlier model's weights into `params` (see `transfer`)."""
        transfer(old, columns, self, params)

    def coef(self) -> np.ndarray:
        """(n_features, n_states), zero where the support has no weight."""
        return self.support.state.to_matrix(self.params["coef"]).copy()

    def state_weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Feature, state and value of each state weight."""
        pattern = self.support.state
        keys = _pattern_keys(pattern, None, None, pattern.n_columns)
        return *np.divmod(keys, max(pattern.n_columns, 1)), self.params["coef"].reshape(-1)

    def transitions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """State before, state, value and labels before both (none) of each weight of moves, starts and ends.

        -1 stands for the start and the end.
        """
        top, s = self.topology, self.support
        start, end = np.full(len(s.start), -1), np.full(len(s.end), -1)
        source = np.concatenate([top.arc_source[s.transition], start, s.end])
        target = np.concatenate([top.arc_target[s.transition], s.start, end])
        weight = np.concatenate([self.params[name] for name in ("transition", "start", "end")])
        return source, target, weight, np.empty((len(weight), 0), dtype=np.int64)

    def allowed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which label may follow which, (n_labels, n_labels), and begin and end a sequence, (n_labels,)."""
        first = self.topology.label_state[self.topology.label_ptr[:-1]]
        ends = (self.support.start_allowed, self.support.end_allowed)
        start, end = (np.ones(len(first), dtype=bool) if rule is None else rule[first] for rule in ends)
        return self.topology.label_moves, start, end

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
        column = _arc_keys(self.topology)[pattern.column]
        ptr = np.concatenate([pattern.ptr[self.edge_features], pattern.ptr[-1:]])
        return sp.csr_array((self.params["edge"].copy(), column, ptr), shape=(n, S * S))


def edge_pattern(edge_coef: sp.csr_array, features: np.ndarray, n_features: int, topology: Topology):
    """Pattern and weights of stored edge weights (n_edge_features, n_states ** 2)."""
    S = topology.n_states
    rows = np.repeat(np.arange(edge_coef.shape[0]), np.diff(edge_coef.indptr))
    source, target = np.divmod(edge_coef.indices.astype(np.int64), S)
    arc_of = np.full(S * S, -1, dtype=np.int64)
    arc_of[_arc_keys(topology)] = np.arange(topology.n_arcs)
    arc = arc_of[source * S + target]
    kept = arc >= 0
    counts = np.bincount(features[rows[kept]], minlength=n_features)
    pattern = Pattern(n_features, topology.n_arcs, np.concatenate([[0], np.cumsum(counts)]), arc[kept].astype(np.int32))
    return pattern, edge_coef.data[kept].astype(np.float64)


def transfer(old: LinearChainModel, columns: np.ndarray, new: LinearChainModel, params: dict[str, np.ndarray]) -> None:
    """Put the weights of an earlier model where the new one has a weight for the same thing.

    Parameters
    ----------
    old : LinearChainModel
    columns : ndarray of int of shape (n_features of `old`,)
        The new column of each old feature, -1 for none.
    new : LinearChainModel
        Of the same states; its own weights are not read.
    params : dict of str to ndarray
        Arrays over the support of `new`; changed in place.
    """
    S = new.topology.n_states
    old_arcs, new_arcs = _arc_keys(old.topology), _arc_keys(new.topology)
    _copy(_pattern_keys(old.support.state, columns, None, S), old.params["coef"],
          _pattern_keys(new.support.state, None, None, S), params["coef"])  # fmt: skip
    if old.support.edge is not None and new.support.edge is not None:
        _copy(_pattern_keys(old.support.edge, columns, old_arcs, S * S), old.params["edge"],
              _pattern_keys(new.support.edge, None, new_arcs, S * S), params["edge"])  # fmt: skip
    _copy(old_arcs[old.support.transition], old.params["transition"], new_arcs[new.support.transition],
          params["transition"])  # fmt: skip
    for name in ("start", "end"):
        _copy(getattr(old.support, name), old.params[name], getattr(new.support, name), params[name])


def _arc_keys(topology: Topology) -> np.ndarray:
    """Place of each arc in a matrix [from, to], row by row."""
    return topology.arc_source.astype(np.int64) * topology.n_states + topology.arc_target


def _pattern_keys(pattern: Pattern, columns: np.ndarray | None, keys: np.ndarray | None, width: int) -> np.ndarray:
    """One number a weight, the same in both models for the same feature and state or arc; -1 for dropped features."""
    if pattern.full:
        feature = np.repeat(np.arange(pattern.n_features, dtype=np.int64), pattern.n_columns)
        column = np.tile(np.arange(pattern.n_columns, dtype=np.int64), pattern.n_features)
    else:
        feature = np.repeat(np.arange(pattern.n_features, dtype=np.int64), np.diff(pattern.ptr))
        column = pattern.column.astype(np.int64)
    feature = feature if columns is None else columns[feature]
    column = column if keys is None else keys[column]
    return np.where(feature < 0, -1, feature * width + column)


def _copy(old_keys: np.ndarray, old_values: np.ndarray, new_keys: np.ndarray, out: np.ndarray) -> None:
    order = np.argsort(old_keys, kind="stable")
    sorted_keys = old_keys[order]
    place = np.searchsorted(sorted_keys, new_keys)
    found = place < len(sorted_keys)
    found[found] = sorted_keys[place[found]] == new_keys[found]
    out[found] = old_values[order[place[found]]]


def latent_weights(labels: Topology, support: Support, counts: np.ndarray) -> int:
    """Weights of a model with `counts` states a label, from the support of its label-level model."""
    total = int(counts[support.state.column].sum())
    if support.edge is not None:
        arc = support.edge.column
        total += int((counts[labels.arc_source[arc]] * counts[labels.arc_target[arc]]).sum())
    return total


def fits(n_params: int, n_states: int) -> bool:
    """Whether this machine's memory can hold the training of a model."""
    return _training_bytes(n_params, n_states) <= machine_memory()


def check_size(n_params: int, n_states: int) -> None:
    """Refuse a model that this machine can't hold, before anything is allocated.

    Raises
    ------
    ModelTooLargeError
        With the estimated parameters and bytes, and what would shrink the model.
    """
    if not fits(n_params, n_states):
        n_bytes, memory = _training_bytes(n_params, n_states), machine_memory()
        # Where the states alone are too many, nothing else was counted yet: their transitions are the estimate.
        n_params = n_params or n_states**2
        raise ModelTooLargeError(
            f"the model would have {n_params:,} parameters ({n_states:,} states) and training it takes about "
            f"{n_bytes:,} bytes ({n_bytes / 1e9:,.1f} GB), this machine has {memory / 1e9:,.1f} GB; "
            "support='observed', a smaller n_latent, edge_features=False or on fewer features, and a vectorizer with a "
            "larger min_df make it smaller"
        )


def _training_bytes(n_params: int, n_states: int) -> int:
    return 8 * int(n_params) * TRAINING_VECTORS + 40 * int(n_states) ** 2


def machine_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 40
