# SPDX-License-Identifier: BSD-3-Clause
"""Column files: a token a line, an empty line after each sequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from .._sequences.labels import LabelSequences
from ._lines import source_name, text_lines

__all__ = ["read_conll", "split_function", "starts_document"]

_DOCSTART = "-DOCSTART-"
# Only these two: other white space of Unicode occurs inside tokens.
_BLANK = " \t"
_SPACES = re.compile("[ \t]+")


def read_conll(source, *, label=-1, separator=None, comments=False, return_documents=False):
    r"""Read a column file: a token a line, an empty line after each sequence.

    Parameters
    ----------
    source : str, path-like, or file open for reading
        UTF-8 text; gzip is recognised by its first bytes. Line ends of Windows and a byte order mark
        are taken off. A file that is passed open stays open.
    label : int or None, default=-1
        Index of the column of labels, counted from the end if negative. None: there is none.
    separator : str or None, default=None
        What stands between columns, exactly. None: a single TAB if the first token line of the file
        has one, else runs of spaces and TABs. No other white space ever separates.
    comments : bool, default=False
        Skip lines that begin with a hash and a space, as long as the sequence has no token yet.
    return_documents : bool, default=False
        Return also the document that each sequence belongs to, for splitting by document.

    Returns
    -------
    X : list of n_sequences lists of tokens
        A token is a str if one column is left beside the label, else a tuple of str.
    y : LabelSequences of n_sequences lists of str
        Absent if `label` is None.
    documents : ndarray of int64 of shape (n_sequences,)
        Documents are numbered from 0 and start at each ``-DOCSTART-`` line, which is no token.
        Only if `return_documents`.

    Raises
    ------
    ValueError
        If a line has another number of columns than the first, or an empty label, or is no UTF-8, or the
        gzip stream is cut short; file, line number and text are named.
    TypeError
        If `source` is neither a path nor an open file.

    See Also
    --------
    write_conll : Writes such a file.
    sklearn_latent.metrics.get_chunks : Chunks of the labels of such a file.

    Notes
    -----
    The file is read line by line. A line of spaces and TABs alone is empty. With a TAB, or a `separator`
    given, columns are taken as they are, spaces in them and around them included.

    Examples
    --------
    >>> import io
    >>> from sklearn_latent.io import read_conll
    >>> X, y = read_conll(io.StringIO("The DT B-NP\nrain NN I-NP\n\nIt PRP B-NP\n"))
    >>> X
    [[('The', 'DT'), ('rain', 'NN')], [('It', 'PRP')]]
    >>> y
    [['B-NP', 'I-NP'], ['B-NP']]
    """
    if label is not None and (isinstance(label, bool) or not isinstance(label, (int, np.integer))):
        raise TypeError(f"label must be the index of a column or None, got {label!r}")
    if separator is not None and (not isinstance(separator, str) or not separator or "\n" in separator):
        raise ValueError(f"separator must be None or a string that is not empty, got {separator!r}")
    X, y, documents = [], LabelSequences(), []
    seen = {}  # one object a distinct string: a corpus repeats its labels and most of its words
    reader = _Reader(source_name(source), label, separator)
    with text_lines(source) as lines:
        for document, rows in _sentences(lines, reader, comments):
            if label is not None:
                labels = [row.pop(reader.label) for row in rows]
                y.append([seen.setdefault(name, name) for name in labels])
            rows = [tuple([seen.setdefault(field, field) for field in row]) for row in rows]
            X.append([row[0] for row in rows] if len(rows[0]) == 1 else rows)
            documents.append(document)
    out = [X] if label is None else [X, y]
    if return_documents:
        out.append(np.array(documents, dtype=np.int64))
    return out[0] if len(out) == 1 else tuple(out)


def _sentences(lines, reader: _Reader, comments: bool) -> Iterator[tuple[int, list[list[str]]]]:
    """Document number and rows of columns of each sentence."""
    document = 0
    fresh = True  # nothing of this document yet, not even its start
    rows = []
    for n, line in lines:
        if line.strip(_BLANK) and not reader.starts_document(line):
            if not (comments and not rows and line.startswith("# ")):
                rows.append(reader.columns(n, line))
                fresh = False
            continue
        if rows:
            yield document, rows
            rows = []
        if reader.starts_document(line):
            document += not fresh
            fresh = False
    if rows:
        yield document, rows


def starts_document(line: str, separator: str | None) -> bool:
    """Whether the first column of a line is the mark of a new document."""
    if not line.startswith(_DOCSTART):
        return False
    rest = line[len(_DOCSTART) :]
    return not rest or rest[0] in _BLANK or (separator is not None and rest.startswith(separator))


def split_function(first: str, separator: str | None) -> Callable[[str], list[str]]:
    """Function from a line to its columns, for a file whose first token line is `first`."""
    if separator is None and "\t" in first:
        separator = "\t"
    if separator is None:
        return lambda line: _SPACES.split(line.strip(_BLANK))
    return lambda line: line.split(separator)


class _Reader:
    """Splits lines into columns and holds the lines to one number of them."""

    def __init__(self, name: str, label: int | None, separator: str | None):
        self.name = name
        self.label = label
        self.separator = separator
        self._split: Callable[[str], list[str]] | None = None
        self._first: tuple[int, str, int] | None = None  # number, text and columns of the first token line

    def starts_document(self, line: str) -> bool:
        """Whether the first column is the mark of a new document."""
        return starts_document(line, self.separator)

    def columns(self, n: int, line: str) -> list[str]:
        """Columns of a token line."""
        if self._first is None:
            self._start(n, line)
        fields = self._split(line)
        if len(fields) != self._first[2]:
            self._mismatch(n, line, len(fields))
        if self.label is not None and not fields[self.label]:
            raise ValueError(f"{self.name}, line {n}: the label is empty: {line!r}")
        return fields

    def _start(self, n: int, line: str) -> None:
        self._split = split_function(line, self.separator)
        width = len(self._split(line))
        self._first = n, line, width
        if self.label is None:
            return
        if not -width <= self.label < width:
            raise ValueError(f"{self.name}, line {n}: no column {self.label}, there are {width}: {line!r}")
        if width == 1:
            raise ValueError(
                f"{self.name}, line {n}: a single column, which leaves no token beside the label: {line!r} "
                "(label=None reads tokens alone)"
            )
        self.label %= width

    def _mismatch(self, n: int, line: str, width: int) -> None:
        first_n, first_line, first_width = self._first
        if first_line.startswith("#") and not line.startswith("# "):
            raise ValueError(
                f"{self.name}, line {first_n}: {first_width} columns, but line {n} has {width}: {first_line!r} "
                "(comments=True skips such lines, if it is a comment)"
            )
        raise ValueError(f"{self.name}, line {n}: {width} columns, but line {first_n} has {first_width}: {line!r}")
