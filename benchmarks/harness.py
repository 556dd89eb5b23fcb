# SPDX-License-Identifier: BSD-3-Clause
"""Running workers by turns, each in a process of its own, and what the machine was doing."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import corpus

__all__ = ["ROOT", "Bench", "Job", "machine", "median"]

ROOT = Path(__file__).resolve().parent.parent

#: Peers by the first word of their worker's name: the module that may be missing, or None for a program.
PEERS = {"crfsuite": "pycrfsuite", "torch": "torch", "wapiti": None}


@dataclass(frozen=True)
class Job:
    """What one worker does.

    Parameters
    ----------
    name : str
        In tables and messages.
    worker : str
        Module in `benchmarks.workers`; peers' modules begin with the peer's name.
    task : str
    path : Path or str
        Corpus, model or text file, or what else the task is done to.
    options : dict
        Passed on as ``key=value``.
    """

    name: str
    worker: str
    task: str
    path: Path | str
    options: dict = field(default_factory=dict)

    @property
    def peer(self) -> str:
        """The package that does the work; ours is "ours"."""
        first = self.worker.split("_")[0]
        return first if first in PEERS else "ours"


@dataclass
class Bench:
    """A sitting: where its files go, how often workers run, and where the peers are.

    Parameters
    ----------
    folder : Path
        For corpora and models; the caller deletes it.
    quick : bool
        The corpus shipped inside and few iterations.
    repeats : int
    pythons : dict of {str: str}
        Interpreters that have the peers, by the peer's name.
    wapiti : str or None
        Path to the `wapiti` program.
    all_weights : bool
        The benchmark `conll` also with every weight.
    say : callable
        Takes a line of progress.
    """

    folder: Path
    quick: bool = False
    repeats: int = 3
    pythons: dict[str, str] = field(default_factory=dict)
    wapiti: str | None = None
    all_weights: bool = False
    say: Callable[[str], None] = print
    skipped: set[str] = field(default_factory=set)
    _corpora: dict = field(default_factory=dict)

    def corpus(self, task: str, **options) -> corpus.Corpus:
        """The corpus of a task, vectorized once a sitting."""
        key = (task, *sorted(options.items()))
        if key not in self._corpora:
            path = self.folder / f"corpus{len(self._corpora)}.npz"
            self._corpora[key] = corpus.write(path, task, quick=self.quick, **options)
        return self._corpora[key]

    def run(self, job: Job) -> dict | None:
        """One worker in a process of its own; None if the peer it needs is missing.

        To what the worker reports are added the wall and processor seconds of the whole process, the interpreter's
        start included, and the machine's load just before it.
        """
        if job.peer == "wapiti" and self.wapiti is None:
            return None
        options = job.options | ({"program": self.wapiti} if job.peer == "wapiti" else {})
        command = [
            self.pythons.get(job.peer, sys.executable), "-m", f"benchmarks.workers.{job.worker}", job.task,
            str(job.path), *(f"{key}={value}" for key, value in options.items()),
        ]  # fmt: skip
        env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        # As in an installed package, modules are compiled once and not at every import.
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [env.get("PYTHONPATH")])])
        load = os.getloadavg()[0]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            wall = -time.perf_counter()
            process = subprocess.Popen(command, stdout=out, stderr=err, env=env, cwd=ROOT)
            _, status, usage = os.wait4(process.pid, 0)
            wall += time.perf_counter()
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            text, errors = out.read(), err.read()
        if process.returncode:
            if job.peer in PEERS and f"No module named '{PEERS[job.peer]}'" in errors:
                return None
            raise RuntimeError(f"{job.name}: {' '.join(command)} failed:\n{errors}")
        result = json.loads(text.strip().splitlines()[-1])
        return result | {
            "process_wall": wall,
            "process_cpu": usage.ru_utime + usage.ru_stime,
            "load_before": round(load, 2),
        }

    def interleave(self, jobs: list[Job], repeats: int | None = None) -> dict[str, list[dict]]:
        """Run the jobs by turns, `repeats` times each; a peer that isn't installed is skipped by name."""
        results: dict[str, list] = {job.name: [] for job in jobs}
        repeats = self.repeats if repeats is None else repeats
        missing = set()
        for k in range(repeats):
            for job in jobs:
                if job.name in missing:
                    continue
                result = self.run(job)
                if result is None:
                    self.say(f"  {job.name}: not installed, skipped")
                    missing.add(job.name)
                    self.skipped.add(job.name)
                    continue
                results[job.name].append(result)
                self.say(f"  {k + 1}/{repeats} {job.name}: {result['process_wall']:.2f} s")
        return {name: found for name, found in results.items() if found}


def machine() -> dict:
    """Processor count, load and versions: figures of shared machines mean little without them."""
    import numpy
    import scipy
    import sklearn

    import sklearn_latent

    return {
        "cpus": os.cpu_count(),
        "clock_mhz": _clock(),
        "load": [round(v, 2) for v in os.getloadavg()],
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "sklearn_latent": sklearn_latent.__version__,
        "commit": _commit(),
    }


def _clock() -> float | None:
    """The processor's clock in MHz where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("cpu MHz"):
                return float(line.split(":")[1])
    except OSError:
        pass
    return None


def _commit() -> str | None:
    """The checkout's commit, marked if there are changes on top of it."""
    try:
        out = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return out.stdout.strip() or None


def median(results: list[dict], key: str) -> float:
    """Median of a figure over runs."""
    return statistics.median(r[key] for r in results)
