# SPDX-License-Identifier: BSD-3-Clause
"""G34 to G40: column files."""

import io

import pandas as pd
import pytest

from sklearn_latent.feature_extraction import sequences_from_frame
from sklearn_latent.io import read_conll, write_conll


@pytest.fixture
def file(tmp_path):
    """Write bytes to a file; gives its path."""

    def write(data: bytes):
        path = tmp_path / "data.txt"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_g34_windows_line_ends(file, end):
    text = end.join(["EU B-ORG", "rejects O", "", "Bonn B-LOC", ""])
    try:
        X, y = read_conll(file(text.encode()))
    except ValueError:
        assert end == "\r"  # of old machines: refused, not read as one long line
        return
    assert X == [["EU", "rejects"], ["Bonn"]]
    assert y == [["B-ORG", "O"], ["B-LOC"]]


def test_g34_line_ends_by_turns(file):
    X, y = read_conll(file(b"\xef\xbb\xbfEU B-ORG\r\nrejects O\n\r\nBonn B-LOC\n\n\r\n\nrain O"))
    assert (X, y) == ([["EU", "rejects"], ["Bonn"], ["rain"]], [["B-ORG", "O"], ["B-LOC"], ["O"]])
    assert "\r" not in repr((X, y))


def test_g35_tabs_and_spaces(file):
    assert read_conll(file(b"EU  NNP   B-ORG\n")) == ([[("EU", "NNP")]], [["B-ORG"]])
    assert read_conll(file(b"New York\tNNP\tB-LOC\n"), separator="\t") == ([[("New York", "NNP")]], [["B-LOC"]])
    assert read_conll(file(b"New York\tNNP\tB-LOC\n")) == ([[("New York", "NNP")]], [["B-LOC"]])


@pytest.mark.parametrize("head", ["-DOCSTART- -X- O O", "-DOCSTART- -X- -X- O", "-DOCSTART-"])
@pytest.mark.parametrize("gap", ["\n", ""])
def test_g36_docstart_lines(file, head, gap):
    text = "".join(f"{head}\n{gap}w{k} N N O\n\n" for k in range(3))
    X, y, documents = read_conll(file(text.encode()), return_documents=True)
    assert [x[0][0] for x in X] == ["w0", "w1", "w2"] and y == [["O"]] * 3
    assert list(documents) == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        (b"EU B-ORG\nrejects\nfoo O\n", 2, "rejects"),
        (b"EU B-ORG\nrejects O\nfoo X O\n", 3, "foo X O"),
        (b"EU B-ORG\n\n\nfoo O\nbar\n", 5, "bar"),
    ],
)
def test_g37_a_line_with_a_missing_column(file, text, line, shown):
    path = file(text)
    with pytest.raises(ValueError) as caught:
        read_conll(path)
    message = str(caught.value)
    assert str(path) in message and f"line {line}" in message and shown in message


def test_g38_comments_and_hashes(file):
    path = file(b"# id = 7\n#tag O\nBonn B-LOC\n")
    with pytest.raises(ValueError, match=r"line (1|2)"):
        read_conll(path)
    assert read_conll(path, comments=True) == ([["#tag", "Bonn"]], [["O", "B-LOC"]])
    for comments in (False, True):
        assert read_conll(file(b"#a O\n#b O\n"), comments=comments) == ([["#a", "#b"]], [["O", "O"]])
    assert read_conll(file(b"Bonn B-LOC\n# O\n\n# x\n# O\n"), comments=True)[0][0] == ["Bonn", "#"]


WORDS = ["EU", "NA", "null", '"', "foo", '"', "bar", "nan", "None", "", "N/A"]


def test_g39_words_that_look_missing(file):
    words = [word for word in WORDS if word]
    text = "".join(f"{word}\tO\n" for word in words)
    X, y = read_conll(file(text.encode()))
    assert [words] == X and y == [["O"] * len(words)]


def test_g39_the_frame_that_pandas_makes_of_it():
    text = "word\n" + "\n".join(WORDS[:7]) + "\n"
    frame = pd.read_csv(io.StringIO(text), sep="\t", quoting=3).assign(group=1)
    assert frame["word"].isna().sum() == 2
    with pytest.raises(ValueError, match=r"column 'word' has missing values .* in rows 1, 2, .*keep_default_na"):
        sequences_from_frame(frame, "group", "word")
    kept = pd.read_csv(io.StringIO(text), sep="\t", quoting=3, keep_default_na=False).assign(group=1)
    assert sequences_from_frame(kept, "group", "word") == [WORDS[:7]]


ODD = ["a b", "x\ty", "line\nbreak", "", "c\rr", "\u2028", "\x0b", "\x0c", "\x1c", "\x85", "#a", "# a", " a", "a ",
       "-DOCSTART-", "\ufeffa", "\u00a0", "\x00", "\ud800", "\\n"]  # fmt: skip


@pytest.mark.parametrize("word", ODD, ids=ascii)
@pytest.mark.parametrize("place", [0, 1])
def test_g40_the_writer(tmp_path, word, place):
    path = tmp_path / "out.txt"
    path.write_text("before\n")
    X, y = [["first"], ["x", "y"]], [["O"], ["O", "B"]]
    X[1][place] = word
    try:
        write_conll(path, X, y)
    except ValueError as error:
        assert f"sequence 1, token {place}: " in str(error)
        assert path.read_text() == "before\n"
    else:
        assert read_conll(path) == (X, y)
    # the same in a label
    try:
        write_conll(path, [["first"], ["x", "y"]], [["O"], [word, "B"]])
    except ValueError as error:
        assert "sequence 1, token 0: " in str(error)
    else:
        assert read_conll(path)[1] == [["O"], [word, "B"]]
