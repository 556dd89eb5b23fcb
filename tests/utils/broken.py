# SPDX-License-Identifier: BSD-3-Clause
"""What the estimators that are broken on purpose are made of; they put themselves into `BROKEN`."""

from __future__ import annotations

from sklearn_latent import LatentCRFTagger
from sklearn_latent.feature_extraction import Window

__all__ = ["BROKEN", "Changed", "Tagger", "breaks"]

#: Broken estimators by the check that has to fail on them.
BROKEN: dict[str, list] = {}


def breaks(*checks: str, **params):
    """Mark a class as the broken estimator of some checks."""

    def add(cls):
        for check in checks:
            BROKEN.setdefault(f"check_{check}", []).append(cls(**params))
        return cls

    return add


class Tagger(LatentCRFTagger):
    """A tagger in good order, quick to train."""

    def __init__(self, n_latent=1, max_iter=40, tol=1e-3, sigma=1.0, solver="lbfgs", support="observed",
                 class_weight=None, decoder="ldi_exact", n_jobs=None, random_state=None):  # fmt: skip
        super().__init__(n_latent, sigma, max_iter=max_iter, tol=tol, solver=solver, support=support, decoder=decoder,
                         class_weight=class_weight, n_jobs=n_jobs, random_state=random_state)  # fmt: skip


class Changed(Window):
    """A transformer whose matrix is changed by `change(X, out)`."""

    def transform(self, X):
        return self.change(X, super().transform(X))

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)
