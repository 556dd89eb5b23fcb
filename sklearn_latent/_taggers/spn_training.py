# SPDX-License-Identifier: BSD-3-Clause
"""What `SPNCRFTagger` trains: options judged, label n-grams collected, the size estimated before there is a model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral

import numpy as np
import scipy.sparse as sp

from .._lattice import all_ngrams, seen_ngrams
from .._objective import ChainObjective, Chunk, LocalObjective
from .._objective.local import MOST_HISTORIES
from ..exceptions import ModelTooLargeError
from .model import TRAINING_VECTORS, machine_memory
from .options import allowed_moves, latent_counts, prior_scale
from .spn_model import LocalModel, NetworkShape, SPNModel
from .training import TrainingSet, first_impossible, refuse_forbidden

__all__ = ["build_local", "build_spn", "check_later", "factor_sizes", "network_shape"]

#: Weight-length vectors alive in training: of L-BFGS, and of the stochastic rules, which have moments and no history.
_VECTORS = {"lbfgs": TRAINING_VECTORS}
_FEW_VECTORS = 8
#: Bytes of an arc: its ends, score, factor and masses.
_ARC_BYTES = 64
#: Layers and labels beyond which nothing is counted: what is counted up to there is too much already.
_MOST_LAYERS, _MOST_ALL = 4096, 1024


def factor_sizes(factors) -> tuple[tuple[int, int], ...]:
    """The factors as pairs of numbers of tokens and labels.

    Raises
    ------
    ValueError
    """
    wrong = f"factors must hold pairs (m, n) of positive integers, m observations and n labels, got {factors!r}"
    if isinstance(factors, str) or not isinstance(factors, Iterable):
        raise ValueError(wrong)
    pairs = []
    for pair in factors:
        if isinstance(pair, str) or not isinstance(pair, Iterable):
            raise ValueError(wrong)
        pair = tuple(pair)
        if len(pair) != 2 or not all(
            isinstance(k, Integral) and not isinstance(k, (bool, np.bool_)) and int(k) > 0 for k in pair
        ):
            raise ValueError(wrong)
        pairs.append((int(pair[0]), int(pair[1])))
    if not pairs:
        raise ValueError("factors is empty: at least one factor has to see the features, such as (1, 1)")
    if len(set(pairs)) < len(pairs):
        raise ValueError(f"factors holds a pair twice: {factors!r}")
    return tuple(pairs)


def network_shape(tagger) -> NetworkShape:
    """The networks that the tagger's parameters ask for.

    Raises
    ------
    ValueError
        If parameters contradict each other.
    """
    try:
        name = np.dtype(tagger.dtype).name
    except TypeError:
        name = ""
    if tagger.dtype is None or name not in ("float64", "float32"):
        raise ValueError(f"dtype must be float64 or float32, got {tagger.dtype!r}")
    if tagger.tie_inputs and (tagger.n_layers < 1 or tagger.n_states < 2):
        raise ValueError(
            "tie_inputs=True needs n_layers >= 1 and n_states >= 2: hidden state 0 scores 0, and what the labels share "
            f"are the weights of the others; got n_layers={tagger.n_layers}, n_states={tagger.n_states}"
        )
    return NetworkShape(
        n_layers=int(tagger.n_layers),
        n_products=int(tagger.n_products),
        n_states=int(tagger.n_states),
        operator=tagger.operator,
        tied=bool(tagger.tie_inputs),
        single=name == "float32",
    )


def build_spn(tagger, data: TrainingSet) -> tuple[SPNModel, ChainObjective, list[Chunk]]:
    """The model without its weights, its objective, and the corpus cut into chunks.

    Raises
    ------
    ValueError
        If parameters contradict each other, or the constraints forbid the labels of a sequence.
    ModelTooLargeError
    """
    matrix, classes = data.X, data.classes
    shape, factors, order = network_shape(tagger), factor_sizes(tagger.factors), int(tagger.order)
    moves, start_allowed, end_allowed = allowed_moves(tagger.constraints, classes)
    n_latent = latent_counts(tagger.n_latent, classes)
    forbid = tagger.unseen == "forbid" and bool(tagger.sparse_factors)
    longest = max(order + 1, *(n for _, n in factors))
    # There is none with more labels than the longest sequence has; where others are forbidden, that has to be known.
    most = int(max(part.X.lengths.max() for part in data.parts)) + 1
    if not tagger.sparse_factors:
        _check_length(longest, len(classes))
        most = longest
    lengths = {*range(2, min(order + 1, most) + 1), *(n for _, n in factors if n > 1)}
    if forbid:
        lengths |= set(range(2, min(longest, most) + 1))
    counts = {n: len(classes) ** n if n <= most else 0 for n in lengths}
    model = SPNModel(shape, factors, order, matrix.n_features, n_latent, {}, forbid, moves, start_allowed, end_allowed)
    ngrams: dict[int, np.ndarray] = {}
    if tagger.sparse_factors:
        for n in sorted(lengths):
            if n > most:
                ngrams[n] = np.empty((0, n), dtype=np.int32)
                continue
            try:
                # Forbidden for good is what no sequence given shows; a weight needs a sequence that is learnt from.
                shown = data.parts if forbid else [data]
                found = [seen_ngrams(part.codes, part.X.offsets, n, len(classes), moves) for part in shown]
                ngrams[n] = found[0] if len(found) == 1 else np.unique(np.concatenate(found), axis=0)
            except OverflowError as error:
                raise ModelTooLargeError(
                    f"{error}; a smaller order, or factors over fewer labels, needs fewer"
                ) from None
            counts[n] = len(ngrams[n])
    elif moves is not None:
        counts = {n: _n_allowed(moves, n) for n in lengths}
    _check_size(tagger, model, counts)
    if not tagger.sparse_factors:
        ngrams = {n: all_ngrams(len(classes), n, moves) for n in sorted(lengths)}
    model.ngrams = ngrams
    objective = model.objective(sp.issparse(matrix.values), prior_scale(tagger.sigma))
    chunks = data.chunks(objective.scorer.row_bytes, objective.scorer.block_tokens)
    if tagger.constraints is not None:
        refuse_forbidden(tagger, model.featureless(), data, moves, start_allowed, end_allowed)
    return model, objective, chunks


def build_local(tagger, data: TrainingSet) -> tuple[LocalModel, LocalObjective, list[Chunk]]:
    """As `build_spn`, for a locally normalised model.

    Raises
    ------
    ValueError
        If a factor is over several labels, there are latent states, or the constraints forbid a sequence.
    ModelTooLargeError
    """
    matrix, classes = data.X, data.classes
    shape, factors, order = network_shape(tagger), factor_sizes(tagger.factors), int(tagger.order)
    if any(n > 1 for _, n in factors):
        raise ValueError(
            "normalization='local' takes factors (m, 1): the labels before are inputs of the networks; "
            f"got {tagger.factors!r}"
        )
    if (latent_counts(tagger.n_latent, classes) != 1).any():
        raise ValueError(f"normalization='local' has no latent chain states: n_latent is {tagger.n_latent!r}, not 1")
    rules = allowed_moves(tagger.constraints, classes)
    for part in data.parts:
        _check_unknown(part, order)
    model = LocalModel(shape, factors, order, matrix.n_features, len(classes), *rules)
    _check_size(tagger, model, {})
    objective = model.objective(sp.issparse(matrix.values), prior_scale(tagger.sigma))
    chunks = data.chunks(objective.scorer.row_bytes, objective.scorer.block_tokens)
    if tagger.constraints is not None:
        refuse_forbidden(tagger, model.featureless(), data, *rules)
    return model, objective, chunks


def check_later(tagger, model: SPNModel | LocalModel, data: TrainingSet) -> None:
    """Refuse sequences that a model made from earlier ones can't label so.

    Raises
    ------
    ValueError
    """
    forbid = isinstance(model, SPNModel) and model.forbid
    if model.moves is None and not forbid:
        return
    i = first_impossible(tagger, model.featureless(), data)
    if i is not None:
        why = "the constraints forbid them"
        if forbid:
            why = "unseen='forbid', and the first call of partial_fit did not show all of their n-grams, or " + why
        raise ValueError(f"the labels of y[{int(data.numbers[i])}] have probability zero: {why}")


def _check_unknown(data: TrainingSet, order: int) -> None:
    """Refuse more unknown labels among `order` ones than can be summed out along the histories that they leave."""
    unknown, offsets = np.concatenate([[0], np.cumsum(data.codes < 0)]), data.X.offsets
    if not unknown[-1]:
        return
    starts = np.repeat(offsets[:-1], data.X.lengths)
    ends = np.arange(1, len(data.codes) + 1)
    among = unknown[ends] - unknown[np.maximum(ends - max(1, order), starts)]
    most = int(among.max())
    if len(data.classes) ** most > MOST_HISTORIES:
        i = int(np.searchsorted(offsets, int(among.argmax()), side="right")) - 1
        raise ValueError(
            f"y[{int(data.numbers[i])}] has {most} unknown labels among {order} in a row: with normalization='local' "
            f"that leaves {len(data.classes)} ** {most} histories to sum over, more than {MOST_HISTORIES}"
        )


def _check_length(n: int, n_labels: int) -> None:
    """Refuse n-grams so long that to count them all would take long.

    Raises
    ------
    ModelTooLargeError
    """
    if n > _MOST_ALL:
        raise ModelTooLargeError(
            f"sparse_factors=False asks for all n-grams of up to {_count(n)} of the {n_labels} labels: more parameters "
            "and bytes than any machine has; sparse_factors=True, a smaller order, and factors over fewer labels make "
            "the model smaller"
        )


def _count(n: int) -> str:
    """A number of any size as a message shows it."""
    return f"{n:,}" if n < 10**15 else f"10**{int(math.log10(n))}"


def _n_allowed(moves: np.ndarray, n: int) -> int:
    """Number of sequences of `n` labels in which each may follow the one before."""
    ends = [1] * len(moves)
    for _ in range(n - 1):
        ends = [sum(e for e, may in zip(ends, column, strict=True) if may) for column in moves.T.tolist()]
    return sum(ends)


def _check_size(tagger, model: SPNModel | LocalModel, counts: dict[int, int]) -> None:
    """Refuse a model that this machine can't hold, before anything of its size is made.

    `counts` are the numbers of label n-grams of each length. Numbers are Python's: they may be beyond 64 bits.
    """
    shape, most, n_labels, history = model.shape, 1, model.n_labels, 0
    sizes = {1: n_labels, **counts}
    if isinstance(model, SPNModel):
        most = int(model.n_latent.max())
        n_params = 2 * model.n_units + sum(size * most * most for n, size in counts.items() if n <= model.order + 1)
    else:
        n_params, history = 0, model.order * (n_labels + 1)
    kept = 0
    # Layers beyond all measure are no chain either: they would be gone through one by one.
    fan = max(shape.n_products * shape.n_states, 2 if shape.n_layers > _MOST_LAYERS else 1)
    for m, n in model.factors:
        roots = sizes[n] * most
        leaves = roots * fan ** min(shape.n_layers, _MOST_LAYERS)
        columns = leaves // roots if shape.tied and roots else leaves
        n_params += (m * model.n_features + history) * columns + (
            2 * leaves + roots * shape.n_layers if shape.n_layers else 0
        )
        kept += leaves
    # Histories are beginnings of n-grams; each goes on with any label.
    longest = max(counts, default=1)
    n_states = most * (n_labels + sum(size for n, size in sizes.items() if 1 < n < longest))
    n_arcs = n_states * n_labels * most
    n_bytes = 8 * n_params * _VECTORS.get(tagger.solver, _FEW_VECTORS) + _ARC_BYTES * n_arcs + 128 * 8 * kept
    memory = machine_memory()
    if n_bytes > memory:
        raise ModelTooLargeError(
            f"the model would have {_count(n_params)} parameters ({_count(kept)} leaves of networks, about "
            f"{_count(n_states)} states) and training it takes about {_count(n_bytes)} bytes "
            f"({_count(n_bytes // 10**9)} GB), this machine has {memory / 1e9:,.1f} GB; sparse_factors=True, a smaller "
            "order, factors over fewer labels and tokens, smaller n_layers, n_products and n_states, tie_inputs=True, "
            "and fewer features make it smaller"
        )
