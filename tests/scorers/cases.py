# SPDX-License-Identifier: BSD-3-Clause
"""Small corpora and slow answers for scorers: loops over tokens, features and states; sets of triples."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from sklearn_latent._lattice import Topology, latent_topology
from sklearn_latent._scorers import LinearScorer, Support

__all__ = ["Corpus", "corpora", "loop_forward", "named_weights", "seen_weights", "weights_of"]


class Corpus(NamedTuple):
    """Features, labels and the rules of a small model."""

    topology: Topology
    X: np.ndarray  # (n_tokens, n_features), with zeros
    codes: np.ndarray  # (n_tokens,) int32, -1: unknown
    offsets: np.ndarray
    allowed: np.ndarray | None  # (n_labels, n_labels) bool
    edge_features: np.ndarray
    edge_only: np.ndarray
    start_allowed: np.ndarray | None  # (n_states,) bool
    end_allowed: np.ndarray | None

    @property
    def rules(self) -> dict:
        return {
            "edge_features": self.edge_features,
            "edge_only": self.edge_only,
            "start_allowed": self.start_allowed,
            "end_allowed": self.end_allowed,
        }


@st.composite
def corpora(draw, edges: bool | None = None) -> Corpus:
    """Draw a corpus with unequal latents, constraints, unknown labels, edge features and marks."""
    n_latent = np.array(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    n_labels, n_features = len(n_latent), draw(st.integers(0, 6))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_tokens = int(offsets[-1])
    X = np.where(rng.random((n_tokens, n_features)) < 0.4, rng.integers(1, 4, (n_tokens, n_features)), 0).astype(float)
    if draw(st.booleans()):
        X = (X != 0).astype(float)
    codes = rng.integers(0, n_labels, n_tokens).astype(np.int32)
    codes[rng.random(n_tokens) < draw(st.sampled_from([0.0, 0.3]))] = -1
    allowed = rng.random((n_labels, n_labels)) < 0.7 if draw(st.booleans()) else None
    topology = latent_topology(n_latent, allowed)
    some = draw(st.booleans()) if edges is None else edges
    edge_only = (rng.random(n_features) < 0.2) if some else np.zeros(n_features, dtype=bool)
    edge_features = np.flatnonzero((rng.random(n_features) < 0.5) | edge_only) if some else np.empty(0, dtype=np.int64)

    def boundary() -> np.ndarray | None:
        return (rng.random(n_labels) < 0.6)[topology.state_label] if draw(st.booleans()) else None

    return Corpus(topology, X, codes, offsets, allowed, edge_features, edge_only, boundary(), boundary())


def named_weights(topology: Topology, support: Support) -> dict[str, list]:
    """What each weight of a support is for, in packing order: features and states, not positions in arrays."""

    def pairs(pattern) -> list:
        if pattern is None:
            return []
        cells = np.arange(pattern.n_features * pattern.n_columns) if pattern.full else pattern.cells
        return [divmod(int(cell), pattern.n_columns) for cell in cells]

    def arc(k: int) -> tuple[int, int]:
        return int(topology.arc_source[k]), int(topology.arc_target[k])

    return {
        "coef": pairs(support.state),
        "edge": [(f, *arc(k)) for f, k in pairs(support.edge)],
        "transition": [arc(k) for k in support.transition],
        "start": [int(h) for h in support.start],
        "end": [int(h) for h in support.end],
    }


def seen_weights(corpus: Corpus) -> dict[str, set]:
    """The weights that training shows, from the words of the contract.

    (feature, label) where a token of the label has the feature; the pair of labels of neighbours; for edge features
    (feature of the second, label, label); first and last labels. All states of a label share what the label has seen.
    An unknown label counts as every one. What constraints forbid has no weight, nor do edge-only columns on states.
    """
    top = corpus.topology
    labels = range(top.n_labels)
    states = {label: [h for h in range(top.n_states) if top.state_label[h] == label] for label in labels}
    out: dict[str, set] = {"coef": set(), "edge": set(), "transition": set(), "start": set(), "end": set()}

    def possible(t: int) -> list[int]:
        return list(labels) if corpus.codes[t] == -1 else [int(corpus.codes[t])]

    def may_follow(a: int, b: int) -> bool:
        return corpus.allowed is None or bool(corpus.allowed[a, b])

    for first, last in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True):
        for t in range(first, last):
            present = [f for f in range(corpus.X.shape[1]) if corpus.X[t, f] != 0]
            for f, label in product(present, possible(t)):
                if not corpus.edge_only[f]:
                    out["coef"] |= {(f, h) for h in states[label]}
            if t == first:
                continue
            for a, b in product(possible(t - 1), possible(t)):
                if may_follow(a, b):
                    moves = set(product(states[a], states[b]))
                    out["transition"] |= moves
                    out["edge"] |= {(f, *move) for f in present if f in corpus.edge_features for move in moves}
        if first < last:
            for name, t, allowed in (("start", first, corpus.start_allowed), ("end", last - 1, corpus.end_allowed)):
                for label in possible(t):
                    out[name] |= {h for h in states[label] if allowed is None or allowed[h]}
    return out


def weights_of(scorer: LinearScorer, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape) for name, shape in scorer.shapes().items()}


def loop_forward(corpus: Corpus, support: Support, params: dict[str, np.ndarray], X: np.ndarray | None = None):
    """Node scores (n_tokens, n_states) and moves (n_tokens, n_states, n_states), term by term."""
    X, top = corpus.X if X is None else X, corpus.topology
    names = named_weights(top, support)
    node = np.zeros((len(X), top.n_states))
    move = np.zeros((len(X), top.n_states, top.n_states))
    for t in range(len(X)):
        for (f, h), w in zip(names["coef"], params["coef"].reshape(-1), strict=True):
            node[t, h] += float(X[t, f]) * w
        for (a, b), w in zip(names["transition"], params["transition"], strict=True):
            move[t, a, b] += w
        for (f, a, b), w in zip(names["edge"], params.get("edge", np.empty(0)).reshape(-1), strict=True):
            move[t, a, b] += float(X[t, f]) * w
        for a, b in product(range(top.n_states), repeat=2):
            if corpus.allowed is not None and not corpus.allowed[top.state_label[a], top.state_label[b]]:
                move[t, a, b] = -np.inf
    for first, last in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True):
        if first == last:
            continue
        for name, t, allowed in (("start", first, corpus.start_allowed), ("end", last - 1, corpus.end_allowed)):
            for h, w in zip(names[name], params[name], strict=True):
                node[t, h] += w
            for h in range(top.n_states):
                if allowed is not None and not allowed[h]:
                    node[t, h] = -np.inf
    return node, move


def csr(X: np.ndarray, dtype=float, index=np.int32) -> sp.csr_array:
    """Sparse copy with indices of the type asked for, whatever SciPy would choose."""
    out = sp.csr_array(X.astype(dtype))
    out.indices, out.indptr = out.indices.astype(index), out.indptr.astype(index)
    return out
