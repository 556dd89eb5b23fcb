# SPDX-License-Identifier: BSD-3-Clause
"""Columns of raw tokens as arrays of ids: one dict look-up per token, and none per column or template."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from .._sequences.words import shorten
from ._corpus import place, token_sequences

__all__ = ["ColumnCoder", "TokenReader", "derive", "shape_class"]

#: Tokens read before their ids are put together, and different tokens remembered from one such part to the next.
PART_TOKENS, MOST_TOKENS = 1 << 20, 1 << 16


def _number(known: dict[str, int], strings: Sequence[str]) -> np.ndarray:
    """Ids of strings, int32; those that are not known are numbered on, in order of first occurrence."""
    new = [string for string in dict.fromkeys(strings) if string not in known]
    known.update(zip(map(str, new), count(len(known)), strict=False))  # str: numpy's own would be kept otherwise
    return np.fromiter(map(known.__getitem__, strings), np.int32, len(strings))


class TokenReader:
    """Reads a corpus of raw tokens, each different token looked at once.

    Parameters
    ----------
    X : iterable of sequences of tokens
        Tokens are str, tuples or lists of str, or mappings from names of columns to str.
    columns : sequence of str
        Names of the columns.
    used : sequence of int
        The columns that are read; others need not be there.

    Attributes
    ----------
    tokens : Tokens
        Number of each different token read; `forget` empties it.
    """

    def __init__(self, X: Iterable, columns: Sequence[str], used: Sequence[int]):
        self.tokens = Tokens(len(used))
        self._columns = columns
        self._used = used
        self._width = max(used, default=-1) + 1
        # Of tokens that are tuples of these columns and no others nothing has to be picked.
        self._plain = tuple(used) == tuple(range(self._width)) and self._width > 1
        self._by_place = itemgetter(*used) if used else None
        self._by_name = itemgetter(*(columns[c] for c in used)) if used else None
        self._sequences = token_sequences(X, _example(columns, used))

    def read(self, max_tokens: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Read sequences until there are `max_tokens` tokens or more, None: all.

        Returns
        -------
        lengths : ndarray of int64 of shape (n_sequences,)
            Empty at the end.
        numbers : ndarray of int32 of shape (n_tokens,)
            Which of the different `tokens` each token is; empty if no column is used.
        """
        lengths, numbers, left = array("q"), array("i"), max_tokens
        for i, tokens in self._sequences:
            lengths.append(len(tokens))
            if tokens:
                self._add(numbers, i, tokens)
            if left is not None:
                left -= len(tokens)
                if left <= 0:
                    break
        return _as_ndarray(lengths, np.int64), _as_ndarray(numbers, np.int32)

    def forget(self) -> None:
        """Number different tokens from 0 again."""
        self.tokens.clear()
        self.tokens.unread.clear()

    def _add(self, numbers: array, i: int, tokens: list | tuple) -> None:
        number, size = self.tokens.__getitem__, len(numbers)
        if self._plain and type(tokens[0]) is tuple:
            try:
                numbers.extend(map(number, tokens))
                return
            except (TypeError, ValueError):  # not all are such tuples
                del numbers[size:]
        kinds = set(map(type, tokens))
        if not self._used and kinds <= {str, tuple, list, dict}:
            return
        try:
            if kinds <= {tuple, list} and min(map(len, tokens)) >= self._width:
                picked: Iterable = map(self._by_place, tokens)
            elif kinds == {str} and self._width == 1:
                picked = tokens
            elif kinds == {dict}:
                picked = map(self._by_name, tokens)
            else:
                picked = [self._pick(token, i, t) for t, token in enumerate(tokens)]
            if self._used:
                numbers.extend(map(number, picked))
        except (TypeError, KeyError):
            # Something is wrong in this sequence: the slow way finds where.
            for c in self._used:
                for t, token in enumerate(tokens):
                    _judge(_column(token, c, i, t, self._columns, self._used), i, t, self._columns[c])
            raise

    def _pick(self, token, i: int, t: int):
        """The used columns of a token, whatever it may be."""
        values = tuple([_column(token, c, i, t, self._columns, self._used) for c in self._used])
        return values[0] if len(values) == 1 else values


class Tokens(dict):
    """Numbers of different tokens, given as asked for.

    A token is the tuple of the strings of its used columns, or the string if one column is used.

    Attributes
    ----------
    unread : list
        Tokens numbered since somebody emptied this list, in order.
    """

    def __init__(self, n_columns: int):
        self.unread: list = []
        self._kinds: Any = (str,) * n_columns if n_columns != 1 else str

    def __missing__(self, token):
        if (tuple(map(type, token)) if type(token) is tuple else type(token)) != self._kinds:
            self._judge(token)  # there are strings of other types, such as numpy's
        self[token] = number = len(self)
        self.unread.append(token)
        return number

    def _judge(self, token) -> None:
        if self._kinds is str:
            if not isinstance(token, str):
                raise TypeError
        elif not isinstance(token, tuple) or len(token) != len(self._kinds):
            raise ValueError
        elif not all(isinstance(value, str) for value in token):
            raise TypeError


def _as_ndarray(values: array, dtype) -> np.ndarray:
    return np.frombuffer(values, dtype=dtype) if values else np.zeros(0, dtype=dtype)


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
        self.known = {column: {} for column in self.used}
        self.derived = [{} for _ in self.streams]
        self.tables = [np.zeros(0, dtype=np.int32) for _ in self.streams]
        lengths, ids = _joined(self._parts(X, None, self._learn_tokens), len(self.streams))
        return lengths, ids

    def code(self, X: Iterable) -> tuple[np.ndarray, np.ndarray]:
        """Lengths (n_sequences,) and ids (n_streams, n_tokens) of a corpus, -1 for strings not learnt."""
        return _joined(self.code_parts(X, None), len(self.streams))

    def code_parts(self, X: Iterable, max_tokens: int | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """As `code`, for parts of about `max_tokens` tokens, while `X` is read."""
        return self._parts(X, max_tokens, self._code_tokens)

    def strings(self, stream: int) -> list[str]:
        """The strings of a stream in the order of their ids."""
        column, kind = self.streams[stream]
        return list(self.known[column] if kind is None else self.derived[stream])

    def _parts(
        self, X: Iterable, max_tokens: int | None, code: Callable[[dict], np.ndarray]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Lengths and ids of parts; `code` gives the ids of different tokens, (n_streams, n), from their columns."""
        used = self.used
        reader = TokenReader(X, self.columns, used)
        table = np.zeros((len(self.streams), 0), dtype=np.int32)
        while True:
            lengths, numbers = reader.read(PART_TOKENS if max_tokens is None else max_tokens)
            if not len(lengths):
                return
            if not used:
                yield lengths, np.zeros((0, int(lengths.sum())), dtype=np.int32)
                continue
            unread = reader.tokens.unread
            if unread:
                # Not zip(*unread): it makes an object a token, all at once.
                columns = {
                    c: unread if len(used) == 1 else list(map(itemgetter(k), unread)) for k, c in enumerate(used)
                }
                table = np.concatenate([table, code(columns)], axis=1)
                unread.clear()
            yield lengths, np.take(table, numbers, axis=1)
            if table.shape[1] > MOST_TOKENS:
                reader.forget()
                table = table[:, :0]

    def _learn_tokens(self, columns: dict[int, Sequence[str]]) -> np.ndarray:
        ids = {c: _number(self.known[c], strings) for c, strings in columns.items()}
        for k, ((column, kind), strings) in enumerate(zip(self.streams, self.derived, strict=True)):
            if kind is not None:
                new = islice(self.known[column], len(self.tables[k]), None)
                made = [derive(kind, string) for string in new]
                there = np.array([d is not None for d in made], dtype=bool)
                more = np.full(len(made), -1, dtype=np.int32)
                more[there] = _number(strings, [d for d in made if d is not None])
                self.tables[k] = np.concatenate([self.tables[k], more])
        return self._rows(ids)

    def _code_tokens(self, columns: dict[int, Sequence[str]]) -> np.ndarray:
        ids = {c: np.fromiter(map(self.known[c].get, strings, repeat(-1)), np.int32) for c, strings in columns.items()}
        rows = self._rows(ids)
        for row, (column, kind), strings in zip(rows, self.streams, self.derived, strict=True):
            if kind is not None:
                # A new string can end in a known suffix.
                for t in np.flatnonzero(ids[column] < 0).tolist():
                    made = derive(kind, columns[column][t])
                    row[t] = -1 if made is None else strings.get(made, -1)
        return rows

    def _rows(self, ids: dict[int, np.ndarray]) -> np.ndarray:
        """Ids in the streams from ids in the columns, where known."""
        rows = [
            ids[column] if kind is None else np.append(table, np.int32(-1))[ids[column]]
            for (column, kind), table in zip(self.streams, self.tables, strict=True)
        ]
        return np.array(rows, dtype=np.int32)


def _joined(parts: Iterator[tuple[np.ndarray, np.ndarray]], n_streams: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = list(parts)
    if len(pairs) == 1:
        return pairs[0]
    lengths = [np.zeros(0, dtype=np.int64), *(lengths for lengths, _ in pairs)]
    ids = [np.zeros((n_streams, 0), dtype=np.int32), *(ids for _, ids in pairs)]
    return np.concatenate(lengths), np.concatenate(ids, axis=1)


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
