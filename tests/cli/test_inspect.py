# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent inspect``: what the fitted attributes hold."""

import json

import numpy as np
import pytest

from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.io import load_model, save_model

X = [[("He", "PRP"), ("ran", "VBD"), ("home", "NN")], [("It", "PRP"), ("rained", "VBD")]] * 4
Y = [["B-NP", "B-VP", "O"], ["B-NP", "B-VP"]] * 4
VECTORIZER = TemplateVectorizer("chunking")


def test_latent_model(command, chunks):
    path = chunks / "model.zip"
    tagger = load_model(path)
    shown = json.loads(command("inspect", "-m", path, "--json", "--top", "4").out)
    classes, states = tagger.classes_.tolist(), tagger.state_labels_
    assert list(shown["labels"]) == list(shown["features"]) == classes
    assert shown["labels"] == {label: np.flatnonzero(states == k).tolist() for k, label in enumerate(classes)}
    assert shown["n_states"] == 2 * len(classes) and shown["bytes"] == path.stat().st_size
    assert shown["iterations"] == tagger.n_iter_ and shown["converged"] is False
    names = tagger.feature_names_in_
    label = shown["features"]["B-NP"]
    own = tagger.coef_[:, states == classes.index("B-NP")]
    mean = own.mean(axis=1)
    best = sorted(range(len(mean)), key=lambda k: -mean[k])[:4]
    assert [name for name, _ in label["weights"][:4]] == [names[k] for k in best]
    assert [weight for _, weight in label["weights"]] == pytest.approx(np.sort(mean)[[-1, -2, -3, -4, 3, 2, 1, 0]])
    for unit, weights in zip(shown["labels"]["B-NP"], (own - mean[:, None]).T, strict=True):
        state = label["states"][str(unit)]
        assert [weight for _, weight in state] == pytest.approx(np.sort(weights)[[-1, -2, -3, -4]])
        assert all(weights[names.tolist().index(name)] == weight for name, weight in state)
    for row in shown["transitions"]:
        a, b = (np.flatnonzero(states == classes.index(row[end])) for end in ("from", "to"))
        assert row["weight"] == pytest.approx(tagger.transition_coef_[np.ix_(a, b)].mean(), abs=1e-12)
    assert len(shown["transitions"]) == 8 and shown["transitions"][0]["weight"] > 0
    assert shown["n_weights"]["features"] == np.count_nonzero(tagger.coef_)


def test_text(command, chunks):
    done = command("inspect", "-m", chunks / "model.zip", "--top", "2", "--label", "O", "--label", "B-NP")
    assert done.code == 0
    for shown in ("LatentCRFTagger(", "labels    ", "label and its latent states\n", "transitions", "features of O\n",
                  "features of B-NP\n", "more than B-NP on the whole\n", "not converged"):  # fmt: skip
        assert shown in done.out
    assert "features of I-NP" not in done.out
    plain = command("inspect", "-m", chunks / "words.zip")
    assert "latent states" not in plain.out and "on the whole" not in plain.out and "\nlabels\n" in plain.out


@pytest.mark.parametrize(
    "params",
    [
        {"n_layers": 0, "order": 2}, {"n_layers": 0, "n_latent": 2}, {"n_layers": 1, "order": 2},
        {"n_latent": {"O": 2}, "order": 2}, {"normalization": "local", "order": 2},
        {"n_layers": 0, "factors": ((1, 2),)},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_spn_models(command, tmp_path, params):
    tagger = SPNCRFTagger(**params, max_iter=3, vectorizer=VECTORIZER, random_state=0).fit(X, Y)
    save_model(tagger, tmp_path / "m.zip")
    shown = json.loads(command("inspect", "-m", tmp_path / "m.zip", "--json").out)
    assert (shown["features"] is None) == (not hasattr(tagger, "coef_"))
    assert (shown["transitions"] is None) == (not hasattr(tagger, "transition_coef_"))
    if "n_latent" in params:
        assert [len(units) for units in shown["labels"].values()] == ([2] * 3 if params["n_latent"] == 2 else [1, 1, 2])
    done = command("inspect", "-m", tmp_path / "m.zip")
    assert done.code == 0 and ("features enter through networks" in done.out) == (shown["features"] is None)


def test_names_that_are_not_there_and_labels_that_are_numbers(command, tmp_path):
    tagger = LatentCRFTagger.from_weights([1, 2], [[1.0, -1.0], [0.0, 2.0]], np.zeros((2, 2)))
    save_model(tagger, tmp_path / "m.zip")
    shown = json.loads(command("inspect", "-m", tmp_path / "m.zip", "--json", "--label", "2").out)
    assert shown["objective"] is None and list(shown["features"]) == ["2"]
    assert shown["features"]["2"]["weights"] == [["feature 1", 2.0], ["feature 0", -1.0]]
    assert command("inspect", "-m", tmp_path / "m.zip", "--top", "0").code == 0


def test_unknown_label(command, chunks):
    done = command("inspect", "-m", chunks / "model.zip", "--label", "X")
    assert done.code == 2 and "--label X: the labels are B-" in done.err
