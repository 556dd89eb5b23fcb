# SPDX-License-Identifier: BSD-3-Clause
"""The penalised negative log-likelihood of a locally normalised model.

    log P(y | x) = sum_t log P(y_t | y_{t-order}, ..., y_{t-1}, x)

needs no sum over label sequences: training goes along the labels given (McCallum et al. 2000). A token whose label is
not known is summed over: from there on there are several histories, and forward and backward sums go over those that
there are, ``n_labels`` to the power of the unknown labels among the last `order`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._scorers.circuit import Inputs
from .._scorers.local import LocalScorer, tokens_after
from .._threads import Workers
from .chain import ChainObjective, Chunk

__all__ = ["Histories", "LocalObjective", "TooManyHistories"]

#: Histories of one token.
MOST_HISTORIES = 1 << 16


class TooManyHistories(ValueError):
    """Unknown labels leave too many histories; `sequence` is the position of the first."""

    def __init__(self, sequence: int):
        super().__init__(f"sequence {sequence}")
        self.sequence = sequence


@dataclass(frozen=True)
class Histories:
    """The rows of a batch of labelled sequences: pairs of a token and a history of labels that can stand before it.

    Attributes
    ----------
    token : ndarray of int64 of shape (n_rows,)
        Ascending.
    history : ndarray of int64 of shape (n_rows, width)
        Last label first, `n_labels` for none.
    row_ptr : ndarray of int64 of shape (n_tokens + 1,)
        Rows of each token.
    following : dict of {int: ndarray of shape (rows of the token, n_labels)}
        Of each token with an unknown label or several histories: the row after each label, -1 where there is none.
    """

    token: np.ndarray
    history: np.ndarray
    row_ptr: np.ndarray
    following: dict[int, np.ndarray]

    @classmethod
    def of(cls, codes: np.ndarray, offsets: np.ndarray, width: int, n_labels: int, mask=None) -> Histories:
        """Rows of sequences of label ids, negative where unknown; ``mask(history)`` tells which labels may come."""
        n = len(codes)
        position = np.arange(n) - np.repeat(offsets[:-1], np.diff(offsets))
        history = np.full((n, width), n_labels)
        for back in range(1, width + 1):
            rows = np.flatnonzero(position >= back)
            history[rows, back - 1] = codes[rows - back]
        if (codes >= 0).all():
            return cls(np.arange(n), history, np.arange(n + 1), {})
        counts, parts, following = np.ones(n, dtype=np.int64), [], {}
        for i, (first, last) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
            if (codes[first:last] >= 0).all():
                parts.append(history[first:last])
                continue
            current = np.full((1, width), n_labels)
            for t in range(first, last):
                parts.append(current)
                counts[t] = len(current)
                labels = np.arange(n_labels) if codes[t] < 0 else codes[t : t + 1]
                possible = np.zeros((len(current), n_labels), dtype=bool)
                possible[:, labels] = True
                if mask is not None:
                    possible &= mask(current)
                row, label = np.nonzero(possible)
                after = np.concatenate([label[:, None], current[row, :-1]], axis=1)
                current, place = np.unique(after, axis=0, return_inverse=True)
                following[t] = np.full(possible.shape, -1)
                following[t][row, label] = place.reshape(-1)
                if len(current) > MOST_HISTORIES:
                    raise TooManyHistories(i)
        token = np.repeat(np.arange(n), counts)
        return cls(token, np.concatenate(parts), np.concatenate([[0], np.cumsum(counts)]), following)

    def log_sums(
        self, log_prob: np.ndarray, codes: np.ndarray, offsets: np.ndarray, share: np.ndarray | None = None
    ) -> np.ndarray:
        """log P(labels) of each sequence, unknown ones summed out.

        `share`, (n_rows, n_labels), gets the probability of taking each label from each row, given those labels.
        """
        out = np.zeros(len(offsets) - 1)
        for i, (first, last) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
            if first not in self.following:
                rows = self.row_ptr[first:last]
                # Labels that the model does not have are impossible.
                known = np.where(codes[first:last] < 0, 0, codes[first:last])
                own = np.where(codes[first:last] < 0, -np.inf, log_prob[rows, known])
                out[i] = own.sum()
                if share is not None:
                    share[rows, known] = 1.0
                continue
            out[i] = self._walk(log_prob, first, last, share)
        return out

    def _walk(self, log_prob: np.ndarray, first: int, last: int, share: np.ndarray | None) -> float:
        """Forward and backward sums over the histories of one sequence."""
        ptr, forward = self.row_ptr, [np.zeros(1)]
        for t in range(first, last):
            n_next = int(ptr[t + 2] - ptr[t + 1]) if t + 1 < last else 1
            row, label = np.nonzero(self.following[t] >= 0)
            place = self.following[t][row, label] if t + 1 < last else np.zeros(len(row), dtype=int)
            after = np.full(n_next, -np.inf)
            np.logaddexp.at(after, place, forward[-1][row] + log_prob[ptr[t] + row, label])
            forward.append(after)
        total = float(forward[-1][0])
        if share is None or total == -np.inf:
            return total
        backward = np.zeros(1)
        for t in range(last - 1, first - 1, -1):
            row, label = np.nonzero(self.following[t] >= 0)
            place = self.following[t][row, label] if t + 1 < last else np.zeros(len(row), dtype=int)
            value = log_prob[ptr[t] + row, label] + backward[place]
            before = np.full(len(self.following[t]), -np.inf)
            np.logaddexp.at(before, row, value)
            share[ptr[t] + row, label] = np.exp(forward[t - first][row] + value - total)
            backward = before
        return total


class LocalObjective(ChainObjective):
    """Value and gradient of the objective at a parameter vector, along the labels given.

    Parameters
    ----------
    scorer : LocalScorer
    sigma : float
    """

    scorer: LocalScorer

    def add_loss(self, theta: np.ndarray, chunks: list[Chunk], workers: Workers, grad: np.ndarray) -> float:
        """Loss of the chunks without the prior; its gradient is added to `grad`."""
        prepared, named = self.scorer.prepare(self.packing.views(theta)), self.packing.views(grad)

        def tasks(f, ranges):
            for _ in workers.map(f, ranges):
                pass

        value = 0.0
        for chunk in chunks:
            rows = self._rows(chunk)
            kept = self.scorer.keep(len(rows.token))
            inputs, log_prob = self._log_prob(prepared, chunk, rows, workers, kept)
            share = np.zeros_like(log_prob)
            sums = rows.log_sums(log_prob, chunk.codes, chunk.offsets, share)
            value -= float(chunk.weight @ sums)
            # Each row's probability times what is predicted, less what was taken.
            delta = share.sum(axis=1, keepdims=True) * np.exp(log_prob) - share
            delta *= np.repeat(chunk.weight, np.diff(chunk.offsets))[rows.token][:, None]
            self.scorer.add_gradient(prepared, named, inputs, rows.token, rows.history, delta, tasks, kept)
        return value

    def loss(self, theta: np.ndarray, chunks: list[Chunk], workers: Workers) -> float:
        """Loss of the chunks without the prior and without its gradient."""
        prepared, value = self.scorer.prepare(self.packing.views(theta)), 0.0
        for chunk in chunks:
            value -= float(chunk.weight @ self.log_likelihood(prepared, chunk, workers))
        return value

    def log_likelihood(self, prepared: list, chunk: Chunk, workers: Workers) -> np.ndarray:
        """log P(labels) of each sequence of a chunk, unknown ones summed out."""
        rows = self._rows(chunk)
        _, log_prob = self._log_prob(prepared, chunk, rows, workers, None)
        out = rows.log_sums(log_prob, chunk.codes, chunk.offsets)
        foreign = np.flatnonzero(chunk.codes < -1)
        out[np.searchsorted(chunk.offsets, foreign, side="right") - 1] = -np.inf
        return out

    def _rows(self, chunk: Chunk) -> Histories:
        scorer, codes = self.scorer, chunk.codes
        foreign = codes < -1
        mask = None if scorer.allowed is None else lambda history: scorer.allowed[history[:, 0]]
        # A label that the model does not have stands for any one here and is impossible later.
        codes = np.where(foreign, 0, codes)
        return Histories.of(codes, chunk.offsets, scorer.width, scorer.n_labels, mask)

    def _log_prob(self, prepared, chunk: Chunk, rows: Histories, workers: Workers, kept):
        """Inputs of a chunk, and log-probabilities of labels for each row."""
        scorer = self.scorer
        inputs, n_rows = Inputs.of(chunk.design, chunk.offsets), len(rows.token)
        out, step = np.empty((n_rows, scorer.n_labels)), scorer.block_tokens
        after = tokens_after(chunk.offsets)

        def task(first: int) -> None:
            end = min(first + step, n_rows)
            token, history = rows.token[first:end], rows.history[first:end]
            low = int(token[0])
            columns = scorer.columns(prepared, inputs, low, int(token[-1]) + 1)
            if rows.following:
                columns = [c[token - low] for c in columns]
            part = None if kept is None else [None if k is None else k.rows(first, end) for k in kept]
            logits = scorer.logits(prepared, columns, history, part)
            out[first:end] = scorer.log_prob(*logits, history, after[token])

        for _ in workers.map(task, range(0, n_rows, step)):
            pass
        return inputs, out
