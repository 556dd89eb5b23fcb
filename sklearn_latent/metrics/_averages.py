# SPDX-License-Identifier: BSD-3-Clause
"""From counts of what was right, predicted and true, per type or label, to averaged scores and reports."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

__all__ = [
    "AVERAGES",
    "SCORES",
    "Counts",
    "averaged_scores",
    "check_average",
    "check_digits",
    "format_report",
    "report_rows",
    "warn_undefined",
]

AVERAGES = ("micro", "macro", "weighted", None)
SCORES = ("Precision", "Recall", "F-score")

Row = dict[str, float]


class Counts(NamedTuple):
    """How often each group (a chunk type, a label) was got right, predicted and wanted; absent means 0."""

    groups: Sequence[Hashable]
    correct: Mapping[Hashable, int]
    found: Mapping[Hashable, int]
    wanted: Mapping[Hashable, int]


def check_average(average, allowed=AVERAGES) -> None:
    """Refuse a way of averaging that is not among `allowed`."""
    if not (average is None or isinstance(average, str)) or average not in allowed:
        names = [repr(name) for name in allowed]
        raise ValueError(f"average must be {', '.join(names[:-1])} or {names[-1]}; got {average!r}")


def averaged_scores(counts: Counts, beta, average, zero_division):
    """Precision, recall, F and support (int64, or None if averaged) of `counts`, without a warning.

    scikit-learn does the averages: per group, its correct, missed and spurious items are three weighted
    samples, with one more class for "nothing". A last sample, of nothing twice, keeps the weights from
    being all zero; with no group at all, a group without items stands in.
    """
    from sklearn.metrics import precision_recall_fscore_support  # taggers get here when they are imported, it is large

    groups, correct, found, wanted = counts
    if not groups and average is None:
        return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64)
    n = max(len(groups), 1)
    each, none = np.arange(n), np.full(n, n)
    tp, pred, true = (np.array([c.get(g, 0) for g in groups] or [0]) for c in (correct, found, wanted))
    precision, recall, fscore, support = precision_recall_fscore_support(
        np.concatenate([each, each, none, [n]]),
        np.concatenate([each, none, each, [n]]),
        beta=beta,
        labels=each,
        average=average,
        sample_weight=np.concatenate([tp, true - tp, pred - tp, [1]]),
        zero_division=0.0 if _is_warn(zero_division) else zero_division,
    )
    return precision, recall, fscore, None if support is None else support.astype(np.int64)


def warn_undefined(counts: Counts, average, zero_division, noun, items, warn_for=SCORES, stacklevel=3) -> None:
    """Warn once about everything in `warn_for` that has nothing to divide by, if `zero_division` asks for it.

    `noun` is the plural of what a group is and `items` that of what is counted; `stacklevel` is that of a
    warning issued by the caller, plus one.
    """
    groups, _, found, wanted = counts
    if not _is_warn(zero_division) or (not groups and average is None):
        return
    pooled = {f"all {noun}": groups} if average == "micro" or not groups else {repr(g): [g] for g in groups}
    undefined = []
    for group, members in pooled.items():
        no_found, no_wanted = (not any(count.get(g, 0) for g in members) for count in (found, wanted))
        empty = dict(zip(SCORES, (no_found, no_wanted, no_found and no_wanted), strict=True))
        undefined += [f"{name} of {group}" for name in warn_for if empty[name]]
    if undefined:
        warnings.warn(
            f"Undefined, for want of {items}, and set to 0.0: {', '.join(undefined)}. Use `zero_division` to say what "
            f"they should be (precision lacks predicted {items}, recall true ones).",
            UndefinedMetricWarning,
            stacklevel=stacklevel,
        )


def report_rows(counts: Counts, zero_division) -> tuple[list[Row], dict[str, Row]]:
    """Row of each group, and rows of the three averages: precision, recall, f1-score, support."""
    names = ("precision", "recall", "f1-score", "support")
    columns = averaged_scores(counts, 1.0, None, zero_division)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True)]
    total = sum(counts.wanted.get(group, 0) for group in counts.groups)
    averages = {}
    for average in AVERAGES[:-1]:
        scores = averaged_scores(counts, 1.0, average, zero_division)[:3]
        averages[f"{average} avg"] = dict(zip(names, (*map(float, scores), total), strict=True))
    return rows, averages


def format_report(
    names: Sequence[str],
    rows: Sequence[Row],
    averages: Mapping[str, Row],
    digits: int,
    accuracy: tuple[float, int] | None = None,
) -> str:
    """Text of a report in the layout of scikit-learn's, `names` standing for the groups of `rows`."""
    width = max(digits, *map(len, (*names, *averages)))

    def line(name, row):
        scores = "".join(f" {row[key]:>9.{digits}f}" for key in ("precision", "recall", "f1-score"))
        return f"{name:>{width}s} {scores} {row['support']:>9}"

    head = f"{'':>{width}s} " + "".join(f" {title:>9}" for title in ("precision", "recall", "f1-score", "support"))
    body = [line(name, row) for name, row in zip(names, rows, strict=True)]
    foot = [line(name, row) for name, row in averages.items()]
    if accuracy is not None:
        foot.append(f"{'accuracy':>{width}s} " + " " * 20 + f" {accuracy[0]:>9.{digits}f} {accuracy[1]:>9}")
    return "\n\n".join("\n".join(block) for block in ([head], body, foot) if block) + "\n"


def check_digits(digits) -> None:
    """Refuse a number of decimals that is no whole number from 0 on."""
    if isinstance(digits, bool) or not isinstance(digits, Integral) or digits < 0:
        raise ValueError(f"digits must be a whole number, at least 0; got {digits!r}")


def _is_warn(zero_division) -> bool:
    return isinstance(zero_division, str) and zero_division == "warn"
