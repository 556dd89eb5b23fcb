# SPDX-License-Identifier: BSD-3-Clause
"""`LocalScorer`: log-probabilities of each label given the labels before it, from sum-product networks.

A maximum-entropy Markov model (McCallum et al. 2000) with networks: the score of a label is what the networks make of
the features and of the previous `order` labels, which are one-hot inputs with a symbol for what is before the sequence;
scores become probabilities token by token (Ratajczak, Tschiatschek and Pernkopf 2018, SPN-MEMM).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._threads import BLOCK_TOKENS
from .base import Parts
from .circuit import Circuit, Inputs, Kept, narrowed_circuits
from .design import Design

if TYPE_CHECKING:
    from .._lattice import NgramSpace, Topology

__all__ = ["LocalScorer", "tokens_after"]

_KEPT_BYTES = 1 << 26


def tokens_after(offsets: np.ndarray) -> np.ndarray:
    """How many tokens of its sequence follow each token."""
    return np.repeat(offsets[1:], np.diff(offsets)) - np.arange(int(offsets[-1])) - 1


class LocalScorer:
    """Log-probabilities of labels, for rows that are a token and a history each.

    A history is a row of label ids, the last label first, `n_labels` where there is none. Forbidden labels have
    probability zero, those that are left share it. A label after which the sequence can't be brought to an allowed end
    is forbidden too: else its share would be lost, and probabilities of label sequences would not add up to one.

    Parameters
    ----------
    topology : Topology
    space : NgramSpace or None
        Whose states are the histories of up to `order` labels, for `forward`; None: there are too many for a lattice.
    circuits : list of Circuit
        Roots are labels; their extra inputs are ``order * (n_labels + 1)``.
    order : int
    allowed : ndarray of bool of shape (n_labels + 1, n_labels) or None
        Which label may follow which; the last row is the start.
    ends : ndarray of bool of shape (n_labels,) or None
        Labels a sequence may end with.
    sparse : bool
    """

    arc_rows_differ = True

    def __init__(
        self,
        topology: Topology,
        space: NgramSpace | None,
        circuits: list[Circuit],
        order: int,
        allowed: np.ndarray | None,
        ends: np.ndarray | None,
        *,
        sparse: bool,
        best: list[Circuit] | None = None,
    ):
        self.topology = topology
        self.space = space
        self.circuits = circuits
        self.order = order
        self.allowed = allowed
        self.ends = ends
        self.sparse = sparse
        self.best = best
        self.n_labels = topology.n_labels
        self._ways = np.empty((0, self.n_labels), dtype=bool)

    @property
    def width(self) -> int:
        """Labels of a history: one at least, for what may follow it."""
        return max(1, self.order)

    @property
    def row_bytes(self) -> int:
        """Bytes of a token's work arrays."""
        kept = sum(circuit.kept_bytes for circuit in self.circuits)
        arcs = 0 if self.space is None else self.topology.n_arcs
        return max(8 * (arcs + self.topology.n_states), kept // 3)

    @property
    def block_tokens(self) -> int:
        """Tokens of a block."""
        leaves = max(1, sum(circuit.n_leaves for circuit in self.circuits))
        return min(BLOCK_TOKENS, max(128, (1 << 20) // leaves))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each parameter array, in packing order."""
        return {
            f"{name}_{k}": shape for k, circuit in enumerate(self.circuits) for name, shape in circuit.shapes.items()
        }

    def prepare(self, params: dict[str, np.ndarray]) -> list:
        """Weights of the networks in the form that the products take."""
        return [
            circuit.prepare({name: params[f"{name}_{k}"] for name in circuit.shapes}, self.sparse)
            for k, circuit in enumerate(self.circuits)
        ]

    def maximised(self) -> LocalScorer | None:
        """The scorer of the best assignment of hidden variables, under the same normalisers; None: no difference."""
        best = [circuit.maximised() for circuit in self.circuits]
        if all(circuit is None for circuit in best):
            return None
        best = [new or old for new, old in zip(best, self.circuits, strict=True)]
        return LocalScorer(
            self.topology, self.space, self.circuits, self.order, self.allowed, self.ends, sparse=self.sparse, best=best
        )

    def keep(self, n_rows: int) -> list[Kept | None] | None:
        """Where `logits` writes down what `add_gradient` needs; None where that is too much to keep."""
        if n_rows * sum(circuit.kept_bytes for circuit in self.circuits) > _KEPT_BYTES:
            return None
        return [c.keep(n_rows, np.dtype(np.float64) if self.sparse else c.dtype) for c in self.circuits]

    def columns(self, prepared: list, inputs: Inputs, first: int, last: int) -> list[np.ndarray]:
        """What the features of tokens ``first:last`` give to the columns of each network."""
        return [c.columns(p, inputs, first, last) for c, p in zip(self.circuits, prepared, strict=True)]

    def logits(
        self, prepared: list, columns: list[np.ndarray], history: np.ndarray, kept: list | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores of labels, float64 of (n_rows, n_labels): summed over hidden variables, and what is to be decoded.

        Parameters
        ----------
        columns : list of ndarray of shape (n_rows, n_columns)
            Overwritten.
        history : ndarray of int of shape (n_rows, width)
        """
        total, joint = np.zeros((len(history), self.n_labels)), np.zeros((len(history), self.n_labels))
        for k, (circuit, own, rows) in enumerate(zip(self.circuits, prepared, columns, strict=True)):
            table = own.coef[len(own.coef) - circuit.n_extra :]
            for back in range(self.order):
                rows += table[back * (self.n_labels + 1) + history[:, back]]
            if self.best is not None:
                joint += self.best[k].up(own, rows.copy())
            total += circuit.up(own, rows, None if kept is None else kept[k])
        return total, total if self.best is None else joint

    def log_prob(self, total: np.ndarray, joint: np.ndarray, history: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Log-probabilities of labels, (n_rows, n_labels), from `logits`; `after`: tokens that follow each row's."""
        mask = self.mask(history, after)
        if mask is not None:
            total = np.where(mask, total, -np.inf)
            joint = np.where(mask, joint, -np.inf)
        top = total.max(axis=1, keepdims=True)
        top = np.where(np.isneginf(top), 0.0, top)
        with np.errstate(divide="ignore"):
            norm = top + np.log(np.exp(total - top).sum(axis=1, keepdims=True))
        return np.where(np.isneginf(norm), -np.inf, joint - np.where(np.isneginf(norm), 0.0, norm))

    def mask(self, history: np.ndarray, after: np.ndarray) -> np.ndarray | None:
        """Labels that may come, bool of (n_rows, n_labels); None: all."""
        if self.allowed is None and self.ends is None:
            return None
        mask = np.ones((len(history), self.n_labels), dtype=bool)
        if self.allowed is not None:
            mask &= self.allowed[history[:, 0]]
        if self.has_dead_ends:
            mask &= self._ways_on(int(after.max(initial=0)))[after]
        return mask

    @cached_property
    def has_dead_ends(self) -> bool:
        """Whether there are labels that a sequence can't end with, or that nothing may follow."""
        return self.ends is not None or (self.allowed is not None and not self.allowed[:-1].any(axis=1).all())

    def _ways_on(self, n: int) -> np.ndarray:
        """Labels after which just 0, 1, ... n more can follow, the last one at an allowed end, (n + 1, n_labels)."""
        known = self._ways
        if len(known) <= n:
            out = np.ones((max(n + 1, 2 * len(known)), self.n_labels), dtype=bool)
            out[: len(known)] = known
            if not len(known) and self.ends is not None:
                out[0] = self.ends
            for k in range(max(1, len(known)), len(out)):
                out[k] = out[k - 1].any() if self.allowed is None else (self.allowed[:-1] & out[k - 1]).any(axis=1)
            self._ways = known = out
        return known

    def add_gradient(
        self,
        prepared: list,
        grad: dict[str, np.ndarray],
        inputs: Inputs,
        token: np.ndarray,
        history: np.ndarray,
        delta: np.ndarray,
        tasks: Callable,
        kept: list | None,
    ) -> None:
        """Add derivatives of the weights, given those of the summed scores, (n_rows, n_labels).

        `token` is the token of each row, ascending; `kept` is used up.
        """
        n_rows = len(token)
        step = n_rows if kept is not None else min(circuit.step for circuit in self.circuits)
        for first in range(0, n_rows, max(1, step)):
            last = min(first + step, n_rows)
            low, high = int(token[first]), int(token[last - 1]) + 1
            part = kept
            if kept is None:
                part = self.keep_always(last - first)
                rows = [c[token[first:last] - low] for c in self.columns(prepared, inputs, low, high)]
                self.logits(prepared, rows, history[first:last], part)
            starts = np.flatnonzero(np.diff(token[first:last], prepend=low - 1))
            for k, circuit in enumerate(self.circuits):
                own = {name: grad[f"{name}_{k}"] for name in circuit.shapes}
                kind = circuit.kind(inputs.design)
                columns = circuit.down(own, np.ascontiguousarray(delta[first:last], dtype=kind), part[k])
                n = len(own["coef"]) - circuit.n_extra
                if self.order:
                    own["coef"][n:] += self._one_hot(history[first:last]).astype(kind) @ columns
                if len(starts) < max(last - first, high - low):
                    # Several histories of a token, or none where constraints leave no way on.
                    summed = np.zeros((high - low, columns.shape[1]), dtype=columns.dtype)
                    summed[token[first:last][starts] - low] = np.add.reduceat(columns, starts, axis=0)
                    columns = summed
                circuit.add_products(own["coef"][:n], inputs, low, high, columns, tasks)

    def narrowed(self, features: np.ndarray) -> tuple[LocalScorer, np.ndarray]:
        """The scorer of some of the features, and the positions of its weights among all, in packing order."""
        circuits, index = narrowed_circuits(self.circuits, features)
        local = LocalScorer(
            self.topology, self.space, circuits, self.order, self.allowed, self.ends, sparse=self.sparse
        )
        return local, index

    def keep_always(self, n_rows: int) -> list[Kept | None]:
        """As `keep`, however much it is."""
        return [c.keep(n_rows, np.dtype(np.float64) if self.sparse else c.dtype) for c in self.circuits]

    def _one_hot(self, history: np.ndarray) -> sp.csr_array:
        """Extra inputs of rows as columns, (order * (n_labels + 1), n_rows)."""
        n, width = len(history), self.n_labels + 1
        place = (history[:, : self.order] + width * np.arange(self.order)).reshape(-1)
        shape = (n, width * self.order)
        return sp.csr_array((np.ones(len(place)), place, np.arange(n + 1) * self.order), shape=shape).T.tocsr()

    # -- lattice of histories ------------------------------------------------------------------------

    def forward(self, prepared: list, design: Design, offsets: np.ndarray, kept: Any = None, first: int = 0):
        """Node scores and arc scores of a block (see `Scorer`): log-probabilities of labels after each state."""
        top, space = self.topology, self.space
        inputs, n = Inputs.of(design, offsets), design.shape[0]
        node, arc = np.zeros((n, top.n_states)), np.full((n, top.n_arcs), -np.inf)
        full = np.diff(offsets) > 0
        firsts, after = offsets[:-1][full], tokens_after(offsets)
        columns, histories = self.columns(prepared, inputs, 0, n), self._histories()

        def given(rows, history: np.ndarray) -> np.ndarray:
            own = [c[rows].copy() for c in columns]
            history = np.broadcast_to(history, (len(own[0]), self.width))
            return self.log_prob(*self.logits(prepared, own, history), history, after[rows])

        node[firsts] = -np.inf
        if len(firsts):
            states = np.flatnonzero(space.starts)
            node[np.ix_(firsts, states)] = given(firsts, histories[-1])[:, top.state_label[states]]
        for state in range(top.n_states if n > len(firsts) else 0):
            arcs = slice(int(top.arc_ptr[state]), int(top.arc_ptr[state + 1]))
            arc[:, arcs] = given(slice(None), histories[state])[:, top.state_label[top.arc_target[arcs]]]
        if top.arc_allowed is not None:
            arc[:, ~top.arc_allowed] = -np.inf
        return node, arc

    def feature_parts(
        self,
        prepared: list,
        design: Design,
        offsets: np.ndarray,
        token: int,
        node_delta: np.ndarray,
        arc_delta: np.ndarray,
    ) -> Parts:
        """What a weighted sum of a token's log-probabilities owes to features (see `Scorer`).

        After the first token there is no rest: it is what the labels before say.
        """
        top, inputs = self.topology, Inputs.of(design, offsets)
        if token == 0:
            label, states = top.state_label[None, :], self._histories()[-1:]
            rows, delta = np.zeros_like(label), node_delta
        else:
            label, states = top.state_label[top.arc_target], self._histories()[:-1]
            rows, delta = top.arc_source, arc_delta
        wanted = np.zeros((len(states), self.n_labels))
        np.add.at(wanted, (rows, label), delta)
        columns = [np.repeat(c, len(states), axis=0) for c in self.columns(prepared, inputs, token, token + 1)]
        kept = self.keep_always(len(states))
        total, joint = self.logits(prepared, columns, states, kept)
        after = np.full(len(states), int(offsets[-1]) - token - 1)
        log_prob, asked = self.log_prob(total, joint, states, after), wanted != 0
        # The normaliser of a history sees the features too.
        slope = wanted - np.exp(log_prob) * wanted.sum(axis=1, keepdims=True)
        out = Parts()
        for circuit, own, part in zip(self.circuits, prepared, kept, strict=True):
            out.rows += circuit.slope_parts(own, inputs, token, slope, part)
        out.rest = float(wanted[asked] @ log_prob[asked] - out.inner) if token == 0 else 0.0
        return out

    def _histories(self) -> np.ndarray:
        """History of each state as scorers take it, (n_states + 1, width); the last row is that of the start."""
        out = np.full((self.topology.n_states + 1, self.width), self.n_labels)
        for back in range(min(self.width, self.space.history.shape[1])):
            label = self.space.history[:, -1 - back]
            out[:-1, back] = np.where(label < 0, self.n_labels, label)
        return out
