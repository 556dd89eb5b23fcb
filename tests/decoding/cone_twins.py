# SPDX-License-Identifier: BSD-3-Clause
"""Slow twins of the cones, the filter and the search, in plain numpy: corner by corner, set by set."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

#: As in the kernel: of the lower corner of a cone.
SHRINK = 1e-13
#: As in the kernel: least weight of a state among suffixes.
LEAST = 1e-200


class Model(NamedTuple):
    """Factors of one sequence, states of a label being neighbours."""

    node: np.ndarray  # (T, S)
    arc: np.ndarray  # (1 | T, S, S)
    label_ptr: np.ndarray

    @property
    def n_labels(self) -> int:
        return len(self.label_ptr) - 1

    def states(self, label: int) -> slice:
        return slice(self.label_ptr[label], self.label_ptr[label + 1])

    def step(self, t: int) -> np.ndarray:
        """W: weights of the move into token t, node factor included."""
        return self.arc[t if len(self.arc) > 1 else 0] * self.node[t]

    def rest(self) -> np.ndarray:
        """Return the bound R, (T, S), without scaling."""
        R = np.ones_like(self.node)
        for t in range(len(R) - 2, -1, -1):
            W = self.step(t + 1) * R[t + 1]
            R[t] = np.max([W[:, self.states(y)].sum(axis=1) for y in range(self.n_labels)], axis=0)
        return R

    def prefix(self, labels) -> np.ndarray:
        """Forward vector of a label prefix over the states of its last label."""
        a = self.node[0, self.states(labels[0])]
        for t in range(1, len(labels)):
            a = a @ self.step(t)[self.states(labels[t - 1]), self.states(labels[t])]
        return a

    def suffix(self, label, labels) -> np.ndarray:
        """Weight of the last labels after each state of `label`."""
        b = np.ones(self.label_ptr[labels[-1] + 1] - self.label_ptr[labels[-1]]) if labels else None
        if b is None:
            return np.ones(self.label_ptr[label + 1] - self.label_ptr[label])
        first = len(self.node) - len(labels)
        for k in range(len(labels) - 1, -1, -1):
            before = label if k == 0 else labels[k - 1]
            b = self.step(first + k)[self.states(before), self.states(labels[k])] @ b
        return b

    def weights(self) -> dict[tuple[int, ...], float]:
        sequences = product(range(self.n_labels), repeat=len(self.node))
        return {y: float(self.prefix(y).sum()) for y in sequences}


def model_of(lattice) -> Model:
    """Factors of a lattice (see `enumeration`) with its states in the order of their labels."""
    order = lattice.label_state
    node = np.exp(lattice.node)[:, order]
    arc = np.exp(lattice.arc)[:, order][:, :, order]
    return Model(np.ascontiguousarray(node), np.ascontiguousarray(arc), lattice.label_ptr)


def simplex(members) -> tuple[np.ndarray, float, np.ndarray]:
    """Lower corner, room and living states of the simplex that holds each row divided by its sum."""
    shares = np.array([v / v.sum() for v in members if v.sum() > 0])
    if not len(shares):
        return np.zeros(len(members[0]) if len(members) else 0), -1.0, np.zeros(0, dtype=bool)
    low = (1 - SHRINK) * shares.min(axis=0)
    return low, max(0.0, 1 - low.sum()), shares.max(axis=0) > 0


class Cone(NamedTuple):
    """All about one node; `corners` has one row for each living state."""

    low: np.ndarray
    room: float
    alive: np.ndarray
    weight: np.ndarray
    ray_low: np.ndarray
    ray_unit: np.ndarray


class Graph(NamedTuple):
    """Nodes by token; node k of token t has a label, and arcs to numbers of nodes of token t + 1."""

    label: list[list[int]]
    arcs: list[list[list[int]]]


def complete_graph(model: Model) -> Graph:
    T, n = len(model.node), model.n_labels
    return Graph([list(range(n)) for _ in range(T)], [[list(range(n)) for _ in range(n)] for _ in range(T - 1)])


def cones(model: Model, graph: Graph) -> tuple[list[list[Cone]], list[dict], list[list[float]]]:
    """Cones of all nodes, losses of all arcs as {(source, target): rho} by token, and `ahead` of all nodes."""
    T, R = len(model.node), model.rest()

    def M(t, y, y2):
        """Shares of token t - 1 to shares of token t."""
        with np.errstate(divide="ignore", invalid="ignore"):
            out = (model.step(t) * R[t]) / R[t - 1][:, None]
        return np.nan_to_num(out, nan=0.0, posinf=0.0)[model.states(y), model.states(y2)]

    simplices = []
    for t in range(T):
        row = []
        for m, y in enumerate(graph.label[t]):
            members = [model.node[0, model.states(y)] * R[0, model.states(y)]] if t == 0 else []
            for n, targets in enumerate(graph.arcs[t - 1] if t > 0 else []):
                low, room, alive = simplices[t - 1][n]
                if m in targets and room >= 0:
                    step = M(t, graph.label[t - 1][n], y)
                    members += [(low + room * np.eye(len(low))[h]) @ step for h in np.flatnonzero(alive)]
            row.append(simplex(members or [np.zeros(model.label_ptr[y + 1] - model.label_ptr[y])]))
        simplices.append(row)

    found: list[list[Cone]] = [[] for _ in range(T)]
    losses: list[dict] = [{} for _ in range(T)]
    ahead: list[list[float]] = [[] for _ in range(T)]
    for t in range(T - 1, -1, -1):
        for n, y in enumerate(graph.label[t]):
            low, room, alive = simplices[t][n]
            size = model.label_ptr[y + 1] - model.label_ptr[y]
            alive = alive if len(alive) else np.zeros(size, dtype=bool)
            low, s = (low, room) if room >= 0 else (np.zeros(size), 0.0)
            q = np.maximum(np.where(alive, low + s / size, LEAST), LEAST)
            if t == T - 1:
                weight, rays = np.ones(size), [q]
                ahead[t].append(1.0)
            else:
                u, values, rays = np.zeros(size), {}, []
                for m in graph.arcs[t][n]:
                    step, after = M(t + 1, y, graph.label[t + 1][m]), found[t + 1][m]
                    at_corners = np.array([(low + s * e) @ step @ after.weight for e in np.eye(size)])
                    values[m] = at_corners
                    alone = step @ after.weight
                    u = np.maximum(u, np.where(alive, at_corners, alone))
                    rays += [
                        q * (step @ (after.ray_low + after.ray_unit[j] * np.eye(step.shape[1])[j]))
                        for j in range(step.shape[1])
                    ]
                weight = u.copy()
                if alive.any():
                    least = u[alive].min()
                    if s >= 1e-9:
                        shift = (low * (u - least))[alive].sum() / s
                        weight[alive] = np.maximum(least + (u[alive] - least) / s - shift, 0)
                    else:
                        weight[alive] = u[alive].max()
                safe = alive & (u > 0)
                for m, v in values.items():
                    losses[t + 1][n, m] = float((v[safe] / u[safe]).max(initial=0.0))
                ahead[t].append(max((losses[t + 1][n, m] * ahead[t + 1][m] for m in graph.arcs[t][n]), default=0.0))
            ray, ray_room, _ = simplex(rays or [np.zeros(size)])
            found[t].append(Cone(low, room, alive, weight, ray / q, ray_room / q))
    return found, losses, ahead


def twin_search(model: Model, n: int, copies: int) -> list[float]:
    """The n heaviest weights by best-first search with the bound R; `copies` dominating prefixes drop a prefix."""
    R, T = model.rest(), len(model.node)
    heap = [(float(model.node[0, model.states(y)] @ R[0, model.states(y)]), (y,)) for y in range(model.n_labels)]
    kept: dict[tuple[int, int], list[np.ndarray]] = {}
    found = []
    while heap and len(found) < n:
        heap.sort()
        bound, labels = heap.pop()
        if len(labels) == T:
            found.append(bound)
            continue
        a = model.prefix(labels)
        others = kept.setdefault((len(labels), labels[-1]), [])
        if sum((b >= a).all() for b in others) >= copies:
            continue
        others.append(a)
        t = len(labels)
        for y in range(model.n_labels):
            child = model.prefix((*labels, y))
            heap.append((float(child @ R[t, model.states(y)]), (*labels, y)))
    return found
