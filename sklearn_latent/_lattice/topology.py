# SPDX-License-Identifier: BSD-3-Clause
"""The state space of a chain, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = ["Topology", "latent_topology"]

#: Below this share of allowed arcs a list of arcs is walked; above it, all pairs with -inf on the forbidden ones,
#: whose loops the compiler vectorises.
DENSE_SHARE = 0.2


@dataclass(frozen=True)
class Topology:
    """States, the arcs between them and the label each state stands for.

    Attributes
    ----------
    n_labels, n_states : int
    state_label : ndarray of int32 of shape (n_states,)
        Label id of each state.
    label_ptr, label_state : ndarray of int32 of shape (n_labels + 1,) and (n_states,)
        The states of label ``y`` are ``label_state[label_ptr[y]:label_ptr[y + 1]]``.
    arc_source, arc_target : ndarray of int32 of shape (n_arcs,)
        Ends of each arc; arcs are sorted by source, then target.
    arc_ptr : ndarray of int64 of shape (n_states + 1,)
        The arcs out of state ``g`` are ``arc_ptr[g]:arc_ptr[g + 1]``.
    dense : bool
        Every pair of states is an arc, so that arc scores read as a (n_states, n_states) matrix [source, target].
    arc_allowed : ndarray of bool of shape (n_arcs,) or None
        Arcs that are not allowed score ``-inf``; None: all are.
    histories : bool
        Whether states know labels before their own, so that what may follow depends on the state and not on its label.
    one_path : bool or None
        Whether a label sequence is at most one path of states, so that nothing is summed out. None: if there is one
        state a label.
    """

    n_labels: int
    n_states: int
    state_label: np.ndarray
    label_ptr: np.ndarray
    label_state: np.ndarray
    arc_source: np.ndarray
    arc_target: np.ndarray
    arc_ptr: np.ndarray
    dense: bool
    arc_allowed: np.ndarray | None = None
    histories: bool = False
    one_path: bool | None = None

    def __post_init__(self) -> None:
        if self.one_path is None:
            object.__setattr__(self, "one_path", self.one_state_a_label)

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return len(self.arc_target)

    @property
    def one_state_a_label(self) -> bool:
        """Whether states are labels."""
        return self.n_states == self.n_labels

    @property
    def free_arcs(self) -> np.ndarray:
        """Which arcs can have a finite score, bool of shape (n_arcs,)."""
        return np.ones(self.n_arcs, dtype=bool) if self.arc_allowed is None else self.arc_allowed

    @property
    def label_moves(self) -> np.ndarray:
        """Which label may follow which, bool of shape (n_labels, n_labels)."""
        moves, free = np.zeros((self.n_labels, self.n_labels), dtype=bool), self.free_arcs
        moves[self.state_label[self.arc_source[free]], self.state_label[self.arc_target[free]]] = True
        return moves

    @cached_property
    def arcs_by_target(self) -> np.ndarray:
        """Arcs sorted by target, then source, int64 of shape (n_arcs,)."""
        return np.argsort(self.arc_target, kind="stable")

    @cached_property
    def in_source(self) -> np.ndarray:
        """Sources of `arcs_by_target`, int32 of shape (n_arcs,)."""
        return self.arc_source[self.arcs_by_target]

    @cached_property
    def in_ptr(self) -> np.ndarray:
        """The arcs into state ``h`` are ``arcs_by_target[in_ptr[h]:in_ptr[h + 1]]``, int64 of shape (n_states + 1,)."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.arc_target, minlength=self.n_states))])

    def as_matrix(self, arc: np.ndarray, fill: float = -np.inf) -> np.ndarray:
        """Arc values (rows, n_arcs) as matrices (rows, n_states, n_states), `fill` where there is no arc."""
        shape = (len(arc), self.n_states, self.n_states)
        if self.dense:
            return arc.reshape(shape)
        out = np.full(shape, fill)
        out[:, self.arc_source, self.arc_target] = arc
        return out

    def row_bytes(self, *, arc_rows_differ: bool) -> int:
        """Bytes of a token's row of scores: of its states, and of its arcs where each token has its own."""
        return 8 * (self.n_states + (self.n_arcs if arc_rows_differ else 0))

    def label_sums(self, state_values: np.ndarray) -> np.ndarray:
        """Sum the columns of (rows, n_states) over the states of each label: (rows, n_labels)."""
        if len(state_values) == 0:
            return np.zeros((0, self.n_labels))
        return np.add.reduceat(state_values[:, self.label_state], self.label_ptr[:-1], axis=1)


def latent_topology(n_latent: np.ndarray, allowed: np.ndarray | None = None) -> Topology:
    """Chain whose labels each own a block of states, any state after any other unless forbidden.

    Parameters
    ----------
    n_latent : array of int of shape (n_labels,)
        States of each label, at least one.
    allowed : array of bool of shape (n_labels, n_labels), default=None
        Which label may follow which, [from, to]; None: any.
    """
    n_latent = np.asarray(n_latent, dtype=np.int64)
    n_labels, n_states = len(n_latent), int(n_latent.sum())
    state_label = np.repeat(np.arange(n_labels, dtype=np.int32), n_latent)
    label_ptr = np.concatenate([[0], np.cumsum(n_latent)]).astype(np.int32)
    arc_allowed = None
    if allowed is not None and not allowed.all():
        arc_allowed = np.asarray(allowed, dtype=bool)[np.ix_(state_label, state_label)].ravel()
    dense = arc_allowed is None or bool(arc_allowed.mean() >= DENSE_SHARE)
    if dense:
        kept = np.arange(n_states * n_states)
    else:
        kept = np.flatnonzero(arc_allowed)
        arc_allowed = None
    source = kept // max(n_states, 1)
    return Topology(
        n_labels=n_labels,
        n_states=n_states,
        state_label=state_label,
        label_ptr=label_ptr,
        label_state=np.arange(n_states, dtype=np.int32),
        arc_source=source.astype(np.int32),
        arc_target=(kept - source * n_states).astype(np.int32),
        arc_ptr=np.searchsorted(source, np.arange(n_states + 1)).astype(np.int64),
        dense=dense,
        arc_allowed=arc_allowed,
    )
