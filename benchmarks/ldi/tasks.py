# SPDX-License-Identifier: BSD-3-Clause
"""The two tasks of Sun and Tsujii (2009) and one of more labels: data, settings, the part kept for choices."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sklearn_latent.datasets import fetch_conll2000, fetch_jnlpba, load_chunks

__all__ = ["COLUMNS", "STATES", "TASKS", "TEMPLATES", "Data", "Task"]

#: Types of chunk that stand for the classes of names in quick mode; all nine would make it slow.
_QUICK_TYPES = ("NP", "VP", "PP")
#: One in so many sequences of the training part is held out.
_HELD_OUT = 3


def _templates(column: int, name: str, *windows: tuple[int, ...]) -> list[str]:
    """Templates in CRF++'s notation, which fill in what lies outside of the sequence, where presets skip it."""
    return [
        "|".join(f"{name}[{row}]" for row in rows) + "=" + "|".join(f"%x[{row},{column}]" for row in rows)
        for rows in windows
    ]


#: Of the tokens that `Task.data` gives.
COLUMNS = ("word", "pos", "shape", "suffix2", "suffix3", "suffix4", "prefix3")
_WINDOW = ((-2,), (-1,), (0,), (1,), (2,))
_PAIRS = ((-2, -1), (-1, 0), (0, 1), (1, 2))
_TRIPLES = ((-2, -1, 0), (-1, 0, 1), (0, 1, 2))
_FOURS = ((-2, -1, 0, 1), (-1, 0, 1, 2))
_WORDS = _templates(0, "w", *_WINDOW, (-1, 0), (0, 1))
_POS = _templates(1, "pos", *_WINDOW, *_PAIRS, *_TRIPLES, *_FOURS)
_SPELLING = [
    *_templates(2, "shape", *_WINDOW, (-1, 0), (0, 1)),
    *_templates(3, "suffix2", (0,)),
    *_templates(4, "suffix3", (-1,), (0,), (1,)),
    *_templates(5, "suffix4", (0,)),
    *_templates(6, "prefix3", (0,)),
]
#: Words together with parts of speech.
_MIXED = [
    "w[0]|pos[0]=%x[0,0]|%x[0,1]",
    "w[0]|pos[1]=%x[0,0]|%x[1,1]",
    "pos[-1]|w[0]=%x[-1,1]|%x[0,0]",
    "w[-1]|pos[0]=%x[-1,0]|%x[0,1]",
    "pos[0]|w[1]=%x[0,1]|%x[1,0]",
    "w[0]|pos[0]|pos[1]=%x[0,0]|%x[0,1]|%x[1,1]",
    "pos[-1]|w[0]|pos[0]=%x[-1,1]|%x[0,0]|%x[0,1]",
]

#: What features are made of, by name: presets of `TemplateVectorizer`, or templates of ours.
TEMPLATES: dict[str, str | list[str]] = {
    "np-chunking": "np-chunking",
    "bio-ner": "bio-ner",
    "chunking": "chunking",
    "words": _WORDS,
    "rich": [*_WORDS, *_POS, *_MIXED, *_SPELLING],
}

#: Latent states by label, by name; labels that are not there have one.
STATES = {"by label": {"B-NP": 2, "I-NP": 4, "O": 4, "B-VP": 2, "I-VP": 2}}


@dataclass(frozen=True)
class Data:
    """Tokens and labels to train on, and those to judge by.

    Attributes
    ----------
    train, test : list of list of tuple of str
    train_labels, test_labels : list of list of str
    """

    train: list
    train_labels: list
    test: list
    test_labels: list


@dataclass(frozen=True)
class Task:
    """A task, and how its models are trained unless one asks for something else.

    Attributes
    ----------
    name : {"np", "np5", "bio", "chunks", "chunks4"}
    title : str
    tokens : str
        What the features of its models are made of, in words.
    latent, crf : dict
        Settings of training: ``n_latent`` (a number, or of `STATES`), ``templates`` (of `TEMPLATES`), ``min_df``,
        ``edges``, ``support``, ``sigma``, ``init_scale``, ``solver``, ``batch_size``, ``max_iter``.
        Chosen on the held-out part of the training data.
    plain : str
        Task whose plain CRF stands for this one's, where ``crf`` is None; the tests of significance need one.
    seeds : int
        The most that are worth their time.
    pictured : bool
        Whether a latent model is trained without the held-out part, for the pictures.
    """

    name: str
    title: str
    tokens: str
    latent: dict
    crf: dict | None = None
    plain: str = ""
    seeds: int = 5
    pictured: bool = True

    @property
    def plain_run(self) -> str:
        """Name of the run of the plain CRF that its latent models are compared with."""
        return f"{self.plain or self.name}-crf-0"

    def data(self, *, quick: bool, dev: bool) -> Data:
        """Read the corpus.

        Parameters
        ----------
        quick : bool
            The small corpus shipped with the package in place of the task's.
        dev : bool
            Judge by a third of the training part, which is then not trained on; the test part is not read.
        """
        X, y, groups = self._read("train", quick)
        if not dev:
            test, test_labels, _ = self._read("test", quick)
            return Data(X, y, test, test_labels)
        held = _held_out(len(X), groups)
        return Data(
            [x for x, h in zip(X, held, strict=True) if not h],
            [v for v, h in zip(y, held, strict=True) if not h],
            [x for x, h in zip(X, held, strict=True) if h],
            [v for v, h in zip(y, held, strict=True) if h],
        )

    def _read(self, part: str, quick: bool) -> tuple[list, list, np.ndarray | None]:
        if quick:
            corpus = load_chunks(subset=part)
        elif self.name == "bio":
            corpus = fetch_jnlpba(subset=part)
        else:
            corpus = fetch_conll2000(subset=part)
        kept = ("NP",) if self.name.startswith("np") else _QUICK_TYPES if quick else None
        X = [[(*token[:2], *_spelling(token[0])) for token in sequence] for sequence in corpus.data]
        y = [
            [label if kept is None or label.partition("-")[2] in kept else "O" for label in labels]
            for labels in corpus.target
        ]
        return X, y, corpus.get("groups")


def _spelling(word: str) -> tuple[str, ...]:
    """Further columns of a token, `COLUMNS` from the third on."""
    shape = re.sub("[0-9]+", "0", re.sub("[a-z]+", "a", re.sub("[A-Z]+", "A", word)))
    return shape, word[-2:], word[-3:], word[-4:], word[:3]


def _held_out(n: int, groups: np.ndarray | None) -> np.ndarray:
    """Which sequences are kept for choices: a third of the abstracts, or the last third of the sentences.

    A tenth would be too few to see differences of a few tenths of F1.

    Sentences of one text repeat its names, so none may be on both sides; where the texts are not told, neighbours are
    from the same one.
    """
    if groups is None:
        return np.arange(n) >= n - n // _HELD_OUT
    names = np.unique(groups)
    chosen = np.random.default_rng(0).permutation(names)[: len(names) // _HELD_OUT]
    return np.isin(groups, chosen)


_LATENT = {
    "min_df": 2, "edges": "none", "support": "all", "sigma": 1.0, "init_scale": 0.1, "solver": "sgd", "batch_size": 8,
    "max_iter": 15,
}  # fmt: skip
_NP = _LATENT | {"templates": "words", "batch_size": 32, "max_iter": 20}
_BIO = _LATENT | {"templates": "bio-ner", "support": "observed", "max_iter": 10}
_CHUNKS = _LATENT | {"templates": "rich"}

_NP_TEXT, _ALL_TEXT = "words only", "words, parts of speech, affixes and shapes of words"

TASKS = {
    task.name: task
    for task in (
        Task(
            "np", "NP chunking", _NP_TEXT,
            latent=_NP | {"n_latent": 12},
            crf=_NP | {"n_latent": 1, "edges": "all", "sigma": 2.0},
        ),
        Task(
            "np5", "NP chunking, 5 latent states", _NP_TEXT,
            latent=_NP | {"n_latent": 5}, plain="np", seeds=1, pictured=False,
        ),
        Task("bio", "Bio-NER", _ALL_TEXT, latent=_BIO | {"n_latent": 4}, crf=_BIO | {"n_latent": 1}),
        Task(
            "chunks4", "All chunk types", "words and parts of speech",
            latent=_CHUNKS | {"templates": "chunking", "n_latent": 4, "max_iter": 6},
            crf=_CHUNKS | {"templates": "chunking", "n_latent": 1, "sigma": 2.0},
            pictured=False,
        ),
        Task(
            "chunks", "All chunk types, more features", f"{_ALL_TEXT}, words together with parts of speech",
            latent=_CHUNKS | {"n_latent": "by label", "sigma": 2.5, "batch_size": 16},
            crf=_CHUNKS | {"n_latent": 1, "sigma": 2.5, "batch_size": 16},
            pictured=False,
        ),
    )
}  # fmt: skip
