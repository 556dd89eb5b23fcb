# SPDX-License-Identifier: BSD-3-Clause
"""Running workers interleaved, and what the machine was doing."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["ROOT", "Run", "interleave", "machine", "median", "run", "spread"]

ROOT = Path(__file__).resolve().parent.parent

#: Modules of the peers, which may be missing.
PEERS = ("pycrfsuite", "torch")

#: A worker: name, module, arguments.
Run = tuple[str, str, list[str]]


def machine() -> dict:
    """Processor count, load and versions: figures of shared machines mean little without them."""
    import numpy
    import scipy
    import sklearn

    import sklearn_latent

    return {
        "cpus": os.cpu_count(),
        "load": [round(v, 2) for v in os.getloadavg()],
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "sklearn_latent": sklearn_latent.__version__,
    }


def run(python: str, module: str, arguments: list[str]) -> dict | None:
    """One worker in a process of its own; None if a peer it needs is not installed."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [env.get("PYTHONPATH")])])
    out = subprocess.run(
        [python, "-m", module, *arguments], capture_output=True, text=True, env=env, cwd=ROOT, check=False
    )
    if out.returncode:
        if any(f"No module named '{peer}'" in out.stderr for peer in PEERS):
            return None
        raise RuntimeError(f"{module} {' '.join(arguments)} failed:\n{out.stderr}")
    return json.loads(out.stdout.strip().splitlines()[-1])


def interleave(runs: list[Run], repeats: int, pythons: dict[str, str], say: Callable[[str], None]) -> dict[str, list]:
    """Run the workers by turns, `repeats` times each; a peer that isn't installed is skipped by name."""
    results: dict[str, list] = {name: [] for name, _, _ in runs}
    missing = set()
    for k in range(repeats):
        for name, module, arguments in runs:
            if name in missing:
                continue
            result = run(pythons.get(module.rsplit(".", 1)[-1], sys.executable), module, arguments)
            if result is None:
                say(f"{name}: not installed, skipped")
                missing.add(name)
                continue
            results[name].append(result)
            say(f"  {k + 1}/{repeats} {name}: {result.get('seconds', float('nan')):.3f} s")
    return {name: found for name, found in results.items() if found}


def median(results: list[dict], key: str) -> float:
    """Median of a figure over runs."""
    return statistics.median(r[key] for r in results)


def spread(results: list[dict], key: str) -> str:
    """Smallest and largest of a figure."""
    values = [r[key] for r in results]
    return f"{min(values):.3g}-{max(values):.3g}"
