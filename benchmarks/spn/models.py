# SPDX-License-Identifier: BSD-3-Clause
"""The models, how each is trained, and what is published of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sklearn_latent import SPNCRFTagger

__all__ = ["MODELS", "TUNED", "Model"]

#: What trials may vary, and how it is read.
TUNED: dict[str, Any] = {
    "sigma": float,
    "init_scale": float,
    "batch_size": int,
    "solver": str,
    "rate": float,
    "passes": int,
    "n_layers": int,
    "n_products": int,
    "n_states": int,
    "C": float,
}


@dataclass(frozen=True)
class Model:
    """A model and its training.

    Attributes
    ----------
    title : str
    maker : str
        A classmethod of `SPNCRFTagger`, ``""`` for the class itself, ``"logistic"`` or ``"crfsuite"``.
    params : dict
        Its parameters.
    passes : tuple of (int, float or "auto")
        Passes and the step length in them, one stretch after the other; none: `fit` to its own end.
    """

    title: str
    maker: str = ""
    params: dict = field(default_factory=dict, hash=False)
    passes: tuple[tuple[int, float | str], ...] = ()

    @property
    def settings(self) -> dict:
        """What training depends on, as it stands in result files."""
        return {"maker": self.maker, **self.params, "passes": [list(stretch) for stretch in self.passes]}

    def tagger(self, **more) -> SPNCRFTagger:
        """The estimator, in single precision."""
        params = {name: _tuples(value) for name, value in self.params.items()} | {"dtype": np.float32, **more}
        return (getattr(SPNCRFTagger, self.maker) if self.maker else SPNCRFTagger)(**params)

    def with_trial(self, trial: dict) -> Model:
        """The same with other settings."""
        params = self.params | {name: value for name, value in trial.items() if name not in ("rate", "passes")}
        passes = self.passes
        if "rate" in trial or "passes" in trial:
            rate = trial.get("rate", passes[0][1] if passes else "auto")
            n = trial.get("passes", sum(n for n, _ in passes) or 20)
            passes = tuple((min(4, n - k), rate) for k in range(0, n, 4))
        return replace(self, params=params, passes=passes)


def _tuples(value):
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


#: Stretches of training: long steps, then short ones, which stand in for a mean of weights. Networks that share their
#: input weights bear longer ones.
_FALLING = ((6, 0.01), (4, 0.003), (3, 0.001))
_TIED_FALLING = ((6, 0.03), (4, 0.01), (3, 0.003))
_LINEAR = {"sigma": 1.0, "sparse_factors": False}
_UNTIED = {"sigma": 0.5, "batch_size": 64}
_TIED = {"sigma": 0.5, "batch_size": 32}


def _network(title: str, layers: int, products: int, states: int, maker: str = "", **params) -> Model:
    shape = {"n_layers": layers, "n_products": products, "n_states": states}
    recipe, passes = (_TIED, _TIED_FALLING) if params.get("tie_inputs") else (_UNTIED, _FALLING)
    return Model(title, maker, {**recipe, **shape, **params}, passes)


def _units(title: str, n_units: int, **params) -> Model:
    return Model(title, "hidden_unit_crf", {**_TIED, "n_units": n_units, **params}, _TIED_FALLING)


def history(order: int, products: int, states: int) -> str:
    """Name of an SPN-MEMM of one layer with some previous labels."""
    return f"memm-1{products}{states}" + (f"-o{order}" if order > 1 else "")


def _grids() -> dict[str, Model]:
    """The models of the tables over sizes, histories and operators; their names say which they are."""
    out = {}
    for layers, products, states in SIZES:
        size = f"{layers}{products}{states}"
        text = f"L={layers}, I={products}, H={states}"
        out[f"lc-{size}"] = _network(f"SPN-LC-CRF, {text}", layers, products, states)
        out[f"memm-{size}"] = _network(f"SPN-MEMM, {text}", layers, products, states, "memm", order=1)
        for operator in ("sum", "max"):
            name = f"ho-{size}-{operator}"
            out[name] = _network(f"SPN-HO-LC-CRF, {text}, {operator}", layers, products, states, order=2,
                                 factors=[[1, 1], [2, 2]], operator=operator)  # fmt: skip
    for layers, products, states in SIZES:
        size = f"{layers}{products}{states}"
        out[f"max-{size}"] = _network("", layers, products, states, operator="max")
    for order in HISTORIES:
        for products, states in HISTORY_SIZES:
            out.setdefault(history(order, products, states), _network("", 1, products, states, "memm", order=order))
    for n_units in UNITS:
        for order in (1, 2):
            out[f"hu{n_units}-{order}"] = _units(f"HU-CRF, {n_units} units", n_units, order=order)
        out[f"hu{n_units}-22"] = _units("", n_units, order=2, factors=[[2, 2]])
        out[f"hu{n_units}-22+"] = _units("", n_units, order=2, factors=[[1, 1], [2, 2]])
    return out


#: Sizes (L, I, H) of the tables of networks, and those of the table of histories.
SIZES = ((1, 2, 2), (1, 2, 4), (2, 2, 2), (2, 2, 4), (3, 2, 2))
HISTORIES = (1, 2, 4, 8)
HISTORY_SIZES = ((2, 2), (2, 4))
UNITS = (150, 200)

#: All models by name.
MODELS: dict[str, Model] = {
    "logistic": Model("Multinomial logistic regression, letter by letter", "logistic", {"C": 0.1, "max_iter": 300}),
    "crfsuite": Model("Linear CRF, python-crfsuite", "crfsuite", {"sigma": 1.0}),
    "linear": Model("Linear CRF", "linear_crf", _LINEAR),
    "gmm": Model("GMM-CRF, 4 components", "gmm_crf", {**_UNTIED, "n_components": 4}, _TIED_FALLING),
    "hu": _units("HU-CRF, 250 units", 250),
    "spn": _network("SPN-LC-CRF, L=2, I=2, H=3", 2, 2, 3),
    "spn-tied": _network("SPN-LC-CRF, inputs tied, L=2, I=8, H=3", 2, 8, 3, tie_inputs=True),
    "memm8": _network("SPN-MEMM, 8 previous labels, L=3, I=2, H=2", 3, 2, 2, "memm", order=8),
    "hu-o2": _units("HU-CRF, second order, 250 units", 250, order=2),
    "spn-o2": _network("SPN-HO-LC-CRF, second order, L=3, I=2, H=4", 3, 2, 4, order=2),
    "spn-o3": _network("SPN-HO-LC-CRF, third order, L=2, I=2, H=3", 2, 2, 3, order=3),
    "spn-o4": _network("SPN-HO-LC-CRF, fourth order, L=2, I=2, H=3", 2, 2, 3, order=4),
    **_grids(),
}
