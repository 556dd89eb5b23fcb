# SPDX-License-Identifier: BSD-3-Clause
"""G20 to G24: names with signs in them, dense blocks, repetitions, other scripts, generators."""

import numpy as np
import pytest
from sklearn.base import clone

from cases.helpers import assert_same_weights
from sklearn_latent.feature_extraction import SequenceDictVectorizer


@pytest.mark.parametrize("sign", [":", "=", "\\", "[0]", "\n", " ", "::", "\\="])
@pytest.mark.parametrize("names", [("X", "Y"), (":", "B-a=b")])
def test_g20_signs_in_names_and_labels(tagger, sign, names):
    data = [[{"w": f"a{sign}b"}], [{f"w{sign}a": "b"}]] * 10
    y = [[names[0]], [names[1]]] * 10
    est = tagger().fit(data, y)
    assert est.n_features_in_ == 2
    assert est.score(data, y) == 1.0
    assert est.predict(data) == y
    assert len(set(est.feature_names_in_)) == 2


def test_g20_features_that_look_alike(tagger):
    """One name and value, in every way that joins to the same text: each is a feature of its own."""
    tokens = [{"a=b": "c"}, {"a": "b=c"}, {"a=b=c": True}, {"a": ["b=c", "x"]}, {"v": [1.0, 2.0]}, {"v[0]": 1.0}]
    vectorizer = SequenceDictVectorizer().fit([tokens])
    names = vectorizer.get_feature_names_out()
    assert len(set(names)) == len(names) == 7
    y = [["1", "2", "3", "2", "5", "6"]] * 5
    assert tagger(sigma=10.0).fit([tokens] * 5, y).predict([tokens]) == [y[0]]


def test_g21_embeddings_and_dense_blocks(tagger, toy, rng):
    T, Y = toy.T, toy.Y
    vectors = {w: rng.normal(size=3) for s in T for w in s}
    arrays = [[{"w": w, "emb": vectors[w]} for w in s] for s in T]
    spelled = [[{"w": w, **{f"e{k}": v for k, v in enumerate(vectors[w])}} for w in s] for s in T]
    est = tagger.crf1(tol=1e-7).fit(arrays, Y)
    assert {"emb[0]", "emb[1]", "emb[2]", "w=Ana"} <= set(est.feature_names_in_.tolist())
    other = tagger.crf1(tol=1e-7).fit(spelled, Y)
    for a, b in zip(est.predict_marginals(arrays), other.predict_marginals(spelled), strict=True):
        # columns stand in another order, and so sums: what training makes of rounding
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8 if tagger.cls.__name__ == "LatentCRFTagger" else 1e-5)
    single = [{"w": "Ana", "emb": np.array([0.1, -0.2, 0.3], "float32")}]
    assert len(est.predict([single])[0]) == 1
    short = [{"w": "Bo", "emb": np.ones(3)}, {"w": "left", "emb": np.ones(2)}]
    for call in (lambda: tagger().fit([arrays[0], short], Y[:2]), lambda: est.predict([arrays[0], short])):
        with pytest.raises(ValueError, match=r"\[1\].*1.*emb"):
            call()
    # arrays of numbers alone and dicts of the same numbers
    blocks = [np.array([vectors[w] for w in s]) for s in T]
    spelled = [[{f"e{k}": v for k, v in enumerate(vectors[w])} for w in s] for s in T]
    options = {"support": "all"} if "support" in est.get_params() else {}
    a = tagger.crf1(tol=1e-7, **options).fit(blocks, Y)
    b = tagger.crf1(tol=1e-7, **options).fit(spelled, Y)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-8)
    for own, other in zip(a.predict_marginals(blocks), b.predict_marginals(spelled), strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "value", [{"b": 1}, None, object(), np.ones((2, 2)), {1, 2}, [[1.0], [2.0]], [1.0, "a"], 1j, float("nan"),
              np.array(["a", "b"], dtype=object), b"bytes"],
    ids=repr,
)  # fmt: skip
def test_g21_values_that_are_no_features(tagger, toy, value):
    """A result that says what it is, or an error with the place; never a feature nobody meant."""
    bad = [*toy.X[:2], [{"w": "rain"}, {"x": value}], toy.X[3]]
    y = [*toy.Y[:2], ["O", "O"], toy.Y[3]]
    try:
        est = tagger().fit(bad, y)
    except (ValueError, TypeError) as error:
        assert "X[2][1]" in str(error) and "'x" in str(error)
    else:
        assert any(str(name).startswith("x") for name in est.feature_names_in_)
        assert isinstance(value, (list, np.ndarray))


def test_g22_repeated_and_list_valued_features(tagger):
    data = [[{"bg": ["x y", "y z", "x y"]}, ["a", "a", "b"]], [{"bg": ["y z"]}, ["b"]]] * 3
    est = tagger().fit(data, [["P", "Q"], ["Q", "P"]] * 3)
    assert est.n_features_in_ == 4
    train = est.vectorizer_.transform(data).values.toarray()
    again = SequenceDictVectorizer().fit_transform(data).values.toarray()
    np.testing.assert_array_equal(train, again)
    assert train[0].max() == train[1].max() == 2  # as documented: they add up


def test_g23_features_and_labels_beyond_ascii(tagger, tmp_path):
    words = ["水餃", "na\u00efve", "nai\u0308ve", "plain"]
    y = [["B-人名", "O", "B-人名", "O"]] * 5
    data = [[{"w": w} for w in words]] * 5
    est = tagger().fit(data, y)
    assert est.n_features_in_ == 4
    assert est.predict(data) == y
    assert all(any(w in name for name in est.feature_names_in_) for w in words)


@pytest.mark.parametrize("verbose", [0, 2])
def test_g24_generators(tagger, toy, verbose, capfd):
    X3, Y3 = toy.X3, toy.Y3
    est = tagger(verbose=verbose).fit((s for s in X3), (labels for labels in Y3))
    assert bool(capfd.readouterr().out) == bool(verbose)
    lists = tagger().fit(X3, Y3)
    assert_same_weights(tagger.weights(est), tagger.weights(lists))
    assert est.predict(s for s in X3) == lists.predict(X3)
    assert est.predict((token for token in s) for s in X3) == lists.predict(X3)
    assert est.score((s for s in X3), iter(Y3)) == lists.score(X3, Y3)
    assert est.log_likelihood(iter(X3), (iter(y) for y in Y3)).tolist() == lists.log_likelihood(X3, Y3).tolist()
    assert est.predict_nbest(iter(X3), 2) == lists.predict_nbest(X3, 2)
    for method in ("predict_marginals", "predict_latent", "predict_latent_marginals"):
        own, other = getattr(est, method)(iter(X3)), getattr(lists, method)(X3)
        assert all(np.array_equal(a, b) for a, b in zip(own, other, strict=True))
    assert est.decode(iter(X3)).log_prob.tolist() == lists.decode(X3).log_prob.tolist()
    assert est.predict_spans(iter(X3)) == lists.predict_spans(X3)


def test_g24_an_iterator_that_is_used_up(tagger, toy):
    """Nothing is trained on nothing: an iterator that somebody has read gives an error."""
    used = iter(toy.X3)
    list(used)
    with pytest.raises(ValueError):
        tagger().fit(used, toy.Y3)
    with pytest.raises(ValueError):
        tagger().fit(iter(toy.X3[:4]), iter(toy.Y3))
    est = clone(tagger())
    with pytest.raises(ValueError, match="no label"):
        est.fit(iter([]), iter([]))
    with pytest.raises(ZeroDivisionError):  # the user's own error, not hidden
        est.fit((1 / 0 for _ in range(3)), toy.Y3)
