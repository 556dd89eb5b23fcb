# SPDX-License-Identifier: BSD-3-Clause
"""What Sun and Tsujii (2009) report, as far as it is known."""

from __future__ import annotations

__all__ = ["PUBLISHED", "TABLES"]

_COLUMNS = ("sentence_accuracy", "precision", "recall", "f1", "seconds_with_scores")

#: The marks of figures that were recalled and not read again.
RECALLED = "†"


def _row(*cells: str) -> dict[str, str]:
    return dict(zip(_COLUMNS, cells, strict=True))


#: Rows by corpus and decoder. Table 4's first row but its sentence accuracy, and Table 5, were read.
PUBLISHED: dict[str, dict[str, dict[str, str]]] = {
    "np": {
        "ldi_approx": _row("60.98†", "91.76", "90.59", "91.17", "42"),
        "ldi_exact": _row("60.88†", "91.72†", "90.61†", "91.16†", "1K†"),
        "bhp": _row("59.34†", "91.54†", "90.30†", "90.91†", "25†"),
        "crf": _row("58.37†", "90.92†", "90.33†", "90.63†", "18†"),
        "mbr": _row("", "92.22", "90.40", "91.30", "61"),
    },
    "bio": {
        "ldi_approx": _row("40.64†", "68.34†", "66.50†", "67.41†", "0.4K†"),
        "ldi_exact": _row("40.76†", "68.36†", "66.45†", "67.39†", "4K†"),
        "bmp": _row("39.10†", "65.85†", "66.49†", "66.16†", "0.3K†"),
        "bhp": _row("39.93†", "67.60†", "65.46†", "66.51†", "0.1K†"),
        "crf": _row("37.44†", "63.69†", "64.66†", "64.17†", "0.1K†"),
    },
}

# The same models with as many latent states as the paper's.
PUBLISHED["np5"] = PUBLISHED["np"]

#: Tables by number: corpus, and decoders in the paper's order, then those that it lacks.
TABLES: dict[int, tuple[str, list[str]]] = {
    3: ("bio", ["ldi_approx", "ldi_exact", "bmp", "bhp", "crf", "mbr"]),
    4: ("np", ["ldi_approx", "ldi_exact", "bmp", "bhp", "crf"]),
    5: ("np", ["ldi_approx", "mbr"]),
}
