# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what a fitted tagger does; matplotlib is imported when one is drawn."""

from ._decoder_curve import DecoderCurveDisplay
from ._latent_mass import LatentMassDisplay, latent_path_mass

__all__ = ["DecoderCurveDisplay", "LatentMassDisplay", "latent_path_mass"]
