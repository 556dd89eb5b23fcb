# SPDX-License-Identifier: BSD-3-Clause
"""What the corpora share: where files are looked for, subsets, and the `Bunch` that comes out."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from .._sequences.labels import LabelSequences

__all__ = ["check_offsets", "find_file", "label_names", "read_arrays", "text_corpus"]

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


def parts_of(subset: str) -> list[str]:
    """The parts that a subset is made of.

    Raises
    ------
    ValueError
        If there is no such subset.
    """
    parts = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}
    if not isinstance(subset, str) or subset not in parts:
        raise ValueError(f"subset must be 'train', 'test' or 'all', got {subset!r}")
    return parts[subset]


def text_corpus(
    read: Callable[[str], tuple], subset: str, return_X_y: bool, description: str
) -> Bunch | tuple[list, LabelSequences]:
    """Corpus of one or both subsets, from a function that reads one: (X, y), or (X, y, groups)."""
    read_parts = [read(part) for part in parts_of(subset)]
    data = [sequence for X, *_ in read_parts for sequence in X]
    target = LabelSequences([labels for _, y, *_ in read_parts for labels in y])
    if return_X_y:
        return data, target
    bunch = Bunch(data=data, target=target, target_names=label_names(target), DESCR=description)
    if len(read_parts[0]) > 2:
        bunch.groups = np.concatenate([groups for _, _, groups in read_parts])
    if subset == "all":
        bunch.fold = np.repeat(np.arange(2), [len(y) for _, y, *_ in read_parts])
    return bunch


def label_names(target: LabelSequences) -> list:
    """Sorted labels that occur."""
    return sorted({label for labels in target for label in labels})


def read_arrays(path: Path, names: Collection[str]) -> dict[str, np.ndarray]:
    """Arrays of an ``.npz`` file, none of them pickled.

    Raises
    ------
    ValueError
        If the file is damaged, lacks one of `names`, or holds objects; it is named.
    """
    # opened here, since numpy leaves a file open that it can't read
    with open(path, "rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
            arrays = {name: archive[name] for name in names if name in archive}
        except (ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{path} is damaged, or no .npz file of plain arrays ({error})") from None
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ValueError(f"{path} lacks the arrays {', '.join(missing)}")
    return arrays


def check_offsets(path: Path, name: str, offset: np.ndarray, n_items: int) -> np.ndarray:
    """Offsets as int64, checked to cut `n_items` items into runs, one after the other.

    Raises
    ------
    ValueError
        If they do not; file and array are named.
    """
    good = offset.ndim == 1 and len(offset) > 0 and offset.dtype.kind in "iu"
    offset = offset.astype(np.int64) if good else offset
    if not good or offset[0] != 0 or offset[-1] != n_items or (np.diff(offset) < 0).any():
        raise ValueError(f"{path}: {name} does not cut {n_items} items into runs")
    return offset
