# SPDX-License-Identifier: BSD-3-Clause
"""What went wrong for users of other tools: the halves of the public cases that concern features."""

import pickle

import numpy as np
import pytest

from sklearn_latent.feature_extraction import SequenceDictVectorizer, TemplateVectorizer

T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]]
X = [[{"w": word} for word in words] for words in T]


def dense(corpus):
    return corpus.values.toarray()


def test_g08_unseen_features_and_empty_tokens():
    vectorizer = SequenceDictVectorizer().fit(X)
    size = len(pickle.dumps(vectorizer))
    corpus = vectorizer.transform([[{"w": f"new{k}"}] for k in range(5000)])
    assert corpus.values.nnz == 0
    vectorizer.transform([[{f"n{k}": 1.0, f"v{k}": [1.0, 2.0]}, [f"i{k}"]] for k in range(500)])
    assert len(pickle.dumps(vectorizer)) == size
    assert dense(vectorizer.transform([[{"w": "zzz"}]])).tolist() == dense(vectorizer.transform([[{}]])).tolist()


@pytest.mark.parametrize("mark", [":", "="])
@pytest.mark.parametrize("separator", [":", "="])
def test_g20_marks_in_names(mark, separator):
    vectorizer = SequenceDictVectorizer(separator=separator)
    corpus = vectorizer.fit_transform([[{"w": f"a{mark}b"}], [{f"w{mark}a": "b"}], [[f"w{mark}a{mark}b"]]])
    assert dense(corpus).sum(axis=1).tolist() == [1, 1, 1]
    assert dense(corpus).sum(axis=0).tolist() == [1, 1, 1]
    assert len(set(vectorizer.get_feature_names_out())) == 3
    with pytest.raises(TypeError, match="nested"):
        vectorizer.fit([[{"a": {"b": 1}}]])


def test_g21_embeddings():
    numbers = np.array([0.1, -0.2, 0.3], "float32")
    vectorizer = SequenceDictVectorizer()
    corpus = vectorizer.fit_transform([[{"w": "Ana", "emb": numbers}]])
    assert vectorizer.get_feature_names_out().tolist() == ["emb[0]", "emb[1]", "emb[2]", "w=Ana"]
    np.testing.assert_allclose(dense(corpus), [[*numbers.tolist(), 1.0]], rtol=1e-12)
    spelled = [[{"w": "Ana", **{f"emb[{k}]": float(number) for k, number in enumerate(numbers)}}]]
    again = SequenceDictVectorizer()
    np.testing.assert_allclose(dense(again.fit_transform(spelled)), dense(corpus), rtol=1e-12)
    assert again.get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()
    for method in (vectorizer.transform, SequenceDictVectorizer().fit):
        with pytest.raises(ValueError, match=r"X\[1\]\[1\].*sequence 1, token 1.*'emb'.*2 numbers, but 3"):
            method([[{"w": "Ana", "emb": numbers}], [{"w": "Bo"}, {"emb": numbers[:2]}]])


def test_g22_repeated_features_add_up():
    vectorizer = SequenceDictVectorizer()
    corpus = vectorizer.fit_transform([[{"bg": ["x y", "y z", "x y"]}, ["a", "a", "b"]]])
    assert vectorizer.get_feature_names_out().tolist() == ["a", "b", "bg=x y", "bg=y z"]
    expected = [[0, 0, 2, 1], [2, 1, 0, 0]]
    assert dense(corpus).tolist() == expected
    assert dense(vectorizer.transform([[{"bg": ["x y", "y z", "x y"]}, ["a", "a", "b"]]])).tolist() == expected


def test_g23_other_scripts():
    words = ["水餃", "na\u00efve", "nai\u0308ve"]
    vectorizer = SequenceDictVectorizer()
    corpus = vectorizer.fit_transform([[{"w": word} for word in words]])
    assert dense(corpus).sum(axis=0).tolist() == [1, 1, 1]
    assert set(vectorizer.get_feature_names_out()) == {f"w={word}" for word in words}


def test_g24_generators():
    for vectorizer, corpus in ((SequenceDictVectorizer(), X), (TemplateVectorizer(), T)):
        expected = vectorizer.fit_transform(corpus)
        again = vectorizer.fit_transform(s for s in corpus)
        assert again.n_tokens == 10
        assert (again.values != expected.values).nnz == 0
        assert (vectorizer.transform(iter(s) for s in corpus).values != expected.values).nnz == 0
