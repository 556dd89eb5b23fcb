# SPDX-License-Identifier: BSD-3-Clause
"""The estimators."""

from .latent_crf import LatentCRFTagger
from .rows import RowClassifier

__all__ = ["LatentCRFTagger", "RowClassifier"]
