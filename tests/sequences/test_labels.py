# SPDX-License-Identifier: BSD-3-Clause
"""The list of labels and the coding of labels into integers."""

import copy
import decimal
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_latent import LabelSequences
from sklearn_latent._sequences import LabelCodec
from sklearn_latent._sequences.labels import FOREIGN, UNKNOWN, flatten_labels

Y = [["B", "I"], [], ["O"], ["B", "O"]]


# -- the list ---------------------------------------------------------------------------------------


def test_it_is_a_list():
    y = LabelSequences(Y)
    assert isinstance(y, list)
    assert y == Y
    assert y == Y
    assert repr(y) == repr(Y)
    assert json.loads(json.dumps(y)) == Y
    assert [*y] == Y
    assert y[0] == ["B", "I"]
    assert y[-1] == ["B", "O"]
    assert y[np.int64(2)] == ["O"]
    y.append(["X"])
    assert len(y) == 5


@pytest.mark.parametrize("entries", [Y, [["B", "I"], ["O", "O"]], [["B", "I"]], [["B"]], [[]], [], [np.eye(2)] * 2])
def test_array_has_one_object_a_sequence(entries):
    for array in (np.asarray(LabelSequences(entries)), np.array(LabelSequences(entries), dtype=object)):
        assert array.dtype == object
        assert array.shape == (len(entries),)
        assert all(own is entry for own, entry in zip(array, entries, strict=True))


def test_array_of_another_dtype():
    with pytest.raises(TypeError, match="objects"):
        np.asarray(LabelSequences([[1, 2]]), dtype=float)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (np.array([3, 0, 3]), [3, 0, 3]),
        (np.array([-1]), [3]),
        ([2, 1], [2, 1]),
        ([], []),
        (np.array([], dtype=int), []),
        (np.array([True, False, False, True]), [0, 3]),
        ([True, False, False, True], [0, 3]),
        (pd.Series([True, False, False, True]), [0, 3]),
        (pd.Series([3, 1], index=[0, 2]), [3, 1]),
        (pd.Index([2]), [2]),
    ],
    ids=repr,
)
def test_parts(key, expected):
    part = LabelSequences(Y)[key]
    assert isinstance(part, LabelSequences)
    assert part == [Y[i] for i in expected]


@pytest.mark.parametrize(
    ("key", "error"),
    [(4, IndexError), (np.array([4]), IndexError), ([True, False], IndexError), ("a", TypeError), (0.5, TypeError)],
)
def test_wrong_parts(key, error):
    with pytest.raises(error):
        LabelSequences(Y)[key]


@pytest.mark.parametrize("again", [lambda y: pickle.loads(pickle.dumps(y)), copy.copy, copy.deepcopy])
def test_copies(again):
    other = again(LabelSequences(Y))
    assert isinstance(other, LabelSequences)
    assert other == Y


# -- coding -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([["b", "a"], ["b"]], ["a", "b"]),
        ([[2, 10], [1]], [1, 2, 10]),
        ([[True], [False, True]], [False, True]),
        ([[2.0, -1.0]], [-1.0, 2.0]),
        ([[("b", 1), ("a", 2)], [("a", 1)]], [("a", 1), ("a", 2), ("b", 1)]),
        ([[("a",)]], [("a",)]),
        ([["a\0", "a"]], ["a", "a\0"]),
        ([["", "x"]], ["", "x"]),
        ([[b"b", b"a\0"]], [b"a\0", b"b"]),
        ([[2**70, -1]], [-1, 2**70]),
        ([[2**63, -1]], [-1, 2**63]),
        ([["ä", "a\u0308", "z"]], ["a\u0308", "z", "ä"]),
        ([[None, "a"], [None]], ["a"]),
    ],
)
def test_classes_and_round_trip(y, classes):
    codec = LabelCodec.from_labels(y)
    assert codec.classes.ndim == 1
    assert codec.classes.tolist() == classes
    assert [type(c) for c in codec.classes.tolist()] == [type(c) for c in classes]
    codes = codec.encode(y)
    assert codes.dtype == np.int32
    flat = [label for labels in y for label in labels]
    assert codes.tolist() == [UNKNOWN if label is None else classes.index(label) for label in flat]
    known = codes[codes >= 0]
    back = codec.decode(known, np.array([0, len(known)]))
    assert isinstance(back, LabelSequences)
    assert back == [[label for label in flat if label is not None]]
    assert [type(label) for label in back[0]] == [type(label) for label in flat if label is not None]


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([np.array(["b", "a"])], str),
        ([np.array([2, 1], np.int8)], int),
        ([np.array([True, False])], bool),
        ([np.array([2.0, 1.0], np.float32)], float),
        ([[np.str_("b"), np.str_("a")]], str),
        ([[np.int64(2), 1]], int),
        ([np.array([np.int64(2), 1, None], dtype=object)], int),
        ([(label for label in ["b", "a"])], str),
        ([("b", "a")], str),
    ],
)
def test_labels_become_python_scalars(y, kind):
    flat = flatten_labels(y)
    assert {type(label) for label in flat[0]} - {type(None)} == {kind}
    assert type(LabelCodec.from_labels(flat).classes.tolist()[0]) is kind


def test_classes_have_a_plain_dtype_where_that_loses_nothing():
    assert LabelCodec.from_labels([["b", "a"]]).classes.dtype.kind == "U"
    assert LabelCodec.from_labels([[2, 1]]).classes.dtype.kind == "i"
    assert LabelCodec.from_labels([[True, False]]).classes.dtype == bool


def test_labels_that_are_no_class():
    codec = LabelCodec.from_labels([["a", "b"]])
    assert codec.encode([["b", "x", None, 1, float("nan")]]).tolist() == [1, FOREIGN, UNKNOWN, FOREIGN, FOREIGN]
    assert codec.encode([]).tolist() == codec.encode([[]]).tolist() == []
    with pytest.raises(TypeError, match=r"y\[1\]\[1\].*list"):
        codec.encode([["a"], ["a", ["b"]]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a", "b"], ["a", 1]], r"y\[1\]\[1\] is 1 \(int\), but y\[0\]\[0\] is 'a' \(str\)"),
        ([["a"], [True]], r"y\[1\]\[0\] is True \(bool\)"),
        ([[1], [True]], r"y\[1\]\[0\] is True \(bool\), but y\[0\]\[0\] is 1 \(int\)"),
        ([[1], [2.0]], r"y\[1\]\[0\] is 2.0 \(float\)"),
        ([["a"], ["a", float("nan")]], r"y\[1\]\[1\] is nan"),
        ([[float("nan")]], r"y\[0\]\[0\] is nan"),
        ([[1.0], [2.0, float("inf")]], r"y\[1\]\[1\] is inf"),
        ([[1.0], [2.0, 2.5]], r"y\[1\]\[1\] is 2.5"),
        ([[1j]], r"y\[0\]\[0\] is 1j"),
        ([["a"], [None, {"b"}]], r"y\[1\]\[1\]"),
        ([[{"a": 1}]], r"y\[0\]\[0\] is a dict.*hash"),
        ([[("a",)], [("b",), (["c"],)]], r"y\[1\]\[1\].*hash"),
        ([[(1,), ("a",)]], "sort"),
        ([], "no label"),
        ([[], []], "no label"),
        ([[None], []], "no label"),
    ],
)
def test_labels_that_can_not_be(y, message):
    with pytest.raises(ValueError, match=message):
        LabelCodec.from_labels(y)


def test_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"y\[0\]\[1\] is <NA>"):
        LabelCodec.from_labels([["a", pandas.NA]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("BIO", "one list of labels a sequence"),
        (["B", "O"], r"y\[0\] is 'B'.*one list of labels a sequence"),
        (np.array([0, 1, 0]), r"y\[0\].*one list of labels a sequence"),
        ({"a": ["B"]}, "dict"),
        (3, "int"),
        (np.zeros((2, 3, 1)), r"y\[0\].*1-D"),
        ([["B"], None], r"y\[1\]"),
        ([["B"], {"a": 1}], r"y\[1\]"),
    ],
)
def test_what_is_no_list_of_labels(y, message):
    with pytest.raises(TypeError, match=message):
        flatten_labels(y)


def test_frames_of_labels_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="data frame"):
        flatten_labels(pandas.DataFrame({"label": ["B", "O"]}))


def test_forms_of_y():
    pandas = pytest.importorskip("pandas")
    y = [["B", "I"], ["O", "O"]]
    ragged = np.empty(2, dtype=object)
    ragged[:] = [["B", "I"], ["O", "O"]]
    forms = [
        y, tuple(map(tuple, y)), np.array(y), np.array(y, dtype=object), ragged, LabelSequences(y), iter(y),
        (iter(labels) for labels in y), pandas.Series(y), pandas.Series(y, index=[7, 3]), [pandas.Series(y[0]), y[1]],
        [pandas.Categorical(y[0]), np.array(y[1])], {0: y[0], 1: y[1]}.values(),
    ]  # fmt: skip
    for form in forms:
        assert flatten_labels(form) == y


@given(st.lists(st.lists(st.none() | st.text(max_size=3), max_size=4), max_size=4))
def test_any_text_survives(y):
    known = [[label for label in labels if label is not None] for labels in y]
    if not any(known):
        return
    codec = LabelCodec.from_labels(y)
    offsets = np.concatenate([[0], np.cumsum([len(labels) for labels in known])]).astype(int)
    assert codec.classes.tolist() == sorted({label for labels in known for label in labels})
    assert codec.decode(codec.encode(known), offsets) == known


@pytest.mark.parametrize(
    "label", [decimal.Decimal("NaN"), pd.NaT, float("nan"), np.float32("nan"), np.datetime64("NaT"), pd.NA,
              np.timedelta64("NaT")], ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("make", [list, lambda y: np.array(y, dtype=object)], ids=["list", "array"])
def test_missing_labels_are_refused(label, make):
    """Only None stands for a label that is not known."""
    with pytest.raises(ValueError, match=r"y\[1\]\[2\] is .*(not a label|whole number)"):
        LabelCodec.from_labels(flatten_labels([[label.__class__(1)] if isinstance(label, decimal.Decimal) else [],
                                               make([None, None, label])]))  # fmt: skip


def test_missing_times_in_an_array():
    with pytest.raises(ValueError, match=r"y\[0\]\[1\] is NaT"):
        flatten_labels([np.array(["2020", "NaT"], dtype="M8[Y]")])


def test_labels_without_an_order_are_refused():
    """Sets are sorted by inclusion: classes would stand as the hash seed has it."""
    with pytest.raises(ValueError, match="sortable, got frozenset"):
        LabelCodec.from_labels([[frozenset("a"), frozenset("b")]])


def test_messages_are_short():
    for y, message in (([["a" * 5000, 1]], 400), ([[10**5000, "a"]], 400), ([["a", ["b"] * 5000]], 400)):
        with pytest.raises((ValueError, TypeError)) as caught:
            LabelCodec.from_labels(flatten_labels(y))
        assert len(str(caught.value)) < message
