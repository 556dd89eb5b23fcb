# SPDX-License-Identifier: BSD-3-Clause
"""State spaces of label n-grams against sums over label sequences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import log_of_sum
from sklearn_latent._lattice import Lattice, all_ngrams, ngram_space, seen_ngrams
from sklearn_latent.datasets import fetch_ocr_letters


@st.composite
def spaces(draw):
    """A small corpus, its n-grams, and what is to be done about the others."""
    n_labels, longest = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    codes = rng.integers(0, n_labels, offsets[-1]).astype(np.int32)
    codes[rng.random(len(codes)) < draw(st.sampled_from([0.0, 0.2]))] = -1
    allowed = rng.random((n_labels, n_labels)) < 0.8 if draw(st.booleans()) else None
    ngrams = {n: seen_ngrams(codes, offsets, n, n_labels, allowed) for n in range(2, longest + 1)}
    carried = tuple(n for n in range(2, longest) if draw(st.booleans()))
    return n_labels, ngrams, carried, draw(st.booleans()), allowed, rng, (codes, offsets)


def seen(codes, offsets, n, n_labels, allowed):
    """The n-grams of windows, an unknown label standing for every one."""
    out = set()
    for first, last in zip(offsets[:-1], offsets[1:], strict=True):
        for t in range(first, last - n + 1):
            for row in product(*(range(n_labels) if c < 0 else [c] for c in codes[t : t + n])):
                if allowed is None or all(allowed[a, b] for a, b in zip(row, row[1:], strict=False)):
                    out.add(tuple(int(c) for c in row))
    return out


@settings(deadline=None)
@given(spaces())
def test_seen_ngrams(space):
    n_labels, ngrams, _, _, allowed, _, corpus = space
    for n, rows in ngrams.items():
        assert [tuple(row) for row in rows.tolist()] == sorted(seen(*corpus, n, n_labels, allowed))
        assert rows.dtype == np.int32


@settings(deadline=None)
@given(spaces(), st.lists(st.integers(1, 2), min_size=3, max_size=3), st.integers(1, 5))
def test_label_sequences_score_as_their_ngrams(space, n_latent, n_tokens):
    """Free and clamped log sums are those of a model that is written down n-gram by n-gram."""
    n_labels, ngrams, carried, forbid, allowed, rng, _ = space
    n_latent = np.array(n_latent[:n_labels])
    made = ngram_space(n_latent, ngrams, carried=carried, forbid=forbid, allowed=allowed)
    top = made.topology
    node, arc = np.zeros((n_tokens, top.n_states)), np.zeros((1, top.n_arcs))
    if top.arc_allowed is not None:
        arc[0, ~top.arc_allowed] = -np.inf
    node[0, ~made.starts] = -np.inf
    weights = {n: rng.standard_normal((n_tokens, len(rows))) for n, rows in ngrams.items()}
    own = rng.standard_normal((n_tokens, top.n_labels, 2))
    node += own[:, top.state_label, made.latent]
    positional = np.repeat(arc, n_tokens, axis=0)
    for n, rows in ngrams.items():
        if n in carried or (forbid and n < max(ngrams)):
            place, which = made.states_of(rows)
            node[:, place] += weights[n][:, which]
        else:
            place, which = made.arcs_of(rows)
            positional[:, place] += weights[n][:, which]
    lattice = Lattice(top, node, positional, np.array([0, n_tokens]))
    index = {n: {tuple(row): k for k, row in enumerate(rows.tolist())} for n, rows in ngrams.items()}
    scores = []
    for y in product(range(n_labels), repeat=n_tokens):
        score = 0.0
        for t, label in enumerate(y):
            score += log_of_sum(own[t, label, : n_latent[label]])
            for n in ngrams:
                row = y[t - n + 1 : t + 1]
                if t >= n - 1 and row in index[n]:
                    score += weights[n][t, index[n][row]]
                elif t >= n - 1 and forbid:
                    score = -np.inf
            if t and allowed is not None and not allowed[y[t - 1], label]:
                score = -np.inf
        found = lattice.log_sum(np.array(y, dtype=np.int32))[0]
        np.testing.assert_allclose(found, score, rtol=1e-10, atol=1e-10)
        scores.append(score)
    np.testing.assert_allclose(lattice.free_log_sum[0], log_of_sum(np.array(scores)), rtol=1e-10, atol=1e-10)


@settings(deadline=None)
@given(spaces(), st.lists(st.integers(1, 2), min_size=3, max_size=3))
def test_states_and_arcs_are_in_order(space, n_latent):
    n_labels, ngrams, carried, forbid, allowed, _, _ = space
    counts = np.array(n_latent[:n_labels])
    made = ngram_space(counts, ngrams, carried=carried, forbid=forbid, allowed=allowed)
    top = made.topology
    assert (np.diff(top.state_label) >= 0).all()
    assert (made.history[:, -1] == top.state_label).all()
    assert (top.state_label[top.label_state] == np.repeat(np.arange(n_labels), np.diff(top.label_ptr))).all()
    key = top.arc_source.astype(np.int64) * top.n_states + top.arc_target
    assert (np.diff(key) > 0).all()
    assert (top.arc_source == np.repeat(np.arange(top.n_states), np.diff(top.arc_ptr))).all()
    assert top.one_path == (counts == 1).all()
    assert (made.starts == ((made.history >= 0).sum(axis=1) == 1)).all()


def test_all_ngrams():
    assert all_ngrams(3, 2).tolist() == [list(row) for row in product(range(3), repeat=2)]
    allowed = np.array([[True, False], [True, True]])
    assert all_ngrams(2, 3, allowed).tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert all_ngrams(4, 1).tolist() == [[0], [1], [2], [3]]


def test_too_many_unknown_labels_are_not_written_out():
    codes = np.full(8, -1, dtype=np.int32)
    with pytest.raises(OverflowError, match="8 labels"):
        seen_ngrams(codes, np.array([0, 8]), 8, 50)


def test_long_ngrams_of_many_labels_are_told_apart():
    """Where n-grams as numbers would not fit into 64 bits."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1000, 50).astype(np.int32)
    rows = seen_ngrams(np.concatenate([codes, codes]), np.array([0, 50, 100]), 9, 1000)
    assert [tuple(r) for r in rows.tolist()] == sorted({tuple(codes[t : t + 9].tolist()) for t in range(42)})


@pytest.mark.parametrize(("order", "neutral", "forbid"), [(2, 209, 217), (3, 451, 488), (4, 672, 749)])
def test_the_letters_need_few_states(order, neutral, forbid):
    """The counts of the papers' reference count the empty history, where nothing was read yet and no token is."""
    try:
        words = fetch_ocr_letters().target
    except OSError:
        pytest.skip("no data")
    code = {label: k for k, label in enumerate(sorted({label for word in words for label in word}))}
    codes = np.array([code[label] for word in words for label in word], dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(word) for word in words])])
    ngrams = {n: seen_ngrams(codes, offsets, n, len(code)) for n in range(2, order + 2)}
    one = np.ones(len(code), dtype=int)
    assert ngram_space(one, ngrams).topology.n_states == neutral - 1
    assert ngram_space(one, ngrams, forbid=True).topology.n_states == forbid
