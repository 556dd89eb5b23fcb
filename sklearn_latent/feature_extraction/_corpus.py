# SPDX-License-Identifier: BSD-3-Clause
"""Walking over the sequences of a token corpus, refusing what is no corpus, and undoing a vectorizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from .._compat import InvalidParameterError
from .._sequences import SequenceMatrix
from .._sequences.words import shorten

__all__ = ["check_dtype", "check_separator", "place", "token_dicts", "token_sequences"]


def place(sequence: int, token: int) -> str:
    """The place of a token as messages give it."""
    return f"X[{sequence}][{token}] (sequence {sequence}, token {token})"


def token_sequences(X: Iterable, form: str) -> Iterator[tuple[int, list | tuple]]:
    """Give the number and the tokens of each sequence of a corpus, reading `X` once.

    Parameters
    ----------
    X : iterable of sequences of tokens
        A list, Series, object array or iterator.
    form : str
        An example of a right corpus, shown in messages.

    Yields
    ------
    (int, list or tuple)
        The tokens themselves are not judged here.

    Raises
    ------
    TypeError
        If `X` or one of its sequences is something that can't be a list of sequences or of tokens.
    """
    if isinstance(X, (str, bytes)):
        raise TypeError(f"X is a string, but a list of sequences, each a list of tokens, was expected, such as {form}")
    if isinstance(X, Mapping):
        raise TypeError(f"X is a mapping, but a list of sequences was expected, such as {form}")
    if isinstance(X, SequenceMatrix):
        raise TypeError("X is a SequenceMatrix, whose features are columns already; a vectorizer takes tokens")
    if _is_frame(X):
        raise TypeError(
            "X is a data frame, whose rows don't say where sequences end; "
            f"group it into a list of sequences, such as {form}, or see sequences_from_frame and "
            "SequenceMatrix.from_frame"
        )
    try:
        sequences = iter(X)
    except TypeError:
        raise TypeError(f"X is {shorten(X)}, but a list of sequences was expected, such as {form}") from None
    for i, sequence in enumerate(sequences):
        yield i, sequence if type(sequence) is list else _as_tokens(i, sequence, form)


def _as_tokens(i: int, sequence, form: str) -> list | tuple:
    if isinstance(sequence, (str, bytes)):
        raise TypeError(
            f"X[{i}] is the string {shorten(sequence)}, but a list of tokens was expected; X looks like {form}"
        )
    if isinstance(sequence, Mapping):
        raise TypeError(
            f"X[{i}] is a mapping, which is one token, but a list of tokens was expected; "
            f"for one sequence pass [X]; X looks like {form}"
        )
    if isinstance(sequence, tuple):
        if sequence and all(isinstance(token, str) for token in sequence):
            raise TypeError(
                f"X[{i}] is {shorten(sequence)}, a tuple of strings, which is how one token is written, but a list "
                f"of tokens was expected; for one sequence pass [X]; X looks like {form}"
            )
        return sequence
    if _is_frame(sequence):
        raise TypeError(f"X[{i}] is a data frame, but a list of tokens was expected; X looks like {form}")
    try:
        return list(sequence)
    except TypeError:
        raise TypeError(
            f"X[{i}] is {shorten(sequence)}, but a list of tokens was expected; X looks like {form}"
        ) from None


def _is_frame(X) -> bool:
    # Iterating over a frame gives its column names: they'd pass for tokens.
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "to_pandas"))


def token_dicts(X: SequenceMatrix, names) -> list[list[dict[str, float]]]:
    """Each token as ``{feature name: value}``, zeros left out.

    `names` has the length of the columns of `X` and takes index arrays.
    """
    if not isinstance(X, SequenceMatrix):
        raise TypeError(f"expected a SequenceMatrix, got {type(X).__name__}")
    if X.n_features != len(names):
        raise ValueError(f"X has {X.n_features} features, but this vectorizer was fitted with {len(names)}")
    corpus = []
    for rows in X:
        rows = sp.csr_array(rows)
        shown = names[rows.indices].tolist()
        values = rows.data.tolist()
        ends = rows.indptr.tolist()
        corpus.append(
            [
                {name: value for name, value in zip(shown[a:b], values[a:b], strict=True) if value != 0}
                for a, b in pairwise(ends)
            ]
        )
    return corpus


def check_dtype(dtype) -> np.dtype:
    """Judge the parameter `dtype` of a vectorizer."""
    try:
        checked = np.dtype(dtype)
    except TypeError:
        checked = np.dtype(object)
    if checked not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InvalidParameterError(f"dtype must be np.float32 or np.float64, got {dtype!r}")
    return checked


def check_separator(separator: str) -> None:
    """Judge the parameter `separator` of a vectorizer: the backslash escapes it in names."""
    if not separator or "\\" in separator:
        raise InvalidParameterError(f"separator must be a text without a backslash, got {separator!r}")
