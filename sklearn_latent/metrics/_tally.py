# SPDX-License-Identifier: BSD-3-Clause
"""Scores of a corpus that is counted part by part, in memory that does not grow with it, and their tables."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from operator import eq

from ._averages import Counts, format_report, report_rows
from ._chunk_scores import count_chunks
from ._chunks import check_options
from ._pairs import paired_labels
from ._token_scores import counts_of_pairs

__all__ = ["ChunkTally", "TokenTally"]


class ChunkTally:
    """Chunks and tokens counted sequence by sequence, shown as the CoNLL evaluation script shows them.

    Parameters
    ----------
    scheme, invalid
        As for `chunk_f1_score`. To infer a scheme, which `invalid` needs if it is not ``"conlleval"``, all labels are
        looked at first and so are kept.
    """

    def __init__(self, scheme: str | None = None, invalid: str = "conlleval"):
        check_options(scheme, invalid)
        self.scheme = scheme
        self.invalid = invalid
        self.n_tokens = 0
        self.n_right = 0
        self._correct, self._found, self._wanted = Counter(), Counter(), Counter()
        self._kept: tuple[list, list] | None = ([], []) if scheme is None and invalid != "conlleval" else None

    def add(self, y_true: list[list[str]], y_pred: list[list[str]]) -> None:
        """Count some sequences.

        Raises
        ------
        ValueError
            As `chunk_f1_score`; nothing of these sequences has been counted then.
        """
        y_true, y_pred = paired_labels(y_true, y_pred)
        counts = count_chunks(y_true, y_pred, self.scheme, "conlleval" if self._kept is not None else self.invalid)
        if self._kept is not None:
            self._kept[0].extend(y_true)
            self._kept[1].extend(y_pred)
        else:
            self._count(counts)
        self.n_tokens += sum(map(len, y_true))
        self.n_right += sum(map(eq, chain.from_iterable(y_true), chain.from_iterable(y_pred)))

    def scores(self) -> dict:
        """What has been counted as numbers, shares in [0, 1] and 0.0 where nothing is to be divided by.

        Returns
        -------
        dict
            ``tokens``, ``accuracy``, and ``chunks`` with ``true``, ``predicted``, ``correct``, ``precision``,
            ``recall``, ``f1``; under ``types`` the same for each type, sorted.

        Raises
        ------
        ValueError
            If a scheme has to be inferred and can't, or ``invalid="raise"`` finds a malformed chunk then.
        """
        if self._kept is not None:
            for counter in (self._correct, self._found, self._wanted):
                counter.clear()
            self._count(count_chunks(*self._kept, None, self.invalid))
        groups = sorted(self._found.keys() | self._wanted.keys())
        rows, averages = report_rows(Counts(groups, self._correct, self._found, self._wanted), 0.0)
        return {
            "tokens": self.n_tokens,
            "accuracy": self.n_right / self.n_tokens if self.n_tokens else 1.0,
            "chunks": self._row(averages["micro avg"], groups),
            "types": {kind: self._row(row, [kind]) for kind, row in zip(groups, rows, strict=True)},
        }

    def report(self) -> str:
        """The table of the CoNLL script: shares in percent, and for each type how many chunks were predicted."""
        scores = self.scores()
        total = scores["chunks"]
        lines = [
            f"processed {scores['tokens']} tokens with {total['true']} phrases; found: {total['predicted']} phrases; "
            f"correct: {total['correct']}."
        ]
        if scores["tokens"]:
            lines.append(f"accuracy: {100 * scores['accuracy']:6.2f}%; {_shares(total)}")
        lines += [
            f"{kind or '(no type)':>17}: {_shares(row)}  {row['predicted']}" for kind, row in scores["types"].items()
        ]
        return "\n".join(lines) + "\n"

    def _count(self, counts: Counts) -> None:
        self._correct.update(counts.correct)
        self._found.update(counts.found)
        self._wanted.update(counts.wanted)

    def _row(self, row: dict, groups: list[str]) -> dict:
        counters = {"true": self._wanted, "predicted": self._found, "correct": self._correct}
        numbers = {name: sum(counter[group] for group in groups) for name, counter in counters.items()}
        return numbers | {name: row[key] for name, key in _SCORES.items()}


class TokenTally:
    """Tokens counted sequence by sequence, for labels that are no chunk labels; no label is left out."""

    def __init__(self):
        self._pairs: Counter[tuple[str, str]] = Counter()

    def add(self, y_true: list[list[str]], y_pred: list[list[str]]) -> None:
        """Count some sequences.

        Raises
        ------
        ValueError
            If numbers or lengths of sequences differ.
        """
        y_true, y_pred = paired_labels(y_true, y_pred)
        self._pairs.update(chain.from_iterable(map(zip, y_true, y_pred)))

    def scores(self) -> dict:
        """What has been counted as numbers.

        Returns
        -------
        dict
            ``tokens``, ``accuracy``, and under ``labels`` for each label, sorted, ``true``, ``predicted``,
            ``correct``, ``precision``, ``recall``, ``f1``.
        """
        counts = self._counts()
        rows, _ = report_rows(counts, 0.0)
        labels = {}
        for label, row in zip(counts.groups, rows, strict=True):
            numbers = {"true": counts.wanted[label], "predicted": counts.found[label], "correct": counts.correct[label]}
            labels[label] = numbers | {name: row[key] for name, key in _SCORES.items()}
        return {"tokens": self._pairs.total(), "accuracy": self._accuracy(), "labels": labels}

    def report(self) -> str:
        """The table of `token_classification_report`."""
        counts = self._counts()
        rows, averages = report_rows(counts, 0.0)
        return format_report(list(map(str, counts.groups)), rows, averages, 4, (self._accuracy(), self._pairs.total()))

    def _counts(self) -> Counts:
        return counts_of_pairs(self._pairs, sorted({label for pair in self._pairs for label in pair}))

    def _accuracy(self) -> float:
        n = self._pairs.total()
        return sum(k for (true, pred), k in self._pairs.items() if true == pred) / n if n else 1.0


_SCORES = {"precision": "precision", "recall": "recall", "f1": "f1-score"}


def _shares(row: dict) -> str:
    precision, recall, f1 = (100 * row[name] for name in ("precision", "recall", "f1"))
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
