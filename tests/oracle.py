# SPDX-License-Identifier: BSD-3-Clause
"""Slow answers about a lattice: every path of every sequence is listed, in plain numpy, no cleverness.

This is the definition of correct for `sklearn_latent._lattice`. A lattice is given as the package gives it: node
scores (n_tokens, n_states), arc scores (1 | n_tokens, n_arcs), offsets, and a topology of which only the list of arcs
and the label of each state are read.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

__all__ = [
    "Masses",
    "arc_matrix",
    "best_path",
    "log_of_sum",
    "log_sums",
    "masses",
    "path_scores",
    "paths_of",
    "ranked_labels",
]

#: More than this and the caller meant something else.
MOST_PATHS = 200_000


class Masses(NamedTuple):
    """Expected counts of a batch, and the log sum of each sequence."""

    state: np.ndarray  # (n_tokens, n_states)
    arc: np.ndarray  # (1 | n_tokens, n_arcs)
    log_sum: np.ndarray  # (n_sequences,)


def paths_of(n_states: int, n_tokens: int) -> np.ndarray:
    """Every sequence of states, (n_states ** n_tokens, n_tokens)."""
    assert n_states**n_tokens <= MOST_PATHS
    return np.array(list(product(range(n_states), repeat=n_tokens)), dtype=int).reshape(n_states**n_tokens, n_tokens)


def arc_matrix(topology, row: np.ndarray) -> np.ndarray:
    """One row of arc scores as a (n_states, n_states) matrix, ``-inf`` where there is no arc."""
    out = np.full((topology.n_states, topology.n_states), -np.inf)
    for k in range(len(row)):
        out[topology.arc_source[k], topology.arc_target[k]] = row[k]
    return out


def path_scores(topology, node: np.ndarray, arc: np.ndarray, clamp: np.ndarray | None, first: int, last: int):
    """Paths (n_paths, T) of the sequence in rows ``first:last``, and the score of each, ``-inf`` if not allowed."""
    paths = paths_of(topology.n_states, last - first)
    scores = np.zeros(len(paths))
    for t in range(last - first):
        scores = scores + node[first + t, paths[:, t]]
        if t > 0:
            row = arc[first + t] if len(arc) > 1 else arc[0]
            scores = scores + arc_matrix(topology, row)[paths[:, t - 1], paths[:, t]]
        if clamp is not None and clamp[first + t] != -1:
            scores = np.where(topology.state_label[paths[:, t]] == clamp[first + t], scores, -np.inf)
    return paths, scores


def log_of_sum(scores: np.ndarray) -> float:
    """log(sum(exp(scores))), ``-inf`` for nothing."""
    top = scores.max(initial=-np.inf)
    return float(top) if top == -np.inf else float(top + np.log(np.exp(scores - top).sum()))


def _sequences(offsets: np.ndarray):
    return enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))


def log_sums(topology, node, arc, offsets, clamp=None) -> np.ndarray:
    """Log of the summed weight of the paths of each sequence that agree with the labels held (-1: free)."""
    return np.array(
        [
            log_of_sum(path_scores(topology, node, arc, clamp, first, last)[1])
            for _, (first, last) in _sequences(offsets)
        ]
    )


def masses(topology, node, arc, offsets, clamp=None, weight=None) -> Masses:
    """Share of the paths through each state and each arc, times the sequence's weight."""
    out = Masses(np.zeros_like(node), np.zeros_like(arc), np.zeros(len(offsets) - 1))
    arc_of = {(int(topology.arc_source[k]), int(topology.arc_target[k])): k for k in range(topology.n_arcs)}
    for i, (first, last) in _sequences(offsets):
        paths, scores = path_scores(topology, node, arc, clamp, first, last)
        total = out.log_sum[i] = log_of_sum(scores)
        if total == -np.inf:
            continue
        share = np.exp(scores - total) * (1.0 if weight is None else weight[i])
        for path, p in zip(paths[share != 0].tolist(), share[share != 0].tolist(), strict=True):
            for t, state in enumerate(path):
                out.state[first + t, state] += p
                if t > 0:
                    out.arc[first + t if len(arc) > 1 else 0, arc_of[path[t - 1], state]] += p
    return out


def best_path(topology, node, arc, first: int, last: int) -> tuple[list[int], float]:
    """Best path and its score; of equal ones, that with the lowest state from the last token backward."""
    paths, scores = path_scores(topology, node, arc, None, first, last)
    best = scores.max()
    if best == -np.inf:
        return [-1] * (last - first), -np.inf
    equal = paths[scores == best].tolist()
    return min(equal, key=lambda path: path[::-1]), float(best)


def ranked_labels(topology, node, arc, first: int, last: int) -> list[tuple[tuple[int, ...], float]]:
    """Every label sequence of positive probability with its log-probability, most probable first."""
    paths, scores = path_scores(topology, node, arc, None, first, last)
    total = log_of_sum(scores)
    of_labels: dict[tuple[int, ...], list[float]] = {}
    for path, score in zip(paths, scores.tolist(), strict=True):
        if score > -np.inf:
            of_labels.setdefault(tuple(topology.state_label[path].tolist()), []).append(score)
    found = [(labels, log_of_sum(np.array(values)) - total) for labels, values in of_labels.items()]
    return sorted(found, key=lambda item: (-item[1], item[0]))
