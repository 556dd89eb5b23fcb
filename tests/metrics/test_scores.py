# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_latent import LabelSequences
from sklearn_latent.metrics import (
    chunk_f1_score,
    chunk_precision_recall_fscore_support,
    sequence_accuracy_score,
)
from sklearn_latent.metrics._sequence_scores import token_accuracy

from .twins import SCHEME_PREFIXES, conlleval_counts, label_pairs

STRICT = {"scheme": "iob2", "invalid": "discard"}
prfs = chunk_precision_recall_fscore_support


# -- known cases, counted with the CoNLL script, with seqeval and by hand ---------------------------


@pytest.mark.parametrize(
    ("true", "pred", "options", "expected"),
    [
        (["B-P", "I-P"], ["I-P", "I-P"], {}, (1, 1, 1)),  # a stray I at the start
        (["B-P", "I-P"], ["I-P", "I-P"], STRICT, (0, 0, 0)),
        (["B-P", "B-P"], ["B-P", "I-P"], {}, (0, 0, 0)),  # two adjacent chunks of one type
        (["B-P", "B-P"], ["B-P", "I-P"], STRICT, (0, 0, 0)),
        (["B-P", "I-P"], ["B-P", "I-L"], {}, (0, 0, 0)),  # the type changes inside
        (["B-P", "I-P"], ["B-P", "I-L"], STRICT, (0, 0, 0)),
        (["U-P", "U-P"], ["U-P", "U-P"], {"scheme": "bilou"}, (1, 1, 1)),  # single-token chunks in a row
        (["S-P", "S-P"], ["S-P", "S-P"], {"scheme": "iobes"}, (1, 1, 1)),
        (["S-P", "S-P"], ["S-P", "S-P"], {}, (1, 1, 1)),
        (list("OOBIIIIO"), list("OOBIIBIO"), {}, (0, 0, 0)),  # no types
        (["B-A", "O"], ["B-A", "B-B"], {}, (1 / 2, 1, 2 / 3)),  # a type only in the predictions
    ],
)
def test_micro_by_hand(true, pred, options, expected):
    assert_allclose(prfs([true], [pred], average="micro", zero_division=0.0, **options)[:3], expected, rtol=1e-12)
    f1 = chunk_f1_score([true], [pred], **options)
    assert type(f1) is float
    assert_allclose(f1, expected[2], rtol=1e-12)


def test_support_of_single_token_chunks():
    assert prfs([["U-P", "U-P"]], [["U-P", "U-P"]])[3].tolist() == [2]


def test_undefined_precision_follows_zero_division():
    assert prfs([["B-P", "I-P"]], [["I-P", "I-P"]], average="micro", zero_division=1.0, **STRICT)[:3] == (1.0, 0.0, 0.0)


def test_malformed_chunk_is_named():
    with pytest.raises(ValueError, match=r"y_pred, sequence 0, position 1: 'I-L'"):
        chunk_f1_score([["B-P", "I-P"]], [["B-P", "I-L"]], invalid="raise")
    with pytest.raises(ValueError, match=r"y_true, sequence 2, position 0: 'I-P'"):
        chunk_f1_score([["O"], [], ["I-P"]], [["O"], [], ["O"]], invalid="raise", scheme="iob2")


def test_nothing_to_find():
    y = [["O", "O"], ["O"]]
    with pytest.warns(UndefinedMetricWarning, match="F-score of all types") as record:
        assert chunk_f1_score(y, y) == 0.0
    assert len(record) == 1
    assert record[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning, match="Precision .*, Recall .*, F-score") as record:
        assert prfs(y, y, average="micro") == (0.0, 0.0, 0.0, None)
    assert len(record) == 1
    for average in ("micro", "macro", "weighted"):
        assert chunk_f1_score(y, y, average=average, zero_division=0) == 0.0
        assert chunk_f1_score(y, y, average=average, zero_division=1) == 1.0
        assert np.isnan(chunk_f1_score(y, y, average=average, zero_division=np.nan))
    assert chunk_f1_score(y, y, average=None).shape == (0,)
    assert [a.shape for a in prfs(y, y)] == [(0,)] * 4
    assert token_accuracy(y, y) == 1.0
    with pytest.warns(UndefinedMetricWarning):
        assert chunk_f1_score([], []) == 0.0


def test_labels_without_prefix_are_named():
    with pytest.raises(ValueError, match="'ADJ'"):
        chunk_f1_score([["ADJ", "NOUN", "X"]], [["ADJ", "VERB", "X"]])
    assert token_accuracy([["ADJ", "NOUN", "X"]], [["ADJ", "VERB", "X"]]) == pytest.approx(2 / 3)


def test_type_only_in_the_predictions():
    y_true, y_pred = [["B-A", "O"]], [["B-A", "B-B"]]
    assert chunk_f1_score(y_true, y_pred, average="macro") == 0.5
    assert chunk_f1_score(y_true, y_pred, average="weighted") == 1.0
    with pytest.warns(UndefinedMetricWarning, match="set to 0.0: Recall of 'B'") as record:
        precision, recall, fscore, support = prfs(y_true, y_pred)
    assert len(record) == 1
    assert (precision.tolist(), recall.tolist(), fscore.tolist()) == ([1, 0], [1, 0], [1, 0])
    assert support.tolist() == [1, 0] and support.dtype == np.int64


def test_beta():
    y_true, y_pred = [["B-A", "O"]], [["B-A", "B-B"]]
    p, r, f, _ = prfs(y_true, y_pred, beta=2.0, average="micro")
    assert_allclose(f, 5 * p * r / (4 * p + r), rtol=1e-12)


# -- parity ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefixes", ["BI", "IE", "BIES", "BILU"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_micro_is_that_of_the_conll_script(prefixes, data):
    y_true, y_pred = data.draw(label_pairs(prefixes))
    right, found, wanted = conlleval_counts(y_true, y_pred)
    precision, recall, fscore, _ = prfs(y_true, y_pred, average="micro", zero_division=0.0)
    assert_allclose(precision, right / found if found else 0.0, rtol=1e-12)
    assert_allclose(recall, right / wanted if wanted else 0.0, rtol=1e-12)
    assert_allclose(fscore, 2 * right / (found + wanted) if found + wanted else 0.0, rtol=1e-12)


@pytest.mark.parametrize("name", ["IOB2", "IOBES", "BILOU"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_agrees_with_seqeval_strict(name, data):
    metrics, scheme = pytest.importorskip("seqeval.metrics.v1"), pytest.importorskip("seqeval.scheme")
    y_true, y_pred = data.draw(label_pairs(SCHEME_PREFIXES[name.lower()]))
    ours = {"scheme": name.lower(), "invalid": "discard", "zero_division": 0.0}
    if not any(label != "O" for y in (*y_true, *y_pred) for label in y):
        return
    for average in ("micro", "macro", None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # seqeval on numpy 2
            theirs = metrics.precision_recall_fscore_support(
                y_true, y_pred, average=average, scheme=getattr(scheme, name), zero_division=0
            )
        mine = prfs(y_true, y_pred, average=average, **ours)
        if average is not None or len(mine[0]) == len(theirs[0]):  # seqeval keeps a type whose chunks all fell away
            if average == "macro" and not mine[2]:
                continue
            for a, b in zip(mine[:3], theirs[:3], strict=True):
                assert_allclose(a, b, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_identities(data):
    y_true, y_pred = data.draw(label_pairs("BI"))
    ours = {"zero_division": 1.0}
    assert chunk_f1_score(y_true, y_true, **ours) == 1.0
    assert chunk_f1_score(y_true, y_pred, **ours) == chunk_f1_score(y_pred, y_true, **ours)
    assert chunk_f1_score(y_true + y_true, y_pred + y_pred, **ours) == pytest.approx(
        chunk_f1_score(y_true, y_pred, **ours)
    )
    assert chunk_f1_score(y_true[::-1], y_pred[::-1], **ours) == chunk_f1_score(y_true, y_pred, **ours)
    per_type, support = prfs(y_true, y_pred, **ours)[2:]
    if support.sum():
        weighted = chunk_f1_score(y_true, y_pred, average="weighted", **ours)
        assert_allclose(weighted, np.average(per_type, weights=support), rtol=1e-12)
    if len(per_type):
        assert_allclose(chunk_f1_score(y_true, y_pred, average="macro", **ours), per_type.mean(), rtol=1e-12)


# -- forms and errors ------------------------------------------------------------------------------


def test_forms_of_y():
    y_true, y_pred = [["B-A", "I-A"], ["O", "B-A"]], [["B-A", "I-A"], ["B-A", "O"]]
    objects = np.empty(2, dtype=object)
    objects[:] = [np.array(y) for y in y_pred]
    for form in (np.array(y_pred), objects, LabelSequences(y_pred), tuple(map(tuple, y_pred)), iter(y_pred)):
        assert chunk_f1_score(y_true, form) == 0.5
    for form in (np.array(y_pred), objects, LabelSequences(y_pred), iter(y_pred)):
        assert sequence_accuracy_score(y_true, form) == 0.5


@pytest.mark.parametrize("score", [chunk_f1_score, prfs, sequence_accuracy_score, token_accuracy])
def test_lengths_that_differ(score):
    with pytest.raises(ValueError, match="y_true has 1 sequences but y_pred has 2"):
        score([["B-A"]], [["B-A"], ["O"]])
    with pytest.raises(ValueError, match=r"sequence 1: y_true\[1\] has 2 labels but y_pred\[1\] has 1"):
        score([["O"], ["O", "O"], ["O"]], [["O"], ["O"], []])
    with pytest.raises(TypeError, match="one list of labels a sequence"):
        score(["B-A", "O"], ["B-A", "O"])


@pytest.mark.parametrize("score", [chunk_f1_score, prfs])
@pytest.mark.parametrize(
    "options",
    [{"average": "binary"}, {"average": "samples"}, {"scheme": "bio"}, {"invalid": "x"}, {"zero_division": "x"}],
)
def test_unknown_options(score, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        score([["B-A"]], [["B-A"]], **options)


def test_sequence_accuracy():
    assert sequence_accuracy_score([["A", "B"]], [["A", "B"]]) == 1.0
    assert sequence_accuracy_score([["A", "B"], ["C", "D"]], [["A", "B"], ["C", "E"]]) == 0.5
    assert sequence_accuracy_score(np.array([[1, 2], [3, 4]]), [np.array([1, 2]), np.array([3, 5])]) == 0.5
    assert sequence_accuracy_score([["A", None], [None]], [["A", "B"], ["C"]]) == 1.0
    assert sequence_accuracy_score([[], ["A"]], [[], ["B"]]) == 0.5
    assert sequence_accuracy_score([], []) == 1.0


def test_token_accuracy():
    assert token_accuracy([["A", None, "B"], []], [["A", "A", "A"], []]) == 0.5
    assert token_accuracy([[]], [[]]) == 1.0
    assert token_accuracy([[None]], [["A"]]) == 1.0
