# SPDX-License-Identifier: BSD-3-Clause
"""The splits that models are judged by: letters by the folds given and by word, phones by speaker."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from sklearn_latent import SequenceMatrix
from sklearn_latent.datasets import fetch_ocr_letters, fetch_timit_sample, load_digit_sequences
from sklearn_latent.feature_extraction import PerToken, PhoneSegments

__all__ = ["TASKS", "Part", "Task"]

#: Sentences that all speakers read: models would learn them by heart.
_READ_BY_ALL = ("sa1", "sa2")


@dataclass(frozen=True)
class Part:
    """What a model is trained on, and what it is judged by.

    Attributes
    ----------
    X, X_test : SequenceMatrix
    y, y_test : list of list
    """

    X: SequenceMatrix
    y: list
    X_test: SequenceMatrix
    y_test: list


@dataclass(frozen=True)
class Task:
    """A corpus and its cut into folds.

    Attributes
    ----------
    name : {"folds", "words", "speakers"}
    title : str
    n_folds : int
    """

    name: str
    title: str
    n_folds: int

    def folds(self, *, quick: bool) -> int:
        """Number of folds."""
        return 3 if quick else self.n_folds

    def part(self, fold: int, *, quick: bool, dev: bool, constant: bool = False) -> Part:
        """The data of one fold.

        Parameters
        ----------
        fold : int
            The one to judge by.
        quick : bool
            The digits shipped inside in place of the task's corpus.
        dev : bool
            Judge by the fold after it, which is not trained on; `fold` itself is left out altogether.
        constant : bool
            Add a column of ones, as linear models need to have a weight of the label alone.
        """
        X, y, of = _read(self.name, self.n_folds, quick)
        judged = (fold + 1) % self.folds(quick=quick) if dev else fold
        test = np.flatnonzero(of == judged)
        train = np.flatnonzero((of != fold) & (of != judged))
        X, X_test = X[train], X[test]
        if self.name == "speakers" and not quick:
            scaler = PerToken(StandardScaler()).fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
        if constant:
            X, X_test = (side.map(lambda rows: np.hstack([rows, np.ones((len(rows), 1))])) for side in (X, X_test))
        return Part(X, [y[i] for i in train], X_test, [y[i] for i in test])


@functools.lru_cache(maxsize=2)
def _read(name: str, n_folds: int, quick: bool) -> tuple[SequenceMatrix, list, np.ndarray]:
    """Features, labels, and the fold of each sequence."""
    if quick:
        digits = load_digit_sequences(subset="all")
        # A part of the grammar for a word or a speaker.
        groups = ["".join(map(str, own[-2:])) for own in digits.target]
        X, y, fold = digits.data.map(lambda values: values / 16.0), digits.target, np.arange(len(digits.data)) % 3
        return X, list(y), fold if name == "folds" else _by_group(groups, 3)
    if name == "speakers":
        speech = fetch_timit_sample()
        kept = np.flatnonzero(~np.isin(speech.utterance, _READ_BY_ALL))
        X = PhoneSegments().fit_transform([speech.data[i] for i in kept])
        return X, [speech.target[i] for i in kept], _by_group(speech.groups[kept], n_folds)
    words = fetch_ocr_letters()
    X = words.data.map(lambda pixels: pixels.astype(np.float64))
    return X, list(words.target), words.fold if name == "folds" else _by_group(words.groups, n_folds)


def _by_group(groups, n_folds: int) -> np.ndarray:
    """A fold for each sequence, the same for all of a group."""
    fold = np.empty(len(groups), dtype=np.int64)
    for k, (_, test) in enumerate(GroupKFold(n_folds).split(fold, groups=groups)):
        fold[test] = k
    return fold


TASKS = {
    "folds": Task("folds", "OCR letters, the folds given", 10),
    "words": Task("words", "OCR letters, words of the test part not in the training part", 5),
    "speakers": Task("speakers", "Sample of TIMIT, by speaker", 4),
}
