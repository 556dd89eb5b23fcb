# SPDX-License-Identifier: BSD-3-Clause
"""The page of the experiments, from result files only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["render"]


def render(folder: Path, docs: Path, *, n_seeds: int, n_permutations: int, say: Callable[[str], None]) -> None:
    """Not written yet."""
    raise ValueError("the page is not written yet")
