# SPDX-License-Identifier: BSD-3-Clause
"""A model from weights that somebody gives, states put in the order of the sorted labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._lattice import Topology, latent_topology
from .._scorers import Pattern, Support
from .._sequences import LabelCodec
from .model import LinearChainModel, edge_pattern
from .options import allowed_moves, edge_feature_indices, latent_counts

__all__ = ["GivenStates", "given_model", "given_states"]


@dataclass(frozen=True)
class GivenStates:
    """State weights as given, and how its states have to be ordered.

    Attributes
    ----------
    coef : ndarray or csr_array of shape (n_features, n_states)
        Columns as given.
    order : ndarray of int of shape (n_states,)
        Given states by sorted label, each label's in the given order.
    counts : ndarray of int of shape (n_classes,)
        States of each label.
    """

    coef: np.ndarray | sp.csr_array
    order: np.ndarray
    counts: np.ndarray

    def n_latent(self, classes: list) -> int | dict:
        """The constructor's `n_latent` that gives these counts."""
        counts = self.counts.tolist()
        return counts[0] if len(set(counts)) == 1 else dict(zip(classes, counts, strict=True))


def given_states(given: list, codec: LabelCodec, coef, state_labels) -> GivenStates:
    """Check state weights and their labels.

    Raises
    ------
    ValueError
        If `coef` is not 2-D, or `state_labels` does not give each class a state.
    """
    coef = sp.csr_array(coef, dtype=np.float64) if sp.issparse(coef) else np.array(coef, dtype=np.float64)
    if coef.ndim != 2:
        raise ValueError(f"coef must be 2-D (n_features, n_states), got {coef.ndim}-D")
    owner = _state_owners(state_labels, len(given), coef.shape[1])
    rank = codec.encode([given])[owner]
    return GivenStates(coef, np.argsort(rank, kind="stable"), np.bincount(rank, minlength=len(given)))


def given_model(
    tagger, classes: list, states: GivenStates, transition_coef, boundary: dict, edge_coef, feature_names
) -> LinearChainModel:
    """The model of given weights, under the constraints and edge features of the tagger.

    Parameters
    ----------
    tagger : LatentCRFTagger
    classes : list
        Sorted labels.
    states : GivenStates
    transition_coef : array-like of shape (n_states, n_states)
    boundary : dict of str to array-like of shape (n_states,) or None
        ``start`` and ``end`` weights.
    edge_coef : array-like or sparse array of shape (n_edge_features, n_states ** 2), or None
    feature_names : array-like of str or None

    Raises
    ------
    ValueError
        If shapes don't agree or a weight is not finite.
    """
    order, counts = states.order, states.counts
    n_features, n_states = states.coef.shape
    if not np.array_equal(latent_counts(tagger.n_latent, classes), counts):
        raise ValueError(f"n_latent={tagger.n_latent!r} does not agree with the states given, {counts.tolist()}")
    moves, *allowed = allowed_moves(tagger.constraints, classes)
    topology = latent_topology(counts, moves)
    transition = _weights_of(transition_coef, "transition_coef", (n_states, n_states))[np.ix_(order, order)]
    state, coef_weights = _given_pattern(states.coef, order)
    params, edge, features = {"coef": coef_weights}, None, np.empty(0, dtype=np.int64)
    if edge_coef is not None:
        edge_coef = sp.csr_array(edge_coef, dtype=np.float64)
        everything = tagger.edge_features is False and edge_coef.shape[0] == n_features
        names = None if feature_names is None else np.array(feature_names, dtype=object)
        features = edge_feature_indices(True if everything else tagger.edge_features, n_features, lambda: names)
        edge, params["edge"] = _given_edges(edge_coef, features, n_features, topology, order)
    arcs, every = np.flatnonzero(topology.free_arcs), np.arange(n_states)
    params["transition"] = transition[topology.arc_source[arcs], topology.arc_target[arcs]]
    rows = [None if mark is None else mark[topology.state_label] for mark in allowed]
    for (name, weights), row in zip(boundary.items(), rows, strict=True):
        values = np.zeros(n_states) if weights is None else _weights_of(weights, f"{name}_coef", (n_states,))[order]
        params[name] = values if row is None else np.where(row, values, 0.0)
    return LinearChainModel(topology, Support(state, edge, arcs, every, every, *rows), params, features)


def _state_owners(state_labels, n_classes: int, n_states: int) -> np.ndarray:
    """Class of each state of `from_weights`, as an index into the classes as given."""
    if state_labels is None:
        if n_classes == 0 or n_states % n_classes:
            raise ValueError(
                f"coef has {n_states} states for {n_classes} classes; state_labels must say whose they are"
            )
        return np.repeat(np.arange(n_classes), n_states // n_classes)
    owner = np.asarray(state_labels)
    if owner.shape != (n_states,) or owner.dtype.kind not in "iu":
        raise ValueError(
            f"state_labels must be {n_states} integers, one a state; got shape {owner.shape}, dtype {owner.dtype}"
        )
    if not np.array_equal(np.unique(owner), np.arange(n_classes)):
        raise ValueError(
            f"state_labels must give each of the {n_classes} classes at least one state, and nothing else; they hold "
            f"{np.unique(owner).tolist()}"
        )
    return owner


def _weights_of(values, name: str, shape: tuple[int, ...]) -> np.ndarray:
    values = np.array(values, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds {values[~np.isfinite(values)][0]}: weights must be finite")
    return values


def _given_pattern(coef: Any, order: np.ndarray) -> tuple[Pattern, np.ndarray]:
    """Pattern and weights of given state weights, states reordered."""
    n_features, n_states = coef.shape
    if not sp.issparse(coef):
        return Pattern(n_features, n_states), _weights_of(coef, "coef", coef.shape)[:, order].reshape(-1)
    coef = coef[:, order]
    coef.sum_duplicates()
    ptr = coef.indptr.astype(np.int64)
    weights = _weights_of(coef.data, "coef", coef.data.shape)
    return Pattern(n_features, n_states, ptr, coef.indices.astype(np.int32)), weights


def _given_edges(edge_coef, features: np.ndarray, n_features: int, topology: Topology, order: np.ndarray):
    """Pattern and weights of given edge weights, states reordered."""
    S = topology.n_states
    if edge_coef.shape != (len(features), S * S):
        raise ValueError(
            f"edge_coef must have shape ({len(features)}, {S * S}), a row for each of edge_features and a column "
            f"from * n_states + to; got {edge_coef.shape}"
        )
    _weights_of(edge_coef.data, "edge_coef", edge_coef.data.shape)
    columns = (order[:, None] * S + order[None, :]).reshape(-1)
    edge_coef = edge_coef[:, columns]
    edge_coef.sum_duplicates()
    return edge_pattern(edge_coef, features, n_features, topology)
