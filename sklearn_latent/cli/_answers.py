# SPDX-License-Identifier: BSD-3-Clause
"""What ``tag`` says about sequences, as columns of text or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import add

from ._models import Model

__all__ = ["Answer", "Answers", "Asked", "Sentences", "json_lines", "marked_text"]


@dataclass(frozen=True)
class Sentences:
    r"""Sequences of one part of a file, and its lines.

    Parameters
    ----------
    name : str
        What the file is called.
    X : list of lists of tokens
    rows : list of slices
        Where in `lines` the tokens of each sequence are.
    numbers : list of int
        Number of the line on which each sequence begins, counted from 1.
    lines : list of str
        With a ``\r`` where the file has one.
    joint : str
        What stands between columns.
    opening : str
        Text to write before the lines.
    """

    name: str
    X: list[list]
    rows: list[slice]
    numbers: list[int]
    lines: list[str]
    joint: str
    opening: str = ""


@dataclass(frozen=True)
class Asked:
    """What to find out beside the labels."""

    marginals: bool
    nbest: int | None
    probabilities: bool


@dataclass(frozen=True)
class Answer:
    """What is known of one sequence: its labels, and what else was asked."""

    labels: list[str]
    log_prob: float | None = None
    exact: bool | None = None
    marginals: list[dict[str, float]] | None = None
    nbest: list[tuple[list[str], float]] | None = None


class Answers:
    """Asks a model about sequences of tokens."""

    def __init__(self, model: Model, asked: Asked):
        self._model = model
        self._asked = asked
        classes = model.tagger.classes_.tolist()
        self._classes = list(map(str, classes))
        self._are_text = self._classes == classes

    def __call__(self, tokens: list[list]) -> list[Answer]:
        """One answer a sequence."""
        if not tokens:
            return []
        tagger, asked = self._model.tagger, self._asked
        X = self._model.features(tokens)
        columns: dict[str, list] = {}
        if asked.nbest is not None:
            columns["nbest"] = [self._texts(found) for found in tagger.predict_nbest(X, asked.nbest)]
        if asked.probabilities:
            result = tagger.decode(X)
            columns |= {"log_prob": result.log_prob.tolist(), "exact": result.exact.tolist()}
            labels = result.labels
        elif asked.nbest is not None:
            labels = [found[0][0] for found in columns["nbest"]]
        else:
            labels = tagger.predict(X)
        if asked.marginals:
            rows = (own.tolist() for own in tagger.predict_marginals(X))
            columns["marginals"] = [[dict(zip(self._classes, row, strict=True)) for row in own] for own in rows]
        columns["labels"] = labels if self._are_text else [list(map(str, own)) for own in labels]
        return [Answer(**dict(zip(columns, own, strict=True))) for own in zip(*columns.values(), strict=True)]

    @staticmethod
    def _texts(found: list[tuple[list, float]]) -> list[tuple[list[str], float]]:
        return [(list(map(str, labels)), p) for labels, p in found]


def marked_text(sentences: Sentences, answers: list[Answer]) -> Iterator[str]:
    """Every line with its columns more, and the lines between sequences as they are."""
    yield sentences.opening
    columns = _Columns(sentences.joint)
    lines, at, written = sentences.lines, 0, []
    for rows, answer in zip(sentences.rows, answers, strict=True):
        written += lines[at : rows.start]
        written += _sequence(lines[rows], answer, columns)
        at = rows.stop
    yield "\n".join([*written, *lines[at:], ""])


def _sequence(lines: list[str], answer: Answer, columns: _Columns) -> list[str]:
    """Lines of one sequence with their columns, once or as often as there are labellings."""
    if answer.nbest is None:
        return _marked(lines, columns.of(answer.labels, answer.marginals))
    end = "\r" if lines[0].endswith("\r") else ""
    out = []
    for rank, (labels, p) in enumerate(answer.nbest):
        out += [end] if rank else []
        out += [f"# {rank} {p:.6g}{end}", *_marked(lines, columns.of(labels, answer.marginals))]
    return out


class _Columns(dict):
    """What to add to each line; a label's column is made once."""

    def __init__(self, joint: str):
        self._joint = joint

    def __missing__(self, label: str) -> str:
        self[label] = column = self._joint + label
        return column

    def of(self, labels: list[str], marginals: list[dict[str, float]] | None) -> Iterable[str]:
        """For each line of a sequence."""
        columns = map(self.__getitem__, labels)
        if marginals is None:
            return columns
        return (
            self._joint.join([column, *(f"{other}/{p:.6g}" for other, p in row.items())])
            for column, row in zip(columns, marginals, strict=True)
        )


def _marked(lines: list[str], columns: Iterable[str]) -> list[str]:
    if "\r" not in "".join(lines):
        return list(map(add, lines, columns))
    return [
        f"{line[:-1]}{column}\r" if line.endswith("\r") else line + column
        for line, column in zip(lines, columns, strict=True)
    ]


def json_lines(sentences: Sentences, answers: list[Answer]) -> Iterator[str]:
    """An object a sequence."""
    for tokens, number, answer in zip(sentences.X, sentences.numbers, answers, strict=True):
        shown = {
            "file": sentences.name,
            "line": number,
            "tokens": tokens,
            "labels": answer.labels,
            "log_prob": answer.log_prob if math.isfinite(answer.log_prob) else None,
            "exact": answer.exact,
        }
        if answer.marginals is not None:
            shown["marginals"] = answer.marginals
        if answer.nbest is not None:
            shown["nbest"] = [{"labels": labels, "probability": p} for labels, p in answer.nbest]
        yield json.dumps(shown, ensure_ascii=False, allow_nan=False) + "\n"
