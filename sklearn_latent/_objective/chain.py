# SPDX-License-Identifier: BSD-3-Clause
"""The penalised negative log-likelihood of a chain whose labels own latent states.

    objective(theta) = sum_i w_i ( log_sum_i - log_sum_i clamped to y_i ) + ||theta||^2 / (2 sigma^2)

It is a sum over sequences plus one prior (Sun and Tsujii 2009, section 2), so chunks, threads and mini-batches
all go through one function, and its derivative in the scores is always free minus clamped masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lattice import Lattice, Topology
from .._scorers import Design
from .._threads import BLOCK_TOKENS, CHUNK_BYTES, Workers, cut_evenly

__all__ = ["ChainObjective", "Chunk", "Packing"]

#: Blocks of a chunk are a multiple of this, so that two or four threads end together.
BLOCKS = 4
#: Bytes of a row of scores below which it counts as narrow.
NARROW = 128
#: Weights of a range in passes over vectors of their length: what one line writes the next reads from the cache.
RANGE = 1 << 16


class Packing:
    """Named parameter arrays in one flat vector.

    Parameters
    ----------
    shapes : dict of str to shape
        In packing order.
    """

    def __init__(self, shapes: dict[str, tuple[int, ...]]):
        self.shapes = shapes
        self.slices, at = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            self.slices[name] = slice(at, at + size)
            at += size
        self.size = at

    def views(self, flat: np.ndarray) -> dict[str, np.ndarray]:
        """Views of the flat vector by name."""
        return {name: flat[part].reshape(self.shapes[name]) for name, part in self.slices.items()}


@dataclass(frozen=True)
class Block:
    """A few sequences of a chunk: the unit of work of one thread."""

    design: Design
    offsets: np.ndarray  # (n_sequences + 1,), from 0
    rows: slice  # tokens, within the chunk
    sequences: slice  # within the chunk


class Chunk:
    """Consecutive sequences with their labels, cut into blocks.

    Parameters
    ----------
    design : Design
        Rows of the chunk's tokens.
    codes : ndarray of int32 of shape (n_tokens,)
        Label ids, -1 where unknown.
    offsets : ndarray of int64 of shape (n_sequences + 1,)
    weight : ndarray of float64 of shape (n_sequences,)
    first : int
        Position of the chunk's first sequence in the corpus.
    block_tokens : int
        Tokens of a block.
    """

    def __init__(
        self,
        design: Design,
        codes: np.ndarray,
        offsets: np.ndarray,
        weight: np.ndarray,
        first: int = 0,
        block_tokens: int = BLOCK_TOKENS,
    ):
        self.design = design
        self.codes = codes
        self.offsets = offsets
        self.weight = weight
        self.first = first
        self.blocks = []
        for a, b in cut_evenly(np.diff(offsets), block_tokens, multiple=BLOCKS):
            rows = slice(int(offsets[a]), int(offsets[b]))
            block = Block(design.rows(rows.start, rows.stop), offsets[a : b + 1] - offsets[a], rows, slice(a, b))
            self.blocks.append(block)

    @staticmethod
    def cut(
        values,
        codes: np.ndarray,
        offsets: np.ndarray,
        weight: np.ndarray,
        row_bytes: int,
        block_tokens: int | None = None,
    ) -> list[Chunk]:
        """Cut a corpus into chunks whose work arrays, `row_bytes` a token, stay within `CHUNK_BYTES`.

        Blocks have `block_tokens` tokens; None: what rows of that width ask for.
        """
        chunks, whole = [], Design(values)
        if block_tokens is None:
            # Narrow rows make larger blocks: what a call costs has to be little beside its work. Wide ones, of arcs
            # with scores of their own at each token, make smaller blocks, so that a chunk has some for every thread.
            block_tokens = BLOCK_TOKENS * min(4, max(1, NARROW // max(1, row_bytes)))
            block_tokens = min(block_tokens, max(1, CHUNK_BYTES // BLOCKS // max(1, row_bytes)))
        for a, b in cut_evenly(np.diff(offsets), max(1, CHUNK_BYTES // max(1, row_bytes))):
            rows = slice(int(offsets[a]), int(offsets[b]))
            design = whole if rows == slice(0, len(codes)) else whole.rows(rows.start, rows.stop)
            chunks.append(Chunk(design, codes[rows], offsets[a : b + 1] - offsets[a], weight[a:b], a, block_tokens))
        return chunks


class ChainObjective:
    """Value and gradient of the objective at a parameter vector.

    Parameters
    ----------
    topology : Topology
    scorer : Scorer
    sigma : float
        Standard deviation of the Gaussian prior, ``np.inf`` for none.
    """

    def __init__(self, topology: Topology, scorer: Any, sigma: float):
        self.topology = topology
        self.scorer: Any = scorer
        self.sigma = sigma
        self.packing = Packing(scorer.shapes())
        self._node_delta = np.empty(0)

    def value_and_grad(
        self, theta: np.ndarray, chunks: list[Chunk], workers: Workers, out: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """The objective over all chunks and its gradient; one caller at a time, it keeps a work array.

        Parameters
        ----------
        theta : ndarray of float64 of shape (n_params,)
        chunks : list of Chunk
        workers : Workers
        out : ndarray of float64 of shape (n_params,), default=None
            Where to write the gradient; None: a new array.

        Returns
        -------
        value : float
        grad : ndarray of float64 of shape (n_params,)
        """
        grad = np.empty(len(theta)) if out is None else out
        value = self._prior(theta, grad, workers)
        return value + self.add_loss(theta, chunks, workers, grad), grad

    def _prior(self, theta: np.ndarray, grad: np.ndarray, workers: Workers) -> float:
        """Value of the prior; its gradient is written to `grad`."""
        if np.isinf(self.sigma):
            grad.fill(0.0)
            return 0.0
        variance = self.sigma**2

        def task(first: int) -> float:
            part = theta[first : first + RANGE]
            np.divide(part, variance, out=grad[first : first + RANGE])
            return float(part @ part)

        return 0.5 * sum(workers.map(task, range(0, len(theta), RANGE))) / variance

    def add_loss(self, theta: np.ndarray, chunks: list[Chunk], workers: Workers, grad: np.ndarray) -> float:
        """Loss of the chunks without the prior; its gradient is added to `grad`."""
        prepared = self.scorer.prepare(self.packing.views(theta))
        named = self.packing.views(grad)
        buffers = self.scorer.gradient_buffers(named, prepared)
        value = 0.0
        for chunk in chunks:
            node_delta = self._work(len(chunk.codes))
            arc_delta, kept = None, self.scorer.keep(len(chunk.codes))

            def task(block: Block, chunk=chunk, node_delta=node_delta, kept=kept):
                return self._block(prepared, chunk, block, node_delta, kept)

            for block, (losses, block_arcs) in zip(chunk.blocks, workers.map(task, chunk.blocks), strict=True):
                value += float(losses.sum())
                if self.scorer.arc_rows_differ:
                    if arc_delta is None:
                        arc_delta = np.empty((len(chunk.codes), self.topology.n_arcs))
                    arc_delta[block.rows] = block_arcs
                elif arc_delta is None:
                    arc_delta = block_arcs
                else:
                    arc_delta += block_arcs
            if arc_delta is None:
                continue

            def tasks(f, ranges):
                for _ in workers.map(f, ranges):
                    pass

            self.scorer.add_gradient(buffers, chunk.design, chunk.offsets, node_delta, arc_delta, tasks, kept)
        self.scorer.finish_gradient(buffers, named)
        return value

    def _work(self, n_tokens: int) -> np.ndarray:
        """Unset rows for the score derivatives of a chunk: memory that is kept need not be cleared by the system."""
        size = n_tokens * self.topology.n_states
        if len(self._node_delta) < size:
            self._node_delta = np.empty(size)
        return self._node_delta[:size].reshape(n_tokens, self.topology.n_states)

    def loss(self, theta: np.ndarray, chunks: list[Chunk], workers: Workers) -> float:
        """Loss of the chunks without the prior and without its gradient."""
        prepared = self.scorer.prepare(self.packing.views(theta))

        def task(chunk_block: tuple[Chunk, Block]) -> float:
            chunk, block = chunk_block
            lattice = self._lattice(prepared, block)
            clamped = lattice.log_sum(chunk.codes[block.rows])
            return float((chunk.weight[block.sequences] * (lattice.free_log_sum - clamped)).sum())

        return sum(workers.map(task, [(chunk, block) for chunk in chunks for block in chunk.blocks]))

    def narrowed(self, features: np.ndarray) -> tuple[ChainObjective, np.ndarray]:
        """The objective over some features, without the prior, and the positions of its weights among all."""
        scorer, index = self.scorer.narrowed(features)
        return type(self)(self.topology, scorer, np.inf), index

    def impossible_sequence(self, theta: np.ndarray, chunks: list[Chunk], workers: Workers) -> int | None:
        """Position of the first sequence whose labels have probability zero, or None."""
        prepared = self.scorer.prepare(self.packing.views(theta))
        for chunk in chunks:
            for block in chunk.blocks:
                clamped = self._lattice(prepared, block).log_sum(chunk.codes[block.rows])
                if np.isneginf(clamped).any():
                    return chunk.first + block.sequences.start + int(np.flatnonzero(np.isneginf(clamped))[0])
        return None

    def _lattice(self, prepared, block: Block, kept=None) -> Lattice:
        node, arc = self.scorer.forward(prepared, block.design, block.offsets, kept, block.rows.start)
        return Lattice(self.topology, node, arc, block.offsets)

    def _block(
        self, prepared, chunk: Chunk, block: Block, node_delta: np.ndarray, kept
    ) -> tuple[np.ndarray, np.ndarray]:
        """Losses of a block's sequences and its arc delta; its rows of `node_delta` are filled."""
        lattice = self._lattice(prepared, block, kept)
        weight, codes = chunk.weight[block.sequences], chunk.codes[block.rows]
        arc_delta, rows = np.zeros_like(lattice.arc), node_delta[block.rows]
        rows.fill(0.0)
        return lattice.add_loss(codes, weight, rows, arc_delta), arc_delta
