# SPDX-License-Identifier: BSD-3-Clause
"""The estimators."""

from .latent_crf import LatentCRFTagger
from .rows import RowClassifier
from .spn_crf import SPNCRFTagger

__all__ = ["LatentCRFTagger", "RowClassifier", "SPNCRFTagger"]
