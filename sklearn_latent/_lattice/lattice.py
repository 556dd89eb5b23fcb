# SPDX-License-Identifier: BSD-3-Clause
"""`Lattice`: scores of a batch of sequences over a topology, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from .topology import Topology

try:
    from . import _exact_walk, _kernels, _label_sums, _lanes
except ImportError as error:
    # Python looks into the current folder first, and a checkout has no kernels unless it was built in place.
    raise ImportError(
        f"the kernels of sklearn_latent are not built in {Path(__file__).parent.parent}; if the package is installed, "
        "start Python in another folder than this checkout, or build the checkout too: pip install -e ."
    ) from error

__all__ = ["Factors", "Lattice", "SearchFactors"]

_NO_CLAMP = np.empty(0, dtype=np.int32)
_NO_PTR = np.empty(0, dtype=np.int64)
_NOTHING = np.empty((0, 0))
#: Factors below this could make a product of two leave the range of normal numbers.
_SEARCH_RANGE = 1e-140
#: Sequences are walked in lanes if at least this share of the steps of all lanes is some token's.
_FILLED = 0.5
#: Tokens times states of the longest sequence walked in lanes: work arrays have 32 numbers for each.
_LANE_ROOM = 1 << 18


@dataclass(frozen=True)
class Factors:
    """exp(score - row maximum), the maxima, and the smallest positive factor of each row (see ``_kernels``)."""

    factor: np.ndarray
    shift: np.ndarray
    low: np.ndarray

    @classmethod
    def of(cls, score: np.ndarray) -> Factors:
        """Factors of scores (n_rows, n_columns)."""
        factor = np.empty_like(score)
        shift, low = np.zeros(len(score)), np.ones(len(score))
        _kernels.row_factors(score, factor, shift, low)
        return cls(factor, shift, low)


@dataclass(frozen=True)
class Lanes:
    """Node factors of a batch in the order in which sequences are walked, eight at a time (see ``_lanes``).

    Attributes
    ----------
    order, group_ptr : ndarray of int64
    factor, low, unit : ndarray of float64
    """

    order: np.ndarray
    group_ptr: np.ndarray
    factor: np.ndarray
    low: np.ndarray
    unit: np.ndarray

    @classmethod
    def of(cls, node: np.ndarray, offsets: np.ndarray) -> Lanes | None:
        """Lanes of a batch; None where its sequences are too few or too unlike in length to fill them."""
        lengths, width, n_states = np.diff(offsets), _lanes.LANES, node.shape[1]
        order = np.argsort(-lengths, kind="stable")[: int(np.count_nonzero(lengths))]
        steps = lengths[order[::width]]
        n_steps = int(steps.sum())
        if len(node) < _FILLED * width * n_steps or int(lengths.max(initial=0)) * n_states > _LANE_ROOM:
            return None
        missing = -len(order) % width
        order = np.concatenate([order, np.full(missing, -1)]) if missing else order
        group_ptr = np.concatenate([[0], np.cumsum(steps)])
        factor, low = _aligned(n_steps * n_states * width), _aligned(n_steps * width)
        unit = np.zeros(len(lengths))
        _lanes.lane_factors(node, offsets, order, group_ptr, np.zeros(n_states), factor, low, unit)
        return cls(order, group_ptr, factor, low, unit)


def _aligned(n: int, kind: type = np.float64) -> np.ndarray:
    """Unset array of `n` numbers of eight bytes that begins with a cache line."""
    room = np.empty(n + 8, dtype=kind)
    skipped = -(room.ctypes.data // 8) % 8
    return room[skipped : skipped + n]


@dataclass(frozen=True)
class SearchFactors:
    """One sequence's factors for the label search: path weight = exp(log_unit) times the product of factors.

    Attributes
    ----------
    node : ndarray of shape (T, n_states)
    arc : ndarray of shape (1 or T, n_states, n_states)
    log_unit : float
    """

    node: np.ndarray
    arc: np.ndarray
    log_unit: float


class Lattice:
    """Log-scores of a batch of sequences over one topology.

    Parameters
    ----------
    topology : Topology
    node : ndarray of float64 of shape (n_tokens, n_states), C-contiguous
        Log-score of each state at each token, start and end scores included; ``-inf`` forbids.
    arc : ndarray of float64 of shape (1, n_arcs) or (n_tokens, n_arcs), C-contiguous
        Log-score of each arc; row ``t`` is the move into token ``t``, one row serves every token.
    offsets : ndarray of int64 of shape (n_sequences + 1,)
    maximised : callable or None
        Gives the lattice whose scores are maxima over the variables that these scores sum out; None: there are none.
    """

    def __init__(
        self,
        topology: Topology,
        node: np.ndarray,
        arc: np.ndarray,
        offsets: np.ndarray,
        maximised: Callable[[], Lattice] | None = None,
    ):
        self.maximised = maximised
        self.topology = topology
        self.node = node
        self.arc = arc
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def node_factors(self) -> Factors:
        """Factors of the node scores."""
        return Factors.of(self.node)

    @cached_property
    def arc_factors(self) -> Factors:
        """Factors of the arc scores."""
        return Factors.of(self.arc)

    @cached_property
    def _in_lanes(self) -> Lanes | None:
        """Lanes, where sequences can be walked in lanes: with one arc row."""
        if not _lanes.LANES_PAY or self.arc_rows_differ or not len(self.node):
            return None
        # A lane whose sequence has ended goes on over the arcs: NaN among them would reach the sums of the others.
        return None if np.isnan(self.arc_factors.factor).any() else Lanes.of(self.node, self.offsets)

    @cached_property
    def shared_arcs(self) -> np.ndarray:
        """Factors of the one arc row as matrices (1, n_states, n_states), for all sequences of the batch."""
        return self.topology.as_matrix(self.arc_factors.factor, 0.0)

    @property
    def arc_rows_differ(self) -> bool:
        """Whether each token has an arc row of its own."""
        return len(self.arc) > 1 or self.arc.shape[0] == 0

    def ranges(self) -> list[tuple[int, int]]:
        """First row and end of each sequence."""
        bounds = self.offsets.tolist()
        return list(zip(bounds[:-1], bounds[1:], strict=True))

    @property
    def scores_are_numbers(self) -> bool:
        """Whether no score is NaN or +inf."""
        return bool((self.node < np.inf).all() and (self.arc < np.inf).all())

    @cached_property
    def free_log_sum(self) -> np.ndarray:
        """Log partition function of each sequence, (n_sequences,)."""
        return self.log_sum()

    def label_log_prob(self, codes: np.ndarray) -> np.ndarray:
        """log P(labels) of each sequence, latent states summed out; negative codes as in `log_sum`."""
        with np.errstate(invalid="ignore"):
            log_prob = self.log_sum(codes) - self.free_log_sum
        return np.minimum(np.where(np.isnan(log_prob), -np.inf, log_prob), 0.0)

    def label_marginals(self) -> np.ndarray:
        """P(label at token), (n_tokens, n_labels); rows add up to one."""
        state_mass, _, _ = self.expectations()
        marginals = self.topology.label_sums(state_mass)
        return marginals / np.maximum(marginals.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    def log_sum(self, clamp: np.ndarray | None = None) -> np.ndarray:
        """Log of the summed path weight of each sequence, (n_sequences,); ``-inf`` where no path is left.

        Parameters
        ----------
        clamp : ndarray of int32 of shape (n_tokens,), default=None
            Label each token is held to; -1: free, -2: none can be had. None: all free.
        """
        return self._walk(clamp, None, None, None)

    def expectations(self, clamp: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """State masses (n_tokens, n_states), arc masses (as `arc`) and the log sums (n_sequences,)."""
        state_mass, arc_mass = np.zeros_like(self.node), np.zeros_like(self.arc)
        log_sum = self._walk(clamp, np.ones(len(self)), state_mass, arc_mass)
        return state_mass, arc_mass, log_sum

    def add_expectations(
        self, clamp: np.ndarray | None, weight: np.ndarray, state_mass: np.ndarray, arc_mass: np.ndarray
    ) -> np.ndarray:
        """Add ``weight[i]`` times the masses of sequence ``i`` to the arrays given; return the log sums."""
        return self._walk(clamp, weight, state_mass, arc_mass)

    def add_loss(self, codes: np.ndarray, weight: np.ndarray, node_delta: np.ndarray, arc_delta: np.ndarray):
        """Free minus clamped log sums times the weights, (n_sequences,); their derivatives are added to the arrays."""
        free = self.add_expectations(None, weight, node_delta, arc_delta)
        return weight * (free - self.add_expectations(codes, -weight, node_delta, arc_delta))

    def messages(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log forward sums (with the state's own score) and log backward sums, (n_tokens, n_states), and log sums."""
        forward, backward = np.empty_like(self.node), np.empty_like(self.node)
        log_sum, top = np.zeros(len(self)), self.topology
        _exact_walk.messages(
            self.node, self.arc, top.arc_target, top.arc_ptr, top.state_label, top.label_ptr, top.label_state,
            self.offsets, forward, backward, log_sum, np.empty(top.n_states),
        )  # fmt: skip
        return forward, backward, log_sum

    def best_path(self) -> tuple[np.ndarray, np.ndarray]:
        """States of the best path, int32 of (n_tokens,), and its log-score, (n_sequences,)."""
        path, score = np.empty(len(self.node), dtype=np.int32), np.empty(len(self))
        top = self.topology
        work = np.empty((self._longest, top.n_states))
        _kernels.best_paths(
            self.node, self.arc, top.arc_target, top.arc_ptr, top.dense, self.offsets, path, score, work
        )
        return path, score

    def search_factors(self, i: int) -> SearchFactors:
        """Factors of sequence `i` (at least one token) for the search over label prefixes.

        Where plain factors could leave the range of normal numbers, each move is rescaled by the best score of
        what follows (as A* does with its heuristic), which no path weight notices: the best path then has
        weight one, and what underflows is below 1e-300 of it.
        """
        first, last = int(self.offsets[i]), int(self.offsets[i + 1])
        rows = slice(first, last) if self.arc_rows_differ else slice(0, 1)
        node, arc = self.node_factors, self.arc_factors
        if node.low[first:last].min() >= _SEARCH_RANGE and arc.low[rows].min() >= _SEARCH_RANGE:
            unit = node.shift[first:last].sum()
            unit += arc.shift[first + 1 : last].sum() if self.arc_rows_differ else arc.shift[0] * (last - first - 1)
            shared = None if self.arc_rows_differ else self.shared_arcs
            matrices = self.topology.as_matrix(arc.factor[rows], 0.0) if shared is None else shared
            return SearchFactors(node.factor[first:last], matrices, float(unit))
        return self._rescaled_factors(first, last, self.topology.as_matrix(self.arc[rows]))

    def _rescaled_factors(self, first: int, last: int, arc: np.ndarray) -> SearchFactors:
        node, n_tokens = self.node[first:last], last - first
        best = np.zeros_like(node)
        with np.errstate(invalid="ignore"):
            for t in range(n_tokens - 2, -1, -1):
                move = arc[t + 1 if len(arc) > 1 else 0]
                best[t] = (move + (node[t + 1] + best[t + 1])[None, :]).max(axis=1)
            top = (node[0] + best[0]).max()
            if top == -np.inf:
                return SearchFactors(np.zeros_like(node), np.zeros((1, *arc.shape[1:])), 0.0)
            factors = np.zeros((max(n_tokens, 1), *arc.shape[1:]))
            for t in range(1, n_tokens):
                move = arc[t if len(arc) > 1 else 0] + (node[t] + best[t])[None, :] - best[t - 1][:, None]
                move[best[t - 1] == -np.inf] = -np.inf
                factors[t] = np.exp(move)
        states = np.ones_like(node)
        states[0] = np.exp(node[0] + best[0] - top)
        return SearchFactors(states, factors, float(top))

    @property
    def _longest(self) -> int:
        return int(np.diff(self.offsets).max(initial=0))

    def _walk(self, clamp, weight, state_mass, arc_mass) -> np.ndarray:
        """The cheapest walk that serves, then the exact walk over the sequences that it did not certify."""
        top, n = self.topology, len(self)
        masses = state_mass is not None
        if not masses:
            weight, state_mass, arc_mass = np.ones(n), _NOTHING, _NOTHING
        log_sum, certified = np.zeros(n), np.ones(n, dtype=np.uint8)
        path = None if clamp is None else self._path_of(clamp)
        if path is not None:
            if len(self.node):
                sums = (masses, state_mass, arc_mass, log_sum)
                _lanes.path_walk(self.node, self.arc, *path, self.offsets, weight, *sums)
            return log_sum
        if clamp is not None and len(clamp) and top.dense and not masses and (clamp >= 0).all():
            arc = self.arc_factors
            _label_sums.label_sums(
                self.node, arc.factor, arc.shift, arc.low, top.label_ptr, top.label_state, clamp, self.offsets,
                log_sum, certified, np.empty(2 * top.n_states), np.empty(self._longest * top.n_states),
            )  # fmt: skip
            return self._exactly_where_needed(clamp, weight, masses, state_mass, arc_mass, log_sum, certified)
        clamp = _NO_CLAMP if clamp is None else clamp
        # With one arc row the kernels sum without the factors and multiply at the end: they need zeros to start.
        own_arc_mass = np.zeros_like(self.arc) if masses and not self.arc_rows_differ else arc_mass
        sums = (masses, state_mass, own_arc_mass, log_sum, certified)
        if self._in_lanes is None:
            self._walk_one_by_one(clamp, weight, *sums)
        else:
            self._walk_in_lanes(self._in_lanes, clamp, weight, *sums)
        self._exactly_where_needed(clamp, weight, *sums)
        if own_arc_mass is not arc_mass:
            arc_mass += own_arc_mass
        return log_sum

    def _exactly_where_needed(self, clamp, weight, masses, state_mass, arc_mass, log_sum, certified) -> np.ndarray:
        """Do again what a fast walk did not certify."""
        top = self.topology
        if not certified.all():
            _exact_walk.accumulate(
                self.node, self.arc, top.arc_target, top.arc_ptr, top.state_label, top.label_ptr, top.label_state,
                clamp, self.offsets, np.flatnonzero(certified == 0).astype(np.int64), weight, masses,
                state_mass, arc_mass, log_sum, np.empty((1, (2 * self._longest + 1) * top.n_states)),
            )  # fmt: skip
        return log_sum

    def _path_of(self, clamp: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """States of the one path that labels leave, -1 where it breaks off, and arcs; None where there may be more."""
        top = self.topology
        if not top.one_path or not (clamp >= 0).all():
            return None
        if top.dense:
            path = top.label_state[clamp]
            move = np.zeros(len(path), dtype=np.int64)
            np.multiply(path[:-1], top.n_states, out=move[1:], dtype=np.int64)
            move[1:] += path[1:]
            return path, move
        path, move = np.empty(len(clamp), dtype=np.int32), np.empty(len(clamp), dtype=np.int64)
        single = _lanes.follow(
            self.node, clamp, self.offsets, top.arc_target, top.arc_ptr, top.state_label, top.label_ptr,
            top.label_state, path, move,
        )  # fmt: skip
        return (path, move) if single else None

    def _walk_one_by_one(self, clamp, weight, masses, state_mass, arc_mass, log_sum, certified) -> None:
        top, longest = self.topology, self._longest
        node, arc = self.node_factors, self.arc_factors
        work = np.empty((3, (longest + 1) * top.n_states))
        turned = np.empty((top.n_states,) * 2) if top.dense and masses and not self.arc_rows_differ else _NOTHING
        _kernels.accumulate_fast(
            node.factor, node.shift, node.low, arc.factor, arc.shift, arc.low,
            top.arc_target, top.arc_ptr, top.dense, top.state_label, top.label_ptr, top.label_state,
            clamp, self.offsets, weight, masses, state_mass, arc_mass, log_sum, certified,
            work, np.empty((2, longest)), turned,
        )  # fmt: skip

    def _walk_in_lanes(self, lanes: Lanes, clamp, weight, masses, state_mass, arc_mass, log_sum, certified) -> None:
        top, S, arc, width = self.topology, self.topology.n_states, self.arc_factors, _lanes.LANES
        factor = arc.factor[0]
        if top.dense:
            turned, ends = np.ascontiguousarray(factor.reshape(S, S).T).reshape(-1), (_NO_PTR, _NO_CLAMP) * 2
        else:
            turned, ends = factor[top.arcs_by_target], (top.arc_ptr, top.arc_target, top.in_ptr, top.in_source)
        work = _aligned((4 * self._longest + 2) * S * width + 2 * width * self._longest)
        codes = _aligned(width * self._longest, np.int64) if len(clamp) else np.empty(0, dtype=np.int64)
        _lanes.lane_walk(
            lanes.factor, lanes.low, lanes.unit, factor, turned, *ends, arc.shift[0], arc.low[0], top.state_label,
            clamp, self.offsets, lanes.order, lanes.group_ptr, weight,
            masses, state_mass, arc_mass, log_sum, certified, work, codes,
        )  # fmt: skip
