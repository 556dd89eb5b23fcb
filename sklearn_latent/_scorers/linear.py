# SPDX-License-Identifier: BSD-3-Clause
"""`LinearScorer`: scores that are linear in the features, on all weights or only on those of a support."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from . import _linear_kernels
from .base import Parts
from .design import Design
from .split import split_of
from .support import Pattern, Support

if TYPE_CHECKING:
    from .._lattice import Topology

__all__ = ["LinearScorer"]


class LinearScorer:
    """Node and arc log-scores of a linear-chain model.

    ``node[t, h] = sum_f x[t, f] coef[f, h]`` plus ``start[h]`` at the first and ``end[h]`` at the last token of a
    sequence; ``arc[t, (g, h)] = transition[g, h] + sum_f x[t, f] edge[f, (g, h)]``. Without edge features one arc
    row serves all tokens. Weights outside the support are zero; forbidden arcs, starts and ends score ``-inf``.

    Parameters
    ----------
    topology : Topology
    support : Support
    sparse : bool
        Whether the designs are sparse (kernels) or dense (BLAS).
    split : bool, default=False
        Whether designs are multiplied in two halves (see `Split`): worth it for designs that are multiplied often.
    """

    def __init__(self, topology: Topology, support: Support, *, sparse: bool, split: bool = False):
        self.topology = topology
        self.support = support
        self.sparse = sparse
        self.split = split_of(support.state) if split and sparse else None

    @property
    def arc_rows_differ(self) -> bool:
        """Whether each token has an arc row of its own."""
        return self.support.edge is not None

    @property
    def row_bytes(self) -> int:
        """Bytes of a token's row of scores."""
        return self.topology.row_bytes(arc_rows_differ=self.arc_rows_differ)

    @property
    def block_tokens(self) -> None:
        """Tokens of a block: what the width of the rows asks for."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each parameter array, in packing order."""
        s = self.support
        shapes: dict[str, tuple[int, ...]] = {"coef": (s.state.n_weights,)}
        if s.edge is not None:
            shapes["edge"] = (s.edge.n_weights,)
        return shapes | {"transition": (len(s.transition),), "start": (len(s.start),), "end": (len(s.end),)}

    def prepare(self, params: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Weights in the form that the products take, the arc row, and the start and end rows."""
        s, top = self.support, self.topology
        arc = np.zeros((1, top.n_arcs))
        arc[0, s.transition] = params["transition"]
        if top.arc_allowed is not None:
            arc[0, ~top.arc_allowed] = -np.inf
        prepared = {"arc": arc, "coef": self._weights(s.state, params["coef"])}
        if self.split is not None:
            prepared["rows"] = self.split.matrix(params["coef"])
        if s.edge is not None:
            prepared["edge"] = self._weights(s.edge, params["edge"])
        for name, states, allowed in (("start", s.start, s.start_allowed), ("end", s.end, s.end_allowed)):
            row = np.zeros(top.n_states)
            row[states] = params[name]
            if allowed is not None:
                row[~allowed] = -np.inf
            prepared[name] = row
        return prepared

    def keep(self, n_tokens: int) -> None:
        """Nothing: derivatives of a linear scorer don't need its scores."""

    def maximised(self) -> None:
        """Nothing to maximise: there are no variables under the states."""

    def forward(
        self, prepared: dict[str, np.ndarray], design: Design, offsets: np.ndarray, kept: None = None, first: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Node scores and arc scores of a block of sequences (see `Scorer`)."""
        if self.split is None:
            node = self._product(self.support.state, prepared["coef"], design, None)
        else:
            rows, others = design.split(self.split)
            node = self._product(self.split.rows, prepared["rows"], rows, None)
            self._add_sparse(self.support.state, prepared["coef"], others, node)
        full = np.diff(offsets) > 0
        node[offsets[:-1][full]] += prepared["start"]
        node[offsets[1:][full] - 1] += prepared["end"]
        if self.support.edge is None:
            return node, prepared["arc"]
        return node, self._product(self.support.edge, prepared["edge"], design, prepared["arc"])

    def gradient_buffers(self, grad: dict[str, np.ndarray], prepared: dict | None = None) -> dict[str, np.ndarray]:
        """Arrays that sums go to: the gradient itself, or a matrix where the design is dense and the support isn't."""
        buffers = dict(grad)
        for name, pattern in self._patterns():
            if pattern.full:
                buffers[name] = grad[name].reshape(pattern.n_features, pattern.n_columns)
            elif not self.sparse:
                buffers[name] = np.zeros((pattern.n_features, pattern.n_columns))
        return buffers

    def add_gradient(
        self,
        buffers: dict[str, np.ndarray],
        design: Design,
        offsets: np.ndarray,
        node_delta: np.ndarray,
        arc_delta: np.ndarray,
        tasks: Callable,
        kept: None = None,
    ) -> None:
        """Add the derivatives of a chunk; `arc_delta` is (1, n_arcs), or (n_tokens, n_arcs) with edge features."""
        s = self.support
        self._add_products(s.state, buffers["coef"], design, node_delta, tasks)
        if s.edge is not None:
            self._add_products(s.edge, buffers["edge"], design, arc_delta, tasks)
        buffers["transition"] += arc_delta.sum(axis=0)[s.transition]
        full = np.diff(offsets) > 0
        buffers["start"] += node_delta[offsets[:-1][full]].sum(axis=0)[s.start]
        buffers["end"] += node_delta[offsets[1:][full] - 1].sum(axis=0)[s.end]

    def finish_gradient(self, buffers: dict[str, np.ndarray], grad: dict[str, np.ndarray]) -> None:
        """Read the support's entries out of the matrices of a dense design."""
        for name, pattern in self._patterns():
            if not pattern.full and not self.sparse:
                grad[name] += pattern.from_matrix(buffers[name])

    def feature_parts(
        self,
        prepared: dict,
        design: Design,
        offsets: np.ndarray,
        token: int,
        node_delta: np.ndarray,
        arc_delta: np.ndarray,
    ) -> Parts:
        """What a weighted sum of a token's scores owes to features (see `Scorer`)."""
        feature, values = design.row(token)
        part = np.zeros(len(feature))
        for (name, pattern), delta in zip(self._patterns(), (node_delta, arc_delta), strict=False):
            part += values * _row_sums(pattern, prepared[name], feature, delta)
        return Parts([(token, feature, part)]).add_boundary(prepared, design.shape[0], token, node_delta)

    def _patterns(self) -> list[tuple[str, Pattern]]:
        found = [("coef", self.support.state)]
        return found if self.support.edge is None else [*found, ("edge", self.support.edge)]

    def _weights(self, pattern: Pattern, weight: np.ndarray) -> np.ndarray:
        return weight if self.sparse and not pattern.full else pattern.to_matrix(weight)

    def _product(self, pattern: Pattern, weight: np.ndarray, design: Design, base: np.ndarray | None) -> np.ndarray:
        """``X @ W`` over the pattern, added to the row `base`."""
        if not self.sparse:
            out = design.dense_rows() @ weight
            if base is not None:
                out += base
            return out
        n_tokens = design.shape[0]
        out = np.zeros((n_tokens, pattern.n_columns)) if base is None else np.repeat(base, n_tokens, axis=0)
        self._add_sparse(pattern, weight, design, out)
        return out

    @staticmethod
    def _add_sparse(pattern: Pattern, weight: np.ndarray, design: Design, out: np.ndarray) -> None:
        """Add ``X @ W`` over the pattern, for a sparse design."""
        sparse = (design.row_ptr, design.feature, design.values)
        if pattern.full:
            _linear_kernels.add_scores(*sparse, weight, out)
        else:
            _linear_kernels.add_pattern_scores(*sparse, pattern.ptr, pattern.column, weight, out)

    def _add_products(
        self, pattern: Pattern, out: np.ndarray, design: Design, delta: np.ndarray, tasks: Callable
    ) -> None:
        """Add ``X.T @ delta`` over the pattern, ranges of features at a time."""
        if not self.sparse:

            def add_dense(features: tuple[int, int]) -> None:
                first, last = features
                out[first:last] += design.dense_columns(first, last).T @ delta

            tasks(add_dense, design.feature_ranges)
            return
        sparse = design.by_feature
        if pattern.full:
            tasks(lambda r: _linear_kernels.add_gradient(*sparse, delta, out, *r), design.ranges_of(pattern))
        else:
            head = (*sparse, pattern.ptr, pattern.column, delta, out)
            tasks(lambda r: _linear_kernels.add_pattern_gradient(*head, *r), design.ranges_of(pattern))


def _row_sums(pattern: Pattern, weight: np.ndarray, feature: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """``W[feature] @ delta`` over the pattern."""
    if weight.ndim == 2:
        return weight[feature] @ delta
    own = [slice(int(pattern.ptr[f]), int(pattern.ptr[f + 1])) for f in feature.tolist()]
    return np.array([weight[k] @ delta[pattern.column[k]] for k in own], dtype=np.float64)
