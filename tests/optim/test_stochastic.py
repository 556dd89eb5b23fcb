# SPDX-License-Identifier: BSD-3-Clause
"""Update rules against plain numpy over all weights at every step, and what the driver asks of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from sklearn_latent._optim import STEPPERS, Report, minimize_stochastic, stochastic
from sklearn_latent._optim.stochastic import Adam, AveragedSGD, FrequencyAdaptive


@dataclass
class Batch:
    samples: np.ndarray
    index: np.ndarray | slice


class Squares:
    """Sum of ``(A[i] @ x - b[i]) ** 2 / 2``, rows of A with a few entries; `dense` says that a batch touches all."""

    def __init__(
        self, *, n: int = 45, width: int = 30, scale: float = 1.0, precision: float = 2.0, dense: bool = False
    ):
        rng = np.random.default_rng(0)
        self.A = scale * np.where(rng.random((n, width)) < 0.1, rng.uniform(0.5, 1.5, (n, width)), 0.0)
        self.b = rng.standard_normal(n)
        self.n_samples, self.total_weight, self.precision, self.dense = n, float(n), precision, dense
        self.orders = []

    def draw(self, samples: np.ndarray) -> Batch:
        self.orders.append(samples)
        if self.dense:
            return Batch(samples, slice(None))
        touched = np.flatnonzero(self.A[samples].any(axis=0))
        return Batch(samples, touched[::-1].copy())  # positions come in any order

    def evaluate(self, values: np.ndarray, batch: Batch) -> tuple[float, float, np.ndarray]:
        rows = self.A[batch.samples][:, batch.index]
        error = rows @ values - self.b[batch.samples]
        return 0.5 * float(error @ error), float(len(error)), rows.T @ error

    def objective(self, x: np.ndarray) -> float:
        return 0.5 * float(((self.A @ x - self.b) ** 2).sum() + self.precision * x @ x)

    def optimum(self) -> np.ndarray:
        return np.linalg.solve(self.A.T @ self.A + self.precision * np.eye(self.A.shape[1]), self.A.T @ self.b)


def run(problem, stepper, *, passes: int = 3, x0: np.ndarray | None = None, seed: int = 0):
    """The solver's point and its answer after some passes."""
    x0 = np.linspace(-1.0, 1.0, problem.A.shape[1]) if x0 is None else x0
    result = minimize_stochastic(
        problem, x0, stepper,
        max_iter=passes, tol=0.0, n_iter_no_change=10**6, rng=np.random.RandomState(seed), report=Report(),
    )  # fmt: skip
    return result.x, stepper.answer(result.x)


def steps(problem, x: np.ndarray, size: int, passes: int, seed: int):
    """Batches in the order of the solver: mean derivative in all weights at `x` as it is then, and what is touched."""
    rng = np.random.RandomState(seed)
    for _ in range(passes):
        order = rng.permutation(problem.n_samples)
        for k in range(0, len(order), size):
            samples = np.sort(order[k : k + size])
            rows = problem.A[samples]
            yield rows.T @ (rows @ x - problem.b[samples]) / len(samples), rows.any(axis=0), len(samples)


# -- twins: every weight at every step ----------------------------------------------------------------------------


def slow_averaged(problem, rate: float, size: int, passes: int, seed: int = 0):
    x, mean = np.linspace(-1.0, 1.0, problem.A.shape[1]), None
    shrink = problem.precision / problem.n_samples
    for t, (grad, _, _) in enumerate(steps(problem, x, size, passes, seed)):
        length = rate / (1.0 + rate * shrink * t)
        x *= 1.0 - min(1.0, length * shrink)
        x -= length * grad
        mean = x.copy() if mean is None else mean + (x - mean) * 9.0 / (9.0 + t)
    return x, mean


def slow_scaled(problem, rate: float, size: int, passes: int, seed: int = 0):
    n = problem.A.shape[1]
    x, squares, missed = np.linspace(-1.0, 1.0, n), np.zeros(n), np.zeros(n)
    mean, seen = None, 0
    shrink = problem.precision / problem.n_samples
    for t, (grad, touched, m) in enumerate(steps(problem, x, size, passes, seed)):
        missed += m
        squares[touched] += (m * grad[touched]) ** 2
        length = rate / np.sqrt(1.0 + squares)
        x[touched] = ((x - length * m * grad) / (1.0 + length * shrink * missed))[touched]
        missed[touched] = 0.0
        seen += m
        mean = x.copy() if mean is None else mean + (x - mean) * 9.0 / (9.0 + t)
        if seen % problem.n_samples == 0:  # at the end of a pass the prior is applied to all
            x /= 1.0 + length * shrink * missed
            missed[:] = 0.0
    return x, mean


def slow_adam(problem, rate: float, size: int, passes: int, seed: int = 0):
    n = problem.A.shape[1]
    x, first, second = np.linspace(-1.0, 1.0, n), np.zeros(n), np.zeros(n)
    shrink = problem.precision / problem.n_samples
    for t, (grad, _, _) in enumerate(steps(problem, x, size, passes, seed), start=1):
        whole = grad + shrink * x
        first = 0.9 * first + 0.1 * whole
        second = 0.999 * second + 0.001 * whole**2
        x -= rate * (first / (1.0 - 0.9**t)) / (np.sqrt(second / (1.0 - 0.999**t)) + 1e-8)
    return x, x


def slow_adaptive(problem, rate: float, size: int, passes: int, seed: int = 0):
    n = problem.A.shape[1]
    x, length, count, last, t = np.linspace(-1.0, 1.0, n), np.full(n, rate), np.zeros(n), np.zeros(n), 0
    shrink, period = problem.precision / problem.n_samples, problem.n_samples // 10
    for grad, touched, m in steps(problem, x, size, passes, seed):
        t += m
        for i in np.flatnonzero(touched):
            x[i] = x[i] * max(0.0, 1.0 - length[i] * shrink) ** ((t - last[i]) / m) - length[i] * grad[i]
            last[i], count[i] = t, count[i] + m
        if t % period < m:
            length *= 0.995 - np.minimum(1.0, count / period) * (0.995 - 0.95)
            count[:] = 0.0
    return x, x


@pytest.mark.parametrize("size", [1, 4, 45])
@pytest.mark.parametrize("precision", [0.0, 2.0, 4000.0])
def test_averaged_sgd_is_its_formula(size, precision):
    problem = Squares(precision=precision)
    found, slow = run(problem, AveragedSGD(0.2, size)), slow_averaged(problem, 0.2, size, 3)
    # The same numbers as other sums and products.
    np.testing.assert_allclose(found, slow, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("small", [0.5, 1e-3])
def test_numbers_for_all_weights_are_multiplied_out_before_they_vanish(small, monkeypatch):
    problem = Squares(precision=30.0)
    whole = run(problem, AveragedSGD(0.2, 4))
    settled = []
    monkeypatch.setattr(stochastic, "_SMALL", small)
    settle = AveragedSGD.settle
    monkeypatch.setattr(AveragedSGD, "settle", lambda self, x: (settled.append(1), settle(self, x)))
    np.testing.assert_allclose(run(problem, AveragedSGD(0.2, 4)), whole, rtol=1e-9, atol=1e-13)
    assert len(settled) > 3, "only the ends of the three passes"


def scaled(rate: float, size: int, n: int) -> AveragedSGD:
    """The rule with lengths of each weight, its factor given."""
    rule = AveragedSGD("auto", size)
    rule.state = {"t": 0, "rate": rate, **rule._fresh(n)}
    return rule


@pytest.mark.parametrize("size", [1, 4, 45])
@pytest.mark.parametrize("precision", [0.0, 2.0, 4000.0])
def test_scaled_steps_are_their_formula(size, precision):
    problem = Squares(precision=precision)
    found, slow = run(problem, scaled(0.5, size, 30)), slow_scaled(problem, 0.5, size, 3)
    np.testing.assert_allclose(found, slow, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("size", [1, 4, 45])
def test_adam_is_its_formula(size):
    problem = Squares()
    np.testing.assert_allclose(run(problem, Adam(0.05, size)), slow_adam(problem, 0.05, size, 3), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("precision", [0.0, 2.0, 4000.0])
def test_adf_is_its_formula(size, precision):
    problem = Squares(precision=precision)
    np.testing.assert_allclose(
        run(problem, FrequencyAdaptive(0.1, size)), slow_adaptive(problem, 0.1, size, 3), rtol=1e-9, atol=1e-13
    )


@pytest.mark.parametrize("rule", [AveragedSGD(0.2, 4), Adam(0.05, 4)], ids=["sgd", "adam"])
def test_a_dense_problem_is_the_same_one(rule):
    a = run(Squares(), rule)
    rule.state = {}
    np.testing.assert_allclose(run(Squares(dense=True), rule), a, rtol=1e-9, atol=1e-13)


# -- what they are for ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("name", "size", "close"), [("sgd", 4, 1.01), ("adam", 4, 1.01), ("adf", 1, 1.4)])
def test_they_come_close_to_the_minimum(name, size, close, dense):
    # The steps of ADF get shorter by a factor a pass, however far it is to go: in a problem as small as this one it
    # comes to a stand on the way.
    problem = Squares(dense=dense)
    found = run(problem, STEPPERS[name]("auto", size), passes=80)[1]
    best, start = (problem.objective(x) for x in (problem.optimum(), np.linspace(-1.0, 1.0, 30)))
    assert best <= problem.objective(found) < close * best < start


def test_the_rate_follows_the_scale_of_features():
    rates = {}
    for exponent in (-10, 0, 10):
        problem, rule = Squares(scale=2.0**exponent, precision=0.0), AveragedSGD("auto", 4)
        found = run(problem, rule, passes=40, x0=np.zeros(30))[1]
        rates[exponent] = np.log2(rule.state["rate"])
        start, best = (problem.objective(x) for x in (np.zeros(30), np.linalg.lstsq(problem.A, problem.b)[0]))
        assert start - problem.objective(found) > 0.8 * (start - best)
    assert rates[10] + 5 < rates[0] < rates[-10] - 5


def test_what_is_remembered_is_whole_between_passes():
    # A pass that breaks off, by Ctrl-C say, must not leave half a mean behind.
    problem, rule = Squares(), AveragedSGD(0.2, 4)
    x, mean = run(problem, rule)
    kept = mean.copy()
    batch = problem.draw(np.arange(4))
    rule.begin(problem, x, np.random.RandomState(0))
    for _ in range(3):
        _, _, grad = problem.evaluate(rule.values(x, batch.index), batch)
        rule.step(x, batch.index, grad, 0.1, 4)
    np.testing.assert_array_equal(rule.answer(x), kept)


def test_passes_go_on_from_what_is_remembered():
    for make in (lambda: AveragedSGD(0.2, 4), lambda: scaled(0.5, 4, 30), lambda: Adam(0.05, 4)):
        problem, whole, parts = Squares(), make(), make()
        rng = np.random.RandomState(3)

        def passes(rule, x, n, rng=rng, problem=problem):
            return minimize_stochastic(
                problem, x, rule, max_iter=n, tol=0.0, n_iter_no_change=9, rng=rng, report=Report()
            ).x

        state = rng.get_state()
        a = passes(whole, np.ones(30), 3)
        rng.set_state(state)
        b = np.ones(30)
        for _ in range(3):
            b = passes(parts, b, 1)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(whole.answer(a), parts.answer(b))


def test_every_sample_once_a_pass():
    problem = Squares()
    run(problem, AveragedSGD(0.2, 4), passes=2)
    assert len(problem.orders) == 24
    for half in (problem.orders[:12], problem.orders[12:]):
        assert sorted(np.concatenate(half).tolist()) == list(range(45))
        assert all((np.diff(samples) > 0).all() for samples in half)
