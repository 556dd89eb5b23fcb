# SPDX-License-Identifier: BSD-3-Clause
"""True and predicted label sequences, side by side."""

from __future__ import annotations

from .._sequences.labels import flatten_labels

__all__ = ["paired_labels"]


def paired_labels(y_true, y_pred, name: str = "y_pred") -> tuple[list[list], list[list]]:
    """Lists of labels, one a sequence, from any accepted form of either, checked to be of equal lengths.

    `name` is what messages call `y_pred`.

    Raises
    ------
    TypeError
        If one of them is not a list of label lists.
    ValueError
        If the numbers of sequences differ, or the lengths of a pair of sequences; the first is named.
    """
    y_true, y_pred = flatten_labels(y_true), flatten_labels(y_pred)
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} sequences but {name} has {len(y_pred)}")
    for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True)):
        if len(true) != len(pred):
            raise ValueError(f"sequence {i}: y_true[{i}] has {len(true)} labels but {name}[{i}] has {len(pred)}")
    return y_true, y_pred
