# SPDX-License-Identifier: BSD-3-Clause
"""Dates and checked numbers in handwritten digits."""

import datetime
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_latent import LabelSequences, SequenceMatrix
from sklearn_latent.datasets import load_digit_sequences


def test_contents():
    corpus = load_digit_sequences(subset="all")
    assert isinstance(corpus.data, SequenceMatrix) and type(corpus.target) is LabelSequences
    assert len(corpus.data) == len(corpus.target) == len(corpus.kind) == len(corpus.fold) == 500
    assert corpus.data.n_features == 64 and corpus.data.dtype == np.float64
    assert (corpus.data.lengths == 8).all()
    assert corpus.target_names == list(range(10))
    assert corpus.fold.tolist() == [0] * 400 + [1] * 100
    assert "EAN-8" in corpus.DESCR
    pickle.loads(pickle.dumps(corpus))


def test_grammar():
    corpus = load_digit_sequences(subset="all")
    for kind, y in zip(corpus.kind, corpus.target, strict=True):
        assert all(type(k) is int for k in y)
        if kind == "date":
            date = datetime.date(*(int("".join(map(str, y[a:b]))) for a, b in ((0, 4), (4, 6), (6, 8))))
            assert 1900 <= date.year < 2030
        else:
            assert (3 * sum(y[::2]) + sum(y[1::2])) % 10 == 0
    assert (corpus.kind == "date").sum() == 250


def test_images_are_those_of_the_digits_and_parts_share_none():
    images, digits = load_digits(return_X_y=True)
    place = {image.tobytes(): k for k, image in enumerate(images)}
    used = {}
    for part in ("train", "test"):
        X, y = load_digit_sequences(subset=part, return_X_y=True)
        rows = [place[row.tobytes()] for row in X.values]
        assert digits[rows].tolist() == [k for own in y for k in own]
        used[part] = set(rows), {tuple(own) for own in y}
        assert len(used[part][1]) == len(y)
    assert not used["train"][0] & used["test"][0]
    assert not used["train"][1] & used["test"][1]


def test_subsets_are_the_same_each_time():
    whole = load_digit_sequences(subset="all")
    train, test = load_digit_sequences(), load_digit_sequences(subset="test")
    np.testing.assert_array_equal(whole.data.values, np.concatenate([train.data.values, test.data.values]))
    assert whole.target == train.target + test.target
    assert not hasattr(train, "fold")


@pytest.mark.parametrize("subset", ["dev", None, 3])
def test_unknown_subset(subset):
    with pytest.raises(ValueError, match="subset must be"):
        load_digit_sequences(subset=subset)
