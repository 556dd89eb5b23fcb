# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_latent.metrics import chunk_classification_report, chunk_precision_recall_fscore_support

from .twins import label_pairs

report = chunk_classification_report
AVERAGES = ["micro avg", "macro avg", "weighted avg"]
STRAY = [["B-P", "I-P"]], [["I-P", "I-P"]]


def test_text():
    y_true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP"]]
    y_pred = [["B-NP", "I-NP", "O", "B-VP"], ["B-VP"]]
    assert report(y_true, y_pred, digits=3) == (
        "              precision    recall  f1-score   support\n"
        "\n"
        "          NP      1.000     0.500     0.667         2\n"
        "          VP      0.500     1.000     0.667         1\n"
        "\n"
        "   micro avg      0.667     0.667     0.667         3\n"
        "   macro avg      0.750     0.750     0.667         3\n"
        "weighted avg      0.833     0.667     0.667         3\n"
        "\n"
        "scheme: iob2 (inferred), invalid: conlleval\n"
    )


def test_says_how_it_counted():
    lenient = report(*STRAY)
    assert lenient.endswith("scheme: iob2 (inferred), invalid: conlleval\n")
    assert lenient.splitlines()[2].split() == ["P", "1.00", "1.00", "1.00", "1"]
    strict = report(*STRAY, scheme="iob2", invalid="discard", zero_division=0)
    assert strict.endswith("scheme: iob2, invalid: discard\n")
    assert strict.splitlines()[2].split() == ["P", "0.00", "0.00", "0.00", "1"]
    as_dict = report(*STRAY, output_dict=True)
    assert (as_dict["scheme"], as_dict["invalid"]) == ("iob2", "conlleval")
    assert as_dict["P"] == {"precision": 1.0, "recall": 1.0, "f1-score": 1.0, "support": 1}
    mixed = [["S-P", "U-P"]]  # the rules of the script need no scheme
    assert report(mixed, mixed, output_dict=True)["scheme"] is None
    assert "scheme: None (none could be inferred)" in report(mixed, mixed)
    with pytest.raises(ValueError, match="no one scheme"):
        report(mixed, mixed, invalid="discard")


@pytest.mark.parametrize("y", [[["O", "O"], ["O"]], [[]], []])
def test_nothing_to_find(y):
    with pytest.warns(UndefinedMetricWarning) as record:
        text = report(y, y)
    assert len(record) == 1 and record[0].filename == __file__
    assert [line[:12].strip() for line in text.splitlines() if line[:12].strip()] == [*AVERAGES, "scheme: None"]
    for value in (0.0, 1.0):
        as_dict = report(y, y, output_dict=True, zero_division=value)
        assert list(as_dict) == [*AVERAGES, "scheme", "invalid"]
        for average in AVERAGES:
            assert as_dict[average] == {"precision": value, "recall": value, "f1-score": value, "support": 0}


@settings(max_examples=40, deadline=None)
@given(data=label_pairs("BI"), zero=st.sampled_from([0.0, 1.0]))
def test_rows_are_the_scores(data, zero):
    as_dict = report(*data, output_dict=True, zero_division=zero)
    scores = chunk_precision_recall_fscore_support(*data, zero_division=zero)
    rows = [as_dict[kind] for kind in as_dict if kind not in (*AVERAGES, "scheme", "invalid")]
    assert [list(row.values()) for row in rows] == [list(row) for row in zip(*scores, strict=True)]
    for average in ("micro", "macro", "weighted"):
        expected = chunk_precision_recall_fscore_support(*data, average=average, zero_division=zero)[:3]
        row = as_dict[f"{average} avg"]
        assert (row["precision"], row["recall"], row["f1-score"]) == expected
        assert row["support"] == scores[3].sum()
    text = report(*data, digits=4, zero_division=zero)
    assert len(text.splitlines()) == 1 + bool(rows) + len(rows) + 1 + 3 + 2


def test_rows_are_those_of_seqeval():
    metrics = pytest.importorskip("seqeval.metrics")
    y_true = [["B-A", "I-A", "O", "B-B"], ["B-A", "B-C", "I-C"], ["O"]]
    y_pred = [["B-A", "I-A", "B-B", "B-B"], ["B-A", "B-C", "O"], ["B-A"]]
    theirs = metrics.classification_report(y_true, y_pred, digits=4)
    ours = report(y_true, y_pred, digits=4)
    assert [line.split() for line in theirs.splitlines()] == [line.split() for line in ours.splitlines()[:-2]]


def test_unnamed_type_and_a_warning_for_a_type():
    bare = [list("BIO")]
    assert report(bare, bare).splitlines()[2].split() == ["(no", "type)", "1.00", "1.00", "1.00", "1"]
    assert report(bare, bare, output_dict=True)[""]["support"] == 1
    with pytest.warns(UndefinedMetricWarning, match="set to 0.0: Recall of 'B'") as record:
        report([["B-A", "O"]], [["B-A", "B-B"]])
    assert len(record) == 1


def test_forms_and_errors():
    for y_pred in (np.array([["I-P", "I-P"]]), iter([["I-P", "I-P"]])):
        assert report([["B-P", "I-P"]], y_pred) == report(*STRAY)
    with pytest.raises(ValueError, match="y_pred, sequence 0, position 0: 'I-P'"):
        report(*STRAY, invalid="raise")
    with pytest.raises(ValueError, match="'ADJ'"):
        report([["ADJ"]], [["ADJ"]])
    with pytest.raises(ValueError, match="digits"):
        report(*STRAY, digits=-1)
