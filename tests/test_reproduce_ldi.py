# SPDX-License-Identifier: BSD-3-Clause
"""The experiments on exact decoding in their quick mode: figures agree with each other and with the page."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from benchmark_command import command

SEEDS = {
    "np": ["0", "1", "0-dev"],
    "np5": ["0"],
    "bio": ["0", "1", "0-dev"],
    "chunks4": ["0", "1"],
    "chunks": ["0", "1"],
}
LATENT = [f"{corpus}-latent-{seed}" for corpus, seeds in SEEDS.items() for seed in seeds]
NAMES = [*(f"{corpus}-crf-0" for corpus in SEEDS if corpus != "np5"), *LATENT]
POINTS = [1, 10, 30]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ldi")


@pytest.fixture(scope="module")
def run(folder):
    with command("reproduce_ldi", folder) as run:
        yield run


@pytest.fixture(scope="module")
def results(run, folder) -> dict:
    run("--seeds", "2")
    return {name: json.loads((folder / "out" / f"{name}.json").read_text()) for name in NAMES}


def decoders(results: dict, name: str) -> dict:
    return results[name]["decoding"]["decoders"]


def test_figures_agree_with_each_other(results):
    for name in NAMES:
        for found in decoders(results, name).values():
            p, r = found["precision"], found["recall"]
            assert found["f1"] == pytest.approx(2 * p * r / (p + r))
            assert found["seconds_with_scores"] > found["seconds"] > 0
    for name in LATENT:
        found = decoders(results, name)
        # The most paths are left to the first seed.
        points = [*POINTS, 100] if name.endswith("latent-0") else POINTS
        assert set(found) == {"ldi_exact", "bhp", "bmp", "mbr", *(f"ldi_approx_{n}" for n in points)}
        assert found["ldi_exact"]["exactitude"] == 100
        # Nothing has more probability than the exact answer.
        assert max(d["mean_log_prob"] for d in found.values()) <= found["ldi_exact"]["mean_log_prob"] + 1e-9
        series = [found[f"ldi_approx_{n}"] for n in points]
        for key in ("exactitude", "mean_paths", "mean_log_prob", "mean_expanded"):
            values = [entry[key] for entry in series]
            assert values == sorted(values), key
        assert all(entry["mean_paths"] <= n for entry, n in zip(series, points, strict=True))
        assert series[0]["f1"] == found["bhp"]["f1"]
    assert decoders(results, "np-crf-0")["viterbi"]["exactitude"] == 100
    assert decoders(results, "np-latent-0") != decoders(results, "np-latent-1")


def test_kept_labels_are_those_of_the_kept_model(results, folder):
    from sklearn_latent.datasets import load_chunks
    from sklearn_latent.feature_extraction import TemplateVectorizer
    from sklearn_latent.io import load_model
    from sklearn_latent.metrics import chunk_f1_score

    X, _ = load_chunks(return_X_y=True)
    test, y = load_chunks(subset="test", return_X_y=True)
    gold = [[label if label.endswith("-NP") else "O" for label in labels] for labels in y]
    words = [*(f"w[{k}]=%x[{k},0]" for k in range(-2, 3)), "w[-1]|w[0]=%x[-1,0]|%x[0,0]", "w[0]|w[1]=%x[0,0]|%x[1,0]"]
    vectorizer = TemplateVectorizer(words, min_df=2).fit(X)
    for name, decoder, key in (("np-latent-0", "ldi_exact", "ldi_exact"), ("np-crf-0", "bhp", "viterbi")):
        model = load_model(folder / "out" / f"{name}.model.zip")
        labels = model.decode(vectorizer.transform(test), decoder).labels
        assert 100 * chunk_f1_score(gold, labels) == pytest.approx(decoders(results, name)[key]["f1"])
        with np.load(folder / "out" / f"{name}.labels.npz") as kept:
            ends = np.cumsum(kept["lengths"])[:-1]
            assert [part.tolist() for part in np.split(kept["names"][kept[f"found_{key}"]], ends)] == labels
            assert [part.tolist() for part in np.split(kept["names"][kept["gold"]], ends)] == gold


def test_tests_of_significance_are_of_the_same_differences(results, folder):
    for name in ("np-latent-0", "bio-latent-1"):
        tests = json.loads((folder / "out" / f"{name}.tests.json").read_text())["tests"]
        found = decoders(results, name) | {"crf": decoders(results, f"{name.split('-')[0]}-crf-0")["viterbi"]}
        assert set(tests) == set(found) - {"ldi_exact"} | {"mbr over crf"}
        for key, test in tests.items():
            first, second = ("mbr", "crf") if key == "mbr over crf" else ("ldi_exact", key)
            assert test["f1"] == pytest.approx(found[first]["f1"] - found[second]["f1"])
            assert test["sentences"] == pytest.approx(
                found[first]["sentence_accuracy"] - found[second]["sentence_accuracy"]
            )
            assert 0 < test["mcnemar"] <= 1 and 0 < test["randomization"] <= 1


def test_what_is_there_is_not_done_again(results, run, folder):
    out = folder / "out"
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert run("--seeds", "2").count("there already") == len(NAMES)
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == before
    # A run that was stopped is done anew, to the same figures, and no other is.
    (out / "np-latent-1.json").unlink()
    text = run("--seeds", "2", "--corpus", "np", "--models", "latent")
    assert text.count("there already") == 1 and text.count("training") == 1
    again = json.loads((out / "np-latent-1.json").read_text())
    assert again["training"]["objective"] == results["np-latent-1"]["training"]["objective"]
    assert again["decoding"]["decoders"]["mbr"]["f1"] == decoders(results, "np-latent-1")["mbr"]["f1"]
    # Other decoding needs no other model, other training is refused.
    text = run("--seeds", "1", "--corpus", "np", "--models", "latent", "--n-paths", "1,3")
    assert "training" not in text and "np-latent-0: decoding" in text
    assert run("--seeds", "1", "--corpus", "np", "--models", "latent").count("np-latent-0: decoding") == 1
    assert "made with sigma=1.0, not 2.0" in run("--sigma", "2", code=2)


def test_page(results, run, folder):
    pytest.importorskip("matplotlib")
    assert "missing: np-latent-2, bio-latent-2, chunks4-latent-2, chunks-latent-2" in run("--render", "--seeds", "3")
    page = (folder / "docs" / "experiments" / "ldi.rst").read_text()
    assert "NP chunking: latent models of seed 2; Bio-NER: latent models of seed 2; All" in page.replace("\n", " ")
    f1 = [decoders(results, f"np-latent-{seed}")["ldi_exact"]["f1"] for seed in (0, 1)]
    row = next(line for line in page.split("Table 4")[1].splitlines() if line.startswith("LDI-E"))
    assert f"{np.mean(f1):.2f} ± {np.std(f1, ddof=1):.2f}" in row and "91.16†" in row
    for name in ("mass", "np", "bio"):
        picture = (folder / "docs" / "images" / f"ldi-{name}.svg").read_text()
        assert "most probable latent paths" in picture or "most latent paths" in picture
        assert f"../images/ldi-{name}.svg" in page
    shutil.rmtree(folder / "docs")
    (folder / "out" / "bio-crf-0.json").rename(folder / "kept.json")
    run("--render", "--seeds", "2")
    (folder / "kept.json").rename(folder / "out" / "bio-crf-0.json")
    page = (folder / "docs" / "experiments" / "ldi.rst").read_text()
    assert "Bio-NER: the plain CRF" in page.replace("\n", " ")
    assert "not run" in page.split("Table 3")[1].split("Table 4")[0]


def test_trials_use_no_test_sentence(run, folder):
    text = run(
        "--tune", "sigma=0.5,1", "--tune", "init_scale=0.1,1", "--corpus", "np", "--results", str(folder / "tuned")
    )
    lines = text.split("held-out part: F1, sentences right\n")[1].splitlines()
    assert [line.split()[0] for line in lines] == [
        "np-crf-0-dev-sigma=0.5",
        "np-crf-0-dev-sigma=1.0",
        *(f"np-latent-0-dev-init_scale={start}-sigma={sigma}" for sigma in (0.5, 1.0) for start in (0.1, 1.0)),
    ]
    result = json.loads((folder / "tuned" / "np-crf-0-dev-sigma=0.5.json").read_text())
    # 368 training sentences in all; a third is held out.
    assert (result["training"]["n_sentences"], result["decoding"]["n_sentences"]) == (246, 122)
    assert set(result["decoding"]["decoders"]) == {"viterbi"}
    # The model of the chosen settings is there already.
    chosen = ["--sigma", "0.5", "--init-scale", "0.1"]
    text = run(*chosen, "--corpus", "np", "--models", "dev", "--results", str(folder / "tuned"))
    assert "np-latent-0-dev: trained already" in text
    result, tried = (
        json.loads((folder / "tuned" / f"np-latent-0-dev{more}.json").read_text())
        for more in ("", "-init_scale=0.1-sigma=0.5")
    )
    assert result["training"] == tried["training"] and len(result["decoding"]["decoders"]) > 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--models", "hmm"], "'hmm' is none of crf, latent, dev"),
        (["--n-paths", "0,3"], "1 or more"),
        (["--tune", "seed=1"], "expected NAME=V"),
        (["--tune", "edges=all,some"], "edges=some is none of all, none, word"),
        (["--seeds", "0"], "--seeds must be 1 or more"),
        (["--render", "--results", "no such folder"], "no results"),
    ],
)
def test_wrong_arguments(run, arguments, message):
    assert message in run(*arguments, code=2)
