# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic solvers, partial_fit, early stopping and warm start."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.datasets import load_chunks, make_latent_sequences
from sklearn_latent.exceptions import ConvergenceWarning
from sklearn_latent.feature_extraction import TemplateVectorizer

SOLVERS = ("sgd", "adam", "adf")


@pytest.fixture(scope="module")
def corpus():
    return make_latent_sequences(60, n_labels=3, n_latent=1, n_features=6, scale=1.5, random_state=1, return_X_y=True)


@pytest.fixture(scope="module")
def optimum(corpus):
    return LatentCRFTagger(1, support="all", tol=1e-9, max_iter=2000).fit(*corpus)


def sparse(X: SequenceMatrix) -> SequenceMatrix:
    return SequenceMatrix(sp.csr_array(X.values), X.lengths)


def quiet(tagger: LatentCRFTagger, *args, **kwargs) -> LatentCRFTagger:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return tagger.fit(*args, **kwargs)


@pytest.mark.parametrize("form", [lambda X: X, sparse], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_stochastic_solvers_come_close_to_the_optimum(corpus, optimum, solver, form):
    X, y = corpus
    found = quiet(
        LatentCRFTagger(1, support="all", solver=solver, batch_size=8, max_iter=60, random_state=0), form(X), y
    )
    # A convex problem: 60 passes of a stochastic method end within half a per cent of the minimum, never below it.
    assert optimum.objective_ <= found.objective_ < 1.005 * optimum.objective_
    assert len(found.loss_curve_) == found.n_iter_ <= 60


@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_updates_equal_dense_ones(corpus, solver):
    X, y = corpus
    # Few active features a batch, so that weights are really left alone now and then.
    values = X.values * (np.random.default_rng(0).random(X.values.shape) < 0.2)
    params = {
        "support": "all",
        "solver": solver,
        "batch_size": 4,
        "max_iter": 3,
        "random_state": 0,
        "learning_rate": 0.05,
    }
    dense = quiet(LatentCRFTagger(2, **params), SequenceMatrix(values, X.lengths), y)
    thin = quiet(LatentCRFTagger(2, **params), SequenceMatrix(sp.csr_array(values), X.lengths), y)
    if solver == "adf":  # counts a feature as active only where it occurs, so dense rows differ by design
        assert np.isfinite(thin.coef_).all()
        return
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_seed_same_bits(corpus, solver):
    X, y = corpus
    make = lambda n_jobs: quiet(  # noqa: E731
        LatentCRFTagger(2, solver=solver, max_iter=4, random_state=3, n_jobs=n_jobs), sparse(X), y
    )
    a, b, other = (
        make(None),
        make(2),
        quiet(LatentCRFTagger(2, solver=solver, max_iter=4, random_state=4), sparse(X), y),
    )
    assert np.array_equal(a.coef_, b.coef_)
    assert not np.array_equal(a.coef_, other.coef_)


def test_stochastic_convergence_and_warning(corpus):
    X, y = corpus
    with pytest.warns(ConvergenceWarning, match="adam did not converge in 2 iterations"):
        LatentCRFTagger(1, solver="adam", max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = LatentCRFTagger(1, solver="adam", max_iter=500, tol=1e-2, n_iter_no_change=3).fit(X, y)
    assert found.converged_ and found.n_iter_ < 500


def test_divergence_is_named(corpus):
    X, y = corpus
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"diverged.*lower learning_rate, or scale"):
        LatentCRFTagger(1, solver="adam", learning_rate=1e200, max_iter=20).fit(X, y)


def test_callback_stops_a_stochastic_solver(corpus):
    seen = []
    found = LatentCRFTagger(1, solver="sgd", callback=lambda info: seen.append(info) or info.n_iter == 3).fit(*corpus)
    assert [info.n_iter for info in seen] == [1, 2, 3] and found.n_iter_ == 3 and not found.converged_


# -- partial_fit ------------------------------------------------------------------------------------


def test_partial_fit_is_absent_with_lbfgs(corpus):
    assert not hasattr(LatentCRFTagger(), "partial_fit")
    assert hasattr(LatentCRFTagger(solver="sgd"), "partial_fit")
    with pytest.raises(ValueError, match="partial_fit needs support='all'"):
        LatentCRFTagger(solver="sgd").partial_fit(*corpus)
    with pytest.raises(ValueError, match="class_weight as a dict"):
        LatentCRFTagger(solver="sgd", support="all", class_weight="balanced").partial_fit(*corpus)


@pytest.mark.parametrize("solver", SOLVERS)
def test_partial_fit_learns_from_pieces(corpus, optimum, solver):
    X, y = corpus
    tagger = LatentCRFTagger(1, support="all", solver=solver, batch_size=8, random_state=0)
    for k in range(60):
        piece = np.arange(k % 3, len(X), 3)
        tagger.partial_fit(X[piece], [y[i] for i in piece], classes=[2, 0, 1])
        assert tagger.n_iter_ == k + 1 == len(tagger.loss_curve_)
    assert tagger.classes_.tolist() == [0, 1, 2]
    assert tagger.log_likelihood(X, y).sum() > optimum.log_likelihood(X, y).sum() - 0.03 * X.n_tokens


@pytest.mark.parametrize("solver", SOLVERS)
def test_partial_fit_goes_on_after_a_pickle(corpus, solver):
    X, y = corpus
    tagger = LatentCRFTagger(2, support="all", solver=solver, batch_size=8, random_state=0).partial_fit(X, y)
    copy = pickle.loads(pickle.dumps(tagger))
    assert np.array_equal(tagger.partial_fit(X, y).coef_, copy.partial_fit(X, y).coef_)


def test_another_solver_goes_on_from_the_weights(corpus):
    X, y = corpus
    tagger = LatentCRFTagger(1, support="all", solver="sgd", random_state=0).partial_fit(X, y)
    for solver in ("adam", "adf", "sgd"):
        before = tagger.log_likelihood(X, y).sum()
        tagger.set_params(solver=solver).partial_fit(X, y)
        assert tagger.log_likelihood(X, y).sum() > before - 0.1 * X.n_tokens
    assert tagger.n_iter_ == 4


def test_partial_fit_refuses_new_labels_and_features(corpus):
    X, y = corpus
    tagger = LatentCRFTagger(1, support="all", solver="sgd").partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y\[0\]\[1\] is 7, which is not one of the labels"):
        tagger.partial_fit(X[:1], [[0, 7, *([0] * (int(X.lengths[0]) - 2))]])
    with pytest.raises(
        ValueError, match=r"classes differ from those of the first call, \[0, 1, 2\]; got \[0, 1, 2, 3\]"
    ):
        tagger.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match="X has 1 features"):
        tagger.partial_fit([np.ones((2, 1))], [[0, 1]])
    before = tagger.coef_
    tagger.partial_fit([], [])
    assert np.array_equal(before, tagger.coef_)


def test_fit_after_partial_fit_starts_afresh(corpus):
    X, y = corpus
    tagger = LatentCRFTagger(2, support="all", solver="adam", max_iter=3, random_state=0)
    fresh = quiet(LatentCRFTagger(2, support="all", solver="adam", max_iter=3, random_state=0), X, y)
    quiet(tagger.partial_fit(X, y), X, y)
    assert np.array_equal(tagger.coef_, fresh.coef_)


def test_partial_fit_goes_on_from_fitted_weights(corpus):
    X, y = corpus
    tagger = quiet(LatentCRFTagger(1, support="all", solver="adam", learning_rate=1e-9, max_iter=3), X, y)
    before = tagger.coef_
    np.testing.assert_allclose(tagger.partial_fit(X, y).coef_, before, atol=1e-6)
    assert tagger.n_iter_ == 4
    loaded = pickle.loads(pickle.dumps(tagger))
    del loaded._stepper_state  # as a model file leaves it
    np.testing.assert_allclose(loaded.partial_fit(X, y).coef_, before, atol=1e-6)


@pytest.mark.parametrize("first", SOLVERS)
@pytest.mark.parametrize("then", SOLVERS)
def test_partial_fit_with_another_solver(corpus, first, then):
    X, y = corpus
    tagger = LatentCRFTagger(1, support="all", solver=first, random_state=0).partial_fit(X, y)
    before = tagger.coef_
    tagger.set_params(solver=then, learning_rate=1e-9).partial_fit(X, y)
    assert tagger.n_iter_ == 2
    if first != then:  # starts afresh from the weights there are, also from those of averaged SGD
        np.testing.assert_allclose(tagger.coef_, before, atol=1e-6)
    tagger.partial_fit(X, y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_partial_fit_of_sequences_whose_labels_weigh_nothing(solver):
    tagger = LatentCRFTagger(1, support="all", solver=solver, class_weight={"a": 0}, batch_size=1, random_state=0)
    tagger.partial_fit([np.eye(2)[:1]], [["a"]], classes=["a", "b"])
    assert tagger.loss_curve_ == []
    tagger.partial_fit([np.eye(2)[:1], np.eye(2)[1:]], [["a"], ["b"]])
    assert np.isfinite(tagger.coef_).all()
    assert tagger.n_iter_ == 1


def test_partial_fit_vectorizes_tokens():
    X, y = load_chunks(return_X_y=True)
    tagger = LatentCRFTagger(1, support="all", solver="adf", vectorizer=TemplateVectorizer("chunking"), random_state=0)
    for k in range(0, 300, 100):
        tagger.partial_fit(X[k : k + 100], y[k : k + 100], classes=sorted({label for labels in y for label in labels}))
    assert tagger.score(X[300:], y[300:]) > 0.8


# -- early stopping ---------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_early_stopping_keeps_the_best_weights(solver):
    # Hardly any prior and few sequences: the likelihood of held-out ones rises, then falls.
    X, y = make_latent_sequences(40, n_labels=3, n_latent=2, n_features=30, random_state=2, return_X_y=True)
    tagger = LatentCRFTagger(
        2, sigma=100.0, solver=solver, early_stopping=True, validation_fraction=0.3, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    scores = tagger.validation_scores_
    best = int(np.argmax(scores))
    assert len(scores) == tagger.n_iter_ and best == tagger.n_iter_ - 1 - 5 and tagger.converged_
    # The held-out part, found again: drawn before anything else.
    order = np.random.RandomState(0).permutation(len(X))
    held_out = np.sort(order[:12])
    value = tagger.log_likelihood(X[held_out], [y[i] for i in held_out]).sum() / X.lengths[held_out].sum()
    assert value == pytest.approx(scores[best], abs=1e-12)


def test_early_stopping_needs_two_sequences():
    with pytest.raises(ValueError, match="early_stopping needs at least 2 sequences"):
        LatentCRFTagger(early_stopping=True).fit([np.ones((2, 1))], [["a", "b"]])


# -- warm start -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_latent", [1, 2])
def test_warm_start_goes_on(corpus, n_latent):
    tagger = LatentCRFTagger(n_latent, max_iter=5, warm_start=True, random_state=0)
    first = quiet(tagger, *corpus).objective_
    second = quiet(tagger, *corpus).objective_
    assert second < first
    assert tagger.loss_curve_[0] <= first
    cold = quiet(LatentCRFTagger(n_latent, max_iter=5, random_state=0), *corpus)
    assert quiet(cold, *corpus).objective_ == first


def test_warm_start_matches_names(corpus):
    """Features that moved, vanished and came: kept weights are those of their names."""
    X, y = corpus
    names = list("abcdef")
    named = SequenceMatrix(X.values, X.lengths, feature_names=names)
    tagger = LatentCRFTagger(2, max_iter=30, warm_start=True, edge_features=["b"], random_state=0)
    quiet(tagger, named, y)
    old, old_edges, old_transitions = tagger.coef_, tagger.edge_coef_.toarray(), tagger.transition_coef_
    order = [4, 1, 2, 0]
    values = np.hstack([X.values[:, order], np.ones((X.n_tokens, 1))])
    tagger.set_params(max_iter=0)
    quiet(tagger, SequenceMatrix(values, X.lengths, feature_names=["e", "b", "c", "a", "new"]), y)
    np.testing.assert_array_equal(tagger.coef_[:4], old[order])
    assert (np.abs(tagger.coef_[4]) <= 0.1).all()
    np.testing.assert_array_equal(tagger.edge_coef_.toarray(), old_edges)
    np.testing.assert_array_equal(tagger.transition_coef_, old_transitions)


def test_warm_start_without_names_and_its_refusals(corpus):
    X, y = corpus
    tagger = LatentCRFTagger(1, max_iter=20, warm_start=True)
    quiet(tagger, X, y)
    old = tagger.coef_
    tagger.set_params(max_iter=0)
    wider = SequenceMatrix(np.hstack([X.values, np.ones((X.n_tokens, 2))]), X.lengths)
    quiet(tagger, wider, y)
    np.testing.assert_array_equal(tagger.coef_, np.vstack([old, np.zeros((2, 3))]))
    with pytest.raises(ValueError, match="X has 6 features without names, the earlier fit had 8"):
        tagger.fit(X, y)
    with pytest.raises(ValueError, match=r"warm_start: y\[0\]\[0\] is 9, which is not one of the labels \[0, 1, 2\]"):
        tagger.fit(wider, [[9, *labels[1:]] for labels in y])
    assert tagger.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="earlier fit had"):
        tagger.set_params(n_latent=2).fit(wider, y)


def test_warm_start_between_token_corpora():
    X, y = load_chunks(return_X_y=True)
    tagger = LatentCRFTagger(1, vectorizer=TemplateVectorizer("chunking"), warm_start=True).fit(X[:200], y[:200])
    cold = LatentCRFTagger(1, vectorizer=TemplateVectorizer("chunking")).fit(X, y)
    tagger.fit(X, y)
    assert tagger.objective_ == pytest.approx(cold.objective_, rel=1e-4)
    assert tagger.loss_curve_[0] < cold.loss_curve_[0] / 2
