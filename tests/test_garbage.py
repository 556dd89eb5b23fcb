# SPDX-License-Identifier: BSD-3-Clause
"""Whatever comes in, what comes out is a result or one of the documented errors: no crash, no hang, no NaN."""

from __future__ import annotations

import copy
import gzip
import io
import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from garbage import anything, outcome, spoilt
from sklearn_latent import LabelSequences, LatentCRFTagger, RowClassifier, SequenceMatrix, SPNCRFTagger, metrics
from sklearn_latent.feature_extraction import (
    PerToken,
    SequenceDictVectorizer,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
    Window,
    sequences_from_frame,
)
from sklearn_latent.io import load_model, read_conll, save_model, write_conll

X = [[{"w": "a", "n": 1.0}, {"w": "b"}], [{"w": "a", "v": [1.0, 2.0]}], [["x", "y"]]]
Y = [["B-P", "I-P"], ["O"], ["O"]]
ROWS = [[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0]], [[0.0, 0.5]]]
WORDS = [[("Ana", "N"), ("met", "V")], [("rain", "N")], [("so", "A")]]
TAGGERS = [
    LatentCRFTagger(max_iter=3, max_search=1000, random_state=0),
    SPNCRFTagger(n_states=2, solver="lbfgs", max_iter=2, random_state=0),
]

quick = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
)


def times(n: int):
    """Number of inputs tried; ``SKLEARN_LATENT_EXAMPLES=50`` in the environment tries fifty times as many."""
    return settings(quick, max_examples=n * int(os.environ.get("SKLEARN_LATENT_EXAMPLES", "1")))


@pytest.fixture(autouse=True)
def quiet():
    """Warnings are not what this is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fitted(tagger, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return copy.deepcopy(tagger).fit(X, y)


either = st.sampled_from([X, ROWS])


def no_nan(found) -> None:
    for rows in found:
        assert np.isfinite(np.asarray(rows, dtype=float)).all()


# -- taggers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tagger", TAGGERS, ids=lambda est: type(est).__name__)
@given(st.data())
@times(90)
def test_fit(tagger, data):
    right = data.draw(either)
    own_X = data.draw(st.one_of(st.just(right), spoilt(right), anything))
    own_y = data.draw(st.one_of(st.just(Y), spoilt(Y), anything))
    weight = data.draw(st.one_of(st.none(), st.none(), spoilt([1.0, 2.0, 0.5]), anything))
    est = copy.deepcopy(tagger)
    if outcome(lambda: est.fit(own_X, own_y, sample_weight=weight)) is None:
        assert not hasattr(est, "classes_")
    else:
        assert np.isfinite(est.loss_curve_).all() and np.isfinite(est.objective_)
        no_nan(est.predict_marginals(right if hasattr(est, "vectorizer_") == (right is X) else [[]]))


@pytest.mark.parametrize("right", [X, ROWS], ids=["tokens", "numbers"])
@pytest.mark.parametrize("tagger", TAGGERS, ids=lambda est: type(est).__name__)
def test_answers(tagger, right):
    est = fitted(tagger, right, Y)
    expected = [rows.tobytes() for rows in est.predict_marginals(right)]

    @given(st.data())
    @times(60)
    def ask(data):
        given_X = data.draw(st.one_of(spoilt(right), anything))
        method = data.draw(
            st.sampled_from(["predict", "decode", "predict_marginals", "predict_latent", "predict_spans"])
        )
        found = outcome(lambda: getattr(est, method)(given_X))
        if found is not None and method == "predict_marginals":
            no_nan(found)
        for method in ("score", "log_likelihood"):
            given_y = data.draw(st.one_of(spoilt(Y), anything))
            found = outcome(lambda method=method, y=given_y: getattr(est, method)(right, y))
            assert found is None or not np.isnan(found).any()
        given_y = data.draw(st.one_of(spoilt(Y), anything))
        outcome(lambda: est.predict(right, fixed=given_y))
        outcome(lambda: est.predict_nbest(right, data.draw(anything)))
        outcome(lambda: est.predict_spans(right, data.draw(spoilt([[(0, 1, "P")], [], []]))))
        outcome(lambda: est.predict_spans(right, scheme=data.draw(anything)))

    ask()
    assert [rows.tobytes() for rows in est.predict_marginals(right)] == expected


@pytest.mark.parametrize("tagger", TAGGERS, ids=lambda est: type(est).__name__)
@given(st.data())
@times(60)
def test_parameters(tagger, data):
    """Parameters may be anything too. Those that ask for time or memory get small numbers only."""
    name = data.draw(st.sampled_from(sorted(tagger.get_params())))
    value = data.draw(anything)
    costly = isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and abs(value) > 100
    if costly and name not in ("sigma", "tol", "alpha", "learning_rate", "init_scale"):
        return
    est = copy.deepcopy(tagger).set_params(**{name: value})
    found = outcome(lambda: est.fit(X, Y))
    if found is not None and name != "callback":
        outcome(lambda: est.predict(X))
    est = fitted(tagger, X, Y)
    option = data.draw(st.sampled_from(["decoder", "n_paths", "alpha", "mbr_metric", "max_search", "epsilon", "x"]))
    if not callable(value):
        outcome(lambda: est.decode(X, **{option: value}))


@given(st.data())
@times(36)
def test_from_weights(data):
    right = [["a", "b"], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]
    own = data.draw(spoilt(right))
    if isinstance(own, list) and len(own) == 3:
        name = data.draw(st.sampled_from(["start_coef", "end_coef", "edge_coef", "state_labels", "feature_names"]))
        extra = data.draw(st.one_of(st.none(), spoilt([0, 1]), anything))
        est = outcome(lambda: LatentCRFTagger.from_weights(*own, **{name: extra}))
        if est is not None:
            no_nan(outcome(lambda: est.predict_marginals([np.ones((2, est.n_features_in_))])) or [])


@given(st.data())
@times(24)
def test_rows(data):
    own_X, own_y = data.draw(spoilt([[1.0, 0.0], [0.0, 1.0]])), data.draw(spoilt(["a", "b"]))
    outcome(lambda: RowClassifier(LatentCRFTagger(1, max_iter=2)).fit(own_X, own_y))


# -- transformers -----------------------------------------------------------------------------------

TRANSFORMERS = [
    (SequenceDictVectorizer(), X),
    (SequenceFeatureHasher(16), X),
    (TemplateVectorizer(), WORDS),
    (TemplateVectorizer("bio-ner"), WORDS),
    (Window(), ROWS),
    (PerToken(StandardScaler()), ROWS),
    (SequenceUnion([("a", TemplateVectorizer(["%x[0,0]"])), ("b", TemplateVectorizer(["%x[0,1]"]))]), WORDS),
    (SequenceUnion([("a", "passthrough"), ("b", Window())]), ROWS),
]


@pytest.mark.parametrize(("transformer", "right"), TRANSFORMERS, ids=lambda v: type(v).__name__)
@given(st.data())
@times(60)
def test_transformers(transformer, right, data):
    own = data.draw(st.one_of(spoilt(right), anything))
    ready = copy.deepcopy(transformer).fit(right)
    call = data.draw(st.sampled_from([copy.deepcopy(transformer).fit_transform, ready.transform]))
    found = outcome(lambda: call(own))
    if found is not None:
        found._check()
        values = found.values.data if sp.issparse(found.values) else found.values
        assert np.isfinite(values).all() or get_tags(transformer).input_tags.allow_nan
    for method in ("inverse_transform", "get_feature_names_out"):
        if hasattr(ready, method):
            given_ = data.draw(anything)
            outcome(lambda method=method, given_=given_: getattr(ready, method)(given_))


@pytest.mark.parametrize(("transformer", "right"), TRANSFORMERS, ids=lambda v: type(v).__name__)
@given(st.data())
@times(20)
def test_parameters_of_transformers(transformer, right, data):
    name = data.draw(st.sampled_from(sorted(transformer.get_params(deep=False))))
    value = data.draw(anything)
    number = isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64)
    if number and abs(int(value)) > 1000:
        return  # a window of that many tokens is a wish, if not a good one
    est = copy.deepcopy(transformer)
    outcome(lambda: est.set_params(**{name: value}).fit(right).transform(right))


@given(st.data())
@times(90)
def test_containers(data):
    right = {"X": ROWS[0], "lengths": [1, 1], "feature_names": ["a", "b"], "edge_only": [True, False]}
    own = data.draw(spoilt(right))
    if isinstance(own, dict) and own.keys() == right.keys():
        matrix = outcome(lambda: SequenceMatrix(**own))
        if matrix is not None:
            matrix._check()
            outcome(lambda: matrix.feature_names)
    matrix = SequenceMatrix(np.eye(3), [2, 1])
    for indexed in (matrix, LabelSequences([["a"], ["b"]])):
        key = data.draw(anything)
        try:
            outcome(lambda indexed=indexed, key=key: indexed[key])
        except IndexError as error:  # as lists have it
            assert str(error)
    outcome(lambda: SequenceMatrix.hstack(data.draw(anything)))


@given(st.data())
@times(36)
def test_frames(data):
    import pandas as pd

    cells = data.draw(st.lists(anything, min_size=2, max_size=2))
    frame = pd.DataFrame({"g": [1, 1], "w": ["a", "b"], "n": [1.0, 2.0], "x": pd.Series(cells, dtype=object)})
    for name in ("x", data.draw(anything)):
        for make in (
            lambda name=name: SequenceMatrix.from_frame(frame, "g", ["n", name]),
            lambda name=name: SequenceMatrix.from_frame(frame, name, "n"),
            lambda name=name: LabelSequences.from_frame(frame, "g", name),
            lambda name=name: sequences_from_frame(frame, "g", [name]),
            lambda name=name: sequences_from_frame(frame, "g", name, as_dicts=True),
        ):
            outcome(make)
    other = data.draw(anything)
    outcome(lambda: SequenceMatrix.from_frame(other, "g", "n"))
    outcome(lambda: sequences_from_frame(other, "g", "n"))


# -- metrics ----------------------------------------------------------------------------------------

SCORES = [
    "chunk_f1_score", "chunk_precision_recall_fscore_support", "chunk_classification_report", "token_f1_score",
    "token_classification_report", "token_error_rate", "sequence_accuracy_score",
]  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
@given(st.data())
@times(36)
def test_scores(name, data):
    score = getattr(metrics, name)
    a, b = (data.draw(st.one_of(st.just(Y), spoilt(Y), anything)) for _ in "ab")
    found = outcome(lambda: score(a, b))
    assert not isinstance(found, float) or np.isfinite(found)
    option = data.draw(st.sampled_from(["average", "scheme", "invalid", "zero_division", "ignore", "output_dict"]))
    value = data.draw(anything)
    outcome(lambda: score(Y, Y, **{option: value}))


@given(st.data())
@times(60)
def test_other_metrics(data):
    one = data.draw(st.one_of(spoilt(Y[0]), anything))
    outcome(lambda: metrics.get_chunks(one))
    a = data.draw(spoilt(Y))
    outcome(lambda: metrics.convert_labels(a, "iob2", "iobes"))
    outcome(lambda: metrics.convert_labels(Y, data.draw(anything), data.draw(anything)))
    outcome(lambda: metrics.mcnemar_test(Y, a, Y))
    outcome(lambda: metrics.randomization_test(Y, Y, a, metric="chunk_f1", n_permutations=5, random_state=0))
    value = data.draw(anything)
    if not isinstance(value, int) or abs(value) < 100:
        outcome(lambda: metrics.randomization_test(Y, Y, Y, metric="token_accuracy", n_permutations=value))
    if not callable(value):
        outcome(lambda: metrics.randomization_test(Y, Y, Y, metric=value, n_permutations=5))


# -- files ------------------------------------------------------------------------------------------

LINES = b"EU NNP B-ORG\nrejects VBZ O\n\n-DOCSTART- -X- O\n\n# c\nBonn\tNNP\tB-LOC\r\n"


@st.composite
def damaged(draw, right: bytes) -> bytes:
    """Cut, changed, mixed with any bytes."""
    how = draw(st.sampled_from(["cut", "bytes", "insert", "any", "gzip", "cut gzip"]))
    if how == "any":
        return draw(st.binary(max_size=60))
    if how == "gzip":
        return gzip.compress(draw(st.binary(max_size=60)))
    if how == "cut gzip":
        packed = gzip.compress(right)
        return packed[: draw(st.integers(0, len(packed)))]
    k = draw(st.integers(0, len(right)))
    if how == "cut":
        return right[:k]
    if how == "insert":
        return right[:k] + draw(st.binary(max_size=8)) + right[k:]
    changed = bytearray(right)
    for _ in range(draw(st.integers(1, 4))):
        changed[draw(st.integers(0, len(right) - 1))] = draw(st.integers(0, 255))
    return bytes(changed)


@given(st.data())
@times(240)
def test_read_conll(data):
    raw = data.draw(damaged(LINES))
    label = data.draw(st.sampled_from([-1, 0, 1, None, 7]))
    separator = data.draw(st.sampled_from([None, " ", "\t", ","]))
    comments = data.draw(st.booleans())
    found = outcome(
        lambda: read_conll(
            io.BytesIO(raw), label=label, separator=separator, comments=comments, return_documents=label is not None
        )
    )
    if found is not None and label is not None:
        tokens, labels, documents = found
        assert [len(x) for x in tokens] == [len(y) for y in labels] and len(documents) == len(tokens)
        assert all(tokens) and not any("\n" in str(t) or "\r" in str(t) for x in tokens for t in x)


@given(st.data())
@times(36)
def test_options_of_the_readers(tmp_path_factory, data):
    value = data.draw(anything)
    if not isinstance(value, int):  # the number of an open file
        for read in (read_conll, load_model):
            try:
                outcome(lambda read=read: read(value))
            except OSError as error:  # no such file
                assert isinstance(value, (str, bytes)) and str(error)
    option = data.draw(st.sampled_from(["label", "separator", "comments", "return_documents"]))
    outcome(lambda: read_conll(io.BytesIO(LINES[:30]), **{option: data.draw(anything)}))
    path = tmp_path_factory.mktemp("model") / "m.zip"
    outcome(lambda: save_model(value, path))
    assert not path.exists()
    save_model(Window().fit(ROWS), path)
    outcome(lambda: load_model(path, mmap_mode=data.draw(anything)))


@given(st.data())
@times(120)
def test_write_conll(data):
    tokens = data.draw(st.one_of(spoilt(WORDS), anything))
    labels = data.draw(st.one_of(st.none(), st.just(Y), spoilt(Y)))
    target = io.BytesIO()
    if outcome(lambda: (write_conll(target, tokens, labels),)) and isinstance(tokens, list) and tokens:
        back = read_conll(io.BytesIO(target.getvalue()), label=None if labels is None else -1)
        assert len(back if labels is None else back[0]) == len(tokens)
