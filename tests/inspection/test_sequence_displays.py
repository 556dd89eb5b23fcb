# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of transitions, marginals and training, and sequences that show themselves."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest

from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from sklearn_latent.datasets import load_chunks, load_digit_sequences, make_latent_sequences
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.inspection import (
    LearningCurveDisplay,
    MarginalsDisplay,
    SequenceDisplay,
    TransitionDisplay,
    show_sequence,
)

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_screen():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def chunks():
    X, y = load_chunks(return_X_y=True)
    tagger = LatentCRFTagger(
        {"I-NP": 2}, vectorizer=TemplateVectorizer("chunking"), constraints="iob2", tol=1e-2, random_state=0
    )
    return tagger.fit(X[:80], y[:80]), X


def numbers(**options):
    X, y = make_latent_sequences(20, n_labels=3, n_features=3, mean_length=5, random_state=0, return_X_y=True)
    with pytest.warns(match="did not converge"):
        return SPNCRFTagger(max_iter=4, tol=0.0, random_state=0, **options).fit(X, y), X


def test_transitions(chunks):
    tagger, _ = chunks
    display = TransitionDisplay.from_estimator(tagger)
    names = [str(name) for name in tagger.classes_]
    b, i, o = (names.index(name) for name in ("B-NP", "I-NP", "O"))
    states = np.flatnonzero(display.state_labels == i)
    assert len(states) == 2 and display.weights.shape == (len(names) + 1,) * 2
    rows = np.flatnonzero(display.state_labels == o)
    assert np.isnan(display.weights[np.ix_(rows, states)]).all() and np.isnan(display.start[states]).all()
    rows = np.flatnonzero(display.state_labels == b)
    np.testing.assert_array_equal(display.weights[np.ix_(rows, states)], tagger.transition_coef_[np.ix_(rows, states)])
    assert np.isfinite(display.end).all()
    ax = display.ax_
    assert [t.get_text() for t in ax.get_yticklabels()] == ["start", *names]
    assert [t.get_text() for t in ax.get_xticklabels()] == [*names, "end"]
    drawn = ax.collections[0].get_array()
    np.testing.assert_array_equal(drawn[1:, :-1].filled(np.nan), display.weights)
    np.testing.assert_array_equal(drawn[0, :-1].filled(np.nan), display.start)
    np.testing.assert_array_equal(drawn[1:, -1].filled(np.nan), display.end)
    assert "grey: forbidden" in ax.figure.axes[1].get_ylabel()
    _, ax = plt.subplots()
    assert display.plot(ax=ax).ax_ is ax


def test_transitions_of_many_labels_are_named_in_part():
    tagger = LatentCRFTagger.from_weights([f"L{k:03d}" for k in range(130)], np.zeros((1, 130)), np.eye(130))
    names = [t.get_text() for t in TransitionDisplay.from_estimator(tagger).ax_.get_yticklabels()]
    assert names == ["start", *(f"L{k:03d}" for k in range(0, 130, 3))]


def test_transitions_of_networks():
    tagger, _ = numbers(order=2, unseen="forbid", n_latent={0: 2})
    display = TransitionDisplay.from_estimator(tagger)
    seen = {(a, b) for a, b in tagger.ngrams_[2]}
    for (row, column), value in np.ndenumerate(display.weights):
        pair = (int(display.state_labels[row]), int(display.state_labels[column]))
        assert (value == tagger.transition_coef_[row, column]) if pair in seen else np.isnan(value)
    with pytest.raises(ValueError, match="locally normalised"):
        TransitionDisplay.from_estimator(numbers(normalization="local", order=1)[0])


def test_marginals(chunks):
    tagger, X = chunks
    x = X[90]
    display = MarginalsDisplay.from_estimator(tagger, x)
    np.testing.assert_array_equal(display.marginals, tagger.predict_marginals([x])[0])
    np.testing.assert_array_equal(display.latent_marginals, tagger.predict_latent_marginals([x])[0])
    assert display.labels == tagger.predict([x])[0]
    texts = [t.get_text() for t in display.ax_.get_yticklabels()]
    shown = [c for c, m in zip(tagger.classes_, display.marginals.max(axis=0), strict=True) if m >= 0.01]
    assert [t for t in texts if not t.startswith("state ")] == shown
    assert sum(t.startswith("state ") for t in texts) == 2
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == [word for word, _ in x]
    drawn = display.ax_.collections[0].get_array()
    np.testing.assert_array_equal(drawn[texts.index("O")], display.marginals[:, tagger.classes_.tolist().index("O")])
    dots = display.ax_.collections[1].get_offsets()
    assert [texts[int(row)] for _, row in dots] == display.labels
    everything = display.plot(least=0.0)
    assert len(everything.ax_.get_yticklabels()) == len(tagger.classes_) + 2


def test_marginals_sum_histories_out():
    tagger, X = numbers(order=2, n_latent={0: 2})
    display = MarginalsDisplay.from_estimator(tagger, X[0])
    assert display.latent_marginals.shape == (len(X[0]), 4)
    for code in range(3):
        own = display.latent_marginals[:, display.state_labels == code].sum(axis=1)
        np.testing.assert_allclose(own, display.marginals[:, code], rtol=0.0, atol=1e-10)
    assert display.tokens is None
    with pytest.raises(ValueError, match="empty"):
        MarginalsDisplay.from_estimator(tagger, np.empty((0, 3)))
    with pytest.raises(ValueError, match="tokens has 1 entries"):
        MarginalsDisplay.from_estimator(tagger, X[0], tokens=["a"])


def test_learning_curve(chunks):
    tagger, _ = chunks
    display = LearningCurveDisplay.from_estimator(tagger)
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), tagger.loss_curve_)
    np.testing.assert_array_equal(display.ax_.lines[0].get_xdata(), np.arange(1, tagger.n_iter_ + 1))
    assert display.validation_ax_ is None and display.ax_.get_title(loc="left") == "lbfgs, converged"
    assert display.ax_.get_xlabel() == "iteration" and "nats" in display.ax_.get_ylabel()
    with pytest.raises(ValueError, match="loss_curve_ is empty"):
        LearningCurveDisplay.from_estimator(LatentCRFTagger.from_weights(["a"], [[1.0]], [[0.0]]))


def test_learning_curve_with_held_out_scores():
    X, y = make_latent_sequences(30, n_features=3, random_state=0, return_X_y=True)
    tagger = LatentCRFTagger(1, early_stopping=True, solver="sgd", max_iter=5, n_iter_no_change=3, random_state=0)
    with pytest.warns(match="did not converge"):
        tagger.fit(X, y)
    display = LearningCurveDisplay.from_estimator(tagger)
    right = display.validation_ax_
    np.testing.assert_array_equal(right.lines[0].get_ydata(), tagger.validation_scores_)
    assert right.lines[1].get_xdata()[0] == 1 + np.argmax(tagger.validation_scores_)
    assert display.ax_.get_xlabel() == "pass over the corpus"
    assert display.ax_.get_title(loc="left") == "sgd, not converged"


class Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.text, self.tags = "", []

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def parsed(html: str) -> Text:
    reader = Text()
    reader.feed(html)
    return reader


def test_chunks_show_themselves(chunks):
    tagger, X = chunks
    display = show_sequence(tagger, X[90])
    spans = tagger.predict_spans([X[90]])[0]
    assert display.spans == spans
    reader = parsed(display._repr_html_())
    words = reader.text.split()
    for start, stop, name, probability in spans:
        chunk = " ".join(word for word, _ in X[90][start:stop])
        assert f"[{chunk}]{name}:{probability:.2f}" in repr(display)
        assert f"{chunk} {name} {probability:.2f}" in reader.text
    assert [w for w in words if w in {word for word, _ in X[90]}] == [word for word, _ in X[90]]
    boxes = [attrs for tag, attrs in reader.tags if tag == "span" and "background" in attrs.get("style", "")]
    colors = [re.search(r"background:(#\w+)", box["style"])[1] for box in boxes]
    by_name = {name: color for (_, _, name, _), color in zip(spans, colors, strict=True)}
    assert [by_name[name] for _, _, name, _ in spans] == colors and len(set(by_name.values())) == len(by_name)


def test_text_is_escaped():
    X = [[{"word": "<script>alert(1)</script>"}, {"word": "a&b"}]] * 3
    y = [["<b>", "'\""]] * 3
    tagger = LatentCRFTagger(n_latent=1).fit(X, y)
    html = show_sequence(tagger, X[0])._repr_html_()
    reader = parsed(html)
    assert {tag for tag, _ in reader.tags} <= {"div", "span", "b"} and "<script>" not in html
    assert "<script>alert(1)</script>" in reader.text and "a&b" in reader.text and "<b>" in reader.text
    marginal = tagger.predict_marginals(X[:1])[0]
    assert f"<b> {marginal[0, tagger.classes_.tolist().index('<b>')]:.2f}" in reader.text


def test_images_show_themselves():
    digits = load_digit_sequences()
    X, y = digits.data[:60], digits.target[:60]
    tagger = SPNCRFTagger.linear_crf(tol=1e-2).fit(X, y)
    display = show_sequence(tagger, X[0], image_shape=(8, 8))
    reader = parsed(display._repr_html_())
    pictures = [attrs["src"] for tag, attrs in reader.tags if tag == "img"]
    assert len(pictures) == 8
    for source, pixels in zip(pictures, display.images, strict=True):
        image = plt.imread(BytesIO(b64decode(source.removeprefix("data:image/png;base64,"))))[..., 0]
        np.testing.assert_allclose(1.0 - image, pixels / X[0].max(), rtol=0.0, atol=0.01)
    for label in tagger.predict(X[:1])[0]:
        assert f"{label} " in reader.text
    with pytest.raises(ValueError, match="12 pixels, a token has 64 features"):
        show_sequence(tagger, X[0], image_shape=(3, 4))


def test_sequence_display_by_hand():
    display = SequenceDisplay(["a", "b", "c", "d"], [(1, 3, "X", 0.5)])
    assert repr(display) == "a [b c]X:0.50 d"
    assert parsed(display._repr_html_()).text == "a b c X 0.50 d"
    assert repr(SequenceDisplay([], [])) == "" and SequenceDisplay([], [])._repr_html_().startswith("<div")
    assert repr(SequenceDisplay(["a"], [(0, 1, "X", 1.0)])) == "[a]X:1.00"


def test_show_sequence_of_anything(chunks):
    tagger, X = chunks
    assert repr(show_sequence(tagger, [])) == ""
    with pytest.raises(ValueError, match="tokens has 1 entries, the sequence"):
        show_sequence(tagger, X[0], tokens=["a"])
    words = show_sequence(tagger, X[0], tokens=["?"] * len(X[0]))
    assert set(words.tokens) == {"?"}
    model, data = numbers()
    assert show_sequence(model, data[0]).tokens == [str(t) for t in range(len(data[0]))]
