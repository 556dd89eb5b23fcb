# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten words, letter by letter."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._sequences.labels import LabelSequences
from .._sequences.matrix import SequenceMatrix
from ..io._lines import text_lines
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
    "Nothing is downloaded, since this version holds no verified checksum of the original: get letter.data.gz, the "
    "file of Taskar, Guestrin and Koller (http://ai.stanford.edu/~btaskar/ocr), and put it into that folder as it is; "
    "or make letters.npz with the arrays that the documentation of fetch_ocr_letters lists."
)
_N_PIXELS = 128
_N_FIELDS = 6
_ARRAYS = ("pixels", "label", "offset", "word_fold", "alphabet")


def fetch_ocr_letters(*, data_home=None, return_X_y=False, download_if_missing=True):
    """Load handwritten words from a file you have.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds ``ocr_letters/letters.npz``, or the original as ``ocr_letters/letter.data.gz`` (or
        ``letter.data``), which takes longer to read. None: ``~/sklearn_latent_data``. After it, the folder
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
        ``target_names``: the letters, a to z; ``fold``: ndarray of int of shape (n_words,), 0 to 9; ``groups``:
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
    path = find_file(data_home, "ocr_letters", ["letters.npz", "letter.data.gz", "letter.data"], _TERMS)
    words = _from_arrays(path) if path.suffix == ".npz" else _from_text(path)
    bounds = words.offset.tolist()
    target = LabelSequences([words.letters[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)])
    data = SequenceMatrix(words.pixels, np.diff(words.offset))
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=words.alphabet,
        fold=words.fold,
        groups=np.array(["".join(word) for word in target], dtype=str),
        DESCR=DESCRIPTION,
    )


class _Words(NamedTuple):
    """Contents of a file, checked."""

    pixels: np.ndarray  # (n_letters, 128), uint8
    letters: list[str]  # n_letters
    offset: np.ndarray  # (n_words + 1,), int64
    fold: np.ndarray  # (n_words,), int64
    alphabet: list[str]


def _from_arrays(path: Path) -> _Words:
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
    return _Words(
        pixels.astype(np.uint8, copy=False), alphabet[label].tolist(), offset, fold.astype(np.int64), alphabet.tolist()
    )


def _from_text(path: Path) -> _Words:
    """Contents of the original: a letter a line, its number, the number of the next or -1, its fold, its pixels."""
    pixels, letters, offset, folds = bytearray(), [], [0], []
    expected = None  # number that the line before gives this letter, None at the start of a word
    with text_lines(path) as lines:
        for n, line in lines:
            fields = line.rstrip("\t ").split("\t")
            bits = "".join(fields[_N_FIELDS:])
            if len(fields) != _N_FIELDS + _N_PIXELS or len(bits) != _N_PIXELS or set(bits) - {"0", "1"}:
                raise ValueError(
                    f"{path}, line {n}: not {_N_FIELDS} fields and {_N_PIXELS} pixels, 0 or 1: {line[:60]!r}"
                )
            number, letter, following, _, _, fold = fields[:_N_FIELDS]
            if len(letter) != 1 or not fold.isdecimal() or expected not in (None, number):
                raise ValueError(f"{path}, line {n}: not a letter with a fold that goes on the word: {line[:60]!r}")
            if expected is None:
                folds.append(int(fold))
            elif int(fold) != folds[-1]:
                raise ValueError(f"{path}, line {n}: the fold changes within a word, from {folds[-1]}: {line[:60]!r}")
            letters.append(letter)
            pixels += bits.encode()
            expected = None if following == "-1" else following
            if expected is None:
                offset.append(len(letters))
    if expected is not None:
        raise ValueError(f"{path} ends within a word: letter {expected} is missing")
    values = np.frombuffer(bytes(pixels), dtype=np.uint8).reshape(-1, _N_PIXELS) - np.uint8(ord("0"))
    return _Words(values, letters, np.array(offset), np.array(folds, dtype=np.int64), sorted(set(letters)))
