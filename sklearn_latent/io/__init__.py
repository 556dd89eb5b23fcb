# SPDX-License-Identifier: BSD-3-Clause
"""Labelled sequences from column files, and model files."""

from ._conll import read_conll
from ._models import load_model, save_model

__all__ = ["load_model", "read_conll", "save_model"]
