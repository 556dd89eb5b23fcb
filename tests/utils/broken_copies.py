# SPDX-License-Identifier: BSD-3-Clause
"""Broken copies and threads, and broken transformers."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np

from sklearn_latent import LabelSequences
from sklearn_latent.feature_extraction import SequenceDictVectorizer, Window
from utils.broken import Changed, Tagger, breaks

# -- copies --------------------------------------------------------------------------------------------


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


# -- threads -------------------------------------------------------------------------------------------


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


# -- transformers --------------------------------------------------------------------------------------


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
