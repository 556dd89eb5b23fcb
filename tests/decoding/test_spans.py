# SPDX-License-Identifier: BSD-3-Clause
"""Span probabilities against the list of all label sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.metrics import get_chunks

PREFIXES = {"io": "I", "iob1": "BI", "iob2": "BI", "ioe1": "IE", "ioe2": "IE", "iobes": "BIES", "bilou": "BILU"}


def tagger(rng: np.random.Generator, labels: list[str], n_latent: int, *, edges: bool) -> LatentCRFTagger:
    """A model of random weights."""
    n_states = len(labels) * n_latent
    params = {"edge_coef": rng.normal(size=(3, n_states**2)), "edge_features": True} if edges else {}
    return LatentCRFTagger.from_weights(
        labels,
        rng.normal(size=(3, n_states)),
        rng.normal(size=(n_states, n_states)),
        start_coef=rng.normal(size=n_states),
        end_coef=rng.normal(size=n_states),
        **params,
    )


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("scheme", PREFIXES)
def test_spans_equal_enumeration(scheme, edges):
    rng = np.random.default_rng(3)
    types = ["P", "L"] if len(PREFIXES[scheme]) < 4 else ["P"]
    labels = ["O", *(f"{prefix}-{kind}" for prefix in PREFIXES[scheme] for kind in types)]
    model = tagger(rng, labels, 2 if scheme == "iob2" else 1, edges=edges)
    lengths = [4, 0, 1, 3]
    X = SequenceMatrix(rng.normal(size=(sum(lengths), 3)), lengths)
    spans = [
        [(a, b, kind) for a, b in itertools.combinations(range(n + 1), 2) for kind in (*types, "absent")]
        for n in lengths
    ]
    found = model.predict_spans(X, spans, scheme=scheme)
    marginals = model.predict_marginals(X)
    for i, n in enumerate(lengths):
        every = [list(y) for y in itertools.product(labels, repeat=n)]
        prob = np.exp(model.log_likelihood([X[i]] * len(every), every)) if n else np.ones(1)
        assert prob.sum() == pytest.approx(1.0, abs=1e-9)
        expected: dict = {}
        for y, p in zip(every, prob.tolist(), strict=True):
            for span in get_chunks(y, scheme=scheme, invalid="discard"):
                expected[span] = expected.get(span, 0.0) + p
        assert [entry[:3] for entry in found[i]] == spans[i]
        for start, stop, kind, p in found[i]:
            assert p == pytest.approx(expected.get((start, stop, kind), 0.0), abs=1e-9)
            inside = [
                marginals[i][t][[c.endswith(f"-{kind}") for c in model.classes_]].sum() for t in range(start, stop)
            ]
            assert p <= min(inside) + 1e-9


def test_spans_of_the_decoded_labels():
    rng = np.random.default_rng(5)
    model = tagger(rng, ["B-P", "I-P", "O"], 2, edges=False)
    X = [rng.normal(size=(n, 3)) for n in (6, 0, 1, 9, 30)]
    for labels, found in zip(model.predict(X), model.predict_spans(X), strict=True):
        assert [entry[:3] for entry in found] == get_chunks(labels, scheme="iob2", invalid="discard")
        assert all(0 < p <= 1 for *_, p in found)


def test_spans_of_a_long_sequence_and_many_blocks():
    """The window costs no more in a long sequence, and blocks find their own sequences."""
    rng = np.random.default_rng(6)
    model = tagger(rng, ["B-P", "I-P", "O"], 1, edges=False)
    X = [rng.normal(size=(n, 3)) for n in (20_000, 0, 1, 9_000)]
    found = model.predict_spans(X)
    alone = [model.predict_spans([x])[0] for x in X]
    assert [len(entries) for entries in found] == [len(entries) for entries in alone]
    assert len(found[0]) > 1000
    np.testing.assert_allclose([e[3] for e in found[3]], [e[3] for e in alone[3]], rtol=1e-10)


def test_spans_with_fixed_labels():
    rng = np.random.default_rng(7)
    model = tagger(rng, ["B-P", "I-P", "O"], 2, edges=False)
    X = [rng.normal(size=(3, 3))]
    fixed = [[None, "I-P", None]]
    [[(*_, p)]] = model.predict_spans(X, [[(0, 2, "P")]], fixed=fixed)
    both = np.exp(model.log_likelihood(X * 3, [["B-P", "I-P", "O"], ["B-P", "I-P", "B-P"], [None, "I-P", None]]))
    assert p == pytest.approx((both[0] + both[1]) / both[2], abs=1e-12)


def test_bad_spans_are_named():
    rng = np.random.default_rng(8)
    model = tagger(rng, ["B-P", "I-P", "O"], 1, edges=False)
    X = [rng.normal(size=(3, 3)), rng.normal(size=(2, 3))]
    with pytest.raises(ValueError, match=r"spans\[1\]\[0\] is \(0, 3, 'P'\).*2 tokens of X\[1\]"):
        model.predict_spans(X, [[], [(0, 3, "P")]])
    with pytest.raises(ValueError, match=r"spans\[0\]\[0\] is \(0, 1\), not"):
        model.predict_spans(X, [[(0, 1)], []])
    with pytest.raises(ValueError, match="2 sequences but spans has 1"):
        model.predict_spans(X, [[]])
    with pytest.raises(TypeError, match=r"spans\[1\] is None, not a list of"):
        model.predict_spans(X, [[], None])
    with pytest.raises(ValueError, match="scheme must be one of"):
        model.predict_spans(X, scheme="conll")
    with pytest.raises(ValueError, match="'B-P' is no chunk label of scheme 'ioe2'"):
        model.predict_spans(X, scheme="ioe2")
    pos = tagger(rng, ["NOUN", "VERB"], 1, edges=False)
    with pytest.raises(ValueError, match="'NOUN'"):
        pos.predict_spans(X)
