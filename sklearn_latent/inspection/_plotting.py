# SPDX-License-Identifier: BSD-3-Clause
"""What the displays share."""

from __future__ import annotations

#: Colours that people with any colour vision tell apart (Okabe and Ito 2008).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
#: Colour maps that are read alike with any colour vision: around zero, and of probabilities.
DIVERGING, SEQUENTIAL = "PuOr_r", "Blues"


def pyplot():
    """Import matplotlib's pyplot.

    Raises
    ------
    ImportError
        If matplotlib is not installed, with the command that installs it.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "pictures are drawn by matplotlib, which is not installed: pip install 'sklearn-latent[plot]'"
        ) from error
    return plt


def counts_axis(ax) -> None:
    """A logarithmic axis of counts with plain numbers on it."""
    from matplotlib.ticker import FuncFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
