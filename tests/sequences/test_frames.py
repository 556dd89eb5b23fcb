# SPDX-License-Identifier: BSD-3-Clause
"""Data frames to sequences, in pandas and polars."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent import LabelSequences, LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import SequenceDictVectorizer, TemplateVectorizer, sequences_from_frame

COLUMNS = {
    "doc": ["x", "x", "x", "y", "y"],
    "sent": [1, 1, 2, 1, 1],
    "word": ["Ana", "met", "Bo", "it", "rains"],
    "pos": ["NNP", "VBD", "NNP", "PRP", "VBZ"],
    "length": [3, 3, 2, 2, 5],
    "weight": [0.5, 1.0, -2.0, 0.0, 4.0],
    "title": [True, False, True, False, False],
    "label": ["B", "O", "B", "O", "O"],
}


def polars(columns):
    return pytest.importorskip("polars").DataFrame(columns, strict=False)


@pytest.fixture(params=["pandas", "polars"])
def frame_of(request):
    if request.param == "polars":
        pytest.importorskip("polars")
        return polars
    # A shuffled index: rows are counted, not looked up.
    return lambda columns: pd.DataFrame(columns).set_index(np.arange(len(next(iter(columns.values()))))[::-1] % 3)


def test_numbers(frame_of):
    corpus = SequenceMatrix.from_frame(frame_of(COLUMNS), ["doc", "sent"], ["length", "weight", "title"])
    corpus._check()
    assert corpus.lengths.tolist() == [2, 1, 2]
    assert corpus[0].tolist() == [[3, 0.5, 1], [3, 1, 0]]
    assert corpus.feature_names.tolist() == ["length", "weight", "title"]
    assert SequenceMatrix.from_frame(frame_of(COLUMNS), "doc", "length").dtype.kind == "i"
    assert SequenceMatrix.from_frame(frame_of(COLUMNS), ("doc",), ("title",)).dtype == bool


def test_arguments_by_name(frame_of):
    df = frame_of(COLUMNS)
    corpus = SequenceMatrix.from_frame(df=df, group="doc", features="length")
    assert corpus.lengths.tolist() == [3, 2]
    assert list(map(len, LabelSequences.from_frame(df=df, group="doc", label="label"))) == [3, 2]
    assert list(map(len, sequences_from_frame(df=df, group="doc", columns="label"))) == [3, 2]


def test_labels(frame_of):
    y = LabelSequences.from_frame(frame_of(COLUMNS), ["doc", "sent"], "label")
    assert isinstance(y, LabelSequences) and y == [["B", "O"], ["B"], ["O", "O"]]
    numbers = LabelSequences.from_frame(frame_of(COLUMNS), "doc", ["length"])
    assert numbers == [[3, 3, 2], [2, 5]] and {type(v) for own in numbers for v in own} == {int}
    assert {type(v) for own in LabelSequences.from_frame(frame_of(COLUMNS), "doc", "title") for v in own} == {bool}
    with pytest.raises(ValueError, match="one column"):
        LabelSequences.from_frame(frame_of(COLUMNS), "doc", ["label", "pos"])


def test_tokens(frame_of):
    frame = frame_of(COLUMNS)
    assert sequences_from_frame(frame, ["doc", "sent"], "word") == [["Ana", "met"], ["Bo"], ["it", "rains"]]
    assert sequences_from_frame(frame, "doc", ["word"])[1] == [("it",), ("rains",)]
    assert sequences_from_frame(frame, "doc", ["word", "pos"])[1] == [("it", "PRP"), ("rains", "VBZ")]
    dicts = sequences_from_frame(frame, "doc", ["word", "length", "title"], as_dicts=True)
    assert dicts[1] == [{"word": "it", "length": 2, "title": False}, {"word": "rains", "length": 5, "title": False}]
    assert SequenceDictVectorizer().fit_transform(dicts).n_features == 7
    with pytest.raises(TypeError, match=r"column 'length' holds 3 \(row 0\)"):
        sequences_from_frame(frame, "doc", ["word", "length"])


def test_from_a_frame_to_labels(frame_of):
    frame = frame_of(COLUMNS)
    y = LabelSequences.from_frame(frame, ["doc", "sent"], "label")
    tagger = LatentCRFTagger(n_latent=1).fit(SequenceMatrix.from_frame(frame, ["doc", "sent"], ["title", "weight"]), y)
    assert tagger.feature_names_in_.tolist() == ["title", "weight"]
    X = sequences_from_frame(frame, ["doc", "sent"], ["word", "pos"])
    tagger = LatentCRFTagger(n_latent=1, vectorizer=TemplateVectorizer()).fit(X, y)
    assert tagger.predict(X) == y


def test_groups_stand_together(frame_of):
    columns = {**COLUMNS, "doc": ["x", "y", "y", "x", "x"]}
    for make in (
        lambda frame: SequenceMatrix.from_frame(frame, "doc", "length"),
        lambda frame: LabelSequences.from_frame(frame, "doc", "label"),
        lambda frame: sequences_from_frame(frame, "doc", "word"),
    ):
        with pytest.raises(ValueError, match=r"row 3: the group doc='x' began at row 0 .* sort the frame"):
            make(frame_of(columns))
    # Together with another column the groups are different ones.
    columns["sent"] = [1, 1, 2, 2, 2]
    assert SequenceMatrix.from_frame(frame_of(columns), ["doc", "sent"], "length").lengths.tolist() == [1, 1, 1, 2]


def test_g39_words_that_became_missing():
    words = ["EU", "NA", "null", '"', "foo", '"', "bar"]
    text = "word\n" + "\n".join(words) + "\n"
    frame = pd.read_csv(io.StringIO(text), sep="\t", quoting=3).assign(group=1)
    assert frame["word"].isna().sum() == 2
    for make in (lambda: sequences_from_frame(frame, "group", "word"),
                 lambda: sequences_from_frame(frame, "group", ["word"], as_dicts=True),
                 lambda: LabelSequences.from_frame(frame, "group", "word")):  # fmt: skip
        with pytest.raises(ValueError, match=r"column 'word' has missing values .* in rows 1, 2, .*keep_default_na"):
            make()
    kept = pd.read_csv(io.StringIO(text), sep="\t", quoting=3, keep_default_na=False).assign(group=1)
    assert sequences_from_frame(kept, "group", "word") == [words]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_values(frame_of, missing):
    columns = {**COLUMNS, "weight": [0.5, missing, 1.0, missing, 2.0]}
    with pytest.raises(ValueError, match=r"column 'weight' has missing values.*in rows 1, 3, counted from 0"):
        SequenceMatrix.from_frame(frame_of(columns), "doc", ["length", "weight"])
    columns = {**COLUMNS, "length": [3, None, 2, 2, 5]}
    with pytest.raises(ValueError, match=r"column 'length' has missing values.*in row 1,"):
        SequenceMatrix.from_frame(frame_of(columns), "doc", "length")
    with pytest.raises(ValueError, match=r"column 'length' has missing values.*in row 1,"):
        LabelSequences.from_frame(frame_of(columns), "doc", "length")
    with pytest.raises(ValueError, match=r"column 'length' has missing values.*in row 1,"):
        SequenceMatrix.from_frame(frame_of(columns), ["doc", "length"], "weight")
    columns = {**COLUMNS, "label": ["B", None, "B", "O", None], "title": [True, None, False, True, True]}
    with pytest.raises(ValueError, match=r"column 'label' has missing values.*in rows 1, 4,"):
        LabelSequences.from_frame(frame_of(columns), "doc", "label")
    with pytest.raises(ValueError, match=r"column 'title' has missing values.*in row 1,"):
        SequenceMatrix.from_frame(frame_of(columns), "doc", ["title"])


def test_many_missing_rows_are_counted(frame_of):
    frame = frame_of({"g": [1] * 30, "a": [None] * 15 + [1.0] * 15})
    with pytest.raises(ValueError, match=r"rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 5 more"):
        SequenceMatrix.from_frame(frame, "g", "a")


def test_nullable_and_other_types_of_pandas():
    frame = pd.DataFrame(COLUMNS)
    frame["length"] = frame["length"].astype("Int64")
    frame["weight"] = frame["weight"].astype("Float32")
    frame["title"] = frame["title"].astype("boolean")
    frame["word"] = frame["word"].astype("string")
    frame["label"] = frame["label"].astype("category")
    corpus = SequenceMatrix.from_frame(frame, "doc", ["length", "weight", "title"])
    assert corpus[1].tolist() == [[2, 0, 0], [5, 4, 0]]
    assert sequences_from_frame(frame, "doc", "word")[1] == ["it", "rains"]
    assert LabelSequences.from_frame(frame, "doc", "label") == [["B", "O", "B"], ["O", "O"]]
    for name, kind in (("length", "Int64"), ("weight", "Float32"), ("title", "boolean"), ("word", "string")):
        holed = frame.copy()
        holed.loc[1, name] = pd.NA
        assert str(holed[name].dtype).lower() == kind.lower()
        with pytest.raises(ValueError, match=f"column '{name}' has missing values.*in row 1,"):
            LabelSequences.from_frame(holed, "doc", name)
    frame["doc"] = frame["doc"].astype("category")
    assert SequenceMatrix.from_frame(frame, "doc", "length").lengths.tolist() == [3, 2]


def test_types_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(COLUMNS, schema_overrides={"label": pl.Categorical, "length": pl.UInt8, "weight": pl.Float32})
    assert LabelSequences.from_frame(frame, "doc", "label") == [["B", "O", "B"], ["O", "O"]]
    assert SequenceMatrix.from_frame(frame, "doc", ["length", "weight"]).dtype == np.float32
    with pytest.raises(TypeError, match=r"column 'label'.*vectorizer"):
        SequenceMatrix.from_frame(frame, "doc", "label")
    with pytest.raises(TypeError, match="lazy"):
        SequenceMatrix.from_frame(frame.lazy(), "doc", "length")


@pytest.mark.parametrize(
    "values", [["a", "b", "c", "d", "e"], pd.to_datetime(["2020-01-01"] * 5), pd.Categorical([1, 2, 1, 2, 1]),
               [1j] * 5, [[1], [2], [3], [4], [5]], [1, "a", 2, 3, 4]],
)  # fmt: skip
def test_columns_that_are_no_numbers(values):
    frame = pd.DataFrame({**COLUMNS, "odd": values})
    with pytest.raises(TypeError, match=r"column 'odd'.*features are numbers.*sequences_from_frame and a vectorizer"):
        SequenceMatrix.from_frame(frame, "doc", ["length", "odd"])


def test_infinite_numbers(frame_of):
    with pytest.raises(ValueError, match="column 'weight' is infinite in row 2"):
        SequenceMatrix.from_frame(frame_of({**COLUMNS, "weight": [0, 1, np.inf, 0, 0]}), "doc", "weight")


def test_bad_frames_and_names(frame_of):
    frame = frame_of(COLUMNS)
    for wrong in (np.zeros((2, 2)), [{"a": 1}], None):
        with pytest.raises(TypeError, match="data frame was expected"):
            SequenceMatrix.from_frame(wrong, "doc", "length")
    with pytest.raises(ValueError, match="group: 'dok' is no column of the frame, which has 'doc', 'sent'"):
        SequenceMatrix.from_frame(frame, "dok", "length")
    with pytest.raises(ValueError, match="features: 'x' is no column"):
        SequenceMatrix.from_frame(frame, "doc", ["length", "x"])
    with pytest.raises(ValueError, match="features names no column"):
        SequenceMatrix.from_frame(frame, "doc", [])
    with pytest.raises(ValueError, match="group names no column"):
        sequences_from_frame(frame, [], "word")
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"])
    with pytest.raises(ValueError, match="'b' stands for 2 columns"):
        SequenceMatrix.from_frame(twice, "a", "b")
    assert SequenceMatrix.from_frame(pd.DataFrame({0: [7, 7], 1: [1, 2]}), 0, 1).values.tolist() == [[1], [2]]
    levels = pd.DataFrame({("a", "x"): [7, 7], ("a", "y"): [1, 2]})
    assert SequenceMatrix.from_frame(levels, ("a", "x"), ("a", "y")).feature_names.tolist() == ["('a', 'y')"]


def test_empty_frames(frame_of):
    frame = frame_of({name: values[:0] for name, values in COLUMNS.items()})
    assert LabelSequences.from_frame(frame, "doc", "label") == sequences_from_frame(frame, "doc", "word") == []
    empty = pd.DataFrame({"g": np.zeros(0, int), "a": np.zeros(0)})
    assert SequenceMatrix.from_frame(empty, ["g"], ["a"]).values.shape == (0, 1)


def test_a_frame_elsewhere_is_pointed_here():
    frame = pd.DataFrame(COLUMNS)
    tagger = LatentCRFTagger()
    with pytest.raises(TypeError, match=r"SequenceMatrix.from_frame"):
        tagger.fit(frame, frame["label"])
    with pytest.raises(TypeError, match=r"LabelSequences.from_frame"):
        tagger.fit([np.eye(2)], frame)
    with pytest.raises(TypeError, match="sequences_from_frame"):
        TemplateVectorizer().fit(frame)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(-9, 9)), max_size=12))
def test_equals_the_slow_twin(rows):
    expected, seen, again = [], [], False
    for row, (a, b, value) in enumerate(rows):
        if row and rows[row - 1][:2] == (a, b):
            expected[-1].append(value)
        else:
            again = again or (a, b) in seen
            seen.append((a, b))
            expected.append([value])
    frame = pd.DataFrame(rows, columns=["a", "b", "v"]).astype({"a": object, "b": int, "v": int})
    if again:
        with pytest.raises(ValueError, match="began at row"):
            LabelSequences.from_frame(frame, ["a", "b"], "v")
    else:
        assert LabelSequences.from_frame(frame, ["a", "b"], "v") == expected
        corpus = SequenceMatrix.from_frame(frame, ["a", "b"], "v")
        assert [x[:, 0].tolist() for x in corpus] == expected
