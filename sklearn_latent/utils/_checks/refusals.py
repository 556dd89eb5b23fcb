# SPDX-License-Identifier: BSD-3-Clause
"""What can't be meant is refused: one clear error, a ValueError or a TypeError, that names the place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from ..._sequences import SequenceMatrix
from .corpora import Corpus, first_of, taken
from .tools import answers, fitted, frame_libraries, per_sequence, prepared, refused

__all__ = ["common", "of_taggers"]


def _refuse_everywhere(name: str, estimator, corpus: Corpus, X, what: str, *mentions: str, y=None) -> None:
    """By `fit`, which leaves an unfitted estimator, and by every method of a fitted one."""
    y = corpus.y if y is None else y
    est = prepared(estimator)
    if get_tags(estimator).requires_fit:  # what learns nothing doesn't look at what it is fitted on
        before = set(vars(est))
        refused(lambda: est.fit(X, y), f"{name}.fit on {what}", *mentions)
        assert set(vars(est)) == before, f"{name}: a failed fit leaves {sorted(set(vars(est)) - before)}"
    est = fitted(estimator, corpus)
    for method in per_sequence(est):
        refused(lambda method=method: answers(est, X, y, [method]), f"{name}.{method} on {what}", *mentions)


def _spoilt(corpus: Corpus, value: float) -> list[np.ndarray]:
    X = [x.copy() for x in corpus.X]
    X[3][2, 1] = value
    return X


def check_nan_and_infinity(name, estimator):
    """NaN and infinity in X: ValueError with sequence, token and feature; dense, sparse, in float32."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    tags = get_tags(estimator).input_tags
    for value in (np.inf, -np.inf) if tags.allow_nan else (np.nan, np.inf, -np.inf):
        X = _spoilt(corpus, value)
        forms = {
            "dense": X,
            "float32": [x.astype(np.float32) for x in X],
            "SequenceMatrix": SequenceMatrix(np.concatenate(X), [len(x) for x in X]),
            **({"sparse": [sp.csr_array(x) for x in X]} if tags.sparse else {}),
        }
        for form, bad in forms.items():
            _refuse_everywhere(name, estimator, corpus, bad, f"{value} in {form} X", "X[3]", "token 2", "feature 1")


def check_nan_in_tokens(name, estimator):
    """A number of a token that is NaN: the place is named."""
    corpus = first_of(estimator, "dicts")
    if corpus is None:
        return
    est = fitted(estimator, corpus)
    if not _sees_lengths(est, corpus):
        return
    for value in (float("nan"), float("inf")):
        X = [*corpus.X[:3], [dict(corpus.X[3][0], length=value), *corpus.X[3][1:]], *corpus.X[4:]]
        _refuse_everywhere(name, estimator, corpus, X, f"the number {value} in a token", "3", "0")


def _sees_lengths(est, corpus: Corpus) -> bool:
    """Whether an estimator looks at the numbers of tokens at all."""
    other = [[dict(token, length=70.0) for token in x] for x in corpus.X]
    method = per_sequence(est)[-1]
    a, b = answers(est, corpus.X, corpus.y, [method]), answers(est, other, corpus.y, [method])
    return repr([_plain(e) for e in a[method]]) != repr([_plain(e) for e in b[method]])


def _plain(entry) -> Any:
    return entry.toarray().tolist() if sp.issparse(entry) else np.asarray(entry, dtype=object).tolist()


def _wrong_corpora() -> Iterator[tuple[str, Any]]:
    """What nobody can mean by a corpus."""
    yield "a bare matrix", np.eye(4)
    yield "a bare sparse matrix", sp.csr_array(np.eye(4))
    yield "a vector", np.arange(4.0)
    yield "four dimensions", np.zeros((1, 2, 2, 2))
    yield "a number", 3
    yield "None", None
    yield "a string", "the cat sat"
    yield "a mapping", {"word": "the"}
    yield "a flat list of mappings", [{"word": "the"}, {"word": "cat"}]
    yield "a flat list of numbers", [1.0, 2.0]
    yield "one sequence of rows", [[1.0, 2.0], [3.0, 4.0]]
    yield "strings for lists of tokens", ["the cat", "sat"]
    yield "a corpus in a list", [SequenceMatrix(np.eye(3), [3])]
    yield "None for a sequence", [None]
    yield "complex numbers", [np.eye(3) * 1j]
    yield "rows of different lengths", [[[1.0, 2.0, 3.0], [1.0]]]


def check_wrong_corpora(name, estimator):
    """A bare matrix, a flat list, a string and the like are refused, each with a message."""
    corpus = taken(estimator)[0]
    for what, X in _wrong_corpora():
        y = [["O"]] * (len(X) if hasattr(X, "__len__") and not sp.issparse(X) else 1)
        _refuse_everywhere(name, estimator, corpus, X, what, y=y)


def check_single_sequence(name, estimator):
    """One sequence in the place of a corpus: the message shows how to pass it."""
    corpus = first_of(estimator, "numbers")
    if corpus is not None:
        _refuse_everywhere(name, estimator, corpus, corpus.X[3], "one sequence", "[X]", "SequenceMatrix(X, lengths)")
    corpus = first_of(estimator, "dicts")
    if corpus is not None:
        _refuse_everywhere(name, estimator, corpus, corpus.X[3], "one sequence of tokens", "[X]")


def check_frames(name, estimator):
    """A data frame of tokens does not say where sequences end: the message names the way."""
    for library in frame_libraries():
        frame = library.DataFrame({"word": ["Ana", "met"], "length": [3, 3]})
        for corpus in taken(estimator):
            way = () if corpus.kind == "signals" else ("from_frame",)  # no column holds recordings
            _refuse_everywhere(name, estimator, corpus, frame, f"a data frame of {library.__name__}", *way)


def check_mixed_sequences(name, estimator):
    """Numbers and tokens in one corpus, or matrices of different widths."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    wide = [*corpus.X[:2], np.zeros((1, 5)), *corpus.X[3:]]
    _refuse_everywhere(name, estimator, corpus, wide, "matrices of different widths", "X[2]", "5", "3")
    mixed = [*corpus.X[:2], [{"word": "rain"}], *corpus.X[3:]]
    _refuse_everywhere(name, estimator, corpus, mixed, "numbers and tokens", "X[2]")


def check_lengths_agree(name, estimator):
    """Items and labels of different number: the first sequence that differs and both lengths."""
    for corpus in taken(estimator):
        short = [*corpus.y[:3], corpus.y[3][:-1], *corpus.y[4:]]
        methods = [m for m in ("fit", "score", "log_likelihood") if hasattr(estimator, m)]
        for method in methods:
            est = prepared(estimator) if method == "fit" else fitted(estimator, corpus)

            def call(y, method=method, est=est, corpus=corpus):
                getattr(est, method)(corpus.X, y)

            refused(lambda call=call, y=short: call(y), f"{name}.{method} with a label missing", "X[3]", "4", "3",
                    errors=(ValueError,))  # fmt: skip
            for y in (corpus.y[:-1], [*corpus.y, ["O"]]):
                refused(
                    lambda call=call, y=y: call(y), f"{name}.{method} on {len(corpus.X)} sequences, {len(y)} of labels",
                    str(len(corpus.X)), str(len(y)), errors=(ValueError,),
                )  # fmt: skip


def check_wrong_labels(name, estimator):
    """Labels of mixed kinds, NaN, fractions, lists; flat labels; none; no label at all."""
    corpus = taken(estimator)[0]
    numbers = [[float(label == "O") for label in own] for own in corpus.y]
    bad = {
        "labels of mixed kinds": (_with(corpus.y, 7), "y[3][2]"),
        "NaN for a label": (_with(corpus.y, float("nan")), "y[3][2]"),
        "a fraction for a label": (_with(numbers, 1.5), "y[3][2]"),
        "a list for a label": (_with(corpus.y, ["O"]), "y[3][2]"),
        "complex labels": (_with([[1j] * len(own) for own in corpus.y], 2j), "y[0][0]"),
        "no label": ([[None] * len(own) for own in corpus.y], "label"),
        "None for y": (None, "y"),
        "flat labels": ([label for own in corpus.y for label in own], "y[0]"),
        "a string for y": ("BOB", "y"),
        "a vector for y": (np.zeros(len(corpus.X)), "y"),
    }
    for library in frame_libraries():
        bad[f"a frame of {library.__name__} for y"] = (library.DataFrame({"label": ["O"]}), "from_frame")
    for what, (y, mention) in bad.items():
        est = prepared(estimator)
        before = set(vars(est))
        refused(lambda est=est, y=y: est.fit(corpus.X, y), f"{name}.fit with {what}", mention)
        assert set(vars(est)) == before, f"{name}: a failed fit leaves {sorted(set(vars(est)) - before)}"


def _with(y: list[list], label) -> list[list]:
    return [*y[:3], [*y[3][:2], label, *y[3][3:]], *y[4:]]


def check_nothing_to_learn_from(name, estimator):
    """No sequence, or none with a token: ValueError, as scikit-learn has it for empty data."""
    for corpus in taken(estimator):
        for X, y in (([], []), ([corpus.empty], [[]]), ([corpus.empty] * 3, [[]] * 3)):
            refused(
                lambda X=X, y=y: prepared(estimator).fit(X, y), f"{name}.fit on {len(X)} sequences without a token",
                errors=(ValueError,),
            )  # fmt: skip


common = [
    check_nan_and_infinity,
    check_nan_in_tokens,
    check_wrong_corpora,
    check_single_sequence,
    check_frames,
    check_mixed_sequences,
]
of_taggers = [check_lengths_agree, check_wrong_labels, check_nothing_to_learn_from]
