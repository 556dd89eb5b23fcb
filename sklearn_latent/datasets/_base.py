# SPDX-License-Identifier: BSD-3-Clause
"""What the corpora share: where files are looked for, subsets, and the `Bunch` that comes out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from .._sequences.labels import LabelSequences

__all__ = ["find_file", "text_corpus"]

#: Environment variable with a folder that is only ever read.
READ_ONLY = "SKLEARN_LATENT_DATA"
DEFAULT_HOME = Path("~") / "sklearn_latent_data"


def find_file(data_home, folder: str, names: list[str], terms: str) -> Path:
    """Path of the first of `names` found in `folder` of `data_home` or of the read-only folder.

    Raises
    ------
    FileNotFoundError
        If there is none; the message says which file goes where and, by `terms`, why it is not downloaded.
    """
    home = Path(DEFAULT_HOME if data_home is None else data_home).expanduser()
    places = [home]
    if os.environ.get(READ_ONLY):
        places.append(Path(os.environ[READ_ONLY]).expanduser())
    for place in places:
        for name in names:
            path = place / folder / name
            if path.is_file():
                return path
    raise FileNotFoundError(
        f"no {' or '.join(names)} in {' or '.join(str(place / folder) for place in places)}. {terms} "
        f"Put the file at {home / folder / names[0]}, pass the folder above as `data_home`, or name it in the "
        f"environment variable {READ_ONLY}."
    )


def text_corpus(
    read: Callable[[str], tuple[list, LabelSequences]], subset: str, return_X_y: bool, description: str
) -> Bunch | tuple[list, LabelSequences]:
    """Corpus of one or both subsets, from a function that reads one."""
    parts = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}
    if not isinstance(subset, str) or subset not in parts:
        raise ValueError(f"subset must be 'train', 'test' or 'all', got {subset!r}")
    read_parts = [read(part) for part in parts[subset]]
    data = [sequence for X, _ in read_parts for sequence in X]
    target = LabelSequences([labels for _, y in read_parts for labels in y])
    if return_X_y:
        return data, target
    names = sorted({label for labels in target for label in labels})
    bunch = Bunch(data=data, target=target, target_names=names, DESCR=description)
    if subset == "all":
        bunch.fold = np.repeat(np.arange(2), [len(y) for _, y in read_parts])
    return bunch
