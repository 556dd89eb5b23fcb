# SPDX-License-Identifier: BSD-3-Clause
"""Projection of the best latent path."""

from __future__ import annotations

import numpy as np

from .._lattice import Lattice
from .base import Decoded, at_least_half

__all__ = ["BestPathDecoder"]


class BestPathDecoder:
    """Best hidden path (BHP): Viterbi over latent states, then each state's label.

    It replaces the sum over latent paths by its largest term, so the labels need not be the most probable ones; with
    one state a label they are, unless scores of states are sums over variables below them: these are maximised too.

    Parameters
    ----------
    below : bool, default=True
        Whether variables below the states are maximised.
    """

    def __init__(self, below: bool = True):
        self.below = below

    def decode(self, lattice: Lattice) -> Decoded:
        """Decode a batch of sequences."""
        joint = self.below and lattice.maximised is not None
        path, _ = (lattice.maximised() if joint else lattice).best_path()
        codes = np.where(path < 0, 0, lattice.topology.state_label[np.maximum(path, 0)]).astype(np.int32)
        out = Decoded.of(codes, len(lattice))
        out.log_prob = lattice.label_log_prob(codes)
        if lattice.topology.one_path and not joint:
            out.exact[:] = True
        else:
            out.exact = at_least_half(out.log_prob)
        return out

    def labels_alone(self, lattice: Lattice) -> Decoded | None:
        """Labels without their probability (see `Decoder`)."""
        if self.below and lattice.maximised is not None:
            return None
        path, score = lattice.best_path()
        # A path of finite score can pass by a score that is not a number.
        if not np.isfinite(score).all() or not lattice.scores_are_numbers:
            return None
        return Decoded.of(lattice.topology.state_label[path], len(lattice))
