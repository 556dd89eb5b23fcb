# SPDX-License-Identifier: BSD-3-Clause
"""Columns of raw tokens as arrays of ids: one dict look-up per token and column, and none per template."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter

import numpy as np

from ._corpus import place, shorten, token_sequences

__all__ = ["ColumnCoder", "derive", "read_columns", "shape_class"]


class Interner(dict):
    """A dict from strings to consecutive ids that numbers a new string when asked for it."""

    def __missing__(self, key):
        if not isinstance(key, str):
            raise TypeError
        self[str(key)] = number = len(self)
        return number


def read_columns(
    X: Iterable, columns: Sequence[str], used: Sequence[int], known: Mapping[int, dict[str, int]] | None = None
) -> tuple[np.ndarray, dict[int, np.ndarray], dict[int, dict[str, int]]]:
    """Read a corpus of raw tokens in one pass.

    Parameters
    ----------
    X : iterable of sequences of tokens
        Tokens are str, tuples or lists of str, or mappings from names of columns to str.
    columns : sequence of str
        Names of the columns.
    used : sequence of int
        The columns that are read; others need not be there.
    known : None or dict of dicts from str to int
        For each used column its strings and their ids 0, 1, ...; None: none are known.

    Returns
    -------
    lengths : ndarray of int64 of shape (n_sequences,)
    ids : dict of ndarray of int32 of shape (n_tokens,)
        For each used column the id of each token's string, new strings numbered on from the known ones.
    new : dict of dicts from str to int
        For each used column its new strings and their ids. ``known`` itself is left as it is.
    """
    lengths = array("q")
    ids = {c: array("i") for c in used}
    new: dict[int, dict[str, int]] = {c: Interner() for c in used}
    form = _example(columns, used)
    getters = {c: itemgetter(c) for c in used}
    by_name = {c: itemgetter(columns[c]) for c in used}
    width = max(used, default=-1) + 1
    for i, tokens in token_sequences(X, form):
        kinds = set(map(type, tokens))
        lengths.append(len(tokens))
        if not tokens or (not used and kinds <= {str, tuple, list, dict}):
            continue
        for c in used:
            try:
                if kinds <= {tuple, list} and min(map(len, tokens)) >= width:
                    strings = map(getters[c], tokens)
                elif kinds == {str} and width == 1:
                    strings = tokens
                elif kinds == {dict}:
                    strings = map(by_name[c], tokens)
                else:
                    strings = [_column(token, c, i, t, columns, used) for t, token in enumerate(tokens)]
                if known is None:
                    ids[c].extend(map(new[c].__getitem__, strings))
                else:
                    _look_up(ids[c], strings, known[c], new[c])
            except (TypeError, KeyError):
                # Something is wrong in this sequence: the slow way finds where.
                for t, token in enumerate(tokens):
                    _judge(_column(token, c, i, t, columns, used), i, t, columns[c])
                raise
    return (
        np.frombuffer(lengths, dtype=np.int64) if lengths else np.zeros(0, dtype=np.int64),
        {c: np.frombuffer(a, dtype=np.int32) if a else np.zeros(0, dtype=np.int32) for c, a in ids.items()},
        {c: dict(strings) for c, strings in new.items()},
    )


def _look_up(out: array, strings: Iterable[str], known: dict[str, int], new: Interner) -> None:
    strings = list(strings)
    numbers = list(map(known.get, strings, repeat(-1)))
    if -1 in numbers:
        numbers = [n if n >= 0 else len(known) + new[s] for n, s in zip(numbers, strings, strict=True)]
    out.extend(numbers)


def _example(columns: Sequence[str], used: Sequence[int]) -> str:
    if max(used, default=0) == 0 and len(columns) == 1:
        return "[['the', 'old', 'man'], ['he', 'slept']]"
    rest = ", ".join("..." for _ in columns[1:])
    return f"[[('the', {rest}), ('old', {rest})], [('he', {rest})]] with the columns {tuple(columns)!r}"


def _column(token, c: int, i: int, t: int, columns: Sequence[str], used: Sequence[int]):
    """The value of column `c` of token `t` of sequence `i`, whatever a token may be."""
    needed = ", ".join(repr(columns[u]) for u in used)
    if isinstance(token, Mapping):
        if columns[c] not in token:
            raise ValueError(
                f"{place(i, t)} is {shorten(token)}, which has no column {columns[c]!r}; the templates read {needed}"
            )
        return token[columns[c]]
    if isinstance(token, str):
        if c > 0:
            raise ValueError(
                f"{place(i, t)} is the string {shorten(token)}, which has no column {columns[c]!r}; the templates "
                f"read {needed} of tokens such as {tuple(columns)!r} (is X a flat list of tokens? then pass [X])"
            )
        return token
    if isinstance(token, (tuple, list)) or (isinstance(token, np.ndarray) and token.ndim == 1):
        if len(token) <= c:
            raise ValueError(
                f"{place(i, t)} is {shorten(token)} with {len(token)} columns, which has no column {columns[c]!r}; "
                f"the templates read {needed} of tokens such as {tuple(columns)!r}"
            )
        return token[c]
    raise TypeError(
        f"{place(i, t)} is {shorten(token)}, but a token is a string, a tuple or list of columns, or a mapping from "
        f"their names; the templates read {needed}"
    )


def _judge(value, i: int, t: int, column: str) -> None:
    if not isinstance(value, str):
        raise TypeError(
            f"{place(i, t)}: column {column!r} is {shorten(value)}, but values of columns are strings; "
            "for numbers see SequenceDictVectorizer"
        )


@dataclass
class ColumnCoder:
    """Turns raw tokens into one row of ids per stream; a stream is a column or something derived from one.

    Attributes
    ----------
    columns : tuple of str
        Names of all columns.
    streams : list of (int, None or str)
        Column and derivation of each stream.
    known : dict of dicts from str to int
        Ids of the strings of each used column.
    derived : list of dicts from str to int
        Ids of the strings of each derived stream; empty for a stream that is a column.
    tables : list of ndarray of int32
        For each derived stream the id of what each known string gives, -1 for nothing.
    """

    columns: tuple[str, ...]
    streams: list[tuple[int, str | None]]
    known: dict[int, dict[str, int]] = field(default_factory=dict)
    derived: list[dict[str, int]] = field(default_factory=list)
    tables: list[np.ndarray] = field(default_factory=list)

    @property
    def used(self) -> list[int]:
        """Columns that any stream reads."""
        return sorted({column for column, _ in self.streams})

    def learn(self, X: Iterable) -> tuple[np.ndarray, np.ndarray]:
        """Number the strings of a corpus; give lengths (n_sequences,) and ids (n_streams, n_tokens)."""
        lengths, ids, self.known = read_columns(X, self.columns, self.used)
        self.derived = [Interner() for _ in self.streams]
        self.tables = []
        for (column, kind), strings in zip(self.streams, self.derived, strict=True):
            made = [] if kind is None else [derive(kind, string) for string in self.known[column]]
            self.tables.append(np.array([-1 if d is None else strings[d] for d in made], dtype=np.int32))
        self.derived = [dict(strings) for strings in self.derived]
        return lengths, self._rows(lengths, ids, {column: {} for column in self.used})

    def code(self, X: Iterable) -> tuple[np.ndarray, np.ndarray]:
        """Lengths (n_sequences,) and ids (n_streams, n_tokens) of a corpus, -1 for strings not learnt."""
        lengths, ids, new = read_columns(X, self.columns, self.used, self.known)
        return lengths, self._rows(lengths, ids, new)

    def strings(self, stream: int) -> list[str]:
        """The strings of a stream in the order of their ids."""
        column, kind = self.streams[stream]
        return list(self.known[column] if kind is None else self.derived[stream])

    def _rows(self, lengths, ids, new) -> np.ndarray:
        rows = np.empty((len(self.streams), int(lengths.sum())), dtype=np.int32)
        for row, (column, kind), strings, table in zip(rows, self.streams, self.derived, self.tables, strict=True):
            if kind is None:
                row[:] = ids[column]
                row[row >= len(self.known[column])] = -1
            else:
                # A new string can end in a known suffix.
                made = [derive(kind, string) for string in new[column]]
                more = [-1 if d is None else strings.get(d, -1) for d in made]
                np.take(np.concatenate([table, np.array(more, dtype=np.int32)]), ids[column], out=row)
        return rows


# -- what is made of a string -----------------------------------------------------------------------


def derive(kind: str, string: str) -> str | None:
    """``"prefix3"``, ``"suffix1"``, ``"shape"`` and so on of a string; None where it is too short."""
    if kind == "shape":
        return shape_class(string)
    end, length = kind[:6], int(kind[6:])
    if len(string) < length:
        return None
    return string[:length] if end == "prefix" else string[len(string) - length :]


def shape_class(string: str) -> str:
    """The pattern of cases, digits and marks in a string, runs written once.

    Upper case gives ``A``, lower case ``a``, other letters ``x``, digits ``0``, a hyphen ``-``, anything else
    ``.``: "IL-2" has the shape "A-0", "p53" has "a0", "Smith" has "Aa".
    """
    shape = []
    for character in string:
        if character.isupper():
            kind = "A"
        elif character.islower():
            kind = "a"
        elif character.isdigit():
            kind = "0"
        elif character.isalpha():
            kind = "x"
        elif character == "-":
            kind = "-"
        else:
            kind = "."
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape)
