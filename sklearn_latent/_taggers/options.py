# SPDX-License-Identifier: BSD-3-Clause
"""The one place where the estimators' short names and options become objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._compat import Interval, StrOptions, validate_parameter_constraints
from .._decoding import (
    DECODERS,
    ApproximateLDIDecoder,
    BayesRiskDecoder,
    Decoder,
    ExactLDIDecoder,
)
from ..exceptions import ModelTooLargeError
from ..metrics._chunks import SCHEMES as CHUNK_SCHEMES

__all__ = [
    "DECODE_CONSTRAINTS",
    "MOST_SEARCH",
    "SCHEMES",
    "allowed_moves",
    "check_scheme",
    "class_weights",
    "edge_feature_indices",
    "latent_counts",
    "make_decoder",
    "prior_scale",
]

#: Options of `decode` and what they may be; the estimators' parameters of the same names obey the same rules.
DECODE_CONSTRAINTS: dict[str, list] = {
    "decoder": [StrOptions(set(DECODERS))],
    "n_paths": [Interval(Integral, 1, None, closed="left")],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "mbr_metric": [StrOptions({"chunk_f1", "token_accuracy"}), callable],
    "max_search": [Interval(Integral, 0, None, closed="left")],
    "epsilon": [Interval(Real, 0, None, closed="left")],
}

#: More than any search does; products of these with the length of a sequence still fit into 64 bits.
MOST_PATHS, MOST_SEARCH = 1 << 31, 1 << 60

#: Latent states of a label: more, and their number alone is beyond what arrays hold.
_MOST_LATENT = 1 << 31

#: Chunk schemes that `constraints` knows by name.
SCHEMES = ("iob1", "iob2", "iobes", "bilou")


def make_decoder(options: dict[str, Any], labels: list, scheme: str | None) -> Decoder:
    """Decoder object from checked options (the keys of `DECODE_CONSTRAINTS`)."""
    validate_parameter_constraints(DECODE_CONSTRAINTS, options, caller_name="decode")
    kind = DECODERS[options["decoder"]]
    n_paths, max_search = min(int(options["n_paths"]), MOST_PATHS), min(int(options["max_search"]), MOST_SEARCH)
    if kind is ExactLDIDecoder:
        return ExactLDIDecoder(max_search, float(options["epsilon"]))
    if kind is ApproximateLDIDecoder:
        return ApproximateLDIDecoder(n_paths, float(options["alpha"]), max_search)
    if kind is BayesRiskDecoder:
        return BayesRiskDecoder(n_paths, options["mbr_metric"], max_search, labels=labels, scheme=scheme)
    return kind()


def check_scheme(scheme: Any) -> str:
    """A labelling scheme by name.

    Raises
    ------
    ValueError
    """
    if not isinstance(scheme, str) or scheme not in CHUNK_SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(CHUNK_SCHEMES)}; got {scheme!r}")
    return scheme


def latent_counts(n_latent: int | Mapping, classes: list) -> np.ndarray:
    """Latent states of each class, (n_classes,); a mapping's missing labels get one, its unknown ones are ignored.

    Raises
    ------
    ValueError
        If a mapping holds a count that is not a positive integer.
    ModelTooLargeError
        If a count alone is beyond any machine.
    """
    counts = n_latent.values() if isinstance(n_latent, Mapping) else [n_latent]
    if any(isinstance(count, Integral) and int(count) > _MOST_LATENT for count in counts):
        raise ModelTooLargeError(
            f"n_latent asks for more than {_MOST_LATENT:,} latent states of a label, more parameters and bytes than "
            "any machine has; a smaller n_latent makes the model smaller"
        )
    if not isinstance(n_latent, Mapping):
        return np.full(len(classes), int(n_latent), dtype=np.int64)
    for label, count in n_latent.items():
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(f"n_latent[{label!r}] must be a positive integer, got {count!r}")
    return np.array([int(n_latent.get(label, 1)) for label in classes], dtype=np.int64)


def class_weights(class_weight: Any, classes: list, codes: np.ndarray) -> np.ndarray | None:
    """Weight of each class, (n_classes,), or None for no weighting.

    Raises
    ------
    ValueError
        If a weight is negative or not finite.
    """
    if class_weight is None:
        return None
    if class_weight == "balanced":
        counts = np.bincount(codes[codes >= 0], minlength=len(classes))
        return counts.sum() / (len(classes) * np.maximum(counts, 1))
    for label, weight in class_weight.items():
        if not isinstance(weight, Real):
            raise ValueError(f"class_weight[{label!r}] is {weight!r}; weights are numbers")
    weights = np.array([float(class_weight.get(label, 1.0)) for label in classes])
    if not np.isfinite(weights).all() or (weights < 0).any():
        k = int(np.flatnonzero(~np.isfinite(weights) | (weights < 0))[0])
        raise ValueError(f"class_weight[{classes[k]!r}] is {weights[k]}; weights are finite and not negative")
    return weights


def edge_feature_indices(
    edge_features: bool | Callable | Collection, n_features: int, names: Callable[[], np.ndarray | None]
) -> np.ndarray:
    """Indices of the features with weights on edges, sorted, int64.

    Parameters
    ----------
    edge_features : bool, callable or collection of int or str
    n_features : int
    names : callable
        Gives the feature names, or None where they are not known; asked only when needed.

    Raises
    ------
    ValueError
        If an index is out of range, a name is not a feature, or names are needed and not known.
    """
    if isinstance(edge_features, (bool, np.bool_)):
        return np.arange(n_features if edge_features else 0, dtype=np.int64)
    wants_names = callable(edge_features) or any(isinstance(f, str) for f in edge_features)
    known = names() if wants_names else None
    if wants_names and known is None:
        raise ValueError("edge_features asks for feature names, but X comes without any")
    if callable(edge_features):
        return np.flatnonzero([bool(edge_features(name)) for name in known]).astype(np.int64)
    column = {} if known is None else {name: k for k, name in enumerate(known)}
    indices = []
    for f in edge_features:
        if isinstance(f, str):
            if f not in column:
                raise ValueError(f"edge_features names {f!r}, which is not a feature")
            indices.append(column[f])
        elif isinstance(f, (int, np.integer)) and not isinstance(f, bool) and 0 <= f < n_features:
            indices.append(int(f))
        else:
            raise ValueError(f"edge_features holds {f!r}; features are names or indices from 0 to {n_features - 1}")
    return np.unique(np.array(indices, dtype=np.int64))


def allowed_moves(
    constraints: str | Collection | None, classes: list
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Which label may follow which, start and end a sequence.

    Returns
    -------
    moves : ndarray of bool of shape (n_classes, n_classes) or None
        [from, to]; None: no constraint.
    start, end : ndarray of bool of shape (n_classes,) or None

    Raises
    ------
    ValueError
        If a scheme is named and a label is outside it, or an entry is not a pair.
    """
    if constraints is None:
        return None, None, None
    if isinstance(constraints, str):
        return _scheme_moves(constraints, classes)
    n = len(classes)
    code = {label: k for k, label in enumerate(classes)}
    moves = np.zeros((n, n), dtype=bool)
    start, end = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    names_start = names_end = False
    for pair in constraints:
        if isinstance(pair, str) or not isinstance(pair, Collection) or len(pair) != 2:
            raise ValueError(f"constraints must hold (from, to) label pairs, got {pair!r}")
        a, b = tuple(pair)
        if a is None and b is None:  # the empty sequence, which is always allowed
            continue
        names_start |= a is None
        names_end |= b is None
        if a is None and b in code:
            start[code[b]] = True
        elif b is None and a in code:
            end[code[a]] = True
        elif a in code and b in code:
            moves[code[a], code[b]] = True
    return moves, start if names_start else None, end if names_end else None


def _scheme_moves(scheme: str, classes: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    prefixes = set(CHUNK_SCHEMES[scheme].prefixes)
    parts = []
    for label in classes:
        prefix, _, kind = label.partition("-") if isinstance(label, str) else ("", "", "")
        if label != "O" and prefix not in prefixes:
            raise ValueError(
                f"constraints={scheme!r}, but the label {label!r} is not one of that scheme: expected 'O' or a prefix "
                f"({', '.join(CHUNK_SCHEMES[scheme].prefixes)}) and a type, such as 'B-NP'"
            )
        parts.append((prefix, kind))
    follows = _FOLLOWS[scheme]
    moves = np.array([[follows(a, b) for b in parts] for a in parts], dtype=bool).reshape(len(parts), len(parts))
    outside = ("O", "")
    start = np.array([follows(outside, b) for b in parts], dtype=bool)
    end = np.array([follows(a, outside) for a in parts], dtype=bool)
    return moves, start, end


def _iob1(a: tuple[str, str], b: tuple[str, str]) -> bool:
    # B only parts two adjacent chunks of one type.
    return b[0] != "B" or (a[0] != "O" and a[1] == b[1])


def _iob2(a: tuple[str, str], b: tuple[str, str]) -> bool:
    return b[0] != "I" or (a[0] != "O" and a[1] == b[1])


def _closed(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Schemes that mark both ends: inside a chunk one goes on with its type, outside one may not."""
    inside = a[0] in ("B", "I")
    continues = b[0] in ("I", "E", "L")
    return inside == continues and (not inside or a[1] == b[1])


_FOLLOWS = {"iob1": _iob1, "iob2": _iob2, "iobes": _closed, "bilou": _closed}


def prior_scale(sigma: float) -> float:
    """Return `sigma` where its square is a number, ``inf`` where the prior is as good as off."""
    with np.errstate(over="ignore", under="ignore"):
        square = np.square(np.float64(sigma))
    if square < np.finfo(float).tiny:
        raise ValueError(f"sigma={sigma!r} is too small: its square is beyond floating point")
    return float(sigma) if np.isfinite(square) else np.inf
