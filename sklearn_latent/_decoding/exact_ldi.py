# SPDX-License-Identifier: BSD-3-Clause
"""The most probable label sequence, certified."""

from __future__ import annotations

import numpy as np

from .._lattice import Lattice
from ._label_search import label_search, label_search_batch
from .base import Decoded
from .best_path import BestPathDecoder

__all__ = ["ExactLDIDecoder", "label_nbest"]

#: Expansions a token that are always granted, above `max_search`.
_FREE_EXPANSIONS = 20
#: Labels that a node of the search's graph may know.
_MAX_ORDER = 4
#: Most arcs of a graph of order two or more: some 100 bytes each.
_BUDGET = 300_000
#: Factors below this are rescaled sequence by sequence, see `Lattice.search_factors`.
_PLAIN_RANGE = 1e-140


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
        out = Decoded.of(np.zeros(len(lattice.node), dtype=np.int32), len(lattice))
        out.exact[:] = True
        gap = np.zeros(len(lattice))
        for i in np.flatnonzero(~self._search_batch(lattice, out, gap)).tolist():
            first, last = lattice.offsets[i : i + 2].tolist()
            labels, weights, _, bound, out.exact[i], out.n_expanded[i] = _search(
                lattice, i, 1, self.max_search, self.epsilon
            )
            gap[i] = 0.0
            if len(weights):
                out.codes[first:last] = labels[0]
                gap[i] = bound - weights[0]
        out.log_prob = lattice.label_log_prob(out.codes)
        out.upper_bound = np.minimum(out.log_prob + np.maximum(gap, 0.0), 0.0)
        if self.epsilon == 0:
            out.n_unfinished = int((~out.exact).sum())
        return out

    def label_ids(self, lattice: Lattice) -> np.ndarray | None:
        """Label ids alone (see `Decoder`)."""
        return BestPathDecoder(below=False).label_ids(lattice) if lattice.topology.one_path else None

    def _search_batch(self, lattice: Lattice, out: Decoded, gap: np.ndarray) -> np.ndarray:
        """Decode in one call the sequences whose plain factors serve; return which, (n_sequences,), empty ones too."""
        top, arc = lattice.topology, lattice.arc_factors
        done = np.diff(lattice.offsets) == 0
        # Where each token has arcs of its own that are listed, their matrices together may be more than memory.
        neighbours = (top.label_state == np.arange(top.n_states)).all()
        if done.all() or not neighbours or (lattice.arc_rows_differ and not top.dense):
            return done
        node = lattice.node_factors
        rows = np.flatnonzero(~done)
        # A sequence needs no more arcs than its own tokens'.
        low = node.low if not lattice.arc_rows_differ else np.minimum(node.low, arc.low)
        low = np.minimum.reduceat(low, lattice.offsets[rows])
        if not lattice.arc_rows_differ:
            low = np.minimum(low, arc.low[0])
        wanted = np.zeros(len(lattice), dtype=np.uint8)
        wanted[rows] = low >= _PLAIN_RANGE
        proven = np.zeros(len(lattice), dtype=np.uint8)
        label_search_batch(
            node.factor, top.as_matrix(arc.factor, 0.0), top.label_ptr, lattice.offsets, wanted,
            self.max_search, _FREE_EXPANSIONS, self.epsilon, _MAX_ORDER, -1, _BUDGET,
            out.codes, gap, proven, out.n_expanded,
        )  # fmt: skip
        served = wanted == 1
        out.exact[served] = proven[served] == 1
        gap[np.isinf(gap)] = 0.0
        return done | served


def label_nbest(lattice: Lattice, i: int, n: int, max_search: int) -> tuple[np.ndarray, np.ndarray, bool, int]:
    """The `n` most probable label sequences of sequence `i`.

    Returns
    -------
    labels : ndarray of int32 of shape (found, T)
        Fewer than `n` if no more have positive probability.
    log_prob : ndarray of shape (found,)
        In descending order.
    proven : bool
        Whether the list is proven to be complete and in order, up to rounding and to sequences that have less than
        1e-270 of the best one's probability.
    n_expanded : int
    """
    first, last = int(lattice.offsets[i]), int(lattice.offsets[i + 1])
    budget = max_search + _FREE_EXPANSIONS * (last - first)
    # A heap entry is made by an expansion, one a label, so that no more than this can be found.
    n = min(n, lattice.topology.n_labels * (budget + 1), lattice.topology.n_labels ** (last - first))
    labels, weights, log_unit, bound, proven, n_expanded = _search(lattice, i, n, max_search, 0.0)
    # A search that ended by itself has left out nothing but what is too small for its units.
    proven = proven or (n_expanded < budget and len(weights) > 0 and bound <= weights[0])
    log_prob = weights + log_unit - lattice.free_log_sum[i]
    return labels, np.minimum(log_prob, 0.0), proven, n_expanded


def _search(lattice: Lattice, i: int, n: int, max_search: int, epsilon: float):
    top, factors = lattice.topology, lattice.search_factors(i)
    n_tokens = len(factors.node)
    labels, weights = np.empty((n, n_tokens), dtype=np.int32), np.empty(n)
    budget = max_search + _FREE_EXPANSIONS * n_tokens
    found, bound, proven, n_expanded = label_search(
        factors.node, factors.arc, top.label_ptr, top.label_state, n, budget, epsilon, labels, weights, _MAX_ORDER
    )
    return labels[:found], weights[:found], factors.log_unit, bound, bool(proven), n_expanded
