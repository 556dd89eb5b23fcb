# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks in their quick mode: results agree with the peers'; times are never asserted."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMES = [
    "training", "conll", "pipeline", "vectorizing", "tagging", "command", "startup", "evaluation", "stochastic",
    "growth", "memory", "input_memory", "fit", "decoding", "methods", "spn",
]  # fmt: skip


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
            timeout=900,  # on a busy machine; a minute on a quiet one
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


@pytest.fixture(scope="module")
def page(run, sitting) -> str:
    """The page rendered from the results."""
    run("--render", "out.json")
    return (run.folder / "docs" / "performance.rst").read_text()


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


def test_passes_over_networks_agree(report):
    found = one_each(report["spn"]["order 1"]["runs"])
    assert found["ours, float64, 2 threads"]["value"] == found["ours, float64, 1 thread"]["value"]
    assert found["ours, float32, 1 thread"]["value"] == pytest.approx(
        found["ours, float64, 1 thread"]["value"], rel=1e-5
    )
    for order in ("order 1", "order 2"):
        found = one_each(report["spn"][order]["runs"])
        # Both take the products of the same networks.
        assert found["bare products, float64, 1 thread"]["columns"] == found["ours, float64, 1 thread"]["columns"]
    for name, difference in report["spn"]["differences"].items():  # none where PyTorch is missing
        assert max(difference.values()) < (1e-11 if "float64" in name else 1e-4), name


def test_every_method_is_timed(report):
    for result in report["methods"].values():
        assert len(result["us_per_token"]) >= 14
    assert report["fit"]["all 1"]["n_weights"] > 10_000


def test_pipelines_end_at_the_same_objective(report):
    found = one_each(report["pipeline"])
    ours = found["ours, 2 threads"]
    assert set(ours["spent"]) == {"import", "read", "features and training", "save"}
    if "python-crfsuite, attributes in Python" in found:
        theirs = found["python-crfsuite, attributes in Python"]
        assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-3)
        assert ours["f1"] == pytest.approx(theirs["f1"], abs=0.2)
        early = found["ours, 2 threads, to within 0.1 %"]
        # The first iteration that is near enough: just below the mark, and no later than the stopping rule.
        assert 0.99 * theirs["objective"] < early["objective"] <= 1.001 * theirs["objective"]
        assert early["n_iter"] <= ours["n_iter"]


def test_attributes_made_in_python_are_the_same_features(report):
    pytest.importorskip("pycrfsuite")
    found = one_each(report["vectorizing"])
    for key in ("n_features", "n_entries"):
        assert found["python-crfsuite"][key] == found["ours"][key]


def test_files_are_labelled_alike(report):
    found = one_each(report["tagging"]["all"])
    assert found["ours, tag_file.py"]["n_tokens"] == 1783
    if "python-crfsuite, attributes in Python" in found:
        # Models of the same features after the same iterations.
        assert found["python-crfsuite, attributes in Python"]["same_labels"] > 0.99


def test_the_command_labels_what_it_is_given(report):
    runs = one_each(report["command"]["runs"])
    script, *files = runs.values()
    assert [found["n_tokens"] for found in files] == [1783, 8 * 1783] and script["n_tokens"] == 1783
    assert files[0]["written"] == script["written"]
    assert list(report["command"]["starts"]["starts"][0]["starts"])[-1] == "sklearn-latent tag, one sentence"


def test_nothing_needless_is_imported(report):
    imports = one_each(report["startup"]["imports"])
    assert not {"matplotlib", "torch", "polars", "dask"} & set(
        imports["sklearn_latent, where these are imported"]["heavy"]
    )
    (model,) = one_each(report["startup"]["model"]).values()
    assert model["n_labels"] == 3


def test_solvers_learn(report):
    plain = one_each(report["stochastic"]["plain"])
    converged = plain["L-BFGS"]["points"][-1]["f1"]
    assert plain["L-BFGS"]["points"][0]["f1"] < converged
    for name, found in plain.items():
        assert found["points"][-1]["f1"] == pytest.approx(converged, abs=10), name


def test_a_corpus_over_and_over_is_the_same_problem(report):
    once, often = (runs[0] for runs in report["growth"]["tokens"])
    assert often["n_tokens"] == 4 * once["n_tokens"]
    assert often["n_weights"] == once["n_weights"]
    assert report["growth"]["labels"][0][0]["n_labels"] == 34  # 17 in the small corpus, each split in two
    assert report["growth"]["latent states"][0][0]["n_states"] == 9
    assert report["growth"]["length"][0][0]["n_sequences"] == 4


def test_memory_of_fit_is_told_in_parts(report):
    for found in one_each(report["memory"]).values():
        # Six pairs of vectors at least are there at the peak.
        assert found["fit_mb"] > 2 * 6 * 8 * found["n_weights"] / 1e6 / 2
        assert found["weights_mb"] == pytest.approx(3 * 6 * 8 * found["n_weights"] / 1e6)
        assert found["peak_mb"] > found["fit_mb"]


def test_memory_beside_the_input(report):
    for found in one_each(report["input_memory"]["dense"]).values():
        assert found["data_mb"] == pytest.approx(2000 * 300 * 8 / 1e6) and found["n_iter"] == 2
        assert found["peak_mb"] > found["growth_mb"] >= 0
    held, streamed = one_each(report["input_memory"]["dicts"]).values()
    assert held["data_mb"] > 0 == streamed["data_mb"] and streamed["growth_mb"] > 0


def test_missing_peers_are_skipped_by_name(sitting):
    report, text = sitting
    assert "Wapiti, 1 thread: not installed, skipped" in text
    assert report["taken"]["training"]["skipped"] == ["Wapiti, 1 thread", "Wapiti, 2 threads"]


def test_runs_tell_versions_and_load(report):
    for name in NAMES:
        taken = report["taken"][name]
        assert len(taken["loads"]) > 0
        assert "sklearn-latent" in taken["versions"]


def test_the_page_is_rendered_from_the_results(page):
    for title in ("Accuracy and objective", "Training: seconds an iteration", "Decoders", "Each method", "The machine"):
        assert f"\n{title}" in page
    for name in NAMES:
        assert f"(``{name}``)" in page


def test_pictures_are_drawn(run, page):
    pytest.importorskip("matplotlib")
    pictures = sorted(path.name for path in (run.folder / "docs" / "images").iterdir())
    assert len(pictures) >= 6
    for name in pictures:
        assert f"figure:: images/{name}" in page


def test_exponent_and_first_lasting_point(run, monkeypatch):
    monkeypatch.syspath_prepend(str(run.folder))
    suites = importlib.import_module("benchmarks.suites")
    assert suites.growth.exponent([(10, 3.0), (100, 30.0), (1000, 300.0)]) == pytest.approx(1.0)
    assert suites.growth.exponent([(10, 1.0), (100, 100.0)]) == pytest.approx(2.0)
    points = [{"n_iter": k, "f1": f1} for k, f1 in ((1, 90.0), (2, 93.0), (3, 91.0), (4, 92.5), (5, 92.6))]
    assert suites.stochastic.reached(points, 92.0)["n_iter"] == 4
    assert suites.stochastic.reached(points, 92.6)["n_iter"] == 5
    assert suites.stochastic.reached(points, 93.0) is None


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
