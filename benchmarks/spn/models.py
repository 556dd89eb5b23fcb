# SPDX-License-Identifier: BSD-3-Clause
"""The models, how each is trained, and what is published of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sklearn_latent import SPNCRFTagger

__all__ = [
    "HISTORIES", "HISTORY_SIZES", "MODELS", "SIZES", "SPOKEN_SIZES", "SPOKEN_SIZES_HIGH", "TUNED", "UNITS", "Model",
    "named", "remembering", "size_text",
]  # fmt: skip

#: What trials may vary, and how it is read.
TUNED: dict[str, Any] = {
    "sigma": float,
    "init_scale": float,
    "batch_size": int,
    "solver": str,
    "rate": lambda text: text if text == "auto" else float(text),
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


#: Stretches of training: long steps, then short ones, which stand in for a mean of weights.
_LONG, _SHORT = ((6, 0.03), (4, 0.01), (3, 0.003)), ((6, 0.01), (4, 0.003), (3, 0.001))
_UNTIED = {"sigma": 0.3, "batch_size": 32}, ((20, "auto"), (3, 0.003), (3, 0.001))
_TIED = {"sigma": 0.5, "batch_size": 32}, _LONG
_MEMM = {"sigma": 1.0, "batch_size": 64}, _SHORT
#: Of phones: there are a tenth as many segments as letters.
_SPOKEN = {"sigma": 0.1, "batch_size": 8}, _SHORT
_SPOKEN_UNITS = {"sigma": 0.3, "batch_size": 8}, _SHORT

#: Sizes (L, I, H) of the tables of letters and of phones, of first and of second order; histories; hidden units.
SIZES = ((1, 2, 2), (1, 2, 4), (2, 2, 2), (3, 2, 2))
SPOKEN_SIZES = ((1, 2, 2), (2, 2, 2), (2, 3, 3), (3, 2, 2))
SPOKEN_SIZES_HIGH = ((1, 2, 2), (2, 2, 2))
HISTORIES = (1, 2, 4, 8)
HISTORY_SIZES = ((1, 2, 2), (1, 2, 4))
UNITS = (150, 200)


def _network(title: str, size: tuple[int, int, int], maker: str = "", **params) -> Model:
    shape = dict(zip(("n_layers", "n_products", "n_states"), size, strict=True))
    recipe, passes = _TIED if params.get("tie_inputs") else _MEMM if maker == "memm" else _UNTIED
    return Model(f"{title}, {size_text(size)}", maker, {**recipe, **shape, **params}, passes)


def _units(title: str, n_units: int, **params) -> Model:
    recipe, passes = _TIED
    return Model(title, "hidden_unit_crf", {**recipe, "n_units": n_units, **params}, passes)


def size_text(size: tuple[int, int, int]) -> str:
    """A size as tables write it."""
    return "L = {}, I = {}, H = {}".format(*size)


def named(kind: str, size: tuple[int, int, int], *more: str) -> str:
    """Name of a model of the tables over sizes."""
    return "-".join([kind, "".join(map(str, size)), *more])


def remembering(size: tuple[int, int, int], order: int) -> str:
    """Name of an SPN-MEMM of letters that sees some previous labels."""
    return named("memm", size, f"o{order}")


def _grids() -> dict[str, Model]:
    """The models of the tables over sizes, histories and operators."""
    out = {}
    for size in SIZES:
        out[named("lc", size)] = _network("SPN-LC-CRF", size)
        out[named("max", size)] = _network("SPN-LC-CRF, max", size, operator="max")
        out[remembering(size, 1)] = _network("SPN-MEMM", size, "memm", order=1)
    for size in HISTORY_SIZES:
        for order in HISTORIES:
            out[remembering(size, order)] = _network(f"SPN-MEMM, {order} previous", size, "memm", order=order)
    return out


def _spoken() -> dict[str, Model]:
    """The models of phones."""
    out = {}
    for size in SPOKEN_SIZES:
        out[named("speech-lc", size)] = _network("SPN-LC-CRF", size)
        out[named("speech-memm", size)] = _network("SPN-MEMM", size, "memm", order=1)
    for size in SPOKEN_SIZES_HIGH:
        for operator in ("sum", "max"):
            out[named("speech-ho", size, operator)] = _network(
                f"SPN-HO-LC-CRF, {operator}", size, order=2, factors=[[1, 1], [2, 2]], operator=operator
            )
    for n in UNITS:
        title = f"HU-CRF, {n} units"
        out[f"speech-hu{n}-1"] = _units(title, n)
        out[f"speech-hu{n}-2"] = _units(f"{title}, trigrams", n, order=2)
        out[f"speech-hu{n}-22"] = _units(f"{title}, m = n = 2", n, order=2, factors=[[2, 2]])
        out[f"speech-hu{n}-22+"] = _units(f"{title}, m = n = 2+", n, order=2, factors=[[1, 1], [2, 2]])
    for name, model in out.items():
        recipe, passes = _SPOKEN_UNITS if model.maker == "hidden_unit_crf" else _SPOKEN
        out[name] = replace(model, params=model.params | recipe, passes=passes)
    return out


#: All models by name.
MODELS: dict[str, Model] = {
    "logistic": Model("Multinomial logistic regression, letter by letter", "logistic", {"C": 1.0, "max_iter": 300}),
    "crfsuite": Model("Linear CRF, python-crfsuite", "crfsuite", {"sigma": 1.0}),
    "linear": Model("Linear CRF", "linear_crf", {"sigma": 1.0, "sparse_factors": False}),
    "gmm": Model("GMM-CRF, 4 components", "gmm_crf", {"sigma": 0.5, "batch_size": 64, "n_components": 4}, _LONG),
    "hu": _units("HU-CRF, 250 units", 250),
    "spn": _network("SPN-LC-CRF", (2, 2, 3)),
    "spn-tied": _network("SPN-LC-CRF, inputs tied", (1, 125, 4), tie_inputs=True),
    "memm8": _network("SPN-MEMM, 8 previous labels", (3, 2, 2), "memm", order=8),
    "memm8-tied": _network("SPN-MEMM, 8 previous labels, inputs tied", (1, 250, 2), "memm", order=8, tie_inputs=True),
    "hu-o2": _units("HU-CRF, second order, 250 units", 250, order=2),
    "spn-o2": _network("SPN-HO-LC-CRF, second order", (2, 2, 3), order=2),
    "spn-o2-324": _network("SPN-HO-LC-CRF, second order", (3, 2, 4), order=2),
    "spn-tied-o2": _network("SPN-HO-LC-CRF, second order, inputs tied", (2, 8, 3), order=2, tie_inputs=True),
    "hu-o3": _units("HU-CRF, third order, 250 units", 250, order=3),
    "spn-o3": _network("SPN-HO-LC-CRF, third order", (2, 2, 3), order=3),
    **_grids(),
    **_spoken(),
}
