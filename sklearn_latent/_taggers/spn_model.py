# SPDX-License-Identifier: BSD-3-Clause
"""The fitted model of `SPNCRFTagger` as plain arrays: label n-grams, the shape of the networks, and weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._lattice import NgramSpace, Topology, all_ngrams, ngram_space
from .._objective import ChainObjective, LocalObjective, Packing
from .._scorers import Circuit, LocalScorer, Place, Slots, SPNScorer

__all__ = ["LocalModel", "NetworkShape", "SPNModel"]

#: Arcs of a lattice of label histories in which a locally normalised model is decoded: each has a score of the networks
#: of its own at every token.
MOST_ARCS = 4096


@dataclass(frozen=True)
class NetworkShape:
    """What the networks of all factors have in common (see `Circuit`)."""

    n_layers: int
    n_products: int
    n_states: int
    operator: str
    tied: bool
    single: bool  # precision

    def circuit(self, n_features: int, n_roots: int, n_observations: int, n_extra: int = 0) -> Circuit:
        """The network of one factor."""
        return Circuit(
            n_features, n_roots, self.n_layers, self.n_products, self.n_states, n_observations, n_extra,
            self.operator, self.tied, np.dtype(np.float32 if self.single else np.float64),
        )  # fmt: skip


class _Networks:
    """Weights of networks as users see them."""

    def network_coef(self, k: int) -> np.ndarray:
        """Weights of factor `k`, (n_roots, I, H, ..., I, H, n_features of the window), oldest token first; then
        the extra inputs.

        Tied weights are (I, H, ..., I, H, n_features of the window).
        """
        c = self.circuits()[k]
        path, roots = [c.n_states, c.n_products] * c.n_layers, [] if c.tied else [c.n_roots]
        full = np.zeros((c.n_rows, int(np.prod([*path, *roots]))))
        full[:, full.shape[1] - c.n_columns :] = self.params[f"coef_{k}"]
        D, m = c.n_features, c.n_observations
        full[: m * D] = full[: m * D].reshape(m, D, -1)[::-1].reshape(m * D, -1)
        return full.reshape([c.n_rows, *path, *roots]).T.copy()

    def network_bias(self, k: int) -> list[np.ndarray]:
        """Biases of the levels of factor `k`, from (n_roots,) to (n_roots, I, H, ..., I, H); none without layers."""
        c, out, at = self.circuits()[k], [], 0
        for level, width in enumerate(c.widths if c.n_layers else []):
            n = c.n_free if level == c.n_layers else width
            flat = np.zeros(width)
            flat[width - n :] = self.params[f"bias_{k}"][at : at + n]
            out.append(flat.reshape([c.n_states, c.n_products] * level + [c.n_roots]).T.copy())
            at += n
        return out


@dataclass
class SPNModel(_Networks):
    """Arrays of a globally normalised model; no kernels, closures or buffers, so that saving is boring.

    Attributes
    ----------
    shape : NetworkShape
    factors : tuple of (int, int)
        Tokens and labels of each factor that sees the features.
    order : int
        Labels before the last in the longest n-gram with a weight that does not see the features.
    n_features : int
    n_latent : ndarray of int64 of shape (n_labels,)
    ngrams : dict of {n: ndarray of int32 of shape (k, n)}
        Label n-grams with factors, n > 1, sorted.
    forbid : bool
        Whether others are forbidden.
    moves : ndarray of bool of shape (n_labels, n_labels) or None
        Which label may follow which; None: any.
    start_allowed, end_allowed : ndarray of bool of shape (n_labels,) or None
    params : dict of str to ndarray
        ``coef_k`` and ``bias_k`` of each factor k, ``ngram``, ``start``, ``end``.
    """

    shape: NetworkShape
    factors: tuple[tuple[int, int], ...]
    order: int
    n_features: int
    n_latent: np.ndarray
    ngrams: dict[int, np.ndarray]
    forbid: bool = False
    moves: np.ndarray | None = None
    start_allowed: np.ndarray | None = None
    end_allowed: np.ndarray | None = None
    params: dict[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def space(self) -> NgramSpace:
        """States and arcs."""
        # Of lengths beyond the first that has none there is nothing to know.
        most = 1 + max((n for n, rows in self.ngrams.items() if len(rows)), default=1)
        ngrams = {n: rows for n, rows in self.ngrams.items() if n <= most}
        longest = max(ngrams, default=1)
        carried = tuple(n for _, n in self.factors if 1 < n < longest)
        return ngram_space(self.n_latent, ngrams, carried=carried, forbid=self.forbid, allowed=self.moves)

    @property
    def topology(self) -> Topology:
        """Topology of the lattice."""
        return self.space.topology

    @property
    def one_optimum(self) -> bool:
        """Whether the objective is convex: one start is enough."""
        return self.shape.n_layers == 0 and bool((self.n_latent == 1).all())

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.n_latent)

    @property
    def n_units(self) -> int:
        """Latent states of all labels together."""
        return int(self.n_latent.sum())

    @property
    def unit_of(self) -> np.ndarray:
        """First latent state of each label among those of all labels."""
        return np.cumsum(self.n_latent) - self.n_latent

    @property
    def weighed(self) -> list[int]:
        """Lengths of the n-grams that have weights which don't see the features."""
        return [n for n in sorted(self.ngrams) if n <= self.order + 1]

    def rows_of(self, n: int) -> np.ndarray:
        """Label n-grams of one length with factors."""
        return np.arange(len(self.n_latent), dtype=np.int32)[:, None] if n == 1 else self.ngrams[n]

    def roots_of(self, n: int) -> np.ndarray:
        """First root of each n-gram, and the number of all: one for each latent state of its last label."""
        return np.concatenate([[0], np.cumsum(self.n_latent[self.rows_of(n)[:, -1]])])

    def pairs_of(self, n: int) -> np.ndarray:
        """First weight of each n-gram, and the number of all: one for each pair of latent states of its last labels."""
        rows = self.rows_of(n)
        return np.concatenate([[0], np.cumsum(self.n_latent[rows[:, -2]] * self.n_latent[rows[:, -1]])])

    def _latent_pairs(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """N-gram, latent state of its last label but one, and of its last label, of each weight."""
        rows, first = self.rows_of(n), self.pairs_of(n)
        a, b = self.n_latent[rows[:, -2]], self.n_latent[rows[:, -1]]
        row = np.repeat(np.arange(len(rows)), a * b)
        k = np.arange(first[-1]) - first[row]
        return row, k // b[row], k % b[row]

    def circuits(self) -> list[Circuit]:
        """The networks of the factors."""
        return [self.shape.circuit(self.n_features, int(self.roots_of(n)[-1]), m) for m, n in self.factors]

    def scorer(self, sparse: bool) -> SPNScorer:
        """The scorer that reads `params`, for sparse or dense designs."""
        return SPNScorer(
            self.topology, self.circuits(), [self._place(n) for _, n in self.factors], *self._chain, sparse=sparse
        )

    def objective(self, sparse: bool, sigma: float, *, split: bool = False) -> ChainObjective:
        """The training criterion over `params`."""
        return ChainObjective(self.topology, self.scorer(sparse), sigma)

    def featureless(self) -> ChainObjective:
        """The criterion of a model without networks: what is possible is a matter of n-grams alone."""
        return ChainObjective(self.topology, SPNScorer(self.topology, [], [], *self._chain), np.inf)

    def start(self, packing: Packing, scale: float, rng: np.random.RandomState) -> np.ndarray:
        """Uniform within `scale`, to break symmetries; weights that have none begin at zero."""
        start = rng.uniform(-scale, scale, packing.size)
        if self.one_optimum:
            start[:] = 0.0
        elif (self.n_latent == 1).all():
            start[packing.slices["ngram"].start :] = 0.0
        return start

    def take(self, old: SPNModel, columns: np.ndarray, params: dict[str, np.ndarray]) -> None:
        """Put an earlier model's weights where this one has a weight for the same n-gram and feature.

        Parameters
        ----------
        old : SPNModel
            Of the same shape, factors, labels and latent states.
        columns : ndarray of int of shape (n_features of `old`,)
            The new column of each old feature, -1 for none.
        params : dict of str to ndarray
            Changed in place.
        """
        for k, (new, circuit) in enumerate(zip(self.circuits(), old.circuits(), strict=True)):
            n = self.factors[k][1]
            here, there = _matched(self.rows_of(n), old.rows_of(n), len(self.n_latent))
            counts = self.n_latent[self.rows_of(n)[here, -1]]
            roots, old_roots = _runs(self.roots_of(n)[here], counts), _runs(old.roots_of(n)[there], counts)
            rows = np.arange(old.factors[k][0])[:, None] * self.n_features + columns[None, :]
            kept = np.flatnonzero(np.tile(columns >= 0, old.factors[k][0]))
            rows = rows.reshape(-1)[kept]
            if new.tied:
                params[f"coef_{k}"][rows] = old.params[f"coef_{k}"][kept]
            else:
                _copy_roots(params[f"coef_{k}"], rows, roots, new, old.params[f"coef_{k}"], kept, old_roots, circuit)
            if new.n_layers:
                one = np.zeros(1, dtype=int)
                _copy_roots(
                    params[f"bias_{k}"][None], one, roots, new, old.params[f"bias_{k}"][None], one, old_roots, circuit
                )
        at = old_at = 0
        for n in self.weighed:
            here, there = _matched(self.rows_of(n), old.rows_of(n), len(self.n_latent))
            first, old_first = self.pairs_of(n), old.pairs_of(n)
            counts = np.diff(first)[here]
            params["ngram"][at + _runs(first[here], counts)] = old.params["ngram"][
                old_at + _runs(old_first[there], counts)
            ]
            at, old_at = at + int(first[-1]), old_at + int(old_first[-1])
        for name in ("start", "end"):
            params[name][:] = old.params[name]

    # -- weights as users see them -------------------------------------------------------------------

    def ngram_coef(self) -> dict[int, np.ndarray]:
        """Weights of n-grams, {n: (k, most latent, most latent)}, [n-gram, of the last but one, of the last label]."""
        most, out, at = int(self.n_latent.max()), {}, 0
        for n in self.weighed:
            cells = self._latent_pairs(n)
            out[n] = np.zeros((len(self.rows_of(n)), most, most))
            out[n][cells] = self.params["ngram"][at : at + len(cells[0])]
            at += len(cells[0])
        return out

    def transitions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Latent state before, latent state, value and labels before both of each weight of n-grams, starts and ends.

        -1 stands for the start, the end, and for no label; labels before are (n_weights, longest n-gram - 2).
        """
        longest, ramp = max(0, max(self.weighed, default=1) - 2), np.arange(self.n_units)
        source, target, before = [], [], []
        for n in self.weighed:
            rows, (row, a, b) = self.rows_of(n), self._latent_pairs(n)
            source.append(self.unit_of[rows[row, -2]] + a)
            target.append(self.unit_of[rows[row, -1]] + b)
            before.append(np.full((len(row), longest), -1))
            before[-1][:, longest - (n - 2) :] = rows[row, : n - 2]
        nothing = np.full(self.n_units, -1)
        weight = np.concatenate([self.params[name] for name in ("ngram", "start", "end")])
        before.append(np.full((2 * self.n_units, longest), -1))
        source, target = [*source, nothing, ramp], [*target, ramp, nothing]
        return np.concatenate(source), np.concatenate(target), weight, np.concatenate(before)

    def allowed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which label may follow which, (n_labels, n_labels), and begin and end a sequence, (n_labels,)."""
        rules = (self.start_allowed, self.end_allowed)
        start, end = (np.ones(self.n_labels, dtype=bool) if rule is None else rule for rule in rules)
        return self.topology.label_moves, start, end

    def transition_coef(self) -> np.ndarray:
        """Weights of bigrams, (n_units, n_units), [from, to], zero where there is none."""
        out = np.zeros((self.n_units, self.n_units))
        if self.order:
            for (a, b), block in zip(self.ngrams[2].tolist(), self.ngram_coef()[2], strict=True):
                i, j, n_a, n_b = self.unit_of[a], self.unit_of[b], self.n_latent[a], self.n_latent[b]
                out[i : i + n_a, j : j + n_b] = block[:n_a, :n_b]
        return out

    # -- inside --------------------------------------------------------------------------------------

    def _place(self, n: int) -> Place:
        """Where the roots of a factor over `n` labels count: on states that know n labels, else on arcs."""
        space, rows = self.space, self.rows_of(n)
        on_arcs = n > space.history.shape[1]
        column, which = space.arcs_of(rows) if on_arcs else space.states_of(rows)
        state = space.topology.arc_target[column] if on_arcs else column
        return Place.of(on_arcs, column, self.roots_of(n)[which] + space.latent[state])

    @cached_property
    def _chain(self) -> tuple:
        """Slots of n-grams and boundaries, and the states that may begin and end a sequence."""
        space, top = self.space, self.topology
        columns, weights, at = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], 0
        for n in self.weighed:
            arc, which = space.arcs_of(self.rows_of(n))
            first, target = self.pairs_of(n), top.arc_target[arc]
            before, last = space.latent[top.arc_source[arc]], space.latent[target]
            columns.append(arc)
            weights.append(at + first[which] + before * self.n_latent[top.state_label[target]] + last)
            at += int(first[-1])
        ngrams = Slots(at, np.concatenate(columns), np.concatenate(weights))
        boundary = Slots(self.n_units, np.arange(top.n_states), self.unit_of[top.state_label] + space.latent)
        start = None if space.starts.all() else space.starts
        if self.start_allowed is not None:
            start = space.starts & self.start_allowed[top.state_label]
        end = None if self.end_allowed is None else self.end_allowed[top.state_label]
        return ngrams, boundary, start, end


@dataclass
class LocalModel(_Networks):
    """Arrays of a locally normalised model.

    Attributes
    ----------
    shape : NetworkShape
    factors : tuple of (int, int)
        Tokens of each factor; one label.
    order : int
        Labels of the history.
    n_features : int
    n_labels : int
    moves, start_allowed, end_allowed : ndarray of bool or None
        As in `SPNModel`.
    params : dict of str to ndarray
        ``coef_k`` and ``bias_k`` of each factor k.
    """

    shape: NetworkShape
    factors: tuple[tuple[int, int], ...]
    order: int
    n_features: int
    n_labels: int
    moves: np.ndarray | None = None
    start_allowed: np.ndarray | None = None
    end_allowed: np.ndarray | None = None
    params: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def in_lattice(self) -> bool:
        """Whether the histories are few enough for a lattice, in which everything is exact."""
        n, arcs = self.n_labels, self.n_labels
        for _ in range(max(1, self.order)):
            arcs = (arcs + 1) * n if arcs <= MOST_ARCS else arcs
        return arcs <= MOST_ARCS

    @cached_property
    def space(self) -> NgramSpace:
        """Histories of up to `order` labels, or the labels alone where they are too many."""
        n = self.order + 1
        ngrams = {n: all_ngrams(self.n_labels, n, self.moves)} if self.in_lattice and n > 2 else {}
        return ngram_space(np.ones(self.n_labels, dtype=np.int64), ngrams, allowed=self.moves)

    @property
    def topology(self) -> Topology:
        """Topology of the lattice, or of the labels where there is none."""
        return self.space.topology

    @property
    def one_optimum(self) -> bool:
        """Whether the objective is convex: one start is enough."""
        return self.shape.n_layers == 0

    def circuits(self) -> list[Circuit]:
        """The networks of the factors."""
        extra = self.order * (self.n_labels + 1)
        return [self.shape.circuit(self.n_features, self.n_labels, m, extra) for m, _ in self.factors]

    def scorer(self, sparse: bool) -> LocalScorer:
        """The scorer that reads `params`, for sparse or dense designs."""
        allowed = None
        if self.moves is not None or self.start_allowed is not None:
            allowed = np.ones((self.n_labels + 1, self.n_labels), dtype=bool)
            if self.moves is not None:
                allowed[:-1] = self.moves
            if self.start_allowed is not None:
                allowed[-1] = self.start_allowed
        space = self.space if self.in_lattice else None
        return LocalScorer(self.topology, space, self.circuits(), self.order, allowed, self.end_allowed, sparse=sparse)

    def objective(self, sparse: bool, sigma: float, *, split: bool = False) -> LocalObjective:
        """The training criterion over `params`."""
        return LocalObjective(self.topology, self.scorer(sparse), sigma)

    def featureless(self) -> ChainObjective:
        """A criterion under which impossible label sequences are those that are impossible here."""
        one = np.ones(self.n_labels, dtype=np.int64)
        rules = (self.moves, self.start_allowed, self.end_allowed)
        return SPNModel(self.shape, (), 0, self.n_features, one, {}, False, *rules).featureless()

    def start(self, packing: Packing, scale: float, rng: np.random.RandomState) -> np.ndarray:
        """Zeros where there is one optimum, else uniform within `scale`."""
        return np.zeros(packing.size) if self.one_optimum else rng.uniform(-scale, scale, packing.size)

    def take(self, old: LocalModel, columns: np.ndarray, params: dict[str, np.ndarray]) -> None:
        """Put an earlier model's weights where this one has a weight for the same feature (see `SPNModel.take`)."""
        for k, (new, circuit) in enumerate(zip(self.circuits(), old.circuits(), strict=True)):
            m = new.n_observations
            rows = (np.arange(m)[:, None] * self.n_features + columns[None, :]).reshape(-1)
            kept = np.flatnonzero(np.tile(columns >= 0, m))
            own, given = params[f"coef_{k}"], old.params[f"coef_{k}"]
            own[rows[kept]] = given[kept]
            own[new.n_rows - new.n_extra :] = given[circuit.n_rows - circuit.n_extra :]
            if new.n_layers:
                params[f"bias_{k}"][:] = old.params[f"bias_{k}"]


def _matched(rows: np.ndarray, old: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the rows that are in both, in either."""
    place = {tuple(row): k for k, row in enumerate(old.tolist())}
    pairs = [(k, place[tuple(row)]) for k, row in enumerate(rows.tolist()) if tuple(row) in place]
    found = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return found[:, 0], found[:, 1]


def _runs(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """``first[i], ..., first[i] + counts[i] - 1`` for each i, joined."""
    return np.repeat(first, counts) + np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _copy_roots(out, rows, roots, circuit: Circuit, values, old_rows, old_roots, old: Circuit) -> None:
    """Copy columns (path, root) of some roots in some rows; paths lie in the same order in both."""
    out = out.reshape(len(out), -1, circuit.n_roots)
    values = values.reshape(len(values), -1, old.n_roots)
    out[rows[:, None], :, roots[None, :]] = values[old_rows[:, None], :, old_roots[None, :]]
