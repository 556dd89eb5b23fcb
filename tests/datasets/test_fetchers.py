# SPDX-License-Identifier: BSD-3-Clause
import gzip
import os
import pathlib
from collections import Counter

import numpy as np
import pytest

from sklearn_latent import LabelSequences, LatentCRFTagger, SequenceMatrix
from sklearn_latent.datasets import (
    TIMIT_CORE_TEST_SPEAKERS,
    TIMIT_DEV_SPEAKERS,
    TIMIT_PHONE_FOLDING,
    fetch_jnlpba,
    fetch_ocr_letters,
    fetch_timit_sample,
)
from sklearn_latent.metrics import get_chunks

DATA = os.environ.get("SKLEARN_LATENT_DATA", "")
FILES = {
    fetch_jnlpba: "jnlpba/train.tsv.gz",
    fetch_ocr_letters: "ocr_letters/letters.npz",
    fetch_timit_sample: "timit_sample/timit_sample.npz",
}


def needs(fetch):
    return pytest.mark.skipif(
        not DATA or not (pathlib.Path(DATA) / FILES[fetch]).is_file(),
        reason=f"SKLEARN_LATENT_DATA names no folder with {FILES[fetch]}",
    )


# -- files made here -------------------------------------------------------------------------------

ABSTRACTS = (
    "###MEDLINE:11\n\nIL-2\tNN\tNNP\tB-DNA\ngene\tNN\tNN\tI-DNA\n\n\xa0.\t.\t_\tO\n\n"
    "###MEDLINE:12\n\n###MEDLINE:13\n\n###MEDLINE-like\tNN\t_\tB-protein\n"
)


def write_jnlpba(home, part="train", text=ABSTRACTS, name="{}.tsv.gz"):
    path = home / "jnlpba" / name.format(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


def ocr_arrays():
    return {
        "pixels": np.arange(5 * 128, dtype=np.uint8).reshape(5, 128) % 2,
        "label": np.array([1, 0, 2, 0, 0], dtype=np.uint8),
        "offset": np.array([0, 3, 5], dtype=np.int32),
        "word_fold": np.array([0, 9], dtype=np.uint8),
        "alphabet": np.array(list("abc")),
    }


def timit_arrays():
    return {
        "utt": np.array(["dr1-fvmh0/sa1", "dr8-mbom0/si1"]),
        "audio": np.arange(30, dtype=np.int16),
        "audio_offset": np.array([0, 20, 30], dtype=np.int32),
        "phone": np.array(["h#", "pcl", "q", "ix", "ao", "q"]),
        "phone_start": np.array([0, 4, 8, 12, 0, 5], dtype=np.int32),
        "phone_end": np.array([4, 8, 12, 20, 5, 9], dtype=np.int32),
        "phone_offset": np.array([0, 4, 6], dtype=np.int32),
    }


ARRAYS = {fetch_ocr_letters: ocr_arrays, fetch_timit_sample: timit_arrays}


def write_arrays(home, fetch, **changes):
    path = home / FILES[fetch]
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = ARRAYS[fetch]() | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


@pytest.mark.parametrize("name", ["{}.tsv.gz", "{}.tsv"])
def test_jnlpba_from_a_small_file(tmp_path, name):
    write_jnlpba(tmp_path, name=name)
    corpus = fetch_jnlpba(data_home=tmp_path)
    assert corpus.data == [[("IL-2", "NN"), ("gene", "NN")], [("\xa0.", ".")], [("###MEDLINE-like", "NN")]]
    assert corpus.target == [["B-DNA", "I-DNA"], ["O"], ["B-protein"]]
    assert corpus.target_names == ["B-DNA", "B-protein", "I-DNA", "O"]
    assert corpus.groups.tolist() == ["11", "11", "13"]
    assert sorted(corpus) == ["DESCR", "data", "groups", "target", "target_names"]
    X, y = fetch_jnlpba(data_home=tmp_path, return_X_y=True)
    assert corpus.data == X and y == corpus.target and type(y) is LabelSequences
    write_jnlpba(tmp_path, "test", "###MEDLINE:9\na\tNN\t_\tO\n", name)
    both = fetch_jnlpba(data_home=str(tmp_path), subset="all")
    assert both.groups.tolist() == ["11", "11", "13", "9"] and both.fold.tolist() == [0, 0, 0, 1]
    with pytest.raises(ValueError, match="subset must be"):
        fetch_jnlpba(data_home=tmp_path, subset="dev")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tNN\tNN\tO\n" + ABSTRACTS, "line 1: a token before the first line ###MEDLINE:"),
        (ABSTRACTS + "b\tNN\tO\n", "line 13: 3 columns, but line 3 has 4"),
        ("###MEDLINE:1\n\na\tO\n", "must have four columns"),
    ],
)
def test_jnlpba_damaged(tmp_path, text, message):
    path = write_jnlpba(tmp_path, text=text)
    with pytest.raises(ValueError, match=message) as info:
        fetch_jnlpba(data_home=tmp_path)
    assert str(path) in str(info.value)


def test_ocr_letters_from_a_small_file(tmp_path):
    write_arrays(tmp_path, fetch_ocr_letters)
    words = fetch_ocr_letters(data_home=tmp_path)
    assert type(words.data) is SequenceMatrix and words.data.dtype == np.uint8
    assert words.data.lengths.tolist() == [3, 2] and words.data.values.tolist() == ocr_arrays()["pixels"].tolist()
    assert words.target == [["b", "a", "c"], ["a", "a"]] and type(words.target) is LabelSequences
    assert type(words.target[0][0]) is str
    assert words.target_names == ["a", "b", "c"]
    assert words.fold.tolist() == [0, 9] and words.groups.tolist() == ["bac", "aa"]
    assert sorted(words) == ["DESCR", "data", "fold", "groups", "target", "target_names"]
    X, y = fetch_ocr_letters(data_home=tmp_path, return_X_y=True)
    assert X.n_tokens == 5 and y == words.target
    assert LatentCRFTagger(n_latent=1).fit(X, y).predict(X)[1] == ["a", "a"]


def ocr_lines():
    """The arrays above in the layout of the original, TAB at the end included."""
    arrays = ocr_arrays()
    letters, following = arrays["alphabet"][arrays["label"]], [12, 13, -1, 21, -1]
    rows = zip([11, 12, 13, 20, 21], letters, following, [0, 0, 0, 9, 9], arrays["pixels"].tolist(), strict=True)
    return ["\t".join(map(str, (n, letter, then, 1, 1, fold, *bits))) + "\t" for n, letter, then, fold, bits in rows]


@pytest.mark.parametrize("name", ["letter.data.gz", "letter.data"])
def test_ocr_letters_from_the_original_layout(tmp_path, name):
    path = tmp_path / "ocr_letters" / name
    path.parent.mkdir()
    text = "\n".join(ocr_lines()) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    words = fetch_ocr_letters(data_home=tmp_path)
    write_arrays(tmp_path, fetch_ocr_letters)
    same = fetch_ocr_letters(data_home=tmp_path)
    assert np.array_equal(words.data.values, same.data.values) and words.data.dtype == np.uint8
    for key in ("target", "target_names"):
        assert words[key] == same[key]
    for key in ("fold", "groups"):
        assert words[key].tolist() == same[key].tolist() and words[key].dtype == same[key].dtype
    assert words.data.lengths.tolist() == same.data.lengths.tolist()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[:4], "ends within a word: letter 21 is missing"),
        (lambda lines: [lines[0], *lines[2:]], "line 2: not a letter"),
        (lambda lines: [lines[0][:-2], *lines[1:]], "line 1: not 6 fields and 128 pixels"),
        (lambda lines: [lines[0].replace("\t1\t", "\t2\t"), *lines[1:]], "line 1: not 6 fields"),
        (
            lambda lines: [*lines[:4], lines[4].replace("\t9\t", "\t8\t")],
            "line 5: the fold changes within a word, from 9",
        ),
    ],
)
def test_ocr_letters_damaged_text(tmp_path, damage, message):
    path = tmp_path / "ocr_letters" / "letter.data"
    path.parent.mkdir()
    path.write_text("\n".join(damage(ocr_lines())) + "\n")
    with pytest.raises(ValueError, match=message) as info:
        fetch_ocr_letters(data_home=tmp_path)
    assert str(path) in str(info.value)


def test_timit_from_a_small_file(tmp_path):
    write_arrays(tmp_path, fetch_timit_sample)
    speech = fetch_timit_sample(data_home=tmp_path, phones=61)
    assert speech.target == [["h#", "pcl", "q", "ix"], ["ao", "q"]] and type(speech.target) is LabelSequences
    assert [ranges.tolist() for _, ranges in speech.data] == [
        [[0, 4], [4, 8], [8, 12], [12, 20]],
        [[0, 5], [5, 9]],
    ]
    assert [audio.tolist() for audio, _ in speech.data] == [list(range(20)), list(range(20, 30))]
    assert all(audio.dtype == np.int16 and ranges.dtype == np.int64 for audio, ranges in speech.data)
    assert speech.groups.tolist() == ["fvmh0", "mbom0"] and speech.utterance.tolist() == ["sa1", "si1"]
    folded = fetch_timit_sample(data_home=tmp_path)
    assert folded.target == [["sil", "sil", "ih"], ["aa"]]
    assert [ranges.tolist() for _, ranges in folded.data] == [[[0, 4], [4, 8], [12, 20]], [[0, 5]]]
    assert folded.target_names == ["aa", "ih", "sil"]
    X, y = fetch_timit_sample(data_home=tmp_path, return_X_y=True)
    assert len(X) == 2 and y == folded.target
    for phones in (48, "39", None, True, [39]):
        with pytest.raises(ValueError, match="phones must be 39 or 61"):
            fetch_timit_sample(data_home=tmp_path, phones=phones)


@pytest.mark.parametrize(
    ("fetch", "changes", "message"),
    [
        (fetch_ocr_letters, {"pixels": None}, "lacks the arrays pixels"),
        (fetch_ocr_letters, {"pixels": np.zeros((5, 64), np.uint8)}, r"shape \(n_letters, 128\)"),
        (fetch_ocr_letters, {"pixels": np.zeros((5, 128), object)}, "allow_pickle|damaged"),
        (fetch_ocr_letters, {"label": np.array([0, 1, 3, 0, 0])}, "5 indices into the 3 letters"),
        (fetch_ocr_letters, {"label": np.array([0, 1])}, "5 indices into the 3 letters"),
        (fetch_ocr_letters, {"offset": np.array([0, 3, 4])}, "offset does not cut 5 items"),
        (fetch_ocr_letters, {"offset": np.array([0, 6, 5])}, "offset does not cut 5 items"),
        (fetch_ocr_letters, {"word_fold": np.zeros(5, int)}, "one entry a word, 2"),
        (fetch_timit_sample, {"phone": None}, "lacks the arrays phone"),
        (fetch_timit_sample, {"audio": np.zeros(30)}, "audio must be integers of one dimension, got dtype float64"),
        (fetch_timit_sample, {"audio": np.zeros(30, np.int32)}, "audio must be int16"),
        (fetch_timit_sample, {"phone_end": np.array([4, 8, 12, 21, 5, 9])}, "dr1-fvmh0/sa1 has phones outside its 20"),
        (fetch_timit_sample, {"phone_start": np.zeros(5, int)}, r"phone_start must .* \(6,\), got.*\(5,\)"),
        (fetch_timit_sample, {"audio_offset": np.array([0, 30])}, "same number of utterances"),
        (fetch_timit_sample, {"utt": np.array(["a", "b"])}, "'a' in utt is not a region"),
    ],
)
def test_arrays_damaged(tmp_path, fetch, changes, message):
    path = write_arrays(tmp_path, fetch, **changes)
    with pytest.raises(ValueError, match=message) as info:
        fetch(data_home=tmp_path)
    assert str(path) in str(info.value)


@pytest.mark.parametrize("fetch", ARRAYS)
def test_no_archive(tmp_path, fetch):
    path = write_arrays(tmp_path, fetch)
    whole = path.read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2], whole.replace(b"NUMPY", b"NUMPI")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="damaged") as info:
            fetch(data_home=tmp_path)
        assert str(path) in str(info.value)
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))  # an array alone
    with pytest.raises(ValueError, match="damaged"):
        fetch(data_home=tmp_path)


@pytest.mark.parametrize("fetch", FILES)
def test_folders(tmp_path, monkeypatch, fetch):
    home, shared = tmp_path / "home", tmp_path / "shared"
    monkeypatch.setenv("SKLEARN_LATENT_DATA", str(shared))
    with pytest.raises(FileNotFoundError) as info:
        fetch(data_home=home, download_if_missing=False)
    message = str(info.value)
    assert f"Put the file at {home / FILES[fetch]}" in message
    assert str(shared / FILES[fetch].split("/")[0]) in message and "download" in message
    write = write_jnlpba if fetch is fetch_jnlpba else lambda place: write_arrays(place, fetch)
    write(shared)
    before = sorted(tmp_path.rglob("*"))
    assert len(fetch(data_home=home).data) > 0
    assert sorted(tmp_path.rglob("*")) == before  # nothing is written
    home.joinpath(FILES[fetch]).parent.mkdir(parents=True)
    home.joinpath(FILES[fetch]).write_bytes(b"mine")  # looked at first
    with pytest.raises(ValueError, match=r"home.*"):
        fetch(data_home=home)


# -- the real ones ---------------------------------------------------------------------------------


@needs(fetch_jnlpba)
def test_jnlpba(tmp_path):
    both = fetch_jnlpba(data_home=tmp_path, subset="all")
    assert np.bincount(both.fold).tolist() == [18546, 3856]
    assert len(both.target_names) == 11 and len(both.groups) == len(both.data) == len(both.target)
    kinds = {"protein": (30269, 5067), "DNA": (9533, 1056), "RNA": (951, 118)}
    kinds |= {"cell_type": (6718, 1921), "cell_line": (3830, 500)}
    for part, n_tokens, n_abstracts in ((0, 492551, 1999), (1, 101039, 402)):
        target = both.target[both.fold == part]
        assert sum(map(len, target)) == n_tokens
        chunks = Counter(kind for y in target for _, _, kind in get_chunks(y, "iob2", "raise"))
        assert chunks == {kind: n[part] for kind, n in kinds.items()}
        assert len(set(both.groups[both.fold == part])) == n_abstracts
    for word, pos in (token for x in both.data[::100] for token in x):
        assert word and pos not in {"", "_"}


@needs(fetch_ocr_letters)
def test_ocr_letters(tmp_path):
    words = fetch_ocr_letters(data_home=tmp_path)
    assert (len(words.data), words.data.n_tokens, words.data.n_features) == (6877, 52152, 128)
    assert set(np.unique(words.data.values)) == {0, 1} and words.data.dtype == np.uint8
    assert words.target_names == list("abcdefghijklmnopqrstuvwxyz")
    assert [len(y) for y in words.target] == words.data.lengths.tolist()
    assert (words.data.lengths.min(), words.data.lengths.max()) == (3, 14)
    assert np.bincount(words.fold).tolist() == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert len(set(words.groups)) == 55
    for fold in range(10):
        assert len(set(words.groups[words.fold == fold])) == 55
    assert words.groups[0] == "".join(words.target[0]) == "ommanding"


@needs(fetch_timit_sample)
@pytest.mark.parametrize(("phones", "n_segments", "n_kinds"), [(61, 6185, 61), (39, 6185 - 141, 39)])
def test_timit_sample(tmp_path, phones, n_segments, n_kinds):
    speech = fetch_timit_sample(data_home=tmp_path, phones=phones)
    assert len(speech.data) == len(speech.target) == len(speech.groups) == 160
    assert sum(len(audio) for audio, _ in speech.data) == 7841548
    assert sum(map(len, speech.target)) == sum(len(ranges) for _, ranges in speech.data) == n_segments
    assert len(speech.target_names) == n_kinds
    assert Counter(speech.groups.tolist()) == dict.fromkeys(set(speech.groups.tolist()), 10)
    assert Counter(name[0] for name in set(speech.groups.tolist())) == {"f": 8, "m": 8}
    assert len(set(speech.utterance)) == 130
    for audio, ranges in speech.data:
        assert ranges[0, 0] == 0 and len(audio) - 2802 <= ranges[-1, 1] <= len(audio)
        gaps = (ranges[1:, 0] != ranges[:-1, 1]).sum()
        assert gaps == 0 or phones == 39
    if phones == 39:
        expected = (
            "aa ae ah aw ay b ch d dh dx eh er ey f g hh ih iy jh k l m n ng ow oy p r s sh sil t th uh uw v w y z"
        )
        assert speech.target_names == expected.split()


# -- conventions of TIMIT ---------------------------------------------------------------------------


def test_folding_of_phones():
    folding = TIMIT_PHONE_FOLDING
    names = "aa ae ah aw ay b ch d dh dx eh er ey f g hh ih iy jh k l m n ng ow oy p r s sh sil t th uh uw v w y z"
    classes = names.split()
    assert len(folding) == 61 and sorted(set(folding.values()) - {None}) == classes and len(classes) == 39
    assert [phone for phone, folded in folding.items() if folded is None] == ["q"]
    # What is folded is folded once and for all.
    assert all(folding.get(phone, phone) == phone for phone in classes)
    moved = {phone for phone, folded in folding.items() if folded not in (phone, None)}
    assert len(moved) == 22 and {"ao", "ix", "nx", "zh", "epi", "h#"} <= moved


def test_lists_of_speakers():
    core, dev = TIMIT_CORE_TEST_SPEAKERS, TIMIT_DEV_SPEAKERS
    assert len(set(core)) == len(core) == 24 and len(set(dev)) == len(dev) == 50
    assert not set(core) & set(dev)
    assert all(len(speaker) == 5 and speaker[0] in "fm" and speaker[4].isdigit() for speaker in core + dev)
    # Two men and a woman of each of the eight regions.
    assert sum(speaker[0] == "m" for speaker in core) == 16


@needs(fetch_timit_sample)
def test_sample_and_lists():
    speech = fetch_timit_sample(phones=61)
    assert set(speech.target_names) <= set(TIMIT_PHONE_FOLDING) and len(speech.target_names) == 61
    assert not set(speech.groups) & {*TIMIT_CORE_TEST_SPEAKERS, *TIMIT_DEV_SPEAKERS}
