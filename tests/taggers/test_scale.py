# SPDX-License-Identifier: BSD-3-Clause
"""Long sequences, many labels, many sequences."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.exceptions import InexactDecodingWarning
from taggers.brute import random_tagger

MILLION = 1_000_000


@pytest.fixture(scope="module")
def long_sequence():
    rng = np.random.default_rng(0)
    return SequenceMatrix(rng.normal(size=(MILLION, 2)).astype(np.float32), [MILLION])


@pytest.mark.parametrize("n_latent", [(1, 1), (2, 1)], ids=["plain", "latent"])
def test_a_million_tokens(long_sequence, n_latent):
    """Probabilities of 1e-100000 are no trouble in logarithms."""
    tagger = random_tagger(np.random.default_rng(1), "ab", n_latent, n_features=2, spread=4.0)
    with warnings.catch_warnings():
        if n_latent == (2, 1):  # a proof over a million sums is more than any budget can promise
            warnings.simplefilter("ignore", InexactDecodingWarning)
        result = tagger.decode(long_sequence)
    [labels] = result.labels
    assert len(labels) == MILLION
    assert result.exact.all() or n_latent == (2, 1)
    assert result.upper_bound[0] < 0
    [log_prob] = tagger.log_likelihood(long_sequence, [labels])
    assert np.isfinite(log_prob)
    assert log_prob < -1000
    np.testing.assert_allclose(log_prob, result.log_prob[0], rtol=1e-12)
    other = list(labels)
    other[MILLION // 2] = "a" if labels[MILLION // 2] == "b" else "b"
    assert tagger.log_likelihood(long_sequence, [other])[0] <= result.upper_bound[0] * (1 - 1e-9)
    for decoder in ("bhp", "bmp"):
        assert tagger.decode(long_sequence, decoder).log_prob[0] <= result.upper_bound[0] * (1 - 1e-9)
    [marginals] = tagger.predict_marginals(long_sequence)
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)
    # far from the ends the marginals are those of a short piece around
    piece = SequenceMatrix(long_sequence.values[500_000:500_400], [400])
    np.testing.assert_allclose(marginals[500_195:500_205], tagger.predict_marginals(piece)[0][195:205], atol=1e-9)


def test_training_on_a_long_sequence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 1))
    y = np.where(X[:, 0] > 0, "a", "b")
    tagger = LatentCRFTagger(n_latent=1, max_iter=60, tol=1e-3).fit(SequenceMatrix(X, [50_000]), [y])
    assert tagger.score([X[:1000]], [y[:1000]]) > 0.98


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_thousand_labels(sparse):
    n_labels = 1000
    coef = 5.0 * np.eye(n_labels)
    tagger = LatentCRFTagger.from_weights(range(n_labels), coef, np.zeros((n_labels, n_labels)))
    rng = np.random.default_rng(0)
    y = rng.integers(n_labels, size=60)
    X = sp.csr_array((2.0 * np.ones(60), y, np.arange(61)), shape=(60, n_labels))
    sm = SequenceMatrix(X if sparse else X.toarray(), [20, 1, 39])
    labels = [y[:20].tolist(), y[20:21].tolist(), y[21:].tolist()]
    for decoder in ("ldi_exact", "bhp", "bmp"):
        assert tagger.decode(sm, decoder).labels == labels
    right = np.exp(10) / (np.exp(10) + n_labels - 1)
    np.testing.assert_allclose(np.concatenate(tagger.predict_marginals(sm)).max(axis=1), right, rtol=1e-9)


def test_training_hundreds_of_labels():
    n_labels = 300
    X = sp.csr_array(sp.eye(n_labels))
    tagger = LatentCRFTagger(n_latent=1, tol=1e-2, max_iter=20).fit(
        SequenceMatrix(X, np.full(60, 5)), np.arange(n_labels).reshape(60, 5)
    )
    assert tagger.classes_.tolist() == list(range(n_labels))
    assert tagger.score(SequenceMatrix(X, np.full(60, 5)), np.arange(n_labels).reshape(60, 5)) == 1.0


def test_memory_of_prediction_is_linear_in_the_longest_sequence():
    """Many short sequences are worked off in blocks: their number does not matter beyond the answer."""
    tagger = random_tagger(np.random.default_rng(0), "abc", (3, 3, 3), n_features=2)
    peaks = []
    for n in (20_000, 160_000):
        sm = SequenceMatrix(np.ones((n, 2)), np.full(n // 10, 10))
        tracemalloc.start()
        tagger.decode(sm, "bmp")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 140_000 * 100  # bytes a token: labels, codes and their lists


@pytest.mark.parametrize("n_latent", [1, 2])
def test_ten_million_features(n_latent):
    """Observed weights follow what occurs, so that a hashed space may be as wide as it likes."""
    rng = np.random.default_rng(0)
    n_features, n_tokens = 10**7, 4000
    indices = rng.integers(0, n_features, size=n_tokens * 10)
    values = sp.csr_array((np.ones(len(indices)), indices, np.arange(0, len(indices) + 1, 10)), (n_tokens, n_features))
    X = SequenceMatrix(values, np.full(200, 20))
    y = [rng.choice(["a", "b", "c"], 20).tolist() for _ in range(200)]
    tagger = LatentCRFTagger(n_latent, random_state=0, callback=lambda info: info.n_iter == 10).fit(X, y)
    # Almost every feature occurs once: the training labels are learnt by heart.
    assert tagger.score(X, y) > 0.99
    assert sum(value.size for value in tagger._model.params.values()) <= n_latent * len(indices) + 100
