# SPDX-License-Identifier: BSD-3-Clause
"""What went wrong for users of other sequence labellers, each reduced to a tiny input, one test or more a case."""

import copy
import io
import os
import pickle
import stat
import subprocess
import sys
import tempfile

import joblib
import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_validate,
)
from sklearn.utils.validation import check_is_fitted
from taggers.brute import Enumeration, random_inputs, random_tagger

from sklearn_latent import LatentCRFTagger
from sklearn_latent.feature_extraction import SequenceDictVectorizer
from sklearn_latent.metrics import chunk_f1_scorer, token_accuracy_scorer

T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]]
Y = [["B-PER", "O", "B-PER"], ["B-PER", "O"], ["O"], ["B-PER", "O", "B-PER", "O"]]
X = [[{"w": t} for t in s] for s in T]
X3, Y3 = X * 3, Y * 3
DECODERS = ["ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"]
GRID = {"sigma": [0.1, 1.0], "n_latent": [1, 2]}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def crf1(**params):
    return LatentCRFTagger(**{"n_latent": 1, **params})


def weights(est):
    return [est.coef_, est.transition_coef_, est.start_coef_, est.end_coef_]


def assert_same_model(a, b, **tolerance):
    for own, other in zip(weights(a), weights(b), strict=True):
        np.testing.assert_allclose(own, other, **tolerance)


def assert_same_marginals(a, b, data, **tolerance):
    for own, other in zip(a.predict_marginals(data), b.predict_marginals(data), strict=True):
        np.testing.assert_allclose(own, other, **tolerance)


# -- estimator --------------------------------------------------------------------------------------


def test_g01_repr_clone_params():
    e = LatentCRFTagger(sigma=2.0)
    assert "sigma=2.0" in repr(e)
    assert "LatentCRFTagger" in e._repr_html_()
    assert clone(e).sigma == 2.0
    assert e.set_params(sigma=3.0).sigma == 3.0
    fitted = e.fit(X3, Y3)
    assert "sigma=3.0" in repr(fitted)
    assert fitted._repr_html_()
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(fitted))


def searches(estimator):
    options = {"cv": 2, "error_score": "raise"}
    ranges = {"sigma": uniform(0.1, 2), "n_latent": [1, 2]}
    return {
        "grid": GridSearchCV(estimator, GRID, **options),
        "random": RandomizedSearchCV(estimator, ranges, n_iter=4, random_state=0, **options),
        "halving grid": HalvingGridSearchCV(estimator, GRID, min_resources=4, random_state=0, **options),
        "halving random": HalvingRandomSearchCV(estimator, ranges, min_resources=4, random_state=0, **options),
    }


@pytest.mark.parametrize("data", ["ragged", "equal"])
@pytest.mark.parametrize("kind", ["grid", "random", "halving grid", "halving random"])
def test_g02_searches_with_an_integer_cv(kind, data):
    own = (X3, Y3) if data == "ragged" else ([X[1]] * 8, [Y[1]] * 8)
    search = searches(LatentCRFTagger(random_state=0))[kind].fit(*own)
    assert search.best_params_.keys() == GRID.keys()
    assert [len(y) for y in search.best_estimator_.predict(X)] == [3, 2, 1, 4]
    scores = search.cv_results_["mean_test_score"]
    assert ((scores >= 0) & (scores <= 1)).all()


def test_g03_scorers():
    scoring = {"token": token_accuracy_scorer, "span": chunk_f1_scorer}
    result = cross_validate(crf1(), X3, Y3, scoring=scoring, cv=3, n_jobs=2, error_score="raise")
    for name in scoring:
        assert np.isfinite(result[f"test_{name}"]).all()


def test_g04_items_and_labels_of_one_sequence_differ():
    est = crf1()
    with pytest.raises(ValueError, match=r"X\[3\] has 4 tokens but y\[3\] has 3 labels"):
        est.fit(X, [Y[0], Y[1], Y[2], ["B-PER", "O", "O"]])
    assert not hasattr(est, "classes_")


def test_g05_flat_input():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"a sequence belongs there.*\[X\]"):
        crf1().fit([{"w": "Ana"}, {"w": "met"}], ["B", "O"])
    with pytest.raises(TypeError, match=r"SequenceMatrix\(X, lengths\)"):
        crf1().fit(np.eye(4), [0, 1, 0, 1])
    frame = pandas.DataFrame({"sentence": [0, 0, 1], "w": ["Ana", "met", "rain"], "label": ["B", "O", "O"]})
    with pytest.raises(TypeError, match=r"SequenceMatrix\.from_frame"):
        crf1().fit(frame[["w"]], frame["label"])


def test_g06_empty_sequences_among_others():
    m1, m2 = crf1().fit(X3, Y3), crf1().fit([*X3, []], [*Y3, []])
    assert_same_model(m1, m2, rtol=1e-8, atol=1e-8)
    assert [len(y) for y in m2.predict([[], X[0]])] == [0, 3]
    assert m2.predict([]) == []
    assert [m.shape for m in m2.predict_marginals([[]])] == [(0, 2)]
    assert m2.score([[]], [[]]) == 1.0


@pytest.mark.parametrize("n_latent", [1, 2])
def test_g07_one_label_only(n_latent):
    y = [["O"] * len(s) for s in X3]
    est = LatentCRFTagger(n_latent=n_latent).fit(X3, y)
    assert est.classes_.tolist() == ["O"]
    assert est.predict(X3) == y
    assert all((m == 1.0).all() for m in est.predict_marginals(X3))
    np.testing.assert_allclose(est.log_likelihood(X3, y), 0.0, atol=1e-12)


def test_g08_features_never_seen():
    est = LatentCRFTagger(random_state=0).fit(X3, Y3)
    size = len(pickle.dumps(est))
    est.predict([[{"w": f"new{i}"} for i in range(start, start + 100)] for start in range(0, 5000, 100)])
    assert len(pickle.dumps(est)) == size
    unseen, empty = est.predict_marginals([[{"w": "zzz"}]])[0], est.predict_marginals([[{}]])[0]
    np.testing.assert_allclose(unseen, empty, rtol=0, atol=1e-12)


def test_g09_unfitted():
    est = LatentCRFTagger()
    for call in (lambda: est.predict(X), lambda: est.predict_marginals(X), lambda: est.score(X, Y)):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(NotFittedError):
        check_is_fitted(est)


def test_g10_a_second_fit_starts_afresh():
    m = LatentCRFTagger(random_state=5).fit(X3, Y3).fit(X3[:4], Y3[:4])
    assert_same_model(m, LatentCRFTagger(random_state=5).fit(X3[:4], Y3[:4]), rtol=0, atol=0)
    with pytest.raises(NotImplementedError, match="warm_start"):
        m.set_params(warm_start=True).fit(X3, Y3)


def test_g11_training_that_did_not_finish(capfd):
    est = LatentCRFTagger(max_iter=1)
    with pytest.warns(ConvergenceWarning) as record:
        est.fit(X3, Y3)
    assert len(record) == 1
    assert est.n_iter_ == 1
    assert not est.converged_
    assert np.isfinite(est.loss_curve_).all()
    assert (np.diff(est.loss_curve_) <= 0).all()
    assert capfd.readouterr() == ("", "")
    assert [len(y) for y in est.predict(X)] == [3, 2, 1, 4]


def test_g12_parallel_search_equals_serial_search():
    before = set(os.listdir(tempfile.gettempdir()))
    one, two = (
        GridSearchCV(LatentCRFTagger(random_state=0), GRID, cv=2, n_jobs=n, error_score="raise").fit(X3, Y3)
        for n in (1, 2)
    )
    assert one.best_params_ == two.best_params_
    np.testing.assert_allclose(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"], rtol=0, atol=1e-12
    )
    # joblib's own folders of its workers' memory maps come and go
    left = {name for name in set(os.listdir(tempfile.gettempdir())) - before if "latent" in name or "crf" in name}
    assert left == set()


def test_g13_sample_weights_mean_copies():
    weighted = crf1(tol=1e-8).fit(X, Y, sample_weight=[2, 1, 1, 0])
    copies = crf1(tol=1e-8).fit([X[0], X[0], X[1], X[2]], [Y[0], Y[0], Y[1], Y[2]])
    assert_same_marginals(weighted, copies, X, rtol=0, atol=1e-4)
    with pytest.raises(ValueError, match=r"shape \(4,\); got shape \(3,\)"):
        crf1().fit(X, Y, sample_weight=[1, 1, 1])
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1"):
        crf1().fit(X, Y, sample_weight=[-1, 1, 1, 1])


# -- decoding and probabilities ---------------------------------------------------------------------


@pytest.mark.parametrize("decoder", DECODERS)
def test_g14_decoded_path_and_marginals(decoder, rng):
    est = random_tagger(rng, decoder=decoder, mbr_metric="token_accuracy")
    data = random_inputs(rng, rng.integers(1, 8, size=50))
    found, marginals = est.predict(data), est.predict_marginals(data)
    for p, m in zip(found, marginals, strict=True):
        np.testing.assert_allclose(m.sum(axis=1), 1.0, rtol=0, atol=1e-9)
        assert m.shape == (len(p), 3)
        if decoder == "bmp":
            assert p == est.classes_[m.argmax(axis=1)].tolist()
    result = est.decode(data)
    np.testing.assert_allclose(result.log_prob, est.log_likelihood(data, result.labels), rtol=1e-10, atol=1e-10)
    for x, ((labels, p), *_) in zip(data, est.predict_nbest(data, 1), strict=True):
        np.testing.assert_allclose(np.log(p), est.log_likelihood([x], [labels])[0], rtol=1e-9, atol=1e-10)


def test_g14_columns_are_in_the_order_of_classes():
    est = crf1().fit([[{"w": "z"}, {"w": "a"}]] * 9, [["Z", "A"]] * 9)
    assert est.classes_.tolist() == ["A", "Z"]
    assert est.predict_marginals([[{"w": "z"}]])[0].argmax() == 1


def test_g15_one_state_a_label_is_a_plain_crf(rng):
    est = random_tagger(rng, n_latent=(1, 1, 1))
    data = random_inputs(rng, rng.integers(1, 5, size=200))
    truths = [Enumeration(est, x) for x in data]
    best = [truth.best[0] for truth in truths]
    for decoder in ("ldi_exact", "ldi_approx", "bhp"):
        assert est.decode(data, decoder).labels == best
    by_token = [[est.classes_[k] for k in truth.marginals().argmax(axis=1)] for truth in truths]
    assert est.decode(data, "bmp").labels == by_token
    assert est.decode(data, "mbr", mbr_metric="token_accuracy", n_paths=81).labels == by_token
    for own, truth in zip(est.predict_marginals(data), truths, strict=True):
        np.testing.assert_allclose(own, truth.marginals(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_latent", [1, 2])
def test_g16_illegal_tag_sequences(n_latent):
    train = [[{"w": "New"}, {"w": "York"}, {"w": "calls"}], [{"w": "Ana"}, {"w": "calls"}]] * 5
    y = [["B-LOC", "I-LOC", "O"], ["B-PER", "O"]] * 5
    york = {"w": "York"}
    data = [[york], [york, york], [{"w": "calls"}, york], [{"w": "Ana"}, york, york], [{"w": "New"}, york, york]]
    strict = LatentCRFTagger(n_latent=n_latent, constraints="iob2", sigma=5.0, random_state=0).fit(train, y)
    free = LatentCRFTagger(n_latent=n_latent, sigma=5.0, random_state=0).fit(train, y)

    def legal(labels):
        return all(b[0] != "I" or a[1:] == b[1:] for a, b in zip(["O", *labels[:-1]], labels, strict=True))

    for decoder in DECODERS:
        assert all(legal(labels) for labels in strict.decode(data, decoder).labels)
    assert np.isfinite(free.log_likelihood(data[:1], [["I-LOC"]])).all()  # without constraints it can come out
    assert strict.predict(data)[-1][:2] == ["B-LOC", "I-LOC"]
    for answers in strict.predict_nbest(data, 100):
        assert all(legal(labels) for labels, _ in answers)
    assert strict.log_likelihood(data[:1], [["I-LOC"]]).tolist() == [-np.inf]


# -- persistence ------------------------------------------------------------------------------------

NO_FILES = """
import os, pickle, sys, tempfile
from sklearn_latent import LatentCRFTagger
T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"]]
X = [[{"w": t} for t in s] for s in T]
Y = [["B-PER", "O", "B-PER"], ["B-PER", "O"], ["O"]]
before = sorted(os.listdir(sys.argv[1]))
for _ in range(50):
    tagger = pickle.loads(pickle.dumps(LatentCRFTagger(random_state=0, n_jobs=2, max_iter=20, tol=1e-2).fit(X, Y)))
    tagger.predict(X)
assert sorted(os.listdir(sys.argv[1])) == before
print(tagger.predict(X))
"""


@pytest.mark.parametrize("read_only", [False, True])
def test_g18_no_temporary_files(tmp_path, read_only):
    if read_only:
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", NO_FILES, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    tmp_path.chmod(stat.S_IRWXU)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == repr(Y[:3])


LOAD = """
import pickle, sys
tagger, X, found, marginals = pickle.load(open(sys.argv[1], "rb"))
assert tagger.predict(X) == found
assert all(a.tobytes() == b.tobytes() for a, b in zip(tagger.predict_marginals(X), marginals))
print(type(tagger.predict(X)[0][0]).__name__, tagger.classes_.tolist())
"""


@pytest.mark.parametrize("labels", [Y, [[7 if label == "O" else 3 for label in y] for y in Y]], ids=["str", "int"])
def test_g19_round_trips(tmp_path, labels):
    cloudpickle = pytest.importorskip("cloudpickle")
    est = LatentCRFTagger(random_state=0, edge_features=True).fit(X, labels)
    found, marginals = est.predict(X), est.predict_marginals(X)
    packed = io.BytesIO()
    joblib.dump(est, packed, compress=True)
    packed.seek(0)
    copies = [
        pickle.loads(pickle.dumps(est)), pickle.loads(cloudpickle.dumps(est)), copy.deepcopy(est), joblib.load(packed),
    ]  # fmt: skip
    for other in copies:
        assert other.predict(X) == found
        assert_same_marginals(other, est, X, rtol=0, atol=0)
        assert other.classes_.dtype == est.classes_.dtype
        assert type(other.classes_.tolist()[0]) is type(labels[0][0])
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps((est, X, found, marginals)))
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", LOAD, str(path)], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == f"{type(labels[0][0]).__name__} {est.classes_.tolist()}"


# -- features ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [":", "="])
@pytest.mark.parametrize("names", [("X", "Y"), (":", "B-a=b")])
def test_g20_signs_in_names_and_labels(sign, names):
    data = [[{"w": f"a{sign}b"}], [{f"w{sign}a": "b"}]] * 10
    y = [[names[0]], [names[1]]] * 10
    est = LatentCRFTagger().fit(data, y)
    assert est.n_features_in_ == 2
    assert est.score(data, y) == 1.0
    assert est.predict(data) == y


def test_g21_embeddings_and_dense_blocks(rng):
    vectors = {w: rng.normal(size=3) for s in T for w in s}
    arrays = [[{"w": w, "emb": vectors[w]} for w in s] for s in T]
    spelled = [[{"w": w, **{f"e{k}": v for k, v in enumerate(vectors[w])}} for w in s] for s in T]
    est = crf1(tol=1e-7).fit(arrays, Y)
    assert {"emb[0]", "emb[1]", "emb[2]", "w=Ana"} <= set(est.feature_names_in_.tolist())
    other = crf1(tol=1e-7).fit(spelled, Y)
    for a, b in zip(est.predict_marginals(arrays), other.predict_marginals(spelled), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8)
    single = [{"w": "Ana", "emb": np.array([0.1, -0.2, 0.3], "float32")}]
    assert len(est.predict([single])[0]) == 1
    short = [{"w": "Bo", "emb": np.ones(3)}, {"w": "left", "emb": np.ones(2)}]
    with pytest.raises(ValueError, match=r"\[1\].*1.*emb"):
        crf1().fit([arrays[0], short], Y[:2])
    # arrays of numbers alone and dicts of the same numbers
    blocks = [np.array([vectors[w] for w in s]) for s in T]
    spelled = [[{f"e{k}": v for k, v in enumerate(vectors[w])} for w in s] for s in T]
    a, b = crf1(support="all", tol=1e-7).fit(blocks, Y), crf1(support="all", tol=1e-7).fit(spelled, Y)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-10)
    for own, other in zip(a.predict_marginals(blocks), b.predict_marginals(spelled), strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-6)


def test_g22_repeated_and_list_valued_features():
    data = [[{"bg": ["x y", "y z", "x y"]}, ["a", "a", "b"]], [{"bg": ["y z"]}, ["b"]]] * 3
    est = crf1().fit(data, [["P", "Q"], ["Q", "P"]] * 3)
    assert est.n_features_in_ == 4
    train = est.vectorizer_.transform(data).values.toarray()
    again = SequenceDictVectorizer().fit_transform(data).values.toarray()
    np.testing.assert_array_equal(train, again)
    # the documented value of a repetition is the same at fit and at predict
    assert train[0].max() == train[1].max()


def test_g23_features_and_labels_beyond_ascii():
    words = ["水餃", "na\u00efve", "nai\u0308ve", "plain"]
    y = [["B-人名", "O", "B-人名", "O"]] * 5
    data = [[{"w": w} for w in words]] * 5
    est = crf1().fit(data, y)
    assert est.n_features_in_ == 4
    assert est.predict(data) == y
    assert all(any(w in name for name in est.feature_names_in_) for w in words)


@pytest.mark.parametrize("verbose", [0, 2])
def test_g24_generators(verbose, capfd):
    est = crf1(verbose=verbose).fit((s for s in X3), (labels for labels in Y3))
    assert bool(capfd.readouterr().out) == bool(verbose)
    assert_same_model(est, crf1().fit(X3, Y3), rtol=0, atol=0)
    assert est.predict(s for s in X3) == est.predict(X3)
    assert est.predict((token for token in s) for s in X3) == est.predict(X3)
