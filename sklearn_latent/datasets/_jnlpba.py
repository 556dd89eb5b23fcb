# SPDX-License-Identifier: BSD-3-Clause
"""The JNLPBA 2004 shared task: names of biological entities."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from ..io import read_conll
from ..io._lines import text_lines
from ._base import find_file, text_corpus

__all__ = ["fetch_jnlpba"]

DESCRIPTION = """\
JNLPBA 2004: names of biological entities
-----------------------------------------

Abstracts of MEDLINE in which proteins, DNA, RNA, cell lines and cell types are marked. Training: 18,546 sentences of
2,000 abstracts, 492,551 tokens, 51,301 entities; test: 3,856 sentences of 404 abstracts, 101,039 tokens, 8,662
entities. A token is (word, part of speech); the parts of speech come from a tagger, in both parts, so they hold errors,
as they would in use. Labels are IOB2 over the five classes. `groups` is the number of the abstract: sentences of one
abstract repeat its names, so that a split for model selection should keep them together. One number is used twice in
training and two in test, hence 1,999 and 402 groups, and ten occur in both parts.

For orientation: the best system of the shared task reached an F1 over entities of 72.55, plain CRFs 69.5 to 70.

Terms: annotations CC BY 3.0, with attribution to the GENIA Project; abstracts from PubMed under the terms of the
National Library of Medicine. This package neither contains nor downloads them.

Reference: J.-D. Kim, T. Ohta, Y. Tsuruoka, Y. Tateisi, N. Collier, "Introduction to the Bio-Entity Recognition Task at
JNLPBA", JNLPBA 2004.
"""

_TERMS = (
    "The corpus of the JNLPBA 2004 shared task is not downloaded, since its distribution lacks the predicted parts of "
    "speech: make train.tsv.gz and test.tsv.gz from it, with four columns (word, predicted part of speech, gold part "
    "of speech or _, IOB2 label; a TAB between) and a line ###MEDLINE:<number> before each abstract."
)
_MARK = "###MEDLINE:"


def fetch_jnlpba(*, data_home=None, subset="train", return_X_y=False, download_if_missing=True):
    """Load the JNLPBA 2004 corpus of biological entities from files you have.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds ``jnlpba/train.tsv.gz`` and ``jnlpba/test.tsv.gz`` (or the same without ``.gz``).
        None: ``~/sklearn_latent_data``. After it, the folder named by the environment variable
        ``SKLEARN_LATENT_DATA`` is looked into. Nothing is written to either.
    subset : {"train", "test", "all"}, default="train"
        Part of the corpus; ``"all"`` is train, then test.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a `Bunch`.
    download_if_missing : bool, default=True
        Without effect, since nothing is downloaded; here so that every fetcher is called alike.

    Returns
    -------
    data : sklearn.utils.Bunch
        ``data``: list of n_sequences lists of (word, predicted part of speech); ``target``:
        `LabelSequences` of IOB2 labels; ``target_names``: sorted labels that occur; ``groups``: ndarray of
        str of shape (n_sequences,), the number of the abstract; ``DESCR``; with ``subset="all"`` also
        ``fold``: ndarray of int of shape (n_sequences,), 0 for train and 1 for test.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says where it goes.
    ValueError
        If `subset` is unknown or a file is damaged.

    See Also
    --------
    fetch_conll2000 : Chunks of news text.

    Notes
    -----
    The lines that name an abstract are no sentences. Counts of sentences in the literature that are larger by
    2,000 and 404 than these took them for some.

    Examples
    --------
    >>> from sklearn_latent.datasets import fetch_jnlpba
    >>> corpus = fetch_jnlpba(subset="test")  # doctest: +SKIP
    >>> len(corpus.data), len(set(corpus.groups))  # doctest: +SKIP
    (3856, 402)
    """

    def read(part):
        return _read(find_file(data_home, "jnlpba", [f"{part}.tsv.gz", f"{part}.tsv"], _TERMS))

    return text_corpus(read, subset, return_X_y, DESCRIPTION)


def _read(path: Path):
    """Tokens, labels and abstracts of a file: its marks of abstracts become those that `read_conll` knows."""
    abstracts = []
    lines = []
    with text_lines(path) as numbered:
        for n, line in numbered:
            if line.startswith(_MARK) and "\t" not in line:
                abstracts.append(line.removeprefix(_MARK).strip())
                line = "-DOCSTART-"
            elif not abstracts and line.strip():
                raise ValueError(f"{path}, line {n}: a token before the first line {_MARK}<number>: {line!r}")
            lines.append(line)
    text = io.StringIO("\n".join(lines), newline="")
    text.name = str(path)  # for messages
    X, y, documents = read_conll(text, separator="\t", return_documents=True)
    if X and len(X[0][0]) != 3:
        raise ValueError(
            f"{path} must have four columns (word, predicted part of speech, gold part of speech, label); the first "
            f"token is {X[0][0]!r}"
        )
    data = [[(word, pos) for word, pos, _ in tokens] for tokens in X]
    return data, y, np.array(abstracts, dtype=str)[documents]
