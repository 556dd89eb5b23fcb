# SPDX-License-Identifier: BSD-3-Clause
"""What the machine needs at least for one loss and gradient: bare products, and recursions by count.

``python -m benchmarks.workers.floor products CORPUS n_latent=H [edges=1] [mhz=CLOCK]``
``python -m benchmarks.workers.floor leaves CORPUS [dtype=float32] [order=2]``
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .common import Clock, done, main

#: Rows of the product over arcs at a time, so that its result is of the size of a chunk.
_ARC_ROWS = 1 << 19
#: Tokens at a time of the products of leaves: the fastest of 128, 256, ..., 2,048.
_LEAF_ROWS = 1024


def _median(call, repeats: int) -> np.ndarray:
    """Median wall and processor seconds."""
    seconds = []
    for _ in range(repeats):
        with Clock() as clock:
            call()
        seconds.append((clock.wall, clock.cpu))
    return np.median(seconds, axis=0)


def _arcs(X: sp.csr_array, corpus: dict) -> tuple[sp.csr_array, int]:
    """The product over arcs at the support that training shows.

    Weights are those of (feature, previous label, label) triples that occur, each with a block for the pairs of latent
    states. Its rows are the pairs of labels, at one token, that some feature of the token has weights for; each feature
    is alone at its token (word identity), so every row has a single entry.

    Returns
    -------
    csr_array of shape (n_rows, n_triples)
    n_rows : int
    """
    codes, n_labels = corpus["train_codes"].astype(np.int64), len(corpus["labels"])
    inner = np.ones(len(codes), dtype=bool)
    inner[corpus["train_offsets"][:-1][np.diff(corpus["train_offsets"]) > 0]] = False
    edges = X[:, corpus["word_columns"]].tocsr()
    assert np.diff(edges.indptr).max() == 1, "arcs are counted for one edge feature a token"
    feature = np.full(len(codes), -1, dtype=np.int64)
    feature[np.diff(edges.indptr) == 1] = edges.indices
    tokens = np.flatnonzero(inner & (feature >= 0))
    pair = codes[tokens - 1] * n_labels + codes[tokens]
    triples = np.unique(feature[tokens] * n_labels**2 + pair)
    start = np.searchsorted(triples, np.arange(edges.shape[1] + 1) * n_labels**2)
    counts = np.diff(start)[feature[tokens]]
    at = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    columns = (np.repeat(start[feature[tokens]], counts) + at).astype(np.int32)
    n = len(columns)
    return sp.csr_array((np.ones(n), columns, np.arange(n + 1)), shape=(n, len(triples))), n


def products(corpus: dict, n_latent=5, edges=0, repeats=5, mhz=2500.0) -> None:
    """Seconds of the products by SciPy, and of the recursions at one floating-point operation a cycle.

    Sparse: ``X @ W`` and ``X.T @ G`` with a column for each of the S states (every weight), the transposed matrix made
    beforehand. With edge features besides: the same two products over arcs at the observed support, with h x h columns.

    Recursions, a token: forward S^2 multiply-adds (a vector times the matrix of arc factors), backward S^2, arc masses
    S^2; without edge features the masses are an outer product summed over tokens, with them the forward vector times
    the factor times the backward vector. Clamped to the labels the same for h states instead of S. A multiply-add
    counts two, hence 6 (S^2 + h^2) operations. Exponentials, scaling, and what is linear in S are not counted: this is
    a floor.
    """
    h = int(n_latent)
    n_states = h * len(corpus["labels"])
    indices, ptr = corpus["train_indices"], corpus["train_ptr"]
    X = sp.csr_array((np.ones(len(indices)), indices, ptr), shape=(len(ptr) - 1, int(corpus["n_features"])))
    rng = np.random.default_rng(0)
    back = X.T.tocsr()
    W, G = rng.standard_normal((X.shape[1], n_states)), rng.standard_normal((X.shape[0], n_states))
    parts = {
        "forward": _median(lambda: X @ W, int(repeats)),
        "transposed": _median(lambda: back @ G, int(repeats)),
    }
    entries = X.nnz * n_states
    if int(edges):
        P, n_rows = _arcs(X, corpus)
        pieces = [P[k : k + _ARC_ROWS] for k in range(0, n_rows, _ARC_ROWS)]
        backs = [piece.T.tocsr() for piece in pieces]
        W, G = rng.standard_normal((P.shape[1], h * h)), rng.standard_normal((min(n_rows, _ARC_ROWS), h * h))
        parts["arcs forward"] = _median(lambda: [len(part @ W) for part in pieces], int(repeats))
        parts["arcs transposed"] = _median(lambda: [len(part @ G[: part.shape[1]]) for part in backs], int(repeats))
        entries += P.nnz * h * h
    flops = 6.0 * (n_states**2 + h**2) * X.shape[0]
    recursions = flops / (1e6 * float(mhz))
    wall, cpu = sum(parts.values()).tolist()
    done(
        seconds=wall + recursions,
        cpu=cpu + recursions,
        products=wall,
        parts={name: seconds.tolist() for name, seconds in parts.items()},
        recursions=recursions,
        flops=flops,
        mhz=float(mhz),
        multiply_adds=2 * entries,
        threads=1,
    )


def leaves(corpus: dict, dtype="float64", order=1, repeats=1) -> None:
    """Seconds of the dense products by NumPy that networks over handwriting need.

    Each once for the leaves and once for the derivatives of the weights. For order 2 also
    those of the networks over bigrams, from the window of two tokens.
    """
    n_layers, n_products, n_states = corpus["shape"].tolist()
    leaves, X = (n_products * n_states) ** n_layers, corpus["pixels"].astype(dtype)
    parts = [(X, len(corpus["labels"]) * leaves)]
    if int(order) == 2:
        before = np.zeros_like(X)
        before[1:] = X[:-1]
        before[corpus["offsets"][:-1]] = 0
        parts.append((np.hstack([X, before]), len(corpus["bigrams"]) * leaves))
    rng, wall, cpu = np.random.default_rng(0), 0.0, 0.0
    for rows, n in parts:
        W, steps = rng.random((rows.shape[1], n), dtype=dtype), range(0, len(rows), _LEAF_ROWS)
        out, grad = np.ones((_LEAF_ROWS, n), dtype=dtype), np.ones_like(W)

        def both(rows=rows, W=W, steps=steps, out=out, grad=grad) -> None:
            for a in steps:
                part = rows[a : a + _LEAF_ROWS]
                np.matmul(part, W, out=out[: len(part)])
                np.matmul(part.T, out[: len(part)], out=grad)

        spent = _median(both, int(repeats)).tolist()
        wall, cpu = wall + spent[0], cpu + spent[1]
    done(seconds=wall, cpu=cpu, threads=1, columns=[n for _, n in parts])


if __name__ == "__main__":
    main({"products": products, "leaves": leaves})
