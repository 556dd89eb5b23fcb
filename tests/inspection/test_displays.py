# SPDX-License-Identifier: BSD-3-Clause
"""Displays: the data they hold, what is on the axes, and what they say when called wrongly."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import oracle
from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent._scorers import Design
from sklearn_latent.datasets import make_latent_sequences
from sklearn_latent.inspection import DecoderCurveDisplay, LatentMassDisplay, latent_path_mass

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_screen():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    X, y = make_latent_sequences(40, n_labels=2, n_latent=2, mean_length=4, random_state=0, return_X_y=True)
    return LatentCRFTagger(n_latent=2, max_iter=200, tol=1e-2, random_state=0).fit(X, y), X, y


def test_decoder_curve(fitted):
    tagger, X, y = fitted
    display = DecoderCurveDisplay.from_estimator(tagger, X, y, n_paths=[1, 5, 200])
    for k, n in enumerate([1, 5, 200]):
        result = tagger.decode(X, "ldi_approx", n_paths=n)
        right = [a == b for u, v in zip(y, result.labels, strict=True) for a, b in zip(u, v, strict=True)]
        assert display.score[k] == pytest.approx(100 * np.mean(right))
        assert display.exactitude[k] == 100 * result.exact.mean()
        assert display.mean_paths[k] == result.n_paths.mean()
    assert display.exactitude[-1] == display.exact["exactitude"] == 100.0
    assert (display.seconds > 0).all() and display.score[-1] == display.exact["score"]
    assert display.score_name == "tokens right"
    assert [ax.get_ylabel() for ax in display.axes_] == [
        "tokens right (%)", "proven most probable (%)", "latent paths taken (mean)", "time (s)",
    ]  # fmt: skip
    for ax, panel in zip(display.axes_, ("score", "exactitude", "mean_paths", "seconds"), strict=True):
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), getattr(display, panel))
        assert ax.get_xscale() == "log" and ax.get_xlabel()
        assert len(ax.lines) == (1 if panel == "mean_paths" else 2)
    _, axes = plt.subplots(4)
    assert display.plot(axes=axes).figure_ is axes[0].figure


def test_chunks_are_scored_by_f1():
    rng = np.random.default_rng(0)
    X = SequenceMatrix(rng.standard_normal((60, 3)), [6] * 10)
    y = [["B-X", "I-X", "O", "O", "B-Y", "O"]] * 10
    tagger = LatentCRFTagger(n_latent=1).fit(X, y)
    display = DecoderCurveDisplay.from_estimator(tagger, X, y, n_paths=[1])
    assert display.score_name == "chunk F1"

    def half_right(true, found):
        return 0.5

    display = DecoderCurveDisplay.from_estimator(tagger, X, y, n_paths=[1], scoring=half_right)
    assert display.score_name == "half right" and display.score.tolist() == [50.0]


def test_words_that_are_no_chunk_labels_are_scored_by_tokens():
    rng = np.random.default_rng(0)
    X = SequenceMatrix(rng.standard_normal((60, 3)), [6] * 10)
    tagger = LatentCRFTagger(n_latent=1).fit(X, [["rain", "sun", "sun", "rain", "snow", "sun"]] * 10)
    display = DecoderCurveDisplay.from_estimator(tagger, X, tagger.predict(X), n_paths=[1])
    assert display.score_name == "tokens right"


@pytest.mark.parametrize(("options", "error"), [
    ({"n_paths": []}, ValueError), ({"n_paths": [0, 3]}, ValueError), ({"scoring": "f1"}, TypeError),
    ({"axes": [None]}, ValueError),
])  # fmt: skip
def test_decoder_curve_called_wrongly(fitted, options, error):
    with pytest.raises(error):
        DecoderCurveDisplay.from_estimator(*fitted, **{"n_paths": [1], **options})


def test_latent_mass_is_that_of_the_list_of_paths(fitted):
    tagger, X, _ = fitted
    some = [X[i] for i in range(12) if len(X[i]) <= 5]
    display = LatentMassDisplay.from_estimator(tagger, some, n_paths=30)
    assert display.mass.shape == (len(some), 30)
    np.testing.assert_array_equal(latent_path_mass(tagger, some, n_paths=30), display.mass)
    top = tagger._topology
    scorer, prepared = tagger._scoring(False)
    for row, x in zip(display.mass, some, strict=True):
        node, arc = scorer.forward(prepared, Design(np.ascontiguousarray(x)), np.array([0, len(x)]))
        scores = np.sort(oracle.path_scores(top, node, arc, None, 0, len(x))[1])[::-1]
        probability = np.exp(scores - oracle.log_of_sum(scores))
        expected = np.cumsum(probability)[:30]
        np.testing.assert_allclose(row[: len(expected)], expected, rtol=0.0, atol=1e-10)
        np.testing.assert_allclose(row[len(expected) :], 1.0, rtol=0.0, atol=1e-10)
    assert (np.diff(display.mass, axis=1) >= 0).all()
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), 100 * display.mass.mean(axis=0))
    assert display.ax_.get_xlabel() and display.ax_.get_ylabel() and display.ax_.get_legend() is not None


def test_latent_mass_leaves_empty_sequences_out(fitted):
    tagger, X, _ = fitted
    display = LatentMassDisplay.from_estimator(tagger, [X[0], np.empty((0, X.n_features)), X[1]], n_paths=4)
    assert display.mass.shape == (2, 4)
    with pytest.raises(ValueError, match="n_paths"):
        LatentMassDisplay.from_estimator(tagger, X, n_paths=0)


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "from sklearn_latent.inspection import LatentMassDisplay\n"
        "import numpy as np\n"
        "try:\n    LatentMassDisplay(np.ones((1, 2))).plot()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "sklearn-latent[plot]" in out.stdout
