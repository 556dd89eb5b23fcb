# SPDX-License-Identifier: BSD-3-Clause
"""`Circuit`: a sum-product network from feature rows to the log-scores of its roots, and back.

The network of one root is a tree: under it I hidden variables, each with H states, under each state I variables again,
L times (Ratajczak, Tschiatschek and Pernkopf 2018). A path from the root to the last layer has a weight vector and a
bias of its own, shorter paths have biases. In log space, with q_L(path) = b + w x,

    q_{l-1}(path) = b + sum over its I variables of log sum over their H states of exp q_l(path + (variable, state)),

and the score of a root is q_0 less its value where all weights are zero, so that a new factor says nothing. The
max network has maxima in the place of the sums. Without layers the score is w x, and there is no bias: the weights of
label n-grams and boundaries hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import _linear_kernels, _spn_kernels
from .base import Parts
from .dense import add_transposed_product, product
from .design import Design
from .support import Pattern

__all__ = ["Circuit", "Inputs", "Kept", "Prepared", "narrowed_circuits"]

DOUBLE = np.dtype(np.float64)
#: Bytes of leaf scores made at a time where they are not kept.
_STEP_BYTES = 1 << 24
#: Rows at a time: fewer and BLAS spends its time on fetching the weights, more and the leaves leave the caches.
_LEAST_STEP, _MOST_STEP = 128, 4096


@dataclass(frozen=True)
class Inputs:
    """Feature rows of a batch of sequences.

    Attributes
    ----------
    design : Design
    position : ndarray of int64 of shape (n_tokens,)
        Of each token in its sequence.
    extra : Design or None
        More columns, which are not taken from a window.
    """

    design: Design
    position: np.ndarray
    extra: Design | None = None

    @classmethod
    def of(cls, design: Design, offsets: np.ndarray, extra: Design | None = None) -> Inputs:
        """Rows of sequences."""
        return cls(design, np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], np.diff(offsets)), extra)


@dataclass(frozen=True)
class Kept:
    """What `Circuit.add_gradient` needs of `Circuit.forward`: shares of states, (n_tokens, leaves) and inner levels."""

    leaf: np.ndarray
    inner: np.ndarray

    def rows(self, first: int, last: int) -> Kept:
        """Of a range of tokens; views."""
        return Kept(self.leaf[first:last], self.inner[first:last])


@dataclass(frozen=True)
class Prepared:
    """Weights (n_rows, n_columns) and biases of all levels, those of tied leaves in state 0 as zeros."""

    coef: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True)
class Circuit:
    """Shape of a network, and its passes over batches.

    Attributes
    ----------
    n_features : int
    n_roots : int
    n_layers, n_products, n_states : int
        L, I and H.
    n_observations : int
        Tokens of the window, the current one last; rows beyond the sequence are zero.
    n_extra : int
        Columns of `Inputs.extra`.
    operator : {"sum", "max"}
    tied : bool
        Roots share their input weights, and state 0 of the last layer scores 0: the hidden-unit network.
    dtype : dtype
        Of dense products and the layers; sparse ones are float64.
    joint : bool
        Hidden variables are maximised although the model sums them out.
    """

    n_features: int
    n_roots: int
    n_layers: int
    n_products: int
    n_states: int
    n_observations: int = 1
    n_extra: int = 0
    operator: str = "sum"
    tied: bool = False
    dtype: np.dtype = DOUBLE
    joint: bool = False

    @property
    def fan(self) -> int:
        """Pairs of a variable and a state under each parent."""
        return self.n_products * self.n_states

    @property
    def widths(self) -> list[int]:
        """Values of each level, from the roots to the leaves."""
        return [self.n_roots * self.fan**level for level in range(self.n_layers + 1)]

    @property
    def n_leaves(self) -> int:
        """Leaves of all roots."""
        return self.widths[-1]

    @property
    def n_free(self) -> int:
        """Leaves that have a score of their own: state 0 of tied ones has none, and comes first."""
        return self.n_leaves // self.n_states * (self.n_states - 1) if self.tied else self.n_leaves

    @property
    def n_columns(self) -> int:
        """Columns of the weight matrix."""
        return self.n_free // max(self.n_roots, 1) if self.tied else self.n_leaves

    @property
    def n_rows(self) -> int:
        """Rows of the weight matrix: those of the current token first, of the one before next, then the extra ones."""
        return self.n_observations * self.n_features + self.n_extra

    @property
    def n_bias(self) -> int:
        """Biases of all levels."""
        return sum(self.widths[:-1]) + self.n_free if self.n_layers else 0

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters."""
        shapes: dict[str, tuple[int, ...]] = {"coef": (self.n_rows, self.n_columns)}
        return shapes | {"bias": (self.n_bias,)} if self.n_layers else shapes

    @property
    def offset(self) -> float:
        """Score of a root where all weights are zero: o_0 = 0, o_l = I (log H + o_{l-1})."""
        total = 0.0
        for _ in range(self.n_layers if self.operator == "sum" else 0):
            total = self.n_products * (np.log(self.n_states) + total)
        return float(total)

    @property
    def use_max(self) -> bool:
        """Whether hidden variables are maximised."""
        return self.joint or self.operator == "max"

    @property
    def kept_bytes(self) -> int:
        """Bytes of what is kept of a token between the passes."""
        return self.dtype.itemsize * sum(self.widths[1:])

    @cached_property
    def pattern(self) -> Pattern:
        """Weights of the features of one token."""
        return Pattern(self.n_features, self.n_columns)

    @cached_property
    def step(self) -> int:
        """Tokens at a time."""
        per_token = max(1, self.dtype.itemsize * self.n_leaves)
        return min(max(_STEP_BYTES // per_token, _LEAST_STEP), _MOST_STEP)

    def kind(self, design: Design) -> np.dtype:
        """Type of the numbers."""
        return DOUBLE if design.sparse else self.dtype

    def prepare(self, params: dict[str, np.ndarray], sparse: bool) -> Prepared:
        """The parameters in the form that the products take."""
        kind = DOUBLE if sparse else self.dtype
        bias = np.empty(0, dtype=kind)
        if self.n_layers:
            bias = np.zeros(sum(self.widths), dtype=kind)
            inner = sum(self.widths[:-1])
            bias[:inner] = params["bias"][:inner]
            bias[len(bias) - self.n_free :] = params["bias"][inner:]
        return Prepared(np.ascontiguousarray(params["coef"], dtype=kind), bias)

    def keep(self, n_tokens: int, kind: np.dtype) -> Kept | None:
        """Unset arrays for what is kept of some tokens; None without layers."""
        if not self.n_layers:
            return None
        inner = sum(self.widths[1:-1])
        return Kept(np.empty((n_tokens, self.n_leaves), dtype=kind), np.empty((n_tokens, inner), dtype=kind))

    def forward(self, prepared: Prepared, inputs: Inputs, kept: Kept | None = None) -> np.ndarray:
        """Scores of the roots, float64 of shape (n_tokens, n_roots); `kept` is filled if given."""
        n_tokens = len(inputs.position)
        out = np.empty((n_tokens, self.n_roots))
        for first in range(0, n_tokens, self.step):
            last = min(first + self.step, n_tokens)
            part = None if kept is None else kept.rows(first, last)
            out[first:last] = self._roots(prepared, inputs, first, last, part)
        if self.offset:
            out -= self.offset
        return out

    def add_gradient(
        self,
        prepared: Prepared,
        grad: dict[str, np.ndarray],
        inputs: Inputs,
        root_delta: np.ndarray,
        kept: Kept | None,
        tasks: Callable,
    ) -> None:
        """Add derivatives of the parameters, float64, given those of the roots; `kept` is used up.

        `tasks` is a function ``tasks(f, ranges)`` that runs ``f`` over ranges.
        """
        n_tokens, kind = len(root_delta), self.kind(inputs.design)
        root_delta = np.ascontiguousarray(root_delta, dtype=kind)
        if not self.n_layers:
            self._add_products(grad["coef"], inputs, 0, n_tokens, root_delta, tasks)
            return
        if kept is not None:
            ranges = [(a, min(a + _LEAST_STEP, n_tokens)) for a in range(0, n_tokens, _LEAST_STEP)]
            tasks(lambda r: self._down(kept.rows(*r), root_delta[r[0] : r[1]]), ranges)
            self._add_derivatives(grad, inputs, 0, n_tokens, kept, root_delta, tasks)
            return
        # Leaf scores are made again: more arithmetic, but memory for a step and not for the batch.
        for first in range(0, n_tokens, self.step):
            last = min(first + self.step, n_tokens)
            part, delta = self.keep(last - first, kind), root_delta[first:last]
            self._roots(prepared, inputs, first, last, part)
            self._down(part, delta)
            self._add_derivatives(grad, inputs, first, last, part, delta, tasks)

    def columns(self, prepared: Prepared, inputs: Inputs, first: int, last: int) -> np.ndarray:
        """``window @ weights`` of rows ``first:last``, (last - first, n_columns)."""
        out = np.empty((last - first, self.n_columns), dtype=self.kind(inputs.design))
        return self._columns(prepared.coef, inputs, first, last, out)

    def up(self, prepared: Prepared, columns: np.ndarray, kept: Kept | None = None) -> np.ndarray:
        """Scores of the roots from columns, float64; `kept` is filled if given, else `columns` may be overwritten."""
        if not self.n_layers:
            return columns.astype(np.float64)
        return self._finished(prepared, columns, kept).astype(np.float64) - self.offset

    def down(self, grad: dict[str, np.ndarray], root_delta: np.ndarray, kept: Kept | None) -> np.ndarray:
        """Derivatives of columns from those of the roots; derivatives of biases are added to `grad`."""
        if not self.n_layers:
            return root_delta
        self._down(kept, root_delta)
        return self._add_biases(grad, kept, root_delta)

    def add_products(self, grad: np.ndarray, inputs: Inputs, first: int, last: int, delta: np.ndarray, tasks) -> None:
        """Add ``window.T @ delta`` of rows ``first:last`` to the weights' derivatives."""
        self._add_products(grad, inputs, first, last, delta, tasks)

    def input_parts(self, prepared: Prepared, inputs: Inputs, token: int, root_delta: np.ndarray) -> Parts:
        """What ``sum_r root_delta[r] score[token, r]`` owes to features: their values times its derivatives.

        The derivative of a log-sum is the mean over the hidden states' shares, so that a part is what the feature adds
        in the mean. The rest is the biases' part, and what it is worth that several states share a score.
        """
        columns = self.columns(prepared, inputs, token, token + 1)
        kept = self.keep(1, columns.dtype)
        score = self.up(prepared, columns, kept)[0] @ root_delta
        rows = self.slope_parts(prepared, inputs, token, root_delta[None], kept)
        return Parts(rows, float(score - sum(part.sum() for _, _, part in rows)) if self.n_layers else 0.0)

    def slope_parts(
        self, prepared: Prepared, inputs: Inputs, token: int, root_delta: np.ndarray, kept: Kept | None
    ) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Values of a token's features times derivatives, summed over rows of `root_delta`; `kept` is used up."""
        delta = np.ascontiguousarray(root_delta, dtype=self.kind(inputs.design))
        slope = self.down({"bias": np.zeros(self.n_bias)}, delta, kept).sum(axis=0, dtype=np.float64)
        rows = []
        for back in range(min(self.n_observations, int(inputs.position[token]) + 1)):
            feature, values = inputs.design.row(token - back)
            rows.append((token - back, feature, values * (prepared.coef[back * self.n_features + feature] @ slope)))
        return rows

    def maximised(self) -> Circuit | None:
        """The same network with its hidden variables maximised and not summed out; None if there is no difference."""
        return None if self.use_max or not self.n_layers else replace(self, joint=True)

    # -- passes over some rows ----------------------------------------------------------------------

    def _roots(self, prepared: Prepared, inputs: Inputs, first: int, last: int, kept: Kept | None) -> np.ndarray:
        """Roots of rows ``first:last``, with the offset."""
        n = last - first
        kind = self.kind(inputs.design)
        if not self.n_layers:
            return self._columns(prepared.coef, inputs, first, last, np.empty((n, self.n_columns), dtype=kind))
        into = np.empty((n, self.n_columns), dtype=kind) if self.tied or kept is None else kept.leaf
        return self._finished(prepared, self._columns(prepared.coef, inputs, first, last, into), kept)

    def _finished(self, prepared: Prepared, columns: np.ndarray, kept: Kept | None) -> np.ndarray:
        """Roots from columns, with the offset; where nothing is kept untied columns are the work array."""
        n, kind, keep = len(columns), columns.dtype, kept is not None
        if kept is None:
            leaf = np.empty((n, self.n_leaves), dtype=kind) if self.tied else columns
            kept = Kept(leaf, np.empty((n, sum(self.widths[1:-1])), dtype=kind))
        if self.tied:
            _spn_kernels.spread(columns, kept.leaf, self.n_roots)
        elif kept.leaf is not columns:
            kept.leaf[:] = columns
        roots = np.empty((n, self.n_roots), dtype=kind)
        shape = (self.n_layers, self.n_products, self.n_states)
        _spn_kernels.layers_up(kept.leaf, kept.inner, prepared.bias, roots, *shape, self.use_max, keep)
        return roots

    def _down(self, kept: Kept, root_delta: np.ndarray) -> None:
        shape = (self.n_layers, self.n_products, self.n_states)
        _spn_kernels.layers_down(kept.leaf, kept.inner, root_delta, *shape)

    def _columns(self, coef: np.ndarray, inputs: Inputs, first: int, last: int, out: np.ndarray) -> np.ndarray:
        """``window @ coef`` of rows ``first:last``, written to `out`."""
        D = self.n_features
        if not inputs.design.sparse:
            for at, rows in self._windows(inputs, first, last, out.dtype):
                product(rows, coef[: self.n_observations * D], out[at])
        else:
            _product(inputs.design, first, last, coef[:D], out)
        for back in range(1, self.n_observations if inputs.design.sparse else 0):
            low = max(first, back)
            if low >= last:
                break
            part = np.empty((last - low, out.shape[1]), dtype=out.dtype)
            _product(inputs.design, low - back, last - back, coef[back * D : (back + 1) * D], part)
            part[inputs.position[low:last] < back] = 0
            out[low - first :] += part
        if inputs.extra is not None:
            part = np.empty_like(out)
            _product(inputs.extra, first, last, coef[self.n_observations * D :], part)
            out += part
        return out

    def _add_derivatives(
        self, grad: dict, inputs: Inputs, first: int, last: int, kept: Kept, root_delta: np.ndarray, tasks: Callable
    ) -> None:
        """Add what the derivatives of all levels say about biases and weights."""
        self._add_products(grad["coef"], inputs, first, last, self._add_biases(grad, kept, root_delta), tasks)

    def _add_biases(self, grad: dict, kept: Kept, root_delta: np.ndarray) -> np.ndarray:
        """Add what the derivatives of all levels say about biases; derivatives of the columns."""
        n_free, bias, ones = self.n_free, grad["bias"], np.ones(len(kept.leaf), dtype=kept.leaf.dtype)
        n_inner = kept.inner.shape[1]
        bias[: self.n_roots] += ones @ root_delta
        bias[self.n_roots : self.n_roots + n_inner] += ones @ kept.inner
        bias[self.n_roots + n_inner :] += ones @ kept.leaf[:, self.n_leaves - n_free :]
        if not self.tied:
            return kept.leaf
        delta = np.empty((len(kept.leaf), self.n_columns), dtype=kept.leaf.dtype)
        _spn_kernels.collect(kept.leaf, delta, self.n_roots)
        return delta

    def _add_products(
        self, grad: np.ndarray, inputs: Inputs, first: int, last: int, delta: np.ndarray, tasks: Callable
    ) -> None:
        """``grad += window.T @ delta`` for rows ``first:last``."""
        D = self.n_features
        if not inputs.design.sparse:
            for at, rows in self._windows(inputs, first, last, delta.dtype):
                add_transposed_product(rows, delta[at], grad[: self.n_observations * D], tasks)
        for back in range(self.n_observations if inputs.design.sparse else 0):
            low = max(first, back)
            if low >= last:
                break
            part = delta[low - first :]
            outside = inputs.position[low:last] < back
            if outside.any():
                part = part.copy()
                part[outside] = 0
            _add_product(
                inputs.design, low - back, last - back, part, grad[back * D : (back + 1) * D], tasks, self.pattern
            )
        if inputs.extra is not None:
            pattern = Pattern(self.n_extra, self.n_columns)
            _add_product(inputs.extra, first, last, delta, grad[self.n_observations * D :], tasks, pattern)

    def _windows(self, inputs: Inputs, first: int, last: int, kind: np.dtype) -> Iterator[tuple[slice, np.ndarray]]:
        """Dense rows ``first:last`` beside those of the tokens before them, in the weights' order, in parts."""
        design, D, m = inputs.design, self.n_features, self.n_observations
        if m == 1:
            yield slice(0, last - first), design.dense_part(first, last, kind)
            return
        step = min(max(_STEP_BYTES // max(1, m * D * kind.itemsize), _LEAST_STEP), _MOST_STEP)
        for a in range(first, last, step):
            b = min(a + step, last)
            rows = np.zeros((b - a, m * D), dtype=kind)
            for back in range(min(m, b)):
                low = max(a, back)
                part = rows[low - a :, back * D : (back + 1) * D]
                part[:] = design.dense_part(low - back, b - back, kind)
                part[inputs.position[low:b] < back] = 0
            yield slice(a - first, b - first), rows


def _product(design: Design, first: int, last: int, coef: np.ndarray, out: np.ndarray) -> None:
    """``rows @ coef``, written to `out`."""
    if not design.sparse:
        product(design.dense_part(first, last, out.dtype), coef, out)
        return
    part = design if (first, last) == (0, design.shape[0]) else design.rows(first, last)
    out[:] = 0
    _linear_kernels.add_scores(part.row_ptr, part.feature, part.values, coef, out)


def _add_product(
    design: Design, first: int, last: int, delta: np.ndarray, grad: np.ndarray, tasks: Callable, pattern: Pattern
) -> None:
    """``grad += rows.T @ delta``."""
    if not design.sparse:
        add_transposed_product(design.dense_part(first, last, delta.dtype), delta, grad, tasks)
        return
    part = design if (first, last) == (0, design.shape[0]) else design.rows(first, last)
    sparse, delta = part.by_feature, np.ascontiguousarray(delta)
    tasks(lambda r: _linear_kernels.add_gradient(*sparse, delta, grad, *r), part.ranges_of(pattern))


def narrowed_circuits(circuits: list[Circuit], features: np.ndarray) -> tuple[list[Circuit], np.ndarray]:
    """The networks of some of the features, and the positions of their parameters among all, in packing order."""
    index, at, narrow = [], 0, []
    for circuit in circuits:
        D, m, n = circuit.n_features, circuit.n_observations, circuit.n_columns
        rows = (np.arange(m)[:, None] * D + features[None, :]).reshape(-1)
        rows = np.concatenate([rows, np.arange(m * D, circuit.n_rows)])
        index.append((at + rows[:, None] * n + np.arange(n)[None, :]).reshape(-1))
        at += circuit.n_rows * n
        index.append(np.arange(at, at + circuit.n_bias))
        at += circuit.n_bias
        narrow.append(replace(circuit, n_features=len(features)))
    return narrow, np.concatenate(index) if index else np.empty(0, dtype=np.int64)
