# SPDX-License-Identifier: BSD-3-Clause
"""What the literature reports on the same folds or the whole corpus, errors in per cent, as far as it is known."""

from __future__ import annotations

__all__ = ["PUBLISHED"]

#: By model: the error, and where it stands.
PUBLISHED: dict[str, tuple[str, str]] = {
    "linear": ("14.2", "Do and Artières 2010"),
    "gmm": ("9.53", "the paper"),
    "hu": ("7.73", "van der Maaten et al. 2011, SGD"),
    "spn": ("5.70", "the paper"),
    "memm8": ("3.12", "the paper"),
    "hu-o2": ("1.99", "van der Maaten et al. 2011, large margin, 1,000 units"),
    "spn-o2-324": ("1.41", "the paper"),
}
