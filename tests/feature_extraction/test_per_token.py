# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import PerToken, SequenceDictVectorizer

LENGTHS = [3, 0, 2, 5]


def numbers(sparse=False, **options):
    values = np.random.default_rng(0).normal(size=(10, 4)) + np.arange(4)
    return SequenceMatrix(sp.csr_array(values) if sparse else values, LENGTHS, **options)


def labels():
    flat = [int(row[0] > 0) for row in numbers().values]
    ends = np.cumsum(LENGTHS)
    return [flat[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


@pytest.mark.parametrize(
    "inner", [StandardScaler(), PCA(2, random_state=0), MaxAbsScaler(), make_pipeline(StandardScaler(), PCA(3))]
)
def test_equals_the_transformer_on_stacked_rows(inner):
    corpus = numbers()
    outer = PerToken(inner)
    expected = clone(inner).fit_transform(corpus.values)
    for found in (outer.fit_transform(corpus), outer.fit(corpus).transform(list(corpus))):
        found._check()
        np.testing.assert_allclose(found.values, expected, rtol=1e-10, atol=1e-12)
        assert found.lengths.tolist() == LENGTHS
    part = outer.transform(corpus[[3, 0]])
    np.testing.assert_allclose(part.values, np.vstack([expected[5:], expected[:3]]), rtol=1e-10, atol=1e-12)
    assert not hasattr(inner, "n_features_in_")  # a clone was fitted
    assert outer.n_columns_ == expected.shape[1] and outer.n_features_in_ == 4


def test_sparse():
    corpus = numbers(sparse=True)
    found = PerToken(MaxAbsScaler()).fit_transform(corpus)
    assert sp.issparse(found.values)
    np.testing.assert_allclose(found.values.toarray(), MaxAbsScaler().fit_transform(numbers().values))
    assert not sp.issparse(PerToken(TruncatedSVD(2, random_state=0)).fit_transform(corpus).values)
    vectorized = make_pipeline(SequenceDictVectorizer(), PerToken(TruncatedSVD(2, random_state=0)))
    assert vectorized.fit_transform([[{"w": w} for w in "abca"], [{"w": "b"}]]).lengths.tolist() == [4, 1]


def test_supervised_selection():
    corpus, y = numbers(feature_names=list("abcd")), labels()
    outer = PerToken(SelectKBest(f_classif, k=1))
    found = outer.fit_transform(corpus, y)
    assert outer.get_feature_names_out().tolist() == ["a"] == found.feature_names.tolist()
    assert np.array_equal(found.values, corpus.values[:, :1])
    assert np.array_equal(outer.fit(list(corpus), iter(y)).transform(corpus).values, found.values)


def test_unknown_labels():
    corpus, y = numbers(), labels()
    y[3][:4] = [None] * 4
    known = np.r_[:5, 9]
    inner = SelectKBest(f_classif, k=2)
    outer = PerToken(inner).fit(corpus, y)
    flat = np.concatenate(labels())[known]
    expected = clone(inner).fit(corpus.values[known], flat).scores_
    np.testing.assert_allclose(outer.transformer_.scores_, expected)
    assert outer.fit_transform(corpus, y).n_tokens == 10
    scaled = PerToken(StandardScaler()).fit(corpus, y).transformer_
    np.testing.assert_allclose(scaled.mean_, corpus.values[known].mean(axis=0))
    scaled = PerToken(StandardScaler()).fit(corpus).transformer_
    np.testing.assert_allclose(scaled.mean_, corpus.values.mean(axis=0))
    assert Pipeline([("s", PerToken(StandardScaler())), ("t", LatentCRFTagger(max_iter=3, tol=1e9))]).fit(corpus, y)


class CrossFitted(TransformerMixin, BaseEstimator):
    """As scikit-learn's `TargetEncoder`: training rows are transformed in another way."""

    def fit(self, X, y):
        self.y_ = y
        return self

    def fit_transform(self, X, y):
        return self.fit(X, y).transform(X) + (y == "b")[:, None]

    def transform(self, X):
        return X + len(self.y_)


def test_cross_fitting_is_kept():
    corpus = SequenceMatrix(np.zeros((3, 1)), [2, 1])
    outer = PerToken(CrossFitted())
    assert outer.fit_transform(corpus, [["a", "b"], ["b"]]).values.tolist() == [[3], [4], [4]]
    assert outer.transform(corpus).values.tolist() == [[3], [3], [3]]


def test_labels_are_checked():
    y = labels()
    y[2] = y[2][:1]
    with pytest.raises(ValueError, match=r"X\[2\] has 2 tokens but y\[2\] has 1"):
        PerToken(SelectKBest(k=1)).fit(numbers(), y)


def test_names_and_marks():
    corpus = numbers(feature_names=list("abcd"), edge_only=[True, False, True, False])
    scaled = PerToken(StandardScaler())
    found = scaled.fit_transform(corpus)
    assert found.feature_names.tolist() == scaled.get_feature_names_out().tolist() == list("abcd")
    assert found.edge_only.tolist() == [True, False, True, False]
    chosen = PerToken(VarianceThreshold(np.sort(corpus.values.var(axis=0))[1])).fit_transform(corpus)
    assert chosen.edge_only.tolist() == [name in "ac" for name in chosen.feature_names]
    pca = PerToken(PCA(2))
    assert pca.fit_transform(corpus).edge_only is None
    assert pca.get_feature_names_out().tolist() == ["pca0", "pca1"]
    assert PerToken(StandardScaler()).fit(numbers()).get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3"]
    assert pickle.loads(pickle.dumps(found)).feature_names.tolist() == list("abcd")
    nameless = PerToken(FunctionTransformer())
    assert not hasattr(nameless.fit(corpus), "get_feature_names_out")
    assert nameless.transform(corpus).feature_names is None


def test_empty_corpora():
    outer = PerToken(PCA(2)).fit(numbers())
    for X in ([], [[], []], numbers()[:0], numbers()[1:2]):
        assert outer.transform(X).values.shape == (0, 2)
    for X in ([], [[]], numbers()[1:2]):
        for method in (PerToken(StandardScaler()).fit, PerToken(StandardScaler()).fit_transform):
            with pytest.raises(ValueError, match="no token to fit"):
                method(X)
    with pytest.raises(ValueError, match="no token"):
        PerToken(SelectKBest(k=1)).fit([[]], [[]])
    with pytest.raises(ValueError, match="no label"):
        PerToken(SelectKBest(k=1)).fit([np.eye(2)], [[None, None]])


def test_numbers_that_are_not_finite():
    values = np.ones((4, 2))
    values[3, 1] = np.nan
    corpus = SequenceMatrix(values, [2, 2])
    for method in (PerToken(PCA(1)).fit, PerToken(PCA(1)).fit_transform, PerToken(PCA(1)).fit([np.eye(2)]).transform):
        with pytest.raises(ValueError, match=r"X\[1\], token 1, feature 1.*nan"):
            method(corpus)
    assert np.array_equal(PerToken(SimpleImputer()).fit_transform(corpus).values, np.ones((4, 2)))


class Halving(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[::2]


def test_bad_input():
    with pytest.raises(TypeError, match="PerToken takes numbers"):
        PerToken(StandardScaler()).fit([["a"]])
    with pytest.raises(ValueError, match=r"3 features.*fitted with 4"):
        PerToken(StandardScaler()).fit(numbers()).transform([np.eye(3)])
    with pytest.raises(ValueError, match="Halving gave 5 rows for 10 tokens"):
        PerToken(Halving()).fit_transform(numbers())
    for wrong in (None, "passthrough", 3):
        with pytest.raises(InvalidParameterError):
            PerToken(wrong).fit(numbers())


def test_contract():
    outer = PerToken(StandardScaler())
    assert outer.get_params()["transformer__with_mean"] is True
    assert clone(outer).set_params(transformer__with_mean=False).get_params()["transformer__with_mean"] is False
    with pytest.raises(NotFittedError):
        outer.transform(numbers())
    with pytest.raises(NotFittedError):
        outer.get_feature_names_out()
    outer.fit(numbers())
    again = pickle.loads(pickle.dumps(outer))
    assert np.array_equal(again.transform(numbers()).values, outer.transform(numbers()).values)


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_frames_as_output_change_nothing(frames):
    pytest.importorskip(frames)
    corpus = numbers()
    expected = PerToken(StandardScaler()).fit_transform(corpus).values
    with config_context(transform_output=frames):
        assert np.array_equal(PerToken(StandardScaler()).fit_transform(corpus).values, expected)
    inner = StandardScaler().set_output(transform=frames)
    assert np.array_equal(PerToken(inner).fit_transform(corpus).values, expected)
    pipeline = make_pipeline(PerToken(StandardScaler())).set_output(transform=frames)
    assert isinstance(pipeline.fit_transform(corpus), SequenceMatrix)


def test_grid_search():
    corpus, y = numbers(), labels()
    corpus, y = corpus[np.tile([0, 2, 3], 4)], [y[i] for i in (0, 2, 3)] * 4
    pipeline = Pipeline([("best", PerToken(SelectKBest(f_classif))), ("tagger", LatentCRFTagger(n_latent=1))])
    search = GridSearchCV(pipeline, {"best__transformer__k": [1, 4]}, cv=3, scoring=None).fit(corpus, y)
    assert search.best_estimator_.predict(corpus).__class__.__name__ == "LabelSequences"
    assert search.score(corpus, y) == 1.0


@pytest.mark.parametrize(
    "inner",
    [make_pipeline(StandardScaler(), SelectKBest(k=2)), SelectFromModel(Perceptron(random_state=0)), CrossFitted()],
)
def test_whatever_is_inside_sees_only_tokens_with_a_label(inner):
    corpus, y = numbers(), labels()
    y[0][1] = None
    known = np.r_[0, 2:10]
    outer = PerToken(inner).fit(corpus, [[None if v is None else "ab"[v] for v in own] for own in y])
    flat = np.array(["ab"[v] for own in y for v in own if v is not None])
    expected = clone(inner).fit(corpus.values[known], flat).transform(corpus.values)
    np.testing.assert_allclose(outer.transform(corpus).values, expected)
