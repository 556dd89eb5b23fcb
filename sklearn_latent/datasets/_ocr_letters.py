# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten words, letter by letter."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from .._sequences.labels import LabelSequences
from .._sequences.matrix import SequenceMatrix
from ._base import check_offsets, find_file, read_arrays

__all__ = ["fetch_ocr_letters"]

DESCRIPTION = """\
OCR letters: handwritten words
------------------------------

6,877 handwritten words, cut into 52,152 letters of 16 x 8 binary pixels; 3 to 14 letters a word, 26 letters. The first
letter of each word, a capital, was left out by the makers. `fold` gives the ten folds that are customary: train on
nine and test on the tenth, or the other way round ("small" setting); the error reported is that of letters, the mean
over the folds.

There are only 55 distinct words, and each of them is in all ten folds. A model with a long memory learns the list of
words rather than their letters, and looks better than its pixels deserve. `groups` is the word spelled: split by it for
an estimate on words never seen.

Terms: none are stated; the data has long been given away for research. This package neither contains nor downloads it.

References: R. Kassel, "A Comparison of Approaches to On-line Handwritten Character Recognition", PhD thesis, MIT, 1995;
B. Taskar, C. Guestrin, D. Koller, "Max-Margin Markov Networks", NIPS 2003.
"""

_TERMS = (
    "This version downloads nothing, since it holds no checksum of the original that was verified: make the file from "
    "the letter.data.gz that goes with Taskar, Guestrin and Koller (2003), with the arrays that the documentation of "
    "fetch_ocr_letters lists."
)
_N_PIXELS = 128
_ARRAYS = ("pixels", "label", "offset", "word_fold", "alphabet")


def fetch_ocr_letters(*, data_home=None, return_X_y=False, download_if_missing=True):
    """Load handwritten words from a file you have.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds ``ocr_letters/letters.npz``. None: ``~/sklearn_latent_data``. After it, the folder
        named by the environment variable ``SKLEARN_LATENT_DATA`` is looked into. Nothing is written to either.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a `Bunch`.
    download_if_missing : bool, default=True
        Without effect, since nothing is downloaded; here so that every fetcher is called alike.

    Returns
    -------
    data : sklearn.utils.Bunch
        ``data``: SequenceMatrix of n_words sequences, dense uint8 of 128 columns, the pixels of a letter
        row by row (16 rows of 8), 0 or 1; ``target``: `LabelSequences` of n_words lists of letters (str);
        ``target_names``: the 26 letters; ``fold``: ndarray of int of shape (n_words,), 0 to 9; ``groups``:
        ndarray of str of shape (n_words,), the letters of the word joined; ``DESCR``.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    FileNotFoundError
        If the file is missing; the message says where it goes.
    ValueError
        If the file is damaged.

    Notes
    -----
    ``letters.npz`` holds, without pickled objects: ``pixels`` (n_letters, 128), 0 or 1; ``label`` (n_letters,),
    indices into ``alphabet`` (26,); ``offset`` (n_words + 1,), word i being the letters from ``offset[i]`` to
    ``offset[i + 1]``; ``word_fold`` (n_words,). Other arrays are ignored.

    Examples
    --------
    >>> from sklearn_latent.datasets import fetch_ocr_letters
    >>> words = fetch_ocr_letters()  # doctest: +SKIP
    >>> words.data  # doctest: +SKIP
    SequenceMatrix(6877 sequences, 52152 tokens, 128 features, dense uint8)
    >>> words.target[0]  # doctest: +SKIP
    ['o', 'm', 'm', 'a', 'n', 'd', 'i', 'n', 'g']
    """
    path = find_file(data_home, "ocr_letters", ["letters.npz"], _TERMS)
    arrays = read_arrays(path, _ARRAYS)
    pixels, label, alphabet = arrays["pixels"], arrays["label"], arrays["alphabet"]
    if pixels.ndim != 2 or pixels.shape[1] != _N_PIXELS or pixels.dtype.kind not in "iub" or label.ndim != 1:
        raise ValueError(f"{path}: pixels must be whole numbers of shape (n_letters, {_N_PIXELS}), label (n_letters,)")
    if len(label) != len(pixels) or label.dtype.kind not in "iu" or (label >= len(alphabet)).any() or (label < 0).any():
        raise ValueError(f"{path}: label must be {len(pixels)} indices into the {len(alphabet)} letters of alphabet")
    offset = check_offsets(path, "offset", arrays["offset"], len(pixels))
    fold = arrays["word_fold"]
    if fold.shape != (len(offset) - 1,):
        raise ValueError(f"{path}: word_fold must have one entry a word, {len(offset) - 1}; got shape {fold.shape}")
    letters = alphabet[label].tolist()
    bounds = offset.tolist()
    target = LabelSequences([letters[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)])
    data = SequenceMatrix(pixels.astype(np.uint8, copy=False), np.diff(offset))
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=alphabet.tolist(),
        fold=fold.astype(np.int64),
        groups=np.array(["".join(word) for word in target], dtype=str),
        DESCR=DESCRIPTION,
    )
