# SPDX-License-Identifier: BSD-3-Clause
"""Broken parameters, and a broken `fit`."""

from __future__ import annotations

import copy

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from sklearn_latent import LabelSequences
from sklearn_latent.feature_extraction import PerToken, SequenceDictVectorizer, Window
from utils.broken import Tagger, breaks

# -- parameters ----------------------------------------------------------------------------------------


@breaks("estimator_cloneable")
class Forgets(Window):
    def __init__(self, before=1, after=1):
        self.before = before


@breaks("estimator_repr")
class NoRepr(Window):
    def __repr__(self, N_CHAR_MAX=700):
        raise RuntimeError


@breaks("valid_tag_types")
class WrongTag(Window):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = "yes"
        return tags


@breaks("estimator_tags_renamed")
class OldTags(Window):
    def _more_tags(self):
        return {}


@breaks("mixin_order")
class WrongOrder(BaseEstimator, TransformerMixin):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@breaks("no_attributes_set_in_init")
class WorksInInit(Window):
    def __init__(self, before=1, after=1):
        super().__init__(before, after)
        self.width = 3


@breaks("do_not_raise_errors_in_init_or_set_params")
class JudgesInInit(Window):
    def __init__(self, before=1, after=1):
        if not isinstance(before, int):
            raise TypeError("before")
        super().__init__(before, after)


@breaks("parameters_default_constructible")
class MutableDefault(Window):
    def __init__(self, before=1, after=1, steps=[]):  # noqa: B006
        super().__init__(before, after)
        self.steps = steps


@breaks("get_params_invariance")
class ShallowHasMore(Window):
    def get_params(self, deep=True):
        return super().get_params(deep) if deep else {**super().get_params(deep), "more": 1}


@breaks("set_params")
class SetsNothing(Window):
    def set_params(self, **params):
        return self


@breaks("parameters_kept_as_given")
class KeepsCopies(Window):
    def __init__(self, before=1, after=1):
        super().__init__(copy.copy(before), after)


@breaks("html_display")
class NoHtml(Window):
    def _repr_html_(self):
        raise RuntimeError


@breaks("clone_of_fitted")
class CloneIsFitted(Window):
    def __sklearn_clone__(self):
        return copy.copy(self)


@breaks("parameters_untouched")
class ReplacesParameters(Window):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.before = np.int64(self.before)
        return self


@breaks("parameters_untouched", transformer=Window())
class FitsItsParameter(PerToken):
    def fit(self, X, y=None):
        self.transformer.fit(X, y)
        self.transformer_ = self.transformer
        self.n_features_in_ = self.transformer_.n_features_in_
        return self

    def transform(self, X):
        return self.transformer_.transform(X)

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


@breaks("parameters_are_validated", "nan_and_infinity", "wrong_corpora", "single_sequence", "frames", "mixed_sequences")
class NeverComplains(Window):
    def fit(self, X, y=None):
        try:
            return super().fit(X, y)
        except Exception:
            self.window_, self.n_features_in_ = (1, 1), 3
            return self


@breaks("sequence_tags")
class ClaimsTables(Window):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


@breaks("sequence_tags")
class ClaimsToClassify(Tagger):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        return tags


@breaks("fit_takes_y")
class FitTakesNoKeyword(Window):
    def fit(self, X, labels=None):
        return super().fit(X)


# -- fit -----------------------------------------------------------------------------------------------


@breaks("fit_returns_self")
class ReturnsACopy(Window):
    def fit(self, X, y=None):
        return copy.copy(super().fit(X, y))


@breaks("unfitted")
class NoErrorBeforeFit(Tagger):
    def predict(self, X):
        return super().predict(X) if len(X) else LabelSequences()


@breaks("fit_sets_attributes")
class PublicState(Window):
    def fit(self, X, y=None):
        self.data = 1
        return super().fit(X, y)


@breaks("fit_twice")
class Accumulates(SequenceDictVectorizer):
    def fit_transform(self, X, y=None):
        self.seen_ = [*getattr(self, "seen_", []), *map(list, X)]
        super().fit_transform(self.seen_)
        return self.transform(X)


@breaks("failed_fit_keeps_the_model")
class DropsItsModelFirst(Tagger):
    def fit(self, X, y, sample_weight=None):
        self.__dict__.pop("_model", None)
        return super().fit(X, y, sample_weight)


@breaks("prediction_leaves_the_estimator")
class CountsCalls(Tagger):
    def predict(self, X):
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        return super().predict(X)


@breaks("input_untouched")
class ScalesInPlace(Window):
    def fit(self, X, y=None):
        for x in X if isinstance(X, list) else []:
            if isinstance(x, np.ndarray) and x.flags.writeable and x.dtype.kind == "f":
                x *= 2
        return super().fit(X, y)


@breaks("n_features_in")
class WrongWidth(Window):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.n_features_in_ = 4
        return self

    def _check_X(self, X):
        return self._numbers(X)

    def transform(self, X):
        return Window(self.before, self.after).fit_transform(X)

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


@breaks("other_n_features")
class AnyWidth(Window):
    def transform(self, X):
        return Window(self.before, self.after).fit_transform(X)


@breaks("input_names")
class NamesStay(Window):
    def fit(self, X, y=None):
        old = getattr(self, "_feature_names", None)
        super().fit(X, y)
        self._feature_names = self._feature_names if old is None else old
        return self


@breaks("pipeline_consistency")
class OtherScoreThroughKeywords(Tagger):
    def score(self, X, y=None, sample_weight=None, **weights):
        return super().score(X, y) if sample_weight is None and type(X) is list else 0.0

    def predict(self, X, **params):
        import inspect

        caller = inspect.currentframe().f_back
        found = super().predict(X)
        return found[::-1] if "pipeline" in caller.f_code.co_filename else found
