# SPDX-License-Identifier: BSD-3-Clause
"""States, arcs and the two walks over them; knows arrays, not features or labels' names."""

from .lattice import Lattice
from .topology import Topology, latent_topology

__all__ = ["Lattice", "Topology", "latent_topology"]
