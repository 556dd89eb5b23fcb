# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that are broken on purpose, in one way each: one or more for every check of the battery."""

from __future__ import annotations

import copy
import time
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin

from sklearn_latent import LabelSequences, LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import PerToken, SequenceDictVectorizer, Window
from sklearn_latent.metrics import token_error_rate

__all__ = ["BROKEN", "Tagger"]

BROKEN: dict[str, list] = {}


def breaks(*checks: str, **params):
    """Mark a class as the broken estimator of some checks."""

    def add(cls):
        for check in checks:
            BROKEN.setdefault(f"check_{check}", []).append(cls(**params))
        return cls

    return add


class Tagger(LatentCRFTagger):
    """A tagger in good order, quick to train."""

    def __init__(self, n_latent=1, max_iter=40, tol=1e-3, sigma=1.0, solver="lbfgs", support="observed",
                 class_weight=None, decoder="ldi_exact", n_jobs=None, random_state=None):  # fmt: skip
        super().__init__(n_latent, sigma, max_iter=max_iter, tol=tol, solver=solver, support=support, decoder=decoder,
                         class_weight=class_weight, n_jobs=n_jobs, random_state=random_state)  # fmt: skip


class Changed(Window):
    """A transformer whose matrix is changed by `change(X, out)`."""

    def transform(self, X):
        return self.change(X, super().transform(X))

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


# -- parameters -------------------------------------------------------------------------------------


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


# -- fit --------------------------------------------------------------------------------------------


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


# -- lengths ----------------------------------------------------------------------------------------


@breaks("ragged")
class DropsTheLast(Tagger):
    def predict(self, X):
        found = super().predict(X)
        return LabelSequences(found[:-1]) if len(found) > 3 else found


@breaks("equal_lengths", "cross_val_predict")
class MakesRectangles(Tagger):
    def predict(self, X):
        return list(super().predict(X))


@breaks("one_sequence")
class Squeezes(Tagger):
    def predict_marginals(self, X):
        found = super().predict_marginals(X)
        return found[0] if len(found) == 1 else found


@breaks("one_token")
class NeedsNeighbours(Window):
    def fit(self, X, y=None):
        corpus = X if isinstance(X, SequenceMatrix) else self._corpus(X)
        if len(corpus.lengths) and corpus.lengths.max() < 2:
            raise ValueError("sequences of two tokens or more are needed")
        return super().fit(corpus, y)

    @staticmethod
    def _corpus(X):
        return Window(0, 0).fit_transform(X)


@breaks("one_feature")
class NeedsFeatures(Window):
    def fit(self, X, y=None):
        super().fit(X, y)
        if self.n_features_in_ < 2:
            raise ValueError("two features or more are needed")
        return self


@breaks("empty_among_others")
class SkipsEmpty(Tagger):
    def predict(self, X):
        return LabelSequences([labels for labels in super().predict(X) if labels])


@breaks("only_empty")
class DividesByTokens(Tagger):
    def score(self, X, y, sample_weight=None):
        if not sum(map(len, y)):
            return float("nan")
        return super().score(X, y, sample_weight)


@breaks("order_invariance")
class LooksAtPlaces(Changed):
    def change(self, X, out):
        return out.map(lambda values: values * (1 + np.arange(out.n_tokens)[:, None]))


@breaks("subset_invariance")
class CentresEachCorpus(Changed):
    def change(self, X, out):
        return out.map(lambda values: values - values.sum(axis=0) / max(1, out.n_tokens))


# -- forms ------------------------------------------------------------------------------------------


@breaks("forms_of_corpora")
class ReadsTwice(SequenceDictVectorizer):
    def fit_transform(self, X, y=None):
        super().fit_transform(X)
        return self.transform(X)


@breaks("forms_of_tokens")
class DictsOnly(SequenceDictVectorizer):
    def transform(self, X):
        if isinstance(X, list) and any(not isinstance(x, list) for x in X):
            return super().transform([[] for _ in X])
        return super().transform(X)

    def fit_transform(self, X, y=None):
        X = [list(x) for x in X]
        super().fit_transform(X)
        return self.transform(X)


@breaks("forms_of_matrices")
class ListsOnly(Changed):
    def change(self, X, out):
        return out if type(X) is list else out.map(lambda values: -values)


@breaks("readonly_input")
class WritesBack(Changed):
    def change(self, X, out):
        for x in list(X):
            if isinstance(x, np.ndarray) and x.size:
                x[0, 0] += 0.0
        return out


@breaks("fortran_order")
class TrustsMemoryOrder(Changed):
    def change(self, X, out):
        arrays = type(X) is list and all(isinstance(x, np.ndarray) for x in X)
        return out.map(lambda values: -values) if arrays and not all(x.flags.c_contiguous for x in X) else out


@breaks("dtypes")
class HalvesSingles(Changed):
    def change(self, X, out):
        return out.map(lambda values: values / 2) if out.dtype == np.float32 else out


@breaks("sparse_tag")
class DenseOnlyWithoutATag(Window):
    def fit(self, X, y=None):
        if type(X) is list and any(map(sp.issparse, X)):
            raise TypeError("dense matrices only")
        return super().fit(X, y)


@breaks("sparse_formats")
class TrustsTheFormat(Changed):
    def change(self, X, out):
        odd = type(X) is list and any(sp.issparse(x) and x.format == "csc" for x in X)
        return out.map(lambda values: -values) if odd else out


@breaks("int64_indices")
class CutsIndices(Changed):
    def change(self, X, out):
        first = X[0] if len(X) else None
        wide = getattr(first, "format", "") == "csr" and first.indices.dtype == np.int64
        return out.map(lambda values: -values) if wide else out


@breaks("sparse_equals_dense")
class SparseIsAnother(Changed):
    def change(self, X, out):
        return out.map(lambda values: -values) if sp.issparse(out.values) else out


@breaks("forms_of_y")
class ListsOfLabelsOnly(Tagger):
    def fit(self, X, y, sample_weight=None):
        X, y = list(X), [list(own) for own in y] if type(y) is list else [["O"] * len(own) for own in y]
        return super().fit(X, y, sample_weight)


# -- refusals (see NeverComplains) ------------------------------------------------------------------


@breaks("nan_in_tokens")
class NaNIsZero(SequenceDictVectorizer):
    def fit_transform(self, X, y=None):
        return super().fit_transform(self._mended(X))

    def transform(self, X):
        return super().transform(self._mended(X))

    @staticmethod
    def _mended(X):
        def value(v):
            return 0.0 if isinstance(v, float) and not np.isfinite(v) else v

        return [[{k: value(v) for k, v in t.items()} if isinstance(t, dict) else t for t in x] for x in X]


@breaks("lengths_agree")
class CutsTheLonger(Tagger):
    def fit(self, X, y, sample_weight=None):
        X = list(X)
        if type(y) is list and all(type(own) is list for own in y):
            y = [own + ["O"] * (len(x) - len(own)) for x, own in zip(X, y, strict=False)]
        return super().fit(X, y, sample_weight)


@breaks("wrong_labels")
class TurnsLabelsToText(Tagger):
    def fit(self, X, y, sample_weight=None):
        if type(y) is list and all(type(own) is list for own in y):
            y = [[None if label is None else str(label) for label in own] for own in y]
        return super().fit(X, y, sample_weight)


@breaks("nothing_to_learn_from")
class LearnsFromNothing(Tagger):
    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError:
            if any(len(own) for own in y):
                raise
            self.classes_ = np.array(["O"])
            return self


# -- copies -----------------------------------------------------------------------------------------


@breaks("pickle", "joblib", "cloudpickle")
class PicklesHalf(Tagger):
    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("loss_curve_", None)
        return state


@breaks("deepcopy")
class SharesItself(Window):
    def __deepcopy__(self, memo):
        return self


@breaks("readonly_memmap")
class WritesIntoItself(Window):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.scale_ = np.ones(4)
        return self

    def transform(self, X):
        self.scale_ *= 1.0
        return super().transform(X)


@breaks("other_processes")
class FollowsTheHashSeed(Changed):
    def change(self, X, out):
        return out.map(lambda values: values + (hash("Ana") % 1000003))


# -- threads ----------------------------------------------------------------------------------------


@breaks("n_jobs")
class CountsThreads(Tagger):
    def predict_marginals(self, X):
        found = super().predict_marginals(X)
        return LabelSequences([rows * (1 + 1e-15) for rows in found]) if self.n_jobs == 2 else found


@breaks("threads")
class KeepsWhatIsAsked(Window):
    def transform(self, X):
        self._asked = X
        time.sleep(1e-4)
        return super().transform(self._asked)


@breaks("threads_that_fit")
class SharesWithItsClass(SequenceDictVectorizer):
    shared: ClassVar[list] = []

    def fit_transform(self, X, y=None):
        type(self).shared = list(X)
        time.sleep(1e-2)
        super().fit_transform(type(self).shared)
        return self.transform(X)


# -- taggers ----------------------------------------------------------------------------------------


@breaks("label_sequences")
class GivesArrays(Tagger):
    def predict(self, X):
        return LabelSequences([np.array(labels) for labels in super().predict(X)])


@breaks("learns")
class AlwaysO(Tagger):
    def predict(self, X):
        return LabelSequences([["O"] * len(labels) for labels in super().predict(X)])

    def score(self, X, y, sample_weight=None):
        return 1.0 - token_error_rate(y, self.predict(X))


@breaks("classes")
class NumbersForLabels(Tagger):
    def predict(self, X):
        return LabelSequences([[str(label) for label in labels] for labels in super().predict(X)])


@breaks("one_label")
class NeedsTwoLabels(Tagger):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        if len(self.classes_) < 2:
            raise ValueError("two labels or more are needed")
        return self


@breaks("probabilities")
class NotNormalised(Tagger):
    def predict_marginals(self, X):
        return LabelSequences([rows * 1.001 for rows in super().predict_marginals(X)])


@breaks("probabilities")
class WrongProbability(Tagger):
    def predict_nbest(self, X, n):
        return LabelSequences([[(labels, p * 0.9) for labels, p in own] for own in super().predict_nbest(X, n)])


@breaks("unknown_labels")
class NoneIsALabel(Tagger):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, [["None" if label is None else label for label in own] for own in y], sample_weight)


@breaks("unseen_labels")
class UnseenIsRight(Tagger):
    def score(self, X, y, sample_weight=None):
        known = set(self.classes_.tolist())
        return super().score(X, [[label if label in known else None for label in own] for own in y], sample_weight)


@breaks("unseen_features")
class LooksAtStrangers(Tagger):
    def predict_marginals(self, X):
        found = super().predict_marginals(X)
        strange = type(X) is list and X == [[{"word": "zzz", "pos": "?", "length": 3}]]
        return LabelSequences([rows[:, ::-1] for rows in found]) if strange else found


@breaks("fixed_labels")
class IgnoresFixed(Tagger):
    def predict(self, X, *, fixed=None):
        return super().predict(X)


@breaks("decoder_after_fit")
class DecoderOfTheFit(Tagger):
    def predict(self, X):
        return (
            LabelSequences([["O"] * len(y) for y in super().predict(X)])
            if self.decoder == "bmp"
            else super().predict(X)
        )


@breaks("class_weight")
class IgnoresClassWeight(Tagger):
    def fit(self, X, y, sample_weight=None):
        given, self.class_weight = self.class_weight, None
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.class_weight = given


@breaks("n_iter")
class EndsInSilence(Tagger):
    def fit(self, X, y, sample_weight=None):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().fit(X, y, sample_weight)


@breaks("silence")
class Talks(Tagger):
    def fit(self, X, y, sample_weight=None):
        print("fitting")
        return super().fit(X, y, sample_weight)


@breaks("partial_fit", solver="sgd", support="all", max_iter=5)
class TakesAnyLabelLater(Tagger):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if hasattr(self, "classes_"):
            known = set(self.classes_.tolist())
            y = [[label if label in known else None for label in own] for own in y]
        return super().partial_fit(X, y, classes, sample_weight)


# -- weights ----------------------------------------------------------------------------------------


@breaks("sample_weight_forms")
class WeightsAsListsOnly(Tagger):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight if isinstance(sample_weight, (list, type(None))) else None)


@breaks("sample_weight_shape")
class AnyWeight(Tagger):
    def fit(self, X, y, sample_weight=None):
        if sample_weight is not None and np.shape(sample_weight) == (len(y),):
            sample_weight = np.maximum(np.asarray(sample_weight, dtype=float), 0.0)
        return super().fit(X, y, sample_weight)


@breaks("sample_weight_untouched")
class NormalisesWeights(Tagger):
    def fit(self, X, y, sample_weight=None):
        if isinstance(sample_weight, np.ndarray):
            sample_weight *= 0.5
        return super().fit(X, y, sample_weight)


@breaks("metadata_routing")
class LosesRoutedWeights(Tagger):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, None if get_config()["enable_metadata_routing"] else sample_weight)


@breaks("sample_weight_equivalence")
class IgnoresWeights(Tagger):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


@breaks("score_weight")
class ScoresWithoutWeights(Tagger):
    def score(self, X, y, sample_weight=None):
        return super().score(X, y)


# -- scikit-learn's tools ---------------------------------------------------------------------------


@breaks("configurations")
class FollowsTheOutput(Changed):
    def change(self, X, out):
        return out.map(lambda values: -values) if get_config()["transform_output"] == "pandas" else out


@breaks("cross_validation")
class ListsOfYOnly(Tagger):
    def score(self, X, y, sample_weight=None):
        return super().score(X, y) if type(y) is list else float("nan")


@breaks("grid_search")
class ScoresByChance(Tagger):
    def score(self, X, y, sample_weight=None):
        return float(np.random.default_rng().random())


# -- transformers -----------------------------------------------------------------------------------


@breaks("fit_transform")
class TwoWays(Window):
    def fit_transform(self, X, y=None):
        return super().fit_transform(X, y).map(lambda values: values + 1)


@breaks("output")
class GivesLists(Window):
    def transform(self, X):
        return list(super().transform(X))

    def fit_transform(self, X, y=None):
        return list(super().fit_transform(X, y))


@breaks("feature_names_out")
class OneNameForAll(Window):
    def get_feature_names_out(self, input_features=None):
        names = super().get_feature_names_out(input_features)
        names[:] = "x"
        return names


@breaks("set_output")
class MakesFrames(Window):
    def set_output(self, *, transform=None):
        return None


@breaks("preserves_dtype")
class Doubles(Changed):
    def change(self, X, out):
        return out.map(lambda values: values.astype(np.float64))


@breaks("unseen_tokens")
class LearnsOn(SequenceDictVectorizer):
    def transform(self, X):
        X = [list(x) for x in X]
        known = [[{name.split("=")[0]: name.split("=")[-1]} for name in self.get_feature_names_out()]]
        return SequenceDictVectorizer().fit(known + [x for x in X if x]).transform(X)


@breaks("inverse_transform")
class UndoesNothing(SequenceDictVectorizer):
    def inverse_transform(self, X):
        return [[{} for _ in range(rows.shape[0])] for rows in X]
