# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of scorers: how big the parameters are, how to go forward, how to go back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .design import Design

__all__ = ["Parts", "Scorer"]


@dataclass
class Parts:
    """What a weighted sum of one token's scores owes to each feature.

    Attributes
    ----------
    rows : list of (int, ndarray of int, ndarray of float)
        A token whose features count, some of its features, and the part of each.
    rest : float
        What is left of networks: their biases, and what it is worth that several hidden states share a score. Exactly
        0.0 where scores are linear.
    start, end : float or None
        Parts of boundary weights; None where there are none at this token.
    """

    rows: list[tuple[int, np.ndarray, np.ndarray]] = field(default_factory=list)
    rest: float = 0.0
    start: float | None = None
    end: float | None = None

    @property
    def inner(self) -> float:
        """Sum of all but the boundary weights."""
        return sum(float(part.sum()) for _, _, part in self.rows) + self.rest

    def add_boundary(self, prepared: dict, n_tokens: int, token: int, node_delta: np.ndarray) -> Parts:
        """Set `start` and `end` from rows of boundary scores, ``-inf`` where a state can't be there."""
        used = np.flatnonzero(node_delta)
        if token == 0:
            self.start = float(node_delta[used] @ prepared["start"][used])
        if token == n_tokens - 1:
            self.end = float(node_delta[used] @ prepared["end"][used])
        return self


class Scorer(Protocol):
    """A local factor: log-scores of states and arcs from feature rows.

    A scorer is stateless: parameters come in by name, and what `forward` and `add_gradient` share is made once for
    a parameter vector by `prepare`.
    """

    @property
    def arc_rows_differ(self) -> bool:
        """Whether each token has an arc row of its own."""
        ...

    @property
    def row_bytes(self) -> int:
        """Bytes of a token's work arrays: chunks are cut by it."""
        ...

    @property
    def block_tokens(self) -> int | None:
        """Tokens of a block, the work of one thread; None: what the width of rows asks for."""
        ...

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each parameter array, in the order in which they are packed."""
        ...

    def prepare(self, params: dict[str, np.ndarray]) -> Any:
        """What every block needs of the parameters, made once."""
        ...

    def keep(self, n_tokens: int) -> Any:
        """Where `forward` writes down for `add_gradient` what it found out about a chunk's tokens; None: nothing."""
        ...

    def forward(
        self, prepared: Any, design: Design, offsets: np.ndarray, kept: Any = None, first: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Node scores (n_tokens, n_states) and arc scores (1 or n_tokens, n_arcs) of a block of sequences.

        `kept` is from `keep` for the chunk, in which the block begins at token `first`.
        """
        ...

    def gradient_buffers(self, grad: dict[str, np.ndarray], prepared: Any) -> Any:
        """Where `add_gradient` adds up; views of `grad` where that can be."""
        ...

    def add_gradient(
        self,
        buffers: Any,
        design: Design,
        offsets: np.ndarray,
        node_delta: np.ndarray,
        arc_delta: np.ndarray,
        tasks,
        kept: Any = None,
    ) -> None:
        """Add the derivative of a chunk's loss, given its derivative in node and arc scores.

        `tasks` is a function ``tasks(f, ranges)`` that runs ``f`` over disjoint ranges of features, rows or columns.
        """
        ...

    def finish_gradient(self, buffers: Any, grad: dict[str, np.ndarray]) -> None:
        """Write what `buffers` hold into `grad` where they are not views of it."""
        ...

    def maximised(self) -> Scorer | None:
        """A scorer of the same weights that maximises what this one sums out below the states; None if nothing is."""
        ...

    def feature_parts(
        self,
        prepared: Any,
        design: Design,
        offsets: np.ndarray,
        token: int,
        node_delta: np.ndarray,
        arc_delta: np.ndarray,
    ) -> Parts:
        """What ``sum_h node_delta[h] node[token, h] + sum_g arc_delta[g] arc[token, g]`` owes to features.

        A feature's part is its value times the derivative of that sum in it. Weights of moves between states that don't
        see the features are not counted.

        Parameters
        ----------
        design, offsets
            One sequence.
        node_delta : ndarray of shape (n_states,)
        arc_delta : ndarray of shape (n_arcs,)
        """
        ...
