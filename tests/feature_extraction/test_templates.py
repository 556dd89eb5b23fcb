# SPDX-License-Identifier: BSD-3-Clause
import copy
import os
import pickle
import subprocess
import sys
from collections import UserDict

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_latent import SequenceMatrix
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.feature_extraction._columns import shape_class

from .twins import chunking_features, template_columns, template_keys, template_matrix

X = [
    [("the", "DT"), ("old", "JJ"), ("man", "NN"), ("the", "DT"), ("sea", "NN")],
    [("he", "PRP"), ("slept", "VBD")],
    [],
    [("rain", "NN")],
    [("the", "DT"), ("old", "JJ"), ("and", "CC"), ("the", "DT"), ("new", "JJ")],
]
WORDS = [[word for word, _ in sequence] for sequence in X]


def dense(corpus):
    return corpus.values.toarray()


def names_by_token(corpus):
    corpus._check()
    names = corpus.feature_names
    out = []
    for rows in corpus:
        out.append([sorted(names[rows.indices[a:b]]) for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)])
    return out


def test_chunking_preset_is_the_usual_features():
    corpus = TemplateVectorizer("chunking").fit_transform(X)
    assert names_by_token(corpus) == [[sorted(f) for f in chunking_features(sequence)] for sequence in X]
    assert (corpus.values.data == 1.0).all()
    assert corpus.edge_only is None


def test_np_chunking_preset_is_words_only():
    expected = [
        [sorted(n for n in f if not n.startswith("pos")) for f in chunking_features(sequence)] for sequence in X
    ]
    by_column = [[{"word": word, "x": 3} for word in sequence] for sequence in WORDS]
    for corpus in (X, WORDS, by_column):
        assert names_by_token(TemplateVectorizer().fit_transform(corpus)) == expected
    assert len({name.split("=")[0] for name in TemplateVectorizer().fit(X).get_feature_names_out()}) == 9


def test_bio_ner_preset():
    sequence = [("IL-2", "NN"), ("p53", "NN"), ("水餃", "XX"), ("a.b", "NN")]
    corpus = TemplateVectorizer("bio-ner").fit_transform([sequence])
    found = names_by_token(corpus)[0]
    assert {n for n in found[0] if n.startswith(("prefix", "suffix"))} == {
        "prefix1[0]=I", "prefix2[0]=IL", "prefix3[0]=IL-", "prefix4[0]=IL-2",
        "suffix1[0]=2", "suffix2[0]=-2", "suffix3[0]=L-2", "suffix4[0]=IL-2",
    }  # fmt: skip
    assert {n for n in found[2] if n.startswith(("prefix", "suffix"))} == {
        "prefix1[0]=水", "prefix2[0]=水餃", "suffix1[0]=餃", "suffix2[0]=水餃",
    }  # fmt: skip
    assert {n for n in found[1] if n.startswith("shape")} == {
        "shape[-1]=A-0", "shape[0]=a0", "shape[1]=x", "shape[2]=a.a", "shape[-1]|shape[0]=A-0|a0",
        "shape[0]|shape[1]=a0|x", "shape[1]|shape[2]=x|a.a",
    }  # fmt: skip
    words_and_tags = [[n for n in f if not n.startswith(("prefix", "suffix", "shape"))] for f in found]
    assert words_and_tags == [sorted(f) for f in chunking_features(sequence)]


def test_affixes_of_unseen_words_are_found():
    vectorizer = TemplateVectorizer("bio-ner").fit([[("walking", "VBG"), ("Bo", "NNP")]])
    found = names_by_token(vectorizer.transform([[("talking", "XX"), ("B", "YY"), ("", "ZZ"), ("Bi", "NNP")]]))[0]
    assert [n for n in found[0] if "suffix" in n] == [
        "suffix1[0]=g",
        "suffix2[0]=ng",
        "suffix3[0]=ing",
        "suffix4[0]=king",
    ]
    assert "shape[0]=a" in found[0] and "shape[1]=Aa" not in found[0]
    assert [n for n in found[1] if "fix" in n] == ["prefix1[0]=B"]
    assert not [n for n in found[2] if "fix" in n]
    assert "shape[0]=Aa" in found[3]


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("", ""),
        ("IL-2", "A-0"),
        ("p53", "a0"),
        ("Smith", "Aa"),
        ("NF-kappa/B", "A-a.A"),
        ("水", "x"),
        ("É", "A"),
        ("٣", "0"),
    ],
)
def test_shape_class(word, shape):
    assert shape_class(word) == shape


def test_columns_are_grouped_by_template_and_ordered_by_occurrence():
    vectorizer = TemplateVectorizer(["U1:%x[0,1]", "U0:%x[0,0]"]).fit(X[:2])
    assert vectorizer.get_feature_names_out().tolist() == [
        "U1:DT", "U1:JJ", "U1:NN", "U1:PRP", "U1:VBD",
        "U0:the", "U0:old", "U0:man", "U0:sea", "U0:he", "U0:slept",
    ]  # fmt: skip


def test_padding_and_edge_columns():
    text = "# words\nU00:%x[-2,0]\n\nU01:%x[-1,0]/%x[0,0]/%x[3,0]\r\nU02\n# labels\nB\nB01:%x[0,1]\n"
    corpus = TemplateVectorizer(text).fit_transform(X[1:2])
    assert names_by_token(corpus) == [
        [
            ["B01:PRP", "U00:_B-2", "U01:_B-1/he/_B+2", "U02"],
            ["B01:VBD", "U00:_B-1", "U01:he/slept/_B+3", "U02"],
        ]
    ]
    assert corpus.edge_only.tolist() == [name.startswith("B01") for name in corpus.feature_names]
    assert corpus[0:1].edge_only.sum() == 2


def test_words_that_look_like_padding_are_words():
    vectorizer = TemplateVectorizer(["U:%x[-1,0]"])
    corpus = vectorizer.fit_transform([["_B-1", "x", "\\_B-1", "y"]])
    assert vectorizer.get_feature_names_out().tolist() == ["U:_B-1", "U:\\_B-1", "U:x", "U:\\\\_B-1"]
    assert dense(corpus).tolist() == np.eye(4).tolist()


def test_names_tell_features_apart():
    words = ["a", "b", "a|b", "b|a", "|", "", "a\\", "\\|a", "/", "a/", "_B-1", "_B+1", "#2"]
    sequence = [word for one in words for two in words for word in (one, two)]
    for templates in (
        "np-chunking",
        ["U1:%x[-1,0]/%x[0,0]/%x[1,0]", "U2:%x[0,0]%x[1,0]", "U3:%x[0,0]\\%x[1,0]"],
        ["%x[0,0]", "%x[-1,0]", "%x[0,0]=%x[1,0]"],
        ["a%x[0,0]", "a%x[0,0]b", "a%x[0,0]b%x[1,0]", "U1", "U1:%x[0,0]"],
    ):
        vectorizer = TemplateVectorizer(templates).fit([sequence])
        names = vectorizer.get_feature_names_out()
        assert len(set(names)) == len(names)
        assert names.tolist() == vectorizer.transform([[]]).feature_names.tolist()


def test_templates_without_a_name_of_their_own_show_their_text():
    vectorizer = TemplateVectorizer(["%x[0,0]", "%x[-1,0]", "U:%x[0,0]%x[1,0]"]).fit([["a", "b"]])
    assert vectorizer.get_feature_names_out().tolist() == [
        "%x[0,0]=a", "%x[0,0]=b", "%x[-1,0]=_B-1", "%x[-1,0]=a",
        "U:%x[0,0]%x[1,0]=a|b", "U:%x[0,0]%x[1,0]=b|_B+1",
    ]  # fmt: skip
    only = TemplateVectorizer(["U:%x[0,0]%x[1,0]"]).fit([["a", "b"]])
    assert only.get_feature_names_out().tolist() == ["U:a|b", "U:b|_B+1"]


def test_strings_are_taken_as_they_are():
    composed, decomposed = "na\u00efve", "nai\u0308ve"
    vectorizer = TemplateVectorizer(["%x[0,0]"]).fit([[composed, decomposed, "水餃"]])
    assert len(vectorizer.get_feature_names_out()) == 3


def test_min_df():
    vectorizer = TemplateVectorizer("chunking", min_df=2)
    corpus = vectorizer.fit_transform(X)
    counts = {}
    for sequence in X:
        for features in chunking_features(sequence):
            for name in features:
                counts[name] = counts.get(name, 0) + 1
    assert names_by_token(corpus) == [
        [sorted(n for n in f if counts[n] >= 2) for f in chunking_features(sequence)] for sequence in X
    ]
    assert (vectorizer.transform(X).values != corpus.values).nnz == 0
    assert TemplateVectorizer("chunking", min_df=10**12).fit_transform(X).n_features == 0


def test_unseen_values_are_ignored_and_nothing_grows():
    vectorizer = TemplateVectorizer("chunking").fit(X)
    before = pickle.dumps(vectorizer)
    corpus = vectorizer.transform([[(f"new{k}", f"tag{k}") for k in range(5000)], [("the", "??")]])
    assert pickle.dumps(vectorizer) == before
    assert names_by_token(corpus)[1] == [["__BOS__", "__EOS__", "w[0]=the"]]
    assert corpus.values.nnz == 2 + 3


def test_forms_of_tokens_and_corpora():
    vectorizer = TemplateVectorizer("chunking")
    expected = vectorizer.fit_transform(X)
    as_array = np.empty(len(X), dtype=object)
    as_array[:] = X
    forms = [
        [[(*token, "more", 3) for token in s] for s in X],
        [[list(token) for token in s] for s in X],
        [[dict(zip(("pos", "word"), token[::-1], strict=True)) for token in s] for s in X],
        [[UserDict(zip(("pos", "word"), token[::-1], strict=True)) for token in s] for s in X],
        [[token if k % 2 else list(token) for k, token in enumerate(s)] for s in X],
        [[tuple(map(np.str_, token)) for token in s] for s in X],
        [np.array(s).reshape(-1, 2) for s in X],
        [tuple(s) for s in X],
        pd.Series(X, index=[3, 3, 1, 0, 9]),
        as_array,
    ]
    for corpus in forms:
        assert (vectorizer.transform(corpus).values != expected.values).nnz == 0
        again = clone(vectorizer).fit_transform(corpus)
        assert again.feature_names.tolist() == expected.feature_names.tolist()
    assert (vectorizer.transform(iter(s) for s in X).values != expected.values).nnz == 0
    rectangle = np.array([["a", "b"], ["c", "a"]])
    assert TemplateVectorizer().fit_transform(rectangle).lengths.tolist() == [2, 2]


def test_columns_by_name_and_by_place():
    swapped = [[token[::-1] for token in s] for s in X]
    expected = TemplateVectorizer("chunking").fit_transform(X)
    for columns, corpus in ((("pos", "word"), swapped), (["token", "tag"], X), (["word", "pos", "chunk"], X)):
        found = TemplateVectorizer("chunking", columns=columns).fit_transform(corpus)
        assert found.feature_names.tolist() == expected.feature_names.tolist()
    assert TemplateVectorizer(columns=("token",)).fit_transform(WORDS).lengths.tolist() == [5, 2, 0, 1, 5]
    with pytest.raises(ValueError, match="has no 'pos'"):
        TemplateVectorizer("chunking", columns=("word",)).fit(WORDS)
    with pytest.raises(ValueError, match="has none"):
        TemplateVectorizer(columns=("pos",)).fit(WORDS)


def test_empty_sequences_and_corpora():
    for corpus in ([], [[]], [[], []]):
        for templates in ("bio-ner", ["U%x[0,0]", "U1:%x[0,0]/%x[1,1]", "U2"], [], ["B"]):
            vectorizer = TemplateVectorizer(templates)
            assert vectorizer.fit_transform(corpus).values.shape == (0, 0)
            assert vectorizer.transform(X).values.shape == (13, 0)
            assert vectorizer.get_feature_names_out().tolist() == []
    assert len(TemplateVectorizer().fit(X).transform([])) == 0
    assert TemplateVectorizer([]).fit_transform(X).values.shape == (13, 0)


def test_dtype_and_edges_of_parameters():
    assert TemplateVectorizer(dtype=np.float32).fit_transform(X).dtype == np.float32
    for parameters in ({"dtype": int}, {"min_df": 0}, {"min_df": 1.5}, {"columns": "word"}, {"columns": ()},
                       {"columns": ("a", "a")}, {"columns": (1,)}, {"templates": 3}):  # fmt: skip
        with pytest.raises(InvalidParameterError):
            TemplateVectorizer(**parameters).fit(X)


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v)),
                                    lambda v: cloudpickle.loads(cloudpickle.dumps(v))])  # fmt: skip
def test_copies_behave_alike(copier):
    vectorizer = TemplateVectorizer("bio-ner").fit(X)
    again = copier(vectorizer)
    corpus = copier(vectorizer.transform(X))
    assert (again.transform(X).values != corpus.values).nnz == 0
    assert again.get_feature_names_out().tolist() == corpus.feature_names.tolist()


def test_scikit_learn_contract(tmp_path):
    path = tmp_path / "template"
    path.write_text("U00:%x[0,0]\n\nB\n", encoding="utf-8")
    vectorizer = TemplateVectorizer(path, columns=["word"], min_df=2, dtype=np.float32)
    assert vectorizer.fit(WORDS) is vectorizer
    assert vectorizer.get_feature_names_out().tolist() == ["U00:the", "U00:old"]
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert vectorizer.get_params()["templates"] is path
    path.unlink()
    assert vectorizer.transform(WORDS).n_features == 2  # the file was read at fit
    with pytest.raises(NotFittedError):
        TemplateVectorizer().transform(X)
    tags = vectorizer.__sklearn_tags__()
    assert not tags.input_tags.two_d_array and tags.input_tags.string and tags.input_tags.dict
    assert not hasattr(vectorizer, "n_features_in_")
    assert len(make_pipeline(TemplateVectorizer()).fit_transform(X)) == 5
    again = TemplateVectorizer().fit(X)
    names = again.get_feature_names_out().tolist()
    assert again.fit(X[1:2]).fit(X).get_feature_names_out().tolist() == names


def test_inverse_transform():
    vectorizer = TemplateVectorizer(["U:%x[0,0]"])
    assert vectorizer.inverse_transform(vectorizer.fit_transform([["a"], [], ["b", "a"]])) == [
        [{"U:a": 1.0}], [], [{"U:b": 1.0}, {"U:a": 1.0}],
    ]  # fmt: skip


def test_columns_do_not_depend_on_the_hash_seed():
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from sklearn_latent.feature_extraction import TemplateVectorizer\n"
        f"v = TemplateVectorizer('bio-ner'); M = v.fit_transform({X!r})\n"
        "print(ascii((v.get_feature_names_out().tolist(), M.values.indices.tolist())))"
    )
    vectorizer = TemplateVectorizer("bio-ner")
    indices = vectorizer.fit_transform(X).values.indices.tolist()
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    answer = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
    ).stdout
    assert answer.decode().strip() == ascii((vectorizer.get_feature_names_out().tolist(), indices))


BAD = [
    ("abc", TypeError, "X is a string.*such as"),
    (["abc"], TypeError, r"X\[0\] is the string 'abc'"),
    ([("the", "DT"), ("old", "JJ")], TypeError, r"X\[0\] is \('the', 'DT'\).*\[X\]"),
    ([{"word": "a", "pos": "b"}], TypeError, r"X\[0\] is a mapping.*\[X\]"),
    ([["the", "old"]], ValueError, "sequence 0, token 0.*'the'.*no column 'pos'"),
    ([[("a", "b")], [("a", "b"), ("a",)]], ValueError, "sequence 1, token 1.*1 columns.*'pos'.*'word', 'pos'"),
    ([[{"word": "a"}]], ValueError, "sequence 0, token 0.*no column 'pos'"),
    ([[("a", "b"), {"pos": "a"}]], ValueError, "sequence 0, token 1.*no column 'word'"),
    ([[("a", "b")], [("a", 3)]], TypeError, "sequence 1, token 0.*'pos' is 3.*strings"),
    ([[("a", None)]], TypeError, "sequence 0, token 0.*'pos' is None"),
    ([[(["a"], "b")]], TypeError, r"sequence 0, token 0.*'word' is \['a'\]"),
    ([[{"word": 1.5, "pos": "a"}]], TypeError, "sequence 0, token 0.*'word' is 1.5"),
    ([[("a", b"b")]], TypeError, "sequence 0, token 0.*'pos' is b'b'"),
    ([np.eye(2)], TypeError, r"sequence 0, token 0.*'word' is np.float64\(1.0\)"),
    ([[("a", "b"), 3]], TypeError, "sequence 0, token 1.* is 3"),
    ([[None]], TypeError, "sequence 0, token 0.* is None"),
    (3, TypeError, "X is 3"),
    ([None], TypeError, r"X\[0\] is None"),
    (pd.DataFrame({"word": ["a"]}), TypeError, "data frame"),
    (SequenceMatrix(np.eye(2), [2]), TypeError, "SequenceMatrix"),
]


@pytest.mark.parametrize(("corpus", "kind", "message"), BAD)
def test_bad_corpora(corpus, kind, message):
    vectorizer = TemplateVectorizer("chunking")
    with pytest.raises(kind, match=message):
        vectorizer.fit(corpus)
    assert not hasattr(vectorizer, "table_")
    with pytest.raises(kind, match=message):
        vectorizer.fit(X).transform(corpus)


WORD = st.one_of(st.text(alphabet="ab|\\/é水\u0308", max_size=2), st.sampled_from(["_B-1", "_B+1", "", "%x[0,0]"]))
CORPUS = st.lists(st.lists(st.tuples(WORD, WORD), max_size=6), max_size=4)
MACRO = st.tuples(st.integers(-4, 4), st.integers(0, 1)).map(lambda item: f"%x[{item[0]},{item[1]}]")
TEMPLATE = st.tuples(
    st.sampled_from(["U", "U1:", "U2:", "B", "B1:", "w="]),
    st.lists(MACRO, min_size=1, max_size=5),
    st.sampled_from(["", "/", "|", "\\", " and "]),
    st.sampled_from(["", "!"]),
).map(lambda parts: parts[0] + parts[2].join(parts[1]) + parts[3])
TEMPLATES = st.lists(TEMPLATE, min_size=1, max_size=5, unique=True)


@settings(max_examples=200, deadline=None)
@given(TEMPLATES, CORPUS, CORPUS, st.integers(1, 3))
def test_equals_the_slow_twin(templates, train, test, min_df):
    vectorizer = TemplateVectorizer(templates, min_df=min_df)
    corpus = vectorizer.fit_transform(train)
    corpus._check()
    columns = template_columns(templates, train, min_df)
    assert corpus.n_features == len(columns)
    assert dense(corpus).tolist() == template_matrix(columns, templates, train).tolist()
    again = vectorizer.transform(test)
    again._check()
    assert dense(again).tolist() == template_matrix(columns, templates, test).tolist()
    names = corpus.feature_names.tolist()
    assert len(set(names)) == len(names)
    marks = [key[0].startswith("B") for key in columns]
    assert (corpus.edge_only.tolist() if corpus.edge_only is not None else [False] * len(marks)) == marks


@settings(max_examples=60, deadline=None)
@given(CORPUS)
def test_chunking_equals_the_slow_twin(corpus):
    matrix = TemplateVectorizer("chunking").fit_transform(corpus)
    assert len(set(matrix.feature_names)) == matrix.n_features
    if not any(c in word for s in corpus for token in s for word in token for c in "|\\"):
        assert names_by_token(matrix) == [[sorted(f) for f in chunking_features(s)] for s in corpus]


def test_tables_grow():
    templates = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2:%x[-1,0]/%x[0,0]/%x[1,0]"]
    rng = np.random.default_rng(0)
    corpus = [[(f"w{k}", "x") for k in rng.integers(0, 20_000, size=n)] for n in [0, 3000, 1, 0, 9000, *[30] * 200]]
    vectorizer = TemplateVectorizer(templates)
    matrix = vectorizer.fit_transform(corpus)
    columns = template_columns(templates, corpus)
    indices = [columns[key] for s in corpus for keys in template_keys(templates, s) for key in keys]
    assert matrix.values.indices.tolist() == indices
    assert vectorizer.transform(corpus).values.indices.tolist() == indices


def test_a_long_sequence_leaves_small_tables():
    vectorizer = TemplateVectorizer(["U0:%x[-1,0]/%x[0,0]"]).fit([["a", "b"] * 20_000])
    assert vectorizer.get_feature_names_out().tolist() == ["U0:_B-1/a", "U0:a/b", "U0:b/a"]
    assert len(pickle.dumps(vectorizer)) < 5000
