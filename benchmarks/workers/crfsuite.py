# SPDX-License-Identifier: BSD-3-Clause
"""python-crfsuite on the same features: ``python -m benchmarks.workers.crfsuite TASK CORPUS [key=value ...]``."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pycrfsuite

from .common import Clock, Stamps, done, main, peak_mb


def _items(corpus: dict, part: str):
    """Attributes by number, and labels, sequence by sequence."""
    names = [str(k) for k in range(int(corpus["n_features"]))]
    ptr, indices = corpus[f"{part}_ptr"].tolist(), corpus[f"{part}_indices"].tolist()
    offsets = corpus[f"{part}_offsets"].tolist()
    labels = corpus["labels"][corpus[f"{part}_codes"]].tolist()
    for a, b in zip(offsets[:-1], offsets[1:], strict=True):
        yield [[names[k] for k in indices[ptr[t] : ptr[t + 1]]] for t in range(a, b)], labels[a:b]


class Trainer(pycrfsuite.Trainer):
    """Notes when iterations end."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.stamps = Stamps()

    def message(self, message):
        """CRFsuite's log, line by line; it speaks of an iteration when it has ended."""
        if message.startswith("***** Iteration"):
            self.stamps()
        super().message(message)


def train(corpus: dict, support="observed", max_iter=0, sigma=1.0) -> None:
    """Train with the same prior (its c2 term has no factor one half) and label the test part."""
    trainer = Trainer(algorithm="lbfgs", verbose=False)
    full = support == "all"
    params = {
        "c1": 0.0,
        "c2": 0.5 / float(sigma) ** 2,
        "feature.possible_states": full,
        "feature.possible_transitions": full,
    }
    if int(max_iter):
        params |= {"max_iterations": int(max_iter), "epsilon": 0.0, "delta": 0.0}
    trainer.set_params(params)
    with Clock() as append:
        for xs, ys in _items(corpus, "train"):
            trainer.append(xs, ys)
    before = peak_mb()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        with Clock() as clock:
            trainer.train(path)
        peak = peak_mb()
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        found = [tagger.tag(xs) for xs, _ in _items(corpus, "test")]
        tagger.close()
    iterations = trainer.logparser.iterations
    done(
        seconds=clock.wall,
        cpu=clock.cpu,
        threads=1,
        append_seconds=append.wall,
        n_iter=len(iterations),
        seconds_per_iteration=clock.wall / len(iterations),
        **trainer.stamps.report(),
        objective=iterations[-1]["loss"],
        n_weights=int(trainer.logparser.featgen_num_features),
        mb_before_fit=before,
        peak_mb=peak,
        labels=found,
    )


def curve(corpus: dict, checkpoints: str) -> None:
    """Its stochastic gradient descent, trained anew for each number of passes; appending is not timed."""
    trainer = pycrfsuite.Trainer(algorithm="l2sgd", verbose=False)
    for xs, ys in _items(corpus, "train"):
        trainer.append(xs, ys)
    test = [xs for xs, _ in _items(corpus, "test")]
    points = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        for n_iter in map(int, checkpoints.split(",")):
            # It stops when the loss fell by less than delta over a period; passes are limited by their number alone.
            trainer.set_params({"c2": 0.5, "max_iterations": n_iter, "period": n_iter + 1, "delta": 0.0})
            with Clock() as clock:
                trainer.train(path)
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            found = [tagger.tag(xs) for xs in test]
            tagger.close()
            points.append({"seconds": clock.wall, "cpu": clock.cpu, "n_iter": n_iter, "labels": found})
    done(points=points, threads=1)


def letters(corpus: dict, fold=0, sigma=1.0) -> None:
    """OCR letters: train on nine folds with every weight, error on the tenth."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": 0.5 / float(sigma) ** 2,
            "feature.possible_states": True,
            "feature.possible_transitions": True,
        }
    )
    offsets, held = corpus["offsets"].tolist(), (corpus["fold"] == int(fold)).tolist()
    names = corpus["labels"]
    rows = [
        pycrfsuite.ItemSequence([{str(k): float(row[k]) for k in np.flatnonzero(row)} for row in corpus["pixels"][a:b]])
        for a, b in zip(offsets[:-1], offsets[1:], strict=True)
    ]
    labels = [names[corpus["codes"][a:b]].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    sequences = list(zip(rows, labels, strict=True))
    for (xs, ys), test in zip(sequences, held, strict=True):
        if not test:
            trainer.append(xs, ys)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        with Clock() as clock:
            trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        wrong = total = 0
        for (xs, ys), test in zip(sequences, held, strict=True):
            if test:
                wrong += sum(a != b for a, b in zip(tagger.tag(xs), ys, strict=True))
                total += len(ys)
        tagger.close()
    iterations = trainer.logparser.iterations
    done(seconds=clock.wall, n_iter=len(iterations), objective=iterations[-1]["loss"], error=100 * wrong / total)


if __name__ == "__main__":
    main({"train": train, "letters": letters, "curve": curve})
