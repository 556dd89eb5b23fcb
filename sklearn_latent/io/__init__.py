# SPDX-License-Identifier: BSD-3-Clause
"""Reading and writing labelled sequences as column files."""

from ._conll import read_conll
from ._write_conll import write_conll

__all__ = ["read_conll", "write_conll"]
