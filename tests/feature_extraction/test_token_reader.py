# SPDX-License-Identifier: BSD-3-Clause
"""Tokens are looked at once each and in parts: against a twin that looks at every column of every token."""

from collections import UserDict, namedtuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sklearn_latent.feature_extraction import TemplateVectorizer, _columns
from sklearn_latent.feature_extraction._columns import ColumnCoder, derive

Pair = namedtuple("Pair", "word pos")
COLUMNS = ("word", "pos", "extra")
STREAMS = {
    "two columns": [(0, None), (1, None)],
    "one column": [(0, None)],
    "the second column": [(1, None)],
    "ends": [(0, None), (2, None), (0, "suffix1"), (0, "prefix2"), (0, "shape")],
    "ends alone": [(0, "suffix1")],
    "nothing": [],
}
FORMS = (tuple, list, lambda t: dict(zip(COLUMNS, t, strict=False)), lambda t: (*t, ["not hashable"]),
         lambda t: UserDict(zip(COLUMNS, t, strict=False)), lambda t: np.array(t, dtype=object),
         lambda t: tuple(map(np.str_, t)))  # fmt: skip
STRINGS = st.sampled_from(["a", "b", "ab", "Ab", "cb", ""])
CORPORA = st.lists(st.lists(st.tuples(STRINGS, STRINGS, STRINGS, st.sampled_from(FORMS)), max_size=4), max_size=6)


def slow_ids(corpus, streams, learnt):
    """Ids by first occurrence in `learnt`, -1 for others."""

    def strings(sequences, column, kind):
        values = [token[column] for tokens in sequences for token in tokens]
        return values if kind is None else [derive(kind, value) for value in values]

    out = []
    for column, kind in streams:
        number = {v: k for k, v in enumerate(dict.fromkeys(v for v in strings(learnt, column, kind) if v is not None))}
        out.append([number.get(v, -1) for v in strings(corpus, column, kind)])
    return np.array(out).reshape(len(streams), sum(map(len, corpus)))


@pytest.fixture(params=[(1 << 20, 1 << 17), (3, 1)], ids=["whole", "small parts"])
def parts(request, monkeypatch):
    monkeypatch.setattr(_columns, "PART_TOKENS", request.param[0])
    monkeypatch.setattr(_columns, "MOST_TOKENS", request.param[1])


# The fixture only sets sizes, so that examples may share it.
@pytest.mark.parametrize("streams", STREAMS.values(), ids=STREAMS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(train=CORPORA, test=CORPORA, max_tokens=st.integers(1, 6))
def test_ids_are_those_of_the_twin(parts, streams, train, test, max_tokens):
    plain = [[[token[:3] for token in tokens] for tokens in corpus] for corpus in (train, test)]
    formed = [[[form(token) for *token, form in tokens] for tokens in corpus] for corpus in (train, test)]
    coder = ColumnCoder(COLUMNS, streams)
    lengths, ids = coder.learn(iter(formed[0]))
    assert lengths.tolist() == list(map(len, train)) and lengths.dtype == np.int64
    assert ids.dtype == np.int32 and ids.flags.c_contiguous
    np.testing.assert_array_equal(ids, slow_ids(plain[0], streams, plain[0]))
    lengths, ids = coder.code(iter(formed[1]))
    assert lengths.tolist() == list(map(len, test))
    np.testing.assert_array_equal(ids, slow_ids(plain[1], streams, plain[0]))
    found = list(coder.code_parts(iter(formed[1]), max_tokens))
    assert [n for lengths, _ in found for n in lengths.tolist()] == list(map(len, test))
    for k, (lengths, part) in enumerate(found):
        assert part.shape == (len(streams), lengths.sum()) and part.dtype == np.int32
        assert sum(lengths[:-1]) < max_tokens and (lengths.sum() >= max_tokens or k == len(found) - 1)
    np.testing.assert_array_equal(np.concatenate([part for _, part in found] or [ids], axis=1), ids)


@pytest.mark.parametrize("bad", [3, None, "a b", ("a",), ("a", 3), ("a", ["b"]), ["a", 3], {"word": "a"}, Pair("a", 3)])
@pytest.mark.parametrize("at", [0, 1, 3])
def test_errors_name_the_place_whatever_came_before(parts, bad, at):
    good = [("a", "b"), ("b", "b"), ("a", "b")]
    wrong = [*good, *good]
    wrong[at] = bad
    vectorizer = TemplateVectorizer("chunking").fit([good])
    corpus = [good, [], good, wrong]
    for call in (vectorizer.transform, vectorizer.fit, lambda X: list(vectorizer._transform_parts(X, 2))):
        with pytest.raises((TypeError, ValueError), match=rf"X\[3\]\[{at}\] \(sequence 3, token {at}\)"):
            call(corpus)
    vectorizer.fit([good, [Pair("a", "b")]])


def test_a_part_is_what_transform_gives(parts):
    rng = np.random.default_rng(0)
    corpus = [[(f"w{a}", f"p{b}") for a, b in rng.integers(0, 9, (n, 2))] for n in (3, 0, 5, 1, 0, 0, 8)]
    vectorizer = TemplateVectorizer("bio-ner").fit(corpus[:4])
    whole = vectorizer.transform(corpus)
    for max_tokens in (1, 4, 100):
        found = list(vectorizer._transform_parts(iter(corpus), max_tokens))
        assert np.concatenate([part.lengths for part in found]).tolist() == whole.lengths.tolist()
        dense = np.concatenate([part.values.toarray() for part in found])
        np.testing.assert_array_equal(dense, whole.values.toarray())
        assert all(part.feature_names is not None for part in found)
