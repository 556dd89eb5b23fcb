# SPDX-License-Identifier: BSD-3-Clause
"""Column files: a token a line, an empty line after each sequence."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from .._sequences.collector import no_cycle_search
from .._sequences.labels import LabelSequences
from ._lines import line_blocks, line_text, source_name

__all__ = ["conll_reader", "read_conll", "split_function", "starts_document"]

_DOCSTART = "-DOCSTART-"
# Only these two: other white space of Unicode occurs inside tokens.
_BLANK = " \t"
_SPACES = re.compile("[ \t]+")
#: Different lines remembered: enough for the lines that come often, few beside the corpus.
_MOST_LINES = 1 << 16


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
    The file is read block by block. Equal strings are one object, and so are most equal tokens, which makes a large
    corpus several times smaller. A line of spaces and TABs alone is empty. With a TAB, or a `separator` given, columns
    are taken as they are, spaces in them and around them included.

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
    reader = conll_reader(source, label, separator, comments)
    last = 0
    with no_cycle_search(), line_blocks(source) as blocks:
        for n, lines in blocks:
            reader.read(n, lines)
            last = n + len(lines) - 1
    reader.end_sequence(last + 1)
    out = [reader.X] if label is None else [reader.X, reader.y]
    if return_documents:
        out.append(np.array(reader.documents, dtype=np.int64))
    return out[0] if len(out) == 1 else tuple(out)


def conll_reader(source, label, separator, comments) -> _Reader:
    """The reader of a source that has been given these parameters of `read_conll`, which are judged."""
    if label is not None and (isinstance(label, bool) or not isinstance(label, (int, np.integer))):
        raise TypeError(f"label must be the index of a column or None, got {label!r}")
    if separator is not None and (not isinstance(separator, str) or not separator or "\n" in separator):
        raise ValueError(f"separator must be None or a string that is not empty, got {separator!r}")
    return _Reader(_Rows(source_name(source), None if label is None else int(label), separator, comments))


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


class _Refused(Exception):
    """One of several lines is at fault, and nothing has been done with any of them."""


class _Reader:
    """Puts rows together to sequences.

    Attributes
    ----------
    X, y, documents : list, LabelSequences, list
        What `read_conll` returns, of the sequences that have ended.
    starts : list of int
        Number of the line of the first token of each; the others follow it line by line.
    begun : list
        Rows of the sequence that has not ended yet.
    """

    def __init__(self, rows: _Rows):
        self.X: list[list] = []
        self.y = LabelSequences()
        self.documents: list[int] = []
        self.starts: list[int] = []
        self.begun: list = []
        self._rows = rows
        self._document = 0
        self._fresh = True  # nothing of this document yet, not even its start

    def read(self, n: int, lines: list) -> None:
        """Take the next lines, of which the first has the number `n`."""
        begun = 0
        while self._rows.first is None and begun < len(lines):  # it is what others are compared with
            self._add(n + begun, lines[begun : begun + 1])
            begun += 1
        n, lines = n + begun, lines[begun:] if begun else lines
        try:
            self._add(n, lines)
        except _Refused:
            for k, line in enumerate(lines):  # one by one, so that the number is that of the line
                self._add(n + k, [line])
        if len(self._rows) > _MOST_LINES:
            self._rows.clear()

    @property
    def first(self) -> tuple[int, str, int] | None:
        """Number, text and columns of the first token line."""
        return self._rows.first

    def take(self) -> tuple[list[list], LabelSequences, list[int], list[int]]:
        """X, y, documents and starts of the sequences that have ended since the last call."""
        taken = self.X, self.y, self.documents, self.starts
        self.X, self.y, self.documents, self.starts = [], LabelSequences(), [], []
        self._rows.forget_strings()
        return taken

    def end_sequence(self, n: int) -> None:
        """Put the rows since the last end among the sequences, if there are any; line `n` is no longer of them."""
        rows = self.begun
        if not rows:
            return
        if self._rows.label is None:
            self.X.append(rows)
        else:
            self.X.append([token for token, _ in rows])
            self.y.append([label for _, label in rows])
        self.documents.append(self._document)
        self.starts.append(n - len(rows))
        self._fresh = False
        self.begun = []

    def _add(self, n: int, lines: list[bytes] | list[str]) -> None:
        self._rows.n = n
        try:
            rows = list(map(self._rows.__getitem__, lines))
        except ValueError as error:
            if len(lines) > 1:
                raise _Refused from error
            raise
        start = 0
        for k in [k for k, row in enumerate(rows) if row is None]:
            self.begun += rows[start:k]
            start = k + 1
            self._special(n + k, self._rows.text(n + k, lines[k]))
        self.begun += rows[start:]

    def _special(self, n: int, line: str) -> None:
        """Line `n`, which is empty or starts a document or, if it stands before its sequence, is a comment."""
        if line.strip(_BLANK) and not self._rows.starts_document(line):
            if self.begun:
                self.begun.append(self._rows.token(n, line))
            return
        self.end_sequence(n)
        if self._rows.starts_document(line):
            self._document += not self._fresh
            self._fresh = False


class _Rows(dict):
    """What each different line stands for, found out when it is met first: a corpus repeats most of its lines.

    That is a token, a pair of a token and its label, or None if what stands before the line has a say.

    Attributes
    ----------
    label : int or None
        The column of labels.
    n : int
        Number of the line that is looked up.
    first : tuple or None
        Number, text and columns of the first token line.
    """

    def __init__(self, name: str, label: int | None, separator: str | None, comments: bool):
        self.label = label
        self.n = 0
        self.first: tuple[int, str, int] | None = None
        self._name = name
        self._separator = separator
        self._comments = comments
        self._split: Callable[[str], list[str]] | None = None
        self._strings: dict[str, str] = {}  # one object a distinct string

    def __missing__(self, line: bytes | str):
        text = self.text(self.n, line)
        if not text.strip(_BLANK) or self.starts_document(text) or (self._comments and text.startswith("# ")):
            row = None
        else:
            row = self.token(self.n, text)
        self[line] = row
        return row

    def forget_strings(self) -> None:
        """Hold no more strings than lines."""
        if len(self._strings) > _MOST_LINES:
            self._strings.clear()

    def text(self, n: int, line: bytes | str) -> str:
        """Text of line `n`."""
        return line_text(line, self._name, n)

    def starts_document(self, line: str) -> bool:
        """Whether the first column is the mark of a new document."""
        return starts_document(line, self._separator)

    def token(self, n: int, line: str):
        """The token of line `n`, with its label if there are labels."""
        fields = [self._strings.setdefault(field, field) for field in self._columns(n, line)]
        label = None if self.label is None else fields.pop(self.label)
        token = fields[0] if len(fields) == 1 else tuple(fields)
        return token if self.label is None else (token, label)

    def _columns(self, n: int, line: str) -> list[str]:
        if self.first is None:
            self._start(n, line)
        fields = self._split(line)
        if len(fields) != self.first[2]:
            self._mismatch(n, line, len(fields))
        if self.label is not None and not fields[self.label]:
            raise ValueError(f"{self._name}, line {n}: the label is empty: {line!r}")
        return fields

    def _start(self, n: int, line: str) -> None:
        self._split = split_function(line, self._separator)
        width = len(self._split(line))
        self.first = n, line, width
        if self.label is None:
            return
        if not -width <= self.label < width:
            raise ValueError(f"{self._name}, line {n}: no column {self.label}, there are {width}: {line!r}")
        if width == 1:
            raise ValueError(
                f"{self._name}, line {n}: a single column, which leaves no token beside the label: {line!r} "
                "(label=None reads tokens alone)"
            )
        self.label %= width

    def _mismatch(self, n: int, line: str, width: int) -> None:
        first_n, first_line, first_width = self.first
        if first_line.startswith("#") and not line.startswith("# "):
            raise ValueError(
                f"{self._name}, line {first_n}: {first_width} columns, but line {n} has {width}: {first_line!r} "
                "(comments=True skips such lines, if it is a comment)"
            )
        raise ValueError(f"{self._name}, line {n}: {width} columns, but line {first_n} has {first_width}: {line!r}")
