# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of scorers: how big the parameters are, how to go forward, how to go back."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .design import Design

__all__ = ["Scorer"]


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
