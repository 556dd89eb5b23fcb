# SPDX-License-Identifier: BSD-3-Clause
"""Training of `SPNCRFTagger`: its objective and gradient, reductions to known models, options, refusals, files."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent import LatentCRFTagger, SequenceMatrix, SPNCRFTagger
from sklearn_latent._optim import STEPPERS
from sklearn_latent._sequences import LabelCodec
from sklearn_latent._taggers.training import TrainingSet
from sklearn_latent._threads import Workers
from sklearn_latent.exceptions import ConvergenceWarning, ModelTooLargeError
from sklearn_latent.io import load_model, save_model
from taggers.spn_brute import SPNEnumeration

VARIANTS = {
    "default": {},
    "two layers": {"n_layers": 2, "n_states": 2},
    "max": {"operator": "max", "n_states": 3},
    "window": {"factors": ((3, 1),), "n_states": 2},
    "hidden units": {"tie_inputs": True, "n_states": 2, "n_products": 3},
    "order 2, bigram networks": {"order": 2, "factors": ((1, 1), (2, 2)), "n_states": 2},
    "bigram networks on arcs": {"factors": ((1, 2),), "n_states": 2},
    "forbid": {"order": 2, "unseen": "forbid", "n_layers": 0},
    "latent": {"n_latent": 2, "order": 2, "n_states": 2},
    "all trigrams": {"order": 2, "sparse_factors": False, "n_layers": 0},
}  # fmt: skip


def corpus(seed=0, n=12, labels="abc", n_features=4, known=1.0, lengths=(1, 7)):
    """Labels that features tell, with noise."""
    rng = np.random.default_rng(seed)
    y = [rng.choice(list(labels), size=rng.integers(*lengths)).tolist() for _ in range(n)]
    y[0] = list(labels)
    centre = rng.normal(size=(len(labels), n_features))
    noise = [0.7 * rng.normal(size=(len(own), n_features)) for own in y]
    X = [np.round(centre[[labels.index(c) for c in own]] + e, 3) for own, e in zip(y, noise, strict=True)]
    return X, [[c if rng.random() < known else None for c in own] for own in y]


def fit(X, y, *args, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SPNCRFTagger(**{"random_state": 0, "max_iter": 3, **params}).fit(X, y, *args)


def same_bits(a, b):
    assert a._model.params.keys() == b._model.params.keys()
    for name, value in a._model.params.items():
        np.testing.assert_array_equal(value, b._model.params[name], err_msg=name)


# -- objective --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", VARIANTS)
def test_gradient_is_a_finite_difference(name, sparse):
    X, y = corpus(known=0.8)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    tagger = SPNCRFTagger(**VARIANTS[name])
    codec = LabelCodec.from_labels(y)
    values = np.concatenate(X)
    matrix = SequenceMatrix(sp.csr_array(values) if sparse else values, [len(x) for x in X])
    data = TrainingSet(matrix, codec.encode(y), weight, codec.classes.tolist(), np.arange(len(X)))
    model, objective, chunks = tagger._build(data)
    rng = np.random.default_rng(2)
    theta = rng.normal(size=objective.packing.size)
    with Workers(None) as workers:
        value, grad = objective.value_and_grad(theta, chunks, workers)
        model.params = {k: v.copy() for k, v in objective.packing.views(theta).items()}
        tagger.classes_, tagger.n_features_in_ = codec.classes, 4
        tagger._feature_names = None
        tagger._set_model(model)
        loss = -weight @ tagger.log_likelihood(X, y)
        np.testing.assert_allclose(value, loss + 0.5 * theta @ theta, rtol=1e-10)
        for cell in rng.choice(len(theta), size=25, replace=False):
            ends = []
            for step in (1e-5, -1e-5):
                moved = theta.copy()
                moved[cell] += step
                ends.append(objective.loss(moved, chunks, workers) + 0.5 * moved @ moved)
            np.testing.assert_allclose(grad[cell], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-5)


def test_objective_is_the_penalised_likelihood_of_all_label_sequences():
    X, y = corpus(known=0.7, lengths=(1, 5))
    tagger = fit(X, y, order=2, n_states=2, sigma=2.0, factors=((1, 1), (2, 2)))
    theta = np.concatenate([v.reshape(-1) for v in tagger._model.params.values()])
    slow = -sum(SPNEnumeration(tagger, x).log_prob(own) for x, own in zip(X, y, strict=True))
    np.testing.assert_allclose(tagger.objective_, slow + theta @ theta / 8.0, rtol=1e-10)


# -- reductions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
def test_without_layers_it_is_the_linear_crf(sparse):
    """The same objective, gradient and optimum, step by step."""
    X, y = corpus(known=0.9)
    X = [sp.csr_array(x) for x in X] if sparse else X
    options = {"tol": 1e-9, "max_iter": 1000, "random_state": 3, "solver": "lbfgs", "class_weight": "balanced"}
    a = LatentCRFTagger(1, support="all", **options).fit(X, y)
    b = SPNCRFTagger(0, sparse_factors=False, **options).fit(X, y)
    # Products of the latent CRF's kernels come in another order.
    np.testing.assert_allclose(b.loss_curve_[:5], a.loss_curve_[:5], rtol=1e-9)
    np.testing.assert_allclose(b.objective_, a.objective_, rtol=1e-9)
    for name in ("coef_", "transition_coef_", "start_coef_", "end_coef_"):
        np.testing.assert_allclose(getattr(b, name), getattr(a, name), atol=1e-4)
    assert b.predict(X) == a.predict(X)
    assert b.state_labels_.tolist() == a.state_labels_.tolist()


@pytest.mark.parametrize("n_latent", [2, {"b": 3}])
def test_without_layers_it_is_the_latent_crf(n_latent):
    """The same model and objective; the optimum of one is one of the other."""
    X, y = corpus(known=0.9)
    options = {"tol": 1e-10, "max_iter": 2000, "random_state": 3, "solver": "lbfgs"}
    b = SPNCRFTagger(0, n_latent=n_latent, sparse_factors=False, **options).fit(X, y)
    weights = (b.coef_, b.transition_coef_)
    boundary = {"start_coef": b.start_coef_, "end_coef": b.end_coef_, "state_labels": b.state_labels_}
    a = LatentCRFTagger.from_weights(list("abc"), *weights, **boundary, support="all", **options)
    np.testing.assert_allclose(a.log_likelihood(X, y), b.log_likelihood(X, y), rtol=1e-9)
    for decoder in ("ldi_exact", "bhp", "bmp"):
        assert a.decode(X, decoder).labels == b.decode(X, decoder).labels
    again = a.set_params(warm_start=True).fit(X, y)
    np.testing.assert_allclose(again.objective_, b.objective_, rtol=1e-7)


def test_observed_transitions_are_sparse_bigrams():
    X, y = corpus()
    y = [sorted(own) for own in y]  # no label before a smaller one
    a = LatentCRFTagger(1, support="observed", tol=1e-9, max_iter=1000)
    b = SPNCRFTagger(0, solver="lbfgs", tol=1e-9, max_iter=1000)
    a.fit(X, y), b.fit(X, y)
    assert set(b.ngrams_[2]) == {pair for own in y for pair in zip(own, own[1:], strict=False)}
    unseen = b.transition_coef_ == 0
    assert unseen.sum() >= 3
    assert (a.transition_coef_[unseen] == 0).all()


def test_special_cases():
    units = SPNCRFTagger.hidden_unit_crf(7, order=2, sigma=2.0)
    assert (units.n_layers, units.n_products, units.n_states, units.tie_inputs, units.order) == (1, 7, 2, True, 2)
    assert SPNCRFTagger.hidden_unit_crf().n_products == 250
    mixture = SPNCRFTagger.gmm_crf(random_state=1)
    assert (mixture.n_layers, mixture.n_products, mixture.n_states, mixture.random_state) == (1, 1, 4, 1)
    linear = SPNCRFTagger.linear_crf(sigma=3.0)
    assert (linear.n_layers, linear.solver, linear.sigma) == (0, "lbfgs", 3.0)
    assert SPNCRFTagger.linear_crf(solver="sgd").max_iter == 100
    X, y = corpus()
    for est in (units, mixture, linear):
        assert fit(X, y, **est.get_params()).score(X, y) > 0.3


def test_it_learns_what_no_linear_function_tells():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 2)) for _ in range(80)]
    y = [["same" if a * b > 0 else "other" for a, b in x] for x in X]
    options = {"solver": "lbfgs", "max_iter": 300, "tol": 1e-4, "sigma": 5.0, "random_state": 0}
    assert SPNCRFTagger(0, **options).fit(X, y).score(X, y) < 0.7
    for shape in ((1, 2, 4), (2, 2, 2)):
        assert SPNCRFTagger(*shape, **options).fit(X, y).score(X, y) > 0.95
    assert SPNCRFTagger.hidden_unit_crf(12, **options).fit(X, y).score(X, y) > 0.95


def test_order_matters():
    """Labels that only the two before tell."""
    rng = np.random.default_rng(0)
    y = []
    for _ in range(60):
        own = rng.integers(0, 2, 2).tolist()
        while len(own) < 10:
            own.append(int(own[-1] ^ own[-2]) if rng.random() < 0.95 else int(rng.integers(2)))
        y.append(own)
    X = [np.array([[v if t < 2 else 0.0] for t, v in enumerate(own)]) - 0.5 for own in y]
    scores = [
        SPNCRFTagger(0, order=order, solver="lbfgs", sigma=5.0, max_iter=300, tol=1e-4).fit(X, y).score(X, y)
        for order in (1, 2)
    ]
    assert scores[1] > scores[0] + 0.1


# -- n-grams ----------------------------------------------------------------------------------------


def test_ngrams_seen_in_training():
    X, y = corpus()
    tagger = fit(X, y, order=2, factors=((1, 1), (1, 2)))
    for n in (2, 3):
        seen = {tuple(own[t : t + n]) for own in y for t in range(len(own) - n + 1)}
        assert tagger.ngrams_[n] == sorted(seen)
        assert tagger.ngram_coef_[n].shape == (len(seen),)
    assert [c.shape[0] for c in tagger.factor_coef_] == [3, len(tagger.ngrams_[2])]
    everything = fit(X, y, order=2, sparse_factors=False)
    assert [len(rows) for rows in everything.ngrams_.values()] == [9, 27]
    assert len(everything.state_labels_) == 3 + 9


def test_forbidden_ngrams_have_probability_zero():
    X, y = corpus(labels="ab", n=6)
    y = [["a" if t % 3 else "b" for t in range(len(own))] for own in y]
    strict = fit(X, y, order=2, unseen="forbid", sigma=np.inf)
    free = fit(X, y, order=2)
    assert np.isneginf(strict.log_likelihood([np.zeros((2, 4))], [["b", "b"]]))[0]
    assert np.isfinite(free.log_likelihood([np.zeros((2, 4))], [["b", "b"]]))[0]
    assert np.isfinite(strict.log_likelihood(X, y)).all()
    assert free.predict(X) == strict.predict(X) or free.score(X, y) < 1.0


def test_a_new_network_says_nothing():
    """The offset is taken off: with zero weights seen and unseen n-grams score alike."""
    X, y = corpus()
    tagger = fit(X, y, n_layers=3, n_states=4, factors=((1, 2),), solver="lbfgs", max_iter=0, init_scale=0.0)
    np.testing.assert_allclose(tagger.log_likelihood(X, y), [-len(x) * np.log(3) for x in X], rtol=1e-9)


# -- options ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["lbfgs", "adam", "sgd", "adf"])
@pytest.mark.parametrize("sparse", [False, True])
def test_solvers_lower_the_objective_and_threads_change_no_bit(solver, sparse):
    X, y = corpus(n=40)
    X = [sp.csr_array(x) for x in X] if sparse else X
    start = fit(X, y, solver="lbfgs", max_iter=0, order=2, factors=((1, 1), (2, 2)))
    models = [fit(X, y, solver=solver, order=2, factors=((1, 1), (2, 2)), max_iter=5, n_jobs=n) for n in (1, 2)]
    assert models[0].objective_ < start.objective_
    same_bits(*models)
    assert models[0].loss_curve_ == models[1].loss_curve_


def test_blocks_in_threads_change_no_bit(monkeypatch):
    """A chunk of several blocks, kept and not kept."""
    from sklearn_latent._scorers import spn

    X, y = corpus(n=150)
    for kept_bytes in (1 << 26, 0):
        monkeypatch.setattr(spn, "_LEAST_BLOCK", 16)
        monkeypatch.setattr(spn, "_KEPT_BYTES", kept_bytes)
        monkeypatch.setattr(spn.SPNScorer, "block_tokens", property(lambda self: 16))
        models = [fit(X, y, solver="lbfgs", n_layers=2, factors=((2, 1), (1, 2)), n_jobs=n) for n in (1, 2)]
        same_bits(*models)


def test_sparse_batches_equal_dense_ones():
    X, y = corpus(n=30, n_features=20)
    rng = np.random.default_rng(0)
    X = [x * (rng.random(x.shape) < 0.2) for x in X]
    for solver in ("adam", "sgd"):  # ADF takes a weight to be active where its features are
        options = {"solver": solver, "factors": ((2, 1), (1, 2)), "batch_size": 3, "learning_rate": 0.05}
        a, b = fit(X, y, **options), fit([sp.csr_array(x) for x in X], y, **options)
        for name, value in a._model.params.items():
            np.testing.assert_allclose(b._model.params[name], value, rtol=1e-6, atol=1e-9)


def test_single_precision_is_near_double():
    X, y = corpus(n=30)
    a, b = (fit(X, y, dtype=dtype, n_layers=2, solver="lbfgs", max_iter=10) for dtype in (np.float64, np.float32))
    np.testing.assert_allclose(b.objective_, a.objective_, rtol=1e-3)
    assert b._model.params["coef_0"].dtype == np.float64
    assert fit(X, y, dtype="float32").objective_ == fit(X, y, dtype=np.dtype("float32")).objective_


def test_sample_weight_repeats():
    X, y = corpus()
    weight = np.array([2, 0, 1, 1, 3, 1, 1, 1, 0, 1, 1, 1])
    again = np.repeat(np.arange(12), weight)
    options = {"solver": "lbfgs", "max_iter": 400, "tol": 1e-10, "n_layers": 0, "order": 2}
    a = fit(X, y, weight, **options)
    b = fit([X[i] for i in again], [y[i] for i in again], **options)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-8)
    assert a.ngrams_ == b.ngrams_


def test_early_stopping_and_callback():
    X, y = corpus(n=40)
    tagger = fit(X, y, early_stopping=True, n_iter_no_change=2, max_iter=60, learning_rate=0.3)
    assert tagger.converged_
    assert len(tagger.validation_scores_) == tagger.n_iter_ < 60
    seen = []
    stopped = fit(X, y, callback=lambda info: seen.append(info.objective) or len(seen) == 2, max_iter=50)
    assert (stopped.n_iter_, stopped.loss_curve_) == (2, seen)


@pytest.mark.parametrize(
    "params", [{"solver": "lbfgs"}, {"solver": "sgd"}, {"normalization": "local", "learning_rate": 0.3}]
)
def test_early_stopping_keeps_the_best_weights(params, capsys):
    # Hardly any prior and few sequences: the likelihood of held-out ones rises, then falls.
    X, y = corpus(n=30, n_features=12)
    shown = []
    tagger = fit(X, y, sigma=100.0, early_stopping=True, validation_fraction=0.3, n_iter_no_change=4, max_iter=200,
                 callback=lambda info: shown.append(info.validation_score), verbose=2, **params)  # fmt: skip
    scores = tagger.validation_scores_
    best = int(np.argmax(scores))
    assert shown == scores and len(scores) == tagger.n_iter_ == best + 5 < 200 and tagger.converged_
    held_out = np.sort(np.random.RandomState(0).permutation(30)[:9])
    found = tagger.log_likelihood([X[i] for i in held_out], [y[i] for i in held_out]).sum()
    assert found / sum(len(y[i]) for i in held_out) == pytest.approx(scores[best], abs=1e-12)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("iteration")]
    assert len(lines) == tagger.n_iter_
    for line, score, loss in zip(lines, scores, tagger.loss_curve_, strict=True):
        assert f"objective {loss:.6g}  validation score {score:.6g}" in line


def test_restarts_keep_the_best():
    X, y = corpus(n=20)
    options = {"solver": "lbfgs", "max_iter": 30, "n_states": 2}
    one, five = fit(X, y, **options), fit(X, y, n_init=5, **options)
    assert five.objective_ <= one.objective_
    linear = [fit(X, y, n_layers=0, solver="lbfgs", n_init=n) for n in (1, 5)]
    same_bits(*linear)


def test_partial_fit_goes_on():
    X, y = corpus(n=40)
    for solver in STEPPERS:
        tagger = SPNCRFTagger(solver=solver, random_state=0, order=2)
        for _ in range(3):
            tagger.partial_fit(X[:20], y[:20], classes=list("abcd"))
            tagger.partial_fit(X[20:], y[20:])
        assert tagger.n_iter_ == len(tagger.loss_curve_) == 6
        assert tagger.classes_.tolist() == list("abcd")
        seen = {tuple(own[t : t + 3]) for own in y[:20] for t in range(len(own) - 2)}
        assert set(tagger.ngrams_[3]) == seen
        assert tagger.log_likelihood(X, y).mean() > SPNEnumerationFloor(X)
    assert not hasattr(SPNCRFTagger(solver="lbfgs"), "partial_fit")


def SPNEnumerationFloor(X) -> float:
    """Mean log-likelihood of a model that knows nothing of four labels."""
    return float(np.mean([-len(x) * np.log(4) for x in X]))


def test_partial_fit_with_forbidden_ngrams():
    X = [np.zeros((3, 2))] * 4
    tagger = SPNCRFTagger(order=2, unseen="forbid").partial_fit(X, [list("aba")] * 4)
    tagger.partial_fit(X, [list("aba")] * 4)
    with pytest.raises(ValueError, match=r"y\[2\].*probability zero.*n-grams"):
        tagger.partial_fit(X, [*[list("aba")] * 2, list("abb"), list("aba")])


def test_warm_start_takes_what_is_the_same():
    X, y = corpus(n=30)
    options = {"order": 2, "factors": ((2, 1), (1, 2)), "n_latent": {"a": 2}, "solver": "lbfgs", "max_iter": 8}
    tagger = fit(X, y, warm_start=True, **options)
    first = {name: value.copy() for name, value in tagger._model.params.items()}
    objective = tagger.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.set_params(max_iter=0).fit(X, y)
        assert tagger.objective_ == pytest.approx(objective, rel=1e-12)
        for name, value in first.items():
            np.testing.assert_array_equal(tagger._model.params[name], value)
        old = tagger.factor_coef_
        ngrams = tagger.ngrams_
        wider = [np.hstack([x, x[:, :1]]) for x in X]
        tagger.fit(wider[10:] + wider[:1], y[10:] + y[:1])  # one more feature, fewer n-grams
    new = tagger.factor_coef_
    # Factor 0 has windows of two: the old columns of either token come first in its part.
    np.testing.assert_array_equal(new[0][..., [0, 1, 2, 3, 5, 6, 7, 8]], old[0])
    roots = lambda rows: [(row, k) for row in rows for k in range(2 if row[-1] == "a" else 1)]  # noqa: E731
    here, there = roots(tagger.ngrams_[2]), roots(ngrams[2])
    for k, root in enumerate(here):
        if root in there:
            np.testing.assert_array_equal(new[1][k][..., :4], old[1][there.index(root)])
    assert any(root in there for root in here)


def test_warm_start_without_warning():
    X, y = corpus()
    tagger = fit(X, y, warm_start=True, tie_inputs=True, n_states=2)
    before = tagger.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(X, y)
    assert tagger.objective_ < before
    with pytest.raises(ValueError, match="warm_start: another n_layers"):
        tagger.set_params(n_products=5).fit(X, y)
    with pytest.raises(ValueError, match="warm_start: another order"):
        tagger.set_params(n_products=2, order=2).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_layers": -1}, "n_layers"),
        ({"n_products": 0}, "n_products"),
        ({"n_states": 1.5}, "n_states"),
        ({"order": -1}, "order"),
        ({"operator": "min"}, "operator"),
        ({"normalization": "none"}, "normalization"),
        ({"unseen": "zero"}, "unseen"),
        ({"sparse_factors": "yes"}, "sparse_factors"),
        ({"beam_width": 0}, "beam_width"),
        ({"dtype": np.int32}, "dtype must be float64 or float32"),
        ({"dtype": "words"}, "dtype must be float64 or float32"),
        ({"factors": ()}, "factors is empty"),
        ({"factors": 3}, "factors"),
        ({"factors": "11"}, "factors must hold pairs"),
        ({"factors": ((1, 0),)}, "factors must hold pairs"),
        ({"factors": ((1, 1, 1),)}, "factors must hold pairs"),
        ({"factors": ((1, 1.5),)}, "factors must hold pairs"),
        ({"factors": ((1, 1), [1, 1])}, "a pair twice"),
        ({"tie_inputs": True, "n_layers": 0}, "tie_inputs=True needs n_layers >= 1"),
        ({"tie_inputs": True, "n_states": 1}, "tie_inputs=True needs n_layers >= 1"),
        ({"solver": "newton"}, "solver"),
        ({"n_latent": {"a": 0}}, "n_latent"),
        ({"constraints": [("a", "a")]}, "constraints forbid the labels of y"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        SPNCRFTagger(**params).fit(*corpus())


@pytest.mark.parametrize(
    "params",
    [
        {"order": 9, "sparse_factors": False},
        {"order": 60, "sparse_factors": False},
        {"n_layers": 40},
        {"n_layers": 12, "factors": ((1, 2),)},
        {"order": 3, "sparse_factors": False, "factors": ((1, 4),), "n_layers": 3, "n_states": 16},
        {"n_latent": 10**9},
    ],
)
def test_a_model_too_large_is_refused_before_memory_is(params):
    X, y = corpus(labels="abcdefghijklmnopqrstuvwxyz", n=30)
    with pytest.raises(ModelTooLargeError, match=r"parameters.*bytes.*GB.*smaller n_layers"):
        SPNCRFTagger(**params).fit(X, y)


@pytest.mark.parametrize(
    "params",
    [
        {"n_layers": 1000},
        {"n_layers": 10**6},
        {"n_layers": 10**12, "n_products": 1, "n_states": 1},
        {"order": 700, "sparse_factors": False},
        {"order": 10**9, "sparse_factors": False},
        {"factors": ((10**9, 1),)},
        {"n_latent": 10**30},
        {"n_states": 10**30},
        {"normalization": "local", "order": 10**10},
    ],
    ids=str,
)
def test_sizes_beyond_all_measure_are_told_shortly(params):
    X, y = corpus(n=10)
    with pytest.raises(ModelTooLargeError, match=r"parameters.*bytes.*smaller") as found:
        SPNCRFTagger(**params).fit(X, y)
    assert len(str(found.value)) < 600


@pytest.mark.parametrize("unseen", ["neutral", "forbid"])
@pytest.mark.parametrize("more", [{}, {"factors": ((1, 1), (1, 10**9))}], ids=["order", "factor"])
def test_orders_beyond_the_longest_sequence_are_that_of_the_longest(unseen, more):
    X, y = corpus(n=10)
    longest = max(map(len, y))
    params = {"unseen": unseen, "n_layers": 0, "random_state": 0}
    a = SPNCRFTagger(order=longest, **params).partial_fit(X, y)
    b = SPNCRFTagger(order=10**9, **params, **more).partial_fit(X, y)
    assert b.predict(X) == a.predict(X)
    np.testing.assert_allclose(a.log_likelihood(X, y), b.log_likelihood(X, y), rtol=1e-12)
    if unseen == "forbid":
        for tagger in (a, b):
            with pytest.raises(ValueError, match="no label sequence"):
                tagger.predict([np.zeros((longest + 1, X[0].shape[1]))])
    c = pickle.loads(pickle.dumps(b))
    assert c.predict(X) == b.predict(X)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_held_out_is_possible_too(seed):
    """N-grams that only the validation part shows are not forbidden, so that it can judge."""
    rng = np.random.default_rng(seed)
    y = [rng.choice(list("abcdef"), size=6).tolist() for _ in range(12)]
    X = [np.eye(6)[[ord(label) - 97 for label in own]] for own in y]
    tagger = SPNCRFTagger(order=3, unseen="forbid", n_layers=0, early_stopping=True, max_iter=30, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(X, y)
    assert np.isfinite(tagger.validation_scores_).all()
    assert np.isfinite(tagger.log_likelihood(X, y)).all()


@pytest.mark.parametrize("make", [SPNCRFTagger, SPNCRFTagger.memm, LatentCRFTagger], ids=["spn", "memm", "latent"])
def test_labels_held_out_obey_the_constraints(make):
    X, y = corpus(labels="ab", n=10)
    y = [["a" for _ in own] for own in y]
    k = next(i for i, own in enumerate(y) if len(own) > 1)
    y[k][:2] = ["b", "a"]
    rules = [("a", "a"), ("b", "b"), ("a", "b")]
    for seed in range(5):
        tagger = make(constraints=rules, early_stopping=True, validation_fraction=0.5, random_state=seed)
        with pytest.raises(ValueError, match=rf"y\[{k}\]\[1\] is 'a', which can't follow 'b'"):
            tagger.fit(X, y)


def test_unknown_labels_that_stand_for_too_many_ngrams():
    X, y = corpus(labels="abcdefghijklmnopqrstuvwxyz")
    with pytest.raises(ModelTooLargeError, match="unknown labels"):
        SPNCRFTagger(order=5).fit([*X, np.zeros((9, 4))], [*y, [None] * 9])


# -- files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize("name", VARIANTS)
def test_saved_and_pickled(name, mmap_mode, tmp_path):
    X, y = corpus(n=20)
    tagger = SPNCRFTagger(random_state=0, **VARIANTS[name]).partial_fit(X, y)
    save_model(tagger, tmp_path / "m.zip")
    copies = [load_model(tmp_path / "m.zip", mmap_mode=mmap_mode), pickle.loads(pickle.dumps(tagger))]
    for copy in copies:
        assert repr(copy) == repr(tagger)
        for a, b in zip(copy.predict_marginals(X), tagger.predict_marginals(X), strict=True):
            np.testing.assert_array_equal(a, b)
        assert copy.state_histories_ == tagger.state_histories_
    tagger.partial_fit(X, y)
    for copy in copies:
        same_bits(copy.partial_fit(X, y), tagger)


BAD = {
    "n-grams beyond the labels": lambda m: m.ngrams.update({2: m.ngrams[2] + 5}),
    "n-grams twice": lambda m: m.ngrams.update({2: m.ngrams[2][[0, 0, 1]]}),
    "n-grams of other lengths": lambda m: m.ngrams.update({4: np.zeros((1, 4), dtype=np.int32)}),
    "weights of other n-grams": lambda m: m.params.update({"ngram": m.params["ngram"][:-1].copy()}),
    "weights that are not finite": lambda m: m.params["coef_0"].fill(np.nan),
    "no weights": lambda m: m.params.pop("end"),
    "another order": lambda m: setattr(m, "order", 5),
    "another width": lambda m: setattr(m, "n_features", 5),
    "many latent states": lambda m: setattr(m, "n_latent", np.full(3, 1 << 30)),
    "factors of nothing": lambda m: setattr(m, "factors", ((0, 1),)),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_files_of_no_model(name, tmp_path):
    tagger = fit(*corpus(), order=2, n_states=2)
    save_model(tagger, tmp_path / "m.zip")
    BAD[name](tagger._model)
    with pytest.raises(ValueError):  # what is written is read again
        save_model(tagger, tmp_path / "n.zip")
    assert load_model(tmp_path / "m.zip").order == 2
    assert not (tmp_path / "n.zip").exists()
