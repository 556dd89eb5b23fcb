# SPDX-License-Identifier: BSD-3-Clause
"""Constructor arguments, copies of them, tags. What needs no data is scikit-learn's own check."""

from __future__ import annotations

from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_do_not_raise_errors_in_init_or_set_params,
    check_estimator_cloneable,
    check_estimator_repr,
    check_estimator_tags_renamed,
    check_get_params_invariance,
    check_mixin_order,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
    check_valid_tag_types,
)

from .corpora import main_corpora, taken
from .tools import answers, assert_same, fitted, prepared, refused

__all__ = ["common"]


def check_parameters_kept_as_given(name, estimator):
    """Every argument is kept as the very object that was given, by the constructor and by `set_params`."""
    for key in estimator.get_params(deep=False):
        given = _Anything()
        kept = clone(estimator).set_params(**{key: given}).get_params(deep=False)[key]
        assert kept is given, f"{name}: set_params({key}=...) keeps another object"
        others = {k: v for k, v in estimator.get_params(deep=False).items() if k != key}
        kept = type(estimator)(**{key: given}, **others).get_params(deep=False)[key]
        assert kept is given, f"{name}({key}=...) keeps another object"


class _Anything:
    """An object that is no valid value of anything."""

    def __iter__(self):
        # A list of steps may be walked through to look for names.
        return iter(())


def check_html_display(name, estimator):
    """Notebooks show the estimator, before and after fit."""
    corpus = taken(estimator)[0]
    for est in (clone(estimator), fitted(estimator, corpus)):
        assert type(estimator).__name__ in est._repr_html_()
        assert len(repr(est)) >= len(type(estimator).__name__)


def check_clone_of_fitted(name, estimator):
    """The clone of a fitted estimator has its parameters and nothing of what it has learnt."""
    est = fitted(estimator, taken(estimator)[0])
    copy = clone(est)
    learnt = sorted(set(vars(copy)) - set(vars(clone(estimator))))
    assert not learnt, f"{name}: a clone has the fitted attributes {learnt}"
    assert repr(copy) == repr(est), f"{name}: a clone has other parameters"


def check_parameters_untouched(name, estimator):
    """`fit` and prediction leave the parameters as they are, the objects and what is in them."""
    for corpus in main_corpora(estimator):
        est = prepared(estimator)
        before = {key: (value, repr(value)) for key, value in est.get_params().items()}
        inside = {key: set(vars(value)) for key, (value, _) in before.items() if hasattr(value, "get_params")}
        est.fit(corpus.X, corpus.y)
        answers(est, corpus.X, corpus.y)
        after = est.get_params()
        assert after.keys() == before.keys(), f"{name}: fit changes the set of parameters"
        for key, (value, text) in before.items():
            assert after[key] is value, f"{name}: fit replaces the parameter {key}"
            assert repr(value) == text, f"{name}: fit changes the parameter {key} from {text} to {value!r}"
        for key, attributes in inside.items():
            grown = sorted(set(vars(after[key])) - attributes)
            assert not grown, f"{name}: fit fits the parameter {key} itself instead of a clone: {grown}"


def check_parameters_are_validated(name, estimator):
    """A parameter of no possible kind is refused at fit, with a message that names it."""
    if not hasattr(estimator, "_parameter_constraints"):
        return
    corpus = taken(estimator)[0]
    unknown = estimator._parameter_constraints.keys() - estimator.get_params(deep=False).keys()
    assert not unknown, f"{name}: constraints for parameters that don't exist: {sorted(unknown)}"
    for key in estimator._parameter_constraints:
        est = prepared(estimator).set_params(**{key: _Wrong()})

        def call(est=est):
            est.fit(corpus.X, corpus.y)

        refused(call, f"{name}({key}=<an object of no use>)", key)


class _Wrong:
    """An object of no use to anyone."""


def check_sequence_tags(name, estimator):
    """The tags don't claim tables, nor a classifier, which would make integer `cv` fail on ragged labels."""
    tags = get_tags(estimator)
    assert not tags.input_tags.two_d_array, f"{name} has the tag two_d_array, but its samples are sequences"
    if hasattr(estimator, "predict"):
        assert tags.estimator_type is None, f"{name} has the estimator type {tags.estimator_type!r}"
        assert tags.target_tags.required, f"{name}: the tag target_tags.required is not set"
    kinds = {corpus.kind for corpus in taken(estimator)}
    if "numbers" in kinds:
        assert tags.input_tags.three_d_array, f"{name} takes numbers, but not the tag three_d_array"
    if "dicts" in kinds:
        assert tags.input_tags.dict, f"{name} takes dicts, but has not the tag dict"


def check_fit_takes_y(name, estimator):
    """`fit`, `fit_transform` and `score` take y as their second argument, as pipelines hand it over."""
    corpus = taken(estimator)[0]
    prepared(estimator).fit(corpus.X, corpus.y)
    prepared(estimator).fit(corpus.X, y=corpus.y)
    if hasattr(estimator, "fit_transform"):
        a = prepared(estimator).fit_transform(corpus.X, corpus.y)
        b = prepared(estimator).fit_transform(corpus.X, y=corpus.y)
        assert_same(list(a), list(b), f"{name}.fit_transform")
    if hasattr(estimator, "score"):
        est = fitted(estimator, corpus)
        assert est.score(corpus.X, corpus.y) == est.score(corpus.X, y=corpus.y)


common = [
    check_estimator_cloneable,
    check_estimator_repr,
    check_valid_tag_types,
    check_estimator_tags_renamed,
    check_mixin_order,
    check_no_attributes_set_in_init,
    check_do_not_raise_errors_in_init_or_set_params,
    check_parameters_default_constructible,
    check_get_params_invariance,
    check_set_params,
    check_parameters_kept_as_given,
    check_html_display,
    check_clone_of_fitted,
    check_parameters_untouched,
    check_parameters_are_validated,
    check_sequence_tags,
    check_fit_takes_y,
]
