# SPDX-License-Identifier: BSD-3-Clause
"""Small corpora in every form that an estimator may take, and which of them it does take.

A new kind of input is one more entry in `KINDS`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from .tools import prepared

__all__ = ["KINDS", "Corpus", "corpora", "first_of", "main_corpora", "taken"]

#: Tokens of the sequences; no two sequences of the corpus are alike.
_LENGTHS = (3, 2, 1, 4, 2, 3, 1, 5, 2, 4, 1, 3)
_WORDS = ("Ana", "Bo", "Cy", "met", "left", "rain", "and", "sang")


@dataclass(frozen=True)
class Corpus:
    """Sequences and their labels.

    Attributes
    ----------
    kind : str
        Key of `KINDS`.
    X : list
        One entry a sequence.
    y : list of lists of str
        Chunk labels: half of the checks look at chunks.
    empty : object
        What stands for an empty sequence.
    """

    kind: str
    X: list
    y: list[list[str]]
    empty: object

    def part(self, indices) -> Corpus:
        """Some of the sequences."""
        return Corpus(self.kind, [self.X[i] for i in indices], [self.y[i] for i in indices], self.empty)

    @property
    def lengths(self) -> list[int]:
        """Tokens of each sequence."""
        return [len(labels) for labels in self.y]


def _words() -> list[list[str]]:
    rng = np.random.RandomState(3)
    return [[_WORDS[k] for k in rng.randint(len(_WORDS), size=n)] for n in _LENGTHS]


def _part_of_speech(word: str) -> str:
    return "N" if word.istitle() or word == "rain" else "V"


def _features(words: list[str]) -> np.ndarray:
    """Whole numbers, so that every dtype holds them; the first column says the label."""
    rows = [[word.istitle(), len(word) - 3, _WORDS.index(word) % 3 - 1] for word in words]
    return np.array(rows, dtype=np.float64).reshape(len(words), 3)


def _signal(words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """A recording and the range of samples of each token, which sounds as its word says."""
    size = 480
    t = np.arange(size)
    parts = [np.sin(t * (0.1 + 0.2 * _WORDS.index(word))) + 0.01 * np.cos(t * t % 7) for word in words]
    stop = size * np.arange(1, len(words) + 1)
    return np.concatenate([np.zeros(0), *parts]), np.stack([stop - size, stop], axis=1).astype(np.int64)


#: From the words of a sequence to the sequence.
KINDS: dict[str, Callable[[list[str]], object]] = {
    "numbers": _features,
    "dicts": lambda words: [{"word": w, "pos": _part_of_speech(w), "length": len(w)} for w in words],
    "strings": lambda words: [[f"word={w}", _part_of_speech(w)] for w in words],
    "words": lambda words: list(words),
    "columns": lambda words: [(w, _part_of_speech(w)) for w in words],
    "signals": _signal,
}


def corpora() -> dict[str, Corpus]:
    """Every corpus by its kind; made anew, so that a check may spoil one."""
    words = _words()
    y = [["B-PER" if word.istitle() else "O" for word in own] for own in words]
    return {
        kind: Corpus(kind, [make(own) for own in words], [list(own) for own in y], make([]))
        for kind, make in KINDS.items()
    }


_taken: WeakKeyDictionary = WeakKeyDictionary()


def taken(estimator) -> list[Corpus]:
    """The corpora that an estimator can be fitted on and answers about, found by trying.

    Raises
    ------
    AssertionError
        If there is none; it says what the estimator raised.
    """
    kinds = _taken.get(estimator)
    if kinds is None:
        kinds, refused = [], []
        for kind, corpus in corpora().items():
            try:
                _try(estimator, corpus)
            except Exception as error:
                refused.append(f"{kind}: {type(error).__name__}: {error}")
            else:
                kinds.append(kind)
        assert kinds, f"{type(estimator).__name__} can be fitted on none of\n" + "\n".join(refused)
        _taken[estimator] = kinds
    every = corpora()
    return [every[kind] for kind in kinds]


def _try(estimator, corpus: Corpus) -> None:
    est = prepared(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est.fit(corpus.X, corpus.y)
        # What learns nothing looks at its input here only.
        (est.predict if hasattr(est, "predict") else est.transform)(corpus.X)


def main_corpora(estimator) -> list[Corpus]:
    """One corpus of numbers and one of something else, as far as the estimator takes them."""
    found = taken(estimator)
    return [c for c in found if c.kind == "numbers"] + [c for c in found if c.kind != "numbers"][:1]


def first_of(estimator, *kinds: str) -> Corpus | None:
    """The first corpus of these kinds that the estimator takes."""
    return next((c for c in taken(estimator) if c.kind in kinds), None)
