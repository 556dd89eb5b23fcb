# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the performance page. matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["COLOURS", "MARKERS", "draw"]

#: Okabe and Ito's colours, which the colour-blind tell apart; each series has a marker of its own besides.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = "osD^vPX"

_STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    # The same figures give the same file.
    "svg.hashsalt": "sklearn_latent",
}


def draw(plot: Callable, path: Path) -> bool:
    """Let `plot` fill a figure and write it as SVG; False without matplotlib.

    Parameters
    ----------
    plot : callable
        Takes a matplotlib figure.
    path : Path
        Its folder is made.
    """
    try:
        import matplotlib
    except ModuleNotFoundError:
        return False
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 2.9), layout="constrained")
        plot(figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
    return True
