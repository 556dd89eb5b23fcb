# SPDX-License-Identifier: BSD-3-Clause
"""Scores for predicted label sequences: chunks, whole sequences, and scorers for searches."""

from ._chunk_scores import chunk_f1_score, chunk_precision_recall_fscore_support
from ._chunks import get_chunks
from ._scorers import chunk_f1_scorer, make_chunk_scorer, token_accuracy_scorer
from ._sequence_scores import sequence_accuracy_score

__all__ = [
    "chunk_f1_score",
    "chunk_f1_scorer",
    "chunk_precision_recall_fscore_support",
    "get_chunks",
    "make_chunk_scorer",
    "sequence_accuracy_score",
    "token_accuracy_scorer",
]
