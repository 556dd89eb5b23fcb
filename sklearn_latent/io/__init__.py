# SPDX-License-Identifier: BSD-3-Clause
"""Reading labelled sequences from column files."""

from ._conll import read_conll

__all__ = ["read_conll"]
