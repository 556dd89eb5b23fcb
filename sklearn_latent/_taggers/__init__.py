# SPDX-License-Identifier: BSD-3-Clause
"""The estimators."""

from .latent_crf import LatentCRFTagger

__all__ = ["LatentCRFTagger"]
