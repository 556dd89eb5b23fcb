# SPDX-License-Identifier: BSD-3-Clause
"""From feature rows to log-scores of states and arcs, and from their derivatives back to weights."""

from .circuit import Circuit
from .design import Design
from .linear import LinearScorer
from .local import LocalScorer
from .spn import Place, Slots, SPNScorer
from .support import Pattern, Support

__all__ = ["Circuit", "Design", "LinearScorer", "LocalScorer", "Pattern", "Place", "SPNScorer", "Slots", "Support"]
