# SPDX-License-Identifier: BSD-3-Clause
"""The recipe of training: a model and its objective, a start, a solver, and who watches it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._objective import Chunk, SampledObjective
from .._optim import STEPPERS, Report, Result, Stepper, Watch, minimize_lbfgs, minimize_stochastic
from .._sequences import SequenceMatrix
from .._threads import Workers, one_blas_thread
from .options import prior_scale

__all__ = [
    "Earlier",
    "TrainingSet",
    "first_impossible",
    "make_stepper",
    "random_start",
    "refuse_forbidden",
    "run_pass",
    "train",
]


@dataclass(frozen=True)
class TrainingSet:
    """Sequences that all have tokens and weight.

    Attributes
    ----------
    X : SequenceMatrix
    codes : ndarray of int32 of shape (n_tokens,)
        Label ids, -1 where unknown.
    weight : ndarray of float64 of shape (n_sequences,)
    classes : list
        Label of each id.
    numbers : ndarray of int of shape (n_sequences,)
        Each sequence's number in the user's X, for messages.
    rest : TrainingSet or None
        What `early_stopping` holds out: nothing is learnt from it, but its labels have to be possible.
    """

    X: SequenceMatrix
    codes: np.ndarray
    weight: np.ndarray
    classes: list
    numbers: np.ndarray
    rest: TrainingSet | None = None

    @property
    def parts(self) -> list[TrainingSet]:
        """These sequences, and those held out."""
        return [self] if self.rest is None else [self, self.rest]

    def part(self, chosen: np.ndarray) -> TrainingSet:
        """Some of the sequences, in the order given."""
        codes = self.codes[self.X._rows_of(chosen)]
        return TrainingSet(self.X[chosen], codes, self.weight[chosen], self.classes, self.numbers[chosen])

    def chunks(self, row_bytes: int, block_tokens: int | None = None) -> list[Chunk]:
        """The sequences cut as `Chunk.cut` does."""
        return Chunk.cut(self.X.values, self.codes, self.X.offsets, self.weight, row_bytes, block_tokens)

    def weighted(self) -> TrainingSet:
        """The sequences of positive weight: class weights may have made some zero."""
        return self if self.weight.all() else self.part(np.flatnonzero(self.weight))


@dataclass(frozen=True)
class Earlier:
    """A fitted model to start from, and the column that each of its features has now (-1: none)."""

    model: Any
    columns: np.ndarray


def train(
    tagger, data: TrainingSet, rng: np.random.RandomState, earlier: Earlier | None = None
) -> tuple[Any, Result, list[float]]:
    """Fit a model; returns it, how the solver ended, and the scores of the validation part after each iteration."""
    if tagger.early_stopping:
        data = _split(data, tagger.validation_fraction, rng)
    model, objective, chunks = tagger._build(data)
    with one_blas_thread(), Workers(tagger.n_jobs) as workers:
        score = None if data.rest is None else _validation_score(objective, data.rest, workers)
        best: tuple[Result, list[float]] | None = None
        restarts = tagger.n_init if earlier is None and not model.one_optimum else 1
        for k in range(restarts):
            report = Report(int(tagger.verbose), tagger.callback, tagger.max_iter)
            report.line(
                f"{model.topology.n_states} states, {objective.packing.size:,} weights, {data.X.n_tokens:,} tokens"
                + (f", start {k + 1}" if restarts > 1 else "")
            )
            watch = None if score is None else Watch(score, tagger.n_iter_no_change, report)
            start = _start(tagger, model, objective, rng, earlier)
            result = _solve(tagger, objective, data, chunks, start, rng, report, watch, workers)
            if best is None or result.objective < best[0].objective or np.isnan(best[0].objective):
                best = result, [] if watch is None else watch.scores
            if result.stopped:
                break
    result, scores = best
    if not (np.isfinite(result.objective) and np.isfinite(result.x).all()):
        raise ValueError(
            f"training ran into numbers beyond floating point (objective {result.objective}): "
            "bring the features, sample_weight and class_weight to a moderate scale, such as 1"
        )
    model.params = {name: value.copy() for name, value in objective.packing.views(result.x).items()}
    return model, result, scores


def run_pass(tagger, data: TrainingSet, model, x: np.ndarray, stepper: Stepper, seen: float, seed: int):
    """One pass of a stochastic solver over some sequences, for `partial_fit`.

    Parameters
    ----------
    tagger : estimator
    data : TrainingSet
    model : object
        Its shape.
    x : ndarray
        The solver's point.
    stepper : Stepper
    seen : float
        Weight of all sequences so far, these included: the prior is spread over it.
    seed : int

    Returns
    -------
    Result
        Its `x` is the solver's new point.
    """
    objective = model.objective(sp.issparse(data.X.values), prior_scale(tagger.sigma))
    report = Report(int(tagger.verbose), tagger.callback, 1)
    with one_blas_thread(), Workers(tagger.n_jobs) as workers:
        return minimize_stochastic(
            SampledObjective(objective, data.X, data.codes, data.weight, workers), x, stepper,
            max_iter=1, tol=float(tagger.tol), n_iter_no_change=1,
            rng=np.random.RandomState(seed), report=report, prior_weight=seen,
        )  # fmt: skip


def make_stepper(tagger, state: dict | None = None) -> Stepper:
    """The update rule that the tagger's solver names; ADF takes sequences one at a time."""
    batch_size = 1 if tagger.solver == "adf" else int(tagger.batch_size)
    stepper = STEPPERS[tagger.solver](tagger.learning_rate, batch_size)
    if state is not None:
        # Rules write into their arrays, and those of a memory-mapped model file are read-only.
        for name, value in state.items():
            if isinstance(value, np.ndarray) and not value.flags.writeable:
                state[name] = value.copy()
        stepper.state = state
    return stepper


def _solve(tagger, objective, data, chunks, start, rng, report, watch, workers) -> Result:
    free: list[np.ndarray] = []

    def fun(theta: np.ndarray) -> tuple[float, np.ndarray]:
        return objective.value_and_grad(theta, chunks, workers, free.pop() if free else None)

    if tagger.solver == "lbfgs":
        options = {"max_iter": tagger.max_iter, "tol": tagger.tol, "report": report, "watch": watch}
        return minimize_lbfgs(fun, start, run=workers.map, recycle=free.append, **options)
    stepper, sampled = make_stepper(tagger), SampledObjective(objective, data.X, data.codes, data.weight, workers)
    result = minimize_stochastic(
        sampled, start, stepper,
        max_iter=tagger.max_iter, tol=tagger.tol,
        n_iter_no_change=tagger.n_iter_no_change, rng=rng, report=report, watch=watch,
    )  # fmt: skip
    # The curve holds what the batches saw on the way; the objective of the answer is the real one.
    answer = stepper.answer(result.x) if watch is None or watch.best is None else watch.best
    value = objective.loss(answer, chunks, workers) + 0.5 * sampled.precision * float(answer @ answer)
    return replace(result, x=answer, objective=value)


def random_start(tagger, model, objective, rng: np.random.RandomState) -> np.ndarray:
    """The weights that training begins with; what is drawn depends on their number and the generator alone."""
    return model.start(objective.packing, float(tagger.init_scale), rng)


def _start(tagger, model, objective, rng, earlier: Earlier | None) -> np.ndarray:
    """A random start, and where there is an earlier model, its weights."""
    start = random_start(tagger, model, objective, rng)
    if earlier is not None:
        model.take(earlier.model, earlier.columns, objective.packing.views(start))
    return start


def _split(data: TrainingSet, fraction: float, rng) -> TrainingSet:
    """Training part, with the validation part as its rest, at least one sequence each."""
    n = len(data.X)
    if n < 2:
        raise ValueError(f"early_stopping needs at least 2 sequences with tokens and weight, got {n}")
    n_held_out = min(n - 1, max(1, round(fraction * n)))
    order = rng.permutation(n)
    training = data.part(np.sort(order[n_held_out:]))
    if (training.codes < 0).all():
        raise ValueError("early_stopping left no known label to train on; a smaller validation_fraction may do")
    return replace(training, rest=data.part(np.sort(order[:n_held_out])))


def _validation_score(objective, data: TrainingSet, workers: Workers):
    """Mean log-likelihood a token of the validation part, as a function of the weights."""
    chunks = data.chunks(objective.scorer.row_bytes, objective.scorer.block_tokens)
    tokens = float(data.weight @ data.X.lengths)

    def score(theta: np.ndarray) -> float:
        return -objective.loss(theta, chunks, workers) / tokens

    return score


def first_impossible(tagger, objective, data: TrainingSet) -> int | None:
    """Position of the first sequence whose labels have probability zero when all weights are zero, or None."""
    chunks = data.chunks(objective.scorer.row_bytes)
    with one_blas_thread(), Workers(tagger.n_jobs) as workers:
        return objective.impossible_sequence(np.zeros(objective.packing.size), chunks, workers)


def refuse_forbidden(tagger, objective, data: TrainingSet, moves, start, end) -> None:
    """Say where the constraints forbid labels that are learnt from or held out.

    Raises
    ------
    ValueError
    """
    for part in data.parts:
        i = first_impossible(tagger, objective, part)
        if i is not None:
            _refuse(part, i, moves, start, end)


def _refuse(data: TrainingSet, i: int, moves, start, end) -> None:
    """Say where the constraints forbid the labels of sequence `i`.

    Raises
    ------
    ValueError
    """
    classes, codes = data.classes, data.codes[data.X.offsets[i] : data.X.offsets[i + 1]]
    i = int(data.numbers[i])
    label = [None if c < 0 else classes[c] for c in codes.tolist()]
    last = len(codes) - 1
    where = "the unknown labels can't be filled in"
    for t, c in enumerate(codes.tolist()):
        if c < 0:
            continue
        if t == 0 and start is not None and not start[c]:
            where = f"y[{i}][0] is {label[0]!r}, which can't start a sequence"
        elif t > 0 and codes[t - 1] >= 0 and not moves[codes[t - 1], c]:
            where = f"y[{i}][{t}] is {label[t]!r}, which can't follow {label[t - 1]!r}"
        elif t == last and end is not None and not end[c]:
            where = f"y[{i}][{t}] is {label[t]!r}, which can't end a sequence"
        else:
            continue
        break
    raise ValueError(f"the constraints forbid the labels of y[{i}]: {where}")
