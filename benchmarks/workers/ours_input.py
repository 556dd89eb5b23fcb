# SPDX-License-Identifier: BSD-3-Clause
"""Memory of fits on dense numbers in several forms, and on feature dicts from a list and from a generator.

``python -m benchmarks.workers.ours_input dense|dicts - [key=value ...]``
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import numpy as np

from sklearn_latent import LatentCRFTagger, SequenceMatrix, SPNCRFTagger

from .common import done, forget_peak, main, peak_mb, resident_mb

#: Tokens of a sequence.
LENGTH = 20


def _labels(n_tokens: int, n_labels: int) -> list[list[str]]:
    codes = np.random.default_rng(1).integers(n_labels, size=(n_tokens // LENGTH, LENGTH))
    names = [f"L{k}" for k in range(n_labels)]
    return [[names[k] for k in row] for row in codes.tolist()]


def _fit(est, X, y) -> tuple[float, float]:
    """Resident memory before `fit` and at its peak."""
    gc.collect()
    forget_peak()
    before = resident_mb()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est.fit(X, y)
    return before, peak_mb()


def _warm(est) -> None:
    """What the first fit of a process loads is not what this is about."""
    _fit(est, [np.eye(4), np.ones((2, 4))], [["a", "b", "a", "b"], ["a", "a"]])


def _weights_mb(est) -> float:
    return sum(value.nbytes for value in est._model.params.values()) / 1e6


def dense(_: str, model="latent", form="matrix", n_tokens=20_000, n_features=300, n_labels=5, n_latent=1) -> None:
    """Two iterations on dense numbers; *growth_mb* is what `fit` takes on top of the data."""
    n_tokens, n_features = int(n_tokens), int(n_features)
    options = {"max_iter": 2, "n_latent": int(n_latent), "random_state": 0}
    est = LatentCRFTagger(**options) if model == "latent" else SPNCRFTagger(**options)
    _warm(est)
    rng = np.random.default_rng(0)
    start = resident_mb()
    values = rng.normal(size=(n_tokens, n_features))
    if form == "float32":
        values = values.astype(np.float32)
    X = {
        "matrix": lambda: SequenceMatrix(values, np.full(n_tokens // LENGTH, LENGTH)),
        "float32": lambda: SequenceMatrix(values, np.full(n_tokens // LENGTH, LENGTH)),
        "list": lambda: [values[k : k + LENGTH].copy() for k in range(0, n_tokens, LENGTH)],
        "array": lambda: values.reshape(-1, LENGTH, n_features),
    }[form]()
    data_mb = values.nbytes / 1e6
    if form == "list":
        del values
    before, peak = _fit(est, X, _labels(n_tokens, int(n_labels)))
    done(
        data_mb=data_mb, weights_mb=_weights_mb(est), growth_mb=peak - before, all_mb=peak - start, n_iter=est.n_iter_,
        peak_mb=peak,
    )  # fmt: skip


def _sentences(n_tokens: int, n_features: int) -> Iterator[list[dict]]:
    rng = np.random.default_rng(0)
    for _ in range(n_tokens // LENGTH):
        drawn = rng.zipf(1.5, size=(LENGTH, n_features)) % 5000
        yield [{f"f{j}": f"value {k}" for j, k in enumerate(row)} for row in drawn.tolist()]


def dicts(_: str, held="yes", n_tokens=20_000, n_features=20) -> None:
    """Two iterations on feature dicts; *growth_mb* counts the dicts if they are held."""
    n_tokens, n_features = int(n_tokens), int(n_features)
    est = LatentCRFTagger(n_latent=1, max_iter=2)
    _warm(est)
    y = _labels(n_tokens, 5)
    start = resident_mb()
    X = _sentences(n_tokens, n_features)
    X = list(X) if held == "yes" else X
    data_mb = resident_mb() - start if held == "yes" else 0.0
    _, peak = _fit(est, X, y)
    done(data_mb=data_mb, weights_mb=_weights_mb(est), growth_mb=peak - start, n_iter=est.n_iter_, peak_mb=peak)


if __name__ == "__main__":
    main({"dense": dense, "dicts": dicts}, arrays=False)
