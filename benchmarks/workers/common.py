# SPDX-License-Identifier: BSD-3-Clause
"""What every worker needs. Imports nothing but the standard library, so that start-up can be timed with it."""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable

#: Modules whose versions a result names, and the distribution each comes from.
_PACKAGES = {
    "sklearn_latent": "sklearn-latent",
    "sklearn": "scikit-learn",
    "numpy": "numpy",
    "scipy": "scipy",
    "pycrfsuite": "python-crfsuite",
    "torch": "torch",
}


class Clock:
    """Wall and processor seconds of a block."""

    def __enter__(self):
        self.wall, self.cpu = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *exception):
        self.wall += time.perf_counter()
        self.cpu += time.process_time()


class Stamps:
    """Wall and processor time at the end of each iteration."""

    def __init__(self):
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def __call__(self, *_) -> None:
        self.wall.append(time.perf_counter())
        self.cpu.append(time.process_time())

    def report(self) -> dict:
        """Medians over the iterations but the first, before which a solver evaluates its start."""
        if len(self.wall) < 2:
            return {"iteration": float("nan"), "iteration_cpu": float("nan")}
        return {
            "iteration": statistics.median(b - a for a, b in zip(self.wall[:-1], self.wall[1:], strict=True)),
            "iteration_cpu": statistics.median(b - a for a, b in zip(self.cpu[:-1], self.cpu[1:], strict=True)),
        }


def peak_mb(process: int | str = "self") -> float:
    """Peak resident memory of a process so far, in MB.

    Where Linux tells it, of its present program alone: what `getrusage` counts begins with the memory of the process
    that started this one. Elsewhere 0 for other processes.
    """
    try:
        return _status(process, "VmHWM")
    except OSError:
        if process != "self":
            return 0.0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1e6 if sys.platform == "darwin" else 1e3)


def resident_mb() -> float:
    """Resident memory now, in MB; the peak where the system does not tell it."""
    try:
        return _status("self", "VmRSS")
    except OSError:
        return peak_mb()


def forget_peak() -> None:
    """Let the peak begin again at what is resident now; without effect where the system can't."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def _status(process: int | str, key: str) -> float:
    with open(f"/proc/{process}/status") as file:
        for line in file:
            if line.startswith(key):
                return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"/proc/{process}/status has no {key}")


def load(path: str) -> dict:
    """Arrays and labels of a corpus file written by `benchmarks.corpus.write`."""
    import numpy as np

    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def versions() -> dict[str, str]:
    """Versions of the packages that this worker has imported."""
    from importlib import metadata

    found = {}
    for module, distribution in _PACKAGES.items():
        if module in sys.modules:
            try:
                found[distribution] = getattr(sys.modules[module], "__version__", None) or metadata.version(
                    distribution
                )
            except metadata.PackageNotFoundError:
                found[distribution] = "unknown"
    return found


def done(**result) -> None:
    """Print the result as the worker's last line."""
    print(json.dumps({"peak_mb": round(peak_mb(), 1), "versions": versions()} | result), flush=True)


def main(tasks: dict[str, Callable], *, arrays: bool = True) -> None:
    """Do the task that the command line names: ``TASK PATH [key=value ...]``.

    Parameters
    ----------
    tasks : dict
        Functions of a corpus, or of a path, and options as text.
    arrays : bool
        Whether the path is a file of arrays, to be loaded.
    """
    task, path, *options = sys.argv[1:]
    tasks[task](load(path) if arrays else path, **dict(option.split("=", 1) for option in options))
