# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle
from collections import OrderedDict, UserDict

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_latent import SequenceMatrix
from sklearn_latent.feature_extraction import SequenceDictVectorizer

from .twins import dict_matrix, dict_values

T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]]
X = [[{"w": word, "title": word.istitle(), "length": len(word)} for word in words] for words in T]


def dense(corpus):
    return corpus.values.toarray()


def test_values_names_and_lengths():
    vectorizer = SequenceDictVectorizer()
    corpus = vectorizer.fit_transform(X)
    corpus._check()
    names = ["length", "title", "w=Ana", "w=Bo", "w=and", "w=left", "w=met", "w=rain", "w=sang"]
    assert vectorizer.get_feature_names_out().tolist() == names == corpus.feature_names.tolist()
    assert corpus.lengths.tolist() == [3, 2, 1, 4]
    assert dense(corpus)[0].tolist() == [3, 1, 1, 0, 0, 0, 0, 0, 0]
    assert dense(corpus)[1].tolist() == [3, 0, 0, 0, 0, 0, 1, 0, 0]
    assert corpus.values.nnz == np.count_nonzero(dense(corpus))  # False is not stored


def test_sort_false_keeps_the_order_of_occurrence():
    vectorizer = SequenceDictVectorizer(sort=False).fit([[{"b": "y", "a": "x"}, {"a": "w"}, ["c"]]])
    assert vectorizer.get_feature_names_out().tolist() == ["b=y", "a=x", "a=w", "c"]


def test_names_are_sorted_as_text():
    token = {"word": "y", "word.lower": "x", "word2": "z", "w": 1.0, "é": "a", "w=": "q", "w\\": ["a=", "a\\", "a"]}
    names = SequenceDictVectorizer().fit([[token]]).get_feature_names_out().tolist()
    assert names == sorted(names)


def test_columns_of_an_array_stay_in_their_order():
    names = SequenceDictVectorizer().fit([[{"v": list(range(12)), "u": "a"}]]).get_feature_names_out().tolist()
    assert names == ["u=a"] + [f"v[{k}]" for k in range(12)]


@pytest.mark.parametrize("separator", ["=", ":", "::", "->", " "])
def test_names_are_unique_whatever_the_separator(separator):
    parts = ["", "a", "=", ":", "::", "\\", "a\\", "a=", "=a", "a::", ":a", "->", "-", ">", "e[0]", "e", "[0]"]
    sequence = [{name: value} for name in parts for value in parts] + [{name: 2.0} for name in parts]
    sequence += [{"e": [1.0, 2.0]}, {"e\\": [1.0]}, {"e\\[0]": True}]
    vectorizer = SequenceDictVectorizer(separator=separator).fit([sequence])
    names = vectorizer.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == len(parts) ** 2 + len(parts) + 4 == len(vectorizer.vocabulary_)
    shown = [name for name in names if not name.startswith("e[")]  # columns of an array stay together
    assert shown == sorted(shown)


def test_vocabulary_is_keyed_by_name_and_value():
    vectorizer = SequenceDictVectorizer().fit([[{"w": "a", "n": 1, "e": [1.0, 2.0]}]])
    assert vectorizer.vocabulary_ == {("w", "a"): 3, ("n", None): 2, ("e", 0): 0, ("e", 1): 1}
    assert not hasattr(vectorizer, "n_features_in_")


def test_min_df_counts_tokens():
    corpus = [[{"w": ["a", "a"]}, {"w": "b", "n": 0}], [{"w": "b", "n": 0, "e": [1.0, 2.0]}, ["c", "c"]]]
    vectorizer = SequenceDictVectorizer(min_df=2)
    matrix = vectorizer.fit_transform(corpus)
    assert vectorizer.get_feature_names_out().tolist() == ["n", "w=b"]
    assert dense(matrix).tolist() == [[0, 0], [0, 1], [0, 1], [0, 0]]
    assert dense(vectorizer.transform(corpus)).tolist() == dense(matrix).tolist()
    with pytest.raises(ValueError, match="'e' has 1 numbers, but 2"):
        vectorizer.transform([[{"e": [1.0]}]])


def test_dtype():
    assert SequenceDictVectorizer(dtype=np.float32).fit_transform(X).dtype == np.float32
    assert SequenceDictVectorizer().fit_transform(X).dtype == np.float64
    with pytest.raises(ValueError, match=r"X\[0\]\[0\].*'a' is 1e\+300"):
        SequenceDictVectorizer(dtype=np.float32).fit([[{"a": 1e300}]])


def test_numpy_values_and_other_mappings():
    plain = [[{"s": "a", "b": True, "n": 2.0, "v": [1.0, 2.0], "l": ["x", "y"]}]]
    other = [
        [
            OrderedDict(
                s=np.str_("a"), b=np.bool_(True), n=np.float32(2), v=np.array([1, 2], dtype=np.int8), l=("x", "y")
            )
        ]
    ]
    more = [
        [UserDict(s="a", b=np.array(1), n=np.int64(2), v=np.array([1.0, 2.0], dtype=object), l=np.array(["x", "y"]))]
    ]
    vectorizer = SequenceDictVectorizer()
    expected = dense(vectorizer.fit_transform(plain))
    for corpus in (other, more):
        assert dense(vectorizer.transform(corpus)).tolist() == expected.tolist()
        assert dense(clone(vectorizer).fit_transform(corpus)).tolist() == expected.tolist()
    assert all(type(name) is str and type(value) is not np.str_ for name, value in vectorizer.vocabulary_)


def test_forms_of_a_corpus():
    vectorizer = SequenceDictVectorizer()
    expected = vectorizer.fit_transform(X)
    as_array = np.empty(len(X), dtype=object)
    as_array[:] = X
    for corpus in (tuple(X), pd.Series(X, index=[5, 3, 3, 1]), as_array, iter(X), (iter(s) for s in X)):
        assert (vectorizer.transform(corpus).values != expected.values).nnz == 0


def test_empty_sequences_and_corpora():
    vectorizer = SequenceDictVectorizer()
    assert vectorizer.fit_transform([[], X[0], [], [{}, []]]).lengths.tolist() == [0, 3, 0, 2]
    assert len(vectorizer.transform([])) == 0
    assert vectorizer.transform([[]]).values.shape == (0, 5)
    for corpus in ([], [[]], [[{}]]):
        nothing = SequenceDictVectorizer().fit(corpus)
        assert nothing.get_feature_names_out().tolist() == []
        assert nothing.transform(X).values.shape == (10, 0)
        assert nothing.vocabulary_ == {}


def test_inverse_transform():
    vectorizer = SequenceDictVectorizer()
    back = vectorizer.inverse_transform(vectorizer.fit_transform([[{"w": "a", "n": 0}, {"n": 2.5}], []]))
    assert back == [[{"w=a": 1.0}, {"n": 2.5}], []]
    with pytest.raises(ValueError, match=r"1 features.*2"):
        vectorizer.inverse_transform(SequenceMatrix(np.zeros((2, 1)), [2]))
    with pytest.raises(TypeError, match="SequenceMatrix"):
        vectorizer.inverse_transform(np.zeros((2, 2)))


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v)),
                                    lambda v: cloudpickle.loads(cloudpickle.dumps(v))])  # fmt: skip
def test_copies_behave_alike(copier):
    vectorizer = SequenceDictVectorizer(separator=":").fit(X)
    again = copier(vectorizer)
    corpus = copier(vectorizer.transform(X))
    assert (again.transform(X).values != corpus.values).nnz == 0
    assert again.get_feature_names_out().tolist() == corpus.feature_names.tolist()


def test_scikit_learn_contract():
    parameters = {"separator": ":", "min_df": 2, "dtype": np.float32, "sort": False}
    vectorizer = SequenceDictVectorizer(**parameters)
    assert vectorizer.fit(X) is vectorizer
    assert clone(vectorizer).get_params() == vectorizer.get_params() == parameters
    with pytest.raises(NotFittedError):
        clone(vectorizer).transform(X)
    tags = vectorizer.__sklearn_tags__()
    assert not tags.input_tags.two_d_array and tags.input_tags.dict
    assert len(make_pipeline(SequenceDictVectorizer()).fit_transform(X)) == 4
    first = vectorizer.fit(X).get_feature_names_out()
    assert vectorizer.fit(X[:1]).fit(X).get_feature_names_out().tolist() == first.tolist()


def test_changed_parameters_do_not_touch_a_fitted_vectorizer():
    vectorizer = SequenceDictVectorizer().fit(X)
    names = vectorizer.get_feature_names_out().tolist()
    vectorizer.set_params(separator="::", sort=False, min_df=3)
    assert vectorizer.get_feature_names_out().tolist() == names


@pytest.mark.parametrize(
    "parameters",
    [{"min_df": 0}, {"min_df": 0.5}, {"min_df": "a"}, {"separator": ""}, {"separator": "\\"}, {"separator": 3},
     {"dtype": int}, {"dtype": "no"}, {"sort": "yes"}],
)  # fmt: skip
def test_bad_parameters(parameters):
    with pytest.raises(InvalidParameterError):
        SequenceDictVectorizer(**parameters).fit(X)


BAD = [
    ("abc", TypeError, "X is a string.*such as"),
    (["abc"], TypeError, r"X\[0\] is the string 'abc'"),
    ([["abc"]], TypeError, r"X\[0\]\[0\].*string 'abc'.*\{'word': 'abc'\}"),
    ([{"w": "a"}, {"w": "b"}], TypeError, r"X\[0\] is a mapping.*\[X\]"),
    ({"w": "a"}, TypeError, "X is a mapping"),
    (3, TypeError, "X is 3"),
    ([3], TypeError, r"X\[0\] is 3"),
    ([[3]], TypeError, r"X\[0\]\[0\].*token is 3"),
    ([[("the", "DT")]], TypeError, r"X\[0\]\[0\].*tuple.*TemplateVectorizer"),
    ([[], [{"w": "a"}, {"w": None}]], TypeError, r"sequence 1, token 1.*'w' is None"),
    ([[{"w": "a"}], [{"a": {"b": 1}}]], TypeError, r"sequence 1, token 0.*'a' is \{'b': 1\}.*nested"),
    ([[{"w": b"a"}]], TypeError, "sequence 0, token 0.*'w' is b'a'"),
    ([[{"w": 1j}]], TypeError, "sequence 0, token 0.*'w' is 1j"),
    ([[{1: "a"}]], TypeError, "sequence 0, token 0.*name 1"),
    ([[{1: 2.0}]], TypeError, "sequence 0, token 0.*name 1"),
    ([[["a", 1]]], TypeError, "sequence 0, token 0.*item 1"),
    ([[["a", ["b"]]]], TypeError, r"sequence 0, token 0.*item \['b'\]"),
    ([[{"w": ["a", 1]}]], TypeError, "sequence 0, token 0.*only strings or only numbers"),
    ([[{"w": [1, "a"]}]], TypeError, "sequence 0, token 0.*only strings or only numbers"),
    ([[{"w": np.eye(2)}]], TypeError, "sequence 0, token 0.*'w' is array"),
    ([[{"w": float("nan")}]], ValueError, "sequence 0, token 0.*'w' is nan"),
    ([[{"w": np.inf}]], ValueError, "sequence 0, token 0.*'w' is inf"),
    ([[{"w": 10**400}]], ValueError, "sequence 0, token 0.*'w' is 1000"),
    ([[{"w": 10**5000}]], ValueError, "sequence 0, token 0.*'w' is a int"),
    ([[{"w": [1.0, np.nan]}]], ValueError, r"sequence 0, token 0.*'w\[1\]' is nan"),
    ([[{"w": [10**400]}]], ValueError, r"sequence 0, token 0.*'w\[0\]' is 1000"),
    ([[{"w": np.array([1.0, np.inf])}]], ValueError, r"sequence 0, token 0.*'w\[1\]' is .*inf"),
    ([[{"v": [1, 2]}, {"v": [1]}]], ValueError, "sequence 0, token 1.*'v' has 1 numbers, but 2"),
    ([[{"v": [1, 2]}, {"v": []}]], ValueError, "sequence 0, token 1.*'v' has 0 numbers, but 2"),
    (pd.DataFrame({"w": ["a"]}), TypeError, "data frame.*from_frame"),
    ([pd.DataFrame({"w": ["a"]})], TypeError, r"X\[0\] is a data frame"),
    (SequenceMatrix(np.eye(2), [2]), TypeError, "SequenceMatrix"),
]


@pytest.mark.parametrize(("corpus", "kind", "message"), BAD)
def test_bad_corpora(corpus, kind, message):
    vectorizer = SequenceDictVectorizer()
    with pytest.raises(kind, match=message):
        vectorizer.fit(corpus)
    assert not hasattr(vectorizer, "vocabulary_")
    if "numbers, but" not in message:  # the width is learnt at fit
        with pytest.raises(kind, match=message):
            vectorizer.fit(X).transform(corpus)


TEXT = st.text(alphabet="ab=:\\[0]é水", max_size=4)
NUMBER = st.one_of(st.integers(-3, 3), st.floats(-5, 5), st.booleans())
TOKEN = st.one_of(
    st.dictionaries(TEXT, st.one_of(TEXT, NUMBER, st.lists(TEXT, max_size=4)), max_size=4).flatmap(
        lambda token: st.fixed_dictionaries({"vec": st.lists(NUMBER, min_size=3, max_size=3)}).map(
            lambda vec: {**token, **vec}
        )
    ),
    st.lists(TEXT, max_size=4),
)
CORPUS = st.lists(st.lists(TOKEN, max_size=4), max_size=4)


@settings(max_examples=150, deadline=None)
@given(CORPUS, CORPUS, st.sampled_from(["=", ":", "::"]), st.booleans(), st.integers(1, 3))
def test_equals_the_slow_twin(train, test, separator, sort, min_df):
    vectorizer = SequenceDictVectorizer(separator=separator, sort=sort, min_df=min_df)
    corpus = vectorizer.fit_transform(train)
    corpus._check()
    columns = vectorizer.vocabulary_
    counts = {}
    for sequence in train:
        for token in sequence:
            for key in dict_values(token):
                counts[key] = counts.get(key, 0) + 1
    assert set(columns) == {key for key, count in counts.items() if count >= min_df}
    assert sorted(columns.values()) == list(range(len(columns)))
    if not sort:
        assert [key for key in counts if key in columns] == sorted(columns, key=columns.get)
    names = vectorizer.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == len(columns)
    np.testing.assert_allclose(dense(corpus), dict_matrix(columns, train), rtol=1e-12, atol=1e-15)
    again = vectorizer.transform(test)
    again._check()
    np.testing.assert_allclose(dense(again), dict_matrix(columns, test), rtol=1e-12, atol=1e-15)
