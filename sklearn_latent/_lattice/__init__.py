# SPDX-License-Identifier: BSD-3-Clause
"""States, arcs and the two walks over them; knows arrays, not features or labels' names."""

from .lattice import Lattice
from .ngrams import NgramSpace, all_ngrams, ngram_space, seen_ngrams
from .topology import Topology, latent_topology

__all__ = ["Lattice", "NgramSpace", "Topology", "all_ngrams", "latent_topology", "ngram_space", "seen_ngrams"]
