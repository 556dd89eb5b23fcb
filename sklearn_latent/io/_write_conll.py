# SPDX-License-Identifier: BSD-3-Clause
"""Writing column files that read back as what was written."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from operator import getitem
from typing import Any

from .._sequences.labels import flatten_labels
from ._atomic import atomic_write
from ._conll import split_function, starts_document

__all__ = ["write_conll"]

#: Different lines remembered: enough for those that come often, few beside the corpus.
_MOST_LINES = 1 << 16


def write_conll(target, X, y=None, *, separator=None):
    r"""Write a column file: a token a line, its label last, an empty line after each sequence.

    Parameters
    ----------
    target : str, path-like, or file open for writing
        The file at a path is replaced when all is written, so that an error leaves an old one whole; it
        is compressed if its name ends in ``.gz``. Nothing is written to an open file, text or binary,
        before everything was checked; it stays open. Bytes are UTF-8.
    X : iterable of n_sequences lists of tokens
        Tokens are all str, or all tuples of the same number of str, two or more.
    y : iterable of n_sequences lists of str or None, default=None
        Labels, as many as tokens. None: the columns of the tokens alone are written.
    separator : str or None, default=None
        What stands between columns. None: a TAB.

    Raises
    ------
    ValueError
        If `X` and `y` differ in lengths, or something would not come back: an empty sequence or label, a
        line end or the separator in a column, a token that would be taken for the start of a document, a
        line that would be taken for empty. Sequence and token are named.
    TypeError
        If tokens or labels are no strings, or `target` is neither a path nor an open file.

    See Also
    --------
    read_conll : Reads the file.

    Notes
    -----
    Each line is split again by the rules of `read_conll` before it is written. What is written without
    `separator` is read without one, what is written with one is read with the same one (and without
    ``comments=True``, under which a token may look like a comment); without `y`, with ``label=None``.

    Examples
    --------
    >>> import io
    >>> from sklearn_latent.io import read_conll, write_conll
    >>> file = io.StringIO()
    >>> write_conll(file, [["rain", "fell"], ["stop"]], [["B-NP", "B-VP"], ["B-VP"]], separator=" ")
    >>> print(file.getvalue())
    rain B-NP
    fell B-VP
    <BLANKLINE>
    stop B-VP
    <BLANKLINE>
    <BLANKLINE>
    """
    if separator is not None and (not isinstance(separator, str) or not separator or set(separator) & set("\r\n")):
        raise ValueError(f"separator must be None or a string that is not empty, without line ends; got {separator!r}")
    is_path = isinstance(target, (str, os.PathLike))
    if not is_path and not hasattr(target, "write"):
        raise TypeError(f"target must be a path or an open file, got {type(target).__name__}")
    lines = _lines(X, y, separator)
    if is_path:
        with atomic_write(target) as file:
            if os.fsdecode(target).endswith(".gz"):
                # without name and time, so that the same corpus gives the same bytes
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    _write_bytes(packed, lines)
            else:
                _write_bytes(file, lines)
        return
    text = "".join(lines)
    try:
        target.write("")
    except TypeError:  # it takes bytes
        target.write(text.encode())
    else:
        target.write(text)


def _write_bytes(file, lines: Iterator[str]) -> None:
    while text := "".join(islice(lines, 1024)):
        file.write(text.encode())


def _lines(X, y, separator: str | None) -> Iterator[str]:
    """Checked lines of a file, with their ends, a sequence at a time."""
    if isinstance(X, (str, bytes, dict)) or not isinstance(X, Iterable) or hasattr(X, "columns"):
        raise TypeError(
            f"X must hold one list of tokens a sequence, such as [['rain', 'fell']]; got {type(X).__name__}"
        )
    writer = _Writer(separator, y is not None)
    labels: Iterator = repeat(None) if y is None else iter(flatten_labels(y))
    i = -1
    for i, tokens in enumerate(X):
        own: Any = next(labels, _MISSING)
        if own is _MISSING:
            raise ValueError(f"y has {i} sequences, but X has more: X[{i}] has no labels")
        yield writer.sequence(i, tokens, own)
    if y is not None and next(labels, _MISSING) is not _MISSING:
        raise ValueError(f"X has {i + 1} sequences, but y has more: y[{i + 1}] has no tokens")


_MISSING = object()


class _Writer:
    """Makes the text of sequences; a corpus repeats most of its lines, and each different one is made once."""

    def __init__(self, separator: str | None, labelled: bool):
        self._form = _Form(separator, labelled)
        self._lines = _LinesByLabel(self._form)

    def sequence(self, i: int, tokens, labels: list | None) -> str:
        """Lines of one sequence and an empty one."""
        if isinstance(tokens, (str, bytes, dict)) or not isinstance(tokens, Iterable):
            raise TypeError(
                f"X[{i}] is {tokens!r} ({type(tokens).__name__}), but X must hold one list of tokens a sequence, "
                "such as [['rain', 'fell']]"
            )
        tokens = tokens if type(tokens) is list else list(tokens)
        if labels is not None and len(labels) != len(tokens):
            raise ValueError(f"X[{i}] has {len(tokens)} tokens but y[{i}] has {len(labels)} labels")
        if not tokens:
            raise ValueError(f"X[{i}] is empty, and a column file has no empty sequences")
        labels = [None] * len(tokens) if labels is None else labels
        try:
            # Two look-ups of what has its hash at hand are less than one of a pair.
            lines = "".join(map(getitem, map(self._lines.__getitem__, labels), tokens))
        except (TypeError, ValueError):
            # Something is wrong in this sequence: with the place in hand the same checks say what.
            pairs = enumerate(zip(tokens, labels, strict=False))
            lines = "".join(
                [self._form.line(token, label, f"sequence {i}, token {t}: ") for t, (token, label) in pairs]
            )
        if self._form.n_made > _MOST_LINES:
            self._lines.clear()
            self._form.n_made = 0
        return lines + "\n"


class _LinesByLabel(dict):
    """The lines of each label."""

    def __init__(self, form: _Form):
        self._form = form

    def __missing__(self, label) -> _Lines:
        self[label] = lines = _Lines(self._form, label)
        return lines


class _Lines(dict):
    """The line of each token with one label, made and checked when it is asked for first."""

    def __init__(self, form: _Form, label):
        self._form = form
        self._label = label

    def __missing__(self, token) -> str:
        self[token] = line = self._form.line(token, self._label, "")
        return line


class _Form:
    """Joins columns into lines, and refuses those that would be read as something else.

    Attributes
    ----------
    n_made : int
        Lines made since somebody set it to 0.
    """

    def __init__(self, separator: str | None, labelled: bool):
        self.n_made = 0
        self._separator = separator
        self._labelled = labelled
        self._joint = "\t" if separator is None else separator
        self._split: Callable[[str], list[str]] | None = None
        self._width: int | None = None  # columns of a token, 0 for a str

    def line(self, token, label, place: str) -> str:
        """The line of a token with its end; `place` begins the message of an error."""
        fields = self._columns(token, place)
        if self._labelled:
            fields.append(_label(label, place))
        self.n_made += 1
        return self._checked(fields, place) + "\n"

    def _columns(self, token, place: str) -> list[str]:
        if isinstance(token, str):
            width, fields = 0, [token]
        elif isinstance(token, tuple) and all(isinstance(field, str) for field in token):
            width, fields = len(token), list(token)
        else:
            raise TypeError(f"{place}a token must be a str or a tuple of str, got {token!r} ({type(token).__name__})")
        if isinstance(token, tuple) and width < 2:
            raise ValueError(f"{place}{token!r} would come back as a str: a tuple must have two columns or more")
        if self._width is None:
            self._width = width
        if width != self._width:
            raise ValueError(f"{place}{token!r} is {_form(width)}, but the first token is {_form(self._width)}")
        return fields

    def _checked(self, fields: list[str], place: str) -> str:
        for field in fields:
            if "\n" in field or "\r" in field:
                raise ValueError(f"{place}a line end in {field!r}")
            if not _encodes(field):
                raise ValueError(f"{place}{field!r} can't be written as UTF-8 (a lone surrogate)")
        line = self._joint.join(fields)
        if not line.strip(" \t"):
            raise ValueError(f"{place}{line!r} would be read as an empty line")
        if starts_document(line, self._separator):
            raise ValueError(f"{place}{line!r} would be read as the start of a document")
        if self._split is None:
            if line.startswith("\ufeff"):
                raise ValueError(f"{place}{line!r} begins the file with a byte order mark, which would be taken off")
            self._split = split_function(line, self._separator)
        back = self._split(line)
        if back != fields:
            raise ValueError(f"{place}{line!r} would be read as the columns {back!r}, not {fields!r}")
        return line


def _label(label, place: str) -> str:
    if label is None:
        raise ValueError(f"{place}the label is None, and a column file has no unknown labels")
    if not isinstance(label, str):
        raise TypeError(f"{place}a label must be a str, got {label!r} ({type(label).__name__})")
    if not label:
        raise ValueError(f"{place}the label is empty")
    return label


def _form(width: int) -> str:
    return f"a tuple of {width}" if width else "a str"


def _encodes(field: str) -> bool:
    try:
        field.encode()
    except UnicodeEncodeError:
        return False
    return True
