# SPDX-License-Identifier: BSD-3-Clause
"""Corpora: one shipped inside, one read from files the user has, and a simulator with known truth."""

from ._chunks import load_chunks
from ._conll2000 import fetch_conll2000
from ._simulated import make_latent_sequences

__all__ = ["fetch_conll2000", "load_chunks", "make_latent_sequences"]
