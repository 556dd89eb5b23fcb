# SPDX-License-Identifier: BSD-3-Clause
"""The estimators."""

from .latent_crf import LatentCRFTagger
from .spn_crf import SPNCRFTagger

__all__ = ["LatentCRFTagger", "SPNCRFTagger"]
