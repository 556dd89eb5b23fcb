# SPDX-License-Identifier: BSD-3-Clause
import gzip
import io
import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent.io import _lines, read_conll
from sklearn_latent.io._parts import column_parts

LINES = st.sampled_from(
    ["", " \t", "# a", "# b", "-DOCSTART- -X-", "-DOCSTART-", "EU NNP", "b  c", "x NN", "é ☃", "\u2028 \x0b"]
)


@st.composite
def texts(draw):
    ends = st.sampled_from(["\n", "\r\n"])
    text = "".join(line + draw(ends) for line in draw(st.lists(LINES, max_size=14)))
    return text if draw(st.booleans()) else text.removesuffix("\n").removesuffix("\r")


def both(text, **options):
    """What the reader of whole files says, or its message, and the same of the parts put together."""
    data, block = text.encode(), options.pop("block")
    try:
        whole = read_conll(io.BytesIO(data), return_documents=True, **options)
    except ValueError as error:
        with pytest.raises(ValueError) as other:
            list(column_parts(io.BytesIO(data), **options))
        assert str(other.value) == str(error)
        return
    old, _lines._BLOCK_BYTES = _lines._BLOCK_BYTES, block
    try:
        parts = list(column_parts(io.BytesIO(data), **options))
    finally:
        _lines._BLOCK_BYTES = old
    X, documents = whole[0], whole[-1]
    assert [own for part in parts for own in part.X] == X
    assert [n for part in parts for n in part.documents] == documents.tolist()
    if len(whole) == 3:
        assert [own for part in parts for own in part.y] == whole[1]
    lines = [line for part in parts for line in part.lines]
    assert lines == text.removeprefix("\ufeff").removesuffix("\n").split("\n") if text else lines == []
    for part in parts:
        for i, tokens in enumerate(part.X):
            assert part.starts[i] == part.first + part.rows(i).start
            # Each token begins its own line.
            heads = [re.match(r"[^ \t\r]*", line)[0] for line in part.lines[part.rows(i)]]
            if options.get("label") != 0:
                assert heads == [token if isinstance(token, str) else token[0] for token in tokens]
    assert [part.first for part in parts] == [1 + sum(len(p.lines) for p in parts[:k]) for k in range(len(parts))]


@settings(deadline=None, max_examples=300)
@given(texts(), st.booleans(), st.sampled_from([None, -1, 0]), st.integers(2, 40))
def test_parts_are_the_whole(text, comments, label, block):
    both(text, comments=comments, label=label, block=block)


def test_marks_compression_and_text():
    text = "\ufeff\nEU NNP\n\nBonn NNP"
    for source in (io.BytesIO(gzip.compress(text.encode())), io.StringIO(text)):
        parts = list(column_parts(source))
        assert [line for part in parts for line in part.lines] == ["", "EU NNP", "", "Bonn NNP"]
        assert [tokens for part in parts for tokens in part.X] == [[("EU", "NNP")], [("Bonn", "NNP")]]
        assert [n for part in parts for n in part.starts] == [2, 4]
        assert parts[-1].token == (2, "EU NNP", 2) and parts[-1].joint == " "


@pytest.mark.parametrize(
    ("text", "separator", "joint"),
    [("a b", None, " "), ("a\tb", None, "\t"), ("a", None, "\t"), ("a,b", ",", ","), ("", None, None)],
)
def test_what_stands_between_columns(text, separator, joint):
    assert [part.joint for part in column_parts(io.BytesIO(text.encode()), separator=separator)] == [joint] * bool(text)


def test_least_number_of_lines(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("a b\n\n" * 100_000)
    few = [len(part.lines) for part in column_parts(path)]
    many = [len(part.lines) for part in column_parts(path, min_lines=50_000)]
    assert sum(few) == sum(many) == 200_000
    assert max(few) < 50_000 <= min(many[:-1])


def test_a_sequence_that_has_ended_comes_before_the_rest_is_there():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        parts = column_parts(source)
        target.write(b"EU NNP\nrejects VBZ\n\nBo")
        first = next(parts)
        assert first.X == [[("EU", "NNP"), ("rejects", "VBZ")]] and first.lines == ["EU NNP", "rejects VBZ", ""]
        target.write(b"nn NNP\n")
        target.close()
        assert [part.X for part in parts] == [[[("Bonn", "NNP")]]]


def test_strings_are_forgotten():
    # Each string once: nothing of a part is needed for the next ones.
    parts = column_parts(io.BytesIO(b"".join(b"w%d x\n\n" % k for k in range(200_000))))
    sizes = []
    for _ in parts:
        if parts.gi_frame is not None:
            reader = parts.gi_frame.f_locals["reader"]
            sizes.append(len(reader._rows._strings) + len(reader._rows))
    assert max(sizes) < 4 * (1 << 16)
