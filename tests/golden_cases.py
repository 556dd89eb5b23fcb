# SPDX-License-Identifier: BSD-3-Clause
"""The settings whose fitted numbers are kept in ``data/golden.json``; shared by the test and the renewal script."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.datasets import load_chunks, make_latent_sequences
from sklearn_latent.exceptions import ConvergenceWarning

__all__ = ["CASES", "numbers"]

#: Plain models have one optimum and go (almost) to it. Latent ones have many: they take a few steps from a fixed start.
PLAIN = {"n_latent": 1, "tol": 1e-9, "max_iter": 1000}
LATENT = {"max_iter": 12, "init_scale": 0.5, "random_state": 7}

CASES: dict[str, tuple[str, dict]] = {
    "simulated-plain": ("simulated", {**PLAIN}),
    "simulated-plain-all": ("simulated", {**PLAIN, "support": "all", "sigma": 3.0}),
    "simulated-plain-edges": ("simulated", {**PLAIN, "edge_features": [0, 3, 4], "sigma": 0.5}),
    "simulated-latent": ("simulated", {**LATENT, "n_latent": 2}),
    "simulated-latent-unequal": ("simulated", {**LATENT, "n_latent": {0: 3, 2: 2}, "support": "all"}),
    "simulated-latent-edges": ("simulated", {**LATENT, "n_latent": 2, "edge_features": [1, 2]}),
    "simulated-latent-sparse": ("simulated-sparse", {**LATENT, "n_latent": 2}),
    "simulated-latent-balanced": ("simulated", {**LATENT, "n_latent": 2, "class_weight": "balanced"}),
    "simulated-partial": ("simulated-partial", {**LATENT, "n_latent": 2}),
    "chunks-plain": ("chunks", {**PLAIN, "tol": 1e-8}),
    "chunks-plain-iob2": ("chunks", {**PLAIN, "tol": 1e-8, "constraints": "iob2"}),
    "chunks-latent": ("chunks", {**LATENT, "n_latent": 2}),
    "chunks-latent-edges": ("chunks", {**LATENT, "n_latent": {"B-NP": 2}, "edge_features": lambda n: n[:3] == "pos"}),
}


def corpus(name: str):
    if name == "chunks":
        tokens, y = load_chunks(return_X_y=True)
        X = [
            [
                {"word": word.lower(), "pos": pos, "before": sentence[t - 1][1] if t else "", "end": word[-2:]}
                for t, (word, pos) in enumerate(sentence)
            ]
            for sentence in tokens[:80]
        ]
        return X, list(y[:80])
    X, y = make_latent_sequences(
        40, n_labels=3, n_latent=2, n_features=6, mean_length=6, random_state=3, return_X_y=True
    )
    if name == "simulated-sparse":
        X = SequenceMatrix(sp.csr_array(np.where(np.abs(X.values) > 0.7, X.values, 0.0)), X.lengths)
    if name == "simulated-partial":
        y = [[None if (i + t) % 4 == 0 else label for t, label in enumerate(labels)] for i, labels in enumerate(y)]
    return X, y


def numbers(case: str) -> dict:
    """Fit a case; a few of its numbers."""
    data, params = CASES[case]
    X, y = corpus(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a dozen steps are what the case asks for
        tagger = LatentCRFTagger(**params).fit(X, y)
    coef = tagger.coef_
    at = np.linspace(0, coef.size - 1, 12).astype(int)
    out = {
        "objective": tagger.objective_,
        "n_params": int(sum(v.size for v in tagger._model.params.values())),
        "coef": coef.reshape(-1)[at].tolist(),
        "coef_norm": float(np.linalg.norm(coef)),
        "transition_coef": tagger.transition_coef_.reshape(-1)[:12].tolist(),
        "start_coef": tagger.start_coef_[:4].tolist(),
        "end_coef": tagger.end_coef_[:4].tolist(),
        "log_likelihood": tagger.log_likelihood(X[:6], y[:6]).tolist(),
        "marginals": tagger.predict_marginals(X[:1])[0][0].tolist(),
        "first_objectives": tagger.loss_curve_[:5],
    }
    if len(tagger.edge_features_):
        out["edge_coef"] = tagger.edge_coef_.data[:8].tolist()
    return out
