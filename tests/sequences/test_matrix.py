# SPDX-License-Identifier: BSD-3-Clause
"""The container of features: what it takes, how it is cut, and what it keeps."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import resample

from sklearn_latent import SequenceMatrix

LENGTHS = [3, 0, 2, 1, 4]
NAMES = ["a", "b", "c"]
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def dense(dtype=np.float64):
    return (np.arange(30).reshape(10, 3) % 5).astype(dtype)


def stacked(kind, dtype=np.float64):
    return dense(dtype) if kind == "dense" else sp.csr_array(dense(dtype))


def rows(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def assert_same(sm, expected):
    """`expected`: the 2-D arrays that the sequences should be."""
    sm._check()
    assert len(sm) == len(expected)
    assert sm.shape == (len(expected),)
    assert sm.lengths.tolist() == [len(e) for e in expected]
    for own, right in zip(sm, expected, strict=True):
        np.testing.assert_array_equal(rows(own), right)


def parts():
    bounds = np.concatenate([[0], np.cumsum(LENGTHS)])
    return [dense()[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


@pytest.fixture(params=["dense", "sparse"])
def sm(request):
    return SequenceMatrix(stacked(request.param), LENGTHS, feature_names=NAMES, edge_only=[False, True, False])


# -- construction -----------------------------------------------------------------------------------


def test_what_it_says(sm):
    sm._check()
    assert len(sm) == 5
    assert sm.shape == (5,)
    assert sm.lengths.tolist() == LENGTHS
    assert sm.offsets.tolist() == [0, 3, 3, 5, 6, 10]
    assert sm.lengths.dtype == sm.offsets.dtype == np.int64
    assert sm.values.shape == (10, 3)
    assert (sm.n_tokens, sm.n_features, sm.dtype) == (10, 3, np.float64)
    assert sm.feature_names.tolist() == NAMES
    assert sm.edge_only.tolist() == [False, True, False]
    assert "5 sequences, 10 tokens, 3 features" in repr(sm)
    assert_same(sm, parts())


def test_names_and_marks_are_optional():
    sm = SequenceMatrix(dense(), LENGTHS)
    assert sm.feature_names is None
    assert sm.edge_only is None


def test_names_may_be_a_callable_asked_once_and_late():
    asked = []

    def names():
        asked.append(1)
        return NAMES

    sm = SequenceMatrix(dense(), LENGTHS, feature_names=names)
    assert asked == []
    assert sm.feature_names.tolist() == sm.feature_names.tolist() == NAMES
    assert asked == [1]


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix], ids=["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_formats(make, form):
    sm = SequenceMatrix(make(dense()).asformat(form), LENGTHS)
    assert isinstance(sm.values, sp.csr_array)
    assert_same(sm, parts())


DTYPES = [bool, np.int8, np.int32, np.uint64, np.float32, np.float64]


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("dense", np.float16)]
    + [(kind, dtype) for kind in ("dense", "sparse") for dtype in DTYPES],  # SciPy has no float16
)
def test_real_dtypes_are_kept(kind, dtype):
    sm = SequenceMatrix(stacked(kind, dtype), LENGTHS)
    assert sm.dtype == dtype
    assert_same(sm, [p.astype(dtype) for p in parts()])
    assert sm[[4, 0]].dtype == dtype


def test_dense_input_is_not_copied_unless_its_order_is_wrong():
    X = dense()
    assert np.shares_memory(SequenceMatrix(X, LENGTHS).values, X)
    fortran = SequenceMatrix(np.asfortranarray(X), LENGTHS)
    assert fortran.values.flags.c_contiguous
    assert_same(fortran, parts())
    assert_same(SequenceMatrix(np.repeat(X, 2, axis=1)[:, ::2], LENGTHS), parts())


def test_csr_input_is_not_copied():
    X = sp.csr_array(dense())
    sm = SequenceMatrix(X, LENGTHS)
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(sm.values, name), getattr(X, name))


@pytest.mark.parametrize("X", [dense().tolist(), dense().astype(object)], ids=type)
def test_whatever_numpy_reads_as_a_matrix(X):
    assert_same(SequenceMatrix(X, LENGTHS), parts())


@pytest.mark.parametrize("lengths", [LENGTHS, tuple(LENGTHS), np.array(LENGTHS, np.uint8), np.array(LENGTHS, np.int32)])
def test_forms_of_lengths(lengths):
    sm = SequenceMatrix(dense(), lengths)
    assert sm.lengths.dtype == np.int64
    assert_same(sm, parts())


@pytest.mark.parametrize(
    ("X", "lengths", "error", "message"),
    [
        (dense(), [3, 2], ValueError, "5 tokens, but X has 10 rows"),
        (dense(), [11, -1], ValueError, r"lengths\[1\] is -1"),
        (dense(), [5.0, 5.0], TypeError, "integers"),
        (dense(), [[5, 5]], ValueError, "1-D"),
        (dense(), 10, ValueError, "1-D"),
        (np.arange(10.0), [10], ValueError, "2-D"),
        (np.zeros((2, 5, 3)), [5, 5], ValueError, "2-D"),
        (dense().astype(complex), LENGTHS, TypeError, "complex"),
        (dense().astype(str), LENGTHS, TypeError, "real numbers"),
        (np.array([["a", None]], dtype=object), [1], TypeError, "real numbers"),
    ],
)
def test_what_it_refuses(X, lengths, error, message):
    with pytest.raises(error, match=message):
        SequenceMatrix(X, lengths)


def test_wrong_names_and_marks():
    with pytest.raises(ValueError, match="2 feature names for 3 columns"):
        SequenceMatrix(dense(), LENGTHS, feature_names=["a", "b"])
    with pytest.raises(ValueError, match=r"edge_only.*shape \(3,\)"):
        SequenceMatrix(dense(), LENGTHS, edge_only=[True, False])
    with pytest.raises(ValueError, match="edge_only"):
        SequenceMatrix(dense(), LENGTHS, edge_only=[1, 0, 1])


def test_nothing_at_all():
    for X in (np.zeros((0, 3)), sp.csr_array((0, 3))):
        sm = SequenceMatrix(X, [])
        assert_same(sm, [])
        assert_same(sm[:], [])
        assert_same(sm[[]], [])
        assert np.asarray(sm).shape == (0,)


# -- cutting ----------------------------------------------------------------------------------------

KEYS = [
    slice(None), slice(1, 4), slice(3, 1), slice(None, None, 2), slice(None, None, -1), slice(-2, None), slice(9, 20),
    [0, 2], [2, 0, 2], [], [-1, 1], np.array([1, 2, 3]), np.array([4], np.uint8), np.array([], dtype=int),
    [True, False, True, False, True], np.array([False] * 5), np.arange(5) > 2, range(1, 3),
]  # fmt: skip


@pytest.mark.parametrize("trailing", [False, True], ids=["plain", "ellipsis"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_every_kind_of_index(sm, key, trailing):
    cut = sm[key, ...] if trailing else sm[key]
    if isinstance(key, slice):
        expected = parts()[key]
    else:
        index = np.asarray(key, dtype=None if len(key) else int)
        expected = [parts()[i] for i in np.arange(5)[index]]
    assert isinstance(cut, SequenceMatrix)
    assert_same(cut, expected)
    assert cut.feature_names.tolist() == NAMES
    assert cut.edge_only.tolist() == [False, True, False]
    assert cut.dtype == sm.dtype
    assert sp.issparse(cut.values) == sp.issparse(sm.values)


@pytest.mark.parametrize("key", [0, -1, np.int64(2), np.uint8(4), 1])
def test_one_sequence(sm, key):
    for one in (sm[key], sm[key, ...]):
        assert one.shape == (LENGTHS[int(key)], 3)
        np.testing.assert_array_equal(rows(one), parts()[int(key)])


@pytest.mark.parametrize(
    "key",
    [5, -6, [5], [-6], [True, False], np.zeros((2, 2), int), (0, 1), [0.0], ["a"], None, True],
    ids=repr,
)
def test_wrong_indices(sm, key):
    with pytest.raises(IndexError):
        sm[key]


@pytest.mark.parametrize("key", [slice(2, 5), [2, 3, 4], np.array([False, False, True, True, True])], ids=repr)
def test_a_contiguous_run_is_not_copied(sm, key):
    whole, run = sm.values, sm[key].values
    if sp.issparse(whole):
        assert np.shares_memory(run.data, whole.data)
        assert np.shares_memory(run.indices, whole.indices)
        whole.data[-1] = 9
        assert run.data[-1] == 9
    else:
        assert np.shares_memory(run, whole)


def test_wide_indices_are_neither_narrowed_nor_copied():
    X = sp.csr_array(dense())
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    sm = SequenceMatrix(X, LENGTHS)
    assert sm.values.indices.dtype == sm.values.indptr.dtype == np.int64
    run = sm[2:]
    assert np.shares_memory(run.values.indices, X.indices)
    assert_same(run, parts()[2:])
    assert_same(sm[[4, 0]], [parts()[4], parts()[0]])


def test_memory_that_is_read_only():
    X = dense()
    X.setflags(write=False)
    sm = SequenceMatrix(X, LENGTHS)
    assert np.shares_memory(sm.values, X)
    assert_same(sm[[4, 0]], [parts()[4], parts()[0]])
    csr = sp.csr_array(dense())
    for array in (csr.data, csr.indices, csr.indptr):
        array.setflags(write=False)
    sm = SequenceMatrix(csr, LENGTHS)
    assert_same(sm, parts())
    assert_same(sm[1:3], parts()[1:3])


def test_scikit_learn_cuts_it(sm):
    for train, test in KFold(2).split(sm):
        assert_same(sm[train, ...], [parts()[i] for i in train])
        assert len(sm[test]) == len(test)
    y = [[i] * n for i, n in enumerate(LENGTHS)]
    left, right, y_left, y_right = train_test_split(sm, y, test_size=2, random_state=0)
    for cut, labels in ((left, y_left), (right, y_right)):
        assert isinstance(cut, SequenceMatrix)
        assert cut.lengths.tolist() == [len(own) for own in labels]
    again = resample(sm, n_samples=7, random_state=0)
    assert len(again) == 7
    again._check()


# -- doing ------------------------------------------------------------------------------------------


def test_array_of_objects(sm):
    for array in (np.asarray(sm), np.array(sm), np.asarray(sm, dtype=object)):
        assert array.dtype == object
        assert array.shape == (5,)
        np.testing.assert_array_equal(rows(array[0]), parts()[0])
    equal = SequenceMatrix(dense(), [5, 5])
    assert np.asarray(equal).shape == (2,)
    assert np.asarray(SequenceMatrix(dense(), [10])).shape == (1,)
    with pytest.raises(TypeError, match="objects"):
        np.asarray(sm, dtype=float)


def test_map(sm):
    wide = sm.map(lambda X: (sp.hstack if sp.issparse(X) else np.hstack)([X, X]))
    assert_same(wide, [np.hstack([p, p]) for p in parts()])
    assert wide.feature_names is None
    assert_same(sm.map(lambda X: rows(X).tolist()), parts())
    with pytest.raises(ValueError, match="expected 10, got 9"):
        sm.map(lambda X: X[:-1])


def test_hstack(sm):
    other = SequenceMatrix(dense() + 1, LENGTHS, feature_names=lambda: ["d", "e", "f"])
    both = SequenceMatrix.hstack([sm, other])
    assert_same(both, [np.hstack([p, p + 1]) for p in parts()])
    assert sp.issparse(both.values) == sp.issparse(sm.values)
    assert both.feature_names.tolist() == [*NAMES, "d", "e", "f"]
    assert both.edge_only.tolist() == [False, True, False, False, False, False]
    nameless = SequenceMatrix.hstack([sm, SequenceMatrix(dense(), LENGTHS)])
    assert nameless.feature_names is None
    assert nameless.edge_only.tolist() == [False, True, False, False, False, False]
    assert SequenceMatrix.hstack([other, other]).edge_only is None
    with pytest.raises(ValueError, match="block 1"):
        SequenceMatrix.hstack([sm, SequenceMatrix(dense(), [10])])
    with pytest.raises(TypeError, match="block 1 is a ndarray"):
        SequenceMatrix.hstack([sm, dense()])
    with pytest.raises(ValueError, match="at least one"):
        SequenceMatrix.hstack([])


def make_names():
    return NAMES


@pytest.mark.parametrize("names", [NAMES, make_names], ids=["list", "callable"])
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_copies_keep_names_and_marks(sm, again, names):
    marked = SequenceMatrix(sm.values, LENGTHS, feature_names=names, edge_only=[True, False, True])
    for original in (marked, marked[1:], SequenceMatrix.hstack([marked, marked])):
        other = again(original)
        assert_same(other, [rows(x) for x in original])
        assert other.feature_names.tolist() == original.feature_names.tolist()
        assert other.edge_only.tolist() == original.edge_only.tolist()
        assert other.dtype == original.dtype


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_random_operations_keep_the_invariants(data):
    lengths = data.draw(st.lists(st.integers(0, 4), max_size=6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-1, 2, size=(sum(lengths), 2)).astype(float)
    sm = SequenceMatrix(sp.csr_array(X) if data.draw(st.booleans()) else X, lengths, feature_names=["x0", "x1"])
    mirror = [rows(x).copy() for x in sm]
    for _ in range(data.draw(st.integers(1, 4))):
        n = len(mirror)
        operation = data.draw(st.sampled_from(["slice", "take", "mask", "hstack", "map", "pickle"]))
        if operation == "slice":
            step = data.draw(st.sampled_from([None, 1, 2, -1, -3]))
            key = slice(data.draw(st.integers(-n - 1, n + 1)), data.draw(st.integers(-n - 1, n + 1)), step)
            sm, mirror = sm[key], mirror[key]
        elif operation == "take":
            key = data.draw(st.lists(st.integers(-n, n - 1), max_size=6)) if n else []
            sm, mirror = sm[np.array(key, dtype=int)], [mirror[i] for i in key]
        elif operation == "mask":
            key = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
            sm, mirror = sm[np.array(key, dtype=bool)], [m for m, k in zip(mirror, key, strict=True) if k]
        elif operation == "hstack":
            sm = SequenceMatrix.hstack([sm, sm])
            mirror = [np.hstack([m, m]) for m in mirror]
        elif operation == "map":
            sm, mirror = sm.map(lambda v: -v), [-m for m in mirror]
        else:
            sm = pickle.loads(pickle.dumps(sm))
        assert_same(sm, mirror)
        if sm.feature_names is not None:
            assert len(sm.feature_names) == sm.n_features
