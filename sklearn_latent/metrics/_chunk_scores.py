# SPDX-License-Identifier: BSD-3-Clause
"""Precision, recall and F over chunks."""

from __future__ import annotations

from collections import Counter

from ._averages import Counts, averaged_scores, check_average, warn_undefined
from ._chunks import check_options, find_chunks, infer_scheme
from ._pairs import paired_labels

__all__ = ["chunk_f1_score", "chunk_precision_recall_fscore_support", "count_chunks"]


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
    check_average(average)
    counts = count_chunks(y_true, y_pred, scheme, invalid)
    warn_undefined(counts, average, zero_division, "types", "chunks", warn_for, stacklevel=4)
    return averaged_scores(counts, beta, average, zero_division)


def count_chunks(y_true, y_pred, scheme, invalid) -> Counts:
    """Chunks right, predicted and true of each type, types sorted."""
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
    return Counts(sorted(wanted.keys() | found.keys()), correct, found, wanted)
