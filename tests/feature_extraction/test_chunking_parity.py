# SPDX-License-Identifier: BSD-3-Clause
"""The preset "chunking" on the corpus it is named for; needs the data."""

import gzip
import os
from pathlib import Path

import pytest

from sklearn_latent.feature_extraction import SequenceDictVectorizer, TemplateVectorizer

from .twins import chunking_features

FOLDER = os.environ.get("SKLEARN_LATENT_DATA")
FILE = Path(FOLDER or "") / "conll2000" / "train.txt.gz"
pytestmark = pytest.mark.skipif(
    not FOLDER or not FILE.is_file(), reason="SKLEARN_LATENT_DATA names no folder with conll2000/train.txt.gz"
)


@pytest.fixture(scope="module")
def corpus():
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        blocks = file.read().strip("\n").split("\n\n")
    return [[tuple(line.split()[:2]) for line in block.split("\n")] for block in blocks]


@pytest.fixture(scope="module")
def fitted(corpus):
    vectorizer = TemplateVectorizer("chunking")
    return vectorizer, vectorizer.fit_transform(corpus)


def test_counts(corpus, fitted):
    vectorizer, matrix = fitted
    assert (len(matrix), matrix.n_tokens) == (8936, 211_727)
    assert matrix.n_features == 335_674
    assert matrix.values.nnz == 3_808_439
    assert (vectorizer.transform(corpus).values != matrix.values).nnz == 0
    assert len(set(matrix.feature_names)) == matrix.n_features


def test_names_of_each_token(corpus, fitted):
    names = fitted[1].feature_names
    for i in range(0, len(corpus), 50):
        rows = fitted[1][i]
        for t, expected in enumerate(chunking_features(corpus[i])):
            assert sorted(names[rows.indices[rows.indptr[t] : rows.indptr[t + 1]]]) == sorted(expected)


def test_the_dict_vectorizer_finds_the_same_features(corpus, fitted):
    some = corpus[:300]
    by_template = TemplateVectorizer("chunking").fit_transform(some)
    by_list = SequenceDictVectorizer(separator="\t", sort=False).fit_transform(map(chunking_features, some))
    assert set(by_list.feature_names) == {name.replace("\\", "\\\\") for name in by_template.feature_names}
    assert by_list.values.sum(axis=1).tolist() == by_template.values.sum(axis=1).tolist()
