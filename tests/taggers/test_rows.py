# SPDX-License-Identifier: BSD-3-Clause
"""`RowClassifier` is a scikit-learn classifier like any other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from sklearn_latent import LatentCRFTagger, RowClassifier, SPNCRFTagger

# Few passes, which the checks are content with; those that look at accuracy get by on them too.
TAGGERS = [
    None,
    LatentCRFTagger(n_latent=2, support="all", max_iter=100, random_state=0),
    SPNCRFTagger(n_states=2, solver="lbfgs", max_iter=100, random_state=0),
]


# A list: what scikit-learn's own `parametrize_with_checks` hands over is an iterator in 1.6, which pytest 9 warns of.
@pytest.mark.parametrize(
    ("estimator", "check"), [pair for tagger in TAGGERS for pair in estimator_checks_generator(RowClassifier(tagger))]
)
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_one_state_a_label_is_logistic_regression(iris):
    X, y = iris
    X = StandardScaler().fit_transform(X)
    found = RowClassifier(LatentCRFTagger(n_latent=1, support="all", sigma=2.0, tol=1e-10, max_iter=2000)).fit(X, y)
    # Start and end weights are two intercepts with the same prior: one column of twice the variance.
    constant = np.full((len(X), 1), np.sqrt(2.0))
    expected = LogisticRegression(C=4.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(np.hstack([X, constant]), y)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    probability = expected.predict_proba(np.hstack([X, constant]))
    # Both stop where the objective has 1e-10 of itself to lose.
    np.testing.assert_allclose(found.predict_proba(X), probability, rtol=0.0, atol=1e-4)
    np.testing.assert_array_equal(found.predict(X), expected.predict(np.hstack([X, constant])))


def test_sparse_and_dense_rows_agree(iris):
    X, y = iris
    tagger = LatentCRFTagger(n_latent=1, support="all")
    dense, sparse = RowClassifier(tagger).fit(X, y), RowClassifier(tagger).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(sp.csr_array(X)), rtol=0.0, atol=1e-4)


def test_a_class_without_weight_has_probability_zero(iris):
    X, y = iris
    model = RowClassifier().fit(X, y, sample_weight=(y != "versicolor").astype(float))
    probability = model.predict_proba(X)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert not probability[:, 1].any()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)


def test_the_tagger_given_is_not_touched(iris):
    tagger = LatentCRFTagger(n_latent=1)
    model = RowClassifier(tagger).fit(*iris)
    assert not hasattr(tagger, "classes_") and model.tagger_ is not tagger


@pytest.mark.parametrize("build", [
    lambda rows: VotingClassifier([("rows", rows), ("bayes", GaussianNB())], voting="soft"),
    lambda rows: StackingClassifier([("rows", rows), ("bayes", GaussianNB())], cv=3),
    lambda rows: CalibratedClassifierCV(rows, cv=3),
    lambda rows: make_pipeline(StandardScaler(), rows),
    lambda rows: GridSearchCV(rows, {"tagger__sigma": [0.5, 2.0]}, cv=3),
])  # fmt: skip
def test_where_classifiers_go(iris, build):
    model = build(RowClassifier(LatentCRFTagger(n_latent=1, support="all")))
    assert cross_val_score(model, *iris, cv=3).min() > 0.9
