# SPDX-License-Identifier: BSD-3-Clause
"""Inside scikit-learn's tools: integer `cv`, cross validation, searches, routed weights, every `set_config`."""

from __future__ import annotations

import numpy as np
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_validate
from sklearn.utils.validation import has_fit_parameter

from ..._sequences import LabelSequences
from .corpora import main_corpora, taken
from .tools import answers, assert_same, fitted, object_array, prepared

__all__ = ["common", "of_taggers"]

#: `set_config` of every kind.
_CONFIGURATIONS = (
    {"assume_finite": True},
    {"working_memory": 1},
    {"print_changed_only": False},
    {"display": "text"},
    {"enable_cython_pairwise_dist": False},
    {"transform_output": "pandas"},
    {"transform_output": "polars"},
    {"enable_metadata_routing": True},
    {"skip_parameter_validation": True},
)


def check_configurations(name, estimator):
    """No setting of `sklearn.set_config` changes a bit."""
    corpus = taken(estimator)[0]
    expected = answers(fitted(estimator, corpus), corpus.X, corpus.y)
    for settings in _CONFIGURATIONS:
        with config_context(**settings):
            est = fitted(estimator, corpus)
            found = answers(est, corpus.X, corpus.y)
            assert repr(est)
            if settings.get("display") != "text":
                assert est._repr_html_()
        assert_same(found, expected, f"{name} with {settings}: ")


def check_cross_validation(name, estimator):
    """An integer `cv`, groups, any form of y: one fold after the other is cut by sequence."""
    for corpus in main_corpora(estimator):
        for y in (corpus.y, LabelSequences(corpus.y), object_array(corpus.y)):
            scores = cross_validate(prepared(estimator), corpus.X, y, cv=3, error_score="raise")["test_score"]
            assert scores.shape == (3,) and np.isfinite(scores).all(), f"{name}: cross validation scores {scores}"
        groups = [i % 4 for i in range(12)]
        cross_validate(prepared(estimator), corpus.X, corpus.y, groups=groups, cv=GroupKFold(2), error_score="raise")


def check_cross_val_predict(name, estimator):
    """The labels of all folds, one object a sequence, ragged or of equal lengths."""
    for corpus in main_corpora(estimator):
        pairs = corpus.part([i for i, n in enumerate(corpus.lengths) if n == 2])
        for data, cv in ((corpus, 3), (pairs, 2)):
            found = cross_val_predict(prepared(estimator), data.X, data.y, cv=cv)
            assert found.dtype == object and found.shape == (len(data.X),), (
                f"{name}: cross_val_predict gives an array of shape {found.shape}, {found.dtype}"
            )
            assert [len(labels) for labels in found] == data.lengths


def check_grid_search(name, estimator):
    """A search with an integer `cv`: the best estimator answers, and `score` is its own."""
    corpus = taken(estimator)[0]
    params = prepared(estimator).get_params(deep=False)
    key = next(iter(sorted(params)))
    grid = {key: [params[key]]}
    search = GridSearchCV(prepared(estimator), grid, cv=2, error_score="raise").fit(corpus.X, corpus.y)
    assert [len(labels) for labels in search.predict(corpus.X)] == corpus.lengths
    own, best = search.score(corpus.X, corpus.y), search.best_estimator_.score(corpus.X, corpus.y)
    assert own == best, f"{name}: a search scores {own}, its best estimator {best}"


def check_metadata_routing(name, estimator):
    """Weights that are asked for reach `fit` and `score` through a search."""
    if not has_fit_parameter(estimator, "sample_weight") or not hasattr(estimator, "set_fit_request"):
        return
    corpus = taken(estimator)[0]
    weight = np.arange(1.0, 13.0)
    with config_context(enable_metadata_routing=True):
        est = prepared(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        params = est.get_params(deep=False)
        key = next(iter(sorted(params)))
        search = GridSearchCV(est, {key: [params[key]]}, cv=2, error_score="raise")
        search.fit(corpus.X, corpus.y, sample_weight=weight)
    expected = fitted(estimator, corpus, sample_weight=weight)
    assert_same(
        answers(search.best_estimator_, corpus.X, corpus.y), answers(expected, corpus.X, corpus.y),
        f"{name} with weights routed through a search: ",
    )  # fmt: skip


common = [check_configurations]
of_taggers = [check_cross_validation, check_cross_val_predict, check_grid_search, check_metadata_routing]
