# SPDX-License-Identifier: BSD-3-Clause
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, classification_report, f1_score

from sklearn_latent import LabelSequences
from sklearn_latent.metrics import make_token_scorer, token_classification_report, token_error_rate, token_f1_score

from .test_scorers import Capitals, T, Y

TRUE = [["B-NP", "I-NP", "O", "B-VP"], [], ["B-NP", "O"]]
PRED = [["B-NP", "O", "O", "B-NP"], [], ["B-NP", "I-NP"]]


def pairs(labels, max_sequences=3):
    rows = st.lists(st.tuples(st.sampled_from(labels), st.sampled_from(labels)), max_size=6)
    return st.lists(rows, max_size=max_sequences).map(
        lambda corpus: ([[t for t, _ in s] for s in corpus], [[p for _, p in s] for s in corpus])
    )


def flat(y):
    return [label for labels in y for label in labels]


def test_by_hand():
    # B-NP: 2 right of 3 predicted and 2 true; I-NP: 0 of 1 and 1; B-VP: 0 of 0 and 1
    assert token_f1_score(TRUE, PRED) == pytest.approx(2 * 2 / (4 + 4))
    assert_allclose(token_f1_score(TRUE, PRED, average=None), [0.8, 0, 0], rtol=1e-12)  # B-NP, B-VP, I-NP
    assert token_f1_score(TRUE, PRED, average="macro") == pytest.approx(0.8 / 3)
    assert token_f1_score(TRUE, PRED, average="weighted") == pytest.approx(0.4)
    assert token_f1_score(TRUE, PRED, ignore=()) == pytest.approx(3 / 6)
    assert token_error_rate(TRUE, PRED) == pytest.approx(3 / 6)


def test_two_labels_need_no_positive_one():
    for average in ("micro", "macro", "weighted"):
        assert token_f1_score([["N", "Y"]], [["N", "Y"]], average=average) == 1.0
        assert type(token_f1_score([["N", "Y"]], [["N", "Y"]], average=average)) is float
    assert token_f1_score([[0, 1]], [[0, 1]]) == 1.0
    with pytest.raises(ValueError, match=r"average must be 'micro', .* or None; got 'binary'"):
        token_f1_score([["N", "Y"]], [["N", "Y"]], average="binary")


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
@settings(max_examples=40, deadline=None)
@given(data=pairs(["A", "B", "C", "O"]))
def test_agrees_with_scikit_learn(average, data):
    y_true, y_pred = data
    scored = sorted(set(flat(y_true) + flat(y_pred)) - {"O"})
    ours = token_f1_score(y_true, y_pred, average=average, zero_division=0)
    if scored:
        theirs = f1_score(flat(y_true), flat(y_pred), labels=scored, average=average, zero_division=0)
        assert_allclose(ours, theirs, rtol=1e-12)
    if flat(y_true):
        assert_allclose(1 - token_error_rate(y_true, y_pred), accuracy_score(flat(y_true), flat(y_pred)), rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(data=pairs(["ADJ", "NOUN", "X"]))
def test_report_agrees_with_scikit_learn(data):
    y_true, y_pred = data
    if not flat(y_true):
        return
    labels = sorted(set(flat(y_true) + flat(y_pred)))
    ours = token_classification_report(y_true, y_pred, output_dict=True, zero_division=0)
    theirs = classification_report(flat(y_true), flat(y_pred), labels=labels, output_dict=True, zero_division=0)
    assert list(ours) == [*labels, "micro avg", "macro avg", "weighted avg", "accuracy"]
    for key in theirs:
        assert ours[key] == pytest.approx(theirs[key], rel=1e-12)
    ours = token_classification_report(y_true, y_pred, digits=3, zero_division=0).splitlines()
    theirs = classification_report(flat(y_true), flat(y_pred), labels=labels, digits=3, zero_division=0)
    # some versions print the support as a float
    theirs = [re.sub(r"  (\s*\d+)\.0$", r"    \1", line) for line in theirs.splitlines()]
    assert set(theirs) <= set(ours) and len(ours) == len(theirs) + 1  # the micro average is the one row more
    assert ours[: len(labels) + 2] == theirs[: len(labels) + 2]


def test_report_of_tags_without_prefix():
    y_true, y_pred = [["ADJ", "NOUN", "X"]], [["ADJ", "VERB", "X"]]
    report = token_classification_report(y_true, y_pred, output_dict=True, zero_division=0)
    assert list(report)[:4] == ["ADJ", "NOUN", "VERB", "X"]
    assert report["accuracy"] == pytest.approx(2 / 3)
    text = token_classification_report(y_true, y_pred, zero_division=0)
    assert [line.split()[0] for line in text.splitlines()[2:6]] == ["ADJ", "NOUN", "VERB", "X"]
    assert text.splitlines()[-1].split() == ["accuracy", "0.67", "3"]


def test_report_leaves_out_what_is_ignored():
    report = token_classification_report(TRUE, PRED, output_dict=True, zero_division=0)
    assert "O" not in report and report["accuracy"] == 0.5  # accuracy counts all tokens
    assert report["micro avg"]["f1-score"] == token_f1_score(TRUE, PRED)
    assert report["micro avg"]["support"] == 4
    assert report["B-NP"] == pytest.approx({"precision": 2 / 3, "recall": 1.0, "f1-score": 0.8, "support": 2})
    assert "O" in token_classification_report(TRUE, PRED, output_dict=True, ignore=(), zero_division=0)
    numbers = token_classification_report([[1, 2]], [[1, 2]], output_dict=True)
    assert list(numbers)[:2] == ["1", "2"]


def test_labels_and_ignore():
    assert token_f1_score(TRUE, PRED, labels=["I-NP", "B-NP"], average=None).tolist() == pytest.approx([0, 0.8])
    assert token_f1_score(TRUE, PRED, labels=["O"]) == pytest.approx(0.5)  # labels are taken as they are
    assert token_f1_score(TRUE, PRED, labels=np.array(["B-NP"])) == pytest.approx(0.8)
    assert token_f1_score(TRUE, PRED, ignore="O") == token_f1_score(TRUE, PRED)
    assert token_f1_score(TRUE, PRED, ignore=None) == token_f1_score(TRUE, PRED, ignore=())
    assert token_f1_score(TRUE, PRED, ignore=["O", "I-NP", "B-VP"]) == pytest.approx(0.8)
    assert token_f1_score(TRUE, PRED, labels=["B-NP", "never"], average="macro", zero_division=0) == pytest.approx(0.4)
    with pytest.raises(ValueError, match="distinct"):
        token_f1_score(TRUE, PRED, labels=["B-NP", "B-NP"])
    with pytest.raises(TypeError, match="ignore must be a collection of labels"):
        token_f1_score(TRUE, PRED, ignore=3)


def test_unknown_labels_are_skipped():
    assert token_f1_score([["A", None]], [["A", "B"]], average=None, zero_division=0).tolist() == [1, 0]
    assert token_f1_score([["A", None]], [["A", "A"]]) == 1.0
    assert token_error_rate([["A", None]], [["A", "B"]]) == 0.0
    assert token_f1_score([["A", "A"]], [["A", None]]) == pytest.approx(2 / 3)  # no answer is a miss
    assert token_classification_report([["A", None]], [["A", "A"]], output_dict=True)["accuracy"] == 1.0


def test_nothing_to_score():
    y = [["O", "O"], ["O"]]
    with pytest.warns(UndefinedMetricWarning, match="F-score of all labels") as record:
        assert token_f1_score(y, y) == 0.0
    assert len(record) == 1 and record[0].filename == __file__
    assert token_f1_score(y, y, zero_division=1) == 1.0
    assert np.isnan(token_f1_score(y, y, zero_division=np.nan))
    assert token_f1_score(y, y, average=None).shape == (0,)
    with pytest.warns(UndefinedMetricWarning) as record:
        report = token_classification_report(y, y, output_dict=True)
    assert len(record) == 1 and record[0].filename == __file__
    assert list(report) == ["micro avg", "macro avg", "weighted avg", "accuracy"] and report["accuracy"] == 1.0
    assert token_error_rate(y, y) == token_error_rate([], []) == token_error_rate([[]], [[]]) == 0.0


def test_forms():
    y_true, y_pred = [["A", "B"], ["B", "A"]], [["A", "B"], ["A", "A"]]
    for form in (np.array(y_pred), LabelSequences(y_pred), iter(y_pred), tuple(map(tuple, y_pred))):
        assert token_f1_score(y_true, form) == 0.75
    for form in (np.array(y_pred), iter(y_pred)):
        assert token_error_rate(y_true, form) == 0.25
    for form in (np.array(y_pred), iter(y_pred)):
        assert token_classification_report(y_true, form, output_dict=True)["accuracy"] == 0.75


@pytest.mark.parametrize("score", [token_f1_score, token_classification_report])
@pytest.mark.parametrize(
    ("y_pred", "message"),
    [
        ([["A"], ["B", 1]], r"one kind .* 'A' \(str\) and 1 \(int\)|one kind .* 1 \(int\) and '[AB]' \(str\)|one kind"),
        ([["A"], ["B", float("nan")]], "y_pred, sequence 1, position 1: nan is not a label"),
        ([["A"], [0.5, "B"]], "y_pred, sequence 1, position 0: 0.5 is not a label"),
        ([["A"], ["B", []]], r"y_pred, sequence 1, position 1: \[\] is not a label \(not hashable\)"),
        ([["A"], ["B"]], r"sequence 1: y_true\[1\] has 2 labels but y_pred\[1\] has 1"),
        ([["A"]], "y_true has 2 sequences but y_pred has 1"),
    ],
)
def test_bad_labels(score, y_pred, message):
    with pytest.raises(ValueError, match=message):
        score([["A"], ["B", "B"]], y_pred)


@pytest.mark.parametrize("digits", [-1, 1.5, True, "2"])
def test_bad_digits(digits):
    with pytest.raises(ValueError, match="digits must be"):
        token_classification_report(TRUE, PRED, digits=digits)


def test_scorer():
    assert make_token_scorer()(Capitals(), T, Y) == 1.0
    scorer = pickle.loads(pickle.dumps(make_token_scorer(average="macro", ignore=["O"], labels=("B-PER",))))
    assert scorer(Capitals(), T, Y) == 1.0
    assert make_token_scorer(zero_division=0)(Capitals(on=False), T, Y) == 0.0
    assert make_token_scorer(ignore=())(Capitals(on=False), T, Y) == 0.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.isfinite(make_token_scorer()(Capitals(), [["rain"]], [["O"]]))
    assert [w.category for w in caught] == [UndefinedMetricWarning]
    with pytest.raises(ValueError, match=r"average must be 'micro', 'macro' or 'weighted'; got None"):
        make_token_scorer(average=None)
    with pytest.raises(TypeError):
        make_token_scorer(pos_label="A")
