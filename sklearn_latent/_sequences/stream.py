# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of tokens that are judged while they are read, and not held."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from .labels import flatten_labels

__all__ = ["TokenStream"]


class TokenStream:
    """An iterator of token sequences, to be read once by whoever makes features of them.

    Parameters
    ----------
    head : list of list
        Sequences read already; the last one has tokens, those before it are empty.
    rest : iterator
        The others.
    judge : callable
        ``judge(entry, i, first)`` gives entry `i` as a list of tokens or raises; `first` is the number of the first
        sequence with tokens.

    Attributes
    ----------
    lengths : array of int
        Number of tokens of each sequence read so far.
    """

    def __init__(self, head: list[list], rest: Iterator, judge: Callable[[Any, int, int], list]):
        self._entries: Iterator | None = chain(head, rest)
        self._first = len(head) - 1
        self._judge = judge
        self._expected: list[int] | None = None
        self.lengths = array("q")

    def expect(self, y: Iterable) -> list[list]:
        """Lists of labels from any accepted y; their lengths are compared with the sequences when these are read.

        Raises
        ------
        TypeError
            If y is not one list of labels a sequence.
        """
        if y is None:
            raise ValueError("y is None: labels are required, one list a sequence")
        labels = flatten_labels(y)
        self._expected = [len(own) for own in labels]
        return labels

    def __iter__(self) -> Iterator[list]:
        if self._entries is None:
            # Another reader would find nothing, and a model would be trained on it.
            raise RuntimeError("these sequences come from an iterator and have been read already: pass a list")
        entries, self._entries = self._entries, None
        expected = self._expected
        for i, entry in enumerate(entries):
            tokens = self._judge(entry, i, self._first)
            if expected is not None and i < len(expected) and len(tokens) != expected[i]:
                raise ValueError(f"X[{i}] has {len(tokens)} tokens but y[{i}] has {expected[i]} labels")
            if expected is not None and i >= len(expected):
                n = i + 1 + sum(1 for _ in entries)
                raise ValueError(f"X has {n} sequences but y has {i}: the first without a counterpart is number {i}")
            self.lengths.append(len(tokens))
            yield tokens
        n = len(self.lengths)
        if expected is not None and n < len(expected):
            raise ValueError(
                f"X has {n} sequences but y has {len(expected)}: the first without a counterpart is number {n}"
            )
