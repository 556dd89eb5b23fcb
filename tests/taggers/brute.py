# SPDX-License-Identifier: BSD-3-Clause
"""Slow answers from a tagger's public weights alone: every latent path, every label sequence, in numpy."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import logsumexp

from sklearn_latent import LatentCRFTagger


def anything(a, b) -> bool:
    return True


class Enumeration:
    """All label sequences of one input under a fitted tagger.

    `x`: dense (T, n_features). `allowed(a, b)`: whether label b may follow a, None being the start and the end.
    `fixed`: labels to keep, None where free; probabilities are conditional on them.
    """

    def __init__(self, tagger, x, allowed=anything, fixed=None):
        self.classes = tagger.classes_.tolist()
        self.owner = tagger.state_labels_
        self.node, self.arc = scores(tagger, np.asarray(x, dtype=float))
        fixed = [None] * len(x) if fixed is None else fixed
        self.log_weight = {}
        for y in product(self.classes, repeat=len(x)):
            ends = [None, *y, None]
            possible = all(allowed(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)) or not y
            if possible and all(f is None or f == label for f, label in zip(fixed, y, strict=True)):
                self.log_weight[y] = self.forward(y)
        self.log_sum = logsumexp(list(self.log_weight.values()))
        self.prob = {y: float(np.exp(w - self.log_sum)) for y, w in self.log_weight.items()}

    def states(self, label):
        return np.flatnonzero(self.owner == self.classes.index(label))

    def forward(self, y) -> float:
        """Log-weight of a label sequence, its latent paths summed."""
        if not y:
            return 0.0
        inside = self.states(y[0])
        a = self.node[0, inside]
        for t in range(1, len(y)):
            before, inside = inside, self.states(y[t])
            a = logsumexp(a[:, None] + self.arc[t][np.ix_(before, inside)], axis=0) + self.node[t, inside]
        return float(logsumexp(a))

    def ranked(self):
        """Label sequences of positive probability, most probable first."""
        return sorted(((list(y), p) for y, p in self.prob.items() if p > 0), key=lambda item: -item[1])

    @property
    def best(self):
        return self.ranked()[0]

    def log_prob(self, y) -> float:
        """log P(y); None is summed over."""
        matching = [
            w for own, w in self.log_weight.items() if all(b is None or a == b for a, b in zip(own, y, strict=True))
        ]
        return float(logsumexp(matching) - self.log_sum) if matching else -np.inf

    def marginals(self):
        """(T, n_classes)."""
        out = np.zeros((len(self.node), len(self.classes)))
        for y, p in self.prob.items():
            for t, label in enumerate(y):
                out[t, self.classes.index(label)] += p
        return out

    def expected(self, metric, y, voters) -> float:
        return sum(p * metric(y, other) for other, p in voters)


def scores(tagger, x):
    """Node scores (T, S) with start and end, and arc scores (T, S, S), row t moving into token t."""
    n_states = len(tagger.state_labels_)
    node = x @ tagger.coef_
    if len(x):
        node[0] += tagger.start_coef_
        node[-1] += tagger.end_coef_
    edge = x[:, tagger.edge_features_] @ tagger.edge_coef_.toarray()
    return node, tagger.transition_coef_ + edge.reshape(len(x), n_states, n_states)


def latent_paths(tagger, x, allowed=anything):
    """Log-weight of every latent path that the labels allow: {states: weight}."""
    node, arc = scores(tagger, np.asarray(x, dtype=float))
    label = tagger.classes_[tagger.state_labels_].tolist()
    out = {}
    for path in product(range(node.shape[1]), repeat=len(node)):
        ends = [None, *(label[h] for h in path), None]
        if not path or all(allowed(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)):
            moves = sum(arc[t][path[t - 1], path[t]] for t in range(1, len(path)))
            out[path] = float(sum(node[t, h] for t, h in enumerate(path)) + moves)
    return out


def random_tagger(
    rng, classes=("a", "b", "c"), n_latent=(2, 1, 2), *, n_features=4, spread=1.0, edges=False, **params
) -> LatentCRFTagger:
    """Return a tagger of normal weights with the given s.d."""
    n_states = int(np.sum(n_latent))
    edge_coef = rng.normal(scale=spread, size=(n_features, n_states**2)) if edges else None
    return LatentCRFTagger.from_weights(
        list(classes),
        rng.normal(scale=spread, size=(n_features, n_states)),
        rng.normal(scale=spread, size=(n_states, n_states)),
        start_coef=rng.normal(scale=spread, size=n_states),
        end_coef=rng.normal(scale=spread, size=n_states),
        edge_coef=edge_coef,
        state_labels=np.repeat(np.arange(len(classes)), n_latent),
        **params,
    )


def random_inputs(rng, lengths, n_features=4):
    return [rng.normal(size=(n, n_features)) for n in lengths]


def only_pairs(pairs):
    """What a collection of pairs allows, as documented: starts and ends are free unless a pair names one."""
    starts, ends = any(a is None for a, _ in pairs), any(b is None for _, b in pairs)

    def allowed(a, b):
        if a is None:
            return (a, b) in pairs or not starts
        if b is None:
            return (a, b) in pairs or not ends
        return (a, b) in pairs

    return allowed
