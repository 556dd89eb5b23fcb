# SPDX-License-Identifier: BSD-3-Clause
"""G01 to G13: the estimator and scikit-learn."""

import os
import pickle
import tempfile

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_validate,
)
from sklearn.utils.validation import check_is_fitted

from cases.helpers import assert_same_marginals, assert_same_weights
from sklearn_latent.metrics import chunk_f1_scorer, make_token_scorer, token_accuracy_scorer, token_f1_score

GRID = {"sigma": [0.1, 1.0], "n_latent": [1, 2]}
METHODS = ["predict", "decode", "predict_marginals", "predict_latent", "predict_latent_marginals", "predict_spans"]


def test_g01_repr_clone_params(tagger, toy):
    e = tagger(sigma=2.0)
    assert "sigma=2.0" in repr(e)
    assert tagger.cls.__name__ in e._repr_html_()
    assert clone(e).sigma == 2.0
    assert e.set_params(sigma=3.0).sigma == 3.0
    fitted = e.fit(toy.X3, toy.Y3)
    assert "sigma=3.0" in repr(fitted) and fitted._repr_html_()
    copy = clone(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    assert not [name for name in vars(copy) if name.endswith("_") or name == "_model"]


def test_g01_every_argument_is_kept(tagger):
    names = tagger.cls().get_params()
    given = {name: object() for name in names}
    e = tagger.cls(**given)
    assert all(e.get_params(deep=False)[name] is value for name, value in given.items())
    other = tagger.cls().set_params(**given)
    assert all(getattr(other, name) is value for name, value in given.items())
    assert len(repr(e)) > 100


def searches(estimator):
    options = {"cv": 2, "error_score": "raise"}
    ranges = {"sigma": uniform(0.1, 2), "n_latent": [1, 2]}
    return {
        "grid": GridSearchCV(estimator, GRID, **options),
        "random": RandomizedSearchCV(estimator, ranges, n_iter=4, random_state=0, **options),
        "halving grid": HalvingGridSearchCV(estimator, GRID, min_resources=4, random_state=0, **options),
        "halving random": HalvingRandomSearchCV(estimator, ranges, min_resources=4, random_state=0, **options),
    }


@pytest.mark.parametrize("data", ["ragged", "equal", "one token"])
@pytest.mark.parametrize("kind", ["grid", "random", "halving grid", "halving random"])
def test_g02_searches_with_an_integer_cv(tagger, toy, kind, data):
    own = {
        "ragged": (toy.X3, toy.Y3),
        "equal": ([toy.X[1]] * 8, [toy.Y[1]] * 8),
        "one token": ([toy.X[2], toy.X[0][:1]] * 4, [toy.Y[2], toy.Y[0][:1]] * 4),
    }[data]
    search = searches(tagger())[kind].fit(*own)
    assert search.best_params_.keys() == GRID.keys()
    assert [len(y) for y in search.best_estimator_.predict(toy.X)] == [3, 2, 1, 4]
    scores = search.cv_results_["mean_test_score"]
    assert ((scores >= 0) & (scores <= 1)).all()


def test_g03_scorers(tagger, toy):
    scoring = {"tok": make_token_scorer(), "span": chunk_f1_scorer, "accuracy": token_accuracy_scorer}
    for name, scorer in scoring.items():
        assert repr(pickle.loads(pickle.dumps(scorer))) == repr(scorer), name
    result = cross_validate(tagger(), toy.X3, toy.Y3, scoring=scoring, cv=3, n_jobs=2, error_score="raise")
    for name in scoring:
        assert np.isfinite(result[f"test_{name}"]).all()


@pytest.mark.parametrize("pair", [("N", "Y"), (0, 1), (False, True), ("O", "P")])
def test_g03_two_labels_need_no_pos_label(pair):
    assert token_f1_score([list(pair)], [list(pair)]) == 1.0


def test_g04_items_and_labels_of_one_sequence_differ(tagger, toy):
    e = tagger()
    with pytest.raises(ValueError, match=r"X\[3\] has 4 tokens but y\[3\] has 3 labels"):
        e.fit(toy.X, [toy.Y[0], toy.Y[1], toy.Y[2], ["B-PER", "O", "O"]])
    assert not hasattr(e, "classes_")
    numbers = [np.ones((len(y), 2)) for y in toy.Y]
    for X in (numbers, iter(toy.X), [*toy.X[:3], toy.X[3][:2]]):
        with pytest.raises(ValueError, match=r"X\[3\] has \d tokens but y\[3\] has 3 labels"):
            e.fit(X, [*toy.Y[:3], ["B-PER", "O", "O"]])
    e.fit(toy.X, toy.Y)
    for call in (e.score, e.log_likelihood):
        with pytest.raises(ValueError, match=r"X\[3\] has 4 tokens but y\[3\] has 3 labels"):
            call(toy.X, [*toy.Y[:3], ["B-PER", "O", "O"]])


def test_g05_flat_input(tagger):
    e = tagger()
    with pytest.raises(TypeError, match=r"a sequence belongs there.*\[X\]"):
        e.fit([{"w": "Ana"}, {"w": "met"}], ["B", "O"])
    with pytest.raises(TypeError, match=r"SequenceMatrix\(X, lengths\)"):
        e.fit(np.eye(4), [0, 1, 0, 1])
    frame = pd.DataFrame({"sentence": [0, 0, 1], "w": ["Ana", "met", "rain"], "label": ["B", "O", "O"]})
    with pytest.raises(TypeError, match=r"SequenceMatrix\.from_frame"):
        e.fit(frame[["w"]], frame["label"])
    for X, y in (("Ana met", "BO"), (["Ana", "met"], ["B", "O"]), ([1.0, 2.0], [0, 1]), ([[1.0, 2.0]], [["B", "O"]])):
        with pytest.raises(TypeError):
            e.fit(X, y)
    for y in (["B", "O"], "BO", np.array([0, 1]), frame["label"], frame):
        with pytest.raises(TypeError, match="one list of labels a sequence"):
            e.fit([[{"w": "Ana"}], [{"w": "met"}]], y)
    assert not hasattr(e, "classes_")


def test_g06_empty_sequences_among_others(tagger, toy):
    m1, m2 = tagger().fit(toy.X3, toy.Y3), tagger().fit([*toy.X3, []], [*toy.Y3, []])
    assert_same_weights(tagger.weights(m1), tagger.weights(m2), rtol=1e-8, atol=1e-8)
    assert [len(y) for y in m2.predict([[], toy.X[0]])] == [0, 3]
    assert m2.predict([]) == []
    assert [m.shape for m in m2.predict_marginals([[]])] == [(0, 2)]
    assert m2.score([[]], [[]]) == 1.0
    for method in METHODS:
        for n in (0, 1, 2):
            found = getattr(m2, method)([[]] * n)
            assert len(found.labels if method == "decode" else found) == n


@pytest.mark.parametrize("n_latent", [1, 2])
@pytest.mark.parametrize("label", ["O", 0, True, "I-PER"])
def test_g07_one_label_only(tagger, toy, n_latent, label):
    y = [[label] * len(s) for s in toy.X3]
    e = tagger(n_latent=n_latent).fit(toy.X3, y)
    assert e.classes_.tolist() == [label]
    assert e.predict(toy.X3) == y
    for m in e.predict_marginals(toy.X3):
        np.testing.assert_allclose(m, 1.0, rtol=1e-14)
    np.testing.assert_allclose(e.log_likelihood(toy.X3, y), 0.0, atol=1e-12)


def test_g08_features_never_seen(tagger, toy):
    e = tagger().fit(toy.X3, toy.Y3)
    size = len(pickle.dumps(e))
    new = [[{"w": f"new{i}"} for i in range(start, start + 100)] for start in range(0, 5000, 100)]
    e.predict(new)
    e.predict_marginals(new)
    assert len(pickle.dumps(e)) == size
    unseen, empty, other = (e.predict_marginals([[token]])[0] for token in ({"w": "zzz"}, {}, {"new": [1.0, "a"][1:]}))
    np.testing.assert_allclose(unseen, empty, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other, empty, rtol=0, atol=1e-12)


def test_g09_unfitted(tagger, toy):
    e = tagger()
    calls = [lambda m=m: getattr(e, m)(toy.X) for m in METHODS]
    calls += [lambda: e.score(toy.X, toy.Y), lambda: e.log_likelihood(toy.X, toy.Y), lambda: e.predict_nbest(toy.X, 2)]
    for call in [*calls, lambda: check_is_fitted(e), lambda: check_is_fitted(clone(e.set_params(sigma=3.0)))]:
        with pytest.raises(NotFittedError):
            call()


def test_g10_a_second_fit_starts_afresh(tagger, toy):
    m = tagger(random_state=5).fit(toy.X3, toy.Y3).fit(toy.X3[:4], toy.Y3[:4])
    assert_same_weights(tagger.weights(m), tagger.weights(tagger(random_state=5).fit(toy.X3[:4], toy.Y3[:4])))
    few = tagger(random_state=5, warm_start=True, max_iter=2)
    with pytest.warns(ConvergenceWarning):
        first = few.fit(toy.X3, toy.Y3).objective_
    few.set_params(max_iter=500).fit(toy.X3, toy.Y3)
    assert few.objective_ <= first and few.loss_curve_[0] <= first
    before = tagger.weights(few)
    with pytest.raises(ValueError, match=r"warm_start: y\[0\]\[0\] is 'B-LOC', which is not one of the labels"):
        few.fit(toy.X3, [["B-LOC", *labels[1:]] for labels in toy.Y3])
    assert_same_weights(tagger.weights(few), before)


def test_g11_training_that_did_not_finish(tagger, toy, capfd):
    e = tagger(max_iter=1, verbose=0)
    with pytest.warns(ConvergenceWarning) as record:
        e.fit(toy.X3, toy.Y3)
    assert len(record) == 1
    assert e.n_iter_ == 1 and not e.converged_
    assert np.isfinite(e.loss_curve_).all() and (np.diff(e.loss_curve_) <= 0).all()
    assert capfd.readouterr() == ("", "")
    assert [len(y) for y in e.predict(toy.X)] == [3, 2, 1, 4]


@pytest.mark.parametrize("solver", ["sgd", "adam", "adf"])
def test_g11_stochastic_training_that_did_not_finish(tagger, toy, solver, capfd):
    e = tagger(max_iter=2, solver=solver, tol=0.0)
    with pytest.warns(ConvergenceWarning) as record:
        e.fit(toy.X3, toy.Y3)
    assert len(record) == 1 and e.n_iter_ == 2 and not e.converged_ and np.isfinite(e.loss_curve_).all()
    assert capfd.readouterr() == ("", "")


def test_g12_parallel_search_equals_serial_search(tagger, toy):
    before = set(os.listdir(tempfile.gettempdir()))
    one, two = (GridSearchCV(tagger(), GRID, cv=2, n_jobs=n, error_score="raise").fit(toy.X3, toy.Y3) for n in (1, 2))
    assert one.best_params_ == two.best_params_
    a, b = (s.cv_results_["mean_test_score"] for s in (one, two))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    # joblib's own folders of its workers' memory maps come and go
    left = {name for name in set(os.listdir(tempfile.gettempdir())) - before if "latent" in name or "crf" in name}
    assert left == set()


def test_g13_sample_weights_mean_copies(tagger, toy):
    X, Y = toy.X, toy.Y
    weighted = tagger.crf1(tol=1e-8).fit(X, Y, sample_weight=[2, 1, 1, 0])
    copies = tagger.crf1(tol=1e-8).fit([X[0], X[0], X[1], X[2]], [Y[0], Y[0], Y[1], Y[2]])
    assert_same_marginals(weighted, copies, X, atol=1e-4)
    for weight, message in (
        ([1, 1, 1], r"shape \(4,\); got shape \(3,\)"),
        ([1] * 10, r"shape \(4,\); got shape \(10,\)"),
        ([-1, 1, 1, 1], r"sample_weight\[0\] is -1"),
        ([1, 1, float("nan"), 1], r"sample_weight\[2\] is nan"),
        ([1, 1, float("inf"), 1], r"sample_weight\[2\] is inf"),
        ([0, 0, 0, 0], "weight"),
        (["a", 1, 1, 1], "sample_weight"),
    ):
        with pytest.raises(ValueError, match=message):
            tagger().fit(X, Y, sample_weight=weight)
