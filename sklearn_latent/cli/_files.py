# SPDX-License-Identifier: BSD-3-Clause
"""Input files: the options that say how to read them, their parts, and where in them something is wrong."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from ..io._parts import ColumnPart

__all__ = [
    "Layout",
    "Located",
    "check_width",
    "column",
    "files_argument",
    "layout_options",
    "located",
    "read_parts",
    "sources",
]

T = TypeVar("T")

#: Lines of files that are worked on at a time: some megabytes with their features, and little work done twice.
_LINES = 1 << 15


@dataclass(frozen=True)
class Layout:
    """How to read column files (see `read_conll`)."""

    separator: str | None
    comments: bool


@dataclass(frozen=True)
class Located:
    """A part of a file, and what the file is called."""

    name: str
    part: ColumnPart


def files_argument(command: Callable) -> Callable:
    """Add the argument FILES to a command."""
    kind = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
    return click.argument("files", nargs=-1, type=kind)(command)


def layout_options(command: Callable) -> Callable:
    """Add the options of the layout to a command; their values come as ``separator`` and ``comments``."""
    command = click.option(
        "--comments", is_flag=True, help="Lines that begin with '# ' before a sequence are none of it."
    )(command)
    return click.option(
        "--separator", metavar="TEXT", callback=_separator,
        help="What stands between columns ('\\t': a TAB). Default: a TAB if the first line has one, else blanks.",
    )(command)  # fmt: skip


def _separator(context, parameter, value: str | None) -> str | None:
    value = value if value is None else value.replace("\\t", "\t")
    if value is not None and (not value or set(value) & set("\r\n")):
        raise click.BadParameter("must be at least one character, and no line end")
    return value


def sources(files: Iterable[str]) -> Iterator:
    """Paths, and the standard input where there is none or a ``-``."""
    for path in files or ["-"]:
        if path != "-":
            yield path
            continue
        if sys.stdin.isatty():
            click.echo("reading what you type, up to Ctrl-D", err=True)
        yield getattr(sys.stdin, "buffer", sys.stdin)


def read_parts(files: Iterable[str], layout: Layout, label: int | None = None) -> Iterator[Located]:
    """Parts of all files, one after the other."""
    from ..io._lines import source_name
    from ..io._parts import column_parts

    options = {"label": label, "separator": layout.separator, "comments": layout.comments}
    for source in sources(files):
        name = source_name(source)
        for part in column_parts(source, **options, min_lines=_LINES if _is_stored(source) else 1):
            yield Located(name, part)


def _is_stored(source) -> bool:
    """Whether all of the source is there, so that nobody waits for what is made of its beginning."""
    try:
        mode = os.stat(source).st_mode if isinstance(source, str) else os.fstat(source.fileno()).st_mode
    except OSError:  # a standard input that some program has put in place of the real one
        return False
    return stat.S_ISREG(mode)


def column(at: Located, index: int) -> int:
    """Number of a column from 0, for an index that may count from the end.

    Raises
    ------
    ValueError
        If the file has no such column; its first token line is named.
    """
    n, line, width = at.part.token
    if not -width <= index < width:
        raise ValueError(f"{at.name}, line {n}: no column {index}, there are {width}: {line!r}")
    return index % width


def check_width(at: Located, label: int | None, reads: list[str]) -> None:
    """Refuse a file whose tokens lack a column that the model reads.

    Raises
    ------
    ValueError
        With the first token line of the file.
    """
    n, line, width = at.part.token
    if label is not None:
        column(at, label)
        width -= 1
    if width < len(reads):
        beside = "" if label is None else " beside the label"
        raise ValueError(
            f"{at.name}, line {n}: {width} columns{beside}, but the model reads {len(reads)}, {', '.join(reads)}: "
            f"{line!r}"
        )


#: Messages of the metrics about one sequence.
_POSITION = re.compile(r"y_(true|pred), sequence 0, position (\d+): (.*)", re.DOTALL)


def located(name: str, starts: list[int], f: Callable[..., T], *columns: Sequence) -> T:
    """``f(*columns)`` of all sequences of a part; where it refuses one of them, the message begins with file and line.

    Parameters
    ----------
    name : str
        What the file is called.
    starts : list of int
        Number of the line on which each sequence begins.
    f : callable
        Raises ValueError before it has done anything with what it is given.
    *columns : sequences
        Each has one entry a sequence.

    Raises
    ------
    ValueError
    """
    try:
        return f(*columns)
    except ValueError:
        for i, start in enumerate(starts):
            try:
                f(*(column[i : i + 1] for column in columns))
            except ValueError as error:
                found = _POSITION.fullmatch(str(error))
                if found:
                    which = {"true": "true", "pred": "predicted"}[found[1]]
                    raise ValueError(f"{name}, line {start + int(found[2])}: {which} labels: {found[3]}") from None
                raise ValueError(f"{name}, the sequence from line {start} on: {error}") from None
        raise
