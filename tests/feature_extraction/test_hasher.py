# SPDX-License-Identifier: BSD-3-Clause
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.feature_extraction import FeatureHasher
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import SequenceDictVectorizer, SequenceFeatureHasher
from sklearn_latent.feature_extraction import _hasher as module

from .test_dict import BAD, CORPUS, X, dense
from .twins import dict_values


def hashed(keys, n_features, alternate_sign, separator="="):
    """Column and sign of each (name, value), by scikit-learn's hasher on a text of our own."""

    def escaped(text):
        return text.replace("\\", "\\\\").replace(separator[0], "\\" + separator[0])

    texts = []
    for name, value in keys:
        base, bracket, index = name.rpartition("[")
        if isinstance(value, str):
            texts.append(escaped(name) + separator + value)
        elif value is not None:
            texts.append(f"{escaped(name)}[{value}]")
        elif bracket and index.endswith("]") and index[:-1].isdecimal():
            texts.append(f"{escaped(base)}\\[{escaped(index)}")
        else:
            texts.append(escaped(name))
    assert len(set(texts)) == len(texts)
    rows = FeatureHasher(n_features, input_type="string", alternate_sign=alternate_sign).transform([[t] for t in texts])
    return {key: (int(rows[[i]].indices[0]), float(rows[[i]].data[0])) for i, key in enumerate(keys)}


@settings(max_examples=60, deadline=None)
@given(CORPUS)
def test_equals_the_slow_twin(corpus):
    tokens = [dict_values(token) for sequence in corpus for token in sequence]
    keys = sorted({key for token in tokens for key in token}, key=repr)
    for n_features, alternate_sign, separator in [(5, True, "="), (1000, False, "::")]:
        places = hashed(keys, n_features, alternate_sign, separator) if keys else {}
        expected = np.zeros((len(tokens), n_features))
        for row, token in zip(expected, tokens, strict=True):
            for key, number in token.items():
                row[places[key][0]] += places[key][1] * number
        hasher = SequenceFeatureHasher(n_features, alternate_sign=alternate_sign, separator=separator)
        found = hasher.transform(corpus)
        found._check()
        assert found.lengths.tolist() == [len(sequence) for sequence in corpus]
        np.testing.assert_allclose(dense(found), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alternate_sign", [True, False])
def test_columns_are_those_of_scikit_learn(alternate_sign):
    corpus = [[{"w": f"word{k}", "n": k / 7, "title": True} for k in range(40)]]
    ours = SequenceFeatureHasher(64, alternate_sign=alternate_sign).transform(corpus)
    theirs = FeatureHasher(64, alternate_sign=alternate_sign).transform(corpus[0])
    np.testing.assert_allclose(dense(ours), theirs.toarray(), rtol=1e-12, atol=1e-15)


def test_blocks_change_nothing(monkeypatch):
    corpus = [[{"w": f"a{k % 5}", "v": [k, 1.0]} for k in range(length)] for length in (0, 7, 0, 1, 13, 3, 0)]
    whole = SequenceFeatureHasher(50).transform(corpus)
    for size in (1, 2, 5):
        monkeypatch.setattr(module, "BLOCK_TOKENS", size)
        parts = SequenceFeatureHasher(50).transform(iter(corpus))
        parts._check()
        assert parts.lengths.tolist() == whole.lengths.tolist()
        assert (parts.values != whole.values).nnz == 0
    # Places and widths are those of the corpus, not of a block.
    corpus[4][9]["v"] = [1.0]
    with pytest.raises(ValueError, match=r"X\[4\]\[9\].*'v' has 1 numbers, but 2"):
        SequenceFeatureHasher(50).transform(corpus)


@pytest.mark.parametrize(("corpus", "kind", "message"), BAD)
def test_bad_corpora(corpus, kind, message):
    with pytest.raises(kind, match=message):
        SequenceFeatureHasher().transform(corpus)


def test_g08_and_g20_to_g24():
    hasher = SequenceFeatureHasher()
    size = len(pickle.dumps(hasher))
    values = hasher.transform([[{"w": "zzz"}, {}]]).values
    assert np.diff(values.indptr).tolist() == [1, 0]
    for mark in ":=":
        corpus = [[{"w": f"a{mark}b"}, {f"w{mark}a": "b"}, [f"w{mark}a{mark}b"]]]
        assert len(set(hasher.transform(corpus).values.indices.tolist())) == 3
    numbers = np.array([0.1, -0.2, 0.3], "float32")
    corpus = SequenceFeatureHasher(alternate_sign=False).transform([[{"emb": numbers, "w": "Ana"}]])
    np.testing.assert_allclose(np.sort(corpus.values.data), sorted([*numbers.tolist(), 1.0]))
    corpus = SequenceFeatureHasher(alternate_sign=False).transform([[{"bg": ["x y", "y z", "x y"]}, ["a", "a", "b"]]])
    assert [sorted(corpus.values[[t]].data.tolist()) for t in (0, 1)] == [[1, 2], [1, 2]]
    corpus = hasher.transform([[{"w": word} for word in ("水餃", "na\u00efve", "nai\u0308ve", "\ud800")]])
    assert len(set(corpus.values.indices.tolist())) == 4
    expected = hasher.transform(X).values
    assert (hasher.transform(iter(s) for s in X).values != expected).nnz == 0
    assert len(pickle.dumps(hasher)) == size


def test_scikit_learn_contract():
    parameters = {"n_features": 8, "separator": ":", "dtype": np.float32, "alternate_sign": False}
    hasher = SequenceFeatureHasher(**parameters)
    assert clone(hasher).get_params() == parameters
    reader = iter(X)
    assert hasher.fit(reader) is hasher and next(reader) is X[0]
    assert hasher.set_output(transform="pandas") is hasher
    corpus = hasher.fit_transform(iter(X))
    assert corpus.dtype == np.float32 and len(corpus) == len(X) and corpus.n_features == 8
    assert corpus.feature_names.tolist() == hasher.get_feature_names_out().tolist() == [f"hash{k}" for k in range(8)]
    again = pickle.loads(pickle.dumps(corpus))
    assert again.feature_names.tolist() == corpus.feature_names.tolist()
    tags = hasher.__sklearn_tags__()
    assert not tags.requires_fit and not tags.input_tags.two_d_array and tags.input_tags.dict
    back = hasher.inverse_transform(corpus)
    assert [len(s) for s in back] == [len(s) for s in X]
    assert sum(back[0][0].values()) == pytest.approx(dense(corpus)[0].sum())
    with pytest.raises(ValueError, match=r"2 features.*8"):
        hasher.inverse_transform(SequenceMatrix(np.zeros((1, 2)), [1]))
    assert hasher.transform([]).values.shape == (0, 8) and hasher.transform([[], [{}]]).values.shape == (1, 8)


@pytest.mark.parametrize("parameters", [{"n_features": 0}, {"n_features": 2**31}, {"n_features": 2.5}, {"dtype": int},
                                        {"separator": ""}, {"separator": "\\"}, {"alternate_sign": "no"}])  # fmt: skip
def test_bad_parameters(parameters):
    with pytest.raises(InvalidParameterError):
        SequenceFeatureHasher(**parameters).fit(X)
    with pytest.raises(InvalidParameterError):
        SequenceFeatureHasher(**parameters).transform(X)


def test_most_columns():
    corpus = SequenceFeatureHasher(2**31 - 1, alternate_sign=False).transform(X)
    assert corpus.n_features == 2**31 - 1
    assert corpus.values.indices.min() >= 0
    np.testing.assert_allclose(
        dense(SequenceDictVectorizer().fit_transform(X)).sum(axis=1), np.asarray(corpus.values.sum(axis=1)).ravel()
    )


def test_a_tagger_learns_from_hashed_features():
    y = [["B" if token["title"] else "O" for token in sequence] for sequence in X]
    tagger = LatentCRFTagger(n_latent=1, vectorizer=SequenceFeatureHasher(256)).fit(X, y)
    assert tagger.score(X, y) == 1.0
    pipeline = make_pipeline(SequenceFeatureHasher(256), LatentCRFTagger(n_latent=1)).fit(X, y)
    assert list(pipeline.predict(X)) == list(tagger.predict(iter(X))) == y
    assert list(itertools.chain.from_iterable(y)).count("B") == 5
