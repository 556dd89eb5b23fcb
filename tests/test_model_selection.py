# SPDX-License-Identifier: BSD-3-Clause
"""Searches, cross validation and curves of scikit-learn over sequences, for both taggers."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    train_test_split,
    validation_curve,
)
from sklearn.pipeline import Pipeline, make_pipeline

from sklearn_latent import LabelSequences, LatentCRFTagger, SequenceMatrix, SPNCRFTagger, metrics
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import SequenceDictVectorizer, TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_scorer, make_chunk_scorer, make_token_scorer, token_accuracy_scorer

WORDS = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]] * 3
Y = [["B-PER" if word.istitle() else "O" for word in words] for words in WORDS]
X = [[{"w": word} for word in words] for words in WORDS]
GROUPS = [i // 3 for i in range(12)]  # documents
WEIGHTS = np.linspace(0.5, 2.0, 12)


@pytest.fixture(params=["latent", "spn"])
def tagger(request):
    if request.param == "latent":
        return LatentCRFTagger(tol=1e-3, random_state=0)
    return SPNCRFTagger(n_states=2, solver="lbfgs", tol=1e-3, max_iter=200, random_state=0)


def in_unit_interval(scores) -> bool:
    scores = np.asarray(scores)
    return bool(((scores >= 0) & (scores <= 1)).all())


# -- searches ---------------------------------------------------------------------------------------

GRID = {"sigma": [0.3, 3.0], "n_latent": [1, 2]}
RANGES = {"sigma": uniform(0.1, 2), "n_latent": [1, 2]}
SEARCHES = {
    "grid": lambda est, **o: GridSearchCV(est, GRID, **o),
    "random": lambda est, **o: RandomizedSearchCV(est, RANGES, n_iter=3, random_state=0, **o),
    "halving": lambda est, **o: HalvingGridSearchCV(est, GRID, min_resources=6, random_state=0, **o),
    "halving random": lambda est, **o: HalvingRandomSearchCV(est, RANGES, min_resources=6, random_state=0, **o),
}


@pytest.mark.parametrize("kind", SEARCHES)
def test_searches_in_workers_are_serial_searches(tagger, kind):
    """By document, with a chunk score, in one process and in two."""
    folds = list(GroupKFold(2).split(X, groups=GROUPS))
    cv = 2 if kind.startswith("halving") else folds
    one, two = (
        SEARCHES[kind](tagger, cv=cv, scoring=chunk_f1_scorer, n_jobs=n, error_score="raise").fit(X, Y) for n in (1, 2)
    )
    assert one.best_params_ == two.best_params_ and one.best_params_.keys() == GRID.keys()
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert in_unit_interval(one.cv_results_["mean_test_score"])
    assert [len(y) for y in one.predict(X)] == [len(y) for y in Y]
    assert one.score(X, Y) == chunk_f1_scorer(one.best_estimator_, X, Y)


def test_several_scores_and_a_pipeline(tagger):
    pipeline = Pipeline([("features", SequenceDictVectorizer()), ("tagger", tagger)], memory=None)
    scoring = {"token": token_accuracy_scorer, "chunk": chunk_f1_scorer, "own": make_token_scorer(ignore=())}
    grid = {"features__min_df": [1, 2], "tagger__n_latent": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2, scoring=scoring, refit="chunk", error_score="raise").fit(X, Y)
    assert all(in_unit_interval(search.cv_results_[f"mean_test_{name}"]) for name in scoring)
    assert search.predict(X) == search.best_estimator_.predict(X)


def test_a_cached_pipeline(tagger, tmp_path):
    steps = [("features", SequenceDictVectorizer()), ("tagger", tagger)]
    cached, plain = Pipeline(steps, memory=str(tmp_path)), Pipeline(steps)
    for _ in range(2):
        assert cached.fit(X, Y).predict(X) == plain.fit(X, Y).predict(X)


# -- cross validation -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cv", [3, GroupKFold(3), LeaveOneGroupOut(), GroupShuffleSplit(2, random_state=0), ShuffleSplit(2, random_state=0),
           RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)],
    ids=lambda cv: type(cv).__name__,
)  # fmt: skip
def test_splitters(tagger, cv):
    groups = GROUPS if "Group" in type(cv).__name__ else None
    scoring = {"token": token_accuracy_scorer, "chunk": make_chunk_scorer(scheme="iob2")}
    found = cross_validate(
        tagger, X, Y, groups=groups, cv=cv, scoring=scoring, return_train_score=True, error_score="raise"
    )
    for name in ("test_token", "test_chunk", "train_token", "train_chunk"):
        assert in_unit_interval(found[name])


@pytest.mark.parametrize("form", ["tokens", "matrix", "arrays"])
def test_cross_val_predict_by_document(tagger, form):
    corpus = SequenceDictVectorizer().fit_transform(X)
    data = {"tokens": X, "matrix": corpus, "arrays": [rows.toarray() for rows in corpus]}[form]
    for n_jobs in (None, 2):
        found = cross_val_predict(tagger, data, Y, groups=GROUPS, cv=GroupKFold(2), n_jobs=n_jobs)
        assert found.shape == (12,) and found.dtype == object
        assert [len(y) for y in found] == [len(y) for y in Y]
    assert 0.5 < 1 - metrics.token_error_rate(Y, found) <= 1


def test_out_of_fold_marginals(tagger):
    """What `cross_val_predict` can't be asked for: the loop of the user guide."""
    cv = GroupKFold(3)
    marginals = [None] * len(X)
    for train, test in cv.split(X, groups=GROUPS):
        fold = clone(tagger).fit([X[i] for i in train], [Y[i] for i in train])
        for i, rows in zip(test, fold.predict_marginals([X[i] for i in test]), strict=True):
            marginals[i] = rows
    marginals = LabelSequences(marginals)
    assert [rows.shape for rows in marginals] == [(len(y), 2) for y in Y]
    for rows in marginals:
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    corpus = SequenceMatrix.hstack([SequenceDictVectorizer().fit_transform(X), SequenceMatrix(np.concatenate(marginals),
                                    [len(y) for y in Y])])  # fmt: skip
    assert clone(tagger).fit(corpus, Y).score(corpus, Y) > 0.9  # stacking


def test_curves(tagger):
    sizes, train, test = learning_curve(tagger, X, Y, cv=3, train_sizes=[0.5, 1.0], n_jobs=2, error_score="raise")
    assert sizes.tolist() == [4, 8] and train.shape == test.shape == (2, 3)
    train, test = validation_curve(
        tagger, X, Y, param_name="sigma", param_range=[0.01, 1.0], groups=GROUPS, cv=GroupKFold(2), n_jobs=2,
        scoring=chunk_f1_scorer, error_score="raise",
    )  # fmt: skip
    assert train.shape == test.shape == (2, 2)
    assert in_unit_interval(train) and train[1].min() == 1.0 >= train[0].mean()


def test_other_tools(tagger):
    # Labels change places there, so lengths have to be equal.
    equal = X[1:2] * 6, [["B-PER", "O"]] * 4 + [["O", "O"]] * 2
    score, permuted, pvalue = permutation_test_score(tagger, *equal, cv=2, n_permutations=2, random_state=0)
    assert in_unit_interval([score, pvalue, *permuted])
    for data in (X, SequenceDictVectorizer().fit_transform(X)):
        X_train, X_test, y_train, y_test = train_test_split(data, Y, random_state=0)
        assert [len(y) for y in clone(tagger).fit(X_train, y_train).predict(X_test)] == list(map(len, y_test))


@pytest.mark.parametrize(
    "scorer", [chunk_f1_scorer, token_accuracy_scorer, make_chunk_scorer(scheme="iob2", average="macro"),
               make_token_scorer(ignore=("B-PER",))], ids=repr,
)  # fmt: skip
def test_scorers_are_pickled(tagger, scorer):
    again = pickle.loads(pickle.dumps(scorer))
    est = clone(tagger).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert again(est, X, Y) == scorer(est, X, Y)


def test_scorers_are_importable_by_name():
    for name in ("chunk_f1_scorer", "token_accuracy_scorer"):
        scorer = getattr(metrics, name)
        assert name in metrics.__all__ and pickle.loads(pickle.dumps(scorer)) is not None


# -- metadata ---------------------------------------------------------------------------------------


def test_weights_and_groups_without_routing(tagger):
    search = GridSearchCV(tagger, {"n_latent": [1, 2]}, cv=GroupKFold(2), error_score="raise")
    search.fit(X, Y, groups=GROUPS, sample_weight=WEIGHTS)
    expected = clone(search.best_estimator_).fit(X, Y, sample_weight=WEIGHTS)
    assert search.best_estimator_.objective_ == expected.objective_
    scores = cross_val_score(tagger, X, Y, groups=GROUPS, cv=GroupKFold(2), params={"sample_weight": WEIGHTS})
    assert in_unit_interval(scores)
    pipeline = make_pipeline(SequenceDictVectorizer(), tagger)
    name = pipeline.steps[-1][0]
    fitted = pipeline.fit(X, Y, **{f"{name}__sample_weight": WEIGHTS})[-1]
    assert fitted.objective_ == pytest.approx(clone(tagger).fit(X, Y, sample_weight=WEIGHTS).objective_, rel=1e-12)


def test_weights_and_groups_with_routing(tagger):
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError):
            GridSearchCV(tagger, {"n_latent": [1]}, cv=2).fit(X, Y, sample_weight=WEIGHTS)
        est = clone(tagger).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(est, {"n_latent": [1, 2]}, cv=GroupKFold(2), error_score="raise")
        search.fit(X, Y, sample_weight=WEIGHTS, groups=GROUPS)
        expected = clone(search.best_estimator_).fit(X, Y, sample_weight=WEIGHTS)
        assert search.best_estimator_.objective_ == expected.objective_
        scores = cross_val_score(
            est, X, Y, cv=GroupKFold(2), params={"sample_weight": WEIGHTS, "groups": GROUPS}, error_score="raise"
        )
        assert in_unit_interval(scores)
        pipeline = make_pipeline(SequenceDictVectorizer(), est).fit(X, Y, sample_weight=WEIGHTS)
        assert pipeline[-1].objective_ == pytest.approx(
            clone(est).fit(X, Y, sample_weight=WEIGHTS).objective_, rel=1e-12
        )
        unweighted = clone(tagger).set_fit_request(sample_weight=False).set_score_request(sample_weight=False)
        plain = GridSearchCV(unweighted, {"n_latent": [1]}, cv=2).fit(X, Y).best_estimator_
        assert plain.objective_ == clone(plain).fit(X, Y).objective_


# -- settings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{"transform_output": "pandas"}, {"transform_output": "polars"}, {"display": "text"},
                 {"display": "diagram"}, {"print_changed_only": False}, {"assume_finite": True},
                 {"enable_metadata_routing": True}, {"skip_parameter_validation": True}, {"working_memory": 1}],
    ids=str,
)  # fmt: skip
def test_settings(tagger, settings):
    data, y = load_chunks(return_X_y=True)
    pipeline = make_pipeline(TemplateVectorizer(["%x[0,0]", "%x[0,1]"]), clone(tagger).set_params(max_iter=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = clone(pipeline).fit(data[:20], y[:20]).predict(data[:20])
        with sklearn.config_context(**settings):
            est = clone(pipeline).fit(data[:20], y[:20])
            assert est.predict(data[:20]) == expected
            assert type(tagger).__name__ in repr(est) and len(repr(tagger)) > 10
            if settings.get("display") != "text":
                assert type(tagger).__name__ in est._repr_html_()


def test_set_output_does_no_harm(tagger):
    pipeline = make_pipeline(SequenceDictVectorizer(), tagger)
    expected = clone(pipeline).fit(X, Y).predict(X)
    for library in ("pandas", "polars", "default"):
        assert clone(pipeline).set_output(transform=library).fit(X, Y).predict(X) == expected
