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
NAMES = ["training", "conll", "evaluation", "decoding", "fit", "methods"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run ``python -m benchmarks`` in a folder; returns what it printed."""
    # A copy: beside the checkout's own folder the benchmarks would find its package without kernels.
    folder = tmp_path_factory.mktemp("benchmarks")
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "docs").mkdir()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}

    def run(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks", *arguments],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    run.folder = folder
    return run


@pytest.fixture(scope="module")
def sitting(run) -> tuple[dict, str]:
    """The results of every benchmark, and what was printed."""
    text = run(*NAMES, "--quick", "--repeats", "1", "--json", "out.json")
    return json.loads((run.folder / "out.json").read_text()), text


@pytest.fixture(scope="module")
def report(sitting) -> dict:
    return sitting[0]


def one_each(runs: dict) -> dict:
    return {name: found[0] for name, found in runs.items()}


def test_same_objective_as_crfsuite(report):
    pytest.importorskip("pycrfsuite")
    found = one_each(report["conll"]["observed"])
    # The same problem and the same method for thirty iterations: rounding apart, the same points.
    assert found["ours"]["objective"] == pytest.approx(found["python-crfsuite"]["objective"], rel=1e-3)
    assert found["ours"]["f1"] == pytest.approx(found["python-crfsuite"]["f1"], abs=0.5)


def test_training_does_the_same_work_for_everyone(report):
    for runs in report["training"].values():
        found = one_each(runs)
        ours = found["ours, 1 thread"]
        assert ours["n_iter"] == 10
        assert found["ours, 2 threads"]["objective"] == ours["objective"]
        if "python-crfsuite, 1 thread" in found:
            theirs = found["python-crfsuite, 1 thread"]
            assert theirs["n_iter"] == 10
            # Transitions that training shows in no sentence have a weight in ours alone, or in neither.
            assert theirs["n_weights"] == pytest.approx(ours["n_weights"], rel=1e-3)
            assert theirs["objective"] == pytest.approx(ours["objective"], rel=1e-3)


def test_every_sentence_is_certified(report):
    for n_latent in ("1", "3"):
        assert report["decoding"][n_latent]["decoders"]["ldi_exact"]["certified"] == 1.0


def test_latent_objectives_agree(report):
    for runs in report["evaluation"].values():
        found = [result for result in one_each(runs).values() if "value_at_zero" in result]
        # Zero weights cost the logarithm of the labels, whatever the states and the support.
        values = [result["value_at_zero"] for result in found]
        assert values == pytest.approx([values[0]] * len(values), rel=1e-9)
        for key in ("value", "gradient"):
            values = [result[key] for result in found if key in result]
            assert len(values) >= 2
            assert values == pytest.approx([values[0]] * len(values), rel=1e-9)


def test_every_method_is_timed(report):
    for result in report["methods"].values():
        assert len(result["us_per_token"]) >= 14
    assert report["fit"]["all 1"]["n_weights"] > 10_000


def test_missing_peers_are_skipped_by_name(sitting):
    report, text = sitting
    assert "Wapiti, 1 thread: not installed, skipped" in text
    assert report["taken"]["training"]["skipped"] == ["Wapiti, 1 thread", "Wapiti, 2 threads"]


def test_runs_tell_versions_and_load(report):
    for name in NAMES:
        taken = report["taken"][name]
        assert len(taken["loads"]) > 0
        assert "sklearn-latent" in taken["versions"]


def test_the_page_is_rendered_from_the_results(run, report):
    run("--render", "out.json")
    page = (run.folder / "docs" / "performance.rst").read_text()
    for title in ("Accuracy and objective", "Training: seconds an iteration", "Decoders", "Each method", "The machine"):
        assert f"\n{title}" in page
    for name in NAMES:
        assert f"(``{name}``)" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no benchmark named nothing; there are training, "),
        ([], "name benchmarks, or give --render results"),
        (["conll", "--repeats", "0"], "--repeats must be 1 or more, got 0"),
        (["conll", "--wapiti", "nowhere"], "nowhere is no program that can be run"),
    ],
)
def test_wrong_arguments_are_refused(run, arguments, message):
    assert message in run(*arguments, code=2)
