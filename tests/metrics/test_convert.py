# SPDX-License-Identifier: BSD-3-Clause
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent import LabelSequences
from sklearn_latent.metrics import convert_labels, get_chunks

from .twins import SCHEME_PREFIXES, chunk_lists, label_lists, labels_of, merged

SCHEMES = sorted(SCHEME_PREFIXES)


@pytest.mark.parametrize("target", SCHEMES)
@pytest.mark.parametrize("source", SCHEMES)
@settings(max_examples=10, deadline=None)
@given(data=st.lists(chunk_lists(), max_size=2))
def test_there_and_back(source, target, data):
    corpus = [(merged(chunks) if "io" in (source, target) else chunks, n) for chunks, n in data]
    y = [labels_of(chunks, n, source) for chunks, n in corpus]
    there = convert_labels(y, source, target)
    assert there == [labels_of(chunks, n, target) for chunks, n in corpus]
    assert convert_labels(there, target, source) == y
    assert type(there) is LabelSequences


@settings(max_examples=30, deadline=None)
@given(data=chunk_lists())
def test_io_joins_what_touches(data):
    chunks, n = data
    [there] = convert_labels([labels_of(chunks, n, "iob2")], "iob2", "io")
    assert get_chunks(there, "io", "raise") == merged(chunks)


@pytest.mark.parametrize("source", SCHEMES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_malformed_chunks(source, data):
    labels = data.draw(label_lists(SCHEME_PREFIXES[source]))
    for invalid in ("conlleval", "discard"):
        [out] = convert_labels([labels], source, "iobes", invalid=invalid)
        assert get_chunks(out, "iobes", "raise") == get_chunks(labels, source, invalid)


@pytest.mark.parametrize(
    ("source", "target", "labels", "expected"),
    [
        ("iob2", "iobes", "B-A I-A B-A O B-B", "B-A E-A S-A O S-B"),
        ("iob2", "bilou", "B-A I-A I-A B-A O", "B-A I-A L-A U-A O"),
        ("iob2", "iob1", "B-A I-A B-A B-B O B-A", "I-A I-A B-A I-B O I-A"),
        ("iob1", "iob2", "I-A I-A B-A I-B O I-A", "B-A I-A B-A B-B O B-A"),
        ("iob2", "ioe1", "B-A I-A B-A B-B", "I-A E-A I-A I-B"),
        ("iob2", "ioe2", "B-A I-A B-A B-B", "I-A E-A E-A E-B"),
        ("bilou", "iobes", "B-A I-A L-A U-A O", "B-A I-A E-A S-A O"),
        ("iob2", "io", "B-A I-A B-A B-B O", "I-A I-A I-A I-B O"),
        (None, "iobes", "B-A I-A O", "B-A E-A O"),
        (None, "iob2", "S-a-b O", "B-a-b O"),
        ("iob2", "iobes", "B I O B", "B E O S"),
    ],
)
def test_by_hand(source, target, labels, expected):
    assert convert_labels([labels.split()], source, target) == [expected.split()]


def test_edges():
    assert convert_labels([], "iob2", "iobes") == []
    assert convert_labels([[], ["O"]], None, "iobes") == [[], ["O"]]
    y = [["B-A"]]
    convert_labels(y, "iob2", "iobes")
    assert y == [["B-A"]]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([["O"], ["O", "I-A"]], ("iob2", "iobes"), "sequence 1, position 1: 'I-A' can't begin"),
        ([["S-A"]], ("iob2", "iobes"), "sequence 0, position 0: label 'S-A' has a prefix"),
        ([["ADJ"]], ("iob2", "iobes"), "sequence 0, position 0: label 'ADJ' is no chunk label"),
        ([["B-A", None]], ("iob2", "iobes"), "sequence 0, position 1: label None"),
        ([["B-A"]], ("bio", "iobes"), "scheme must be"),
        ([["B-A"]], ("iob2", "bio"), "target must be"),
        ([["B-A"]], ("iob2", None), "target must be"),
    ],
)
def test_errors(y, options, message):
    with pytest.raises(ValueError, match=message):
        convert_labels(y, *options)
