# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities against enumeration of every label sequence and every latent path."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent import LabelSequences, LatentCRFTagger, SequenceMatrix
from taggers.brute import Enumeration, anything, latent_paths, only_pairs, random_inputs, random_tagger

# Sums of a few hundred terms of one sign: nothing cancels.
ALGEBRA = {"rtol": 1e-10, "atol": 1e-13}

PAIRS = [(None, "a"), (None, "b"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "c"), ("a", "a"), ("c", None), ("b", None)]
BIO = ["B", "I", "O"]


def bio(a, b):
    return b != "I" or a in ("B", "I")


#: name: (parameters of `random_tagger`, what is allowed)
MODELS = {
    "latent": ({}, None),
    "plain": ({"n_latent": (1, 1, 1)}, None),
    "edges": ({"edges": True}, None),
    "one label": ({"classes": ("a",), "n_latent": (3,)}, None),
    "pairs": ({"constraints": PAIRS}, only_pairs(PAIRS)),
    "scheme": ({"classes": BIO, "constraints": "iob2", "edges": True}, bio),
    "plain scheme": ({"classes": BIO, "constraints": "iob2", "n_latent": (1, 1, 1)}, bio),
    "wide": ({"spread": 300.0}, None),
}


@pytest.fixture(params=MODELS)
def model(request, rng):
    """A tagger, inputs of lengths 3, 0, 1, 4, 2, and what it allows."""
    params, allowed = MODELS[request.param]
    tagger = random_tagger(rng, **params)
    return tagger, random_inputs(rng, [3, 0, 1, 4, 2]), allowed or anything


def each(model, fixed=None):
    tagger, X, allowed = model
    fixed = [None] * len(X) if fixed is None else fixed
    return [Enumeration(tagger, x, allowed, f) for x, f in zip(X, fixed, strict=True)]


def assert_log(own, right):
    """Log-probabilities agree to 1e-10 of the largest score that went into them."""
    np.testing.assert_allclose(own, right, rtol=1e-10, atol=1e-10)


def test_log_likelihood_of_every_sequence(model):
    tagger, X, _ = model
    for x, truth in zip(X, each(model), strict=True):
        for y in Enumeration(tagger, x).log_weight:  # also those that are forbidden
            [own] = tagger.log_likelihood([x], [list(y)])
            assert own <= 0.0
            assert_log(own, truth.log_prob(y))


def test_log_likelihood_sums_over_unknown_labels(model, rng):
    tagger, X, _ = model
    for _ in range(3):
        y = [rng.choice([*tagger.classes_, None], size=len(x)).tolist() for x in X]
        own = tagger.log_likelihood(X, y)
        assert own.shape == (5,)
        assert own[1] == 0.0
        assert_log(own, [truth.log_prob(labels) for truth, labels in zip(each(model), y, strict=True)])
    assert tagger.log_likelihood(X, [[None] * len(x) for x in X]).tolist() == [0.0] * 5


def test_log_likelihood_of_labels_never_seen(model):
    tagger, X, _ = model
    y = [["nobody"] * len(x) for x in X]
    assert tagger.log_likelihood(X, y).tolist() == [-np.inf, 0.0, -np.inf, -np.inf, -np.inf]


@pytest.mark.parametrize("method", ["log_likelihood", "score"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", float("nan"), None], r"y\[1\]\[1\] is nan"),
        (["a", None, 2], r"one kind: y\[1\]\[2\] is 2 \(int\), but y\[1\]\[0\] is 'a'"),
        (np.array([1.0, 1.5, 2.0]), r"y\[1\]\[1\] is 1\.5"),
    ],
)
def test_labels_that_are_none(rng, method, labels, message):
    with pytest.raises(ValueError, match=message):
        getattr(random_tagger(rng), method)(random_inputs(rng, [0, 3]), [[], labels])


def test_marginals(model):
    tagger, X, _ = model
    own = tagger.predict_marginals(X)
    assert isinstance(own, LabelSequences)
    for x, marginals, truth in zip(X, own, each(model), strict=True):
        assert marginals.shape == (len(x), len(tagger.classes_))
        assert marginals.dtype == np.float64
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-14)
        np.testing.assert_allclose(marginals, truth.marginals(), rtol=1e-8, atol=1e-12)


def test_latent_marginals_and_the_best_latent_path(model):
    tagger, X, allowed = model
    masses, best = tagger.predict_latent_marginals(X), tagger.predict_latent(X)
    n_states = len(tagger.state_labels_)
    for x, own, path in zip(X, masses, best, strict=True):
        paths = latent_paths(tagger, x, allowed)
        top = max(paths.values())
        total = sum(np.exp(w - top) for w in paths.values())
        right = np.zeros((len(x), n_states))
        for states, weight in paths.items():
            for t, h in enumerate(states):
                right[t, h] += np.exp(weight - top) / total
        assert own.shape == (len(x), n_states)
        np.testing.assert_allclose(own, right, rtol=1e-8, atol=1e-12)
        assert path.shape == (len(x),)
        assert path.dtype == np.int64
        assert_log(paths[tuple(path.tolist())], top)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_nbest(model, n):
    tagger, X, _ = model
    for x, own, truth in zip(X, tagger.predict_nbest(X, n), each(model), strict=True):
        ranked = truth.ranked()
        probs = [p for _, p in own]
        # What has less than 1e-270 of the best one's probability may be missing or out of order.
        sure = sum(p > 1e-260 for _, p in ranked[:n])
        assert min(n, sure) <= len(own) <= min(n, len(ranked))
        np.testing.assert_allclose(probs[:sure], [p for _, p in ranked[:sure]], rtol=1e-9, atol=1e-300)
        assert probs == sorted(probs, reverse=True)
        assert len({tuple(labels) for labels, _ in own}) == len(own)
        assert all(type(p) is float and p > 0 for p in probs)
        assert all(type(label) is str for labels, _ in own for label in labels)
        if n == 1000:
            np.testing.assert_allclose(sum(probs), 1.0, rtol=1e-12)
        if len(x) == 0:
            assert own == [([], 1.0)]
        for labels, p in own[:20]:
            np.testing.assert_allclose(np.log(p), tagger.log_likelihood([x], [labels])[0], rtol=1e-9, atol=1e-12)


def test_nbest_of_a_sequence_too_long_for_a_float():
    tagger = LatentCRFTagger.from_weights(["a", "b"], [[0.01, 0.0], [0.0, 0.01]], [[0.1, 0.0], [0.0, 0.1]])
    X = [np.eye(2)[np.arange(3000) % 2], np.eye(2)]
    long, short = tagger.predict_nbest(X, 3)
    assert len(long) == len(short) == 3
    best = tagger.decode(X)
    assert long[0] == (best.labels[0], 0.0) and best.log_prob[0] < -1000
    logs = tagger.log_likelihood([X[0]] * 3, [labels for labels, _ in long])
    assert (np.diff(logs) <= 1e-9).all() and len({tuple(labels) for labels, _ in long}) == 3


def test_nbest_of_too_many_costs_nothing(rng):
    tagger = random_tagger(rng)
    [own] = tagger.predict_nbest(random_inputs(rng, [2]), 10**12)
    assert len(own) == 9


@pytest.mark.parametrize("n", [0, -1, 1.5, "3", None, True])
def test_nbest_of_nonsense(rng, n):
    with pytest.raises((ValueError, TypeError), match="n must be a positive integer"):
        random_tagger(rng).predict_nbest(random_inputs(rng, [2]), n)


def test_dense_sparse_and_every_way_to_cut(model):
    tagger, X, _ = model
    stacked = np.concatenate(X)
    forms = [
        SequenceMatrix(stacked, [len(x) for x in X]),
        SequenceMatrix(sp.csr_array(stacked), [len(x) for x in X]),
        [sp.csr_matrix(x) for x in X],
        [x.tolist() if len(x) else np.zeros((0, 4)) for x in X],
    ]
    own = tagger.predict_marginals(X)
    for form in forms:
        for a, b in zip(own, tagger.predict_marginals(form), strict=True):
            np.testing.assert_allclose(b, a, **ALGEBRA)
    for i, x in enumerate(X):
        np.testing.assert_allclose(tagger.predict_marginals([x])[0], own[i], **ALGEBRA)
    for a, b in zip(own[::-1], tagger.predict_marginals(X[::-1]), strict=True):
        np.testing.assert_allclose(b, a, **ALGEBRA)


# -- conditioning -----------------------------------------------------------------------------------


def some_fixed(model, rng):
    """Labels of allowed sequences with about half of them hidden."""
    fixed = []
    for truth in each(model):
        possible = list(truth.log_weight)
        y = possible[rng.integers(len(possible))]
        fixed.append([None if rng.random() < 0.5 else label for label in y])
    return fixed


def test_fixed_labels(model, rng):
    tagger, X, _ = model
    fixed = some_fixed(model, rng)
    truths = each(model, fixed)
    for own, truth in zip(tagger.predict_marginals(X, fixed=fixed), truths, strict=True):
        np.testing.assert_allclose(own, truth.marginals(), rtol=1e-8, atol=1e-12)
    for own, truth in zip(tagger.predict_nbest(X, 500, fixed=fixed), truths, strict=True):
        ranked = [p for _, p in truth.ranked() if p > 1e-260]
        np.testing.assert_allclose([p for _, p in own[: len(ranked)]], ranked, rtol=1e-9)
    result = tagger.decode(X, fixed=fixed)
    assert result.exact.all()
    assert_log(result.log_prob, [np.log(truth.best[1]) for truth in truths])
    assert tagger.predict(X, fixed=fixed) == result.labels
    for decoder in ("ldi_approx", "bhp", "bmp", "mbr"):
        labels = tagger.decode(X, decoder, fixed=fixed, mbr_metric="token_accuracy").labels
        for y, f in zip(labels, fixed, strict=True):
            assert all(b is None or a == b for a, b in zip(y, f, strict=True))


def test_everything_fixed(model):
    tagger, X, _ = model
    fixed = [list(truth.best[0]) for truth in each(model)]
    assert tagger.predict(X, fixed=fixed) == fixed
    assert_log(tagger.decode(X, fixed=fixed).log_prob, np.zeros(5))


def test_nothing_fixed(model):
    tagger, X, _ = model
    free = [[None] * len(x) for x in X]
    assert tagger.predict(X, fixed=free) == tagger.predict(X)
    for a, b in zip(tagger.predict_marginals(X, fixed=free), tagger.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("method", ["predict", "decode", "predict_marginals", "predict_nbest"])
def test_fixed_labels_that_can_not_be(rng, method):
    tagger = random_tagger(rng, classes=BIO, constraints="iob2")
    X = random_inputs(rng, [1, 2])
    call = getattr(tagger, method)
    arguments = (X, 2) if method == "predict_nbest" else (X,)
    with pytest.raises(ValueError, match=r"X\[1\].*fixed labels and the constraints"):
        call(*arguments, fixed=[["B"], ["O", "I"]])
    with pytest.raises(ValueError, match=r"fixed\[1\]\[0\] is 'x', which is not a label"):
        call(*arguments, fixed=[["B"], ["x", None]])
    with pytest.raises(ValueError, match=r"X\[1\] has 2 tokens but fixed\[1\] has 1 label"):
        call(*arguments, fixed=[["B"], ["O"]])
    with pytest.raises(ValueError, match=r"2 sequences but fixed has 1"):
        call(*arguments, fixed=[["B"]])
    with pytest.raises(TypeError, match=r"fixed\[0\]"):
        call(*arguments, fixed=["B", "OO"])


# -- numbers at the edge ----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e3, 1e5, 1e100, 1e300])
def test_weights_beyond_exp(rng, scale):
    """exp of these scores overflows: the answers are those of max-plus algebra."""
    tagger = random_tagger(rng, spread=1.0)
    X = random_inputs(rng, [4, 1])
    big = LatentCRFTagger.from_weights(
        ["a", "b", "c"], tagger.coef_ * scale, tagger.transition_coef_ * scale, start_coef=tagger.start_coef_ * scale,
        end_coef=tagger.end_coef_ * scale, state_labels=tagger.state_labels_, constraints=PAIRS,
    )  # fmt: skip
    for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
        result = big.decode(X, decoder, mbr_metric="token_accuracy")
        truths = [Enumeration(big, x, only_pairs(PAIRS)) for x in X]
        assert result.labels == [truth.best[0] for truth in truths]
        np.testing.assert_allclose(result.log_prob, 0.0, atol=1e-9)
    marginals = big.predict_marginals(X)
    assert np.isfinite(np.concatenate(marginals)).all()
    for own, truth in zip(marginals, truths, strict=True):
        np.testing.assert_allclose(own, truth.marginals(), atol=1e-9)
    assert np.isfinite(big.log_likelihood(X, result.labels)).all()
    worst = [min(truth.log_weight, key=truth.log_weight.get) for truth in truths]
    np.testing.assert_allclose(
        big.log_likelihood(X, worst), [truth.log_prob(y) for truth, y in zip(truths, worst, strict=True)], rtol=1e-9
    )


def test_scores_beyond_floating_point_are_named():
    tagger = LatentCRFTagger.from_weights(["a", "b"], [[1e308, -1e308]], np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"X\[1\].*beyond what floating point holds"):
        tagger.predict([np.ones((1, 1)), np.full((2, 1), 1e300)])
