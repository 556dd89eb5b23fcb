# SPDX-License-Identifier: BSD-3-Clause
"""Broken ways of reading corpora."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sklearn_latent import LabelSequences, SequenceMatrix
from sklearn_latent.feature_extraction import SequenceDictVectorizer, Window
from utils.broken import Changed, Tagger, breaks

# -- lengths -------------------------------------------------------------------------------------------


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


# -- forms ---------------------------------------------------------------------------------------------


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


# -- refusals (see NeverComplains) ---------------------------------------------------------------------


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
