# SPDX-License-Identifier: BSD-3-Clause
"""An estimator for the tests of scorers, in a module that worker processes can import."""

from sklearn.base import BaseEstimator

from sklearn_latent import LabelSequences


class Capitals(BaseEstimator):
    """Label capitalised tokens, if `on`; no classifier tag, as the taggers."""

    def __init__(self, on=True, prefix="B"):
        self.on = on
        self.prefix = prefix

    def fit(self, X, y):
        self.is_fitted_ = True  # a pipeline asks for it
        return self

    def predict(self, X):
        name = f"{self.prefix}-PER"
        return LabelSequences([[name if self.on and t.istitle() else "O" for t in x] for x in X])
