# SPDX-License-Identifier: BSD-3-Clause
import itertools

import numpy as np
import pytest

from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.feature_extraction import _template_kernels as kernels

CORPUS = [[("a", "x"), ("b", "y"), ("a", "x")], [("b", "x")]]


def test_read_only_tables_and_ids():
    vectorizer = TemplateVectorizer("bio-ner").fit(CORPUS)
    expected = vectorizer.transform(CORPUS).values.toarray()
    for value in vars(vectorizer.table_).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    for table in vectorizer.coder_.tables:
        table.flags.writeable = False
    assert vectorizer.transform(CORPUS).values.toarray().tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_of_either_index_type(dtype):
    local = np.array([[0, -1, 1], [-1, -1, 0]], dtype=np.int32)
    indptr = np.zeros(4, dtype=np.int64)
    kernels.count_entries(local, indptr)
    assert indptr.tolist() == [0, 1, 1, 3]
    indices = np.empty(3, dtype=dtype)
    start = 0 if dtype == np.int32 else 2**31
    kernels.fill_indices(local, np.array([start, start + 2, start + 3]), indptr.astype(dtype), indices)
    assert indices.tolist() == [start, start + 1, start + 2]


def test_keys_that_differ_little_are_told_apart():
    # As many keys as a half-full table takes, alike in two of three items: chains of probes get long, and one that
    # compared a part of the key only would mix them up.
    n = 512
    keys = np.array(list(itertools.product(range(8), repeat=3)), dtype=np.int32)
    slots = np.full(1024, -1, dtype=np.int32)
    kernels.fill_slots(keys.reshape(-1), 3, n, 0, slots)
    assert sorted(slots[slots >= 0].tolist()) == list(range(n))
    ids = np.ascontiguousarray(keys.T)
    local = np.empty((1, n), dtype=np.int32)
    kernels.find_features(
        ids, np.array([0, n]), np.array([0, 3]), np.zeros(4, dtype=np.int32), np.array([0, 1, 2, 0], dtype=np.int32),
        np.array([1], dtype=np.uint8), 2, np.array([0, 1024]), np.append(slots, 0).astype(np.int32),
        np.array([0, 3 * n]), np.append(keys.reshape(-1), 0).astype(np.int32), np.array([0, n]), local,
    )  # fmt: skip
    assert local[0].tolist() == list(range(n))


def test_learning_stops_before_a_sequence_without_room_and_goes_on():
    ids = np.array([[4, 5, 6, 4, 7]], dtype=np.int32)
    offsets = np.array([0, 2, 2, 5])
    item = np.zeros(1, dtype=np.int32)
    slots = np.full(12, -1, dtype=np.int32)
    keys = np.empty(4, dtype=np.int32)
    local = np.empty(5, dtype=np.int32)
    assert kernels.learn_template(ids, offsets, item, item, 1, 2, slots, keys, 4, 0, 0, local) == (2, 2)
    keys = np.append(keys, np.empty(4, dtype=np.int32))
    assert kernels.learn_template(ids, offsets, item, item, 1, 2, slots, keys, 8, 2, 2, local) == (3, 4)
    assert local.tolist() == [0, 1, 2, 0, 3]
    assert keys[:4].tolist() == [4, 5, 6, 7]


def test_too_wide():
    item = np.zeros(65, dtype=np.int32)
    one = np.zeros((1, 1), dtype=np.int32)
    with pytest.raises(ValueError, match="64 items"):
        kernels.learn_template(one, np.array([0, 1]), item, item, 1, 2, one[0], one[0], 1, 0, 0, one[0])


def slow_find(ids, offsets, rows, streams, kind, known):
    """Feature numbers of one template, for `known` from keys to numbers."""
    local = np.full(ids.shape[1], -1)
    for first, last in itertools.pairwise(offsets.tolist()):
        for i in range(first, last):
            key = []
            for row, stream in zip(rows, streams, strict=True):
                k = i + row
                outside = -2 * (first - k) if k < first else -2 * (k - last + 1) - 1
                key.append(int(ids[stream, k]) if first <= k < last else outside if kind == 1 else -1)
            if -1 not in key:
                local[i] = known.get(tuple(key), -1)
    return local


@pytest.mark.parametrize("kind", [0, 1], ids=["skip", "padded"])
@pytest.mark.parametrize(
    ("rows", "streams"), [((0,), (0,)), ((-2,), (1,)), ((3,), (1,)), ((0, 1), (0, 1)), ((-2, 0, 4), (0, 0, 1))]
)
def test_finding_against_a_dict(rows, streams, kind):
    # More tokens than are looked up at once, in sequences of all lengths; a third of the strings are not known.
    rng = np.random.default_rng(len(rows) + kind)
    lengths = [0, 1, 2, 3, 40, 16, 0, 33, 1, 7]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    train, test = (np.maximum(rng.integers(-3, 6, (2, offsets[-1]), dtype=np.int32), -1) for _ in range(2))
    items = [np.array([*values, 0], dtype=np.int32) for values in (rows, streams)]
    width, shift, n = len(rows), 10, 512
    slots = np.full(16 if width == 1 else 2 * n, -1, dtype=np.int32)
    keys = np.empty(n * width, dtype=np.int32)
    local = np.empty(offsets[-1], dtype=np.int32)
    done, n_found = kernels.learn_template(
        train, offsets, items[0][:-1], items[1][:-1], kind, shift, slots, keys, n, 0, 0, local
    )
    assert done == len(lengths)
    known = {tuple(key): k for k, key in enumerate(keys[: n_found * width].reshape(-1, width).tolist())}
    assert local.tolist() == slow_find(train, offsets, rows, streams, kind, known).tolist()
    for ids in (train, test):
        found = np.empty((1, offsets[-1]), dtype=np.int32)
        kernels.find_features(
            ids, offsets, np.array([0, width]), *items, np.array([kind], dtype=np.uint8), shift,
            np.array([0, len(slots)]), np.append(slots, 0).astype(np.int32),
            np.array([0, n_found * width]), np.append(keys[: n_found * width], 0).astype(np.int32),
            np.array([0, n_found]), found,
        )  # fmt: skip
        assert found[0].tolist() == slow_find(ids, offsets, rows, streams, kind, known).tolist()
        assert (found >= 0).any() and (found < 0).any()
