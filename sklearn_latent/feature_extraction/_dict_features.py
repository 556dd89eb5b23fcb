# SPDX-License-Identifier: BSD-3-Clause
"""Features of dicts and lists of strings: what they are, the one pass that reads them, and their names."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from math import isfinite
from numbers import Real

import numpy as np

from .._sequences.words import shorten
from ._corpus import place, token_sequences

__all__ = ["DictFeatures", "DictNames", "Entries", "like_array", "read_blocks", "read_corpus"]

FORM = "[[{'word': 'the', 'title': False}, {'word': 'man', 'title': False}], [{'word': 'He', 'title': True}]]"


@dataclass
class DictFeatures:
    """The known features and their numbers; a feature is a name and a value and never one joined string.

    Attributes
    ----------
    strings : dict of dicts from str to int
        ``strings[name][value]``: the indicator that `name` has this value.
    numbers : dict from str to int
        ``numbers[name]``: the number given under `name`, a bool, or the count of `name` in a list of strings.
    arrays : dict from str to list of int
        ``arrays[name][k]``: the k-th number of the array given under `name`.

    A number is -1 where a feature was left out because it is too rare.
    """

    strings: dict[str, dict[str, int]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    arrays: dict[str, list[int]] = field(default_factory=dict)

    def renumbered(self, number: list[int]) -> DictFeatures:
        """The same features as ``number[old]``; indicators and numbers of -1 are forgotten."""
        strings = {
            name: {value: number[k] for value, k in values.items() if number[k] >= 0}
            for name, values in self.strings.items()
        }
        return DictFeatures(
            {name: values for name, values in strings.items() if values},
            {name: number[k] for name, k in self.numbers.items() if number[k] >= 0},
            # The width of an array is known also where its columns are not wanted.
            {name: [number[k] for k in columns] for name, columns in self.arrays.items()},
        )

    def count(self) -> int:
        """Number of features."""
        return sum(map(len, self.strings.values())) + len(self.numbers) + sum(map(len, self.arrays.values()))

    def by_name_and_value(self) -> dict:
        """Number of each feature by (name, str value), (name, None) or (name, index in an array)."""
        out: dict = {(name, value): k for name, values in self.strings.items() for value, k in values.items()}
        out.update({(name, None): k for name, k in self.numbers.items()})
        out.update({(name, j): k for name, columns in self.arrays.items() for j, k in enumerate(columns) if k >= 0})
        return out

    def in_order_of_names(self, separator: str) -> list[int]:
        """All numbers, ordered by the name shown; the columns of an array stay in their own order.

        Sorting (name, then value) is sorting the joined strings: what comes before a value ends in the first
        separator that is not escaped, so no such beginning is the beginning of another.
        """
        # Lists of str and int rather than of tuples: the garbage collector has no need to look at them.
        names = DictNames(self, separator)
        groups: list[str] = []
        members: list[list[int] | int] = []
        for name, values in self.strings.items():
            shown = list(map(names.escaped, values))
            columns = list(values.values())
            groups.append(names.escaped(name) + separator)
            members.append([columns[j] for j in sorted(range(len(shown)), key=shown.__getitem__)])
        groups.extend(map(names.number, self.numbers))
        members.extend(self.numbers.values())
        for name, columns in self.arrays.items():
            groups.append(names.escaped(name) + "[")
            members.append(columns)
        out: list[int] = []
        for g in sorted(range(len(groups)), key=groups.__getitem__):
            member = members[g]
            if isinstance(member, int):
                out.append(member)
            else:
                out.extend(member)
        return out


class DictNames:
    """Names of the columns, made when called; an object without closures, so that it pickles."""

    def __init__(self, features: DictFeatures, separator: str, n_features: int = 0):
        self.features = features
        self.separator = separator
        self.n_features = n_features

    def escaped(self, text: str) -> str:
        """The text with a backslash before each backslash and each beginning of a separator."""
        if "\\" in text:
            text = text.replace("\\", "\\\\")
        if self.separator[0] in text:
            text = text.replace(self.separator[0], "\\" + self.separator[0])
        return text

    def number(self, name: str) -> str:
        """How the number `name` is shown, apart from a column of an array that would look the same."""
        if like_array(name) and name.rpartition("[")[0] in self.features.arrays:
            return self.bracket_escaped(name)
        return self.escaped(name)

    def bracket_escaped(self, name: str) -> str:
        """A name that looks like a column of an array, told apart from one by a backslash."""
        base, _, index = name.rpartition("[")
        return f"{self.escaped(base)}\\[{self.escaped(index)}"

    def __call__(self) -> np.ndarray:
        """Object array of str of shape (n_features,)."""
        out = np.empty(self.n_features, dtype=object)
        for name, values in self.features.strings.items():
            prefix = self.escaped(name) + self.separator
            for value, k in values.items():
                out[k] = prefix + self.escaped(value)
        for name, k in self.features.numbers.items():
            out[k] = self.number(name)
        for name, columns in self.features.arrays.items():
            for j, k in enumerate(columns):
                if k >= 0:
                    out[k] = f"{self.escaped(name)}[{j}]"
        return out


def like_array(name: str) -> bool:
    """Whether the name of a number is one that a column of an array could have."""
    _, bracket, index = name.rpartition("[")
    return bool(bracket) and index.endswith("]") and index[:-1].isdecimal()


@dataclass
class Entries:
    """What one pass over a corpus found: flat buffers that grow, with no token kept.

    The entries of token i are ``columns[ends[i - 1]:ends[i]]``, -1 for unknown features. A value is 1 but for those
    in ``odd_values``, at the entries ``odd_at``.
    """

    lengths: array = field(default_factory=lambda: array("q"))
    ends: array = field(default_factory=lambda: array("q", [0]))
    columns: array = field(default_factory=lambda: array("i"))
    odd_at: array = field(default_factory=lambda: array("q"))
    odd_values: array = field(default_factory=lambda: array("d"))


def read_corpus(X: Iterable, features: DictFeatures, *, learn: bool, largest: float) -> Entries:
    """Read a corpus in one pass.

    Parameters
    ----------
    X : iterable of sequences of tokens
        Each token a mapping or a list of strings.
    features : DictFeatures
        The known features. With `learn` new ones are added, numbered in order of occurrence.
    learn : bool
        Whether to add new features.
    largest : float
        The largest number that the result can hold.

    Returns
    -------
    Entries
        One for every feature that a token has.
    """
    reader = _Reader(features, learn, largest)
    for i, tokens in token_sequences(X, FORM):
        reader.read(i, 0, tokens)
        reader.entries.lengths.append(len(tokens))
    return reader.entries


def read_blocks(X: Iterable, *, largest: float, max_tokens: int) -> Iterator[tuple[DictFeatures, Entries]]:
    """Read a corpus in one pass, forgetting the features after every block of tokens.

    Parameters
    ----------
    X : iterable of sequences of tokens
        As for `read_corpus`.
    largest : float
        The largest number that the result can hold.
    max_tokens : int
        Tokens of a block, at least; a block may end within a sequence.

    Yields
    ------
    features : DictFeatures
        The features of this block, numbered anew. Widths of arrays are remembered from the blocks before.
    entries : Entries
        Its tokens; ``entries.lengths`` has the lengths of the sequences that end in it. There is at least one block.
    """
    reader = _Reader(DictFeatures(), True, largest)
    for i, tokens in token_sequences(X, FORM):
        for start in range(0, len(tokens), max_tokens):
            reader.read(i, start, tokens[start : start + max_tokens])
            if len(reader.entries.ends) > max_tokens:
                yield reader.features, reader.entries
                reader = reader.successor()
        reader.entries.lengths.append(len(tokens))
    yield reader.features, reader.entries


class _Reader:
    """The state of one pass: the buffers, the features, and the place, for messages."""

    def __init__(self, features: DictFeatures, learn: bool, largest: float):
        self.features = features
        self.learn = learn
        self.largest = largest
        self.entries = Entries()
        self.place = (0, 0)
        self.n_features = 0

    def read(self, i: int, start: int, tokens) -> None:
        """Read tokens of sequence `i`, of which the first is number `start` in it."""
        columns, ends, strings = self.entries.columns, self.entries.ends, self.features.strings
        for t, token in enumerate(tokens, start):
            self.place = (i, t)
            if type(token) is dict or isinstance(token, Mapping):
                for name, value in token.items():
                    if type(value) is str:
                        known = strings.get(name)
                        k = None if known is None else known.get(value)
                        columns.append(self.new_string(name, value) if k is None else k)
                    else:
                        self.add_other(name, value)
            else:
                self.add_items(token)
            ends.append(len(columns))

    def successor(self) -> _Reader:
        """A reader with empty buffers that knows no features but the widths of arrays."""
        other = _Reader(DictFeatures(), self.learn, self.largest)
        for name, columns in self.features.arrays.items():
            other.features.arrays[name] = [other.new_number() for _ in columns]
        return other

    def new_string(self, name, value: str) -> int:
        self.judge_name(name)
        if not self.learn:
            return -1
        return self.features.strings.setdefault(str(name), {}).setdefault(value, self.new_number())

    def new_number(self) -> int:
        self.n_features += 1
        return self.n_features - 1

    def add_items(self, token) -> None:
        """A token that is a list of strings: how often each is in it."""
        if not isinstance(token, (list, np.ndarray)) or (isinstance(token, np.ndarray) and token.ndim != 1):
            self.refuse_token(token)
        numbers = self.features.numbers
        try:
            found = list(map(numbers.get, token, repeat(-1)))
        except TypeError:  # something that can't be hashed
            found = [-1]
        if -1 in found:
            for item in token:
                if not isinstance(item, str):
                    self.fail(TypeError, f"the item {shorten(item)} of a list is not a string")
                if self.learn and item not in numbers:
                    numbers[str(item)] = self.new_number()
            found = [numbers.get(item, -1) for item in token]
        self.entries.columns.extend(found)

    def add_other(self, name, value) -> None:
        """A value that is not quite a str."""
        self.judge_name(name)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, (bool, Real, np.bool_)):
            self.add_number(str(name), self.as_number(name, value))
        elif isinstance(value, str):
            self.add_string(str(name), str(value))
        elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1):
            if len(value) and isinstance(value[0], str) and all(isinstance(v, str) for v in value):
                for v in value:
                    self.add_string(str(name), str(v))
            elif len(value) or name in self.features.arrays:
                self.add_array(str(name), self.as_numbers(name, value))
        else:
            self.fail(
                TypeError,
                f"{name!r} is {shorten(value)}, of type {type(value).__name__}, but a value is a string, a number, a "
                "bool, a list of strings or a 1-D array of numbers" + _hint(value),
            )

    def add_string(self, name: str, value: str) -> None:
        k = self.features.strings.get(name, {}).get(value)
        self.entries.columns.append(self.new_string(name, value) if k is None else k)

    def add_number(self, name: str, value: float) -> None:
        k = self.features.numbers.get(name, -1)
        if k < 0 and self.learn:
            k = self.features.numbers[name] = self.new_number()
        self.add_value(k, value)

    def add_array(self, name: str, values: np.ndarray) -> None:
        known = self.features.arrays.get(name)
        if known is None:
            known = [self.new_number() if self.learn else -1 for _ in range(len(values))]
            if self.learn:
                self.features.arrays[name] = known
        if len(known) != len(values):
            self.fail(ValueError, f"{name!r} has {len(values)} numbers, but {len(known)} where it was first seen")
        start = len(self.entries.columns)
        self.entries.columns.extend(known)
        self.entries.odd_at.extend(range(start, start + len(values)))
        self.entries.odd_values.frombytes(values.tobytes())

    def add_value(self, k: int, value: float) -> None:
        if value != 1.0:
            self.entries.odd_at.append(len(self.entries.columns))
            self.entries.odd_values.append(value)
        self.entries.columns.append(k)

    def as_numbers(self, name, values) -> np.ndarray:
        """A list or 1-D array of numbers as float64; the slow way finds what is wrong with it."""
        if (isinstance(values, np.ndarray) and values.dtype.kind in "biuf") or set(map(type, values)) <= {float, int}:
            try:
                numbers = np.array(values, dtype=np.float64)
            except OverflowError:
                numbers = np.array([np.inf])
            if (np.abs(numbers) <= self.largest).all():
                return numbers
        return np.array([self.as_number(f"{name}[{j}]", value) for j, value in enumerate(values)], dtype=np.float64)

    def as_number(self, name, value) -> float:
        if not isinstance(value, (bool, Real, np.bool_)):
            self.fail(TypeError, f"{name!r} holds {shorten(value)}, but one list has only strings or only numbers")
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        if not isfinite(number) or abs(number) > self.largest:
            self.fail(ValueError, f"feature {name!r} is {shorten(value)}, but values have to be finite")
        return number

    def judge_name(self, name) -> None:
        if not isinstance(name, str):
            self.fail(TypeError, f"the feature name {shorten(name)} is not a string")

    def refuse_token(self, token) -> None:
        if isinstance(token, (str, bytes)):
            self.fail(
                TypeError,
                f"the token is the string {shorten(token)}, but a token is a mapping or a list of strings, such as "
                f"{{'word': {shorten(token)}}} or [{shorten(token)}]; X looks like {FORM}",
            )
        if isinstance(token, tuple):
            self.fail(
                TypeError,
                f"the token is the tuple {shorten(token)}, but a token is a mapping or a list of strings; "
                "TemplateVectorizer takes tuples of columns",
            )
        self.fail(TypeError, f"the token is {shorten(token)}, but a token is a mapping or a list of strings")

    def fail(self, kind: type[Exception], message: str):
        raise kind(f"{place(*self.place)}: {message}")


def _hint(value) -> str:
    if value is None:
        return "; leave the feature out where it has no value"
    if isinstance(value, Mapping):
        return "; nested mappings have to be flattened"
    return ""
