# SPDX-License-Identifier: BSD-3-Clause
"""Tables of precision, recall, F1 and support, as text or as a dict."""

from __future__ import annotations

from .._sequences.labels import flatten_labels
from ._averages import check_digits, format_report, report_rows, warn_undefined
from ._chunk_scores import count_chunks
from ._chunks import infer_scheme
from ._sequence_scores import token_accuracy
from ._token_scores import count_tokens

__all__ = ["chunk_classification_report", "token_classification_report"]


def chunk_classification_report(
    y_true, y_pred, *, scheme=None, invalid="conlleval", digits=2, output_dict=False, zero_division="warn"
):
    """Table of precision, recall, F1 and support of each chunk type, and how the chunks were counted.

    Parameters
    ----------
    y_true : list of n_sequences lists of str
        True labels, ``"O"`` or a chunk prefix and a type such as ``"B-NP"``.
    y_pred : list of n_sequences lists of str
        Predicted labels, of the same lengths.
    scheme : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"} or None, default=None
        Labelling scheme; None infers it from the prefixes in `y_true` and `y_pred`.
    invalid : {"conlleval", "discard", "raise"}, default="conlleval"
        What becomes of chunks the scheme does not allow, see `get_chunks`.
    digits : int, default=2
        Decimals in the text.
    output_dict : bool, default=False
        Return a dict instead of text.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Value of what is undefined: precision where nothing was predicted, recall where nothing was to be
        found, F1 where both; ``"warn"`` is 0.0 with one warning.

    Returns
    -------
    str or dict
        The text has a row a type, rows of the averages, and a line with the scheme and the treatment of
        malformed chunks. The dict has the same: for each type (``""`` is the unnamed one of labels that
        are a bare prefix), and for ``"micro avg"``, ``"macro avg"`` and ``"weighted avg"``, a dict with
        ``"precision"``, ``"recall"``, ``"f1-score"`` and ``"support"``; under ``"scheme"`` its name, None
        if no scheme could be inferred; under ``"invalid"`` the mode. Without any chunk there are no rows
        of types.

    Raises
    ------
    ValueError
        As `chunk_f1_score`.

    Warns
    -----
    UndefinedMetricWarning
        If a value is undefined and `zero_division` is ``"warn"``.

    See Also
    --------
    token_classification_report : The same over tokens.

    Examples
    --------
    >>> from sklearn_latent.metrics import chunk_classification_report
    >>> y_true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP"]]
    >>> y_pred = [["B-NP", "I-NP", "O", "B-VP"], ["B-VP"]]
    >>> print(chunk_classification_report(y_true, y_pred))
                  precision    recall  f1-score   support
    <BLANKLINE>
              NP       1.00      0.50      0.67         2
              VP       0.50      1.00      0.67         1
    <BLANKLINE>
       micro avg       0.67      0.67      0.67         3
       macro avg       0.75      0.75      0.67         3
    weighted avg       0.83      0.67      0.67         3
    <BLANKLINE>
    scheme: iob2 (inferred), invalid: conlleval
    <BLANKLINE>
    """
    check_digits(digits)
    y_true, y_pred = flatten_labels(y_true), flatten_labels(y_pred)  # iterators are read once
    counts = count_chunks(y_true, y_pred, scheme, invalid)
    warn_undefined(counts, None if counts.groups else "micro", zero_division, "types", "chunks")
    rows, averages = report_rows(counts, zero_division)
    used = scheme if scheme is not None else _inferred(y_true, y_pred)
    if output_dict:
        return {**dict(zip(counts.groups, rows, strict=True)), **averages, "scheme": used, "invalid": invalid}
    names = [kind or "(no type)" for kind in counts.groups]
    origin = "" if scheme is not None else " (inferred)" if used else " (none could be inferred)"
    return f"{format_report(names, rows, averages, digits)}\nscheme: {used}{origin}, invalid: {invalid}\n"


def token_classification_report(
    y_true, y_pred, *, labels=None, ignore=("O",), digits=2, output_dict=False, zero_division="warn"
):
    """Table of precision, recall, F1 and support of each label over tokens, with the accuracy.

    Parameters
    ----------
    y_true : list of n_sequences lists of labels
        True labels, strings or numbers; None where the label is unknown, which is not counted.
    y_pred : list of n_sequences lists of labels
        Predicted labels, of the same lengths.
    labels : collection of labels or None, default=None
        Labels that have a row, in this order. None: those that occur in `y_true` or `y_pred`, sorted,
        without those in `ignore`.
    ignore : collection of labels, default=("O",)
        Labels without a row; the averages leave them out too, as `token_f1_score` does. ``()``: a row for
        every label. Without effect if `labels` is given.
    digits : int, default=2
        Decimals in the text.
    output_dict : bool, default=False
        Return a dict instead of text.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Value of what is undefined; ``"warn"`` is 0.0 with one warning.

    Returns
    -------
    str or dict
        The text has a row a label, rows of the averages, and the accuracy, which counts *all* tokens with
        a known label. The dict has for each label (as str), and for ``"micro avg"``, ``"macro avg"`` and
        ``"weighted avg"``, a dict with ``"precision"``, ``"recall"``, ``"f1-score"`` and ``"support"``,
        and under ``"accuracy"`` a float.

    Raises
    ------
    ValueError
        As `token_f1_score`.

    Warns
    -----
    UndefinedMetricWarning
        If a value is undefined and `zero_division` is ``"warn"``.

    See Also
    --------
    chunk_classification_report : The same over chunks.

    Examples
    --------
    >>> from sklearn_latent.metrics import token_classification_report
    >>> print(token_classification_report([["ADJ", "NOUN", "X"]], [["ADJ", "NOUN", "NOUN"]], zero_division=0))
                  precision    recall  f1-score   support
    <BLANKLINE>
             ADJ       1.00      1.00      1.00         1
            NOUN       0.50      1.00      0.67         1
               X       0.00      0.00      0.00         1
    <BLANKLINE>
       micro avg       0.67      0.67      0.67         3
       macro avg       0.50      0.67      0.56         3
    weighted avg       0.50      0.67      0.56         3
        accuracy                           0.67         3
    <BLANKLINE>
    """
    check_digits(digits)
    y_true, y_pred = flatten_labels(y_true), flatten_labels(y_pred)
    counts = count_tokens(y_true, y_pred, labels, ignore)
    warn_undefined(counts, None if counts.groups else "micro", zero_division, "labels", "tokens")
    rows, averages = report_rows(counts, zero_division)
    names = [str(label) for label in counts.groups]
    accuracy = token_accuracy(y_true, y_pred)
    if output_dict:
        return {**dict(zip(names, rows, strict=True)), **averages, "accuracy": accuracy}
    return format_report(names, rows, averages, digits, (accuracy, sum(counts.wanted.values())))


def _inferred(y_true: list[list], y_pred: list[list]) -> str | None:
    """Name of the scheme the labels belong to, None if there are only O, or prefixes of two schemes."""
    try:
        return infer_scheme(set().union(*y_true, *y_pred))
    except ValueError:
        return None
