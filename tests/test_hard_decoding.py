# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of hard decoding in its quick mode: all variants of the search agree; times are never asserted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_variant_certifies_the_same_answer(tmp_path):
    # A copy: beside the checkout's own folder the benchmark would find its package without kernels.
    shutil.copytree(ROOT / "benchmarks", tmp_path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.hard_decoding", "--quick", "--json", "out.json"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert sorted(report) == ["epsilon", "flat", "nbest", "persistent"]
    for table in report.values():
        for row in table:
            assert row["agree"], row["name"]
            for name, variant in row["variants"].items():
                assert variant["certified"] == row["lattices"], (row["name"], name)
    # A longer list and a stricter proof cost more.
    assert len(report["epsilon"]) == 4
    first, last = (report["epsilon"][i]["variants"]["shipped"]["mean_expanded"] for i in (0, -1))
    assert last <= first
