# SPDX-License-Identifier: BSD-3-Clause
"""A small chunking corpus that comes with the package."""

from __future__ import annotations

from importlib.resources import files

from ..io import read_conll
from ._base import text_corpus

__all__ = ["load_chunks"]

DESCRIPTION = """\
A small chunking corpus
-----------------------

460 made-up English sentences in the manner of newspapers, manuals, letters and tales, each cut into phrases that do not
overlap. Training: 368 sentences, 7,077 tokens, 3,947 chunks; test: 92 sentences, 1,783 tokens, 980 chunks. A token is
(word, part of speech); labels are IOB2 over 9 types of chunk (NP, VP, PP, ADVP, ADJP, SBAR, PRT, CONJP, INTJ).

The conventions are those that English chunking corpora share: a noun phrase runs up to its head and a possessive 's
begins a new one, a verb phrase takes its auxiliaries and adverbs between them, a prepositional phrase is the
preposition alone, and what belongs to no phrase, punctuation and most conjunctions, is O. Parts of speech use the Penn
Treebank's names. They were assigned by hand with the chunks, so they hold fewer errors than a tagger's.

It is meant for examples, tests and first steps. It is too small to compare models on: differences of a point of F1 are
noise here.

Licence: written for this package, BSD-3-Clause, as the package itself.
"""


def load_chunks(*, subset="train", return_X_y=False):
    """Load a small chunking corpus that is shipped with the package.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        Part of the corpus; ``"all"`` is train, then test.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a `Bunch`.

    Returns
    -------
    data : sklearn.utils.Bunch
        ``data``: list of n_sequences lists of (word, part of speech); ``target``: `LabelSequences` of
        IOB2 labels; ``target_names``: sorted labels that occur; ``DESCR``; with ``subset="all"`` also
        ``fold``: ndarray of int of shape (n_sequences,), 0 for train and 1 for test.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    ValueError
        If `subset` is unknown.

    See Also
    --------
    fetch_conll2000 : A large corpus of the same kind.

    Examples
    --------
    >>> from sklearn_latent.datasets import load_chunks
    >>> corpus = load_chunks()
    >>> corpus.data[0][:3]
    [('The', 'DT'), ('town', 'NN'), ('council', 'NN')]
    >>> corpus.target[0][:3]
    ['B-NP', 'I-NP', 'I-NP']
    """

    def read(part):
        with (files(__package__) / "data" / f"chunks_{part}.txt").open("rb") as file:
            return read_conll(file, separator="\t")

    return text_corpus(read, subset, return_X_y, DESCRIPTION)
