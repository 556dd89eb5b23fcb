# SPDX-License-Identifier: BSD-3-Clause
"""Ragged data: the container of features, the list of labels, and the one judge of user input."""

from .labels import LabelCodec, LabelSequences
from .matrix import SequenceMatrix

__all__ = ["LabelCodec", "LabelSequences", "SequenceMatrix"]
