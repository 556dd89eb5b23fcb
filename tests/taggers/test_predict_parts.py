# SPDX-License-Identifier: BSD-3-Clause
"""`predict` makes features part by part and only the labels: what comes out is what `decode` gives."""

import gc
import tracemalloc

import numpy as np
import pytest

from sklearn_latent import LatentCRFTagger
from sklearn_latent._decoding import DECODERS
from sklearn_latent._lattice import Lattice
from sklearn_latent._taggers import base
from sklearn_latent.feature_extraction import SequenceDictVectorizer, SequenceUnion, TemplateVectorizer

RNG = np.random.default_rng(7)
X = [[(f"w{a}", f"p{b}") for a, b in RNG.integers(0, 6, (n, 2))] for n in (4, 0, 7, 1, 3, 0, 9, 2, 5, 6)]
Y = [["BIO"[(int(word[1]) + int(pos[1])) % 3] for word, pos in tokens] for tokens in X]


@pytest.fixture(params=[1, 6, 1 << 16])
def small_parts(request, monkeypatch):
    monkeypatch.setattr(base, "PART_TOKENS", request.param)


def fitted(**options):
    options = {"n_latent": 1, "vectorizer": TemplateVectorizer("chunking"), "random_state": 0} | options
    return LatentCRFTagger(**options).fit(X, Y)


@pytest.mark.parametrize("n_latent", [1, 2])
@pytest.mark.parametrize("decoder", DECODERS)
def test_predict_is_decode(small_parts, decoder, n_latent):
    tagger = fitted(decoder=decoder, n_latent=n_latent, mbr_metric="token_accuracy")
    result = tagger.decode(tagger.vectorizer_.transform(X))
    for corpus in (X, iter(X), tagger.vectorizer_.transform(X)):
        labels = tagger.predict(corpus)
        assert labels == result.labels and list(map(len, labels)) == list(map(len, X))
    part_by_part = tagger.decode(X)
    for name in ("labels", "exact", "n_paths", "n_expanded"):
        np.testing.assert_array_equal(getattr(part_by_part, name), getattr(result, name))
    # Batches of other sizes may add up in another order.
    for name in ("log_prob", "upper_bound"):
        np.testing.assert_allclose(getattr(part_by_part, name), getattr(result, name), rtol=1e-12, atol=1e-13)
    assert tagger.set_params(n_jobs=2).predict(X) == result.labels
    held = [[own[0], *[None] * (len(own) - 1)] if own else [] for own in Y]
    assert tagger.predict(X, fixed=held) == tagger.decode(X, fixed=held).labels
    assert all(type(label) is str for own in labels for label in own)


@pytest.mark.parametrize("vectorizer", [SequenceDictVectorizer(), SequenceUnion([("t", TemplateVectorizer())])])
def test_other_vectorizers_see_all_at_once(small_parts, vectorizer):
    corpus = X if isinstance(vectorizer, SequenceUnion) else [[{"w": w, "p": p} for w, p in tokens] for tokens in X]
    tagger = LatentCRFTagger(n_latent=1, vectorizer=vectorizer).fit(corpus, Y)
    assert (
        tagger.predict(corpus) == tagger.decode(corpus).labels == tagger.predict(tagger.vectorizer_.transform(corpus))
    )


class Shouting(TemplateVectorizer):
    """Transforms in a way of its own."""

    def transform(self, X):
        return super().transform([[(word.lower(), pos) for word, pos in tokens] for tokens in X])


def test_a_derived_vectorizer_keeps_its_way(small_parts):
    tagger = fitted(vectorizer=Shouting("chunking"))
    loud = [[(word.upper(), pos) for word, pos in tokens] for tokens in X]
    assert tagger.predict(loud) == tagger.predict(X)


def test_nothing_to_label(small_parts):
    tagger = fitted()
    assert tagger.predict([]) == [] and tagger.predict(iter([])) == []
    assert tagger.predict([[], []]) == [[], []] == tagger.predict(iter([[], []]))
    assert tagger.decode([[]]).log_prob.tolist() == [0.0]


def test_errors_count_from_the_start(small_parts):
    tagger = LatentCRFTagger(
        n_latent=1, vectorizer=TemplateVectorizer("chunking"), constraints=[(None, "B"), ("B", "I"), ("I", "O")]
    ).fit([X[0][:3], X[2][:2]], [["B", "I", "O"], ["B", "I"]])
    short = X[3:4]
    corpus = [*short, [], *short, X[0], *short]
    assert len(X[0]) == 4
    for call in (tagger.predict, tagger.decode):
        with pytest.raises(ValueError, match=r"^X\[3\]: the constraints leave no label sequence"):
            call(corpus)
        with pytest.raises(ValueError, match=r"X\[2\]\[0\].*sequence 2, token 0"):
            call([*short, [], [("a",)]])
        with pytest.raises(TypeError, match=r"X\[2\] is the string 'abc'"):
            call([*short, [], "abc"])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_told(monkeypatch, value):
    # A path of finite score passes by: the labels alone would not show it.
    tagger = fitted()
    made = base.Lattice

    def spoilt(topology, node, arc, offsets):
        if len(node) > 8:
            node[8, :1] = value
        return made(topology, node, arc, offsets)

    monkeypatch.setattr(base, "Lattice", spoilt)
    if value == -np.inf:
        assert len(tagger.predict(X)) == len(X)
        return
    with pytest.raises(ValueError, match=r"X\[2\]: its scores are beyond what floating point holds"):
        tagger.predict(X)


def test_labels_come_without_sums(monkeypatch):
    tagger = fitted()
    expected = tagger.predict(X)
    monkeypatch.setattr(Lattice, "log_sum", None)
    assert tagger.predict(X) == expected


def test_features_are_never_all_there(monkeypatch):
    monkeypatch.setattr(base, "PART_TOKENS", 1000)
    tagger = fitted()
    many = X * 3000
    tagger.predict(many[:10])
    gc.collect()
    tracemalloc.start()
    try:
        labels = tagger.predict(many)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(labels) == len(many)
    n_tokens = sum(map(len, many))
    # The result is 8 bytes a token and about 90 a list; features would be 200 bytes a token and more.
    assert peak < 60 * n_tokens + 100 * len(many)
