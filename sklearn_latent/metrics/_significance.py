# SPDX-License-Identifier: BSD-3-Clause
"""Is one tagger better than another, or were these test sequences kind to it?"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, chi2
from sklearn.utils import check_random_state

from ._chunks import find_chunks
from ._pairs import paired_labels

__all__ = ["mcnemar_test", "randomization_test"]

#: Fewer sequences than this that only one of the taggers got right: exact binomial instead of chi-square.
_FEW = 25
#: Entries of the table of swaps that is held at a time.
_BLOCK = 1 << 22


class McNemarResult(NamedTuple):
    """What `mcnemar_test` returns."""

    statistic: float
    pvalue: float


class RandomizationResult(NamedTuple):
    """What `randomization_test` returns."""

    difference: float
    pvalue: float


def mcnemar_test(y_true, a, b):
    """Compare two taggers by the sequences that only one of them labelled right throughout.

    Parameters
    ----------
    y_true : list of n_sequences lists of labels
        True labels; None where the label is unknown, which any prediction matches.
    a : list of n_sequences lists of labels
        Labels predicted by one tagger.
    b : list of n_sequences lists of labels
        Labels predicted by the other.

    Returns
    -------
    statistic : float
        Chi-square with continuity correction, 0.0 or more.
    pvalue : float
        Two-sided: the probability of a difference at least this large if each of the sequences that one
        tagger alone got right had been as likely to go to the other.

    Raises
    ------
    ValueError
        If the numbers of sequences differ, or the lengths of a pair; the first is named.

    See Also
    --------
    randomization_test : A test of any difference in score, F1 included.

    Notes
    -----
    With m sequences that only `a` has right and n that only `b` has, the statistic is
    (abs(m - n) - 1)² / (m + n), or 0 if m = n. From m + n = 25 on the p-value is that of the chi-square
    distribution with one degree of freedom; below, that of an exact binomial test of m against n. With
    m + n = 0 the result is (0.0, 1.0).

    References
    ----------
    L. Gillick and S. J. Cox, "Some statistical issues in the comparison of speech recognition algorithms",
    ICASSP 1989.

    Examples
    --------
    >>> from sklearn_latent.metrics import mcnemar_test
    >>> y_true = [["A", "B"]] * 6
    >>> a = [["A", "B"]] * 6
    >>> b = [["A", "B"]] + [["A", "A"]] * 5
    >>> statistic, pvalue = mcnemar_test(y_true, a, b)
    >>> statistic, pvalue
    (3.2, 0.0625)
    """
    y_true, a, b = _three(y_true, a, b)
    right_a, right_b = (
        np.array([all(t is None or t == p for t, p in zip(*pair, strict=True)) for pair in zip(y_true, y, strict=True)])
        for y in (a, b)
    )
    m, n = int(np.sum(right_a > right_b)), int(np.sum(right_b > right_a))
    if m + n == 0:
        return McNemarResult(0.0, 1.0)
    # the correction must not turn no difference into one
    statistic = max(abs(m - n) - 1, 0) ** 2 / (m + n)
    pvalue = binomtest(m, m + n, 0.5).pvalue if m + n < _FEW else chi2.sf(statistic, 1)
    return McNemarResult(statistic, float(pvalue))


def randomization_test(y_true, a, b, *, metric, n_permutations=10_000, random_state=None):
    """Compare the scores of two taggers by swapping their answers, sequence by sequence, at random.

    Parameters
    ----------
    y_true : list of n_sequences lists of labels
        True labels.
    a : list of n_sequences lists of labels
        Labels predicted by one tagger.
    b : list of n_sequences lists of labels
        Labels predicted by the other.
    metric : {"chunk_f1", "token_accuracy"} or callable
        Score of a corpus. ``"chunk_f1"`` is micro-averaged F1 as the CoNLL script counts, 0.0 where there is
        no chunk; ``"token_accuracy"`` skips tokens whose true label is None. Both are counted once a
        sequence, which makes them fast; a callable ``metric(y_true, y_pred)`` that returns a float is
        called ``n_permutations + 2`` times.
    n_permutations : int, default=10_000
        Number of random swappings, at least 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the swaps.

    Returns
    -------
    difference : float
        Score of `a` minus score of `b`.
    pvalue : float
        Two-sided, (r + 1) / (n_permutations + 1), where r swappings gave a difference at least as large in
        absolute value. It is never below 1 / (n_permutations + 1).

    Raises
    ------
    ValueError
        If the numbers of sequences differ, or the lengths of a pair (the first is named); if `metric` or
        `n_permutations` is none of the above, a label is no chunk label under ``"chunk_f1"``, or a score
        is NaN.

    See Also
    --------
    mcnemar_test : A test of whole sequences, right or wrong.

    References
    ----------
    E. W. Noreen, "Computer-Intensive Methods for Testing Hypotheses", Wiley 1989.
    A. Yeh, "More accurate tests for the statistical significance of result differences", COLING 2000.

    Examples
    --------
    >>> from sklearn_latent.metrics import randomization_test
    >>> y_true = [["B-A", "O"]] * 8
    >>> a = [["B-A", "O"]] * 8
    >>> b = [["B-A", "O"]] * 2 + [["O", "O"]] * 6
    >>> difference, pvalue = randomization_test(y_true, a, b, metric="chunk_f1", random_state=0)
    >>> round(difference, 4), 0.02 < pvalue < 0.05
    (0.6, True)
    """
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, Integral) or n_permutations < 1:
        raise ValueError(f"n_permutations must be a whole number, at least 1; got {n_permutations!r}")
    if not callable(metric) and not (isinstance(metric, str) and metric in _COUNTED):
        raise ValueError(f"metric must be {' or '.join(map(repr, _COUNTED))} or callable; got {metric!r}")
    rng = check_random_state(random_state)
    y_true, a, b = _three(y_true, a, b)
    if callable(metric):
        scores, swapped = _by_calls(y_true, a, b, metric)
    else:
        scores, swapped = _by_counts(y_true, a, b, *_COUNTED[metric])
    if np.isnan(scores).any():
        raise ValueError(f"the metric is not a number: {scores[0]} for a, {scores[1]} for b")
    difference = float(scores[0] - scores[1])
    # equal differences that were summed in another order must count as equal
    least = abs(difference) - 1e-12 * float(np.abs(scores).sum())
    reached, todo = 0, int(n_permutations)
    while todo:
        rows = min(todo, max(1, _BLOCK // max(len(y_true), 1)))
        swaps = rng.randint(0, 2, size=(rows, len(y_true)), dtype=bool)
        reached += int(np.sum(np.abs(swapped(swaps)) >= least))
        todo -= rows
    return RandomizationResult(difference, (reached + 1) / (int(n_permutations) + 1))


def _three(y_true, a, b) -> tuple[list[list], list[list], list[list]]:
    """Lists of labels, both predictions of the lengths of the truth."""
    y_true, a = paired_labels(y_true, a, "a")
    return y_true, a, paired_labels(y_true, b, "b")[1]


def _by_calls(y_true, a, b, metric: Callable) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Scores of a and b, and a function from swaps (n, n_sequences) to differences (n,)."""

    def swapped(swaps):
        differences = np.empty(len(swaps))
        for k, row in enumerate(swaps.tolist()):
            first = [q if swap else p for p, q, swap in zip(a, b, row, strict=True)]
            second = [p if swap else q for p, q, swap in zip(a, b, row, strict=True)]
            differences[k] = float(metric(y_true, first)) - float(metric(y_true, second))
        return differences

    return np.array([float(metric(y_true, a)), float(metric(y_true, b))]), swapped


def _by_counts(y_true, a, b, count: Callable, score: Callable):
    """As `_by_calls`, from counts of each sequence, which add up whichever tagger they are from.

    `count` gives counts (n_sequences, n_counts), `score` turns sums (..., n_counts) into scores.
    """
    counts_a, counts_b = count(y_true, a, "a"), count(y_true, b, "b")
    sum_a, sum_b, delta = counts_a.sum(axis=0), counts_b.sum(axis=0), counts_b - counts_a

    def swapped(swaps):
        moved = swaps.astype(np.float64) @ delta  # whole numbers, so exact
        return score(sum_a + moved) - score(sum_b - moved)

    return np.array([score(sum_a), score(sum_b)]), swapped


def _count_chunks(y_true, y_pred, name: str) -> np.ndarray:
    """Chunks right, and chunks predicted plus true, of each sequence: float64 (n_sequences, 2)."""
    out = np.zeros((len(y_true), 2))
    for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True)):
        true = find_chunks(true, None, "conlleval", f"y_true, sequence {i}, ")
        pred = find_chunks(pred, None, "conlleval", f"{name}, sequence {i}, ")
        out[i] = len(set(true).intersection(pred)), len(true) + len(pred)
    return out


def _f1(sums: np.ndarray) -> np.ndarray:
    right, total = sums[..., 0], sums[..., 1]
    return 2.0 * right / np.where(total > 0, total, 1.0)


def _count_tokens(y_true, y_pred, name: str) -> np.ndarray:
    """Tokens right, and tokens with a known label, of each sequence: float64 (n_sequences, 2)."""
    out = np.zeros((len(y_true), 2))
    for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True)):
        known = [(t, p) for t, p in zip(true, pred, strict=True) if t is not None]
        out[i] = sum(t == p for t, p in known), len(known)
    return out


def _accuracy(sums: np.ndarray) -> np.ndarray:
    right, known = sums[..., 0], sums[..., 1]
    return np.where(known > 0, right / np.where(known > 0, known, 1.0), 1.0)


_COUNTED = {"chunk_f1": (_count_chunks, _f1), "token_accuracy": (_count_tokens, _accuracy)}
