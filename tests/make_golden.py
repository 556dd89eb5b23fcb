# SPDX-License-Identifier: BSD-3-Clause
"""Renews ``data/golden.json``: ``PYTHONPATH=tests python tests/make_golden.py``.

On purpose only, and with a word in the changelog about what changed the numbers.
Prints how far the new numbers are from the old ones.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from golden_cases import CASES, numbers

GOLDEN = Path(__file__).parent / "data" / "golden.json"


def main() -> None:
    old = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    new = {case: numbers(case) for case in CASES}
    for case, found in new.items():
        for name, value in found.items():
            before = old.get(case, {}).get(name)
            if before is None or np.shape(before) != np.shape(value):
                print(f"{case} {name}: new")
            elif before != value:
                print(f"{case} {name}: largest change {np.abs(np.subtract(value, before)).max():.3g}")
    GOLDEN.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
