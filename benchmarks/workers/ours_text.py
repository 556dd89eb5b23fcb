# SPDX-License-Identifier: BSD-3-Clause
"""Ours from column files: ``python -m benchmarks.workers.ours_text TASK FILE [key=value ...]``."""

from __future__ import annotations

import statistics
import warnings

from .common import Clock, done, main, peak_mb

with Clock() as IMPORT:
    from sklearn_latent import LatentCRFTagger
    from sklearn_latent.exceptions import ConvergenceWarning
    from sklearn_latent.feature_extraction import TemplateVectorizer
    from sklearn_latent.io import read_conll, save_model


def pipeline(path: str, model: str, threads=2, max_iter=500, target=-1.0) -> None:
    """Read a labelled file, learn features and weights, save.

    Parameters
    ----------
    path, model : str
        What to read and to write.
    threads, max_iter : int
    target : float
        Stop at this objective; negative: at the tagger's own stopping rule.
    """
    LatentCRFTagger._boundary_weights = False  # CRFsuite has none
    with Clock() as read:
        X, y = read_conll(path)
    tagger = LatentCRFTagger(
        1,
        vectorizer=TemplateVectorizer("chunking"),
        n_jobs=int(threads),
        max_iter=int(max_iter),
        callback=(lambda info: info.objective <= float(target)) if float(target) > 0 else None,
    )
    with Clock() as fit, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(X, y)
    # A function is nothing that a model file holds, and a file to tag is tagged by one thread.
    tagger.set_params(callback=None, n_jobs=None)
    with Clock() as save:
        save_model(tagger, model)
    done(
        threads=int(threads),
        spent={"import": IMPORT.wall, "read": read.wall, "features and training": fit.wall, "save": save.wall},
        n_iter=tagger.n_iter_,
        objective=tagger.objective_,
    )


def vectorize(path: str, test: str, repeats=3) -> None:
    """Tokens a second of `fit_transform` on one file and of `transform` on another, the files read beforehand."""
    X, _ = read_conll(path)
    Z, _ = read_conll(test)
    n, m = sum(map(len, X)), sum(map(len, Z))
    fit, transform, cpu = [], [], []
    for _ in range(int(repeats)):
        vectorizer = TemplateVectorizer("chunking")
        with Clock() as clock:
            matrix = vectorizer.fit_transform(X)
        fit.append(clock.wall)
        cpu.append(clock.cpu)
        with Clock() as clock:
            vectorizer.transform(Z)
        transform.append(clock.wall)
    done(
        threads=1,
        rates={"fit_transform": n / statistics.median(fit), "transform": m / statistics.median(transform)},
        cpu=statistics.median(cpu),
        n_features=matrix.n_features,
        n_entries=int(matrix.values.nnz),
        peak_mb=peak_mb(),
    )


if __name__ == "__main__":
    main({"pipeline": pipeline, "vectorize": vectorize}, arrays=False)
