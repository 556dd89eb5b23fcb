# SPDX-License-Identifier: BSD-3-Clause
"""``benchmarks.passes`` on the small corpus: solvers end near each other; times are never asserted."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_a_few_passes_come_near_lbfgs(tmp_path):
    # A copy: beside the checkout's own folder the benchmarks would find its package without kernels.
    shutil.copytree(ROOT / "benchmarks", tmp_path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.passes", "--quick", "sgd:6", "lbfgs:60", "l2sgd:20"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = {name: float(f1) for name, f1 in re.findall(r"^(\w+) +\d+  F1 ([\d.]+)", done.stdout, re.MULTILINE)}
    assert {"sgd", "lbfgs"} <= set(found)
    assert "l2sgd" in found or "l2sgd: not installed, skipped" in done.stdout
    # 980 chunks in the test sentences: one is a tenth of a point.
    assert max(found.values()) - min(found.values()) < 1.5, found
