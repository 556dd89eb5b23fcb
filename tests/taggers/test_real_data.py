# SPDX-License-Identifier: BSD-3-Clause
"""A published corpus, where its files are at hand."""

import os

import numpy as np
import pytest

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import fetch_conll2000
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_score

pytestmark = pytest.mark.skipif(
    not os.environ.get("SKLEARN_LATENT_DATA"), reason="needs the corpora: SKLEARN_LATENT_DATA names no folder"
)


@pytest.fixture(scope="module")
def fitted():
    X, y = fetch_conll2000(return_X_y=True)
    tagger = LatentCRFTagger(
        n_latent=2, vectorizer=TemplateVectorizer("chunking"), tol=1e-3, random_state=0, n_jobs=2, sigma=3.0
    )
    tagger.fit(X[:300], y[:300])
    return tagger, X[300:400], y[300:400]


def test_all_decoders_on_held_out_sentences(fitted):
    tagger, X, y = fitted
    assert tagger.converged_
    exact = tagger.decode(X)
    assert exact.exact.all()
    np.testing.assert_allclose(exact.upper_bound, exact.log_prob, rtol=1e-9, atol=1e-9)
    for decoder in ("ldi_approx", "bhp", "bmp", "mbr"):
        result = tagger.decode(X, decoder)
        assert (result.log_prob <= exact.log_prob + 1e-9).all()
        assert (result.upper_bound >= exact.log_prob - 1e-9).all()
        # an answer called exact is as probable as the exact one
        np.testing.assert_allclose(result.log_prob[result.exact], exact.log_prob[result.exact], rtol=1e-9, atol=1e-9)
        # 300 sentences are enough for this much, with any decoder
        assert chunk_f1_score(y, result.labels) > 0.8
    assert tagger.score(X, y) > 0.88


def test_constraints_on_held_out_sentences(fitted):
    tagger, X, _ = fitted
    allowed = LatentCRFTagger.from_weights(
        tagger.classes_, tagger.coef_, tagger.transition_coef_, start_coef=tagger.start_coef_,
        end_coef=tagger.end_coef_, state_labels=tagger.state_labels_, constraints="iob2",
    )  # fmt: skip
    features = tagger.vectorizer_.transform(X)
    for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
        for labels in allowed.decode(features, decoder).labels:
            for a, b in zip(["O", *labels[:-1]], labels, strict=True):
                assert b[0] != "I" or a[1:] == b[1:]


def test_nbest_on_held_out_sentences(fitted):
    tagger, X, _ = fitted
    for x, answers in zip(X[:20], tagger.predict_nbest(X[:20], 5), strict=True):
        probs = [p for _, p in answers]
        assert probs == sorted(probs, reverse=True)
        assert sum(probs) <= 1 + 1e-12
        np.testing.assert_allclose(
            np.log(probs), tagger.log_likelihood([x] * len(answers), [y for y, _ in answers]), rtol=1e-8, atol=1e-10
        )
