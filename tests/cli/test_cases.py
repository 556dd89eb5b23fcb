# SPDX-License-Identifier: BSD-3-Clause
"""Cases of column files that went wrong for users of other tools, each on every command that reads such files."""

import json

import pytest

TRAINING = "EU NNP B-ORG\nrejects VBZ O\n\nBonn NNP B-LOC\nNew NNP B-LOC\nYork NNP I-LOC\n\n" * 3


@pytest.fixture
def model(command, tmp_path):
    path = tmp_path / "model.zip"
    assert command("train", "-q", "-m", path, "--n-latent", "1", stdin=TRAINING).code == 0
    return path


@pytest.fixture
def words(command, tmp_path):
    """A model of words alone."""
    path = tmp_path / "words.zip"
    text = "EU B-ORG\nrejects O\n\nBonn B-LOC\n\n" * 3
    assert command("train", "-q", "-m", path, "--n-latent", "1", stdin=text).code == 0
    return path


def test_g34_windows_line_ends(command, words, tmp_path):
    text = "EU B-ORG\r\nrejects O\r\n\r\nBonn B-LOC\r\n"
    done = command("train", "-m", tmp_path / "w.zip", "--n-latent", "1", stdin=text)
    assert done.code == 0 and "2 sequences, 3 tokens, 3 labels" in done.err
    done = command("inspect", "-m", tmp_path / "w.zip", "--json")
    assert list(json.loads(done.out)["labels"]) == ["B-LOC", "B-ORG", "O"]
    done = command("tag", "-m", words, stdin=text)
    assert done == (0, "EU B-ORG B-ORG\r\nrejects O O\r\n\r\nBonn B-LOC B-LOC\r\n", "")
    done = command("evaluate", stdin=done.out)
    assert done.out.startswith("processed 3 tokens with 2 phrases; found: 2 phrases; correct: 2.\n")


def test_g35_tabs_several_spaces_spaces_inside_tokens(command, model):
    assert command("tag", "-m", model, stdin="EU  NNP   B-ORG\n") == (0, "EU  NNP   B-ORG B-ORG\n", "")
    done = command("tag", "-m", model, "--json", stdin="New York\tNNP\tB-LOC\n")
    assert '"tokens": [["New York", "NNP", "B-LOC"]]' in done.out
    done = command("tag", "-m", model, stdin="New York\tNNP\tB-LOC\n")
    assert done.out.startswith("New York\tNNP\tB-LOC\t") and done.out.count("\t") == 3
    done = command("evaluate", stdin="New York\tB-LOC\tB-LOC\nEU \tB-ORG\tO\n")
    assert done.out.startswith("processed 2 tokens with 2 phrases; found: 1 phrases; correct: 1.\n")


@pytest.mark.parametrize("gap", ["", "\n"])
@pytest.mark.parametrize("mark", ["-DOCSTART- -X- O", "-DOCSTART- -X- -X- O", "-DOCSTART-"])
def test_g36_docstart_lines(command, model, tmp_path, mark, gap):
    text = "".join(f"{mark}\n{gap}{line}\n" for line in ("EU NNP B-ORG", "Bonn NNP B-LOC", "rejects VBZ O"))
    done = command("tag", "-m", model, stdin=text)
    labelled = ("EU NNP B-ORG B-ORG", "Bonn NNP B-LOC B-LOC", "rejects VBZ O O")
    assert done == (0, "".join(f"{mark}\n{gap}{line}\n" for line in labelled), "")
    assert command("evaluate", stdin=done.out).out.startswith("processed 3 tokens with 2 phrases")
    # Three documents: three folds keep them whole.
    done = command("train", "-m", tmp_path / "d.zip", "--cv", "3", "--sigma", "1,2", "--n-latent", "1", stdin=text)
    assert done.code == 0 and "3 sequences, 3 tokens" in done.err


@pytest.mark.parametrize("call", [("tag", "-m", "{model}"), ("evaluate",), ("train", "-m", "{tmp}/new.zip")])
@pytest.mark.parametrize(
    ("text", "line"),
    [("EU NNP B-ORG\nrejects VBZ\nfoo NN O\n", 2), ("EU NNP B-ORG\nrejects VBZ O\nfoo NN O O\n", 3)],
)
def test_g37_a_line_with_a_missing_column(command, model, tmp_path, call, text, line):
    path = tmp_path / "corpus.txt"
    path.write_text(text)
    done = command(*(word.format(model=model, tmp=tmp_path) for word in call), path)
    assert done.code == 1
    assert f"{path}, line {line}: " in done.err and repr(text.split("\n")[line - 1]) in done.err
    assert "columns, but line 1 has 3" in done.err
    assert not (tmp_path / "new.zip").exists()


def test_g38_comments_and_tokens_that_begin_with_a_hash(command, words, tmp_path):
    text = "# id = 7\n#tag O\nBonn B-LOC\n\n#a O\n#b O\n"
    done = command("tag", "-m", words, stdin=text)
    assert done.code == 1 and "<stdin>, line 1: 4 columns" in done.err and "--comments" in done.err
    done = command("tag", "-m", words, "--comments", stdin=text)
    lines = done.out.split("\n")
    assert done.code == 0
    assert lines[0] == "# id = 7" and lines[2] == "Bonn B-LOC B-LOC" and lines[3] == ""
    assert [line.split(" ")[:2] for line in lines[4:6]] == [["#a", "O"], ["#b", "O"]]
    assert all(line.count(" ") == 2 for line in (lines[1], *lines[4:6]))
    assert command("train", "-m", tmp_path / "c.zip", stdin=text).code == 1
    done = command("train", "-m", tmp_path / "c.zip", "--comments", stdin=text)
    assert done.code == 0 and "2 sequences, 4 tokens" in done.err


def test_g39_quotes_na_null(command, words):
    tokens = ["EU", "NA", "null", '"', "foo", '"', "bar"]
    done = command("tag", "-m", words, "--json", stdin="".join(f"{token}\t\n" for token in tokens))
    assert done.code == 0
    assert [own[0] for own in json.loads(done.out)["tokens"]] == tokens
    done = command("tag", "-m", words, stdin="\n".join(tokens))
    assert [line.split("\t")[0] for line in done.out.splitlines()] == tokens


@pytest.mark.parametrize(
    ("text", "joint"), [("a b\tNNP\n\tNNP\nx\tNNP\n", "\t"), ("a\\tb NNP\n", " "), (" a,NNP\n,NNP\n", ",")]
)
def test_g40_writer(command, model, text, joint):
    """Whatever the tokens are, the columns that were there come back, and one more."""
    given = ["--separator", joint] if joint == "," else []
    done = command("tag", "-m", model, *given, stdin=text)
    assert done.code == 0
    lines, written = text.split("\n"), done.out.split("\n")
    assert len(lines) == len(written)
    assert [line.rpartition(joint)[0] for line in written[:-1]] == lines[:-1]
    assert all(line.rpartition(joint)[2] in ("B-ORG", "B-LOC", "I-LOC", "O") for line in written[:-1])
