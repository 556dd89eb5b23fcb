# SPDX-License-Identifier: BSD-3-Clause
"""The objective in mini-batches: the loss of a few sequences, and its gradient in the weights that they touch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .._scorers import Design, LinearScorer, Pattern
from .._sequences import SequenceMatrix
from .._sequences.matrix import runs
from .._threads import Workers
from .chain import ChainObjective, Chunk

__all__ = ["SampledObjective"]


class SampledObjective:
    """A corpus whose sequences can be drawn.

    With sparse features a batch touches few of the weights, so its gradient comes as indices and values: the cost
    of a batch depends on the batch and not on the model.

    Parameters
    ----------
    objective : ChainObjective
        Of a linear scorer.
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
        self._position = np.zeros(X.n_features, dtype=np.int64)

    @property
    def precision(self) -> float:
        """Derivative of the prior over the weight it belongs to, ``1 / sigma ** 2``."""
        return 0.0 if np.isinf(self.objective.sigma) else 1.0 / self.objective.sigma**2

    def evaluate(self, theta: np.ndarray, samples: np.ndarray) -> tuple[float, float, np.ndarray | slice, np.ndarray]:
        """Loss of some sequences, without the prior.

        Parameters
        ----------
        theta : ndarray of shape (n_params,)
        samples : ndarray of int
            Positions of the sequences.

        Returns
        -------
        loss : float
            Sum over the sequences, each times its weight.
        weight : float
            Sum of their weights.
        index : ndarray of int64 or slice
            Weights with a derivative.
        grad : ndarray
            Derivative of the loss in these weights.
        """
        part = self.X[samples]
        codes, weight = self.codes[self.X._rows_of(samples)], self.weight[samples]
        objective, index, values = self._local(part)
        chunk = Chunk(Design(values), codes, part.offsets, weight)
        local = theta[index]
        grad = np.zeros(len(local))
        loss = objective.add_loss(local, [chunk], self.workers, grad)
        return loss, float(weight.sum()), index, grad

    def _local(self, part: SequenceMatrix):
        """The objective over the features that occur in `part`, its weights' positions, and the narrowed matrix."""
        scorer = self.objective.scorer
        if not sp.issparse(part.values):
            return self.objective, slice(None), part.values
        used = np.unique(part.values.indices)
        self._position[used] = np.arange(len(used))
        shape = (part.n_tokens, len(used))
        feature = self._position[part.values.indices]
        values = sp.csr_array((part.values.data, feature, part.values.indptr.astype(np.int64)), shape=shape)
        support, slices = scorer.support, self.objective.packing.slices
        state, state_index = _narrow(support.state, used)
        index, edge = [state_index + slices["coef"].start], None
        if support.edge is not None:
            edge, edge_index = _narrow(support.edge, used)
            index.append(edge_index + slices["edge"].start)
        rest = slices["transition"].start
        index.append(np.arange(rest, self.objective.packing.size))
        local = LinearScorer(scorer.topology, replace(support, state=state, edge=edge), sparse=True)
        return ChainObjective(scorer.topology, local, np.inf), np.concatenate(index), values


def _narrow(pattern: Pattern, features: np.ndarray) -> tuple[Pattern, np.ndarray]:
    """The pattern of some features, and the positions of their weights."""
    if pattern.full:
        index = (features[:, None] * pattern.n_columns + np.arange(pattern.n_columns)[None, :]).reshape(-1)
        return Pattern(len(features), pattern.n_columns), index
    counts = pattern.ptr[features + 1] - pattern.ptr[features]
    ptr = np.concatenate([[0], np.cumsum(counts)])
    index = runs(pattern.ptr[features], counts)
    return Pattern(len(features), pattern.n_columns, ptr, pattern.column[index]), index
