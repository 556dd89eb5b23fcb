# SPDX-License-Identifier: BSD-3-Clause
"""`fit` and what it leaves: the estimator itself, a state that depends on the last data alone, no traces elsewhere."""

from __future__ import annotations

import copy

import joblib
import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..._sequences import SequenceMatrix
from .corpora import Corpus, first_of, main_corpora, taken
from .tools import answers, assert_same, fitted, per_sequence, prepared, refused

__all__ = ["common"]


def check_fit_returns_self(name, estimator):
    """So that calls can be chained."""
    for corpus in main_corpora(estimator):
        est = prepared(estimator)
        assert est.fit(corpus.X, corpus.y) is est, f"{name}: fit doesn't return self"


def check_unfitted(name, estimator):
    """Before `fit`, `NotFittedError`, also on nothing; what learns nothing says so and works."""
    corpus = taken(estimator)[0]
    est = prepared(estimator)
    if not get_tags(estimator).requires_fit:
        check_is_fitted(est)
        answers(est, corpus.X, corpus.y)
        return
    refused(lambda: check_is_fitted(est), f"check_is_fitted({name}())", errors=(NotFittedError,))
    for method in per_sequence(est):
        for X, y in ((corpus.X, corpus.y), ([], [])):
            refused(
                lambda method=method, X=X, y=y: answers(est, X, y, [method]),
                f"{name}.{method} before fit",
                errors=(NotFittedError,),
            )
    check_is_fitted(est.fit(corpus.X, corpus.y))


def check_fit_sets_attributes(name, estimator):
    """What is learnt stands in attributes that `fit` makes and that end with an underscore."""
    if not get_tags(estimator).requires_fit:
        return
    est = prepared(estimator)
    before = set(vars(est))
    est.fit(*_data(taken(estimator)[0]))
    public = sorted(key for key in set(vars(est)) - before if not key.startswith("_") and not key.endswith("_"))
    assert not public, f"{name}: fit sets {public}, whose names don't end with an underscore"


def check_fit_twice(name, estimator):
    """A second `fit` gives the bits of the first, also with other data in between, and leaves nothing of these."""
    found = main_corpora(estimator)
    for corpus, other in zip(found, found[::-1], strict=True):
        corpus = corpus.part([0, 2, 5])  # what other data have and these have not would show
        once = fitted(estimator, corpus)
        expected = answers(once, corpus.X, corpus.y)
        twice = prepared(estimator).fit(*_data(corpus)).fit(*_data(corpus))
        again = prepared(estimator).fit(*_data(other)).fit(*_data(corpus))
        for est, what in ((twice, "a second fit"), (again, "a fit on other data before")):
            assert_same(answers(est, corpus.X, corpus.y), expected, f"{name} after {what}: ")
            assert vars(est).keys() == vars(once).keys(), f"{name}: {what} leaves other attributes"


def check_failed_fit_keeps_the_model(name, estimator):
    """A `fit` that raises leaves an estimator that answers as before."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        expected = answers(est, corpus.X, corpus.y)
        for X, y in ((3, corpus.y), ([*corpus.X, 3], [*corpus.y, ["O"]]), ([None], [["O"]])):
            if hasattr(est, "predict") or get_tags(est).requires_fit:
                refused(lambda est=est, X=X, y=y: est.fit(X, y), f"{name}.fit on what is no corpus")
        assert_same(answers(est, corpus.X, corpus.y), expected, f"{name} after a fit that failed: ")


def check_prediction_leaves_the_estimator(name, estimator):
    """Answering changes no attribute."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        before = {key: joblib.hash(value) for key, value in vars(est).items()}
        answers(est, corpus.X, corpus.y)
        after = {key: joblib.hash(value) for key, value in vars(est).items()}
        assert after.keys() == before.keys(), f"{name}: a prediction sets {sorted(after.keys() ^ before.keys())}"
        changed = [key for key, value in before.items() if after[key] != value]
        assert not changed, f"{name}: a prediction changes {changed}"


def check_input_untouched(name, estimator):
    """Neither X nor y is changed, by `fit` or afterwards."""
    for corpus in main_corpora(estimator):
        before = copy.deepcopy((corpus.X, corpus.y))
        est = fitted(estimator, corpus)
        answers(est, corpus.X, corpus.y)
        assert_same((corpus.X, corpus.y), before, f"{name} changes its input: ")


def check_n_features_in(name, estimator):
    """Estimators of numbers know the width they were fitted with, and not before."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    est = prepared(estimator)
    assert not hasattr(est, "n_features_in_"), f"{name} has n_features_in_ before fit"
    est.fit(corpus.X, corpus.y)
    if hasattr(est, "n_features_in_"):
        assert est.n_features_in_ == 3, f"{name}.n_features_in_ is {est.n_features_in_}, not 3"
        narrow = prepared(estimator).fit([x[:, :1] for x in corpus.X], corpus.y)
        assert narrow.n_features_in_ == 1, f"{name}.n_features_in_ is {narrow.n_features_in_}, not 1"


def check_other_n_features(name, estimator):
    """Another width than at fit is refused, with both numbers."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    est = fitted(estimator, corpus)
    for width in (2, 4):
        X = [np.zeros((n, width)) for n in corpus.lengths]
        for method in per_sequence(est):
            refused(
                lambda method=method, X=X: answers(est, X, corpus.y, [method]),
                f"{name}.{method} on {width} features after 3",
                str(width),
                "3",
            )


def check_input_names(name, estimator):
    """The names of columns of numbers are taken over, don't outlive the next fit, and bear no contradiction."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    given = ["height", "width", "depth"]
    named = SequenceMatrix(np.concatenate(corpus.X), corpus.lengths, feature_names=given)
    est = prepared(estimator).fit(named, corpus.y)
    if not hasattr(est, "feature_names_in_"):
        return
    assert est.feature_names_in_.tolist() == given, f"{name}: feature_names_in_ is {est.feature_names_in_}"
    assert_same(answers(est, corpus.X, corpus.y), answers(est, named, corpus.y), f"{name} on the same without names: ")
    est.fit(corpus.X, corpus.y)
    assert not hasattr(est, "feature_names_in_"), f"{name}: names of an earlier fit stay"


def check_pipeline_consistency(name, estimator):
    """Inside a pipeline an estimator does what it does alone."""
    for corpus in main_corpora(estimator):
        alone = fitted(estimator, corpus)
        pipeline = make_pipeline(prepared(estimator)).fit(*_data(corpus))
        for method in ("predict", "transform", "score"):
            if hasattr(alone, method):
                extra = (corpus.y,) if method == "score" else ()
                own, inside = getattr(alone, method)(corpus.X, *extra), getattr(pipeline, method)(corpus.X, *extra)
                assert_same(own, inside, f"{name}.{method} in a pipeline")


def _data(corpus: Corpus) -> tuple[list, list]:
    return corpus.X, corpus.y


common = [
    check_fit_returns_self,
    check_unfitted,
    check_fit_sets_attributes,
    check_fit_twice,
    check_failed_fit_keeps_the_model,
    check_prediction_leaves_the_estimator,
    check_input_untouched,
    check_n_features_in,
    check_other_n_features,
    check_input_names,
    check_pipeline_consistency,
]
