# SPDX-License-Identifier: BSD-3-Clause
"""Slow answers about sum-product networks: every assignment of the hidden variables, and a recursion in plain numpy."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from sklearn_latent._scorers.circuit import Circuit

__all__ = ["circuits", "enumerated", "offset_of", "params_of", "recursive", "unpacked", "window"]


@st.composite
def circuits(draw, dtype=np.float64, small: bool = False) -> Circuit:
    """Draw shapes; `small`: assignments can be listed."""
    n_layers = draw(st.integers(0, 2 if small else 3))
    products = draw(st.integers(1, 2 if small or n_layers > 2 else 4))
    tied = n_layers > 0 and draw(st.booleans())
    return Circuit(
        n_features=draw(st.integers(0, 5)),
        n_roots=draw(st.integers(1, 4)),
        n_layers=n_layers,
        n_products=products,
        n_states=draw(st.integers(2 if tied else 1, 2 if small and n_layers == 2 else 3)),
        n_observations=draw(st.integers(1, 3)),
        n_extra=draw(st.sampled_from([0, 0, 3])),
        operator=draw(st.sampled_from(["sum", "max"])),
        tied=tied,
        dtype=np.dtype(dtype),
        joint=draw(st.booleans()),
    )


def params_of(circuit: Circuit, seed: int, scale: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: scale * rng.standard_normal(shape) for name, shape in circuit.shapes.items()}


def window(circuit: Circuit, X: np.ndarray, offsets: np.ndarray, extra: np.ndarray | None) -> np.ndarray:
    """Rows of the tokens of the window, the current one first, zeros beyond the sequence, and the extra columns."""
    out = []
    for first, last in zip(offsets[:-1], offsets[1:], strict=True):
        for t in range(first, last):
            rows = [
                X[t - back] if t - back >= first else np.zeros(X.shape[1]) for back in range(circuit.n_observations)
            ]
            out.append(np.concatenate(rows + ([] if extra is None else [extra[t]])))
    return np.array(out).reshape(len(X), circuit.n_rows)


def unpacked(circuit: Circuit, params: dict[str, np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weights (roots, I, H, ..., I, H, rows) and biases (roots, I, H, ...) of each level, in reading order.

    Tied weights come once for each root; state 0 of the last layer then has zeros.
    """
    products, H, L, R = circuit.n_products, circuit.n_states, circuit.n_layers, circuit.n_roots
    stored = [H, products] * L + [R]
    columns = np.zeros((circuit.n_rows, circuit.n_leaves))
    free = slice(circuit.n_leaves - circuit.n_free, None)
    columns[:, free] = np.repeat(params["coef"], R, axis=1) if circuit.tied else params["coef"]
    coef = columns.reshape([circuit.n_rows, *stored]).T
    biases, at = [], 0
    for level, width in enumerate(circuit.widths):
        flat = np.zeros(width)
        if L:
            n = circuit.n_free if level == L else width
            flat[width - n :] = params["bias"][at : at + n]
            at += n
        biases.append(flat.reshape([H, products] * level + [R]).T)
    return coef, biases


def enumerated(circuit: Circuit, params: dict[str, np.ndarray], x: np.ndarray, root: int) -> float:
    """Score of a root for one row: each assignment of every hidden variable has the sum of the scores on its paths."""
    coef, biases = unpacked(circuit, params)
    products, H, L = circuit.n_products, circuit.n_states, circuit.n_layers
    variables = [path for level in range(1, L + 1) for path in product(range(products), repeat=level)]
    if not L:
        return float(coef[root] @ x)
    scores = []
    for states in product(range(H), repeat=len(variables)):
        state = dict(zip(variables, states, strict=True))
        score = biases[0][root]
        for variable in variables:
            path = [k for level in range(len(variable)) for k in (variable[level], state[variable[: level + 1]])]
            score += biases[len(variable)][(root, *path)]
            if len(variable) == L:
                score += coef[(root, *path)] @ x
        scores.append(score)
    top = max(scores)
    total = top if circuit.use_max else top + np.log(np.exp(np.array(scores) - top).sum())
    return float(total - offset_of(circuit))


def offset_of(circuit: Circuit) -> float:
    """Score of a root at zero weights: the logarithm of the number of assignments."""
    products, H, L = circuit.n_products, circuit.n_states, circuit.n_layers
    return sum(products**level for level in range(1, L + 1)) * np.log(H) if circuit.operator == "sum" else 0.0


def recursive(circuit: Circuit, params: dict[str, np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Scores of the roots, (n_rows, n_roots), level by level (papers.md 2.1)."""
    coef, biases = unpacked(circuit, params)
    value = np.tensordot(rows, coef, axes=[1, -1])
    if not circuit.n_layers:
        return value
    for bias in biases[:0:-1]:
        value = value + bias
        top = value.max(axis=-1)
        if not circuit.use_max:
            top = top + np.log(np.exp(value - top[..., None]).sum(axis=-1))
        value = top.sum(axis=-1)
    return value + biases[0] - offset_of(circuit)
