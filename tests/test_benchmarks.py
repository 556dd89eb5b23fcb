# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks in their quick mode: results agree with the peers'; times are never asserted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> dict:
    # A copy: beside the checkout's own folder the benchmarks would find its package without kernels.
    folder = tmp_path_factory.mktemp("benchmarks")
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    arguments = ["conll", "evaluation", "decoding", "fit", "methods", "--quick", "--repeats", "1", "--json", "out.json"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (folder / "docs").mkdir()
    render = [sys.executable, "-m", "benchmarks", "--render", "out.json"]
    done = subprocess.run(render, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    page = (folder / "docs" / "performance.rst").read_text()
    for title in ("Accuracy and objective", "Decoders", "Each method", "Where the time and the memory of fit go"):
        assert f"\n{title}\n---" in page
    return json.loads((folder / "out.json").read_text())


def test_same_objective_as_crfsuite(report):
    pytest.importorskip("pycrfsuite")
    found = {name: runs[0] for name, runs in report["conll"]["observed"].items()}
    # The same problem and the same method for thirty iterations: rounding apart, the same points.
    assert found["ours"]["objective"] == pytest.approx(found["python-crfsuite"]["objective"], rel=1e-3)
    assert found["ours"]["f1"] == pytest.approx(found["python-crfsuite"]["f1"], abs=0.5)


def test_every_sentence_is_certified(report):
    for n_latent in ("1", "3"):
        assert report["decoding"][n_latent]["decoders"]["ldi_exact"]["certified"] == 1.0


def test_zero_weights_cost_the_logarithm_of_the_labels(report):
    runs = report["evaluation"]
    values = [found[0]["value_at_zero"] for found in runs.values()]
    assert values == pytest.approx([values[0]] * len(values), rel=1e-9)


def test_every_method_is_timed(report):
    for result in report["methods"].values():
        assert len(result["us_per_token"]) >= 14
    assert report["fit"]["all 1"]["n_weights"] > 10_000
