# SPDX-License-Identifier: BSD-3-Clause
"""The most probable label of each token."""

from __future__ import annotations

import numpy as np

from .._lattice import Lattice, latent_topology
from .base import Decoded, at_least_half

__all__ = ["MarginalDecoder"]


class MarginalDecoder:
    """Best marginal path (BMP): at each token the label of largest marginal, ties to the first class.

    It maximises the expected number of right tokens. Where transitions, starts or ends are forbidden, the answer is the
    allowed sequence with the largest sum of marginals, which is that maximum among the allowed ones.
    """

    def decode(self, lattice: Lattice) -> Decoded:
        """Decode a batch of sequences."""
        marginals = lattice.label_marginals()
        if _unrestricted(lattice):
            codes = marginals.argmax(axis=1).astype(np.int32)
        else:
            codes = _best_allowed(lattice, marginals)
        out = Decoded.of(codes, len(lattice))
        out.log_prob = lattice.label_log_prob(codes)
        out.exact = at_least_half(out.log_prob)
        return out


def _unrestricted(lattice: Lattice) -> bool:
    top = lattice.topology
    return top.dense and top.arc_allowed is None and not np.isneginf(lattice.node).any()


def _best_allowed(lattice: Lattice, marginals: np.ndarray) -> np.ndarray:
    """Max walk over labels whose node scores are the marginals and whose arcs are the allowed ones.

    Where states know more than their label, what may follow is a matter of states, and the walk is over them.
    """
    top = lattice.topology
    if top.histories:
        node = np.where(lattice.node > -np.inf, marginals[:, top.state_label], -np.inf)
        arc = np.where(lattice.arc > -np.inf, 0.0, -np.inf)
        path, _ = Lattice(top, node, arc, lattice.offsets).best_path()
        return np.where(path < 0, 0, top.state_label[np.maximum(path, 0)]).astype(np.int32)
    labels = latent_topology(np.ones(top.n_labels, dtype=np.int64), top.label_moves)
    arc = np.zeros((1, labels.n_arcs))
    if labels.arc_allowed is not None:
        arc[0, ~labels.arc_allowed] = -np.inf
    # Not `marginals > 0`: a label that is allowed may have a probability that underflows.
    possible = top.label_sums((lattice.node > -np.inf).astype(np.float64)) > 0
    path, _ = Lattice(labels, np.where(possible, marginals, -np.inf), arc, lattice.offsets).best_path()
    return np.maximum(path, 0).astype(np.int32)
