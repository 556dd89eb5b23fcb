# SPDX-License-Identifier: BSD-3-Clause
"""The log-odds between two labels of a token as a sum over features and neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from .._lattice import Lattice
from .._scorers import Design
from .._sequences import SequenceMatrix
from .._threads import one_blas_thread

__all__ = ["LabelOdds", "label_odds"]

_Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class LabelOdds:
    """``log P(y_i = label | x) - log P(y_i = against | x)`` and the parts that add up to it.

    With ``q`` the probabilities of the states of token ``i`` given its label, ``log P(y_i | x)`` is, but for a
    constant, ``sum_h q(h) (u(h) + L(h) + R(h)) + H(q)``: the token's own scores, what the tokens before and after it
    say, and the entropy of ``q``. What the tokens before say is cut in turn: with ``q_t`` the state probabilities of
    token ``t`` given the label of token ``i``, ``t`` adds ``sum q_{t+1} L_{t+1} - sum q_t L_t``; the like on the right.

    Attributes
    ----------
    label, against : int
    log_odds : float
    position, feature : ndarray of int of shape (n_parts,)
        Tokens and their features.
    value, part : ndarray of float of shape (n_parts,)
    start, end : float or None
        Boundary weights, where the token is the first (last) and the model has such weights.
    hidden : float
        What else the token's own scores say: biases and open hidden variables of networks.
    neighbours : ndarray of shape (T,)
        What each other token says, features of moves into ``i`` left out; 0.0 at ``i``.
    states : float
        Difference of the entropies.
    """

    label: int
    against: int
    log_odds: float
    position: np.ndarray
    feature: np.ndarray
    value: np.ndarray
    part: np.ndarray
    start: float | None
    end: float | None
    hidden: float
    neighbours: np.ndarray
    states: float


def label_odds(tagger, corpus: SequenceMatrix, i: int, label: int, against: int | None) -> LabelOdds:
    """Take apart why a token has a label.

    Parameters
    ----------
    tagger : fitted tagger
        Whose model is a lattice.
    corpus : SequenceMatrix
        One sequence.
    i : int
        Token.
    label : int
        Id of the label explained.
    against : int or None
        Id of the other label; None: the most probable other one.

    Raises
    ------
    ValueError
        If either label is impossible there, or no other label is possible.
    """
    with one_blas_thread():
        lattice, _, check = next(iter(tagger._lattices([corpus], None)))()
        check()
        design = Design(corpus.values)
        scorer, prepared = tagger._scoring(design.sparse)
        messages = _Messages(lattice, i)
        against = messages.against(label, against, tagger.classes_.tolist())
        q, moves = messages.change(label, against)
        n_moves = np.zeros(lattice.topology.n_arcs)
        own = scorer.feature_parts(prepared, design, lattice.offsets, i, q[i], n_moves)
        neighbours = messages.neighbours(q)
        rows, hidden = own.rows, own.rest
        if i and lattice.arc_rows_differ:
            into = scorer.feature_parts(prepared, design, lattice.offsets, i, np.zeros_like(q[i]), moves)
            rows, hidden = rows + into.rows, hidden + into.rest
            neighbours[i - 1] -= into.inner
    return LabelOdds(
        label, against, float(messages.log_mass[label] - messages.log_mass[against]), *_joined(rows, design),
        own.start, own.end, hidden, neighbours, messages.entropy(label) - messages.entropy(against),
    )  # fmt: skip


class _Messages:
    """Log-sums into and out of the states of one sequence, as they concern token `i`."""

    def __init__(self, lattice: Lattice, i: int):
        self.lattice, self.i, top = lattice, i, lattice.topology
        self.forward, self.backward, _ = lattice.messages()
        self.mass = self.forward[i] + self.backward[i]
        self.own = [top.state_label == code for code in range(top.n_labels)]
        self.log_mass = np.array([logsumexp(self.mass[own]) for own in self.own])

    def against(self, label: int, other: int | None, classes: list) -> int:
        """The label to compare with, judged."""
        if other == label:
            raise ValueError(f"label and against are the same: {classes[label]!r}")
        if other is None:
            rest = np.where(np.arange(len(classes)) == label, -np.inf, self.log_mass)
            other = int(rest.argmax())
            if rest[other] == -np.inf:
                raise ValueError(f"token {self.i} can have no other label than {classes[label]!r}: nothing to explain")
        for code in (label, other):
            if self.log_mass[code] == -np.inf:
                raise ValueError(f"token {self.i} can't have the label {classes[code]!r}: its log-odds are not finite")
        return other

    def share(self, code: int) -> np.ndarray:
        """Probability of each state of the token given its label."""
        return np.exp(np.where(self.own[code], self.mass - self.log_mass[code], -np.inf))

    def entropy(self, code: int) -> float:
        """Of `share`."""
        q = self.share(code)
        q = q[q > 0]
        return -float(q @ np.log(q))

    def change(self, label: int, other: int) -> tuple[np.ndarray, np.ndarray]:
        """State probabilities (T, n_states) and those of moves into the token (n_arcs,), given either label: a - b."""
        lattice, q, moves = self.lattice, [], []
        for code in (label, other):
            clamp = np.full(len(lattice.node), -1, dtype=np.int32)
            clamp[self.i] = code
            q.append(lattice.expectations(clamp)[0])
            q[-1][self.i] = self.share(code)
            moves.append(self._moves(code))
        return q[0] - q[1], moves[0] - moves[1]

    def _moves(self, code: int) -> np.ndarray:
        """Probability of each move into the token given its label."""
        lattice, i, top = self.lattice, self.i, self.lattice.topology
        if not i or not lattice.arc_rows_differ:
            return np.zeros(top.n_arcs)
        into = np.where(self.own[code], lattice.node[i] + self.backward[i] - self.log_mass[code], -np.inf)
        return np.exp(self.forward[i - 1][top.arc_source] + lattice.arc[i] + into[top.arc_target])

    def neighbours(self, q: np.ndarray) -> np.ndarray:
        """What each other token says, (T,), from the change of all states' probabilities."""
        i, out = self.i, np.zeros(len(q))
        with np.errstate(invalid="ignore"):  # both -inf where a state can't be
            left = _expected(q, self.forward - self.lattice.node)
        out[:i] = np.diff(left[: i + 1])
        out[i + 1 :] = -np.diff(_expected(q, self.backward)[i:])
        return out


def _expected(change: np.ndarray, message: np.ndarray) -> np.ndarray:
    """Row by row, the sum of messages times the change in their states' probabilities."""
    used = np.where(change != 0, message, 0.0)
    # A constant added to a row changes nothing, as the changes add up to zero; without it less is lost to rounding.
    return (change * (used - used.max(axis=1, keepdims=True))).sum(axis=1)


def _joined(rows: list[tuple[int, np.ndarray, np.ndarray]], design: Design) -> _Columns:
    """Tokens, features, values and parts, one entry for each feature of a token."""
    position = np.concatenate([np.full(len(feature), token) for token, feature, _ in rows])
    pairs = np.stack([position, np.concatenate([feature for _, feature, _ in rows])])
    pairs, place = np.unique(pairs, axis=1, return_inverse=True)
    part = np.bincount(place.reshape(-1), np.concatenate([part for *_, part in rows]), minlength=pairs.shape[1])
    value = {t: dict(zip(*map(np.ndarray.tolist, design.row(t)), strict=True)) for t in set(pairs[0].tolist())}
    values = np.array([value[t][f] for t, f in pairs.T.tolist()], dtype=np.float64)
    return pairs[0], pairs[1], values, part
