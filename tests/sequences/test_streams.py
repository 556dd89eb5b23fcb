# SPDX-License-Identifier: BSD-3-Clause
"""Iterators as X: read once, judged as they are read, and not held."""

import tracemalloc
from itertools import tee

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import make_pipeline

from sklearn_latent import LatentCRFTagger
from sklearn_latent._sequences.stream import TokenStream
from sklearn_latent._sequences.validation import as_corpus, as_corpus_or_stream
from sklearn_latent.feature_extraction import (
    SequenceDictVectorizer,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
)

WORDS = [["Ana", "met", "Bo"], [], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]]
X = [[{"w": word} for word in words] for words in WORDS]
Y = [["B" if word.istitle() else "O" for word in words] for words in WORDS]


class Counting:
    """An iterator that counts what was taken."""

    def __init__(self, make, n):
        self.make, self.n, self.i = make, n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i == self.n:
            raise StopIteration
        self.i += 1
        return self.make(self.i - 1)


VECTORIZERS = [
    (None, X),
    (SequenceDictVectorizer(min_df=2), X),
    (SequenceFeatureHasher(64), X),
    (TemplateVectorizer(), WORDS),
    (SequenceUnion([("a", TemplateVectorizer()), ("b", TemplateVectorizer(["%x[0,0]"]))]), WORDS),
    (make_pipeline(TemplateVectorizer()), WORDS),
]


@pytest.mark.parametrize(("vectorizer", "corpus"), VECTORIZERS)
@pytest.mark.parametrize("verbose", [0, 1])
def test_g24_generators_are_lists(vectorizer, corpus, verbose, capsys):
    tagger = LatentCRFTagger(n_latent=1, vectorizer=vectorizer, verbose=verbose, max_iter=30, tol=1e-3)
    expected = clone(tagger).fit(corpus, Y)
    for again in (
        clone(tagger).fit((s for s in corpus), (y for y in Y)),
        clone(tagger).fit((iter(s) for s in corpus), Y),
    ):
        assert np.array_equal(again.coef_, expected.coef_)
        assert again.predict(s for s in corpus) == expected.predict(corpus)
        assert again.score((s for s in corpus), iter(Y)) == expected.score(corpus, Y)
        np.testing.assert_array_equal(
            again.log_likelihood((iter(s) for s in corpus), iter(Y)), expected.log_likelihood(corpus, Y)
        )


def test_sample_weights_with_a_stream():
    weight = [1, 1, 0, 2, 1]
    tagger = LatentCRFTagger(n_latent=1)
    expected, again = clone(tagger).fit(X, Y, weight), clone(tagger).fit(iter(X), iter(Y), weight)
    assert np.array_equal(again.coef_, expected.coef_)
    assert again.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert "w=left" not in again.feature_names_in_
    with pytest.raises(ValueError, match="sample_weight"):
        tagger.fit(iter(X), iter(Y), [1.0])


def test_pairs_from_one_reader():
    a, b = tee(zip(X, Y, strict=True))
    tagger = LatentCRFTagger(n_latent=1).fit((x for x, _ in a), (y for _, y in b))
    assert tagger.predict(X) == Y


def test_lengths_are_compared_while_reading():
    tagger = LatentCRFTagger(n_latent=1)
    short = [*Y[:2], Y[2][:1], *Y[3:]]
    source = Counting(X.__getitem__, len(X))
    with pytest.raises(ValueError, match=r"X\[2\] has 2 tokens but y\[2\] has 1 labels"):
        tagger.fit(source, short)
    assert source.i == 3
    with pytest.raises(ValueError, match=r"X has 4 sequences but y has 5: .* number 4"):
        tagger.fit(iter(X[:4]), Y)
    with pytest.raises(ValueError, match=r"X has 5 sequences but y has 3: .* number 3"):
        tagger.fit(iter(X), iter(Y[:3]))
    with pytest.raises(ValueError, match="y is None"):
        tagger.fit(iter(X), None)
    tagger.fit(X, Y)
    with pytest.raises(ValueError, match=r"X\[2\] has 2 tokens but y\[2\] has 1 labels"):
        tagger.score(iter(X), short)


@pytest.mark.parametrize(
    ("corpus", "kind", "message"),
    [
        ([X[0], "Bo left"], TypeError, r"X\[1\] is the string 'Bo left'"),
        ([X[0], {"w": "a"}], TypeError, r"X\[1\] is .*mapping|X\[1\] is \{'w'"),
        ([X[0], None], TypeError, r"X\[1\] is None"),
        (
            [[], X[0], np.eye(2)],
            TypeError,
            r"X mixes kinds of sequences: X\[1\] is a sequence of tokens, X\[2\] of num",
        ),
        ([np.eye(2), X[0]], TypeError, "X mixes kinds of sequences"),
        ([X[0], [{"w": None}]], TypeError, r"X\[1\]\[0\] \(sequence 1, token 0\)"),
        ([[1, 2]], TypeError, "list of numbers"),
    ],
)
def test_bad_entries_are_named(corpus, kind, message):
    y = [["O"] * (len(s) if hasattr(s, "__len__") else 1) for s in corpus]
    with pytest.raises(kind, match=message):
        LatentCRFTagger(n_latent=1).fit(iter(corpus), y)
    with pytest.raises(kind, match=message):
        LatentCRFTagger(n_latent=1).fit(X, Y).predict(iter(corpus))


def test_numbers_and_nothing_from_an_iterator():
    arrays = [np.eye(2), np.zeros((0, 2)), np.ones((1, 2))]
    tagger = LatentCRFTagger(n_latent=1).fit(iter(arrays), iter([["a", "b"], [], ["a"]]))
    assert tagger.predict(iter(arrays)) == tagger.predict(arrays)
    assert tagger.predict(iter([])) == [] and tagger.predict(iter([[], ()])) == [[], []]
    with pytest.raises(ValueError, match="no label"):
        tagger.fit(iter([]), iter([]))
    with pytest.raises(TypeError, match="fitted on numbers"):
        tagger.predict(iter(X))


def test_kinds_of_streams():
    assert isinstance(as_corpus_or_stream(iter(X)), TokenStream)
    for given in (X, tuple(X), iter([[], []])):
        assert isinstance(as_corpus_or_stream(given), list)
    assert as_corpus_or_stream(iter(X), stream=False) == as_corpus(X)
    stream = as_corpus_or_stream(iter([[], [], *X]))
    assert list(stream) == [[], [], *X] and stream.lengths.tolist() == [0, 0, 3, 0, 2, 1, 4]
    with pytest.raises(RuntimeError, match="read already"):
        list(stream)


class Twice(TransformerMixin, BaseEstimator):
    """A vectorizer of somebody else's: reads its corpus at fit and again at transform."""

    def fit(self, X, y=None):
        self.inner_ = TemplateVectorizer().fit(X)
        return self

    def transform(self, X):
        return self.inner_.transform(X)


class TwiceAfterAll(SequenceDictVectorizer):
    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def fit(self, X, y=None):
        SequenceDictVectorizer.fit_transform(self, X)
        return self


def test_no_model_is_trained_on_nothing():
    tagger = LatentCRFTagger(n_latent=1, vectorizer=Twice()).fit(iter(WORDS), iter(Y))
    assert tagger.predict(iter(WORDS)) == Y
    with pytest.raises((ValueError, RuntimeError)):
        LatentCRFTagger(n_latent=1, vectorizer=TwiceAfterAll()).fit(iter(X), iter(Y))


def sentences(n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        words = rng.integers(0, 400, size=15).astype(str).tolist()
        yield [
            {"w": w, "before": v, "after": u, "end": w[-1], "start": w[:1], "both": w + v, "odd": len(w) % 2 == 1}
            for v, w, u in zip(["", *words], words, [*words[1:], ""], strict=False)
        ]


def peak(work):
    tracemalloc.start()
    work()
    out = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return out


def test_tokens_of_a_stream_are_not_held():
    n = 1500
    for make in (SequenceDictVectorizer, lambda: SequenceFeatureHasher(2**12)):
        assert peak(lambda make=make: make().fit_transform(sentences(n))) < 0.6 * peak(
            lambda make=make: make().fit_transform(list(sentences(n)))
        )


def test_tokens_of_a_taggers_stream_are_not_held():
    alive, most = 0, 0

    class Token(dict):
        def __init__(self, *args):
            nonlocal alive, most
            super().__init__(*args)
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    def stream():
        return Counting(lambda i: [Token({"w": str(i % 7)})], 500)

    y = [["a" if i % 7 < 3 else "b"] for i in range(500)]
    tagger = LatentCRFTagger(n_latent=1).fit(stream(), iter(y))
    assert most < 5
    assert tagger.predict(stream()) == y and most < 5
