# SPDX-License-Identifier: BSD-3-Clause
"""Column files part by part: for what reads, labels and writes on, in memory that does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .._sequences.collector import no_cycle_search
from .._sequences.labels import LabelSequences
from ._conll import conll_reader
from ._lines import line_blocks

__all__ = ["ColumnPart", "FirstToken", "column_parts"]


class FirstToken(NamedTuple):
    """The first line of a file that holds a token: what the others are compared with."""

    n: int
    line: str
    width: int


class ColumnPart(NamedTuple):
    r"""Sequences of a column file that end one after the other, and every line from the first to the last of this part.

    Attributes
    ----------
    X, y, documents : list, LabelSequences, list of int
        As `read_conll` gives them; `y` is empty if there is no column of labels.
    starts : list of int
        Number of the line of the first token of each sequence; its other tokens are on the lines after it.
    first : int
        Number of the first line of the part.
    lines : list of str
        All lines without their ``\n`` but with a ``\r``: those of tokens and the empty ones, comments and starts of
        documents between them.
    token : FirstToken or None
        The first token line of the file; None before there is one.
    joint : str
        What stands between columns: the separator, or a TAB or space.
    """

    X: list[list]
    y: LabelSequences
    documents: list[int]
    starts: list[int]
    first: int
    lines: list[str]
    token: FirstToken | None
    joint: str

    def rows(self, i: int) -> slice:
        """Where in `lines` the tokens of sequence `i` are."""
        start = self.starts[i] - self.first
        return slice(start, start + len(self.X[i]))


def column_parts(source, *, label=None, separator=None, comments=False, min_lines=1) -> Iterator[ColumnPart]:
    r"""Read a column file part by part, with the text of all its lines.

    Parts end where sequences do and hold what about 64 KB of the file end, or more; from a pipe they come as soon as
    their text does. All parts together are what `read_conll` gives, and their lines are those of the file, whose byte
    order mark is taken off. A sequence is in one part however long it is.

    Parameters
    ----------
    source, label, separator, comments
        As for `read_conll`.
    min_lines : int, default=1
        Lines of a part at least, but for the last.

    Yields
    ------
    ColumnPart

    Raises
    ------
    ValueError, TypeError
        As `read_conll`; parts that end well before the line at fault have been given by then.
    """
    reader = conll_reader(source, label, separator, comments)
    first, lines = 1, []
    with line_blocks(source) as blocks:
        for n, block in blocks:
            with no_cycle_search():
                reader.read(n, block)
                lines += _texts(block)
            n_over = len(lines) - len(reader.begun)
            if n_over >= min_lines:
                yield _part(reader, first, lines[:n_over], separator)
                first += n_over
                del lines[:n_over]
    reader.end_sequence(first + len(lines))
    if lines:
        yield _part(reader, first, lines, separator)


def _part(reader, first: int, lines: list[str], separator: str | None) -> ColumnPart:
    """What the reader has found, which it forgets."""
    token = None if reader.first is None else FirstToken(*reader.first)
    joint = separator or ("\t" if token is None or token.width == 1 or "\t" in token.line else " ")
    X, y, documents, starts = reader.take()
    return ColumnPart(X, y, documents, starts, first, lines, token, joint)


def _texts(lines: list[bytes] | list[str]) -> list[str]:
    """Text of lines that the reader has taken, so that they are UTF-8."""
    if isinstance(lines[0], bytes):
        return b"\n".join(lines).decode("utf-8").split("\n")
    return [line.removesuffix("\n") for line in lines]
