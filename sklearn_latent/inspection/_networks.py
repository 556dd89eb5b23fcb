# SPDX-License-Identifier: BSD-3-Clause
"""Input weights of sum-product networks as columns of a table."""

from __future__ import annotations

import numpy as np

from ._fitted import FittedTagger

__all__ = ["network_columns"]


def network_columns(
    fitted: FittedTagger,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Feature, latent state (-1: shared), weight, more columns (none for one linear factor), and names of features."""
    model = fitted.tagger._model
    parts = [_factor(fitted, k) for k in range(len(model.factors))]
    names = fitted.feature_names()
    order = 0 if hasattr(model, "n_latent") else model.order
    if order:
        names = np.concatenate([names.astype(object), _history_names(fitted.classes, order)])
    feature, state, weight = (np.concatenate([part[name] for part in parts]) for name in ("feature", "state", "weight"))
    if model.shape.n_layers == 0 and model.factors == ((1, 1),):
        return feature, state, weight, {}, names
    more = {name: np.concatenate([part[name] for part in parts]) for name in ("factor", "offset", "before", "path")}
    return feature, state, weight, more, names


def _factor(fitted: FittedTagger, k: int) -> dict[str, np.ndarray]:
    model, (m, n) = fitted.tagger._model, fitted.tagger._model.factors[k]
    shape, coef = model.shape, model.network_coef(k)
    if shape.tied:
        coef = coef[None]
    rows = _roots(fitted, n)
    depth, width = coef.ndim - 2, coef.shape[-1]
    D = fitted.tagger.n_features_in_
    index = np.indices(coef.shape).reshape(coef.ndim, -1)
    column = index[-1]
    own = column < m * D
    kept = np.ones(len(column), dtype=bool)
    if shape.tied:
        kept = index[depth] > 0  # state 0 of the last layer has no weights
    paths = _objects([tuple(zip(row[::2], row[1::2], strict=True)) for row in np.ndindex(*coef.shape[1:-1])])
    befores = _objects([before for before, _ in rows])
    states = np.array([-1] if shape.tied else [state for _, state in rows])
    path = np.arange(coef.size) // width % len(paths)
    return {
        "feature": np.where(own, column % D, D + column - m * D)[kept],
        "state": states[index[0]][kept],
        "weight": coef.reshape(-1)[kept],
        "factor": np.repeat(_objects([(m, n)]), coef.size)[kept],
        "offset": np.where(own, column // D - (m - 1), 0)[kept],
        "before": (np.repeat(_objects([()]), coef.size) if shape.tied else befores[index[0]])[kept],
        "path": paths[path][kept],
    }


def _roots(fitted: FittedTagger, n: int) -> list[tuple[tuple, int]]:
    """Labels before the last, and latent state of the last, of each root of a factor over `n` labels."""
    model, classes = fitted.tagger._model, fitted.classes
    if n == 1:
        return [((), state) for state in range(len(fitted.state_labels))]
    first = np.cumsum(fitted.n_latent) - fitted.n_latent
    return [
        (tuple(classes[code] for code in row[:-1]), int(first[row[-1]]) + latent)
        for row in model.rows_of(n).tolist()
        for latent in range(int(fitted.n_latent[row[-1]]))
    ]


def _history_names(classes: list, order: int) -> np.ndarray:
    return _objects(
        [f"label[-{back}]={label}" if named else f"label[-{back}]" for back in range(1, order + 1)
         for named, label in [*((True, label) for label in classes), (False, None)]]
    )  # fmt: skip


def _objects(items: list) -> np.ndarray:
    """A 1-D array of objects, tuples included."""
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out
