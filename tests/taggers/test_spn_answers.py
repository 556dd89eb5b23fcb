# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted `SPNCRFTagger` answers, against sums over all its paths, from its public weights."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent.metrics import get_chunks
from taggers.brute import only_pairs, random_inputs
from taggers.spn_brute import SPNEnumeration, joint_best, random_spn

PAIRS = [("a", "b"), ("b", "a"), ("b", "b"), ("c", "a"), ("a", "c"), ("b", "c"), (None, "b"), (None, "c"), ("a", None),
         ("c", None)]  # fmt: skip
MODELS = {
    "linear": {"n_layers": 0},
    "one layer": {},
    "two layers": {"n_layers": 2},
    "max": {"operator": "max"},
    "window": {"factors": ((3, 1),)},
    "single precision": {"dtype": np.float32},
    "hidden units": {"tie_inputs": True, "n_products": 3},
    "order 2": {"order": 2},
    "order 3, forbid": {"order": 3, "unseen": "forbid"},
    "order 1, forbid": {"unseen": "forbid"},
    "all trigrams": {"order": 2, "sparse_factors": False},
    "bigram networks": {"factors": ((1, 1), (2, 2))},
    "bigram networks, order 2": {"factors": ((1, 1), (2, 2)), "order": 2},
    "trigram networks alone": {"factors": ((2, 3),), "order": 1},
    "trigram networks, order 3, forbid": {"factors": ((1, 1), (1, 3)), "order": 3, "unseen": "forbid"},
    "latent": {"n_latent": 2},
    "latent, some": {"n_latent": {"b": 3}, "n_layers": 0},
    "latent, order 2, bigram networks": {"n_latent": {"a": 2}, "order": 2, "factors": ((1, 1), (1, 2))},
    "latent, forbid": {"n_latent": 2, "order": 2, "unseen": "forbid"},
    "constraints": {"constraints": PAIRS},
    "constraints, order 2": {"constraints": PAIRS, "order": 2, "factors": ((1, 2),)},
    "order 0": {"order": 0},
}  # fmt: skip


def close(params):
    """Single precision keeps seven digits of scores of size ten."""
    return {"rtol": 1e-4, "atol": 1e-5} if params.get("dtype") is np.float32 else {"rtol": 1e-9, "atol": 1e-11}


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    params, rng = MODELS[request.param], np.random.default_rng(20180706)
    tagger = random_spn(rng, **params)
    pairs = params.get("constraints")
    X = random_inputs(rng, (4, 0, 1, 3), 3)
    allowed = only_pairs(pairs) if pairs else lambda a, b: True
    return tagger, X, [SPNEnumeration(tagger, x, allowed) for x in X], allowed, close(params)


def test_probabilities(model, rng):
    tagger, X, slow, _, tolerance = model
    y = [[rng.choice(["a", "b", "c", None]) for _ in x] for x in X]
    np.testing.assert_allclose(
        tagger.log_likelihood(X, y), [s.log_prob(own) for s, own in zip(slow, y, strict=True)], **tolerance
    )
    best = [s.ranked()[0][0] for s in slow]
    np.testing.assert_allclose(
        tagger.log_likelihood(X, best), [s.log_prob(own) for s, own in zip(slow, best, strict=True)], **tolerance
    )
    for found, s in zip(tagger.predict_marginals(X), slow, strict=True):
        np.testing.assert_allclose(found, s.marginals(), **tolerance)


def test_most_probable_labels(model):
    tagger, X, slow, _, tolerance = model
    result = tagger.decode(X)
    assert result.labels == tagger.predict(X) == [s.ranked()[0][0] for s in slow]
    assert result.exact.all()
    log_prob = [s.log_prob(s.ranked()[0][0]) for s in slow]
    np.testing.assert_allclose(result.log_prob, log_prob, **tolerance)
    np.testing.assert_allclose(result.upper_bound, log_prob, **tolerance)


def test_nbest(model):
    tagger, X, slow, _, tolerance = model
    for found, s in zip(tagger.predict_nbest(X, 7), slow, strict=True):
        expected = s.ranked()[:7]
        np.testing.assert_allclose([p for _, p in found], [p for _, p in expected], **tolerance)
        if tolerance["rtol"] < 1e-6:
            assert [y for y, _ in found] == [y for y, _ in expected]


def test_other_decoders(model):
    tagger, X, slow, allowed, tolerance = model
    assert tagger.decode(X, "bhp").labels == [joint_best(tagger, x, allowed) for x in X]
    everything = tagger.decode(X, "ldi_approx", n_paths=100_000)
    assert everything.labels == [s.ranked()[0][0] for s in slow]
    assert everything.exact.all()
    marginal = tagger.decode(X, "bmp")
    for y, s in zip(marginal.labels, slow, strict=True):
        m = s.marginals()
        own = sum(m[t, s.classes.index(label)] for t, label in enumerate(y))
        most = max(sum(m[t, s.classes.index(label)] for t, label in enumerate(other)) for other in s.prob)
        np.testing.assert_allclose(own, most, **tolerance)
    risk = tagger.decode(X, "mbr", mbr_metric="token_accuracy", n_paths=10_000)
    for y, z, s in zip(risk.labels, marginal.labels, slow, strict=True):
        m = s.marginals()
        score = [sum(m[t, s.classes.index(label)] for t, label in enumerate(labels)) for labels in (y, z)]
        np.testing.assert_allclose(*score, **tolerance)
    for result in (everything, marginal, risk, tagger.decode(X, "bhp")):
        expected = [s.log_prob(y) for s, y in zip(slow, result.labels, strict=True)]
        np.testing.assert_allclose(result.log_prob, expected, **tolerance)
        best = np.array([s.log_prob(s.ranked()[0][0]) for s in slow])
        assert (result.upper_bound >= best - 1e-4).all()
        assert (result.log_prob[result.exact] >= best[result.exact] - 1e-4).all()


def test_labels_held_fixed(model, rng):
    tagger, X, slow, allowed, tolerance = model
    fixed = []
    for s in slow:
        y = list(s.ranked()[-1][0])  # something that is possible
        fixed.append([label if rng.random() < 0.4 else None for label in y])
    held = [SPNEnumeration(tagger, x, allowed, own) for x, own in zip(X, fixed, strict=True)]
    assert tagger.predict(X, fixed=fixed) == [s.ranked()[0][0] for s in held]
    for found, s in zip(tagger.predict_marginals(X, fixed=fixed), held, strict=True):
        np.testing.assert_allclose(found, s.marginals(), **tolerance)
    for found, s in zip(tagger.predict_nbest(X, 3, fixed=fixed), held, strict=True):
        np.testing.assert_allclose([p for _, p in found], [p for _, p in s.ranked()[:3]], **tolerance)
    for decoder in ("bhp", "bmp", "ldi_approx"):
        for y, own in zip(tagger.decode(X, decoder, fixed=fixed).labels, fixed, strict=True):
            assert all(f is None or f == label for f, label in zip(own, y, strict=True))


def test_chain_states(model):
    tagger, X, _, _, tolerance = model
    for path, mass, m in zip(
        tagger.predict_latent(X), tagger.predict_latent_marginals(X), tagger.predict_marginals(X), strict=True
    ):
        assert mass.shape == (len(path), len(tagger.state_labels_))
        histories = [tagger.state_histories_[h] for h in path]
        labels = tagger.classes_[tagger.state_labels_[path]].tolist()
        for t, history in enumerate(histories):
            assert list(history) == labels[t + 1 - len(history) : t + 1]
        summed = np.stack([mass[:, tagger.state_labels_ == k].sum(axis=1) for k in range(3)], axis=1)
        np.testing.assert_allclose(summed, m, **tolerance)


@pytest.mark.parametrize("params", [{}, {"order": 2, "factors": ((1, 1), (1, 2))}, {"n_latent": 2, "order": 2}])
@pytest.mark.parametrize("scheme", ["iob2", "iob1", "io"])
def test_spans(rng, params, scheme):
    labels = ["B-A", "I-A", "O"] if scheme != "io" else ["I-A", "I-B", "O"]
    tagger = random_spn(rng, labels, **params)
    X = random_inputs(rng, (4, 0, 3), 3)
    spans = [[(a, b, "A") for a in range(len(x)) for b in range(a + 1, len(x) + 1)] for x in X]
    for x, found in zip(X, tagger.predict_spans(X, spans, scheme=scheme), strict=True):
        expected = defaultdict(float)
        for y, p in SPNEnumeration(tagger, x).prob.items():
            for span in get_chunks(list(y), scheme=scheme, invalid="discard"):
                expected[span] += p
        for start, stop, kind, p in found:
            assert p == pytest.approx(expected[start, stop, kind], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["two layers", "window", "bigram networks", "hidden units", "linear"])
def test_sparse_features_are_the_same(rng, name):
    tagger = random_spn(rng, **MODELS[name])
    X = random_inputs(rng, (4, 0, 1, 3), 3)
    sparse = [sp.csr_array(x) for x in X]
    y = tagger.predict(X)
    assert tagger.predict(sparse) == y
    np.testing.assert_allclose(tagger.log_likelihood(sparse, y), tagger.log_likelihood(X, y), rtol=1e-10)


def test_long_sequences_and_large_scores(rng):
    """The lattice takes what exp can't, also where states are histories."""
    tagger = random_spn(rng, order=2, spread=300.0)
    X = [rng.normal(size=(20_000, 3))]
    y = tagger.predict(X)
    best, other = tagger.log_likelihood(X + X, [y[0], ["a"] * 20_000])
    assert other < -1e6 < best


def test_a_sequence_without_possible_labels(rng):
    tagger = random_spn(rng, "ab", lengths=(2,), order=2, unseen="forbid")
    assert tagger.predict(random_inputs(rng, (2,), 3)) == [["a", "b"]]
    with pytest.raises(ValueError, match=r"X\[1\].*no label sequence"):
        tagger.predict(random_inputs(rng, (2, 3), 3))
    assert tagger.log_likelihood(random_inputs(rng, (2,), 3), [["b", "a"]]).tolist() == [-np.inf]
