# SPDX-License-Identifier: BSD-3-Clause
"""The reader and the writer, which look at each different line once, against twins that look at every line."""

import gc
import gzip
import io
import re
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent.io import _conll, _lines, _write_conll, read_conll, write_conll


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_lines, "_BLOCK_BYTES", 7)
    monkeypatch.setattr(_lines, "_BATCH_LINES", 3)
    monkeypatch.setattr(_conll, "_MOST_LINES", 2)
    monkeypatch.setattr(_write_conll, "_MOST_LINES", 2)


def slow_read(data, label, separator, comments):
    """X, y, documents by the letter of the documentation; a str for the place of an error."""
    X, y, documents, rows = [], [], [], []
    document, fresh, first, split = 0, True, None, None

    def end():
        if rows:
            X.append([token for token, _ in rows])
            y.append([own for _, own in rows])
            documents.append(document)
            rows.clear()

    lines = data.split(b"\n")
    for n, raw in enumerate(lines if lines[-1] else lines[:-1], start=1):
        try:
            line = raw.decode().rstrip("\r")
        except UnicodeDecodeError:
            return f"line {n}: not valid UTF-8"
        if "\r" in line:
            return f"line {n}: a carriage return"
        start = line[: len("-DOCSTART-")] == "-DOCSTART-" and re.fullmatch(r"[ \t].*", line[10:] or " ")
        if not line.strip(" \t") or start:
            end()
            if start:
                document += not fresh
                fresh = False
            continue
        if comments and not rows and line.startswith("# "):
            continue
        if first is None:
            tab = separator is None and "\t" in line
            split = re.compile("\t" if tab else separator or "[ \t]+").split
            strip = None if tab or separator else " \t"
        fields = split(line.strip(strip) if strip else line)
        if first is None:
            first, first_line = n, line
            width = len(fields)
            if label is not None and width == 1:
                return f"line {n}: a single column"
        if len(fields) != width:
            if first_line.startswith("#") and not line.startswith("# "):
                return f"line {first}: {width} columns, but line {n} has {len(fields)}"
            return f"line {n}: {len(fields)} columns, but line {first} has {width}"
        if label is not None and not fields[label]:
            return f"line {n}: the label is empty"
        own = None if label is None else fields.pop(label)
        rows.append((fields[0] if len(fields) == 1 else tuple(fields), own))
        fresh = False
    end()
    return X, y, documents


LINES = [
    b"a O",
    b"b O",
    b"a B",
    b"a  O",
    b"",
    b"",
    b"",
    b" \t",
    b"# x",
    b"#x O",
    b"-DOCSTART- O",
    b"-DOCSTART-",
    b"a",
    b"a\tO",
    b"b\tO",
    b"\tO",
    b"a\t",
    b"a O\r",
    b"\r",
    b"a\rb O",
    b"\xff O",
    "水 O".encode(),
    b"a b O",
    b"a,b",
]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(LINES[:9]) | st.sampled_from(LINES), max_size=12),
    st.booleans(),
    st.sampled_from([None, -1, 0]),
    st.sampled_from([None, None, ",", " "]),
    st.booleans(),
)
def test_any_file_is_read_as_the_twin_reads_it(lines, ends, label, separator, comments):
    data = b"\n".join(lines) + b"\n" * ends
    expected = slow_read(data, label, separator, comments)
    options = {"label": label, "separator": separator, "comments": comments, "return_documents": True}
    for wrap in (bytes, gzip.compress):
        source = io.BytesIO(wrap(data))
        if isinstance(expected, str):
            with pytest.raises(ValueError, match=f"^<stream>, {re.escape(expected)}"):
                read_conll(source, **options)
            continue
        X, *y, documents = read_conll(source, **options)
        assert expected[0] == X and documents.tolist() == expected[2]
        assert y == ([] if label is None else [expected[1]])
    if b"\xff" not in data:
        text = io.StringIO(data.decode(), newline="\n")
        if isinstance(expected, str):
            with pytest.raises(ValueError, match=f"^<stream>, {re.escape(expected)}"):
                read_conll(text, **options)
        else:
            assert read_conll(text, **options)[0] == expected[0]


def test_a_line_longer_than_blocks():
    word = "x" * 1000
    assert read_conll(io.BytesIO(f"{word} O\n\n{word} B".encode())) == ([[word], [word]], [["O"], ["B"]])
    assert read_conll(io.BytesIO(b"\n" * 1000 + b"a O\n"))[0] == [["a"]]


def test_what_comes_before_damage_is_judged_before_it(tmp_path, monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    words = "".join(f"w{n} O\n" for n in rng.integers(1 << 60, size=20_000))
    path = tmp_path / "corpus.gz"
    path.write_bytes(gzip.compress(("a O\nb\n" + words).encode())[:-20])
    with pytest.raises(ValueError, match=r"line 2: 1 columns"):
        read_conll(path)
    path.write_bytes(gzip.compress(("a O\nb O\n" + words).encode())[:-20])
    with pytest.raises(ValueError, match=r"after line \d{5}: the gzip stream is cut short"):
        read_conll(path)


def test_bad_bytes_of_a_text_file_come_after_the_lines_before_them(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"a O\nb\n" + b"a O\n" * 10_000 + b"\xff O\n")
    with open(path, encoding="utf-8") as file, pytest.raises(ValueError, match="line 2: 1 columns"):
        read_conll(file)


def test_equal_tokens_are_one_object(monkeypatch):
    monkeypatch.undo()
    X, y = read_conll(io.BytesIO(b"a NN B-X\nb NN O\n\na NN B-X\na NN O\n"))
    assert X[0][0] is X[1][0] and X[0][0] == X[1][1]
    assert X[0][0][1] is X[0][1][1] and y[0][0] is y[1][0]
    assert read_conll(io.BytesIO(b"a\n\na\n"), label=None) == [["a"], ["a"]]


def test_the_search_for_cycles_is_as_it_was():
    class Noting(io.BytesIO):
        during = None

        def read(self, size=-1):
            if size:
                self.during = gc.isenabled()
            return super().read(size)

    source = Noting(b"a O\n")
    assert gc.isenabled()
    read_conll(source)
    assert gc.isenabled() and source.during is False
    with pytest.raises(ValueError, match="line 2"):
        read_conll(io.BytesIO(b"a O\nb\n"))
    assert gc.isenabled()
    gc.disable()
    try:
        read_conll(io.BytesIO(b"a O\n"))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nothing_of_a_file_stays_when_its_corpus_goes():
    gc.disable()
    try:
        X, y = read_conll(io.BytesIO(b"a O\n\n"))
        owner = weakref.ref(y)
        del X, y
        assert owner() is None  # without a search for cycles
    finally:
        gc.enable()


# -- writing ---------------------------------------------------------------------------------------

FIELDS = st.sampled_from(["a", "b", "", " ", "#", "a b", "x\ty", "\n", "-DOCSTART-", "\ufeff", "\ud800", "a,", "NN"])
TOKENS = st.one_of(FIELDS, st.tuples(FIELDS, FIELDS), st.sampled_from([("a",), ["a"], 3, None, ("a", 3)]))
PLAIN = st.sampled_from([("a", "NN"), ("b", "NN"), ("a", "DT")])


def outcome(X, y, separator):
    file = io.StringIO(newline="")
    try:
        write_conll(file, X, y, separator=separator)
    except (TypeError, ValueError) as error:
        assert file.getvalue() == ""
        return type(error), str(error)
    return file.getvalue()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(PLAIN | TOKENS, min_size=1, max_size=5) | st.lists(PLAIN, max_size=5), max_size=4),
    st.sampled_from([None, ",", " "]),
    st.none() | st.sampled_from(["O", "B-X", "", " ", None, 1, ["O"]]),
    st.booleans(),
)
def test_any_corpus_is_written_as_without_memory(X, separator, odd, labelled):
    y = None
    if labelled:
        y = [["O"] * len(tokens) for tokens in X]
        if y and y[-1] and odd is not None:
            y[-1][-1] = odd
    fast = outcome(X, y, separator)
    # The twin remembers no line, so that each is made and checked.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_write_conll._Lines, "__setitem__", lambda self, key, value: None)
        assert outcome(X, y, separator) == fast
    if isinstance(fast, str) and X:
        joint = "\t" if separator is None else separator
        rows = [[[token] if isinstance(token, str) else list(token) for token in tokens] for tokens in X]
        if labelled:
            rows = [[[*row, label] for row, label in zip(*pair, strict=True)] for pair in zip(rows, y, strict=True)]
        assert fast == "".join("".join(joint.join(row) + "\n" for row in own) + "\n" for own in rows)


def test_a_bad_token_after_good_ones_that_came_before():
    good = [("a", "NN"), ("b", "NN")] * 3
    with pytest.raises(ValueError, match=r"sequence 2, token 5: a line end in 'x\\n'"):
        write_conll(io.StringIO(), [good, good, [*good[:5], ("x\n", "NN")]], [["O"] * 6] * 3)
    with pytest.raises(TypeError, match=r"sequence 1, token 6: a token must be"):
        write_conll(io.StringIO(), [good, [*good, ["a", "NN"]]])
    with pytest.raises(ValueError, match=r"sequence 1, token 1: the label is None"):
        write_conll(io.StringIO(), [good, good], [["O"] * 6, ["O", None, *["O"] * 4]])
