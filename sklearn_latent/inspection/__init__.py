# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted tagger has learned and why it answers as it does: tables (pandas) and pictures (matplotlib).

pandas and matplotlib are imported when a table is made or a picture drawn.
"""

from ._decoder_curve import DecoderCurveDisplay
from ._explain import explain
from ._latent_mass import LatentMassDisplay, latent_path_mass
from ._learning_curve import LearningCurveDisplay
from ._marginals import MarginalsDisplay
from ._sequence import SequenceDisplay, show_sequence
from ._tables import transitions_table, weights_table
from ._transitions import TransitionDisplay

__all__ = [
    "DecoderCurveDisplay",
    "LatentMassDisplay",
    "LearningCurveDisplay",
    "MarginalsDisplay",
    "SequenceDisplay",
    "TransitionDisplay",
    "explain",
    "latent_path_mass",
    "show_sequence",
    "transitions_table",
    "weights_table",
]
