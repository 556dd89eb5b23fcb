# SPDX-License-Identifier: BSD-3-Clause
"""From feature rows to log-scores of states and arcs, and from their derivatives back to weights."""

from .design import Design
from .linear import LinearScorer
from .support import Pattern, Support

__all__ = ["Design", "LinearScorer", "Pattern", "Support"]
