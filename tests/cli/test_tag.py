# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent tag``: what is written beside what came, and what is refused."""

import json
import math
import os
import random
import subprocess
import sys

import pytest
from sklearn.pipeline import make_pipeline

from sklearn_latent import LatentCRFTagger
from sklearn_latent.cli._files import located
from sklearn_latent.feature_extraction import SequenceDictVectorizer, SequenceUnion, TemplateVectorizer
from sklearn_latent.io import load_model, read_conll, save_model

TEXT = "# one\n\nHe PRP\nran VBD\n\n\n-DOCSTART- -X-\n\nIt PRP\n"


@pytest.fixture
def model(chunks):
    return chunks / "model.zip"


def expected(model, text):
    """Labels by the library."""
    path = model.with_suffix(".txt")
    path.write_text(text)
    X = read_conll(path, label=None, comments=True)
    return load_model(model), X


def test_every_line_stays(command, model):
    tagger, X = expected(model, TEXT)
    [first, second] = tagger.predict(X)
    lines = TEXT.split("\n")
    for n, label in zip((2, 3, 8), [*first, *second], strict=True):
        lines[n] += f" {label}"
    assert command("tag", "-m", model, "--comments", stdin=TEXT) == (0, "\n".join(lines), "")


@pytest.mark.parametrize("text", ["", "\n", "\n\n", "\r\n", "-DOCSTART-\n\n"])
def test_no_token(command, model, text):
    assert command("tag", "-m", model, stdin=text) == (0, text, "")


def test_ends_of_a_file(command, model):
    done = command("tag", "-m", model, stdin="\ufeff\n \n\nHe PRP\nran VBD")
    lines = done.out.split("\n")
    assert lines[:3] == ["", " ", ""] and lines[5] == "" and len(lines) == 6
    assert lines[3].startswith("He PRP ") and lines[4].startswith("ran VBD ")


def test_files_and_the_standard_input(command, model, tmp_path):
    (tmp_path / "a.txt").write_text("He PRP")
    (tmp_path / "b.txt").write_text("It\tPRP\n\n")
    done = command("tag", "-m", model, tmp_path / "a.txt", "-", tmp_path / "b.txt", stdin="She PRP\n")
    # Sequences of two files stay two, each with its own separator.
    assert [line[:4] for line in done.out.split("\n")] == ["He P", "", "She ", "", "It\tP", "", ""]
    assert done.out.split("\n")[4].count("\t") == 2


def test_whole_corpus_as_the_library(command, model, chunks):
    done = command("tag", "-m", model, chunks / "test.txt")
    X, _ = read_conll(chunks / "test.txt")
    labelled = [line.rpartition(" ")[2] for line in done.out.split("\n") if line]
    assert labelled == [label for own in load_model(model).predict(X) for label in own]
    given = (chunks / "test.txt").read_text().split("\n")
    assert [line.rpartition(" ")[0] for line in done.out.split("\n")] == given


@pytest.mark.parametrize("decoder", ["ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"])
def test_decoders(command, model, chunks, decoder):
    done = command("tag", "-m", model, "--decoder", decoder, "--set", "n_paths=7", chunks / "test.txt")
    X, _ = read_conll(chunks / "test.txt")
    result = load_model(model).decode(X, decoder, n_paths=7)
    labelled = [line.rpartition(" ")[2] for line in done.out.split("\n") if line]
    assert labelled == [label for own in result.labels for label in own]


def test_marginals(command, model):
    tagger, X = expected(model, TEXT)
    done = command("tag", "-m", model, "--comments", "--marginals", stdin=TEXT)
    rows = [line.split(" ")[2:] for line in done.out.split("\n") if line[:1] in "HrI" and line]
    flat = [row for own in tagger.predict_marginals(X) for row in own.tolist()]
    labels = [label for own in tagger.predict(X) for label in own]
    assert [row[0] for row in rows] == labels
    for row, probabilities in zip(rows, flat, strict=True):
        assert [column.rpartition("/")[0] for column in row[1:]] == tagger.classes_.tolist()
        assert [float(column.rpartition("/")[2]) for column in row[1:]] == pytest.approx(probabilities, rel=1e-5)


def test_nbest(command, model):
    tagger, X = expected(model, TEXT)
    done = command("tag", "-m", model, "--comments", "--nbest", "3", stdin=TEXT)
    lines = done.out.split("\n")
    assert lines[:2] == ["# one", ""]
    first, second = tagger.predict_nbest(X, 3)
    at = 2
    for tokens, found, after in ((("He PRP", "ran VBD"), first, 5), (("It PRP",), second, 1)):
        for rank, (labels, p) in enumerate(found):
            assert lines[at].split(" ")[:2] == ["#", str(rank)]
            assert float(lines[at].split(" ")[2]) == pytest.approx(p, rel=1e-5)
            shown = [f"{token} {label}" for token, label in zip(tokens, labels, strict=True)]
            assert lines[at + 1 : at + 1 + len(tokens)] == shown
            at += len(tokens) + 2
        at += after - 2
    # It reads back, each labelling a sequence.
    path = model.with_suffix(".nbest")
    path.write_text(done.out)
    _, y = read_conll(path, comments=True)
    assert y == [labels for found in (first, second) for labels, _ in found]


def test_json(command, model):
    tagger, X = expected(model, TEXT)
    done = command("tag", "-m", model, "--comments", "--json", "--nbest", "2", "--marginals", stdin=TEXT)
    rows = [json.loads(line) for line in done.out.splitlines()]
    result = tagger.decode(X)
    assert [row["labels"] for row in rows] == result.labels
    assert [row["line"] for row in rows] == [3, 9] and rows[0]["file"] == "<stdin>"
    assert [[tuple(token) for token in row["tokens"]] for row in rows] == X
    assert [row["log_prob"] for row in rows] == pytest.approx(result.log_prob.tolist(), rel=1e-9)
    assert [row["exact"] for row in rows] == result.exact.tolist()
    for row in rows:
        assert row["nbest"][0]["labels"] == row["labels"]
        assert math.exp(row["log_prob"]) == pytest.approx(row["nbest"][0]["probability"], rel=1e-9)
        assert all(sum(token.values()) == pytest.approx(1.0) for token in row["marginals"])


def test_plain_text(command, chunks):
    done = command("tag", "-m", chunks / "words.zip", "--text", stdin="It didn't work.\r\n\nStop!")
    assert [line.split("\t")[0] for line in done.out.split("\n")] == [
        "It", "did", "n't", "work", ".", "", "", "Stop", "!", "", "",
    ]  # fmt: skip
    tagger = load_model(chunks / "words.zip")
    labels = [line.split("\t")[1] for line in done.out.split("\n") if line]
    assert [labels[:5], labels[5:]] == tagger.predict([["It", "did", "n't", "work", "."], ["Stop", "!"]])
    done = command("tag", "-m", chunks / "words.zip", "--text", "--json", stdin="It works.\n\nStop!\n")
    assert [json.loads(line)["line"] for line in done.out.splitlines()] == [1, 3]


def test_a_column_of_labels_in_front(command, tmp_path):
    text = "B-NP He PRP\nB-VP ran VBD\n\n" * 3
    assert command("train", "-q", "-m", tmp_path / "m.zip", "--label", "0", "--n-latent", "1", stdin=text).code == 0
    done = command("tag", "-m", tmp_path / "m.zip", "--label", "0", stdin=text)
    assert done.out == text.replace("PRP", "PRP B-NP").replace("VBD", "VBD B-VP")
    done = command("tag", "-m", tmp_path / "m.zip", "--label", "3", stdin=text)
    assert done.code == 1 and "<stdin>, line 1: no column 3, there are 3" in done.err


# -- models of other making ------------------------------------------------------------------------

TOKENS = [[("He", "PRP"), ("ran", "VBD")], [("It", "PRP")]] * 3
LABELS = [["B-NP", "B-VP"], ["B-NP"]] * 3


def test_pipeline_and_union(command, tmp_path):
    templates = TemplateVectorizer("chunking"), TemplateVectorizer(["U:%x[0,0]"])
    union = SequenceUnion([(str(k), each) for k, each in enumerate(templates)])
    for model in (make_pipeline(templates[0], LatentCRFTagger(1)), LatentCRFTagger(1, vectorizer=union)):
        save_model(model.fit(TOKENS, LABELS), tmp_path / "m.zip")
        done = command("tag", "-m", tmp_path / "m.zip", "--marginals", stdin="He PRP\nran VBD\n")
        assert [line.split(" ")[2] for line in done.out.splitlines()] == ["B-NP", "B-VP"]
        done = command("tag", "-m", tmp_path / "m.zip", stdin="He\n")
        assert done.code == 1 and "line 1: 1 columns, but the model reads 2, word, pos: 'He'" in done.err


def test_labels_that_are_numbers(command, tmp_path):
    numbers = [[len(label) + k for k, label in enumerate(own)] for own in LABELS]
    model = LatentCRFTagger(1, vectorizer=TemplateVectorizer("chunking")).fit(TOKENS, numbers)
    save_model(model, tmp_path / "m.zip")
    assert command("tag", "-m", tmp_path / "m.zip", stdin="He PRP\nran VBD\n").out == "He PRP 4\nran VBD 5\n"
    assert json.loads(command("tag", "-m", tmp_path / "m.zip", "--json", stdin="He PRP\n").out)["labels"] == ["4"]


def test_models_that_read_no_columns(command, tmp_path):
    dicts = [[{"w": word} for word, _ in own] for own in TOKENS]
    save_model(LatentCRFTagger(1).fit(dicts, LABELS), tmp_path / "dicts.zip")
    numbers = [[[1.0, 2.0]] * len(own) for own in TOKENS]
    save_model(LatentCRFTagger(1).fit(numbers, LABELS), tmp_path / "numbers.zip")
    save_model(SequenceDictVectorizer().fit(dicts), tmp_path / "vectorizer.zip")
    for name in ("dicts", "numbers", "vectorizer"):
        done = command("tag", "-m", tmp_path / f"{name}.zip", stdin="He PRP\n")
        assert done.code == 2 and done.out == "" and name in done.err


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        ["--text"], ["--set", "sigma=2"], ["--set", "n_paths"], ["--set", "n_paths=0"], ["--set", "nosuch=1"],
        ["--nbest", "0"], ["--decoder", "best"], ["--set", "n_paths=1", "--set", "n_paths=2"], ["--separator", ""],
    ],
)  # fmt: skip
def test_wrong_options(command, model, options):
    done = command("tag", "-m", model, *options, stdin=TEXT)
    assert done.code == 2 and done.out == "" and "Traceback" not in done.err


def test_text_has_no_column_of_labels(command, chunks):
    assert command("tag", "-m", chunks / "words.zip", "--text", "--label", "0", stdin="a").code == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"He PRP\n\xff\xfe x\n", "line 2: not valid UTF-8"),
        (b"He PRP\na\rb c\n", "line 2: a carriage return inside the line"),
        (b"\x1f\x8b broken", "gzip"),
    ],
)
def test_bytes_that_are_no_column_file(command, model, data, message):
    done = command("tag", "-m", model, stdin=data)
    assert done.code == 1 and message in done.err and "<stdin>" in done.err


def test_the_sequence_at_fault_is_named():
    def f(X):
        if 5 in X:
            raise ValueError("no label sequence")
        return X

    with pytest.raises(ValueError, match=r"a\.txt, the sequence from line 51 on: no label sequence"):
        located("a.txt", [10 * k + 1 for k in range(9)], f, list(range(9)))
    assert located("a.txt", [1, 11], f, [0, 1]) == [0, 1]


def test_searches_without_proof_are_one_warning(command, model, chunks):
    done = command("tag", "-m", model, "--set", "max_search=0", "--json", chunks / "test.txt", chunks / "test.txt")
    unproven = sum(not json.loads(line)["exact"] for line in done.out.splitlines())
    assert done.code == 0 and done.err.count("warning") == (unproven > 0)


# -- processes -------------------------------------------------------------------------------------


def start(*argv, **options):
    call = [sys.executable, "-m", "sklearn_latent", *map(str, argv)]
    return subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)


def test_labels_come_while_the_input_goes_on(model):
    with start("tag", "-m", model) as process:
        process.stdin.write(b"He PRP\nran VBD\n\nIt PR")
        process.stdin.flush()
        first = [process.stdout.readline() for _ in range(3)]
        assert first[0].startswith(b"He PRP ") and first[1].startswith(b"ran VBD ") and first[2] == b"\n"
        process.stdin.write(b"P\n")
        process.stdin.close()
        assert process.stdout.read().startswith(b"It PRP ")
    assert process.returncode == 0


def test_output_is_utf_8_whatever_the_terminal(chunks):
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    with start("tag", "-m", chunks / "words.zip", "--text", env=env) as process:
        out, _ = process.communicate("Zoë\n".encode())
    assert out.decode().startswith("Zoë\t")


def peak(model, path, before=""):
    """Megabytes that a process needs at most to label a file."""
    # Asked of the process itself: what its parent is told begins with the parent's own memory.
    program = f"""if True:
        import re, sys
        from sklearn_latent.cli import main
        {before}
        assert main(["tag", "-m", {str(model)!r}, {str(path)!r}]) == 0
        print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
    """
    call = [sys.executable, "-c", program]
    done = subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(done.stderr) / 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks Linux for its memory")
def test_memory_does_not_grow_with_the_input(chunks, tmp_path):
    rng, few, many = random.Random(0), tmp_path / "few.txt", tmp_path / "many.txt"
    words = [line.split("\t")[0] for line in (chunks / "test.words").read_text().split("\n")]
    with open(many, "w") as file:
        # Half of the words are new ones: what is remembered of them must be forgotten.
        for n in range(30):
            lines = [word and rng.choice((word, f"{word}{n}{k}")) for k, word in enumerate(words * 20)]
            file.write("\n".join(lines) + "\n")
            if n == 2:
                file.flush()
                few.write_bytes(many.read_bytes())
    assert many.stat().st_size > 4_000_000
    least = peak(chunks / "words.zip", few)
    assert peak(chunks / "words.zip", many) - least < 20
    # As a whole it takes several times its size.
    whole = "import sklearn_latent.cli._files as files; files._LINES = 1 << 40"
    assert peak(chunks / "words.zip", many, whole) - least > 80


def test_a_sequence_of_100000_lines(command, chunks):
    words = [line for line in (chunks / "test.words").read_text().split("\n") if line]
    text = "".join(f"{words[k % len(words)].split()[0]}\n" for k in range(100_000))
    done = command("tag", "-m", chunks / "words.zip", stdin=text)
    assert done.code == 0 and done.out.count("\n") == 100_000
