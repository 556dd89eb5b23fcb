# SPDX-License-Identifier: BSD-3-Clause
"""Beam search against a list of all label sequences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_latent._decoding.beam import beam_search


def table_of(rng, n_tokens, n_labels, width, forbidden):
    """Log-probabilities of what follows each history at each token, by a table."""
    table = {}
    for t in range(n_tokens):
        for history in product(range(n_labels + 1), repeat=width):
            row = rng.normal(size=n_labels)
            row -= np.log(np.exp(row).sum())
            row[rng.random(n_labels) < forbidden] = -np.inf
            table[t, history] = row
    return table


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from([1, 2, 5, 200]),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_beam(lengths, n_labels, history, width, forbidden, held, seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    table = table_of(rng, int(offsets[-1]), n_labels, history, forbidden)
    clamp = np.where(rng.random(offsets[-1]) < 0.3, rng.integers(0, n_labels, offsets[-1]), -1) if held else None

    def log_prob(token, rows):
        return np.array([table[t, tuple(row)] for t, row in zip(token.tolist(), rows.tolist(), strict=True)]).reshape(
            len(token), n_labels
        )

    def score(first, y):
        total, before = 0.0, (n_labels,) * history
        for t, label in enumerate(y):
            total += table[first + t, before][label]
            before = (label, *before[:-1])
        return total

    may = None if clamp is None else (clamp[:, None] == -1) | (clamp[:, None] == np.arange(n_labels))
    found = beam_search(log_prob, offsets, n_labels, history, width, may)
    assert len(found) == len(lengths)
    for (codes, scores), first, length in zip(found, offsets.tolist(), lengths, strict=False):
        assert codes.shape == (len(scores), length)
        assert (np.diff(scores) <= 0).all() and len(scores) <= width
        np.testing.assert_allclose(scores, [score(first, y) for y in codes.tolist()], rtol=1e-12)
        assert len({tuple(y) for y in codes.tolist()}) == len(codes)
        possible = [
            score(first, y)
            for y in product(range(n_labels), repeat=length)
            if clamp is None or all(c in (-1, label) for c, label in zip(clamp[first:], y, strict=False))
        ]
        possible = sorted((s for s in possible if s > -np.inf), reverse=True)
        if width >= n_labels**4:
            np.testing.assert_allclose(scores, possible, rtol=1e-12)
        elif len(scores):
            assert scores[0] <= possible[0] + 1e-12


@pytest.mark.parametrize("spoilt", [(0, 3), (1, 3), (1, 0)])
@pytest.mark.parametrize("width", [1, 2, 50])
def test_what_is_not_a_number_comes_out_as_such(spoilt, width):
    """Token 0 or 1 of the second sequence, after any history or after label 0 only: never dropped as the worst."""
    token, history = spoilt

    def log_prob(tokens, rows):
        table = np.log(np.tile([0.5, 0.3, 0.2], (len(tokens), 1)))
        table[(tokens == 2 + token) & ((rows[:, 0] == history) | (history == 3))] = np.nan
        return table

    whole, broken, last = beam_search(log_prob, np.array([0, 2, 5, 6]), 3, 1, width)
    assert np.isnan(broken[1]).all() and len(broken[1])
    for codes, scores in (whole, last):
        assert np.isfinite(scores).all() and codes[0].tolist() == [0] * codes.shape[1]
