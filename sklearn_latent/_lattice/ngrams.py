# SPDX-License-Identifier: BSD-3-Clause
"""State spaces of label histories: factors over several labels as weights of states and arcs.

A factor over n labels fires where the last n labels are some n-gram. What a chain has to remember for that is not the
last labels but the longest ending of them that begins an n-gram with a factor, a suffix automaton (Ye et al. 2009,
Cuong et al. 2014): two histories that end in it behave alike from there on. Its states are single labels and beginnings
of n-grams, so their number follows the n-grams that exist and not ``n_labels ** order``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .topology import Topology, latent_topology

__all__ = ["NgramSpace", "all_ngrams", "ngram_space", "seen_ngrams"]

#: Rows of labels whose numbers in base n_labels fit into 64 bits are compared as such numbers.
_KEY_LIMIT = 1 << 62


@dataclass(frozen=True)
class NgramSpace:
    """A topology whose states are label histories, each with a latent state of its last label.

    Attributes
    ----------
    topology : Topology
        States sorted by last label, then by history, then by latent state.
    history : ndarray of int32 of shape (n_states, longest)
        Labels that a state knows of, the last one in the last column, -1 before the first.
    latent : ndarray of int32 of shape (n_states,)
        Latent state of the last label, from 0.
    starts : ndarray of bool of shape (n_states,)
        States that a sequence may begin with: those that know one label.
    """

    topology: Topology
    history: np.ndarray
    latent: np.ndarray
    starts: np.ndarray

    def states_of(self, ngrams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States whose history ends in one of the n-grams (k, n): the states, ascending, and the n-gram of each."""
        return _ends_in(self.history, ngrams, self.topology.n_labels)

    def arcs_of(self, ngrams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Allowed arcs that complete one of the n-grams (k, n), n > 1: the arcs, ascending, and the n-gram of each."""
        top = self.topology
        labels = np.concatenate(
            [self.history[top.arc_source], top.state_label[top.arc_target][:, None].astype(np.int32)], axis=1
        )
        arc, ngram = _ends_in(labels, ngrams, top.n_labels)
        kept = top.free_arcs[arc]
        return arc[kept], ngram[kept]


def ngram_space(
    n_latent: np.ndarray,
    ngrams: dict[int, np.ndarray],
    *,
    carried: tuple[int, ...] = (),
    forbid: bool = False,
    allowed: np.ndarray | None = None,
) -> NgramSpace:
    """The state space of label n-grams with factors.

    Parameters
    ----------
    n_latent : array of int of shape (n_labels,)
        Latent states of each label.
    ngrams : dict of {n: ndarray of int32 of shape (k, n)}, n > 1
        Distinct label n-grams. To forbid others there must be an entry for each n from 2 to the largest.
    carried : tuple of int, default=()
        The n whose n-grams have to be known to states although nothing longer begins with them, so that a factor over
        them is a score of states; less than the largest n.
    forbid : bool, default=False
        Whether every label n-gram of these lengths must be one of those given; if not, all label sequences can be.
    allowed : array of bool of shape (n_labels, n_labels), default=None
        Which label may follow which, [from, to]; None: any.
    """
    n_latent = np.asarray(n_latent, dtype=np.int64)
    n_labels, longest = len(n_latent), max(ngrams, default=1) - 1
    if longest <= 1:
        if forbid and 2 in ngrams:
            seen = np.zeros((n_labels, n_labels), dtype=bool)
            seen[tuple(ngrams[2].T)] = True
            allowed = seen if allowed is None else seen & allowed
        top = latent_topology(n_latent, allowed)
        return NgramSpace(top, top.state_label[:, None].copy(), _ramps(n_latent), np.ones(top.n_states, dtype=bool))
    rows = {n: [tuple(row) for row in part.tolist()] for n, part in ngrams.items()}
    known = {(label,): None for label in range(n_labels)}
    for n, part in rows.items():
        if forbid:
            known.update((row, None) for row in part if n <= longest)
        else:
            first = n if n in carried else n - 1
            known.update((row[:k], None) for row in part for k in range(2, first + 1))
    order = sorted(known, key=lambda row: (row[-1], len(row), row))
    number = {row: k for k, row in enumerate(order)}
    if forbid:
        target = _forbidding_moves(order, number, {row for part in rows.values() for row in part}, n_labels, longest)
    else:
        target = _neutral_moves(order, number, n_labels)
    last = np.array([row[-1] for row in order])
    if allowed is not None:
        target[~np.asarray(allowed, dtype=bool)[last]] = -1
    history = np.full((len(order), longest), -1, dtype=np.int32)
    for k, row in enumerate(order):
        history[k, longest - len(row) :] = row
    return _with_latent(n_latent, history, last, target)


def _neutral_moves(order: list[tuple], number: dict[tuple, int], n_labels: int) -> np.ndarray:
    """History after each (history, label): the longest known ending of both (Aho and Corasick 1975)."""
    target = np.empty((len(order), n_labels), dtype=np.int64)
    children: dict[int, list[tuple[int, int]]] = {}
    for row, k in number.items():
        if len(row) > 1:
            children.setdefault(number[row[:-1]], []).append((row[-1], k))
    singles = np.array([number[(label,)] for label in range(n_labels)])
    shorter = np.zeros(len(order), dtype=np.int64)  # the longest known proper ending
    for row in sorted(order, key=len):
        k = number[row]
        target[k] = singles if len(row) == 1 else target[shorter[k]]
        for label, child in children.get(k, ()):
            shorter[child] = target[k, label]
            target[k, label] = child
    return target


def _forbidding_moves(order: list[tuple], number: dict, seen: set, n_labels: int, longest: int) -> np.ndarray:
    """History after each (history, label), -1 where that is no n-gram given; histories forget only what is too long."""
    target = np.full((len(order), n_labels), -1, dtype=np.int64)
    for row in seen:
        if row[:-1] in number:
            after = row[-longest:]
            if after in number:
                target[number[row[:-1]], row[-1]] = number[after]
    return target


def _with_latent(n_latent: np.ndarray, history: np.ndarray, last: np.ndarray, target: np.ndarray) -> NgramSpace:
    """States are pairs of a history and a latent state of its last label; arcs join every latent pair of a move."""
    counts = n_latent[last]
    first = np.concatenate([[0], np.cumsum(counts)])
    n_states, n_labels = int(first[-1]), len(n_latent)
    owner = np.repeat(np.arange(len(last)), counts)
    sources, label = np.nonzero(target >= 0)
    targets = target[sources, label]
    n_from, n_to = counts[sources], counts[targets]
    pairs = n_from * n_to
    move = np.repeat(np.arange(len(sources)), pairs)
    k = np.arange(len(move)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    source = first[sources][move] + k // n_to[move]
    to = first[targets][move] + k % n_to[move]
    sort = np.lexsort((to, source))
    source, to = source[sort], to[sort]
    state_label = last[owner].astype(np.int32)
    topology = Topology(
        n_labels=n_labels,
        n_states=n_states,
        state_label=state_label,
        label_ptr=np.searchsorted(state_label, np.arange(n_labels + 1)).astype(np.int32),
        label_state=np.arange(n_states, dtype=np.int32),
        arc_source=source.astype(np.int32),
        arc_target=to.astype(np.int32),
        arc_ptr=np.searchsorted(source, np.arange(n_states + 1)).astype(np.int64),
        dense=False,
        histories=True,
        one_path=bool((n_latent == 1).all()),
    )
    own = history[owner]
    starts = np.ones(n_states, dtype=bool) if history.shape[1] == 1 else own[:, -2] < 0
    return NgramSpace(topology, own, _ramps(counts), starts)


def _ramps(counts: np.ndarray) -> np.ndarray:
    """0, 1, ..., count - 1 for each count, joined, int32."""
    ends = np.cumsum(counts)
    return (np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)).astype(np.int32)


def _ends_in(rows: np.ndarray, ngrams: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (..., labels, -1 for none) that end in one of the n-grams, and which."""
    n = ngrams.shape[1]
    if n > rows.shape[1] or not len(ngrams):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    full = np.flatnonzero(rows[:, -n] >= 0)
    key = _keys(np.concatenate([ngrams, rows[full, rows.shape[1] - n :]]), n_labels)
    known, asked = key[: len(ngrams)], key[len(ngrams) :]
    order = np.argsort(known, kind="stable")
    place = np.searchsorted(known[order], asked)
    found = place < len(known)
    found[found] = known[order[place[found]]] == asked[found]
    return full[found], order[place[found]]


def _keys(rows: np.ndarray, n_labels: int) -> np.ndarray:
    """One int64 a row of labels, the same for equal rows and in the rows' order."""
    key, size = rows[:, 0].astype(np.int64), n_labels
    for column in rows.T[1:]:
        if size * n_labels >= _KEY_LIMIT:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key = key * n_labels + column
        size *= n_labels
    return key


def all_ngrams(n_labels: int, n: int, allowed: np.ndarray | None = None) -> np.ndarray:
    """Every sequence of `n` labels in which each may follow the one before, int32 of shape (k, n), sorted."""
    rows = np.arange(n_labels, dtype=np.int32)[:, None]
    for _ in range(n - 1):
        rows = np.concatenate(
            [np.repeat(rows, n_labels, axis=0), np.tile(np.arange(n_labels, dtype=np.int32), len(rows))[:, None]],
            axis=1,
        )
        rows = _allowed_rows(rows, allowed)
    return rows


def _allowed_rows(rows: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    if allowed is None or rows.shape[1] < 2:
        return rows
    return rows[allowed[rows[:, :-1], rows[:, 1:]].all(axis=1)]


def seen_ngrams(
    codes: np.ndarray,
    offsets: np.ndarray,
    n: int,
    n_labels: int,
    allowed: np.ndarray | None = None,
    most: int = 1 << 24,
) -> np.ndarray:
    """Label n-grams of a corpus, int32 of shape (k, n), distinct and sorted.

    Parameters
    ----------
    codes : ndarray of int32 of shape (n_tokens,)
        Negative where the label is unknown: it counts as seen with every label that may stand there.
    offsets : ndarray of int64 of shape (n_sequences + 1,)
    n : int
    n_labels : int
    allowed : array of bool of shape (n_labels, n_labels), default=None
        N-grams with another pair of neighbours don't count.
    most : int, default=2 ** 24
        More n-grams than this are not made.

    Raises
    ------
    OverflowError
        If unknown labels stand for more than `most` n-grams.
    """
    position = np.arange(len(codes)) - np.repeat(offsets[:-1], np.diff(offsets))
    ends = np.flatnonzero(position >= n - 1)
    rows = np.maximum(np.stack([codes[ends - k] for k in range(n - 1, -1, -1)], axis=1), -1).astype(np.int32)
    known = (rows >= 0).all(axis=1)
    partial, rows = _distinct(rows[~known] + 1, n_labels + 1) - 1, _distinct(rows[known], n_labels)
    for column in range(n if len(partial) else 0):
        unknown = partial[:, column] < 0
        if unknown.sum() * n_labels > most:
            raise OverflowError(f"unknown labels stand for more than {most} n-grams of {n} labels")
        filled = np.repeat(partial[unknown], n_labels, axis=0)
        filled[:, column] = np.tile(np.arange(n_labels), int(unknown.sum()))
        partial = np.concatenate([partial[~unknown], filled])
        if column:
            partial = partial[_pair_allowed(partial, column, allowed)]
    rows = _allowed_rows(rows, allowed)
    return _distinct(np.concatenate([rows, partial]), n_labels) if len(partial) else rows


def _pair_allowed(rows: np.ndarray, column: int, allowed: np.ndarray | None) -> np.ndarray:
    return np.ones(len(rows), dtype=bool) if allowed is None else allowed[rows[:, column - 1], rows[:, column]]


def _distinct(rows: np.ndarray, n_labels: int) -> np.ndarray:
    """Distinct rows, sorted."""
    if not len(rows):
        return rows
    _, first = np.unique(_keys(rows, n_labels), return_index=True)
    return rows[first]
