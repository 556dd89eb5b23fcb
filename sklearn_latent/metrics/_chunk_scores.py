# SPDX-License-Identifier: BSD-3-Clause
"""Precision, recall and F over chunks."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import precision_recall_fscore_support

from ._chunks import check_options, find_chunks, infer_scheme
from ._pairs import paired_labels

__all__ = ["chunk_f1_score", "chunk_precision_recall_fscore_support"]

_AVERAGES = ("micro", "macro", "weighted", None)


def chunk_f1_score(y_true, y_pred, *, average="micro", scheme=None, invalid="conlleval", zero_division="warn"):
    """F1 over chunks: a predicted chunk is right if its start, stop and type all are.

    Parameters
    ----------
    y_true : list of n_sequences lists of str
        True labels, ``"O"`` or a chunk prefix and a type such as ``"B-NP"``.
    y_pred : list of n_sequences lists of str
        Predicted labels, of the same lengths.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Pool the chunks of all types (the CoNLL score); mean over the types; mean weighted by the
        number of true chunks of a type; or one score a type, types sorted. The types are those that
        occur in `y_true` or `y_pred`.
    scheme : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"} or None, default=None
        Labelling scheme; None infers it from the prefixes in `y_true` and `y_pred`.
    invalid : {"conlleval", "discard", "raise"}, default="conlleval"
        What becomes of chunks the scheme does not allow, see `get_chunks`.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Score where there is no chunk to find and none was predicted; ``"warn"`` is 0.0 with one warning.

    Returns
    -------
    float or ndarray of shape (n_types,)
        In [0, 1].

    Raises
    ------
    ValueError
        If numbers or lengths of sequences differ, a label is no chunk label, an option is unknown, or
        ``invalid="raise"`` finds a malformed chunk. Sequence and position are named.

    Warns
    -----
    UndefinedMetricWarning
        If the score is undefined and `zero_division` is ``"warn"``.

    Examples
    --------
    >>> from sklearn_latent.metrics import chunk_f1_score
    >>> y_true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP"]]
    >>> y_pred = [["B-NP", "I-NP", "O", "O"], ["B-NP"]]
    >>> chunk_f1_score(y_true, y_pred)
    0.8
    >>> chunk_f1_score(y_true, y_pred, average="macro")
    0.5
    """
    return _scores(y_true, y_pred, 1.0, average, scheme, invalid, zero_division, ("F-score",))[2]


def chunk_precision_recall_fscore_support(
    y_true, y_pred, *, beta=1.0, average=None, scheme=None, invalid="conlleval", zero_division="warn"
):
    """Precision, recall, F and support over chunks.

    Parameters
    ----------
    y_true : list of n_sequences lists of str
        True labels, ``"O"`` or a chunk prefix and a type such as ``"B-NP"``.
    y_pred : list of n_sequences lists of str
        Predicted labels, of the same lengths.
    beta : float, default=1.0
        Weight of recall against precision in F.
    average : {"micro", "macro", "weighted"} or None, default=None
        As in `chunk_f1_score`; None gives one value a type, types sorted.
    scheme : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"} or None, default=None
        Labelling scheme; None infers it from the prefixes in `y_true` and `y_pred`.
    invalid : {"conlleval", "discard", "raise"}, default="conlleval"
        What becomes of chunks the scheme does not allow, see `get_chunks`.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Value of what is undefined: precision where nothing was predicted, recall where nothing was to be
        found, F where both; ``"warn"`` is 0.0 with one warning.

    Returns
    -------
    precision : float or ndarray of shape (n_types,)
    recall : float or ndarray of shape (n_types,)
    fscore : float or ndarray of shape (n_types,)
    support : None or ndarray of int of shape (n_types,)
        Number of true chunks of each type; None if averaged, as in scikit-learn.

    Raises
    ------
    ValueError
        As `chunk_f1_score`.

    Warns
    -----
    UndefinedMetricWarning
        If a value is undefined and `zero_division` is ``"warn"``.

    Examples
    --------
    >>> from sklearn_latent.metrics import chunk_precision_recall_fscore_support
    >>> y_true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP"]]
    >>> y_pred = [["B-NP", "I-NP", "O", "B-VP"], ["B-VP"]]
    >>> p, r, f, support = chunk_precision_recall_fscore_support(y_true, y_pred)
    >>> p.tolist(), r.tolist(), support.tolist()
    ([1.0, 0.5], [0.5, 1.0], [2, 1])
    """
    named = ("Precision", "Recall", "F-score")
    return _scores(y_true, y_pred, beta, average, scheme, invalid, zero_division, named)


def _scores(y_true, y_pred, beta, average, scheme, invalid, zero_division, warn_for):
    if average not in _AVERAGES:
        raise ValueError(f"average must be 'micro', 'macro', 'weighted' or None; got {average!r}")
    types, correct, found, wanted = _count(y_true, y_pred, scheme, invalid)
    if not types and average is None:
        return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64)
    if isinstance(zero_division, str) and zero_division == "warn":
        _warn_undefined(types, found, wanted, average, warn_for)
        zero_division = 0.0
    # scikit-learn does the averages: per type, its correct, missed and spurious chunks are three weighted
    # samples, with one more class for "no chunk". A last sample, of no chunk twice, keeps the weights from
    # being all zero; with no type at all, a type without chunks stands in.
    n = max(len(types), 1)
    each, none = np.arange(n), np.full(n, n)
    tp, pred, true = (np.array([c[t] for t in types] or [0]) for c in (correct, found, wanted))
    precision, recall, fscore, support = precision_recall_fscore_support(
        np.concatenate([each, each, none, [n]]),
        np.concatenate([each, none, each, [n]]),
        beta=beta,
        labels=each,
        average=average,
        sample_weight=np.concatenate([tp, true - tp, pred - tp, [1]]),
        zero_division=zero_division,
    )
    return precision, recall, fscore, None if support is None else support.astype(np.int64)


def _count(y_true, y_pred, scheme, invalid):
    """Sorted types, and per type the number of chunks right, predicted and true."""
    check_options(scheme, invalid)
    y_true, y_pred = paired_labels(y_true, y_pred)
    if scheme is None and invalid != "conlleval":
        scheme = infer_scheme(label for y in (y_true, y_pred) for labels in y for label in labels)
    correct, found, wanted = Counter(), Counter(), Counter()
    for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True)):
        true = find_chunks(true, scheme, invalid, f"y_true, sequence {i}, ")
        pred = find_chunks(pred, scheme, invalid, f"y_pred, sequence {i}, ")
        wanted.update(kind for _, _, kind in true)
        found.update(kind for _, _, kind in pred)
        correct.update(kind for _, _, kind in set(true).intersection(pred))
    return sorted(wanted.keys() | found.keys()), correct, found, wanted


def _warn_undefined(types, found, wanted, average, warn_for) -> None:
    """Warn once about everything in `warn_for` that has nothing to divide by."""
    pooled = average == "micro" or not types
    groups = {"all types": types} if pooled else {repr(t): [t] for t in types}
    undefined = []
    for group, members in groups.items():
        no_found, no_wanted = (not any(count[t] for t in members) for count in (found, wanted))
        empty = {"Precision": no_found, "Recall": no_wanted, "F-score": no_found and no_wanted}
        undefined += [f"{name} of {group}" for name in warn_for if empty[name]]
    if undefined:
        warnings.warn(
            f"Undefined, for want of chunks, and set to 0.0: {', '.join(undefined)}. Use `zero_division` to say what "
            "they should be (precision lacks predicted chunks, recall true ones).",
            UndefinedMetricWarning,
            stacklevel=4,
        )
