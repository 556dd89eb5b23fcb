# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import (
    PerToken,
    SequenceDictVectorizer,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
    Window,
)

WORDS = [["Ana", "met", "Bo"], ["Bo", "left"], [], ["rain"], ["Ana", "and", "Bo", "sang"]]
LABELS = [["B" if word.istitle() else "O" for word in words] for words in WORDS]


def union(**changes):
    return SequenceUnion(
        [("here", TemplateVectorizer(["%x[0,0]"])), ("around", TemplateVectorizer(["%x[-1,0]", "B%x[0,0]"]))]
    ).set_params(**changes)


def numbers(seed=0, sparse=False):
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, size=(10, 3)).astype(float)
    return SequenceMatrix(sp.csr_array(values) if sparse else values, [3, 2, 0, 1, 4], feature_names=["a", "b", "c"])


def test_blocks_side_by_side():
    joined = union().fit_transform(WORDS)
    joined._check()
    blocks = [t.fit_transform(WORDS) for _, t in union().transformer_list]
    expected = SequenceMatrix.hstack(blocks)
    assert (joined.values != expected.values).nnz == 0
    assert joined.lengths.tolist() == [3, 2, 0, 1, 4]
    assert joined.edge_only.tolist() == expected.edge_only.tolist() and joined.edge_only.any()
    prefixed = [f"here__{n}" for n in blocks[0].feature_names] + [f"around__{n}" for n in blocks[1].feature_names]
    assert joined.feature_names.tolist() == prefixed


def test_transform_names_and_pickles():
    fitted = union().fit(WORDS)
    names = fitted.get_feature_names_out().tolist()
    for again in (fitted, pickle.loads(pickle.dumps(fitted))):
        corpus = again.transform([["Bo", "new"], ["Ana"]])
        assert callable(corpus._names)  # made on demand
        assert pickle.loads(pickle.dumps(corpus)).feature_names.tolist() == names
        assert again.get_feature_names_out().tolist() == names == corpus.feature_names.tolist()


def test_iterators_are_read_once():
    expected = union().fit_transform(WORDS)
    for corpus in (iter(WORDS), (iter(words) for words in WORDS), [iter(words) for words in WORDS]):
        fitted = union()
        assert (fitted.fit_transform(corpus).values != expected.values).nnz == 0
        assert (fitted.transform(iter(words) for words in WORDS).values != expected.values).nnz == 0


def test_parameters_reach_inside():
    outer = SequenceUnion([("in", union()), ("hash", SequenceFeatureHasher(16)), ("gone", "drop")])
    params = outer.get_params()
    assert params["in__here__min_df"] == 1 and params["gone"] == "drop"
    outer.set_params(in__here__min_df=3, hash=SequenceFeatureHasher(4), hash__n_features=8)
    assert outer.get_params()["in__here__min_df"] == 3
    twin = clone(outer)
    assert twin.get_params()["hash__n_features"] == 8
    with pytest.raises(ValueError, match="Invalid parameter"):
        outer.set_params(nothing__x=1)
    assert set(SequenceUnion(union().transformer_list).get_params(deep=False)) == {"transformer_list"}


def test_fit_leaves_the_given_ones_alone():
    given = union()
    before = given.transformer_list
    assert given.named_transformers["here"] is before[0][1]
    given.fit(WORDS)
    assert given.transformer_list is before
    with pytest.raises(NotFittedError):
        before[0][1].transform(WORDS)
    assert given.named_transformers["here"] is given["here"] is given.transformers_[0][1]
    assert given["here"].get_feature_names_out().tolist() == ["Ana", "met", "Bo", "left", "rain", "and", "sang"]
    assert given.named_transformers.around.transform(WORDS).n_features == given.n_columns_[1]
    for key in (0, slice(1)):
        with pytest.raises(KeyError):
            given[key]


def test_drop_and_passthrough():
    dropped = union(around="drop").fit(WORDS)
    assert [name for name, _ in dropped.transformers_] == ["here"]
    assert all(name.startswith("here__") for name in dropped.get_feature_names_out())
    with pytest.raises(ValueError, match="at least one"):
        union(around="drop", here="drop").fit(WORDS)
    with pytest.raises(ValueError, match="at least one"):
        SequenceUnion([]).fit(WORDS)
    corpus = numbers()
    both = SequenceUnion([("as_is", "passthrough"), ("near", Window(1, 0))])
    found = both.fit_transform(corpus)
    assert np.array_equal(found.values[:, :3], corpus.values)
    assert both.get_feature_names_out().tolist() == found.feature_names.tolist()
    assert found.feature_names.tolist()[:4] == ["as_is__a", "as_is__b", "as_is__c", "near__a[-1]"]
    assert np.array_equal(both.transform(list(corpus)).values, found.values)
    with pytest.raises(TypeError, match=r"X\[0\] is a list of tokens"):
        SequenceUnion([("as_is", "passthrough")]).fit_transform(WORDS)
    with pytest.raises(ValueError, match="2 features"):
        both.transform([np.zeros((2, 2))])


def test_sparse_and_dense_blocks():
    joined = SequenceUnion([("s", PerToken(StandardScaler(with_mean=False))), ("w", Window())])
    for sparse in (True, False):
        found = joined.fit_transform(numbers(sparse=sparse))
        assert sp.issparse(found.values) == sparse
        found._check()


class Broken(TransformerMixin, BaseEstimator):
    def __init__(self, what):
        self.what = what

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.what


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        (SequenceMatrix(np.zeros((9, 1)), [3, 2, 0, 0, 4]), ValueError, "sequence 3: 'here' gives 1 .*'bad' gives 0"),
        (SequenceMatrix(np.zeros((9, 1)), [3, 2, 4]), ValueError, "'here' gives 5 sequences, but 'bad' gives 3"),
        (np.zeros((10, 2)), TypeError, r"'bad' \(Broken\) gives no matrix a sequence"),
        (WORDS, TypeError, r"'bad' \(Broken\) gives tokens"),
    ],
)
def test_blocks_that_do_not_fit(what, kind, message):
    both = SequenceUnion([("here", TemplateVectorizer(["%x[0,0]"])), ("bad", Broken(what))])
    with pytest.raises(kind, match=message):
        both.fit(WORDS)
    assert not hasattr(both, "transformers_")


def test_foreign_transformers_may_give_lists_of_arrays():
    arrays = [np.ones((len(words), 2)) for words in WORDS]
    both = SequenceUnion([("here", TemplateVectorizer(["%x[0,0]"])), ("foreign", Broken(arrays))]).fit(WORDS)
    assert both.transform(WORDS).n_features == 9
    with pytest.raises(AttributeError, match=r"'foreign'.*no get_feature_names_out"):
        both.get_feature_names_out()


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ("no list", InvalidParameterError, "transformer_list"),
        ([TemplateVectorizer()], TypeError, "tuples"),
        ([("a", TemplateVectorizer)], TypeError, "'a' is"),
        ([("a", None)], TypeError, "'a' is None"),
        ([("a", "other")], TypeError, "'a' is 'other'"),
        ([(1, Window())], TypeError, "names of transformers are strings"),
        ([("a", Window()), ("a", Window())], ValueError, "not unique"),
        ([("a__b", Window())], ValueError, "__"),
        ([("transformer_list", Window())], ValueError, "conflict"),
    ],
)
def test_bad_lists(given, kind, message):
    with pytest.raises(kind, match=message):
        SequenceUnion(given).fit(WORDS)


def test_contract():
    with pytest.raises(NotFittedError):
        union().transform(WORDS)
    with pytest.raises(NotFittedError):
        union().get_feature_names_out()
    assert not union().__sklearn_tags__().input_tags.two_d_array
    fitted = union().fit(WORDS)
    assert fitted.transform([]).values.shape == (0, sum(fitted.n_columns_))
    assert fitted.transform([[], []]).lengths.tolist() == [0, 0]


def test_labels_reach_the_blocks():
    vectorized = make_pipeline(TemplateVectorizer(["%x[0,0]"]), PerToken(SelectKBest(f_classif, k=2)))
    both = SequenceUnion([("best", vectorized), ("near", TemplateVectorizer(["%x[-1,0]"]))])
    found = both.fit_transform(iter(WORDS), iter(LABELS))
    assert both.n_columns_[0] == 2 and found.n_features == sum(both.n_columns_)
    assert {n for n in both.get_feature_names_out() if n.startswith("best")} == {"best__Ana", "best__Bo"}


def test_grid_search_over_a_parameter_inside():
    X, y = WORDS * 3, LABELS * 3
    search = GridSearchCV(
        LatentCRFTagger(n_latent=1, vectorizer=union(), max_iter=50),
        {"vectorizer__here__min_df": [1, 5], "vectorizer__around": ["drop", TemplateVectorizer(["%x[1,0]"])]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["vectorizer__here__min_df"] == 1
    assert search.score(X, y) == 1.0
    pipeline = Pipeline([("features", union()), ("tagger", LatentCRFTagger(n_latent=1, max_iter=50))])
    search = GridSearchCV(pipeline, {"features__here__min_df": [1, 5]}, cv=3).fit(X, y)
    assert search.best_params_ == {"features__here__min_df": 1}
    assert list(search.predict(WORDS)) == LABELS
    assert pipeline.fit(X, y)[:-1].get_feature_names_out()[0].startswith("here__")


def test_tagger_reads_a_stream_through_a_union():
    tagger = LatentCRFTagger(n_latent=1, vectorizer=union(), max_iter=50)
    expected = tagger.fit(WORDS, LABELS).coef_
    again = clone(tagger).fit((iter(words) for words in WORDS), iter(LABELS))
    assert np.array_equal(again.coef_, expected)
    assert list(again.predict(iter(WORDS))) == LABELS


def test_dicts_beside_raw_hashes():
    X = [[{"w": word} for word in words] for words in WORDS]
    both = SequenceUnion([("names", SequenceDictVectorizer()), ("hash", SequenceFeatureHasher(4))])
    found = both.fit_transform(X)
    assert found.n_features == 7 + 4
    assert found.feature_names.tolist() == both.get_feature_names_out().tolist()
