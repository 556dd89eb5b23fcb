# SPDX-License-Identifier: BSD-3-Clause
"""`sample_weight`: one weight a sequence; 2 is the sequence twice, 0 is without it."""

from __future__ import annotations

import importlib.util

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import has_fit_parameter

from .corpora import Corpus, first_of, main_corpora, taken
from .forms import ArrayLike, read_only
from .tools import answers, assert_same, fitted, prepared, refused

__all__ = ["of_taggers"]


def _weighted(estimator) -> bool:
    return has_fit_parameter(estimator, "sample_weight")


def check_sample_weight_forms(name, estimator):
    """A list, tuple, Series, read-only array, whole numbers, or an array of another library."""
    if not _weighted(estimator):
        return
    corpus = taken(estimator)[0]
    weight = np.linspace(0.5, 2.0, len(corpus.X))
    forms = {
        "a list": weight.tolist(),
        "a tuple": tuple(weight.tolist()),
        "objects": weight.astype(object),
        "a read-only array": read_only(weight),
        "another library's array": ArrayLike(weight),
    }
    if importlib.util.find_spec("pandas"):
        import pandas as pd

        forms["a Series"] = pd.Series(weight, index=range(7, 7 + len(weight)))
    expected = answers(fitted(estimator, corpus, sample_weight=weight), corpus.X, corpus.y)
    for form, given in forms.items():
        found = answers(fitted(estimator, corpus, sample_weight=given), corpus.X, corpus.y)
        assert_same(found, expected, f"{name} with weights as {form}: ")


def check_sample_weight_shape(name, estimator):
    """A wrong number of weights, two dimensions, a negative one, NaN, text, all zero: ValueError."""
    if not _weighted(estimator):
        return
    corpus = taken(estimator)[0]
    n = len(corpus.X)
    ones = np.ones(n)
    bad = {
        "one too few": (ones[1:], "sample_weight"),
        "one a token": (np.ones(sum(corpus.lengths)), "sample_weight"),
        "two dimensions": (np.ones((n, 2)), "sample_weight"),
        "a negative one": (np.where(np.arange(n) == 2, -1.0, 1.0), "sample_weight[2]"),
        "NaN": (np.where(np.arange(n) == 2, np.nan, 1.0), "sample_weight[2]"),
        "infinity": (np.where(np.arange(n) == 2, np.inf, 1.0), "sample_weight[2]"),
        "text": (["much"] * n, "sample_weight"),
        "all zero": (np.zeros(n), "weight"),
    }
    for what, (weight, mention) in bad.items():
        refused(
            lambda weight=weight: fitted(estimator, corpus, sample_weight=weight), f"{name}: weights with {what}",
            mention, errors=(ValueError,),
        )  # fmt: skip


def check_sample_weight_untouched(name, estimator):
    """`fit` does not write into the weights."""
    if not _weighted(estimator):
        return
    corpus = taken(estimator)[0]
    weight = np.linspace(0.0, 2.0, len(corpus.X))
    before = weight.copy()
    fitted(estimator, corpus, sample_weight=weight)
    assert np.array_equal(weight, before), f"{name}: fit changes sample_weight"


def check_sample_weight_equivalence(name, estimator):
    """Weights mean copies, and zero means that the sequence leaves no trace; on tokens, dense and sparse matrices."""
    if not _weighted(estimator):
        return
    found = main_corpora(estimator)
    numbers = first_of(estimator, "numbers")
    if numbers is not None:
        found.append(Corpus("numbers", [sp.csr_array(x) for x in numbers.X], numbers.y, numbers.empty))
    weight = np.array([2, 1, 0, 1, 3, 1, 1, 0, 1, 1, 2, 1])
    for corpus in found:
        copies = corpus.part(np.repeat(np.arange(12), weight))
        exact = _exact(estimator)
        a = prepared(estimator, **exact).fit(corpus.X, corpus.y, sample_weight=weight)
        b = prepared(estimator, **exact).fit(copies.X, copies.y)
        c = prepared(estimator, **exact).fit(copies.X, copies.y, sample_weight=np.ones(len(copies.X)))
        assert a.classes_.tolist() == b.classes_.tolist()
        assert_same(answers(c, corpus.X, corpus.y), answers(b, corpus.X, corpus.y), f"{name} with weights of one: ")
        if "predict_marginals" in (found_by := answers(a, corpus.X, corpus.y)):
            right = b.predict_marginals(corpus.X)
            at = f"{name} with weights, and with copies: "
            assert_same(found_by["predict_marginals"], list(right), at, rtol=0, atol=2e-3)


def _exact(estimator) -> dict:
    """Parameters for going to the optimum by a method that takes no batches: those would hold other sequences."""
    params = estimator.get_params(deep=False)
    wanted = {"solver": "lbfgs", "tol": 1e-9, "max_iter": 1000}
    return {key: value for key, value in wanted.items() if key in params}


def check_score_weight(name, estimator):
    """`score` counts tokens by the weight of their sequence."""
    if not hasattr(estimator, "score"):
        return
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        y = [["?"] * len(own) if i % 3 == 0 else own for i, own in enumerate(est.predict(corpus.X))]
        lengths = np.array(corpus.lengths)
        right = np.where(np.arange(12) % 3 == 0, 0, lengths)
        np.testing.assert_allclose(est.score(corpus.X, y), right.sum() / lengths.sum(), rtol=1e-12)
        weight = np.arange(12.0)
        expected = (weight * right).sum() / (weight * lengths).sum()
        np.testing.assert_allclose(est.score(corpus.X, y, sample_weight=weight), expected, rtol=1e-12)


of_taggers = [
    check_sample_weight_forms,
    check_sample_weight_shape,
    check_sample_weight_untouched,
    check_sample_weight_equivalence,
    check_score_weight,
]
