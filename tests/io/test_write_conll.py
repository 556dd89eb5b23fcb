# SPDX-License-Identifier: BSD-3-Clause
import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent import LabelSequences
from sklearn_latent.datasets import load_chunks
from sklearn_latent.io import read_conll, write_conll

X = [[("EU", "NNP"), ("rejects", "VBZ")], [("Bonn", "NNP")]]
Y = [["B-ORG", "O"], ["B-LOC"]]
TEXT = "EU\tNNP\tB-ORG\nrejects\tVBZ\tO\n\nBonn\tNNP\tB-LOC\n\n"


def written(*args, **options):
    file = io.StringIO(newline="")
    write_conll(file, *args, **options)
    return file.getvalue()


def test_text():
    assert written(X, Y) == TEXT
    assert written(X, Y, separator=" ") == TEXT.replace("\t", " ")
    assert written([["a", "b"], ["c"]], [["O", "O"], ["X"]]) == "a\tO\nb\tO\n\nc\tX\n\n"
    assert written([["a", "b"], ["c"]]) == "a\nb\n\nc\n\n"
    assert written(X) == "EU\tNNP\nrejects\tVBZ\n\nBonn\tNNP\n\n"
    assert written([], []) == written([]) == ""


def test_forms():
    objects = np.empty(2, dtype=object)
    objects[:] = Y
    for y in (LabelSequences(Y), objects, iter(Y), [np.array(labels) for labels in Y], tuple(map(tuple, Y))):
        assert written(X, y) == TEXT
    assert written((iter(x) for x in X), Y) == TEXT
    assert written([np.array(["a", "b"])], [["O", "O"]]) == "a\tO\nb\tO\n\n"


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_paths(tmp_path, name):
    path = tmp_path / name
    for target in (path, str(path)):
        assert write_conll(target, X, Y) is None
        content = path.read_bytes()
        assert (gzip.decompress(content) if name.endswith(".gz") else content) == TEXT.encode()
        assert read_conll(path) == (X, Y)
    again = tmp_path / "b.gz" if name.endswith(".gz") else tmp_path / "b"
    write_conll(again, X, Y)
    assert again.read_bytes() == content  # neither name nor time is in it


def test_open_files(tmp_path):
    path = tmp_path / "a.txt"
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        write_conll(file, X, Y)
        assert not file.closed
        write_conll(file, X, Y)
    assert path.read_bytes() == 2 * TEXT.encode()
    with open(path, "wb") as file:
        write_conll(file, X, Y)
    assert path.read_bytes() == TEXT.encode()
    with gzip.open(path, "wb") as file:
        write_conll(file, X, Y)
    assert read_conll(path) == (X, Y)


def test_shipped_corpus(tmp_path):
    data, target = load_chunks(subset="all", return_X_y=True)
    for name, separator in (("a.gz", None), ("b.txt", " "), ("c.txt", " || ")):
        write_conll(tmp_path / name, data, target, separator=separator)
        assert read_conll(tmp_path / name, separator=separator) == (data, target)


def test_odd_tokens_come_back():
    odd = [
        "a b",
        " a ",
        "",
        "#",
        "# x",
        "NA",
        '"',
        "水餃",
        "a\u2028b",
        "\x85",
        "\xa0",
        "-DOCSTART-x",
        "x\ufeff",
        "\x00",
    ]
    labels = ["O"] * (len(odd) - 1) + [" B-x y "]
    assert read_conll(io.StringIO(written([odd], [labels]))) == ([odd], [labels])


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("x\ty", r"sequence 1, token 1: 'x\\ty\\tO' would be read as the columns \['x', 'y', 'O'\]"),
        ("line\nbreak", r"sequence 1, token 1: a line end in 'line\\nbreak'"),
        ("a\r", r"sequence 1, token 1: a line end"),
        ("-DOCSTART-", r"sequence 1, token 1: .* would be read as the start of a document"),
        ("-DOCSTART- x", r"sequence 1, token 1: .* would be read as the start of a document"),
        ("\ud800", r"sequence 1, token 1: .* can't be written as UTF-8"),
    ],
)
def test_tokens_that_would_not_come_back(tmp_path, token, message):
    path = tmp_path / "a.txt"
    path.write_text("old")
    corpus = [["a"], ["b", token]], [["O"], ["O", "O"]]
    with pytest.raises(ValueError, match=message):
        write_conll(path, *corpus)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(ValueError, match=message):
        write_conll(tmp_path / "b.gz", *corpus)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    file = io.StringIO()
    with pytest.raises(ValueError, match=message):
        write_conll(file, *corpus)
    assert file.getvalue() == ""


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        (([["a"], []], [["O"], []]), {}, r"X\[1\] is empty"),
        (([["a b"]],), {}, r"token 0: 'a b' would be read as the columns \['a', 'b'\]"),
        (([[""]],), {}, "would be read as an empty line"),
        (([["\ufeffa"]],), {}, "byte order mark"),
        (([["a", " "]], [["O", "\t"]]), {}, "token 1: .* would be read as an empty line"),
        (([["a", "b"]], [["O", ""]]), {}, "sequence 0, token 1: the label is empty"),
        (([["a", "b"]], [["O", None]]), {}, "sequence 0, token 1: the label is None"),
        (([["a,b"]], [["O"]]), {"separator": ","}, "would be read as the columns"),
        (([["a|"]], [["O"]]), {"separator": "||"}, r"would be read as the columns \['a', '\|O'\]"),
        (([["-DOCSTART-"]], [["O"]]), {"separator": ","}, "start of a document"),
        (([["a"], [("b", "c")]], [["O"], ["O"]]), {}, "sequence 1, token 0: .* a tuple of 2, but the first .* a str"),
        (([[("b",)]], [["O"]]), {}, "would come back as a str"),
        (([[()]], [["O"]]), {}, "two columns or more"),
        (([["a"], ["b", "c"]], [["O"], ["O"]]), {}, r"X\[1\] has 2 tokens but y\[1\] has 1 labels"),
        (([["a"], ["b"]], [["O"]]), {}, r"X\[1\] has no labels"),
        (([["a"]], [["O"], ["O"]]), {}, r"y\[1\] has no tokens"),
    ],
)
def test_what_would_not_come_back(args, options, message):
    with pytest.raises(ValueError, match=message):
        written(*args, **options)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([["a", 3]], [["O", "O"]]), "sequence 0, token 1: a token must be a str"),
        (([[["a", "b"]]], [["O"]]), "sequence 0, token 0: a token must be a str"),
        (([[("a", 1)]], [["O"]]), "sequence 0, token 0: a token must be a str"),
        (([[{"w": "a"}]], [["O"]]), "sequence 0, token 0: a token must be a str"),
        (([["a"], ["b"]], [["O"], [1]]), "sequence 1, token 0: a label must be a str, got 1"),
        ((["rain"], [["O"]]), r"X\[0\] is 'rain'"),
        (("rain", [["O"]]), "one list of tokens a sequence"),
        (([["a"]], ["O"]), "one list of labels a sequence"),
    ],
)
def test_wrong_kinds(args, message):
    with pytest.raises(TypeError, match=message):
        written(*args)


def test_bad_options():
    for separator in ("", 1, "\n", "a\r"):
        with pytest.raises(ValueError, match="separator"):
            written(X, Y, separator=separator)
    for target in (None, 3, ["a"]):
        with pytest.raises(TypeError, match="path or an open file"):
            write_conll(target, X, Y)


# -- property --------------------------------------------------------------------------------------

ODD = st.sampled_from(
    ["-DOCSTART-", "\ufeff", "\t", " ", "\n", "\r", "", "|", "||", "#", "# ", "a", "水", "\x85", "\ud800"]
)
FIELDS = st.lists(ODD, max_size=3).map("".join) | st.text(max_size=3) | st.sampled_from(["a", "b"])


@pytest.mark.parametrize("separator", [None, " ", "|", "||", " \t"])
@pytest.mark.parametrize("width", [0, 2])
@pytest.mark.parametrize("labelled", [True, False])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_written_is_read_or_refused(separator, width, labelled, data):
    token = st.tuples(*[FIELDS] * width) if width else FIELDS
    rows = data.draw(st.lists(st.lists(st.tuples(token, FIELDS), max_size=3), max_size=3))
    tokens, labels = [[x for x, _ in s] for s in rows], [[y for _, y in s] for s in rows]
    corpus = (tokens, labels) if labelled else (tokens,)
    file = io.BytesIO()
    try:
        write_conll(file, *corpus, separator=separator)
    except ValueError:
        assert file.getvalue() == b""
        return
    file.seek(0)
    back = read_conll(file, separator=separator, label=-1 if labelled else None)
    assert back == (corpus if labelled else tokens)
