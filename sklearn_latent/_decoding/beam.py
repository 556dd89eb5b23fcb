# SPDX-License-Identifier: BSD-3-Clause
"""Beam search over label histories, where these are too many for a lattice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["beam_search"]


def beam_search(
    log_prob: Callable[[np.ndarray, np.ndarray], np.ndarray],
    offsets: np.ndarray,
    n_labels: int,
    history: int,
    width: int,
    may: np.ndarray | None = None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Label sequences that are built from left to right, of which the `width` best are kept at each token.

    Parameters
    ----------
    log_prob : callable
        ``log_prob(token, history)``, with arrays (n_rows,) and (n_rows, history), the last label first and `n_labels`
        for none, gives the log-probabilities of the labels that follow, (n_rows, n_labels).
    offsets : ndarray of int64 of shape (n_sequences + 1,)
    n_labels, history, width : int
    may : ndarray of bool of shape (n_tokens, n_labels), default=None
        Labels that a token may have; None: any. They should lead on to labels that later tokens may have: the beam does
        not look ahead.

    Returns
    -------
    list of (codes, score)
        Of each sequence: label ids, int32 of (k, T), and their summed log-probabilities, (k,), descending; `k` is 0 if
        every label sequence was found to be impossible. Scores are NaN where a log-probability is.
    """
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    score = np.zeros((len(order), 1))
    before = np.full((len(order), 1, history), n_labels)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    ends: dict[int, np.ndarray] = {}
    for t in range(int(lengths.max(initial=0))):
        n = int((lengths > t).sum())
        for i in range(n, len(score)):
            ends[i] = score[i]
        score, before = score[:n], before[:n]
        token = offsets[order[:n]] + t
        n_kept = score.shape[1]
        following = log_prob(np.repeat(token, n_kept), before.reshape(-1, history)).reshape(n, n_kept, n_labels)
        if may is not None:
            following = np.where(may[token][:, None, :], following, -np.inf)
        candidates = (score[:, :, None] + following).reshape(n, -1)
        best = np.argsort(-candidates, axis=1, kind="stable")[:, :width]
        score = np.take_along_axis(candidates, best, axis=1)
        # What is not a number is no worse than what is kept: the sequence has no best labels then.
        score[np.isnan(candidates).any(axis=1)] = np.nan
        parent, label = np.divmod(best, n_labels)
        before = np.concatenate(
            [label[:, :, None], np.take_along_axis(before, parent[:, :, None], axis=1)[:, :, :-1]], axis=2
        )
        steps.append((parent.astype(np.int32), label.astype(np.int32)))
    for i in range(len(score)):
        ends[i] = score[i]
    out: list = [None] * len(order)
    for i, sequence in enumerate(order.tolist()):
        length = int(lengths[sequence])
        found = np.flatnonzero(~np.isneginf(ends[i])) if length else np.zeros(1, dtype=int)
        codes, place = np.empty((len(found), length), dtype=np.int32), found
        for t in range(length - 1, -1, -1):
            parent, label = steps[t]
            codes[:, t] = label[i, place]
            place = parent[i, place]
        out[sequence] = codes, ends[i][found]
    return out
