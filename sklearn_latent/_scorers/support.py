# SPDX-License-Identifier: BSD-3-Clause
"""Which weights exist: patterns of (feature, column) pairs and the support of a linear scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._sequences.matrix import runs
from . import _linear_kernels
from .design import Design

if TYPE_CHECKING:
    from .._lattice import Topology

__all__ = ["Pattern", "Support", "full_support", "observed_support"]

#: Largest table of (feature, label) flags; beyond it pairs are sorted instead.
_TABLE_CELLS = 1 << 28
#: Numbers of a dense matrix whose places are looked at together.
_BLOCK_CELLS = 1 << 20


@dataclass(frozen=True)
class Pattern:
    """Pairs of a feature and a column (a state, or an arc) that have a weight.

    Attributes
    ----------
    n_features, n_columns : int
    ptr : ndarray of int64 of shape (n_features + 1,) or None
        Weights of feature ``f`` are ``ptr[f]:ptr[f + 1]``; None: every pair has a weight, row by row.
    column : ndarray of int32 of shape (n_weights,) or None
    """

    n_features: int
    n_columns: int
    ptr: np.ndarray | None = None
    column: np.ndarray | None = None

    @property
    def full(self) -> bool:
        """Whether every pair has a weight."""
        return self.ptr is None

    @property
    def n_weights(self) -> int:
        """Number of pairs."""
        return self.n_features * self.n_columns if self.full else len(self.column)

    @property
    def cells(self) -> np.ndarray:
        """Flat position of each weight in a (n_features, n_columns) matrix."""
        feature = np.repeat(np.arange(self.n_features, dtype=np.int64), np.diff(self.ptr))
        return feature * self.n_columns + self.column

    def to_matrix(self, weight: np.ndarray) -> np.ndarray:
        """Weights as a dense (n_features, n_columns) matrix, zero where there is none."""
        if self.full:
            return weight.reshape(self.n_features, self.n_columns)
        out = np.zeros(self.n_features * self.n_columns)
        out[self.cells] = weight
        return out.reshape(self.n_features, self.n_columns)

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        """The weights' entries of a dense matrix, (n_weights,)."""
        return matrix.reshape(-1) if self.full else matrix.reshape(-1)[self.cells]


@dataclass(frozen=True)
class Support:
    """The weights of a linear scorer over a topology.

    Attributes
    ----------
    state : Pattern
        Over (feature, state).
    edge : Pattern or None
        Over (feature, arc); features without edge weights have an empty row.
    transition : ndarray of int64 of shape (n_transition_weights,)
        Arcs that have a weight of their own.
    start, end : ndarray of int64
        States that have a start (end) weight.
    start_allowed, end_allowed : ndarray of bool of shape (n_states,) or None
        States a sequence may begin (end) with; None: any.
    """

    state: Pattern
    edge: Pattern | None
    transition: np.ndarray
    start: np.ndarray
    end: np.ndarray
    start_allowed: np.ndarray | None = None
    end_allowed: np.ndarray | None = None


def _states_of_labels(topology: Topology, labels: np.ndarray) -> np.ndarray:
    """The states of each label listed, one after the other."""
    return _spread(topology.label_ptr[labels], np.diff(topology.label_ptr)[labels], topology.label_state)


def _spread(start: np.ndarray, count: np.ndarray, values: np.ndarray) -> np.ndarray:
    """``values[start[i]:start[i] + count[i]]`` for each i, joined."""
    return values[runs(start, count)]


def _pattern_of_labels(n_features: int, topology: Topology, feature: np.ndarray, label: np.ndarray) -> Pattern:
    """Pattern over states from sorted (feature, label) pairs: the states of a label share its pairs."""
    n_latent = np.diff(topology.label_ptr)
    counts = np.bincount(feature, weights=n_latent[label], minlength=n_features).astype(np.int64)
    ptr = np.concatenate([[0], np.cumsum(counts)])
    return Pattern(n_features, topology.n_states, ptr, _states_of_labels(topology, label).astype(np.int32))


def _arcs_by_label_pair(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Allowed arcs grouped by (from, to) label pair: pointers (n_labels ** 2 + 1,) and arcs."""
    pair = topology.state_label[topology.arc_source].astype(np.int64) * topology.n_labels
    pair += topology.state_label[topology.arc_target]
    arcs = np.flatnonzero(topology.free_arcs)
    order = np.argsort(pair[arcs], kind="stable")
    arcs = arcs[order]
    ptr = np.searchsorted(pair[arcs], np.arange(topology.n_labels**2 + 1))
    return ptr, arcs


def _seen_pairs(parts: Iterable, n_features: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct (feature, column) pairs; `parts` yields (design, seen_ptr, seen_column)."""
    if n_features * n_columns <= _TABLE_CELLS:
        table = np.zeros((n_features, n_columns), dtype=np.uint8)
        for (row_ptr, feature, values), ptr, column in _sparse_parts(parts):
            _linear_kernels.mark_seen(row_ptr, feature, values, ptr, column, table)
        cells = np.flatnonzero(table)
    else:
        cells = np.empty(0, dtype=np.int64)
        for (row_ptr, feature, values), ptr, column in _sparse_parts(parts):
            token = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
            if len(values):
                token, feature = token[values != 0], feature[values != 0]
            counts = np.diff(ptr)[token]
            more = np.repeat(feature.astype(np.int64), counts) * n_columns + _spread(ptr[token], counts, column)
            cells = np.unique(np.concatenate([cells, more]))
    feature = cells // n_columns
    return feature, cells - feature * n_columns


def _sparse_parts(parts: Iterable) -> Iterator[tuple[tuple, np.ndarray, np.ndarray]]:
    """The CSR arrays of each design with its pointers and columns; dense rows a block at a time.

    The places of the numbers of a dense matrix take three times its memory.
    """
    for design, ptr, column in parts:
        if design.sparse:
            yield (design.row_ptr, design.feature, design.values), ptr, column
            continue
        n_tokens, n_features = design.shape
        step = max(1, _BLOCK_CELLS // max(1, n_features))
        for a in range(0, n_tokens, step):
            b = min(n_tokens, a + step)
            present = design.dense_part(a, b, np.float64) != 0
            row_ptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
            feature = np.flatnonzero(present).astype(np.int64, copy=False)
            feature %= n_features
            yield (row_ptr, feature, np.empty(0)), ptr[a : b + 1], column


def _seen_labels(codes: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels counted as seen at each token: its own, or every one where it is unknown."""
    counts = np.where(codes < 0, n_labels, 1).astype(np.int64)
    ptr = np.concatenate([[0], np.cumsum(counts)])
    column = np.arange(ptr[-1]) - np.repeat(ptr[:-1], counts)
    known = np.repeat(codes >= 0, counts)
    column[known] = np.repeat(codes, counts)[known]
    return ptr, column.astype(np.int32)


def _seen_label_pairs(codes: np.ndarray, offsets: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Label pairs counted as seen on the move into each token, none at a sequence's first."""
    ptr, column = _seen_labels(codes, n_labels)
    first = np.zeros(len(codes), dtype=bool)
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    count = np.diff(ptr)
    before = np.concatenate([[0], count[:-1]]) if len(count) else count
    pairs = np.where(first, 0, before * count)
    out_ptr = np.concatenate([[0], np.cumsum(pairs)])
    token = np.repeat(np.arange(len(codes)), pairs)
    k = np.arange(out_ptr[-1]) - out_ptr[token]
    source = column[ptr[token - 1] + k // count[token]]
    target = column[ptr[token] + k % count[token]]
    return out_ptr, (source.astype(np.int64) * n_labels + target).astype(np.int32)


def full_support(
    topology: Topology,
    n_features: int,
    *,
    edge_features: np.ndarray,
    edge_only: np.ndarray,
    start_allowed: np.ndarray | None = None,
    end_allowed: np.ndarray | None = None,
) -> Support:
    """Every weight that the constraints leave (``support="all"``).

    Parameters
    ----------
    edge_features : ndarray of int64
        Features with weights on arcs.
    edge_only : ndarray of bool of shape (n_features,)
        Features without weights on states.
    """
    S = topology.n_states
    state = Pattern(n_features, S)
    if edge_only.any():
        counts = np.where(edge_only, 0, S)
        ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        state = Pattern(n_features, S, ptr, np.tile(np.arange(S, dtype=np.int32), int((~edge_only).sum())))
    arcs = np.flatnonzero(topology.free_arcs)
    edge = None
    if len(edge_features):
        counts = np.zeros(n_features, dtype=np.int64)
        counts[edge_features] = len(arcs)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        edge = Pattern(n_features, topology.n_arcs, ptr, np.tile(arcs.astype(np.int32), len(edge_features)))
    states = np.arange(S)
    return Support(
        state,
        edge,
        arcs,
        states if start_allowed is None else np.flatnonzero(start_allowed),
        states if end_allowed is None else np.flatnonzero(end_allowed),
        start_allowed,
        end_allowed,
    )


def observed_support(
    topology: Topology,
    n_features: int,
    parts: list[tuple[Design, np.ndarray, np.ndarray]],
    *,
    edge_features: np.ndarray,
    edge_only: np.ndarray,
    start_allowed: np.ndarray | None = None,
    end_allowed: np.ndarray | None = None,
) -> Support:
    """Only the weights that training shows (``support="observed"``).

    Parameters
    ----------
    parts : list of (design, codes, offsets)
        The training corpus chunk by chunk; negative codes are unknown labels, seen with every label.
    """
    n_labels = topology.n_labels
    pairs = ((design, *_seen_labels(codes, n_labels)) for design, codes, _ in parts)
    feature, label = _seen_pairs(pairs, n_features, n_labels)
    if edge_only.any():
        kept = ~edge_only[feature]
        feature, label = feature[kept], label[kept]
    state = _pattern_of_labels(n_features, topology, feature, label)

    pair_ptr, pair_arc = _arcs_by_label_pair(topology)
    pair_count = np.diff(pair_ptr)
    seen = np.zeros(n_labels**2, dtype=bool)
    first, last = np.zeros(n_labels, dtype=bool), np.zeros(n_labels, dtype=bool)
    for _, codes, offsets in parts:
        seen[_seen_label_pairs(codes, offsets, n_labels)[1]] = True
        full = np.diff(offsets) > 0
        for mark, at in ((first, offsets[:-1][full]), (last, offsets[1:][full] - 1)):
            mark[codes[at][codes[at] >= 0]] = True
            if (codes[at] < 0).any():
                mark[:] = True
    transition = np.sort(_spread(pair_ptr[:-1][seen], pair_count[seen], pair_arc))

    edge = None
    if len(edge_features):
        is_edge = np.zeros(n_features, dtype=bool)
        is_edge[edge_features] = True
        moves = ((design, *_seen_label_pairs(codes, offsets, n_labels)) for design, codes, offsets in parts)
        feature, pair = _seen_pairs(moves, n_features, n_labels**2)
        feature, pair = feature[is_edge[feature]], pair[is_edge[feature]]
        counts = np.bincount(feature, weights=pair_count[pair], minlength=n_features).astype(np.int64)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        column = _spread(pair_ptr[:-1][pair], pair_count[pair], pair_arc)
        edge = Pattern(n_features, topology.n_arcs, ptr, column.astype(np.int32))

    def boundary(mark: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
        states = mark[topology.state_label]
        return np.flatnonzero(states if allowed is None else states & allowed)

    return Support(
        state, edge, transition, boundary(first, start_allowed), boundary(last, end_allowed), start_allowed, end_allowed
    )
