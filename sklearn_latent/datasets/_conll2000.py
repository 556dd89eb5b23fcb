# SPDX-License-Identifier: BSD-3-Clause
"""The CoNLL-2000 shared task: text chunking."""

from __future__ import annotations

from ..io import read_conll
from ._base import find_file, text_corpus

__all__ = ["fetch_conll2000"]

DESCRIPTION = """\
CoNLL-2000: text chunking
-------------------------

News text from the Wall Street Journal in which each sentence is cut into phrases that do not overlap. Training:
8,936 sentences, 211,727 tokens, 106,978 chunks; test: 2,012 sentences, 47,377 tokens, 23,852 chunks. A token is
(word, part of speech); the parts of speech come from a tagger, so they hold errors, as they would in use. Labels are
IOB2 over 11 types of chunk; one of them, I-LST, is found in the test part only.

As a check: the most frequent training label of each part of speech scores 77.07 (F1 over chunks, test).

Terms: the text is licensed by its owner, and no licence comes with the shared task's files, so this package neither
contains nor downloads them.

Reference: E. F. Tjong Kim Sang and S. Buchholz, "Introduction to the CoNLL-2000 Shared Task: Chunking", CoNLL-2000.
"""

_TERMS = (
    "The corpus of the CoNLL-2000 shared task is licensed text, so it is not downloaded: get train.txt.gz and "
    "test.txt.gz from the shared task (columns word, part of speech, chunk label, a space between)."
)


def fetch_conll2000(*, data_home=None, subset="train", return_X_y=False, download_if_missing=True):
    """Load the CoNLL-2000 chunking corpus from files you have.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds ``conll2000/train.txt.gz`` and ``conll2000/test.txt.gz`` (or the same without
        ``.gz``). None: ``~/sklearn_latent_data``. After it, the folder named by the environment variable
        ``SKLEARN_LATENT_DATA`` is looked into. Nothing is written to either.
    subset : {"train", "test", "all"}, default="train"
        Part of the corpus; ``"all"`` is train, then test.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a `Bunch`.
    download_if_missing : bool, default=True
        Without effect, since the text is licensed and never downloaded; here so that every fetcher is
        called alike.

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
    FileNotFoundError
        If a file is missing; the message says where it goes.
    ValueError
        If `subset` is unknown or a file is damaged.

    See Also
    --------
    load_chunks : A small corpus of the same kind, shipped with this package.

    Examples
    --------
    >>> from sklearn_latent.datasets import fetch_conll2000
    >>> corpus = fetch_conll2000(subset="test")  # doctest: +SKIP
    >>> len(corpus.data)  # doctest: +SKIP
    2012
    """

    def read(part):
        names = [f"{part}.txt.gz", f"{part}.txt"]
        return read_conll(find_file(data_home, "conll2000", names, _TERMS), separator=" ")

    return text_corpus(read, subset, return_X_y, DESCRIPTION)
