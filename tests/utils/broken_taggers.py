# SPDX-License-Identifier: BSD-3-Clause
"""Broken taggers."""

from __future__ import annotations

import numpy as np
from sklearn import get_config

from sklearn_latent import LabelSequences
from sklearn_latent.metrics import token_error_rate
from utils.broken import Changed, Tagger, breaks

# -- taggers -------------------------------------------------------------------------------------------


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


# -- weights -------------------------------------------------------------------------------------------


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


# -- scikit-learn's tools ------------------------------------------------------------------------------


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
