# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of reStructuredText that the sections of the performance page are made of."""

from __future__ import annotations

import textwrap

from .harness import median

__all__ = ["bullets", "paragraph", "ratio", "seconds", "table", "times", "title"]


def title(text: str) -> str:
    """A section's title."""
    return f"{text}\n{'-' * len(text)}\n"


def paragraph(text: str) -> str:
    """Text in lines of the usual length."""
    return textwrap.fill(" ".join(text.split()), 118, break_long_words=False, break_on_hyphens=False) + "\n"


def bullets(items: list[str]) -> str:
    """A list, its items in lines of the usual length."""
    lines = []
    for item in items:
        wrapped = paragraph(item).splitlines()
        lines += [f"* {wrapped[0]}", *(f"  {line}" for line in wrapped[1:])]
    return "\n".join(lines) + "\n"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A simple reStructuredText table; the first column is flush left, the others right."""
    # An empty first cell would make the row a continuation of the one before.
    rows = [[row[0] or r"\ ", *row[1:]] for row in rows]
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    bar = " ".join("=" * width for width in widths)

    def line(row: list[str]) -> str:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        return " ".join(cells).rstrip()

    return "\n".join([bar, line(head), bar, *(line(row) for row in rows), bar]) + "\n"


def seconds(runs: list[dict], key: str, digits: int = 3) -> str:
    """Median of a figure and its range."""
    values = [r[key] for r in runs]
    return f"{median(runs, key):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def ratio(results: dict, slow: str, fast: str, key: str) -> float | None:
    """How many times the median of `slow` is that of `fast`; None if one was not run."""
    if slow not in results or fast not in results:
        return None
    return median(results[slow], key) / median(results[fast], key)


def times(results: dict, pairs: list[tuple[str, str, str]], key: str, cpu: str | None = None) -> str:
    """A list of ratios.

    Parameters
    ----------
    results : dict
    pairs : list of (str, str, str)
        What is said, the slow and the fast one; left out where one was not run.
    key : str
        Wall seconds.
    cpu : str, default=None
        Processor seconds: their ratio is told too where both have one thread, since neighbours disturb it less.
    """
    lines = []
    for text, slow, fast in pairs:
        value = ratio(results, slow, fast, key)
        if value is None:
            continue
        lines.append(f"* {text}: {value:.2f}")
        if cpu is not None and results[slow][0]["threads"] == results[fast][0]["threads"] == 1:
            lines[-1] += f" (processor time {ratio(results, slow, fast, cpu):.2f})"
    return "".join(f"{line}\n" for line in lines)
