# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent evaluate``: the numbers of the metrics, and where a label is wrong."""

import json

import pytest

from metrics.test_tally import PRED, TABLE, TRUE
from sklearn_latent.io import load_model, read_conll
from sklearn_latent.metrics import (
    chunk_classification_report,
    mcnemar_test,
    randomization_test,
    token_classification_report,
)


def column_text(*columns):
    """Sequences side by side in columns."""
    return "".join(
        "".join(" ".join(row) + "\n" for row in zip(*own, strict=True)) + "\n" for own in zip(*columns, strict=True)
    )


WORDS = [[f"w{k}" for k in range(len(own))] for own in TRUE]


def test_table(command):
    text = column_text(WORDS, TRUE, PRED)
    assert command("evaluate", stdin=text) == (0, TABLE, "")
    assert command("evaluate", "--gold", "1", "--pred", "2", stdin=text).out == TABLE
    assert command("evaluate", "--gold", "0", "--pred", "1", stdin=column_text(TRUE, PRED)).out == TABLE


def test_files_are_one_corpus(command, tmp_path):
    for k, own in enumerate(zip(WORDS, TRUE, PRED, strict=True)):
        (tmp_path / f"{k}.txt").write_text(column_text(*([column] for column in own)))
    assert command("evaluate", *(tmp_path / f"{k}.txt" for k in range(3))).out == TABLE


@pytest.mark.parametrize(
    "options", [{}, {"scheme": "iob2"}, {"invalid": "discard"}, {"scheme": "iob2", "invalid": "discard"}]
)
def test_json(command, options):
    given = [word for name, value in options.items() for word in (f"--{name}", value)]
    shown = json.loads(command("evaluate", "--json", *given, stdin=column_text(WORDS, TRUE, PRED)).out)
    whole = chunk_classification_report(TRUE, PRED, **options, output_dict=True, zero_division=0.0)
    assert shown["chunks"]["f1"] == whole["micro avg"]["f1-score"]
    assert {kind: row["true"] for kind, row in shown["types"].items()} == {
        kind: row["support"] for kind, row in whole.items() if kind in shown["types"]
    }
    assert shown["tokens"] == 8 and shown["accuracy"] == 0.5


def test_tokens(command):
    tags = [["NN", "VB"], ["NN"]], [["NN", "NN"], ["NN"]]
    text = column_text([["a", "b"], ["c"]], *tags)
    done = command("evaluate", "--tokens", stdin=text)
    assert done.out == token_classification_report(*tags, ignore=(), digits=4, zero_division=0.0)
    assert json.loads(command("evaluate", "--tokens", "--json", stdin=text).out)["accuracy"] == 2 / 3
    done = command("evaluate", stdin=text)
    assert done.code == 1 and "<stdin>, line 1: true labels: label 'NN' is no chunk label" in done.err
    assert "--tokens" in done.err


def test_model(command, chunks):
    tagger = load_model(chunks / "model.zip")
    X, y = read_conll(chunks / "test.txt")
    shown = json.loads(command("evaluate", "-m", chunks / "model.zip", "--json", chunks / "test.txt").out)
    whole = chunk_classification_report(y, tagger.predict(X), output_dict=True, zero_division=0.0)
    assert shown["chunks"]["f1"] == whole["micro avg"]["f1-score"]
    tagged = command("tag", "-m", chunks / "model.zip", chunks / "test.txt").out
    assert json.loads(command("evaluate", "--json", stdin=tagged).out) == shown
    done = command("evaluate", "-m", chunks / "model.zip", stdin="He B-NP\n")
    assert done.code == 1 and "line 1: 1 columns beside the label, but the model reads 2" in done.err


def test_significance(command):
    other = [own[:1] + ["O"] * (len(own) - 1) for own in PRED]
    text = column_text(WORDS * 9, TRUE * 9, PRED * 9, other * 9)
    options = ["--gold", "1", "--pred", "2", "--versus", "3", "--permutations", "500", "--seed", "3"]
    shown = json.loads(command("evaluate", "--json", *options, stdin=text).out)["significance"]
    drawn = randomization_test(TRUE * 9, PRED * 9, other * 9, metric="chunk_f1", n_permutations=500, random_state=3)
    assert (shown["difference"], shown["pvalue"]) == tuple(drawn)
    assert shown["mcnemar"]["pvalue"] == mcnemar_test(TRUE * 9, PRED * 9, other * 9).pvalue
    done = command("evaluate", *options, stdin=text)
    assert done.code == 0 and done.out.count("processed 72 tokens") == 2
    assert f"chunk F1, column 2 minus column 3: {100 * drawn.difference:+.2f}, p = {drawn.pvalue:.4g}" in done.out
    done = command("evaluate", "--tokens", *options, stdin=text)
    drawn = randomization_test(
        TRUE * 9, PRED * 9, other * 9, metric="token_accuracy", n_permutations=500, random_state=3
    )
    assert f"token accuracy, column 2 minus column 3: {100 * drawn.difference:+.2f}, p = {drawn.pvalue:.4g}" in done.out


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a B-NP O\n\nb O NP\n", [], "line 3: predicted labels: label 'NP' is no chunk label"),
        ("a O O\nb I-NP O\n", ["--scheme", "iob2", "--invalid", "raise"], "line 2: true labels: 'I-NP' can't begin a"),
        ("a O O\nb O E-NP\n", ["--scheme", "iob2"], "line 2: predicted labels: label 'E-NP' has a prefix"),
        ("a O O\n", ["--gold", "5"], "line 1: no column 5, there are 3: 'a O O'"),
        ("a\tO\t\n", [], "line 1: predicted labels: label '' is no chunk label"),
        ("a\n", [], "line 1: no column -2, there are 1: 'a'"),
    ],
)  # fmt: skip
def test_input_at_fault(command, text, options, message):
    done = command("evaluate", *options, stdin=text)
    assert done.code == 1 and done.out == "" and f"<stdin>, {message}" in done.err


@pytest.mark.parametrize(
    "options",
    [
        ["--pred", "-2"], ["--versus", "-1"], ["--tokens", "--scheme", "iob2"], ["--tokens", "--invalid", "raise"],
        ["--model", "{}/model.zip", "--pred", "1"], ["--permutations", "0"],
    ],
)  # fmt: skip
def test_wrong_options(command, chunks, options):
    done = command("evaluate", *(word.format(chunks) for word in options), stdin="a O O\n")
    assert done.code == 2 and done.out == ""


def test_no_sequence(command):
    assert command("evaluate", stdin="\n\n").out.startswith("processed 0 tokens with 0 phrases")
