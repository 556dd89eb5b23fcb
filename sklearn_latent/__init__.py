# SPDX-License-Identifier: BSD-3-Clause
"""Latent-variable conditional random fields for labelling sequences with scikit-learn."""

from ._sequences import LabelSequences, SequenceMatrix
from ._taggers import LatentCRFTagger, RowClassifier, SPNCRFTagger

__all__ = ["LabelSequences", "LatentCRFTagger", "RowClassifier", "SPNCRFTagger", "SequenceMatrix", "__version__"]

__version__ = "0.1.0.dev0"
