# SPDX-License-Identifier: BSD-3-Clause
import gzip
import os
import pathlib
from collections import Counter, defaultdict

import numpy as np
import pytest

from sklearn_latent import LabelSequences
from sklearn_latent.datasets import fetch_conll2000, load_chunks
from sklearn_latent.metrics import chunk_precision_recall_fscore_support, get_chunks

DATA = os.environ.get("SKLEARN_LATENT_DATA", "")
needs_conll2000 = pytest.mark.skipif(
    not DATA or not (pathlib.Path(DATA) / "conll2000" / "train.txt.gz").is_file(),
    reason="SKLEARN_LATENT_DATA names no folder with conll2000/train.txt.gz",
)


def check_text_corpus(load, n_train, n_test):
    """What every labelled text with two parts has in common."""
    train, test, both = (load(subset=subset) for subset in ("train", "test", "all"))
    assert (len(train.data), len(test.data), len(both.data)) == (n_train, n_test, n_train + n_test)
    assert both.data == train.data + test.data
    assert list(both.target) == list(train.target) + list(test.target)
    assert both.fold.tolist() == [0] * n_train + [1] * n_test
    for bunch in (train, test, both):
        assert type(bunch.target) is LabelSequences
        assert [len(x) for x in bunch.data] == [len(y) for y in bunch.target]
        assert all(type(token) is tuple and len(token) == 2 for x in bunch.data for token in x)
        assert bunch.target_names == sorted({label for y in bunch.target for label in y})
        assert isinstance(bunch.DESCR, str) and len(bunch.DESCR) > 200
    assert "fold" not in train and "fold" not in test
    assert load()["data"] == train.data
    X, y = load(subset="test", return_X_y=True)
    assert test.data == X and test.target == y and type(y) is LabelSequences


@pytest.mark.parametrize("subset", ["dev", None, 1, ["train"]])
@pytest.mark.parametrize("load", [load_chunks, fetch_conll2000])
def test_unknown_subset(load, subset):
    with pytest.raises(ValueError, match="subset must be"):
        load(subset=subset)


# -- the corpus inside -----------------------------------------------------------------------------


def test_chunks():
    check_text_corpus(load_chunks, 368, 92)
    both = load_chunks(subset="all")
    assert len({tuple(x) for x in both.data}) == 460
    assert "BSD-3-Clause" in both.DESCR


def test_size_in_the_description_of_chunks():
    for subset in ("train", "test"):
        X, y = load_chunks(subset=subset, return_X_y=True)
        chunks = [get_chunks(labels, "iob2", "raise") for labels in y]  # no malformed chunk
        for number, noun in ((len(X), "sentences"), (sum(map(len, X)), "tokens"), (sum(map(len, chunks)), "chunks")):
            assert f"{number:,} {noun}" in load_chunks().DESCR


def test_conventions_of_chunks():
    both = load_chunks(subset="all")
    for x, y in zip(both.data, both.target, strict=True):
        for (word, pos), label in zip(x, y, strict=True):
            assert word == word.strip() and word.isprintable()
            assert pos != "POS" or label == "B-NP"
            assert label != "O" or pos not in {"NN", "NNS", "NNP", "PRP", "VBD", "VBZ", "VBP", "MD", "IN", "TO", "JJ"}
        assert y[-1] == "O" or x[-1][1] not in {".", "''"}


# -- the shared task's -----------------------------------------------------------------------------


def write_corpus(home, part, word, compress=True):
    folder = home / "conll2000"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"{word} NN B-NP\n. . O\n\n{word} NN B-NP\n\n"
    if compress:
        (folder / f"{part}.txt.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (folder / f"{part}.txt").write_text(text)


def test_folders(tmp_path, monkeypatch):
    home, shared = tmp_path / "home", tmp_path / "shared"
    monkeypatch.setenv("SKLEARN_LATENT_DATA", str(shared))
    write_corpus(shared, "train", "shared")
    write_corpus(shared, "test", "shared", compress=False)
    before = sorted(tmp_path.rglob("*"))
    X, y = fetch_conll2000(data_home=home, return_X_y=True)  # a home that does not exist
    assert X == [[("shared", "NN"), (".", ".")], [("shared", "NN")]]
    assert y == [["B-NP", "O"], ["B-NP"]]
    assert sorted(tmp_path.rglob("*")) == before  # nothing is written
    write_corpus(home, "train", "home")
    assert fetch_conll2000(data_home=str(home)).data[0][0] == ("home", "NN")
    both = fetch_conll2000(data_home=home, subset="all")  # each part where it is found first
    assert [x[0][0] for x in both.data] == ["home", "home", "shared", "shared"]
    assert both.fold.tolist() == [0, 0, 1, 1]
    assert both.target_names == ["B-NP", "O"]
    monkeypatch.delenv("SKLEARN_LATENT_DATA")
    assert fetch_conll2000(data_home=home).data[0][0] == ("home", "NN")


def test_default_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("SKLEARN_LATENT_DATA", raising=False)
    write_corpus(tmp_path / "sklearn_latent_data", "train", "mine")
    assert fetch_conll2000().data[0][0] == ("mine", "NN")


@pytest.mark.parametrize("download", [True, False])
def test_missing_file(tmp_path, monkeypatch, download):
    monkeypatch.setenv("SKLEARN_LATENT_DATA", str(tmp_path / "shared"))
    with pytest.raises(FileNotFoundError, match="licensed") as info:
        fetch_conll2000(data_home=tmp_path, subset="test", download_if_missing=download)
    message = str(info.value)
    assert f"Put the file at {tmp_path / 'conll2000' / 'test.txt.gz'}" in message
    assert str(tmp_path / "shared" / "conll2000") in message
    assert "SKLEARN_LATENT_DATA" in message


@needs_conll2000
def test_conll2000(tmp_path):
    check_text_corpus(lambda **options: fetch_conll2000(data_home=tmp_path, **options), 8936, 2012)


@needs_conll2000
def test_published_baseline(tmp_path):
    """The most frequent training label of each part of speech: the shared task printed what it scores."""
    train, test = (fetch_conll2000(data_home=tmp_path, subset=subset) for subset in ("train", "test"))
    assert (len(train.target_names), len(test.target_names)) == (22, 19)
    counts = defaultdict(Counter)
    for x, y in zip(train.data, train.target, strict=True):
        for (_, pos), label in zip(x, y, strict=True):
            counts[pos][label] += 1
    best = {pos: labels.most_common(1)[0][0] for pos, labels in counts.items()}
    y_pred = [[best[pos] for _, pos in x] for x in test.data]
    scores = chunk_precision_recall_fscore_support(test.target, y_pred, average="micro")[:3]
    assert np.round(100 * np.array(scores), 2).tolist() == [72.58, 82.14, 77.07]
    _, _, _, support = chunk_precision_recall_fscore_support(test.target, test.target)
    assert support.sum() == 23852
