# SPDX-License-Identifier: BSD-3-Clause
"""Slow answers from the public weights of an `SPNCRFTagger`: every path of chain states, every label sequence."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
from scipy.special import logsumexp

from sklearn_latent import SPNCRFTagger
from taggers.brute import anything, only_pairs

__all__ = ["SPNEnumeration", "joint_best", "random_spn"]


def network(tagger, k: int, row: np.ndarray, *, best: bool = False) -> np.ndarray:
    """Scores of the roots of factor `k` for a row of its window, hidden variables summed out or (`best`) maximised."""
    value = tagger.factor_coef_[k] @ row
    biases = tagger.factor_bias_[k]
    offset, products, states = 0.0, tagger.n_products, tagger.n_states
    if tagger.tie_inputs:
        value = np.broadcast_to(value, biases[-1].shape)
    for bias in biases[:0:-1]:
        value = value + bias
        value = value.max(axis=-1) if best or tagger.operator == "max" else logsumexp(value, axis=-1)
        value = value.sum(axis=-1)
        offset = products * (offset + (np.log(states) if tagger.operator == "sum" else 0.0))
    return value + biases[0] - offset if biases else value


class Scores:
    """Scores of paths of chain states, (label, latent) pairs, of one input."""

    def __init__(self, tagger, x, *, best: bool = False):
        self.tagger = tagger
        self.n_latent = latents(tagger)
        self.unit = {
            (y, k): sum(self.n_latent[:y]) + k for y in range(len(self.n_latent)) for k in range(self.n_latent[y])
        }
        classes = tagger.classes_.tolist()
        code = {label: k for k, label in enumerate(classes)}
        self.ngrams = {n: [tuple(code[a] for a in row) for row in rows] for n, rows in tagger.ngrams_.items()}
        self.roots = []
        for k, (m, n) in enumerate(tagger.factors):
            rows = [(y,) for y in range(len(classes))] if n == 1 else self.ngrams[n]
            keys = [(row, h) for row in rows for h in range(self.n_latent[row[-1]])]
            at = []
            for t in range(len(x)):
                window = [x[s] if s >= 0 else np.zeros(x.shape[1]) for s in range(t - m + 1, t + 1)]
                at.append(dict(zip(keys, network(tagger, k, np.concatenate(window), best=best), strict=True)))
            self.roots.append((n, at))

    def path(self, labels, latent) -> float:
        """Log-weight of a path."""
        if not labels:
            return 0.0
        tagger = self.tagger
        total = (
            tagger.start_coef_[self.unit[labels[0], latent[0]]] + tagger.end_coef_[self.unit[labels[-1], latent[-1]]]
        )
        for t in range(len(labels)):
            for n, at in self.roots:
                total += at[t].get((tuple(labels[t - n + 1 : t + 1]), latent[t]), 0.0) if t >= n - 1 else 0.0
            for n, rows in self.ngrams.items():
                if t < n - 1:
                    continue
                row = tuple(labels[t - n + 1 : t + 1])
                if row not in rows:
                    if tagger.unseen == "forbid":
                        return -np.inf
                elif n <= tagger.order + 1:
                    value = tagger.ngram_coef_[n][rows.index(row)]
                    total += value if np.ndim(value) == 0 else value[latent[t - 1], latent[t]]
        return float(total)

    def latents_of(self, labels):
        return product(*(range(self.n_latent[y]) for y in labels))


def latents(tagger) -> list[int]:
    """Latent states of each label."""
    given = tagger.n_latent
    return [given.get(label, 1) if isinstance(given, dict) else given for label in tagger.classes_.tolist()]


class SPNEnumeration:
    """All label sequences of one input; as `taggers.brute.Enumeration`."""

    def __init__(self, tagger, x, allowed=anything, fixed=None):
        self.classes = tagger.classes_.tolist()
        scores = Scores(tagger, np.asarray(x, dtype=float))
        self.n_tokens = len(x)
        fixed = [None] * len(x) if fixed is None else fixed
        self.log_weight = {}
        for codes in product(range(len(self.classes)), repeat=len(x)):
            y = tuple(self.classes[c] for c in codes)
            ends = [None, *y, None]
            possible = all(allowed(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)) or not y
            if possible and all(f is None or f == label for f, label in zip(fixed, y, strict=True)):
                weight = logsumexp([scores.path(codes, latent) for latent in scores.latents_of(codes)])
                if weight > -np.inf:
                    self.log_weight[y] = float(weight)
        self.log_sum = logsumexp(list(self.log_weight.values()))
        self.prob = {y: float(np.exp(w - self.log_sum)) for y, w in self.log_weight.items()}

    def ranked(self):
        """Label sequences, most probable first."""
        return sorted(((list(y), p) for y, p in self.prob.items()), key=lambda item: -item[1])

    def log_prob(self, y) -> float:
        """log P(y); None is summed over."""
        matching = [
            w for own, w in self.log_weight.items() if all(b is None or a == b for a, b in zip(own, y, strict=True))
        ]
        return float(logsumexp(matching) - self.log_sum) if matching else -np.inf

    def marginals(self):
        """(T, n_classes)."""
        out = np.zeros((self.n_tokens, len(self.classes)))
        for y, p in self.prob.items():
            for t, label in enumerate(y):
                out[t, self.classes.index(label)] += p
        return out


def joint_best(tagger, x, allowed=anything) -> list:
    """Labels of the best assignment of chain states and hidden variables."""
    scores, classes = Scores(tagger, np.asarray(x, dtype=float), best=True), tagger.classes_.tolist()
    found = []
    for codes in product(range(len(classes)), repeat=len(x)):
        ends = [None, *(classes[c] for c in codes), None]
        if all(allowed(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)) or not len(x):
            found += [(scores.path(codes, latent), codes) for latent in scores.latents_of(codes)]
    return [classes[c] for c in max(found)[1]]


def random_spn(rng, labels="abc", *, n_features=3, lengths=(5, 1, 4, 6), spread=1.0, **params) -> SPNCRFTagger:
    """Return a tagger with the n-grams of a random corpus and normal weights with the given s.d."""
    X = [rng.normal(size=(n, n_features)) for n in lengths]
    pairs = params.get("constraints")
    allowed = only_pairs(pairs) if pairs else anything
    y: list[list] = []
    while len(y) < len(lengths):
        own = rng.choice(list(labels), size=lengths[len(y)]).tolist()
        ends = [None, *own, None]
        if all(allowed(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)) and (y or set(own) == set(labels)):
            y.append(own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tagger = SPNCRFTagger(**{"solver": "lbfgs", "max_iter": 0, "n_states": 2, "random_state": 0, **params}).fit(
            X, y
        )
    for value in tagger._model.params.values():
        value[...] = rng.normal(scale=spread, size=value.shape)
    return tagger
