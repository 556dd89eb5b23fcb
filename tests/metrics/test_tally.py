# SPDX-License-Identifier: BSD-3-Clause
"""Scores counted part by part are the scores of the whole; the table is the CoNLL script's."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent.metrics import chunk_classification_report, token_classification_report
from sklearn_latent.metrics._tally import ChunkTally, TokenTally

from .twins import conlleval_counts, label_pairs

# Counts and shares as conlleval.pl (version of 2004-01-26) prints them for these labels.
TRUE = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "B-PP"], ["I-VP", "O"]]
PRED = [["B-NP", "I-NP", "B-VP", "B-VP"], ["B-NP", "I-NP"], ["B-VP", "I-LST"]]
TABLE = """\
processed 8 tokens with 5 phrases; found: 6 phrases; correct: 3.
accuracy:  50.00%; precision:  50.00%; recall:  60.00%; FB1:  54.55
              LST: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
               NP: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
               PP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
               VP: precision:  66.67%; recall: 100.00%; FB1:  80.00  3
"""


def tallied(tally, y_true, y_pred, step=1):
    for k in range(0, len(y_true), step):
        tally.add(y_true[k : k + step], y_pred[k : k + step])
    return tally


@pytest.mark.parametrize("step", [1, 2, 3])
def test_table_of_the_script(step):
    assert tallied(ChunkTally(), TRUE, PRED, step).report() == TABLE


def test_nothing_and_no_type():
    assert ChunkTally().report() == "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
    report = tallied(ChunkTally(), [["B", "O"]], [["B", "I"]]).report()
    assert report.splitlines()[2] == "        (no type): precision:   0.00%; recall:   0.00%; FB1:   0.00  1"
    assert ChunkTally().scores()["accuracy"] == TokenTally().scores()["accuracy"] == 1.0


@settings(deadline=None, max_examples=50)
@given(label_pairs("BI"), st.integers(1, 3))
def test_counts_of_the_script(pair, step):
    scores = tallied(ChunkTally(), *pair, step).scores()
    right, found, wanted = conlleval_counts(*pair)
    assert [scores["chunks"][name] for name in ("correct", "predicted", "true")] == [right, found, wanted]
    assert sum(row["true"] for row in scores["types"].values()) == wanted
    numbers = [int(word) for word in re.findall(r"\d+", tallied(ChunkTally(), *pair, step).report().split("\n")[0])]
    assert numbers == [scores["tokens"], wanted, found, right]


@settings(deadline=None, max_examples=50)
@given(label_pairs("BIES"), st.sampled_from(["conlleval", "discard"]), st.sampled_from([None, "iobes"]))
def test_scores_of_the_whole(pair, invalid, scheme):
    scores = tallied(ChunkTally(scheme, invalid), *pair).scores()
    whole = chunk_classification_report(*pair, scheme=scheme, invalid=invalid, output_dict=True, zero_division=0.0)
    names = {"precision": "precision", "recall": "recall", "f1": "f1-score", "true": "support"}
    for row, kind in [(scores["chunks"], "micro avg"), *((row, kind) for kind, row in scores["types"].items())]:
        assert {new: row[new] for new in names} == {new: whole[kind][old] for new, old in names.items()}
    assert set(whole) - set(scores["types"]) == {"micro avg", "macro avg", "weighted avg", "scheme", "invalid"}


def test_scores_may_be_asked_for_twice():
    tally = tallied(ChunkTally(invalid="discard"), TRUE, PRED)
    once = tally.scores()
    assert tally.scores() == once
    tally.add(TRUE, PRED)
    assert tally.scores()["chunks"]["true"] == 2 * once["chunks"]["true"]


@settings(deadline=None, max_examples=50)
@given(label_pairs("BI"))
def test_tokens(pair):
    tally = tallied(TokenTally(), *pair)
    assert tally.report() == token_classification_report(*pair, ignore=(), digits=4, zero_division=0.0)
    whole = token_classification_report(*pair, ignore=(), output_dict=True, zero_division=0.0)
    scores = tally.scores()
    assert scores["accuracy"] == whole["accuracy"] and scores["tokens"] == sum(map(len, pair[0]))
    for label, row in scores["labels"].items():
        own = whole[label]
        assert (row["precision"], row["f1"], row["true"]) == (own["precision"], own["f1-score"], own["support"])


def test_what_is_refused_is_not_counted():
    tally = tallied(ChunkTally(), TRUE, PRED)
    for y_true, y_pred in (([["B-NP"]], [["NP"]]), ([["B-NP"]], [["B-NP", "O"]]), ([["B-NP"]], [])):
        with pytest.raises(ValueError):
            tally.add(y_true, y_pred)
    assert tally.report() == TABLE
    with pytest.raises(ValueError, match="can't begin"):
        ChunkTally("iob2", "raise").add([["I-NP"]], [["O"]])
    with pytest.raises(ValueError, match="scheme"):
        ChunkTally("nosuch")
