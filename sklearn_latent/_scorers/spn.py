# SPDX-License-Identifier: BSD-3-Clause
"""`SPNScorer`: sum-product networks over labels and label n-grams, and weights of n-grams and boundaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._threads import BLOCK_TOKENS
from . import _spn_kernels
from .base import Parts
from .circuit import Circuit, Inputs, Kept, narrowed_circuits
from .design import Design

if TYPE_CHECKING:
    from .._lattice import Topology

__all__ = ["Place", "SPNScorer", "Slots"]

#: Bytes of what is kept of a chunk between the passes; with more, leaf scores are made again.
_KEPT_BYTES = 1 << 26
#: Tokens of a block at least: its product with the weights fetches all of them.
_LEAST_BLOCK = 128
#: Tokens at a time of what one thread sums for the roots.
_ROWS = 512


@dataclass(frozen=True)
class Place:
    """Where the roots of a factor count: columns of node or arc rows, sorted by root.

    Attributes
    ----------
    on_arcs : bool
    column : ndarray of int64 of shape (n_places,)
        States or arcs, none twice.
    root : ndarray of int64 of shape (n_places,)
        Ascending.
    """

    on_arcs: bool
    column: np.ndarray
    root: np.ndarray

    @classmethod
    def of(cls, on_arcs: bool, column: np.ndarray, root: np.ndarray) -> Place:
        """From pairs in any order."""
        order = np.argsort(root, kind="stable")
        return cls(on_arcs, column[order], root[order])

    def add(self, roots: np.ndarray, out: np.ndarray) -> None:
        """Add the roots' scores to rows of states or arcs."""
        if self._straight(roots.shape[1], out.shape[1]):
            out += roots
        else:
            _spn_kernels.add_places(roots, self.column, self.root, out)

    def collect(self, delta: np.ndarray, n_roots: int, kind: np.dtype, tasks: Callable) -> np.ndarray:
        """Sum the derivatives of states or arcs for each root, (n_tokens, n_roots), of a type.

        `tasks` is a function ``tasks(f, ranges)`` that runs ``f`` over ranges.
        """
        if self._straight(n_roots, delta.shape[1]):
            return delta
        out = np.empty((len(delta), n_roots), dtype=kind)

        def collect_rows(rows: tuple[int, int]) -> None:
            part = slice(*rows)
            _spn_kernels.collect_places(delta[part], self.column, self.root, out[part])

        tasks(collect_rows, [(a, min(a + _ROWS, len(delta))) for a in range(0, len(delta), _ROWS)])
        return out

    def _straight(self, n_roots: int, n_columns: int) -> bool:
        """Whether root k is column k."""
        return n_roots == n_columns == len(self.root) and bool((self.column == self.root).all())


@dataclass(frozen=True)
class Slots:
    """Weights shared by states or arcs: column ``column[k]`` gets weight ``weight[k]``, sums where one comes twice."""

    n_weights: int
    column: np.ndarray
    weight: np.ndarray

    def row(self, values: np.ndarray, n_columns: int) -> np.ndarray:
        """A row of scores from the weights' values."""
        return np.bincount(self.column, weights=values[self.weight], minlength=n_columns).astype(np.float64)

    def collect(self, row: np.ndarray) -> np.ndarray:
        """Derivatives of the weights from those of a row."""
        return np.bincount(self.weight, weights=row[self.column], minlength=self.n_weights).astype(np.float64)


class SPNScorer:
    """Log-scores of a chain whose local factors are sum-product networks.

    A state or arc scores the sum of what its label n-grams score: each of `circuits` has roots for n-grams of one
    length, and each n-gram of two or more labels has a weight that does not see the features.

    Parameters
    ----------
    topology : Topology
    circuits : list of Circuit
    places : list of Place
        Of the circuits' roots.
    ngrams : Slots
        Over arcs.
    boundary : Slots
        Over states: a weight for each latent state of each label, at the start and at the end of a sequence.
    start_allowed, end_allowed : ndarray of bool of shape (n_states,) or None
        States a sequence may begin (end) with; None: any.
    sparse : bool
        Whether the designs are.
    """

    def __init__(
        self,
        topology: Topology,
        circuits: list[Circuit],
        places: list[Place],
        ngrams: Slots,
        boundary: Slots,
        start_allowed: np.ndarray | None = None,
        end_allowed: np.ndarray | None = None,
        *,
        sparse: bool = False,
    ):
        self.topology = topology
        self.circuits = circuits
        self.places = places
        self.ngrams = ngrams
        self.boundary = boundary
        self.start_allowed = start_allowed
        self.end_allowed = end_allowed
        self.sparse = sparse

    @property
    def arc_rows_differ(self) -> bool:
        """Whether each token has an arc row of its own."""
        return any(place.on_arcs for place in self.places)

    @property
    def row_bytes(self) -> int:
        """Bytes of a token's work arrays, those between the passes counted so that a chunk of them may be larger."""
        kept = sum(circuit.kept_bytes for circuit in self.circuits)
        return max(self.topology.row_bytes(arc_rows_differ=self.arc_rows_differ), kept // 3)

    @property
    def block_tokens(self) -> int:
        """Tokens of a block: many leaves are work enough for a thread."""
        leaves = max(1, sum(circuit.n_leaves for circuit in self.circuits))
        return min(BLOCK_TOKENS, max(_LEAST_BLOCK, (1 << 20) // leaves))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each parameter array, in packing order."""
        shapes = {}
        for k, circuit in enumerate(self.circuits):
            shapes |= {f"{name}_{k}": shape for name, shape in circuit.shapes.items()}
        n_units = self.boundary.n_weights
        return shapes | {"ngram": (self.ngrams.n_weights,), "start": (n_units,), "end": (n_units,)}

    def prepare(self, params: dict[str, np.ndarray]) -> dict[str, Any]:
        """Weights in the form that the products take, the arc row, and the start and end rows."""
        top = self.topology
        arc = self.ngrams.row(params["ngram"], top.n_arcs)[None, :]
        if top.arc_allowed is not None:
            arc[0, ~top.arc_allowed] = -np.inf
        prepared: dict[str, Any] = {"arc": arc}
        for name, allowed in (("start", self.start_allowed), ("end", self.end_allowed)):
            prepared[name] = self.boundary.row(params[name], top.n_states)
            if allowed is not None:
                prepared[name][~allowed] = -np.inf
        prepared["circuits"] = [
            circuit.prepare({name: params[f"{name}_{k}"] for name in circuit.shapes}, self.sparse)
            for k, circuit in enumerate(self.circuits)
        ]
        return prepared

    def keep(self, n_tokens: int) -> list[Kept | None] | None:
        """Where `forward` writes down what `add_gradient` needs of some tokens; None where that is too much to keep."""
        if n_tokens * sum(circuit.kept_bytes for circuit in self.circuits) > _KEPT_BYTES:
            return None
        return [c.keep(n_tokens, np.dtype(np.float64) if self.sparse else c.dtype) for c in self.circuits]

    def forward(
        self, prepared: dict[str, Any], design: Design, offsets: np.ndarray, kept: list | None = None, first: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Node scores and arc scores of a block of sequences (see `Scorer`)."""
        inputs, top = Inputs.of(design, offsets), self.topology
        n_tokens = design.shape[0]
        node = np.zeros((n_tokens, top.n_states))
        arc = np.repeat(prepared["arc"], n_tokens, axis=0) if self.arc_rows_differ else prepared["arc"]
        for k, (circuit, place) in enumerate(zip(self.circuits, self.places, strict=True)):
            own = None if kept is None or kept[k] is None else kept[k].rows(first, first + n_tokens)
            place.add(circuit.forward(prepared["circuits"][k], inputs, own), arc if place.on_arcs else node)
        full = np.diff(offsets) > 0
        node[offsets[:-1][full]] += prepared["start"]
        node[offsets[1:][full] - 1] += prepared["end"]
        return node, arc

    def gradient_buffers(self, grad: dict[str, np.ndarray], prepared: dict[str, Any]) -> dict[str, Any]:
        """The gradient itself, and the weights: derivatives of a network need them."""
        return {"prepared": prepared, "grad": grad}

    def add_gradient(
        self,
        buffers: dict[str, Any],
        design: Design,
        offsets: np.ndarray,
        node_delta: np.ndarray,
        arc_delta: np.ndarray,
        tasks: Callable,
        kept: list | None = None,
    ) -> None:
        """Add the derivatives of a chunk; `arc_delta` is (1, n_arcs), or (n_tokens, n_arcs) with factors on arcs."""
        prepared, grad, inputs = buffers["prepared"], buffers["grad"], Inputs.of(design, offsets)
        for k, (circuit, place) in enumerate(zip(self.circuits, self.places, strict=True)):
            whole, kind = arc_delta if place.on_arcs else node_delta, circuit.kind(design)
            delta = place.collect(whole, circuit.n_roots, kind, tasks)
            own = {name: grad[f"{name}_{k}"] for name in circuit.shapes}
            circuit.add_gradient(prepared["circuits"][k], own, inputs, delta, None if kept is None else kept[k], tasks)
        grad["ngram"] += self.ngrams.collect(arc_delta.sum(axis=0))
        full = np.diff(offsets) > 0
        grad["start"] += self.boundary.collect(node_delta[offsets[:-1][full]].sum(axis=0))
        grad["end"] += self.boundary.collect(node_delta[offsets[1:][full] - 1].sum(axis=0))

    def finish_gradient(self, buffers: dict[str, Any], grad: dict[str, np.ndarray]) -> None:
        """Nothing to do: derivatives went where they belong."""

    def feature_parts(
        self,
        prepared: dict,
        design: Design,
        offsets: np.ndarray,
        token: int,
        node_delta: np.ndarray,
        arc_delta: np.ndarray,
    ) -> Parts:
        """What a weighted sum of a token's scores owes to features (see `Scorer`)."""
        inputs, out = Inputs.of(design, offsets), Parts()
        for k, (circuit, place) in enumerate(zip(self.circuits, self.places, strict=True)):
            row = (arc_delta if place.on_arcs else node_delta)[None]
            delta = place.collect(row, circuit.n_roots, row.dtype, lambda f, ranges: list(map(f, ranges)))[0]
            own = circuit.input_parts(prepared["circuits"][k], inputs, token, delta)
            out.rows += own.rows
            out.rest += own.rest
        return out.add_boundary(prepared, design.shape[0], token, node_delta)

    def maximised(self) -> SPNScorer | None:
        """The scorer of the best assignment of the networks' hidden variables; None if that makes no difference."""
        best = [circuit.maximised() for circuit in self.circuits]
        if all(circuit is None for circuit in best):
            return None
        circuits = [new or old for new, old in zip(best, self.circuits, strict=True)]
        return SPNScorer(
            self.topology, circuits, self.places, self.ngrams, self.boundary, self.start_allowed, self.end_allowed,
            sparse=self.sparse,
        )  # fmt: skip

    def narrowed(self, features: np.ndarray) -> tuple[SPNScorer, np.ndarray]:
        """The scorer of some of the features, and the positions of its weights among all, in packing order."""
        circuits, index = narrowed_circuits(self.circuits, features)
        n_networks = sum(int(np.prod(shape)) for c in self.circuits for shape in c.shapes.values())
        chain = n_networks + np.arange(self.ngrams.n_weights + 2 * self.boundary.n_weights)
        local = SPNScorer(
            self.topology, circuits, self.places, self.ngrams, self.boundary, self.start_allowed, self.end_allowed,
            sparse=self.sparse,
        )  # fmt: skip
        return local, np.concatenate([index, chain])
