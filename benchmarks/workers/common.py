# SPDX-License-Identifier: BSD-3-Clause
"""What every worker needs; imports nothing but the standard library and numpy, so that peers' environments have it."""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np


class Clock:
    """Wall and processor seconds of a block."""

    def __enter__(self):
        self.wall, self.cpu = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *exception):
        self.wall += time.perf_counter()
        self.cpu += time.process_time()


def peak_mb() -> float:
    """Peak resident memory of this process so far, in MB (Linux counts in kB)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def load(path: str) -> dict:
    """Arrays and labels of a corpus file written by `benchmarks.corpus.write`."""
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def done(**result) -> None:
    """Print the result as the worker's last line."""
    print(json.dumps(result | {"peak_mb": round(peak_mb(), 1)}), flush=True)
