# SPDX-License-Identifier: BSD-3-Clause
"""One fit of so many passes: ``python -m benchmarks.workers.passes CORPUS SOLVER PASSES [N_LATENT]``.

SOLVER is one of ours, or ``l2sgd``, CRFsuite's own stochastic gradient descent (plain models only). The time is that of
the whole fit, features being there: CRFsuite's includes the choice of its learning rate, as ours does.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .common import Clock, done, load


def crfsuite(corpus: dict, passes: int) -> None:
    """Train with the prior of ``sigma=1`` and label the test part."""
    import pycrfsuite

    from .crfsuite import _items

    trainer = pycrfsuite.Trainer(algorithm="l2sgd", verbose=False)
    trainer.set_params({"c2": 0.5, "max_iterations": passes})
    for xs, ys in _items(corpus, "train"):
        trainer.append(xs, ys)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        with Clock() as clock:
            trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        found = [tagger.tag(xs) for xs, _ in _items(corpus, "test")]
        tagger.close()
    done(seconds=clock.wall, cpu=clock.cpu, labels=found)


def ours(corpus: dict, solver: str, passes: int, n_latent: int) -> None:
    """Fit and label the test part."""
    from .ours import fitted, labels, matrix

    X, y = matrix(corpus, "train"), labels(corpus, "train")
    with Clock() as clock:
        model = fitted(X, y, n_latent=n_latent, solver=solver, max_iter=passes, tol=1e-12)
    found = model.predict(matrix(corpus, "test"))
    done(seconds=clock.wall, cpu=clock.cpu, objective=model.objective_, labels=list(found))


if __name__ == "__main__":
    data, chosen, n = load(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if chosen == "l2sgd":
        crfsuite(data, n)
    else:
        ours(data, chosen, n, int(sys.argv[4]) if len(sys.argv) > 4 else 1)
