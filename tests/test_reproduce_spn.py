# SPDX-License-Identifier: BSD-3-Clause
"""The experiments on sum-product networks in their quick mode: figures agree with models, splits and the page."""

from __future__ import annotations

import json
import statistics

import numpy as np
import pytest

from benchmark_command import command
from sklearn_latent import SPNCRFTagger
from sklearn_latent.datasets import load_digit_sequences

MODELS = "logistic,gmm,hu-o2,memm8"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spn")


@pytest.fixture(scope="module")
def run(folder):
    with command("reproduce_spn", folder) as run:
        yield run


@pytest.fixture(scope="module")
def results(run, folder) -> dict:
    run("--split", "folds", "--models", MODELS)
    run("--split", "words", "--models", "gmm", "--folds", "2")
    run("--split", "speakers", "--models", "speech-lc-122", "--folds", "1")
    return {path.stem: json.loads(path.read_text()) for path in (folder / "out").iterdir()}


def test_what_was_run(results):
    names = [f"folds-{model}-{fold}" for model in MODELS.split(",") for fold in range(3)]
    assert sorted(results) == sorted([*names, "words-gmm-0", "words-gmm-1", "speakers-speech-lc-122-0"])
    for result in results.values():
        assert result["n_train"] + result["n_test"] == 4000
        assert 0 < result["error"] < 100 and result["sequence_error"] >= result["error"]
    assert results["folds-memm8-0"]["n_iter"] == 3
    assert results["folds-gmm-0"]["settings"]["n_components"] == 4


def test_figures_are_those_of_the_model(results):
    digits = load_digit_sequences(subset="all")
    X = digits.data.map(lambda values: values / 16.0)
    train, test = (np.flatnonzero(judged) for judged in (np.arange(500) % 3 != 1, np.arange(500) % 3 == 1))
    y, y_test = ([digits.target[i] for i in part] for part in (train, test))
    found = results["folds-gmm-1"]
    params = {k: v for k, v in found["settings"].items() if k not in ("maker", "passes", "quick")}
    tagger = SPNCRFTagger.gmm_crf(**params, dtype=np.float32, random_state=1)
    for _, rate in found["settings"]["passes"]:
        tagger.set_params(learning_rate=rate).partial_fit(X[train], y)
    assert found["error"] == pytest.approx(100 * (1 - tagger.score(X[test], y_test)))
    assert found["nll"] == pytest.approx(-tagger.log_likelihood(X[test], y_test).sum() / 8 / len(test))
    assert found["n_weights"] == sum(v.size for v in tagger._model.params.values())


def test_no_word_is_on_both_sides(run):
    import benchmarks.spn.tasks as tasks

    digits = load_digit_sequences(subset="all")
    for fold in range(3):
        part = tasks.TASKS["words"].part(fold, quick=True, dev=False)
        endings = [{tuple(own[-2:]) for own in side} for side in (part.y, part.y_test)]
        assert not endings[0] & endings[1] and part.X.n_tokens + part.X_test.n_tokens == 4000
    # A trial sees nothing of the fold it is for.
    tried = tasks.TASKS["folds"].part(0, quick=True, dev=True)
    judging = [digits.target[i] for i in range(1, 500, 3)]
    assert tried.y_test == judging and tried.y == [digits.target[i] for i in range(2, 500, 3)]


def test_what_is_there_is_not_done_again(results, run, folder):
    out = folder / "out"
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert run("--split", "folds", "--models", MODELS).count("there already") == 12
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == before
    (out / "folds-hu-o2-1.json").unlink()
    text = run("--split", "folds", "--models", "hu-o2")
    assert text.count("there already") == 2 and "folds-hu-o2-1: error" in text
    again = json.loads((out / "folds-hu-o2-1.json").read_text())
    for key in ("error", "nll", "objective"):
        assert again[key] == results["folds-hu-o2-1"][key]
    assert "not started, 0 minutes are over" in run("--split", "folds", "--models", "hu", "--minutes", "0")
    kept = (out / "folds-gmm-0.json").read_text()
    other = json.loads(kept)
    other["settings"]["sigma"] = 9.0
    (out / "folds-gmm-0.json").write_text(json.dumps(other))
    assert "made with sigma=9.0" in run("--split", "folds", "--models", "gmm", code=2)
    assert "folds of folds-gmm have different settings" in run("--render", code=2)
    (out / "folds-gmm-0.json").write_text(kept)


def test_peer(run, folder):
    pytest.importorskip("pycrfsuite")
    run("--split", "folds", "--models", "crfsuite,linear", "--folds", "1", "--results", str(folder / "peer"))
    theirs, ours = (
        json.loads((folder / "peer" / f"folds-{name}-0.json").read_text()) for name in ("crfsuite", "linear")
    )
    assert theirs["error"] < 4 and ours["n_iter"] == 5


def test_page(results, run, folder):
    run("--split", "folds", "--models", "gmm", "--tune", "sigma=0.3,1")
    run("--split", "folds", "--models", "logistic", "--tune", "C=0.5")
    text = run("--render")
    assert "folds-spn" in text.split("missing: ")[1] and "folds-gmm," not in text
    page = (folder / "docs" / "experiments" / "spn.rst").read_text()
    assert "Quick mode" in page
    errors = [results[f"folds-gmm-{fold}"]["error"] for fold in range(3)]
    summary, words = page.split("Table III")[1].split("Letters, words that were not trained on")
    row = next(line for line in summary.splitlines() if line.startswith("GMM-CRF"))
    assert f"{np.mean(errors):.2f} ± {statistics.stdev(errors):.2f}" in row and " 9.53 " in row
    row = next(line for line in words.splitlines() if line.startswith("GMM-CRF"))
    assert "9.53" not in row
    assert f"{np.mean([results[f'words-gmm-{fold}']['error'] for fold in (0, 1)]):.2f} ±" in row
    assert "not TIMIT" in page and f"{results['speakers-speech-lc-122-0']['error']:.2f}" in page.split("Table IV")[1]
    assert "sigma = 0.3" in page.split("Choices")[1] and "C = 0.5" in page.split("Choices")[1]


def test_trials(run, folder):
    run("--split", "folds", "--models", "gmm", "--tune", "sigma=0.3,1", "--tune", "passes=2")
    result = json.loads((folder / "out" / "folds-gmm-0-dev-passes=2-sigma=0.3.json").read_text())
    assert result["settings"]["sigma"] == 0.3 and [point["n_iter"] for point in result["curve"]] == [1]
    assert result["run"]["dev"] and result["n_train"] + result["n_test"] < 4000
    assert result["curve"][-1]["error"] == pytest.approx(result["error"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "hmm"], "'hmm' is none of logistic"),
        (["--tune", "seed=1"], "expected NAME=V"),
        (["--tune", "sigma=1"], "--tune needs --models"),
        (["--folds", "0"], "--folds must be 1 or more"),
        (["--render", "--results", "no such folder"], "no results"),
    ],
)
def test_wrong_arguments(run, arguments, message):
    assert message in run(*arguments, code=2)
