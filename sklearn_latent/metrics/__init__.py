# SPDX-License-Identifier: BSD-3-Clause
"""Scores for predicted label sequences: chunks, tokens, whole sequences; reports, tests, and scorers for searches."""

from typing import TYPE_CHECKING

from ._chunk_scores import chunk_f1_score, chunk_precision_recall_fscore_support
from ._chunks import get_chunks
from ._convert import convert_labels
from ._reports import chunk_classification_report, token_classification_report
from ._sequence_scores import sequence_accuracy_score
from ._significance import mcnemar_test, randomization_test
from ._token_scores import token_error_rate, token_f1_score

if TYPE_CHECKING:
    from ._scorers import chunk_f1_scorer, make_chunk_scorer, make_token_scorer, token_accuracy_scorer

__all__ = [
    "chunk_classification_report",
    "chunk_f1_score",
    "chunk_f1_scorer",
    "chunk_precision_recall_fscore_support",
    "convert_labels",
    "get_chunks",
    "make_chunk_scorer",
    "make_token_scorer",
    "mcnemar_test",
    "randomization_test",
    "sequence_accuracy_score",
    "token_accuracy_scorer",
    "token_classification_report",
    "token_error_rate",
    "token_f1_score",
]

#: They need scikit-learn's own metrics, and taggers, which import this package, do not.
_ON_DEMAND = {"chunk_f1_scorer", "make_chunk_scorer", "make_token_scorer", "token_accuracy_scorer"}


def __getattr__(name: str):
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _scorers

    globals().update((known, getattr(_scorers, known)) for known in _ON_DEMAND)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
