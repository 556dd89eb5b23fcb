# SPDX-License-Identifier: BSD-3-Clause
"""Scores over tokens, each a sample of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain

from ._averages import Counts, averaged_scores, check_average, warn_undefined
from ._pairs import paired_labels
from ._sequence_scores import token_accuracy

__all__ = ["count_tokens", "counts_of_pairs", "label_collection", "token_error_rate", "token_f1_score"]


def token_f1_score(y_true, y_pred, *, labels=None, average="micro", ignore=("O",), zero_division="warn"):
    """F1 over tokens, without the labels that say "nothing here".

    Parameters
    ----------
    y_true : list of n_sequences lists of labels
        True labels, strings or numbers; None where the label is unknown, which is not counted.
    y_pred : list of n_sequences lists of labels
        Predicted labels, of the same lengths.
    labels : collection of labels or None, default=None
        Labels to score, in this order. None: those that occur in `y_true` or `y_pred`, sorted, without
        those in `ignore`.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Pool the tokens of all scored labels; mean over the labels; mean weighted by the number of true
        tokens of a label; or one score a label. There is no ``"binary"``: two labels are averaged as any
        other number is, and no label is the positive one.
    ignore : collection of labels, default=("O",)
        Labels that are not scored; a token of another label that is predicted as one of these is still
        a miss. A single string is one label. Without effect if `labels` is given.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Score where there is no token to find and none was predicted; ``"warn"`` is 0.0 with one warning.

    Returns
    -------
    float or ndarray of shape (n_labels,)
        In [0, 1].

    Raises
    ------
    ValueError
        If numbers or lengths of sequences differ, labels are of mixed kinds or NaN (sequence and
        position are named), or an option is unknown.

    Warns
    -----
    UndefinedMetricWarning
        If the score is undefined and `zero_division` is ``"warn"``.

    See Also
    --------
    chunk_f1_score : F1 over whole chunks, what is usually reported for chunking and entities.
    sklearn.metrics.f1_score : The same over flat labels.

    Examples
    --------
    >>> from sklearn_latent.metrics import token_f1_score
    >>> y_true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP"]]
    >>> y_pred = [["B-NP", "I-NP", "O", "O"], ["B-NP"]]
    >>> round(token_f1_score(y_true, y_pred), 4)
    0.8571
    >>> token_f1_score(y_true, y_pred, average=None).tolist()
    [1.0, 0.0, 1.0]
    """
    check_average(average)
    counts = count_tokens(y_true, y_pred, labels, ignore)
    warn_undefined(counts, average, zero_division, "labels", "tokens", ("F-score",))
    fscore = averaged_scores(counts, 1.0, average, zero_division)[2]
    return fscore if average is None else float(fscore)


def token_error_rate(y_true, y_pred) -> float:
    """Share of wrong labels, pooled over all tokens.

    It is not the mean of the error rates of the sequences: a long sequence has more say.

    Parameters
    ----------
    y_true : list of n_sequences lists of labels
        True labels; None where the label is unknown, which is not counted.
    y_pred : list of n_sequences lists of labels
        Predicted labels, of the same lengths.

    Returns
    -------
    float
        In [0, 1]; 0.0 if there is no token with a known label.

    Raises
    ------
    ValueError
        If the numbers of sequences differ, or the lengths of a pair; the first is named.

    Examples
    --------
    >>> from sklearn_latent.metrics import token_error_rate
    >>> token_error_rate([["A", "B", "B"], ["A"]], [["A", "B", "B"], ["B"]])
    0.25
    """
    return 1.0 - token_accuracy(y_true, y_pred)


def count_tokens(y_true, y_pred, labels, ignore) -> Counts:
    """Tokens right, predicted and true of each label to be scored; a true None is skipped."""
    y_true, y_pred = paired_labels(y_true, y_pred)
    occurring = _distinct(y_true, y_pred)
    if labels is None:
        ignored = set(label_collection(ignore, "ignore"))
        groups = [label for label in occurring if label not in ignored]
    else:
        groups = label_collection(labels, "labels")
        if len(set(groups)) != len(groups):
            raise ValueError(f"labels must be distinct, got {groups!r}")
    # pairs repeat, so that the one pass over all tokens is left to the Counter
    return counts_of_pairs(Counter(chain.from_iterable(map(zip, y_true, y_pred))), groups)


def counts_of_pairs(pairs: Mapping[tuple, int], groups: list) -> Counts:
    """Counts of the labels in `groups` from how often each pair (true, predicted) occurs."""
    correct, found, wanted = Counter(), Counter(), Counter()
    for (true, pred), n in pairs.items():
        if true is not None:
            wanted[true] += n
            found[pred] += n
            correct[true] += n * (true == pred)
    return Counts(groups, correct, found, wanted)


def label_collection(labels, name: str) -> list[Hashable]:
    """List of the labels a parameter names, where a single string is one label and None is none."""
    if labels is None:
        return []
    if isinstance(labels, str):
        return [labels]
    if not isinstance(labels, Iterable) or isinstance(labels, bytes):
        raise TypeError(f"{name} must be a collection of labels such as ('O',), got {labels!r}")
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


def _distinct(y_true: list[list], y_pred: list[list]) -> list:
    """Sorted labels that occur in either, checked to be of one kind."""
    try:
        occurring = set().union(*y_true, *y_pred)
    except TypeError:
        _refuse(lambda label: not _is_hashable(label), y_true, y_pred, "is not a label (not hashable)")
    occurring.discard(None)
    # NaN is unequal to itself, so that each would be a label of its own
    if any(isinstance(label, float) and not label.is_integer() for label in occurring):
        _refuse(
            lambda label: isinstance(label, float) and not label.is_integer(),
            y_true,
            y_pred,
            "is not a label: a float must be a whole number",
        )
    try:
        return sorted(occurring)
    except TypeError:
        kinds = {type(label): label for label in occurring}
        shown = " and ".join(f"{label!r} ({kind.__name__})" for kind, label in list(kinds.items())[:2])
        raise ValueError(f"labels must be of one kind that can be sorted; y_true and y_pred hold {shown}") from None


def _is_hashable(label) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _refuse(wrong, y_true, y_pred, message) -> None:
    """Raise an error about the first label that is `wrong`."""
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        for i, labels in enumerate(y):
            for t, label in enumerate(labels):
                if wrong(label):
                    raise ValueError(f"{name}, sequence {i}, position {t}: {label!r} {message}")
