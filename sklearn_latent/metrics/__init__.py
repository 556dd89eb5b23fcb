# SPDX-License-Identifier: BSD-3-Clause
"""Scores for predicted label sequences: chunks, tokens, whole sequences; reports, tests, and scorers for searches."""

from ._chunk_scores import chunk_f1_score, chunk_precision_recall_fscore_support
from ._chunks import get_chunks
from ._convert import convert_labels
from ._reports import chunk_classification_report, token_classification_report
from ._scorers import chunk_f1_scorer, make_chunk_scorer, make_token_scorer, token_accuracy_scorer
from ._sequence_scores import sequence_accuracy_score
from ._significance import mcnemar_test, randomization_test
from ._token_scores import token_error_rate, token_f1_score

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
