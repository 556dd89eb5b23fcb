# SPDX-License-Identifier: BSD-3-Clause
"""Minimum-Bayes-risk choice among the most probable label sequences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._lattice import Lattice
from ..metrics._chunks import chunk_set, infer_scheme
from .base import Decoded, at_least_half
from .exact_ldi import label_nbest

__all__ = ["BayesRiskDecoder"]

#: Relative difference of expected scores that counts as none.
_TIE = 1e-12


class BayesRiskDecoder:
    """Minimum Bayes risk (MBR): of the n most probable label sequences, the one of the largest expected score.

    Candidates and voters are the same list, with their exact probabilities (Sun and Tsujii 2009, equation 13): the
    answer maximises the sum over y' of P(y') times the score of y against the reference y'; ties go to the more
    probable.

    Parameters
    ----------
    n_paths : int
        Label sequences compared.
    metric : {"chunk_f1", "token_accuracy"} or callable
        A callable takes two lists of labels, ``f(y, y_ref)``, and returns a float.
    max_search : int
        As in `ExactLDIDecoder`.
    labels : list
        The label of each id.
    scheme : str or None
        Chunk scheme of the labels; None infers it.

    Raises
    ------
    ValueError
        If the metric is chunk F1 and a label is no chunk label; names it.
    """

    def __init__(
        self,
        n_paths: int = 30,
        metric: str | Callable = "chunk_f1",
        max_search: int = 100_000,
        *,
        labels: list,
        scheme: str | None = None,
    ):
        self.n_paths = n_paths
        self.metric = metric
        self.max_search = max_search
        self.labels = labels
        self.scheme = scheme
        if metric == "chunk_f1" and scheme is None:
            try:
                self.scheme = infer_scheme(labels)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"mbr_metric='chunk_f1' needs chunk labels such as B-NP, I-NP and O: {error}; "
                    "for other labels use mbr_metric='token_accuracy' or a callable"
                ) from None

    def decode(self, lattice: Lattice) -> Decoded:
        """Decode a batch of sequences."""
        out = Decoded.of(np.zeros(len(lattice.node), dtype=np.int32), len(lattice))
        first_is_best = np.ones(len(lattice), dtype=bool)
        top_log_prob = np.full(len(lattice), -np.inf)
        nbest = label_nbest(lattice, self.n_paths, self.max_search)
        for i, ((first, last), found) in enumerate(zip(lattice.ranges(), nbest, strict=True)):
            if first == last:
                continue
            out.n_expanded[i] = found.n_expanded
            out.n_unfinished += not found.proven
            if not len(found.labels):
                continue
            expected = self._expected_score(found.labels, np.exp(found.log_prob))
            if np.isnan(expected).any():
                labels = [self.labels[c] for c in found.labels[0].tolist()]
                raise ValueError(f"mbr_metric gave nan for labels {labels!r}")
            # Equal scores differ by the rounding of their sums: the first that is as good as the best is meant.
            best = expected.max()
            k = int(np.argmax(expected >= best - _TIE * abs(best)))
            out.codes[first:last] = found.labels[k]
            out.n_paths[i] = len(found.labels)
            top_log_prob[i] = found.log_prob[0] if found.proven else 0.0
            first_is_best[i] = found.proven and k == 0
        out.log_prob = lattice.label_log_prob(out.codes)
        out.exact = first_is_best | at_least_half(out.log_prob)
        empty = np.diff(lattice.offsets) == 0
        out.upper_bound = np.where(empty, 0.0, np.maximum(top_log_prob, out.log_prob))
        return out

    def _expected_score(self, codes: np.ndarray, prob: np.ndarray) -> np.ndarray:
        """Expected score of each candidate, (n_candidates,)."""
        if self.metric == "token_accuracy":
            votes = np.zeros((codes.shape[1], len(self.labels)))
            at = np.arange(codes.shape[1])
            for row, p in zip(codes, prob, strict=True):
                votes[at, row] += p
            return np.array([votes[at, row].mean() for row in codes])
        sequences = [[self.labels[c] for c in row] for row in codes.tolist()]
        if callable(self.metric):
            return np.array(
                [sum(p * self._score(y, ref) for ref, p in zip(sequences, prob, strict=True)) for y in sequences]
            )
        return _chunk_f1(sequences, self.scheme) @ prob

    def _score(self, labels: list, reference: list) -> float:
        value = self.metric(labels, reference)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(f"mbr_metric must return a number, got {value!r} for {labels!r}") from None


def _chunk_f1(sequences: list[list], scheme: str | None) -> np.ndarray:
    """Chunk F1 of each sequence against each other, (n, n); two without chunks agree fully."""
    sets = [chunk_set(labels, scheme) for labels in sequences]
    column = {chunk: k for k, chunk in enumerate(dict.fromkeys(c for chunks in sets for c in sorted(chunks)))}
    has = np.zeros((len(sets), len(column)))
    for row, chunks in zip(has, sets, strict=True):
        row[[column[c] for c in chunks]] = 1.0
    size = has.sum(axis=1)
    total = size[:, None] + size[None, :]
    return np.where(total > 0, 2.0 * (has @ has.T) / np.maximum(total, 1.0), 1.0)
