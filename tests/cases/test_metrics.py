# SPDX-License-Identifier: BSD-3-Clause
"""G25 to G33: chunk and token scores."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_latent.metrics import (
    chunk_classification_report,
    chunk_f1_score,
    chunk_precision_recall_fscore_support,
    get_chunks,
    sequence_accuracy_score,
    token_classification_report,
    token_error_rate,
    token_f1_score,
)


def micro(gold, found, **options):
    """(precision, recall, F1)."""
    return chunk_precision_recall_fscore_support(gold, found, average="micro", **options)[:3]


@pytest.mark.parametrize("kind", ["P", "LOC", ""])
def test_g25_a_stray_i_where_gold_has_b(kind):
    tail = f"-{kind}" if kind else ""
    gold, found = [["B" + tail, "I" + tail]], [["I" + tail, "I" + tail]]
    assert micro(gold, found, scheme="iob2") == (1.0, 1.0, 1.0)
    p, r, f = micro(gold, found, scheme="iob2", invalid="discard", zero_division=0)
    assert (p, r, f) == (0.0, 0.0, 0.0)
    assert chunk_f1_score(gold, found, scheme="iob2", invalid="discard") == 0.0  # defined: there is a gold chunk
    with pytest.warns(UndefinedMetricWarning, match="Precision"):
        assert micro(gold, found, scheme="iob2", invalid="discard") == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"0.*0"):
        chunk_f1_score(gold, found, scheme="iob2", invalid="raise")
    for invalid in ("conlleval", "discard"):
        text = chunk_classification_report(gold, found, scheme="iob2", invalid=invalid, zero_division=0)
        assert invalid in text and "iob2" in text


def test_g26_two_adjacent_entities_of_one_type():
    gold, found = [["B-P", "B-P"]], [["B-P", "I-P"]]
    for invalid in ("conlleval", "discard"):
        assert micro(gold, found, scheme="iob2", invalid=invalid, zero_division=0) == (0.0, 0.0, 0.0)
    assert len(get_chunks(gold[0], scheme="iob2")) == 2
    assert len(get_chunks(found[0], scheme="iob2")) == 1


def test_g27_the_type_changes_inside():
    gold, found = [["B-P", "I-P"]], [["B-P", "I-L"]]
    assert get_chunks(found[0], scheme="iob2") == [(0, 1, "P"), (1, 2, "L")]
    assert len(get_chunks(found[0], scheme="iob2", invalid="discard")) == 1
    for invalid in ("conlleval", "discard"):
        assert chunk_f1_score(gold, found, scheme="iob2", invalid=invalid, zero_division=0) == 0.0
    with pytest.raises(ValueError, match=r"\[0\]\[1\]|sequence 0.*1"):
        chunk_f1_score(gold, found, scheme="iob2", invalid="raise")


@pytest.mark.parametrize(("tag", "scheme"), [("U", "bilou"), ("S", "iobes")])
@pytest.mark.parametrize("invalid", ["conlleval", "discard", "raise"])
@pytest.mark.parametrize("n", [2, 3])
def test_g28_single_token_tags_next_to_each_other(tag, scheme, invalid, n):
    y = [[f"{tag}-P"] * n]
    p, r, f, support = chunk_precision_recall_fscore_support(y, y, scheme=scheme, invalid=invalid, average=None)
    assert (p.tolist(), r.tolist(), f.tolist(), support.tolist()) == ([1.0], [1.0], [1.0], [n])
    assert micro(y, y, invalid=invalid) == (1.0, 1.0, 1.0)


def test_g29_nothing_to_find():
    y = [["O", "O"], ["O"]]
    for value in (0, 1):
        assert chunk_f1_score(y, y, zero_division=value) == float(value)
        assert token_f1_score(y, y, zero_division=value) == float(value)
        report = chunk_classification_report(y, y, zero_division=value, output_dict=True)
        assert not {"O", "P"} & set(report)
        assert "precision" in chunk_classification_report(y, y, zero_division=value)
    with pytest.warns(UndefinedMetricWarning):
        assert chunk_f1_score(y, y) == 0.0
    with pytest.warns(UndefinedMetricWarning):
        assert token_f1_score(y, y) == 0.0
    assert token_error_rate(y, y) == 0.0
    assert sequence_accuracy_score(y, y) == 1.0
    for empty in ([], [[]], [[], []]):
        assert chunk_f1_score(empty, empty, zero_division=1) == 1.0
        chunk_classification_report(empty, empty, zero_division=0)
        token_classification_report(empty, empty, zero_division=0)


def test_g30_tags_without_a_prefix():
    gold, found = [["ADJ", "NOUN", "X"]], [["ADJ", "VERB", "X"]]
    report = token_classification_report(gold, found, output_dict=True, zero_division=0)
    assert {"ADJ", "NOUN", "VERB", "X"} <= set(report)
    assert 1 - token_error_rate(gold, found) == pytest.approx(2 / 3)
    for score in (chunk_f1_score, chunk_classification_report, chunk_precision_recall_fscore_support):
        with pytest.raises(ValueError, match="ADJ"):
            score(gold, found)


def test_g31_bare_b_and_i():
    gold, found = [["O", "O", "B", "I", "I", "I", "I", "O"]], [["O", "O", "B", "I", "I", "B", "I", "O"]]
    assert micro(gold, found) == (0.0, 0.0, 0.0)
    assert len(get_chunks(gold[0])) == 1 and len(get_chunks(found[0])) == 2
    assert micro(gold, gold) == (1.0, 1.0, 1.0)


def test_g32_a_label_only_in_the_predictions():
    gold, found = [["B-A", "O"]], [["B-A", "B-B"]]
    p, r, f = micro(gold, found)
    assert (p, r) == (0.5, 1.0) and f == pytest.approx(2 / 3)
    assert chunk_f1_score(gold, found, average="macro", zero_division=0) == 0.5
    report = chunk_classification_report(gold, found, output_dict=True, zero_division=0)
    assert report["B"]["support"] == 0 and report["A"]["support"] == 1
    assert "B" in chunk_classification_report(gold, found, zero_division=0)


def arrays(y):
    return [np.array(own) for own in y]


@pytest.mark.parametrize("form", [list, arrays, lambda y: [tuple(own) for own in y]], ids=["list", "arrays", "tuples"])
def test_g33_sequence_accuracy(form):
    assert sequence_accuracy_score([["A", "B"]], form([["A", "B"]])) == 1.0
    assert sequence_accuracy_score([["A", "B"], ["C", "D"]], form([["A", "B"], ["C", "E"]])) == 0.5
    for gold, found in (
        ([["A", "B"]], [["A", "B"], ["C", "D"]]),
        ([["A", "B"], ["C", "D"]], [["A", "B"]]),
        ([["A", "B"]], [["A"]]),
        ([["A"]], [["A", "B"]]),
    ):
        for score in (sequence_accuracy_score, token_error_rate, token_f1_score):
            with pytest.raises(ValueError):
                score(gold, form(found))
    assert sequence_accuracy_score([["A", "A"]] * 2, np.array([["A", "A"], ["A", "B"]])) == 0.5
