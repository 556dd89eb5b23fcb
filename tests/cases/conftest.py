# SPDX-License-Identifier: BSD-3-Clause
"""The toy corpus, and the tagger that a case is about."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from taggers.brute import Enumeration, random_tagger
from taggers.spn_brute import SPNEnumeration, random_spn

T = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], ["Ana", "and", "Bo", "sang"]]
Y = [["B-PER", "O", "B-PER"], ["B-PER", "O"], ["O"], ["B-PER", "O", "B-PER", "O"]]


class Toy:
    """The toy corpus: words, tokens, labels, and three times the latter two."""

    def __init__(self):
        self.T = [list(words) for words in T]
        self.X = [[{"w": word} for word in words] for words in T]
        self.Y = [list(labels) for labels in Y]
        self.X3, self.Y3 = self.X * 3, self.Y * 3


class Latent:
    """`LatentCRFTagger` in the cases."""

    cls = LatentCRFTagger
    own = ("coef_", "transition_coef_", "start_coef_", "end_coef_")

    def __call__(self, **params):
        return LatentCRFTagger(**{"n_latent": 2, "random_state": 0, **params})

    def crf1(self, **params):
        """One state a label: an ordinary linear-chain CRF."""
        return LatentCRFTagger(**{"n_latent": 1, **params})

    def random_crf(self, rng, n_features=4, **params):
        """An ordinary CRF of normal weights over three labels."""
        return random_tagger(rng, n_latent=(1, 1, 1), n_features=n_features, **params)

    def random(self, rng, n_features=4, classes="abc", **params):
        """A model of normal weights."""
        n_latent = np.arange(len(classes)) % 2 + 1
        return random_tagger(rng, classes, n_latent, n_features=n_features, **params)

    def enumeration(self, est, x):
        """Every label sequence."""
        return Enumeration(est, x)

    def weights(self, est) -> list[np.ndarray]:
        """All weights."""
        return [getattr(est, name) for name in self.own]


class Network(Latent):
    """`SPNCRFTagger` in the cases."""

    cls = SPNCRFTagger
    small = {"solver": "lbfgs", "n_states": 2, "max_iter": 500, "random_state": 0}

    def __call__(self, **params):
        return SPNCRFTagger(**{**self.small, "tol": 1e-4, **params})

    def crf1(self, **params):
        return SPNCRFTagger(**{**self.small, "n_layers": 0, "tol": 1e-5, "random_state": None, **params})

    def random_crf(self, rng, n_features=4, **params):
        return random_spn(rng, n_features=n_features, n_layers=0, **params)

    def random(self, rng, n_features=4, classes="abc", **params):
        return random_spn(rng, list(classes), n_features=n_features, **params)

    def enumeration(self, est, x):
        return SPNEnumeration(est, x)

    def weights(self, est) -> list[np.ndarray]:
        chain = [est.transition_coef_, est.start_coef_, est.end_coef_]
        return [*chain, *est.factor_coef_, *(b for biases in est.factor_bias_ for b in biases)]


@pytest.fixture
def toy() -> Toy:
    """The toy corpus."""
    return Toy()


@pytest.fixture(params=[Latent, Network], ids=["latent", "spn"])
def tagger(request) -> Latent:
    """Each of both taggers."""
    return request.param()


@pytest.fixture
def rng() -> np.random.Generator:
    """Numbers."""
    return np.random.default_rng(7)
