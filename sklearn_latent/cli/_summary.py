# SPDX-License-Identifier: BSD-3-Clause
"""A fitted tagger summed up from its public attributes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["summary", "summary_text"]


def summary(tagger, top: int, chosen: list[str]) -> dict:
    """What `inspect` shows.

    Parameters
    ----------
    tagger : LatentCRFTagger or SPNCRFTagger
        Fitted.
    top : int
        Features and transitions of each kind.
    chosen : list of str
        Labels whose features are shown.

    Returns
    -------
    dict
        Of JSON's kinds alone. ``features`` is None where features enter through networks.
    """
    labels = [str(label) for label in tagger.classes_.tolist()]
    coef = _coef(tagger)
    unit_labels = _unit_labels(tagger, len(labels))
    return {
        "tagger": repr(tagger),
        "iterations": int(tagger.n_iter_),
        "objective": None if np.isnan(tagger.objective_) else float(tagger.objective_),
        "converged": bool(tagger.converged_),
        "n_features": int(tagger.n_features_in_),
        "n_states": len(tagger.state_labels_),
        "n_weights": _sizes(tagger, coef),
        "labels": {label: np.flatnonzero(unit_labels == k).tolist() for k, label in enumerate(labels)},
        "transitions": _transitions(tagger, labels, unit_labels, top),
        "features": None if coef is None else _features(tagger, coef, labels, unit_labels, top, chosen),
    }


def _coef(tagger) -> np.ndarray | None:
    """Weights of features on units, or None where there are networks between them."""
    try:
        return tagger.coef_
    except AttributeError:
        return None


def _unit_labels(tagger, n_labels: int) -> np.ndarray:
    """Label of each unit: of the states, or where states are histories, of the latent states of all labels."""
    states = np.asarray(tagger.state_labels_)
    if len(getattr(tagger, "transition_coef_", states)) == len(states):
        return states
    counts = tagger.n_latent if isinstance(tagger.n_latent, dict) else dict.fromkeys(tagger.classes_, tagger.n_latent)
    return np.repeat(np.arange(n_labels), [counts.get(label, 1) for label in tagger.classes_.tolist()])


def _sizes(tagger, coef: np.ndarray | None) -> dict[str, int]:
    """Weights other than zero of each kind."""
    kinds = {"features": coef}
    for kind in ("transition", "start", "end", "edge", "ngram", "factor"):
        kinds[kind] = getattr(tagger, f"{kind}_coef_", None)
    if coef is not None:
        del kinds["factor"]  # the same, by another name
    return {kind: n for kind, values in kinds.items() if (n := _n_weights(values))}


def _n_weights(values) -> int:
    if values is None:
        return 0
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, list):
        return sum(map(_n_weights, values))
    return int(values.count_nonzero() if sp.issparse(values) else np.count_nonzero(values))


def _transitions(tagger, labels: list[str], unit_labels: np.ndarray, top: int) -> list[dict] | None:
    """Label pairs of the largest and smallest weights, each the mean over the pairs of their states."""
    weights = getattr(tagger, "transition_coef_", None)
    if weights is None:
        return None
    share = (unit_labels[None, :] == np.arange(len(labels))[:, None]) / np.bincount(unit_labels)[:, None]
    means = share @ weights @ share.T
    order = _extremes(means.ravel(), top)
    pairs = [divmod(k, len(labels)) for k in order]
    return [{"from": labels[a], "to": labels[b], "weight": float(means[a, b])} for a, b in pairs]


def _features(tagger, coef, labels: list[str], unit_labels, top: int, chosen: list[str]) -> dict[str, dict]:
    names = getattr(tagger, "feature_names_in_", None)

    def named(weights: np.ndarray, order: list[int]) -> list[list]:
        return [[f"feature {k}" if names is None else str(names[k]), float(weights[k])] for k in order]

    out = {}
    for label in chosen:
        units = np.flatnonzero(unit_labels == labels.index(label))
        own = coef[:, units]
        mean = own.mean(axis=1)
        states = {}
        if len(units) > 1:
            for unit, weights in zip(units.tolist(), (own - mean[:, None]).T, strict=True):
                states[str(unit)] = named(weights, _largest(weights, top))
        out[label] = {"weights": named(mean, _extremes(mean, top)), "states": states}
    return out


def _largest(values: np.ndarray, top: int) -> list[int]:
    """Indices of the largest positive values, largest first; of equal ones those that come first."""
    order = np.argsort(-values, kind="stable")[:top]
    return [k for k in order.tolist() if values[k] > 0]


def _extremes(values: np.ndarray, top: int) -> list[int]:
    """Indices of the largest positive values, then of the smallest negative ones, smallest last."""
    return [*_largest(values, top), *_largest(-values, top)[::-1]]


def summary_text(shown: dict) -> str:
    """A summary and the size of its file as text for people."""
    labels = shown["labels"]
    n_units = sum(map(len, labels.values()))
    weights = ", ".join(f"{n:,} {kind}" for kind, n in shown["n_weights"].items())
    state = "converged" if shown["converged"] else "not converged"
    objective = "" if shown["objective"] is None else f", objective {shown['objective']:.6g}"
    lines = [
        f"{shown['file']}, {shown['bytes'] / 1e6:.1f} MB",
        shown["tagger"],
        "",
        f"labels    {len(labels)}",
        f"states    {shown['n_states']}",
        f"features  {shown['n_features']:,}",
        f"weights   {weights} (other than zero)",
        f"training  {shown['iterations']} iterations{objective}, {state}",
        "",
        "label and its latent states" if n_units > len(labels) else "labels",
    ]
    width = max(map(len, labels))
    for label, units in labels.items():
        lines.append(f"  {label:<{width}}  {', '.join(map(str, units)) if n_units > len(labels) else ''}".rstrip())
    if shown["transitions"]:
        lines += ["", "transitions (mean over the states of the two labels)"]
        lines += [f"  {row['weight']:+8.3f}  {row['from']} -> {row['to']}" for row in shown["transitions"]]
    if shown["features"] is None:
        lines += ["", "features enter through networks: see factor_coef_ of the loaded model"]
    for label, found in (shown["features"] or {}).items():
        lines += ["", f"features of {label}", *_weight_lines(found["weights"], "  ")]
        for unit, rows in found["states"].items():
            lines += [f"  state {unit}, more than {label} on the whole", *_weight_lines(rows, "    ")]
    return "\n".join(lines) + "\n"


def _weight_lines(rows: list[list], indent: str) -> list[str]:
    return [f"{indent}{weight:+8.3f}  {name}" for name, weight in rows]
