# SPDX-License-Identifier: BSD-3-Clause
"""The two tasks of Sun and Tsujii (2009), their data, and the part of the training data kept for choices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_latent.datasets import fetch_conll2000, fetch_jnlpba, load_chunks

__all__ = ["TASKS", "Data", "Task"]

#: Types of chunk that stand for the classes of names in quick mode; all nine would make it slow.
_QUICK_TYPES = ("NP", "VP", "PP")


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
    """A task and what the paper did with it.

    Attributes
    ----------
    name : {"np", "bio"}
    title : str
    templates : str
        Preset of `TemplateVectorizer`.
    n_latent : int
        Latent states a label.
    edges : {"all", "none"}
        Which features have weights on pairs of states too, unless one asks for others.
    init_scale : float
        Start of the latent models, unless one asks for another. The millions of weights on pairs of states of NP
        chunking keep much of a wide start, since few tokens speak to each: 0.1 lost more than a point of F1 on the
        held-out part.
    """

    name: str
    title: str
    templates: str
    n_latent: int
    edges: str
    init_scale: float

    def data(self, *, quick: bool, dev: bool) -> Data:
        """Read the corpus.

        Parameters
        ----------
        quick : bool
            The small corpus shipped with the package in place of the task's.
        dev : bool
            Judge by a tenth of the training part, which is then not trained on; the test part is not read.
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
        kept = ("NP",) if self.name == "np" else _QUICK_TYPES if quick else None
        y = [
            [label if kept is None or label.partition("-")[2] in kept else "O" for label in labels]
            for labels in corpus.target
        ]
        return list(corpus.data), y, corpus.get("groups")


def _held_out(n: int, groups: np.ndarray | None) -> np.ndarray:
    """Which sequences are kept for choices: a tenth of the abstracts, or the last tenth of the sentences.

    Sentences of one text repeat its names, so none may be on both sides; where the texts are not told, neighbours are
    from the same one.
    """
    if groups is None:
        return np.arange(n) >= n - n // 10
    names = np.unique(groups)
    chosen = np.random.default_rng(0).permutation(names)[: len(names) // 10]
    return np.isin(groups, chosen)


TASKS = {
    "np": Task("np", "NP chunking", "np-chunking", 5, "all", 0.01),
    "bio": Task("bio", "Bio-NER", "bio-ner", 4, "none", 0.1),
}
