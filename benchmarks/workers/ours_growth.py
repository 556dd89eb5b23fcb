# SPDX-License-Identifier: BSD-3-Clause
"""Fits of corpora made larger, longer, or richer in labels.

``python -m benchmarks.workers.ours_growth fit CORPUS [key=value ...]``
"""

from __future__ import annotations

import gc

import numpy as np
import scipy.sparse as sp

from sklearn_latent import SequenceMatrix
from sklearn_latent._optim.lbfgs import HISTORY
from sklearn_latent._threads import BLOCK_TOKENS, CHUNK_BYTES

from .common import Clock, Stamps, done, forget_peak, main, peak_mb, resident_mb
from .ours import fitted


def grown(corpus: dict, repeat: int, length: int, n_tokens: int, split: int) -> tuple[SequenceMatrix, list[list[str]]]:
    """A corpus over and over, cut into sequences of equal length, its labels split at random.

    Parameters
    ----------
    corpus : dict
    repeat : int
        How often the training part is taken.
    length, n_tokens : int
        With a length, `n_tokens` tokens in sequences of so many; 0: the corpus's own sequences.
    split : int
        Labels that stand for each label, drawn with equal probability.
    """
    indices, ptr = corpus["train_indices"], corpus["train_ptr"].astype(np.int64)
    lengths, codes = np.diff(corpus["train_offsets"]), corpus["train_codes"]
    if length:
        repeat = -(-n_tokens // len(codes))
    indices, codes, lengths = np.tile(indices, repeat), np.tile(codes, repeat), np.tile(lengths, repeat)
    ptr = np.concatenate([[0], np.cumsum(np.tile(np.diff(ptr), repeat))])
    if length:
        ptr, codes = ptr[: n_tokens + 1], codes[:n_tokens]
        indices, lengths = indices[: ptr[-1]], np.full(n_tokens // length, length)
    # As the vectorizers have it, and half the memory: 32 bits while they do.
    ptr = ptr.astype(np.int32 if ptr[-1] < 1 << 31 else np.int64)
    values = sp.csr_array((np.ones(len(indices)), indices, ptr), shape=(len(ptr) - 1, int(corpus["n_features"])))
    names = corpus["labels"]
    if split > 1:
        codes = codes * split + np.random.default_rng(0).integers(split, size=len(codes))
        names = np.array([f"{name}/{k}" for name in names.tolist() for k in range(split)])
    flat, bounds = names[codes].tolist(), np.concatenate([[0], np.cumsum(lengths)]).tolist()
    y = [flat[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
    return SequenceMatrix(values, lengths), y


def fit(
    corpus: dict, repeat=1, length=0, n_tokens=0, split=1, n_latent=1, support="observed", max_iter=3, threads=1
) -> None:
    """Time and memory of a fit of a few iterations.

    *matrix_mb* is what the features take before; *fit_mb* what `fit` takes at its peak on top of everything that was
    there before it; *buffers_mb* what the work arrays of a chunk and of the blocks in work should take.
    """
    X, y = grown(corpus, int(repeat), int(length), int(n_tokens), int(split))
    corpus.clear()
    gc.collect()
    forget_peak()
    before, stamps = resident_mb(), Stamps()
    with Clock() as clock:
        model = fitted(
            X, y, n_latent=int(n_latent), support=support, max_iter=int(max_iter), tol=0.0, n_jobs=int(threads),
            callback=stamps,
        )  # fmt: skip
    peak = peak_mb()
    n_states, longest = len(model.state_labels_), int(np.diff(X.offsets).max())
    n_weights = sum(v.size for v in model._model.params.values())
    row = 8 * n_states
    # One array a chunk; for each thread six of a block: scores, factors, masses, and what the walk needs.
    buffers = min(CHUNK_BYTES, X.n_tokens * row) + 6 * int(threads) * max(BLOCK_TOKENS, longest) * row
    arrays = (X.values.data, X.values.indices, X.values.indptr)
    done(
        seconds=clock.wall,
        cpu=clock.cpu,
        threads=int(threads),
        **stamps.report(),
        n_iter=model.n_iter_,
        objective=model.objective_,
        n_tokens=X.n_tokens,
        n_sequences=len(X),
        n_labels=len(model.classes_),
        n_states=n_states,
        n_weights=n_weights,
        history=HISTORY,
        before_mb=before,
        matrix_mb=sum(array.nbytes for array in arrays) / 1e6,
        fit_mb=peak - before,
        weights_mb=3 * HISTORY * 8 * n_weights / 1e6,
        buffers_mb=buffers / 1e6,
        peak_mb=peak,
    )


if __name__ == "__main__":
    main({"fit": fit})
