# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy over whole sequences and over tokens."""

from __future__ import annotations

from ._pairs import paired_labels

__all__ = ["sequence_accuracy_score", "token_accuracy"]


def sequence_accuracy_score(y_true, y_pred) -> float:
    """Share of sequences whose labels are all right.

    Parameters
    ----------
    y_true : list of n_sequences lists of labels
        True labels; None where the label is unknown, which any prediction matches.
    y_pred : list of n_sequences lists of labels
        Predicted labels, of the same lengths.

    Returns
    -------
    float
        In [0, 1]; 1.0 if there is no sequence. An empty sequence counts as right.

    Raises
    ------
    ValueError
        If the numbers of sequences differ, or the lengths of a pair; the first is named.

    Examples
    --------
    >>> from sklearn_latent.metrics import sequence_accuracy_score
    >>> sequence_accuracy_score([["A", "B"], ["C", "D"]], [["A", "B"], ["C", "E"]])
    0.5
    """
    y_true, y_pred = paired_labels(y_true, y_pred)
    if not y_true:
        return 1.0
    right = sum(
        all(t is None or t == p for t, p in zip(true, pred, strict=True))
        for true, pred in zip(y_true, y_pred, strict=True)
    )
    return right / len(y_true)


def token_accuracy(y_true, y_pred) -> float:
    """Share of the tokens with a known label (not None) that got it; 1.0 if there is none, as `score` says."""
    known = right = 0
    for true, pred in zip(*paired_labels(y_true, y_pred), strict=True):
        for t, p in zip(true, pred, strict=True):
            if t is not None:
                known += 1
                right += t == p
    return right / known if known else 1.0
