# SPDX-License-Identifier: BSD-3-Clause
"""The objective in mini-batches: the loss of a few sequences, and its gradient in the weights that they touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._lattice import Lattice
from .._scorers import LinearScorer
from .._scorers.batch import Batch, BatchScorer
from .._sequences import SequenceMatrix
from .._threads import BLOCK_TOKENS, Workers, cut_by_tokens
from .chain import ChainObjective, Chunk

__all__ = ["SampledObjective"]


@dataclass(frozen=True)
class _Sparse:
    """A batch of sparse rows."""

    batch: Batch
    codes: np.ndarray
    weight: np.ndarray

    @property
    def index(self) -> np.ndarray:
        """Weights that the batch touches."""
        return self.batch.index


@dataclass(frozen=True)
class _Chunks:
    """A batch for any scorer, cut so that its work arrays stay small, and the weights that it touches."""

    objective: ChainObjective
    chunks: list[Chunk]
    index: np.ndarray | slice

    @property
    def weight(self) -> np.ndarray:
        """Weight of each sequence."""
        return np.concatenate([chunk.weight for chunk in self.chunks])


class SampledObjective:
    """A corpus whose sequences can be drawn.

    With sparse features a batch touches few of the weights, and only these come in and go out: the cost of a batch
    depends on the batch and not on the model. With dense features it touches all of them.

    Parameters
    ----------
    objective : ChainObjective
    X : SequenceMatrix
        No empty sequence.
    codes : ndarray of int32 of shape (n_tokens,)
    weight : ndarray of float64 of shape (n_sequences,), positive
    workers : Workers
    """

    def __init__(
        self, objective: ChainObjective, X: SequenceMatrix, codes: np.ndarray, weight: np.ndarray, workers: Workers
    ):
        self.objective = objective
        self.X = X
        self.codes = codes
        self.weight = weight
        self.workers = workers
        self.n_samples = len(X)
        self.total_weight = float(weight.sum())
        self._scorer = None
        if sp.issparse(X.values):
            if isinstance(objective.scorer, LinearScorer):
                self._scorer = BatchScorer(objective.scorer, X)
            else:
                self._column = np.zeros(X.n_features, dtype=np.int64)

    @property
    def precision(self) -> float:
        """Derivative of the prior over the weight it belongs to, ``1 / sigma ** 2``."""
        return 0.0 if np.isinf(self.objective.sigma) else 1.0 / self.objective.sigma**2

    def draw(self, samples: np.ndarray) -> _Sparse | _Chunks:
        """A batch of some sequences, by their positions; its `index` says which weights it touches."""
        codes, weight = self.codes[self.X._rows_of(samples)], self.weight[samples]
        if self._scorer is not None:
            return _Sparse(self._scorer.draw(samples), codes, weight)
        part, objective = self.X[samples], self.objective
        index: np.ndarray | slice = slice(None)
        values = part.values
        if sp.issparse(values):
            used = np.unique(values.indices)
            self._column[used] = np.arange(len(used))
            arrays = (values.data, self._column[values.indices], values.indptr)
            values = sp.csr_array(arrays, shape=(part.n_tokens, len(used)))
            objective, index = objective.narrowed(used)
        scorer = objective.scorer
        chunks = Chunk.cut(values, codes, part.offsets, weight, scorer.row_bytes, scorer.block_tokens)
        return _Chunks(objective, chunks, index)

    def evaluate(self, values: np.ndarray, batch: _Sparse | _Chunks) -> tuple[float, float, np.ndarray]:
        """Loss of a batch, without the prior.

        Parameters
        ----------
        values : ndarray
            The weights at ``batch.index``.
        batch : object
            From `draw`.

        Returns
        -------
        loss : float
            Sum over the sequences, each times its weight.
        weight : float
            Sum of their weights.
        grad : ndarray
            Derivative of the loss in the weights at ``batch.index``.
        """
        weight = float(batch.weight.sum())
        if isinstance(batch, _Sparse):
            loss, grad = self._sparse(values, batch)
            return loss, weight, grad
        grad = np.zeros(len(values))
        return batch.objective.add_loss(values, batch.chunks, self.workers, grad), weight, grad

    def _sparse(self, values: np.ndarray, drawn: _Sparse) -> tuple[float, np.ndarray]:
        """Loss and derivative of a batch of sparse rows."""
        topology, scorer, batch = self.objective.topology, self._scorer, drawn.batch
        prepared = scorer.prepare(values, batch)
        node_delta = np.zeros((int(batch.offsets[-1]), topology.n_states))

        def task(part: tuple[int, int]) -> tuple[float, np.ndarray]:
            first, last = part
            block, rows = batch.part(first, last), slice(int(batch.offsets[first]), int(batch.offsets[last]))
            node, arc = scorer.forward(prepared, block)
            lattice, arc_delta = Lattice(topology, node, arc, block.offsets), np.zeros_like(arc)
            losses = lattice.add_loss(drawn.codes[rows], drawn.weight[first:last], node_delta[rows], arc_delta)
            return float(losses.sum()), arc_delta

        parts = cut_by_tokens(np.diff(batch.offsets), BLOCK_TOKENS)
        losses, arc_deltas = zip(*self.workers.map(task, parts), strict=True)
        if len(parts) == 1:
            arc_delta = arc_deltas[0]
        else:
            arc_delta = np.concatenate(arc_deltas) if batch.patterns[1] is not None else sum(arc_deltas)
        return sum(losses), scorer.gradient(batch, node_delta, arc_delta)
