# SPDX-License-Identifier: BSD-3-Clause
"""Our side of each benchmark: ``python -m benchmarks.workers.ours TASK CORPUS [key=value ...]``."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent._decoding import DECODERS
from sklearn_latent._objective import ChainObjective, Chunk
from sklearn_latent._scorers import Design, LinearScorer
from sklearn_latent._sequences import LabelCodec
from sklearn_latent._taggers import linear_chain, training
from sklearn_latent._threads import Workers, one_blas_thread
from sklearn_latent.exceptions import ConvergenceWarning

from .common import Clock, Stamps, done, main, peak_mb


def matrix(corpus: dict, part: str) -> SequenceMatrix:
    """The features of a part, a matrix of ones."""
    indices, ptr = corpus[f"{part}_indices"], corpus[f"{part}_ptr"]
    values = sp.csr_array((np.ones(len(indices)), indices, ptr), shape=(len(ptr) - 1, int(corpus["n_features"])))
    return SequenceMatrix(values, np.diff(corpus[f"{part}_offsets"]))


def labels(corpus: dict, part: str) -> list[list[str]]:
    """The labels of a part, one list a sequence."""
    names, offsets = corpus["labels"][corpus[f"{part}_codes"]].tolist(), corpus[f"{part}_offsets"].tolist()
    return [names[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


def fitted(X, y, **params) -> LatentCRFTagger:
    """A tagger, whether it converged or not: benchmarks limit iterations on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LatentCRFTagger(random_state=0, **params).fit(X, y)


def train(
    corpus: dict, n_latent=1, support="observed", max_iter=500, tol=1e-5, boundary=1, threads=1, sigma=1.0
) -> None:
    """Fit to convergence (or `max_iter`) and label the test part."""
    LatentCRFTagger._boundary_weights = bool(int(boundary))
    X, y = matrix(corpus, "train"), labels(corpus, "train")
    before, stamps = peak_mb(), Stamps()
    with Clock() as clock:
        model = fitted(
            X,
            y,
            n_latent=int(n_latent),
            support=support,
            max_iter=int(max_iter),
            tol=float(tol),
            n_jobs=int(threads),
            sigma=float(sigma),
            callback=stamps,
        )
    peak = peak_mb()
    found = model.predict(matrix(corpus, "test"))
    done(
        seconds=clock.wall,
        cpu=clock.cpu,
        threads=int(threads),
        n_iter=model.n_iter_,
        seconds_per_iteration=clock.wall / max(1, model.n_iter_),
        **stamps.report(),
        objective=model.objective_,
        converged=model.converged_,
        n_weights=sum(v.size for v in model._model.params.values()),
        mb_before_fit=before,
        peak_mb=peak,
        labels=list(found),
    )


def evaluation(corpus: dict, n_latent=5, support="all", edges=0, repeats=5, threads=1) -> None:
    """Seconds of one loss and gradient over the training part.

    With `edges` the word of each token has weights on pairs of states too. With every weight and no edges the objective
    and the length of its gradient are told at weights that other packages can set too.
    """
    X, y = matrix(corpus, "train"), labels(corpus, "train")
    edge_features = corpus["word_columns"].tolist() if int(edges) else False
    objective, chunks = _objective(X, y, int(n_latent), support, edge_features)
    theta = np.random.default_rng(0).uniform(-0.01, 0.01, objective.packing.size)
    known, comparable = np.zeros(len(theta)), support == "all" and not int(edges)
    if comparable:
        views = objective.packing.views(known)
        for name, function in (("coef", np.sin), ("transition", np.cos)):
            views[name][...] = 0.1 * function(np.arange(views[name].size)).reshape(views[name].shape)
    seconds, cpu = [], []
    with one_blas_thread(), Workers(int(threads)) as workers:
        objective.value_and_grad(theta, chunks, workers)
        for _ in range(int(repeats)):
            with Clock() as clock:
                objective.value_and_grad(theta, chunks, workers)
            seconds.append(clock.wall)
            cpu.append(clock.cpu)
        peak = peak_mb()
        zero, _ = objective.value_and_grad(np.zeros_like(theta), chunks, workers)
        agreement = {}
        if comparable:
            agreement["value"], grad = objective.value_and_grad(known, chunks, workers)
            views = objective.packing.views(grad)
            # Of the weights that others have too: PyTorch's model has no start and end weights.
            agreement["gradient"] = float(np.sqrt(sum(np.sum(views[name] ** 2) for name in ("coef", "transition"))))
    done(
        seconds=float(np.median(seconds)),
        cpu=float(np.median(cpu)),
        threads=int(threads),
        n_weights=len(theta),
        value_at_zero=zero,
        **agreement,
        peak_mb=peak,
    )


def _objective(
    X: SequenceMatrix, y: list, n_latent: int, support: str, edge_features: bool | list = False
) -> tuple[ChainObjective, list[Chunk]]:
    """The objective that `fit` minimises."""
    codec = LabelCodec.from_labels(y)
    data = training.TrainingSet(X, codec.encode(y), np.ones(len(X)), codec.classes.tolist(), np.arange(len(X)))
    _, objective, chunks = linear_chain.build(
        LatentCRFTagger(n_latent, support=support, edge_features=edge_features), data
    )
    return objective, chunks


def decode(corpus: dict, n_latent=3, max_iter=100, repeats=5, sigma=1.0) -> None:
    """Time and certificates of every decoder on the test part."""
    model = fitted(
        matrix(corpus, "train"),
        labels(corpus, "train"),
        n_latent=int(n_latent),
        max_iter=int(max_iter),
        sigma=float(sigma),
    )
    X = matrix(corpus, "test")
    seconds: dict[str, list] = {name: [] for name in (*DECODERS, "none")}
    results = {}
    for _ in range(int(repeats)):
        for name in DECODERS:
            results[name] = model.decode(X, name)
            seconds[name].append(results[name].seconds)
        with Clock() as clock:
            model.predict_latent(X)
        seconds["none"].append(clock.wall)
    out = {}
    for name, result in results.items():
        out[name] = {
            "seconds": float(np.median(seconds[name])),
            "us_per_token": 1e6 * float(np.median(seconds[name])) / X.n_tokens,
            "certified": float(result.exact.mean()),
            "log_prob": float(result.log_prob.sum()),
            "expanded_per_token": float(result.n_expanded.sum() / X.n_tokens),
            "labels": list(result.labels),
        }
    done(decoders=out, viterbi_seconds=float(np.median(seconds["none"])), n_tokens=X.n_tokens)


def where(corpus: dict, n_latent=1, support="observed", max_iter=30) -> None:
    """Where the time of `fit` goes."""
    spent: dict[str, float] = {}

    def timed(owner, name: str, label: str):
        original = getattr(owner, name)

        def wrapper(*args, **kwargs):
            with Clock() as clock:
                out = original(*args, **kwargs)
            spent[label] = spent.get(label, 0.0) + clock.wall
            return out

        setattr(owner, name, wrapper)

    from sklearn_latent._lattice import Lattice
    from sklearn_latent._lattice.lattice import Factors, Lanes

    X, y = matrix(corpus, "train"), labels(corpus, "train")
    timed(Chunk, "cut", "cut into chunks")
    timed(linear_chain, "observed_support", "find the support")
    timed(Factors, "of", "factors (exp)")
    timed(Lanes, "of", "factors (exp)")
    timed(Lattice, "_walk", "forward-backward")
    timed(LinearScorer, "forward", "scores X W")
    timed(LinearScorer, "add_gradient", "gradient X' D")
    timed(ChainObjective, "value_and_grad", "evaluations, all")
    timed(Design, "rows", "designs of blocks")
    with Clock() as clock:
        model = fitted(X, y, n_latent=int(n_latent), support=support, max_iter=int(max_iter))
    spent["forward-backward"] -= spent["factors (exp)"]
    done(
        seconds=clock.wall,
        n_iter=model.n_iter_,
        n_weights=sum(v.size for v in model._model.params.values()),
        spent=spent,
        outside_evaluations=clock.wall - spent["evaluations, all"],
    )


def methods(corpus: dict, n_latent=2, max_iter=60, repeats=3) -> None:
    """Time per token of each method of a fitted tagger on the test part, beside `predict`."""
    model = fitted(matrix(corpus, "train"), labels(corpus, "train"), n_latent=int(n_latent), max_iter=int(max_iter))
    X, y = matrix(corpus, "test"), labels(corpus, "test")
    held = [[label if t % 2 else None for t, label in enumerate(sequence)] for sequence in y]
    calls = {
        **{f"predict, {name}": partial(model.decode, X, name) for name in DECODERS},
        "predict, mbr token_accuracy": partial(model.decode, X, "mbr", mbr_metric="token_accuracy"),
        "predict, fixed=": partial(model.predict, X, fixed=held),
        "predict_marginals": partial(model.predict_marginals, X),
        "predict_latent": partial(model.predict_latent, X),
        "predict_latent_marginals": partial(model.predict_latent_marginals, X),
        "predict_nbest, n=10": partial(model.predict_nbest, X, 10),
        "predict_spans": partial(model.predict_spans, X),
        "log_likelihood": partial(model.log_likelihood, X, y),
        "score": partial(model.score, X, y),
    }
    seconds: dict[str, list] = {name: [] for name in calls}
    for _ in range(int(repeats)):
        for name, call in calls.items():
            with Clock() as clock:
                call()
            seconds[name].append(clock.wall)
    done(us_per_token={name: 1e6 * float(np.median(values)) / X.n_tokens for name, values in seconds.items()})


def curve(corpus: dict, checkpoints: str, solver="lbfgs", n_latent=1, threads=1) -> None:
    """Fit anew for each number of iterations or passes, and label the test part with each model.

    The seconds of a point are those of a whole `fit` with that `max_iter`: what a user waits for that model, whatever
    the solver plans by its number of passes. Labelling is not timed. A checkpoint of 0 is a fit to convergence.
    """
    X, y, Z = matrix(corpus, "train"), labels(corpus, "train"), matrix(corpus, "test")
    points = []
    for n_iter in map(int, checkpoints.split(",")):
        with Clock() as clock:
            model = fitted(
                X,
                y,
                solver=solver,
                n_latent=int(n_latent),
                n_jobs=int(threads),
                max_iter=n_iter or 500,
                tol=0.0 if n_iter else 1e-5,
            )
        points.append(
            {
                "seconds": clock.wall,
                "cpu": clock.cpu,
                "n_iter": model.n_iter_,
                "objective": model.objective_,
                "labels": list(model.predict(Z)),
            }
        )
    done(points=points, threads=int(threads))


def letters(corpus: dict, fold=0, n_latent=1, sigma=1.0, max_iter=500, decoder="ldi_exact") -> None:
    """OCR letters: train on nine folds, error on the tenth."""
    test = corpus["fold"] == int(fold)
    X = SequenceMatrix(corpus["pixels"], np.diff(corpus["offsets"]))
    names = corpus["labels"]
    offsets = corpus["offsets"].tolist()
    y = [names[corpus["codes"][a:b]].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    train_y = [labels for labels, held in zip(y, test.tolist(), strict=True) if not held]
    test_y = [labels for labels, held in zip(y, test.tolist(), strict=True) if held]
    with Clock() as clock:
        model = fitted(
            X[~test], train_y, n_latent=int(n_latent), support="all", sigma=float(sigma), max_iter=int(max_iter)
        )
    result = model.decode(X[test], decoder)
    wrong = sum(a != b for u, v in zip(test_y, result.labels, strict=True) for a, b in zip(u, v, strict=True))
    done(
        seconds=clock.wall,
        n_iter=model.n_iter_,
        objective=model.objective_,
        error=100 * wrong / sum(map(len, test_y)),
        certified=float(result.exact.mean()),
    )


if __name__ == "__main__":
    main(
        {
            "train": train,
            "evaluation": evaluation,
            "decode": decode,
            "where": where,
            "methods": methods,
            "letters": letters,
            "curve": curve,
        }
    )
