# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent.metrics import get_chunks
from sklearn_latent.metrics._chunks import chunk_set, infer_scheme

from .twins import SCHEME_PREFIXES, chunk_lists, conlleval_counts, label_lists, labels_of, merged

SCHEMES = sorted(SCHEME_PREFIXES)


@pytest.mark.parametrize("invalid", ["conlleval", "discard", "raise"])
@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=40, deadline=None)
@given(data=chunk_lists())
def test_chunks_survive_being_written_and_read(scheme, invalid, data):
    chunks, n = data
    if scheme == "io":
        chunks = merged(chunks)
    assert get_chunks(labels_of(chunks, n, scheme), scheme, invalid) == chunks


@pytest.mark.parametrize("scheme", ["iob2", "ioe2", "iobes", "bilou"])
@settings(max_examples=40, deadline=None)
@given(data=chunk_lists())
def test_scheme_is_inferred(scheme, data):
    chunks, n = data
    assert get_chunks(labels_of(chunks, n, scheme), invalid="conlleval") == chunks


@pytest.mark.parametrize("prefixes", ["BI", "IE", "BIES", "BILU", "BIESLU"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_number_of_chunks_is_that_of_the_conll_script(prefixes, data):
    labels = data.draw(label_lists(prefixes))
    chunks = get_chunks(labels)
    assert conlleval_counts([labels], [labels]) == (len(chunks),) * 3
    assert chunks == sorted(chunks)
    assert all(0 <= a < b <= len(labels) for a, b, _ in chunks)
    covered = {t for a, b, _ in chunks for t in range(a, b)}
    assert covered == {t for t, label in enumerate(labels) if label != "O"}


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_strict_modes_keep_exactly_what_can_be_written(scheme, data):
    labels = data.draw(label_lists(SCHEME_PREFIXES[scheme]))
    kept = get_chunks(labels, scheme, "discard")
    assert set(kept) <= set(get_chunks(labels, scheme))
    all_sound = labels_of(get_chunks(labels, scheme), len(labels), scheme) == labels
    if all_sound:
        assert get_chunks(labels, scheme, "raise") == kept == get_chunks(labels, scheme)
    else:
        with pytest.raises(ValueError, match=rf"^position \d+: .* in scheme {scheme}$"):
            get_chunks(labels, scheme, "raise")


@pytest.mark.parametrize("name", ["IOB2", "IOE2", "IOBES", "BILOU"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_discard_agrees_with_seqeval_strict(name, data):
    scheme = pytest.importorskip("seqeval.scheme")
    labels = data.draw(label_lists(SCHEME_PREFIXES[name.lower()]))
    theirs = scheme.Entities([labels], getattr(scheme, name)).entities[0]
    assert get_chunks(labels, name.lower(), "discard") == [(e.start, e.end, e.tag) for e in theirs]


@pytest.mark.parametrize(
    ("labels", "scheme", "conlleval", "discard"),
    [
        ([], None, [], []),
        (["O", "O"], None, [], []),
        (["I-P", "I-P"], "iob2", [(0, 2, "P")], []),
        (["B-P", "I-L"], "iob2", [(0, 1, "P"), (1, 2, "L")], [(0, 1, "P")]),
        (["B-P", "B-P"], "iob2", [(0, 1, "P"), (1, 2, "P")], [(0, 1, "P"), (1, 2, "P")]),
        (["B-a-b", "I-a-b"], "iob2", [(0, 2, "a-b")], [(0, 2, "a-b")]),
        (["B", "I", "O", "B"], "iob2", [(0, 2, ""), (3, 4, "")], [(0, 2, ""), (3, 4, "")]),
        (["I-P", "B-P", "I-P"], "iob1", [(0, 1, "P"), (1, 3, "P")], [(0, 1, "P"), (1, 3, "P")]),
        (["O", "B-P"], "iob1", [(1, 2, "P")], []),
        (["I-P", "E-P", "I-P"], "ioe1", [(0, 2, "P"), (2, 3, "P")], [(0, 2, "P"), (2, 3, "P")]),
        (["I-P", "E-P", "O"], "ioe1", [(0, 2, "P")], []),
        (["I-P", "O", "E-P"], "ioe2", [(0, 1, "P"), (2, 3, "P")], [(2, 3, "P")]),
        (["S-P", "S-P"], "iobes", [(0, 1, "P"), (1, 2, "P")], [(0, 1, "P"), (1, 2, "P")]),
        (["U-P", "U-P"], "bilou", [(0, 1, "P"), (1, 2, "P")], [(0, 1, "P"), (1, 2, "P")]),
        (["B-P", "I-P", "O"], "iobes", [(0, 2, "P")], []),
        (["B-P", "S-P", "E-P"], "iobes", [(0, 1, "P"), (1, 2, "P"), (2, 3, "P")], [(1, 2, "P")]),
        (["B-P", "L-P", "L-P"], "bilou", [(0, 2, "P"), (2, 3, "P")], [(0, 2, "P")]),
    ],
)
def test_by_hand(labels, scheme, conlleval, discard):
    assert get_chunks(labels, scheme) == conlleval
    assert get_chunks(labels, scheme, "discard") == discard
    assert chunk_set(labels, scheme) == frozenset(conlleval)


@pytest.mark.parametrize(
    ("labels", "scheme", "message"),
    [
        (["B-P", "I-L"], "iob2", r"position 1: 'I-L' can't begin"),
        (["O", "I-P"], None, None),
        (["O", "B-P", "I-P", "O"], "iobes", r"position 2: 'I-P' can't end"),
        (["O", "B"], "iob1", r"position 1: 'B' can't begin"),
        (["I-P", "E-P"], "ioe1", r"position 1: 'E-P' can't end"),
    ],
)
def test_raise_names_the_position(labels, scheme, message):
    if message is None:  # only I: inferred as io, where it is sound
        assert get_chunks(labels, scheme, "raise") == [(1, 2, "P")]
        return
    with pytest.raises(ValueError, match=message):
        get_chunks(labels, scheme, "raise")


@pytest.mark.parametrize("label", ["ADJ", "X", "", "-", "-NP", "NN-P", "O-P", "b-NP", "BNP", "B_NP", None, 3, 1.5])
def test_what_is_no_chunk_label_is_named(label):
    with pytest.raises(ValueError, match=r"position 1: label ") as info:
        get_chunks(["O", label])
    assert repr(label) in str(info.value)
    with pytest.raises(ValueError, match="is no chunk label"):
        infer_scheme(["O", label])


def test_prefix_outside_the_scheme():
    with pytest.raises(ValueError, match=r"position 1: label 'S-P' has a prefix that scheme iob2 does not have"):
        get_chunks(["B-P", "S-P"], "iob2")


@pytest.mark.parametrize("labels", ["B-NP", [["B-NP"]], [("O",)], 5, {"B-NP": 1}, np.array([["O"]])])
def test_not_one_sequence(labels):
    with pytest.raises(TypeError):
        get_chunks(labels)


def test_forms_of_one_sequence():
    expected = [(0, 2, "NP")]
    labels = ["B-NP", "I-NP"]
    for form in (tuple(labels), np.array(labels), np.array(labels, dtype=object), iter(labels)):
        assert get_chunks(form) == expected
    assert all(type(kind) is str for _, _, kind in get_chunks(np.array(labels)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "IOB2"}, "scheme must be"),
        ({"scheme": 2}, "scheme must be"),
        ({"invalid": "strict"}, "invalid must be"),
        ({"invalid": None}, "invalid must be"),
    ],
)
def test_unknown_options(options, message):
    with pytest.raises(ValueError, match=message):
        get_chunks(["O"], **options)


@pytest.mark.parametrize(
    ("classes", "scheme"),
    [
        ([], None),
        (["O"], None),
        (["I-A", "O"], "io"),
        (["B-A"], "iob2"),
        (["B-A", "I-A", "O"], "iob2"),
        (["I-A", "E-A"], "ioe2"),
        (["E-A"], "ioe2"),
        (["S-A"], "iobes"),
        (["B-A", "E-A"], "iobes"),
        (["B-A", "L-A"], "bilou"),
        (["U-A"], "bilou"),
        (["B", "I", "O"], "iob2"),
    ],
)
def test_infer_scheme(classes, scheme):
    assert infer_scheme(classes) == scheme
    assert infer_scheme(np.array(classes, dtype=str)) == scheme


def test_infer_scheme_names_plain_labels():
    with pytest.raises(ValueError, match=r"^label 'ADJ' is no chunk label"):
        infer_scheme(np.array(["B-A", "ADJ"]))
    with pytest.raises(ValueError, match=r"^label 7 is no chunk label"):
        infer_scheme(np.array([7]))


def test_infer_scheme_of_two():
    with pytest.raises(ValueError, match=r"'S-A' and 'U-B' belong to no one scheme"):
        infer_scheme(["B-A", "S-A", "U-B"])
    assert get_chunks(["S-A", "U-B"]) == [(0, 1, "A"), (1, 2, "B")]  # the CoNLL rules need no scheme
