# SPDX-License-Identifier: BSD-3-Clause
import codecs
import gzip
import io
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent import LabelSequences
from sklearn_latent.io import read_conll

TEXT = "EU NNP B-ORG\nrejects VBZ O\n\nBonn NNP B-LOC\n"
X = [[("EU", "NNP"), ("rejects", "VBZ")], [("Bonn", "NNP")]]
Y = [["B-ORG", "O"], ["B-LOC"]]


def read(text, **options):
    """Read text as bytes, the way a file is."""
    return read_conll(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def test_result():
    X_read, y = read(TEXT)
    assert X_read == X
    assert y == Y
    assert type(y) is LabelSequences
    assert type(X_read) is list and type(X_read[0]) is list and type(X_read[0][0]) is tuple


# -- what can be read ------------------------------------------------------------------------------


@pytest.mark.parametrize("compress", [False, True])
def test_sources(tmp_path, compress):
    path = tmp_path / ("corpus.txt.gz" if compress else "corpus.txt")
    path.write_bytes(gzip.compress(TEXT.encode()) if compress else TEXT.encode())
    assert read_conll(path) == (X, Y)
    assert read_conll(str(path)) == (X, Y)
    with open(path, "rb") as file:
        assert read_conll(file) == (X, Y)
        assert not file.closed
    with (gzip.open if compress else open)(path, "rt", encoding="utf-8") as file:
        assert read_conll(file) == (X, Y)
        assert not file.closed
    with gzip.open(path) if compress else open(path, "rb", buffering=0) as file:
        assert read_conll(file) == (X, Y)
    stream = io.BytesIO(path.read_bytes())
    assert read_conll(stream) == (X, Y)
    assert not stream.closed


def test_compression_is_seen_in_the_bytes_not_the_name(tmp_path):
    path = tmp_path / "corpus.gz"
    path.write_text(TEXT)
    assert read_conll(path) == (X, Y)
    path.write_bytes(gzip.compress(TEXT[:20].encode()) + gzip.compress(TEXT[20:].encode()))
    assert read_conll(path.rename(tmp_path / "corpus.txt")) == (X, Y)


def test_text_streams():
    assert read_conll(io.StringIO(TEXT)) == (X, Y)
    assert read_conll(io.StringIO(TEXT.replace("\n", "\r\n"), newline="")) == (X, Y)
    assert read_conll(io.StringIO("\n" + TEXT)) == (X, Y)


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\xa0", "\u3000", "\x0b", "\x0c", "\x1c", "\u200b"])
def test_unusual_white_space_stays_in_the_token(odd, tmp_path):
    token = f"a{odd}b"
    text = f"{token} O\n{odd} O\n\nc O\n"
    expected = [[token, odd], ["c"]]
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    assert read_conll(path)[0] == expected
    assert read_conll(io.StringIO(text))[0] == expected
    with codecs.open(path, encoding="utf-8") as file:  # its lines end at more than line ends
        assert read_conll(file)[0] == expected
    assert read(text.replace(" ", "\t"))[0] == expected


@pytest.mark.parametrize("text", ["", "\n", "\n\n \t\n", "\ufeff", "-DOCSTART-\n"])
def test_nothing_in_it(text):
    assert read(text) == ([], [])
    assert read(text, label=None) == []
    assert read(text, label=None, return_documents=True)[1].shape == (0,)


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.rstrip("\n"), "\n\n" + TEXT + "\n\n", TEXT.replace("\n\n", "\n\n \t \n\n")]
)
def test_empty_lines(text):
    assert read(text) == (X, Y)


def test_windows_line_ends():
    X_read, y = read(b"EU B-ORG\r\nrejects O\r\n\r\nBonn B-LOC\r\n")
    assert X_read == [["EU", "rejects"], ["Bonn"]]
    assert y == [["B-ORG", "O"], ["B-LOC"]]


def test_byte_order_mark(tmp_path):
    assert read("\ufeff" + TEXT) == (X, Y)
    assert read_conll(io.StringIO("\ufeff" + TEXT)) == (X, Y)
    assert read("\ufeff\ufeffEU O\n")[0] == [["\ufeffEU"]]


# -- columns ---------------------------------------------------------------------------------------


def test_several_spaces():
    assert read("EU  NNP   B-ORG\n  a \t b O  \n") == ([[("EU", "NNP"), ("a", "b")]], [["B-ORG", "O"]])


def test_spaces_inside_tokens_of_a_tab_file():
    assert read("New York\tNNP\tB-LOC\n") == ([[("New York", "NNP")]], [["B-LOC"]])
    assert read("\tO\n a \tO\n") == ([["", " a "]], [["O", "O"]])


def test_separator():
    assert read("a b,,B-X\n , c,O\n", separator=",") == ([[("a b", ""), (" ", " c")]], [["B-X", "O"]])
    assert read("a  O\n", separator=" ") == ([[("a", "")]], [["O"]])
    assert read("a||O\n", separator="||") == ([["a"]], [["O"]])
    assert read("a\tb O\n", separator=" ") == ([["a\tb"]], [["O"]])


@pytest.mark.parametrize("label", [0, -3, 1, -2, 2, -1])
def test_label_column(label):
    rows = [["a", "b", "c"], ["d", "e", "f"]]
    X_read, y = read("".join(" ".join(row) + "\n" for row in rows), label=label)
    assert y == [[row[label] for row in rows]]
    assert X_read == [[tuple(v for i, v in enumerate(row) if i != label % 3) for row in rows]]


def test_no_label_column():
    assert read("a b\nc d\n", label=None) == [[("a", "b"), ("c", "d")]]
    assert read("a\n\nb\n", label=None) == [["a"], ["b"]]


def test_quotes_and_missing_value_words_are_words():
    tokens = ["EU", "NA", "null", '"', "foo", '"', "bar", "nan", "None", "\\N", "'"]
    assert read("".join(f"{t}\tO\n" for t in tokens))[0] == [tokens]


# -- documents and comments ------------------------------------------------------------------------


@pytest.mark.parametrize("gap", ["", "\n"])
@pytest.mark.parametrize("mark", ["-DOCSTART- -X- O O", "-DOCSTART- -X- -X- O", "-DOCSTART-", "-DOCSTART-\t-X-\tO\tO"])
def test_document_marks(mark, gap):
    text = "".join(f"{mark}\n{gap}{w} NNP B-NP B-X\n\n" for w in "abc")
    X_read, y, documents = read(text, return_documents=True)
    assert X_read == [[(w, "NNP", "B-NP")] for w in "abc"]
    assert y == [["B-X"]] * 3
    assert documents.tolist() == [0, 1, 2] and documents.dtype == np.int64


def test_document_numbers():
    assert read("a O\n\nb O\n", return_documents=True)[2].tolist() == [0, 0]
    assert read("a O\n-DOCSTART- O\nb O\n\nc O\n", return_documents=True)[2].tolist() == [0, 1, 1]
    empty_document = "-DOCSTART-\n\n-DOCSTART-\n\na O\n"
    assert read(empty_document, return_documents=True)[2].tolist() == [1]
    assert read("-DOCSTART-,O\na,O\n", separator=",")[0] == [["a"]]
    assert read("-DOCSTART-x O\n")[0] == [["-DOCSTART-x"]]
    X_only, documents = read("-DOCSTART-\na\n", label=None, return_documents=True)
    assert (X_only, documents.tolist()) == ([["a"]], [0])


def test_comments():
    text = "# id = 7\n#tag O\nBonn B-LOC\n\n#a O\n#b O\n\n# x\n# y\nc O\n# O\n"
    assert read(text, comments=True) == (
        [["#tag", "Bonn"], ["#a", "#b"], ["c", "#"]],
        [["O", "B-LOC"], ["O"] * 2, ["O"] * 2],
    )
    with pytest.raises(ValueError, match=r"line 1: 4 columns, but line 2 has 2: '# id = 7' \(comments=True"):
        read("# id = 7\n#tag O\nBonn B-LOC\n")
    assert read("#\tO\n# x\tO\n", comments=True)[0] == [["#", "# x"]]


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("EU B-ORG\nrejects\nfoo O\n", {}, "line 2: 1 columns, but line 1 has 2: 'rejects'"),
        ("EU O\n\nfoo O\nbar baz O\n", {}, "line 4: 3 columns, but line 1 has 2: 'bar baz O'"),
        ("a\tO\nb O\n", {}, "line 2: 1 columns, but line 1 has 2: 'b O'"),
        ("a O\n", {"label": 2}, "line 1: no column 2, there are 2: 'a O'"),
        ("a O\n", {"label": -3}, "line 1: no column -3, there are 2: 'a O'"),
        ("\na\n", {}, "line 2: a single column"),
        ("a\tO\nb\t\n", {}, r"line 2: the label is empty: 'b\\t'"),
        ("a O\nb\rc O\n", {}, r"line 2: a carriage return inside the line"),
        (b"a O\nb\xff O\n", {}, "line 2: not valid UTF-8"),
        ("a O\n".encode("utf-16"), {}, "line 1: not valid UTF-8"),
    ],
)
def test_bad_lines(tmp_path, text, options, message):
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ValueError, match=message) as info:
        read_conll(path, **options)
    assert str(info.value).startswith(f"{path}, line ")
    with pytest.raises(ValueError, match="^<stream>, " + message):
        read_conll(io.BytesIO(path.read_bytes()), **options)


def test_bad_bytes_in_a_text_file(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"a O\nb\xff O\n")
    with (
        open(path, encoding="utf-8") as file,
        pytest.raises(ValueError, match=r"corpus.txt, line 1 or later: not valid utf-8"),
    ):
        read_conll(file)


def test_gzip_cut_short(tmp_path):
    whole = gzip.compress(("".join(f"w{i} O\n\n" for i in range(2000))).encode())
    path = tmp_path / "corpus.txt.gz"
    for size in (2, 5, 12, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"corpus.txt.gz, after line \d+: the gzip stream is cut short or damaged"):
            read_conll(path)
    path.write_bytes(whole[:-8] + bytes(8))
    with pytest.raises(ValueError, match="damaged"):
        read_conll(path)


@pytest.mark.parametrize("source", [None, 3, ["a O"], b"corpus.txt"])
def test_not_a_source(source):
    with pytest.raises(TypeError, match="path or an open file"):
        read_conll(source)


def test_text_where_a_path_belongs():
    with pytest.raises(ValueError, match=r"io\.StringIO"):
        read_conll(TEXT)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_conll(pathlib.Path(tmp_path) / "no.txt")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"label": "O"}, TypeError),
        ({"label": True}, TypeError),
        ({"separator": ""}, ValueError),
        ({"separator": 1}, ValueError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error, match=next(iter(options))):
        read(TEXT, **options)


# -- property --------------------------------------------------------------------------------------

TOKENS = st.text(st.characters(exclude_characters="\r\n\t", exclude_categories=("Cs",)), min_size=1, max_size=4).filter(
    lambda t: t.strip(" ") and t != "-DOCSTART-" and not t.startswith("\ufeff")
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.tuples(TOKENS, TOKENS, TOKENS), min_size=1, max_size=4), max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_is_written_with_tabs_comes_back(corpus, end):
    text = "".join("".join("\t".join(row) + end for row in rows) + end for rows in corpus)
    X_read, y = read(text)
    assert X_read == [[(a, b) for a, b, _ in rows] for rows in corpus]
    assert y == [[c for _, _, c in rows] for rows in corpus]
