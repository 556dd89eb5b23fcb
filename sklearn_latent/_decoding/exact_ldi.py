# SPDX-License-Identifier: BSD-3-Clause
"""The most probable label sequences, certified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._lattice import Lattice
from ._label_search import label_search, label_search_batch
from .base import Decoded
from .best_path import BestPathDecoder

__all__ = ["ExactLDIDecoder", "Ranked", "label_nbest"]

#: Expansions a token that are always granted, above `max_search`.
_FREE_EXPANSIONS = 20
#: Labels that a node of the search's graph may know.
_MAX_ORDER = 4
#: Most arcs of a graph of order two or more: some 100 bytes each.
_BUDGET = 300_000
#: Factors below this are rescaled sequence by sequence, see `Lattice.search_factors`.
_PLAIN_RANGE = 1e-140
#: Labels of the lists that are made at a time.
_MOST_LABELS = 1 << 22


class ExactLDIDecoder:
    """Latent-dynamic inference (LDI), exact: best-first search over label prefixes.

    A prefix carries its forward vector over the latent states of its last label, so latent paths are summed out as
    the search goes, and its bound lets each state choose the best continuation by itself. The first complete prefix
    that leaves the heap is the most probable label sequence; where a label
    sequence is one path of states the search is Viterbi's.

    Parameters
    ----------
    max_search : int
        Expansions beyond 20 a token after which the best answer found is returned, without the proof.
    epsilon : float
        Relative gap at which an answer is accepted; 0.0: only the proven optimum.
    """

    def __init__(self, max_search: int = 100_000, epsilon: float = 0.0):
        self.max_search = max_search
        self.epsilon = epsilon

    def decode(self, lattice: Lattice) -> Decoded:
        """Decode a batch of sequences."""
        if lattice.topology.one_path:
            out = BestPathDecoder(below=False).decode(lattice)
            out.upper_bound = out.log_prob.copy()
            return out
        found = self._search(lattice)
        out = self._labels(found, len(lattice))
        out.log_prob = _log_prob(found.log_weight[:, 0], lattice.free_log_sum)
        if found.alone.any():
            # Scores may be so large that only sums made in the same way can be told apart.
            out.log_prob[found.alone] = lattice.label_log_prob(out.codes)[found.alone]
        out.upper_bound = np.minimum(out.log_prob + np.maximum(found.gap, 0.0), 0.0)
        return out

    def labels_alone(self, lattice: Lattice) -> Decoded | None:
        """Labels without their probability (see `Decoder`): there is no need of the partition function."""
        if lattice.topology.one_path:
            return BestPathDecoder(below=False).labels_alone(lattice)
        if not lattice.scores_are_numbers:
            return None
        found = self._search(lattice)
        return self._labels(found, len(lattice)) if np.isfinite(found.log_weight).all() else None

    def _search(self, lattice: Lattice) -> _Found:
        return _Found.of(lattice, 0, len(lattice), 1, self.max_search, self.epsilon)

    def _labels(self, found: _Found, n: int) -> Decoded:
        out = Decoded.of(found.labels, n)
        out.exact, out.n_expanded = found.proven, found.n_expanded
        if self.epsilon == 0:
            out.n_unfinished = int((~out.exact).sum())
        return out


@dataclass(frozen=True)
class Ranked:
    """The most probable label sequences of one sequence.

    Attributes
    ----------
    labels : ndarray of int32 of shape (found, T)
        Fewer than asked for if no more have positive probability.
    log_prob : ndarray of float64 of shape (found,)
        In descending order.
    proven : bool
        Whether the list is proven to be complete and in order, up to rounding and to sequences that have less than
        1e-270 of the best one's probability.
    n_expanded : int
    """

    labels: np.ndarray
    log_prob: np.ndarray
    proven: bool
    n_expanded: int


def label_nbest(lattice: Lattice, n: int, max_search: int) -> Iterator[Ranked]:
    """The `n` most probable label sequences of each sequence of a batch; one without tokens has one, of no labels."""
    top, first, offsets = lattice.topology, 0, lattice.offsets.tolist()
    while first < len(lattice):
        # A heap entry is made by an expansion, one a label, so that no more than `most` can be found.
        last, most = first, 1
        while last < len(lattice):
            n_tokens = offsets[last + 1] - offsets[last]
            more = min(top.n_labels * (_most_expanded(max_search, n_tokens) + 1), top.n_labels ** min(n_tokens, 64))
            most, before = max(most, more), most
            if last > first and min(n, most) * (offsets[last + 1] - offsets[first]) > _MOST_LABELS:
                most = before
                break
            last += 1
        found = _Found.of(lattice, first, last, min(n, most), max_search, 0.0)
        for i in range(first, last):
            n_tokens = offsets[i + 1] - offsets[i]
            yield found.ranked(i - first, offsets[i] - offsets[first], n_tokens, max_search, lattice.free_log_sum[i])
        first = last


def _most_expanded(max_search: int, n_tokens: int) -> int:
    return max_search + _FREE_EXPANSIONS * n_tokens


def _log_prob(log_weight: np.ndarray, log_sum: np.ndarray | float) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        log_prob = log_weight - log_sum
    return np.minimum(np.where(np.isnan(log_prob), -np.inf, log_prob), 0.0)


@dataclass(frozen=True)
class _Found:
    """What searches found for some sequences.

    Attributes
    ----------
    labels : ndarray of int32 of shape (n_best * n_tokens,)
        For each sequence a table (n_best, its tokens).
    log_weight : ndarray of float64 of shape (n_sequences, n_best)
        -inf where fewer were found.
    gap : ndarray of float64 of shape (n_sequences,)
        Log of the bound on all weights over the best weight.
    proven : ndarray of bool of shape (n_sequences,)
    n_expanded : ndarray of int64 of shape (n_sequences,)
    alone : ndarray of bool of shape (n_sequences,)
        Which have been searched with factors of their own.
    """

    labels: np.ndarray
    log_weight: np.ndarray
    gap: np.ndarray
    proven: np.ndarray
    n_expanded: np.ndarray
    alone: np.ndarray

    @classmethod
    def of(cls, lattice: Lattice, first: int, last: int, n_best: int, max_search: int, epsilon: float) -> _Found:
        """Search sequences first:last."""
        n, offsets = last - first, lattice.offsets[first : last + 1]
        out = cls(
            np.zeros(n_best * int(offsets[-1] - offsets[0]), dtype=np.int32), np.full((n, n_best), -np.inf),
            np.zeros(n), np.ones(n, dtype=bool), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool),
        )  # fmt: skip
        empty = np.diff(offsets) == 0
        out.log_weight[empty, 0] = 0.0
        out.alone[:] = ~(out._search_together(lattice, first, last, max_search, epsilon) | empty)
        for i in np.flatnonzero(out.alone).tolist():
            out._search_alone(lattice, first + i, i, offsets[i : i + 2] - offsets[0], max_search, epsilon)
        return out

    def ranked(self, i: int, first: int, n_tokens: int, max_search: int, log_sum: float) -> Ranked:
        """The list of one sequence, whose tokens begin at `first`."""
        n_best = self.log_weight.shape[1]
        n = int(np.count_nonzero(self.log_weight[i] > -np.inf))
        labels = self.labels[n_best * first : n_best * (first + n_tokens)].reshape(n_best, n_tokens)[:n]
        # A search that ended by itself has left out nothing but what is too small for its units.
        ended = self.n_expanded[i] < _most_expanded(max_search, n_tokens) and n > 0 and self.gap[i] <= 0.0
        log_prob = _log_prob(self.log_weight[i, :n], log_sum)
        return Ranked(labels, log_prob, bool(self.proven[i] or ended), int(self.n_expanded[i]))

    def _search_together(self, lattice: Lattice, first: int, last: int, max_search: int, epsilon: float) -> np.ndarray:
        """Search in one call the sequences whose plain factors serve; return which, (n_sequences,)."""
        top, arc = lattice.topology, lattice.arc_factors
        served = np.zeros(last - first, dtype=np.uint8)
        offsets = lattice.offsets[first : last + 1]
        full = np.flatnonzero(np.diff(offsets))
        neighbours = (top.label_state == np.arange(top.n_states)).all()
        # Where each token has arcs of its own that are listed, their matrices together may be more than memory.
        if not len(full) or not neighbours or (lattice.arc_rows_differ and not top.dense):
            return served == 1
        rows = slice(int(offsets[0]), int(offsets[-1])) if lattice.arc_rows_differ else slice(0, 1)
        # A sequence needs no more arcs than its own tokens'.
        low = np.minimum.reduceat(arc.low[rows], offsets[full] - offsets[0]) if lattice.arc_rows_differ else arc.low[0]
        served[full] = low >= _PLAIN_RANGE
        proven = np.zeros(last - first, dtype=np.uint8)
        matrices = lattice.shared_arcs if not lattice.arc_rows_differ else top.as_matrix(arc.factor[rows], 0.0)
        label_search_batch(
            lattice.node[offsets[0] : offsets[-1]], matrices, arc.shift[rows], top.label_ptr, offsets - offsets[0],
            self.log_weight.shape[1], max_search, _FREE_EXPANSIONS, epsilon, _MAX_ORDER, -1, _BUDGET, _PLAIN_RANGE,
            served, self.labels, self.log_weight, self.gap, proven, self.n_expanded,
        )  # fmt: skip
        done = served == 1
        self.proven[done] = proven[done] == 1
        self.gap[np.isinf(self.gap)] = 0.0
        return done

    def _search_alone(
        self, lattice: Lattice, i: int, row: int, place: np.ndarray, max_search: int, epsilon: float
    ) -> None:
        """Search sequence `i`, whatever its factors."""
        top, factors = lattice.topology, lattice.search_factors(i)
        n_best, n_tokens = self.log_weight.shape[1], len(factors.node)
        labels = self.labels[n_best * place[0] : n_best * place[1]].reshape(n_best, n_tokens)
        found, bound, proven, self.n_expanded[row] = label_search(
            factors.node, factors.arc, top.label_ptr, top.label_state, n_best, _most_expanded(max_search, n_tokens),
            epsilon, labels, self.log_weight[row], _MAX_ORDER,
        )  # fmt: skip
        self.proven[row] = proven
        if found:
            self.gap[row] = bound - self.log_weight[row, 0]
            self.log_weight[row] += factors.log_unit
