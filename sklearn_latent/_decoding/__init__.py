# SPDX-License-Identifier: BSD-3-Clause
"""Decoders: from a lattice to label sequences, each with what it can prove."""

from .approximate_ldi import ApproximateLDIDecoder
from .base import Decoded, Decoder, DecodeResult
from .bayes_risk import BayesRiskDecoder
from .best_path import BestPathDecoder
from .exact_ldi import ExactLDIDecoder, label_nbest
from .marginal import MarginalDecoder

__all__ = [
    "DECODERS",
    "ApproximateLDIDecoder",
    "BayesRiskDecoder",
    "BestPathDecoder",
    "DecodeResult",
    "Decoded",
    "Decoder",
    "ExactLDIDecoder",
    "MarginalDecoder",
    "label_nbest",
]

#: The contract's short names.
DECODERS = {
    "ldi_exact": ExactLDIDecoder,
    "ldi_approx": ApproximateLDIDecoder,
    "bhp": BestPathDecoder,
    "bmp": MarginalDecoder,
    "mbr": BayesRiskDecoder,
}
