# SPDX-License-Identifier: BSD-3-Clause
"""Labelled sequences from and to column files, and model files."""

from ._conll import read_conll
from ._models import load_model, save_model
from ._write_conll import write_conll

__all__ = ["load_model", "read_conll", "save_model", "write_conll"]
