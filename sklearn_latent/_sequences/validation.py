# SPDX-License-Identifier: BSD-3-Clause
"""The one place that judges what users pass as X and y.

Every accepted form of X becomes a `SequenceMatrix` or, where tokens still have to be vectorized, a list of lists of
tokens; every accepted form of y becomes a list of lists of labels. Errors name the sequence, the token and the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp

from .labels import LabelSequences, flatten_labels
from .matrix import SequenceMatrix
from .stream import TokenStream
from .words import shorten

__all__ = [
    "as_corpus",
    "as_corpus_or_stream",
    "as_features",
    "check_finite",
    "check_labels",
    "check_n_features",
    "check_sample_weight",
    "check_spans",
]

_FORMS = (
    "X must hold one entry a sequence: a SequenceMatrix, a list of 2-D arrays (T, n_features), "
    "a 3-D array, or a list of lists of tokens"
)
_ONE = "for a single sequence pass [X], for stacked rows SequenceMatrix(X, lengths)"


def as_corpus(X: Any) -> SequenceMatrix | list[list]:
    """Turn every accepted form of X into a `SequenceMatrix` or a list of lists of tokens.

    Parameters
    ----------
    X : SequenceMatrix, list of 2-D arrays, 3-D array, or list of lists of tokens
        Lists may be tuples, Series, 1-D object arrays or iterators; an iterator is consumed once.

    Returns
    -------
    SequenceMatrix or list of list
        Tokens are left as they are: what a token may be is for the vectorizer to say. If X has no token at all,
        a list.

    Raises
    ------
    TypeError
        If X is one sequence, a flat list of tokens, a string, or a data frame; the message shows the right form.
    ValueError
        If the sequences' matrices differ in their number of features.
    """
    if isinstance(X, SequenceMatrix):
        return X
    if isinstance(X, LabelSequences):
        X = list(X)
    if sp.issparse(X):
        raise TypeError(f"X is one sparse matrix of shape {X.shape}; {_FORMS}; {_ONE}")
    if hasattr(X, "columns") and hasattr(X, "shape"):
        raise TypeError(
            "X is a data frame of tokens; group its rows into sequences with "
            "SequenceMatrix.from_frame(df, group, features), or pass a list with one frame's values a sequence"
        )
    if isinstance(X, (str, bytes)):
        raise TypeError(
            f"X is a string, {X[:60]!r}, but a list of sequences of tokens belongs here, such as [['the', 'cat']]"
        )
    if isinstance(X, Mapping):
        raise TypeError(f"X is a single mapping; {_FORMS}, such as [[{{'word': 'the'}}, {{'word': 'cat'}}]]")
    if isinstance(X, np.ndarray) or (hasattr(X, "__array__") and hasattr(X, "ndim") and not hasattr(X, "iloc")):
        X = np.asarray(X)
        if X.dtype != object:
            return _from_array(X)
        if X.ndim == 0:
            raise TypeError(f"X is a single object; {_FORMS}")
    elif not isinstance(X, Iterable):
        raise TypeError(f"X is a {type(X).__name__}; {_FORMS}")
    return _from_list(list(X))


def as_corpus_or_stream(X: Any, stream: bool = True) -> SequenceMatrix | list[list] | TokenStream:
    """As `as_corpus`, but an iterator over sequences of tokens becomes a stream, so that not all have to be held.

    Parameters
    ----------
    X : as for `as_corpus`
    stream : bool
        Whether who makes features of the tokens reads them just once; if not, a list.

    Returns
    -------
    SequenceMatrix, list of list, or TokenStream
    """
    if not (stream and isinstance(X, Iterator)):
        return as_corpus(X)
    head = []
    for entry in X:
        entry = _materialised(entry)
        head.append(entry)
        kind = _kind(entry, len(head) - 1)
        if kind == "numbers":
            return _from_list([*head, *X])
        if kind == "tokens":
            return TokenStream(head, X, _as_tokens)
    return _from_list(head)


def _as_tokens(entry: Any, i: int, first: int) -> list:
    """Entry `i` of a stream as a list of tokens; entry `first` was the first that had some."""
    entry = _materialised(entry)
    if _kind(entry, i) == "numbers":
        raise TypeError(f"X mixes kinds of sequences: X[{first}] is a sequence of tokens, X[{i}] of numbers")
    return list(entry)


def _materialised(entry: Any) -> Any:
    """Turn a sequence that is some iterable into a list; leave arrays, frames, and what is no sequence."""
    if (
        isinstance(entry, Iterable)
        and not isinstance(entry, (str, bytes, Mapping, list, tuple, np.ndarray))
        and not sp.issparse(entry)
        and not hasattr(entry, "__array__")
    ):
        return list(entry)
    return entry


def as_features(X: Any, lengths: list[int], vectorizer: Any) -> SequenceMatrix:
    """Judge what a vectorizer made of tokens: a `SequenceMatrix` over the same sequences, or what stands for one.

    Raises
    ------
    TypeError
        If it is no matrix a sequence.
    ValueError
        If its sequences are of other lengths.
    """
    who = type(vectorizer).__name__
    corpus = as_corpus(X)
    if not isinstance(corpus, SequenceMatrix):
        raise TypeError(
            f"{who} must turn tokens into a SequenceMatrix or a list of (T, n_features) arrays, but gave a "
            f"{type(X).__name__} without a matrix"
        )
    made = corpus.lengths.tolist()
    if len(made) != len(lengths):
        raise ValueError(f"{who} must keep the number of sequences: it made {len(made)} of {len(lengths)}")
    if made != lengths:
        i = next(i for i, (a, b) in enumerate(zip(made, lengths, strict=True)) if a != b)
        raise ValueError(
            f"{who} must keep the number of tokens of every sequence: it made {made[i]} of the {lengths[i]} of X[{i}]"
        )
    return corpus


def _from_array(X: np.ndarray) -> SequenceMatrix:
    if X.dtype.kind not in "biuf":
        raise TypeError(f"X is an array of {X.dtype} with {X.ndim} dimensions; {_FORMS}")
    if X.ndim != 3:
        hint = _ONE if X.ndim == 2 else "one sequence is a 2-D array, a corpus a list of them"
        raise TypeError(f"X is one array of shape {X.shape}; {_FORMS}; {hint}")
    n, length, n_features = X.shape
    return SequenceMatrix(X.reshape(n * length, n_features), np.full(n, length, dtype=np.int64))


def _from_list(entries: list) -> SequenceMatrix | list[list]:
    kinds: list[str] = []
    found: dict[str, int] = {}  # where each kind comes first
    for i, entry in enumerate(entries):
        if type(entry) is not list:
            entries[i] = entry = _materialised(entry)
        kind = _kind(entry, i)
        kinds.append(kind)
        if kind not in found and kind != "empty":
            found[kind] = i
    if len(found) > 1:
        (a, i), (b, j) = sorted(found.items(), key=lambda item: item[1])[:2]
        raise TypeError(f"X mixes kinds of sequences: X[{i}] is a sequence of {a}, X[{j}] of {b}")
    if found.keys() == {"numbers"}:
        return _stack(entries, kinds)
    return [entry if type(entry) is list else list(entry) for entry in entries]


def _kind(entry: Any, i: int) -> str:
    """Classify what stands for a sequence: "numbers" (a matrix), "tokens", or "empty"."""
    if type(entry) is list and entry and type(_first_of(entry[0])) is str:
        return "tokens"  # as most are: the rest takes longer than all else that is done to a short sequence
    where = f"X[{i}]"
    if sp.issparse(entry):  # before the mappings: SciPy's dok arrays are dicts
        if entry.ndim != 2:
            raise TypeError(f"{where} is a sparse array of {entry.ndim} dimensions; a sequence is 2-D (T, n_features)")
        return "numbers" if any(entry.shape) else "empty"
    if isinstance(entry, SequenceMatrix):
        raise TypeError(f"{where} is a SequenceMatrix, which is a whole corpus: pass it as X")
    if isinstance(entry, str):
        raise TypeError(
            f"{where} is the string {shorten(entry)}, but a list of tokens belongs there, "
            f"such as X = [{shorten(entry.split()[:3] or [''])}]"
        )
    if isinstance(entry, (bytes, Mapping)) or entry is None or isinstance(entry, Number):
        raise TypeError(
            f"{where} is {shorten(entry)} ({type(entry).__name__}), but a sequence belongs there: a list of tokens or "
            "a 2-D array; X is a list of sequences, for one sequence pass [X]"
        )
    if hasattr(entry, "columns") and hasattr(entry, "to_numpy"):
        return "numbers"
    if isinstance(entry, np.ndarray) and entry.dtype != object:
        if entry.dtype.kind in "US" and entry.ndim == 1:
            return "tokens" if len(entry) else "empty"
        if entry.shape in ((0,), (0, 0)):
            return "empty"
        if entry.ndim != 2:
            raise TypeError(f"{where} is an array of shape {entry.shape}; a sequence is a 2-D array (T, n_features)")
        if entry.dtype.kind not in "biuf":
            raise TypeError(f"{where} is an array of {entry.dtype}; features must be real numbers")
        return "numbers"
    if getattr(entry, "ndim", 0) == 2 and hasattr(
        entry, "__array__"
    ):  # objects that are numbers; other libraries' arrays
        entry = np.asarray(entry)
        if entry.size and isinstance(entry.flat[0], Number):
            return "numbers"
    if not isinstance(entry, Iterable):
        raise TypeError(f"{where} is a {type(entry).__name__}, but a sequence belongs there")
    tokens = entry if type(entry) is list else list(entry)
    if not tokens:
        return "empty"
    first = tokens[0]
    if isinstance(first, Number) and not isinstance(first, bool):
        raise TypeError(
            f"{where} is a list of numbers; a sequence is a 2-D array (T, n_features), for a single sequence pass [X]"
        )
    if isinstance(first, np.ndarray) and first.dtype.kind in "biuf":
        return "numbers"
    if isinstance(first, (list, tuple)) and first and all(isinstance(v, (Number, np.bool_)) for v in first):
        return "numbers"
    return "tokens"


def _first_of(token: Any) -> Any:
    """First column of a token that is a tuple of columns; else the token itself."""
    return token[0] if type(token) is tuple and token else token


def _stack(entries: list, kinds: list[str]) -> SequenceMatrix:
    """Put matrices on top of one another; empty entries take the width of the others."""
    matrices, width = [], None
    for i, (entry, kind) in enumerate(zip(entries, kinds, strict=True)):
        if kind == "empty":
            matrices.append(None)
            continue
        matrix = entry if sp.issparse(entry) else _dense(entry, i)
        if width is not None and matrix.shape[1] != width[0]:
            if matrix.shape[0] == 0 and matrix.shape[1] == 0:
                matrices.append(None)
                continue
            raise ValueError(f"X[{i}] has {matrix.shape[1]} features, but X[{width[1]}] has {width[0]}")
        if width is None and matrix.shape[0] + matrix.shape[1]:
            width = (matrix.shape[1], i)
        matrices.append(matrix)
    lengths = [0 if m is None else m.shape[0] for m in matrices]
    n_features = 0 if width is None else width[0]
    present = [m for m in matrices if m is not None and m.shape[1] == n_features]
    if any(sp.issparse(m) for m in present):
        values = sp.vstack([sp.csr_array(m) for m in present], format="csr")
    else:
        values = np.concatenate(present)
    return SequenceMatrix(values, lengths)


def _dense(entry: Any, i: int) -> np.ndarray:
    try:
        matrix = np.asarray(entry.to_numpy() if hasattr(entry, "columns") else entry)
        if matrix.dtype == object:
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"X[{i}] is not a matrix of numbers (T, n_features): its rows differ in length or hold something else"
        ) from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(f"X[{i}] must be a 2-D array of real numbers, got shape {matrix.shape}, dtype {matrix.dtype}")
    return matrix


def check_finite(X: SequenceMatrix, *, allow_nan: bool = False) -> None:
    """Refuse NaN (unless allowed) and infinity, naming the first sequence, token and feature.

    Raises
    ------
    ValueError
    """
    if X.dtype.kind != "f":
        return
    values: Any = X.values
    stored = values.data if sp.issparse(values) else values
    # A sum is finite if all terms are, bar overflow: the full look is for the rare other case.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(stored.sum(dtype=np.float64)):
            return
    bad = np.isinf(stored) if allow_nan else ~np.isfinite(stored)
    if not bad.any():
        return
    if sp.issparse(values):
        k = int(np.flatnonzero(bad)[0])
        row, feature, value = (
            int(np.searchsorted(values.indptr, k, side="right")) - 1,
            int(values.indices[k]),
            stored[k],
        )
    else:
        row, feature = (int(v) for v in np.argwhere(bad)[0])
        value = stored[row, feature]
    i = int(np.searchsorted(X.offsets, row, side="right")) - 1
    name = "" if X.feature_names is None else f" ({X.feature_names[feature]!r})"
    due = "not be infinite" if allow_nan else "be finite"
    raise ValueError(
        f"X[{i}], token {row - int(X.offsets[i])}, feature {feature}{name} is {value}: features must {due}"
    )


def check_n_features(X: SequenceMatrix, expected: int, who: str) -> None:
    """Refuse another number of features than at fit.

    Raises
    ------
    ValueError
    """
    if X.n_features != expected:
        raise ValueError(f"X has {X.n_features} features, but {who} was fitted with {expected} features")


def check_labels(y: Any, lengths: np.ndarray, name: str = "y") -> list[list]:
    """Lists of labels, one a sequence, checked against the lengths of X; messages call them `name`.

    Raises
    ------
    TypeError
        If y is not one list of labels a sequence.
    ValueError
        If the numbers of sequences, or the lengths of one, differ; names the first and both lengths.
    """
    if y is None:
        raise ValueError(f"{name} is None: labels are required, one list a sequence")
    labels = flatten_labels(y, name)
    for i, (own, length) in enumerate(zip(labels, lengths.tolist(), strict=False)):
        if len(own) != length:
            raise ValueError(f"X[{i}] has {length} tokens but {name}[{i}] has {len(own)} labels")
    if len(labels) != len(lengths):
        i = min(len(labels), len(lengths))
        raise ValueError(
            f"X has {len(lengths)} sequences but {name} has {len(labels)}: "
            f"the first without a counterpart is number {i}"
        )
    return labels


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray:
    """One finite, non-negative float64 weight a sequence; None: ones.

    Raises
    ------
    ValueError
    """
    if sample_weight is None:
        return np.ones(n)
    try:
        weight = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"sample_weight must be numbers, one a sequence ({error})") from None
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have one weight a sequence, shape ({n},); got shape {weight.shape}")
    for wrong, what in ((~np.isfinite(weight), "not finite"), (weight < 0, "negative")):
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            raise ValueError(f"sample_weight[{i}] is {weight[i]}, which is {what}")
    return weight


def check_spans(spans: Any, lengths: np.ndarray) -> list[list[tuple[int, int, str]]]:
    """Lists of (start, stop, type), one a sequence, each inside its sequence.

    Raises
    ------
    TypeError
        If `spans` is not one list a sequence.
    ValueError
        If a span is no such triple or not inside its sequence; it is named.
    """
    if isinstance(spans, (str, bytes, Mapping)) or not isinstance(spans, Iterable):
        raise TypeError(f"spans must hold one list of (start, stop, type) a sequence, got {type(spans).__name__}")
    spans = list(spans)
    if len(spans) != len(lengths):
        raise ValueError(f"X has {len(lengths)} sequences but spans has {len(spans)}")
    out = []
    for i, (own, length) in enumerate(zip(spans, lengths.tolist(), strict=True)):
        if isinstance(own, (str, bytes, Mapping)) or not isinstance(own, Iterable):
            raise TypeError(f"spans[{i}] is {shorten(own)}, not a list of (start, stop, type)")
        checked = []
        for k, span in enumerate(own):
            shape = isinstance(span, (tuple, list)) and len(span) == 3 and isinstance(span[2], str)
            if not shape or not all(isinstance(v, (int, np.integer)) for v in span[:2]):
                raise ValueError(f"spans[{i}][{k}] is {shorten(span)}, not (start, stop, type)")
            if not 0 <= span[0] < span[1] <= length:
                raise ValueError(f"spans[{i}][{k}] is {span!r}, which is not inside the {length} tokens of X[{i}]")
            checked.append((int(span[0]), int(span[1]), span[2]))
        out.append(checked)
    return out
