# SPDX-License-Identifier: BSD-3-Clause
"""`BatchScorer`: a linear scorer on a few sequences at a time, which knows the weights that these touch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._sequences import SequenceMatrix
from . import _batch_kernels, _linear_kernels
from .design import Design
from .linear import LinearScorer
from .support import Pattern

__all__ = ["Batch", "BatchScorer", "Prepared"]

#: Feature values of one batch; they are numbered in 32 bits.
_MOST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Batch:
    """A few sequences of a sparse corpus over their own features.

    Attributes
    ----------
    offsets : ndarray of int64 of shape (n_sequences + 1,)
    rows : tuple of arrays
        CSR pointers, features and values (empty: ones).
    patterns : tuple of Pattern or None
        Weights of these features on states, and on arcs.
    index : ndarray of int64
        Position of each weight touched in the whole vector; no position twice.
    """

    offsets: np.ndarray
    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    patterns: tuple[Pattern, Pattern | None]
    index: np.ndarray

    def part(self, first: int, last: int) -> Batch:
        """Some consecutive sequences, with the features and weights of the whole batch."""
        if first == 0 and last == len(self.offsets) - 1:
            return self
        row_ptr, feature, values = self.rows
        start = int(self.offsets[first])
        rows = (row_ptr[start : int(self.offsets[last]) + 1], feature, values)
        return replace(self, offsets=self.offsets[first : last + 1] - start, rows=rows)


@dataclass(frozen=True)
class Prepared:
    """Weights of a batch: on states, on arcs, and what they come to for all tokens alike.

    Attributes
    ----------
    state, edge : ndarray
        In the order of the batch's patterns.
    arc : ndarray of shape (1, n_arcs)
    boundary : ndarray of shape (2, n_states)
        Scores of starts and of ends.
    """

    state: np.ndarray
    edge: np.ndarray | None
    arc: np.ndarray
    boundary: np.ndarray


class BatchScorer:
    """Scores and gradients of mini-batches, at a cost that does not depend on the number of weights.

    Parameters
    ----------
    scorer : LinearScorer
        For sparse designs.
    X : SequenceMatrix
        Sparse.
    """

    def __init__(self, scorer: LinearScorer, X: SequenceMatrix):
        self.scorer = scorer
        self._design = Design(X.values)
        self._offsets = X.offsets
        self._number = np.full(X.n_features, -1, dtype=np.int32)
        sizes = [int(np.prod(shape)) for shape in scorer.shapes().values()]
        # Coefficients of states and edges come first; the few others are touched by every batch.
        n_patterns = 1 if scorer.support.edge is None else 2
        self._starts = [0, sizes[0]]
        first = sum(sizes[:n_patterns])
        self._others = np.arange(first, sum(sizes))
        self._cuts = np.cumsum(sizes[n_patterns:])[:-1].tolist()

    def draw(self, samples: np.ndarray) -> Batch:
        """The batch of some sequences, in the order given."""
        design = self._design
        first, last = self._offsets[samples], self._offsets[samples + 1]
        offsets = np.zeros(len(samples) + 1, dtype=np.int64)
        np.cumsum(last - first, out=offsets[1:])
        n_stored = int((design.row_ptr[last] - design.row_ptr[first]).sum())
        if n_stored > _MOST:
            raise ValueError(
                f"a batch of {len(samples)} sequences holds {n_stored:,} feature values, more than can be numbered; "
                "lower batch_size"
            )
        row_ptr = np.empty(int(offsets[-1]) + 1, dtype=np.int32)
        feature, used = np.empty(n_stored, dtype=np.int32), np.empty(n_stored, dtype=np.int64)
        values = np.empty(n_stored if len(design.values) else 0)
        n_used = _batch_kernels.collect(
            design.row_ptr, design.feature, design.values, first, last, self._number, row_ptr, feature, values, used
        )
        used = used[:n_used]
        support = self.scorer.support
        found = [p if p is None else _pointers(p, used) for p in (support.state, support.edge)]
        counts = [0 if ptr is None else int(ptr[-1]) for ptr in found]
        index = np.empty(sum(counts) + len(self._others), dtype=np.int64)
        index[sum(counts) :] = self._others
        state = _narrow(support.state, used, found[0], self._starts[0], index[: counts[0]])
        edge = None
        if support.edge is not None:
            edge = _narrow(support.edge, used, found[1], self._starts[1], index[counts[0] : sum(counts)])
        return Batch(offsets, (row_ptr, feature, values), (state, edge), index)

    def prepare(self, weights: np.ndarray, batch: Batch) -> Prepared:
        """What every part of a batch needs, given the weights at ``batch.index``."""
        s, top, (state, edge) = self.scorer.support, self.scorer.topology, batch.patterns
        transition, start, end = np.split(weights[len(weights) - len(self._others) :], self._cuts)
        arc = np.zeros((1, top.n_arcs))
        arc[0, s.transition] = transition
        if top.arc_allowed is not None:
            arc[0, ~top.arc_allowed] = -np.inf
        boundary = np.zeros((2, top.n_states))
        for row, states, own, allowed in (
            (boundary[0], s.start, start, s.start_allowed), (boundary[1], s.end, end, s.end_allowed)
        ):  # fmt: skip
            row[states] = own
            if allowed is not None:
                row[~allowed] = -np.inf
        n = state.n_weights
        return Prepared(weights[:n], None if edge is None else weights[n : n + edge.n_weights], arc, boundary)

    def forward(self, prepared: Prepared, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        """Node and arc scores (see `Scorer`) of a batch or a part of it."""
        state, edge = batch.patterns
        node = np.zeros((int(batch.offsets[-1]), self.scorer.topology.n_states))
        _add_scores(state, prepared.state, batch, node)
        node[batch.offsets[:-1]] += prepared.boundary[0]
        node[batch.offsets[1:] - 1] += prepared.boundary[1]
        if edge is None:
            return node, prepared.arc
        arc = np.repeat(prepared.arc, len(node), axis=0)
        _add_scores(edge, prepared.edge, batch, arc)
        return node, arc

    def gradient(self, batch: Batch, node_delta: np.ndarray, arc_delta: np.ndarray) -> np.ndarray:
        """The loss's derivative in the weights of ``batch.index``, given that in the scores."""
        s, (state, edge) = self.scorer.support, batch.patterns
        grad = np.zeros(len(batch.index))
        _add_gradient(state, batch, node_delta, grad[: state.n_weights])
        if edge is not None:
            _add_gradient(edge, batch, arc_delta, grad[state.n_weights : state.n_weights + edge.n_weights])
        transition, start, end = np.split(grad[len(grad) - len(self._others) :], self._cuts)
        transition += arc_delta.sum(axis=0)[s.transition]
        start += node_delta[batch.offsets[:-1]].sum(axis=0)[s.start]
        end += node_delta[batch.offsets[1:] - 1].sum(axis=0)[s.end]
        return grad


def _pointers(pattern: Pattern, used: np.ndarray) -> np.ndarray:
    """Where the weights of each of some features stand in their narrowed pattern."""
    if pattern.full:
        return pattern.n_columns * np.arange(len(used) + 1)
    ptr = np.empty(len(used) + 1, dtype=np.int64)
    _batch_kernels.count_weights(used, pattern.ptr, ptr)
    return ptr


def _narrow(pattern: Pattern, used: np.ndarray, ptr: np.ndarray, start: int, index: np.ndarray) -> Pattern:
    """The pattern of some features; `index` gets the positions of their weights, the first of all being at `start`."""
    C = pattern.n_columns
    if pattern.full:
        np.add((start + used * C)[:, None], np.arange(C), out=index.reshape(len(used), C))
        return Pattern(len(used), C)
    column = np.empty(len(index), dtype=np.int32)
    _batch_kernels.narrow(used, pattern.ptr, pattern.column, ptr, start, column, index)
    return Pattern(len(used), C, ptr, column)


def _add_scores(pattern: Pattern, weight: np.ndarray, batch: Batch, out: np.ndarray) -> None:
    if pattern.full:
        _linear_kernels.add_scores(*batch.rows, weight.reshape(pattern.n_features, pattern.n_columns), out)
    else:
        _linear_kernels.add_pattern_scores(*batch.rows, pattern.ptr, pattern.column, weight, out)


def _add_gradient(pattern: Pattern, batch: Batch, delta: np.ndarray, out: np.ndarray) -> None:
    if pattern.full:
        _batch_kernels.add_row_gradient(*batch.rows, delta, out.reshape(pattern.n_features, pattern.n_columns))
    else:
        _batch_kernels.add_row_pattern_gradient(*batch.rows, pattern.ptr, pattern.column, delta, out)
