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
