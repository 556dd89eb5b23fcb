# SPDX-License-Identifier: BSD-3-Clause
"""A training pass of ours over networks.

``python -m benchmarks.workers.ours_spn evaluation CORPUS gradient=FILE [key=value ...]``
"""

from __future__ import annotations

import numpy as np

from sklearn_latent import SequenceMatrix, SPNCRFTagger
from sklearn_latent._taggers.spn_training import build_spn
from sklearn_latent._taggers.training import TrainingSet
from sklearn_latent._threads import Workers, one_blas_thread

from .common import Clock, done, main, peak_mb


def evaluation(corpus: dict, gradient: str, dtype="float64", threads=1, order=1, zero=0.0, repeats=1) -> None:
    """Seconds of one loss and gradient, after a chunk to warm up; the gradient goes into a file.

    A second-order model has networks over bigrams too, ``factors=((1, 1), (2, 2))``. Pixels that are zero
    become `zero`.
    """
    pixels = corpus["pixels"]
    pixels = np.where(pixels == 0, float(zero), pixels) if float(zero) else pixels
    X = SequenceMatrix(pixels, np.diff(corpus["offsets"]))
    data = TrainingSet(X, corpus["codes"], np.ones(len(X)), corpus["labels"].tolist(), np.arange(len(X)))
    n_layers, n_products, n_states = corpus["shape"].tolist()
    factors = ((1, 1), (2, 2))[: int(order)]
    tagger = SPNCRFTagger(n_layers, n_products, n_states, order=int(order), factors=factors, dtype=dtype, sigma=1.0)
    model, objective, chunks = build_spn(tagger, data)
    theta = np.random.default_rng(0).uniform(-0.1, 0.1, objective.packing.size)
    seconds, cpu = [], []
    with one_blas_thread(), Workers(int(threads)) as workers:
        objective.value_and_grad(theta, chunks[:1], workers)
        for _ in range(int(repeats)):
            with Clock() as clock:
                value, grad = objective.value_and_grad(theta, chunks, workers)
            seconds.append(clock.wall)
            cpu.append(clock.cpu)
    peak = peak_mb()
    np.save(gradient, grad)
    done(
        seconds=float(np.median(seconds)),
        cpu=float(np.median(cpu)),
        threads=int(threads),
        n_weights=len(theta),
        columns=[circuit.n_columns for circuit in model.circuits()],
        value=value,
        peak_mb=peak,
    )


if __name__ == "__main__":
    main({"evaluation": evaluation})
