# SPDX-License-Identifier: BSD-3-Clause
"""Training criteria: value and gradient from a scorer, a lattice and labels."""

from .chain import ChainObjective, Chunk, Packing
from .local import LocalObjective, TooManyHistories
from .sampled import SampledObjective

__all__ = ["ChainObjective", "Chunk", "LocalObjective", "Packing", "SampledObjective", "TooManyHistories"]
