# SPDX-License-Identifier: BSD-3-Clause
"""Corpora as one file of arrays that workers of any environment can read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sklearn_latent._sequences import LabelCodec
from sklearn_latent.datasets import fetch_conll2000, fetch_ocr_letters, load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer

__all__ = ["write", "write_letters"]


def _labels(y: list[list[str]], task: str) -> list[list[str]]:
    """All chunk types, or noun phrases alone."""
    if task == "all":
        return [list(labels) for labels in y]
    return [[label if label.endswith("-NP") else "O" for label in labels] for labels in y]


def write(path: Path, task: str, *, templates: str = "chunking", quick: bool = False) -> dict:
    """Vectorize a corpus and write it to `path`; returns the test labels for scoring.

    Parameters
    ----------
    path : Path
    task : {"all", "np"}
        All chunk types of CoNLL-2000, or noun phrases alone.
    templates : str
        Preset of `TemplateVectorizer`.
    quick : bool
        The small corpus shipped with the package instead.
    """
    get = load_chunks if quick else fetch_conll2000
    vectorizer, arrays, gold = TemplateVectorizer(templates), {}, None
    for part in ("train", "test"):
        X, y = get(subset=part, return_X_y=True)
        y = _labels(y, task)
        if part == "train":
            matrix = vectorizer.fit_transform(X)
            codec = LabelCodec.from_labels(y)
        else:
            matrix, gold = vectorizer.transform(X), y
        arrays[f"{part}_indices"] = matrix.values.indices.astype(np.int32)
        arrays[f"{part}_ptr"] = matrix.values.indptr.astype(np.int32)
        arrays[f"{part}_offsets"] = matrix.offsets
        # A label that training lacks is nobody's to find: its code is never read.
        arrays[f"{part}_codes"] = np.maximum(codec.encode(y), 0)
    np.savez(path, labels=codec.classes, n_features=matrix.n_features, **arrays)
    return {"gold": gold, "n_train_tokens": int(arrays["train_offsets"][-1])}


def write_letters(path: Path) -> int:
    """Write the OCR letters, a constant column added, to `path`; returns the number of folds."""
    corpus = fetch_ocr_letters()
    codec = LabelCodec.from_labels(list(corpus.target))
    pixels = np.hstack([corpus.data.values.astype(np.float64), np.ones((corpus.data.n_tokens, 1))])
    fold = np.asarray(corpus.fold)
    codes = codec.encode(list(corpus.target))
    np.savez(path, pixels=pixels, offsets=corpus.data.offsets, codes=codes, labels=codec.classes, fold=fold)
    return len(np.unique(fold))
