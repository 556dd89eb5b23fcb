# SPDX-License-Identifier: BSD-3-Clause
"""The published search over latent paths."""

from __future__ import annotations

import numpy as np

from .._lattice import Lattice
from ._path_search import path_search
from .base import Decoded, at_least_half

__all__ = ["ApproximateLDIDecoder"]

#: The search takes about this many expansions a path and token before it gives up.
_EXPANSIONS = 64


class ApproximateLDIDecoder:
    """Latent-dynamic inference (LDI) as published: best latent paths first, stop early.

    Latent paths come in order of probability (A* with Viterbi's backward scores); each new label sequence among them is
    scored by a forward pass restricted to its states. The search stops after `n_paths` latent paths, or when the best
    label sequence found has at least `alpha` times the probability not yet accounted for (Sun and Tsujii 2009, figure
    3 and equations 6 and 9).

    Parameters
    ----------
    n_paths : int
    alpha : float
        With 1.0 that stop proves the answer.
    max_search : int
        Expansions beyond those that `n_paths` paths usually need.
    """

    def __init__(self, n_paths: int = 30, alpha: float = 1.0, max_search: int = 100_000):
        self.n_paths = n_paths
        self.alpha = alpha
        self.max_search = max_search

    def decode(self, lattice: Lattice) -> Decoded:
        """Decode a batch of sequences."""
        top = lattice.topology
        out = Decoded.of(np.zeros(len(lattice.node), dtype=np.int32), len(lattice))
        log_sum = lattice.free_log_sum
        covered = np.ones(len(lattice))
        shared = None if lattice.arc_rows_differ else top.as_matrix(lattice.arc)
        for i, (first, last) in enumerate(lattice.ranges()):
            if first == last or log_sum[i] == -np.inf:
                continue
            arc = top.as_matrix(lattice.arc[first:last]) if shared is None else shared
            _, covered[i], out.n_paths[i], out.n_expanded[i], _ = path_search(
                lattice.node[first:last], arc, top.state_label, top.label_ptr, top.label_state, log_sum[i],
                self.n_paths, self.alpha, self.max_search + _EXPANSIONS * self.n_paths * (last - first),
                out.codes[first:last],
            )  # fmt: skip
        out.log_prob = lattice.label_log_prob(out.codes)
        # No label sequence that was not seen can have more than what is not accounted for.
        unseen = np.clip(1.0 - covered, 0.0, 1.0)
        best = np.exp(out.log_prob)
        out.exact = (best >= unseen - 1e-12) | at_least_half(out.log_prob)
        if top.one_path:  # the first path is the best label sequence
            out.exact |= out.n_paths > 0
        with np.errstate(divide="ignore"):
            out.upper_bound = np.where(out.exact, out.log_prob, np.log(np.maximum(best, unseen)))
        return out
