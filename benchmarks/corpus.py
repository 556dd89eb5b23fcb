# SPDX-License-Identifier: BSD-3-Clause
"""Corpora as one file of arrays that workers of any environment can read, and as column files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sklearn_latent import SequenceMatrix
from sklearn_latent._sequences import LabelCodec
from sklearn_latent.datasets import (
    fetch_conll2000,
    fetch_jnlpba,
    fetch_ocr_letters,
    load_chunks,
    load_digit_sequences,
)
from sklearn_latent.feature_extraction import TemplateVectorizer

__all__ = ["Corpus", "columns", "write", "write_images", "write_letters", "write_split"]


@dataclass(frozen=True)
class Corpus:
    """A vectorized corpus on disk.

    Attributes
    ----------
    path : Path
        File of arrays: feature numbers as CSR (``train_indices``, ``train_ptr``), bounds of the sequences
        (``train_offsets``), label numbers (``train_codes``), the same of the test part, ``labels``, ``n_features``,
        and ``word_columns``, the features that are the present word alone.
    gold : list of list of str
        Labels of the test part.
    n_tokens : int
        Of the training part.
    """

    path: Path
    gold: list
    n_tokens: int


def _read(task: str, part: str, quick: bool) -> tuple[list, list]:
    """Tokens and labels; the small corpus shipped inside stands in for any."""
    if quick:
        X, y = load_chunks(subset=part, return_X_y=True)
    elif task == "jnlpba":
        X, y = fetch_jnlpba(subset=part, return_X_y=True)
    else:
        X, y = fetch_conll2000(subset=part, return_X_y=True)
    if task == "np" or (quick and task == "jnlpba"):
        return X, [[label if label.endswith("-NP") else "O" for label in labels] for labels in y]
    return X, [list(labels) for labels in y]


def write(path: Path, task: str, *, templates: str = "chunking", quick: bool = False) -> Corpus:
    """Vectorize a corpus and write it to `path`.

    Parameters
    ----------
    path : Path
    task : {"all", "np", "jnlpba"}
        All chunk types of CoNLL-2000, noun phrases alone, or the biological names of JNLPBA.
    templates : str
        Preset of `TemplateVectorizer`.
    quick : bool
        The small corpus shipped with the package instead.
    """
    vectorizer, arrays = TemplateVectorizer(templates), {}
    for part in ("train", "test"):
        X, y = _read(task, part, quick)
        if part == "train":
            matrix = vectorizer.fit_transform(X)
            codec = LabelCodec.from_labels(y)
        else:
            matrix = vectorizer.transform(X)
        arrays[f"{part}_indices"] = matrix.values.indices.astype(np.int32)
        arrays[f"{part}_ptr"] = matrix.values.indptr.astype(np.int32)
        arrays[f"{part}_offsets"] = matrix.offsets
        # A label that training lacks is nobody's to find: its code is never read.
        arrays[f"{part}_codes"] = np.maximum(codec.encode(y), 0)
    names = vectorizer.get_feature_names_out()
    arrays["word_columns"] = np.flatnonzero([name.startswith("w[0]=") for name in names.tolist()])
    np.savez(path, labels=codec.classes, n_features=matrix.n_features, **arrays)
    return Corpus(path, y, int(arrays["train_offsets"][-1]))


def columns(path: Path, task: str, part: str, *, repeat: int = 1, labels: bool = True, quick: bool = False) -> int:
    """Write a corpus as a column file (word, part of speech, label; spaces between); returns the number of tokens."""
    X, y = _read(task, part, quick)
    lines = []
    for tokens, names in zip(X, y, strict=True):
        for (word, pos), name in zip(tokens, names, strict=True):
            lines.append(f"{word} {pos} {name}\n" if labels else f"{word} {pos}\n")
        lines.append("\n")
    text = "".join(lines)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(repeat):
            file.write(text)
    return repeat * sum(map(len, X))


def write_letters(path: Path) -> int:
    """Write the OCR letters, a constant column added, to `path`; returns the number of folds."""
    corpus = fetch_ocr_letters()
    fold = np.asarray(corpus.fold)
    _write_dense(path, corpus.data, list(corpus.target), fold)
    return len(np.unique(fold))


def write_split(path: Path, train: SequenceMatrix, y: list, test: SequenceMatrix, y_test: list) -> Path:
    """Write dense sequences as `write_letters` does, fold 0 the training part and fold 1 the other."""
    corpus = SequenceMatrix(np.vstack([train.values, test.values]), np.concatenate([train.lengths, test.lengths]))
    _write_dense(path, corpus, [*y, *y_test], np.repeat([0, 1], [len(train), len(test)]))
    return path


def _write_dense(path: Path, X: SequenceMatrix, y: list, fold: np.ndarray) -> None:
    codec = LabelCodec.from_labels(y)
    pixels = np.hstack([X.values.astype(np.float64), np.ones((X.n_tokens, 1))])
    np.savez(path, pixels=pixels, offsets=X.offsets, codes=codec.encode(y), labels=codec.classes, fold=fold)


def write_images(path: Path, shape: tuple[int, int, int], *, quick: bool = False) -> int:
    """Write handwriting and the shape of networks over it to `path`; returns the number of tokens.

    Parameters
    ----------
    path : Path
    shape : (int, int, int)
        Layers, products, states.
    quick : bool
        A hundred digit sequences in the place of the OCR letters' nine training folds.
    """
    if quick:
        data = load_digit_sequences()
        X, y = data.data[:100], list(data.target)[:100]
    else:
        data = fetch_ocr_letters()
        train = np.asarray(data.fold) != 0
        X, y = data.data[train], [labels for labels, kept in zip(data.target, train.tolist(), strict=True) if kept]
    codec = LabelCodec.from_labels(y)
    codes, offsets = codec.encode(y), X.offsets
    inner = np.ones(len(codes), dtype=bool)
    inner[offsets[:-1]] = False
    second = np.flatnonzero(inner)
    bigrams = np.unique(np.column_stack([codes[second - 1], codes[second]]), axis=0)
    np.savez(
        path,
        pixels=X.values,
        offsets=offsets,
        codes=codes,
        labels=codec.classes,
        bigrams=bigrams,
        shape=np.array(shape),
    )
    return len(codes)
