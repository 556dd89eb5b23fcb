# SPDX-License-Identifier: BSD-3-Clause
"""Time to a test F1 within 0.1 of the converged one: stochastic solvers beside L-BFGS and CRFsuite's."""

from __future__ import annotations

from statistics import median

from sklearn_latent.metrics import chunk_f1_score

from ..harness import Bench, Job
from ..plots import COLOURS, MARKERS
from ..rst import paragraph, table, title

_LBFGS, _CRFSUITE = "L-BFGS", "CRFsuite, l2sgd"
_SOLVERS = {"sgd": "SGD", "adam": "Adam", "adf": "ADF"}
_TITLES = {"plain": "All chunk types, 22 labels, 1 state each", "latent": "Noun phrases, 3 labels, 5 states each"}

#: How far below the converged F1 is near enough, in points of a hundred.
NEAR = 0.1


def run(bench: Bench) -> dict:
    """F1 of the models that each solver has after some passes, and the time of the whole fit that made each."""
    passes = "1,3" if bench.quick else "1,2,3,4,5,6,8,10,15"
    steps = "5,0" if bench.quick else "20,40,60,80,100,130,0"
    out = {}
    for name, task, n_latent in (("plain", "all", 1), ("latent", "np", 5))[: 1 if bench.quick else 2]:
        corpus = bench.corpus(task)
        options = {"n_latent": n_latent}
        jobs = [Job(_LBFGS, "ours", "curve", corpus.path, {"checkpoints": steps, **options})]
        for solver, words in _SOLVERS.items():
            jobs.append(Job(words, "ours", "curve", corpus.path, {"checkpoints": passes, "solver": solver, **options}))
        if n_latent == 1:
            jobs.append(Job(_CRFSUITE, "crfsuite", "curve", corpus.path, {"checkpoints": passes}))
        out[name] = bench.interleave(jobs)
        for runs in out[name].values():
            for found in runs:
                for point in found["points"]:
                    point["f1"] = 100 * chunk_f1_score(corpus.gold, point.pop("labels"))
    return out


def _points(runs: list[dict]) -> list[dict]:
    """Each checkpoint with the median of its seconds over the runs."""
    points = zip(*(run["points"] for run in runs), strict=True)
    return [several[0] | {"seconds": median(p["seconds"] for p in several)} for several in points]


def reached(points: list[dict], f1: float) -> dict | None:
    """The first point from which on every one has this F1, by the number of passes; None if the last has not."""
    points = sorted(points, key=lambda point: point["n_iter"])
    first = None
    for point in reversed(points):
        if point["f1"] < f1:
            break
        first = point
    return first


def section(results: dict) -> str:
    """Its part of the page."""
    text = [
        title("Time to near the converged F1"),
        paragraph(
            f"""One thread, observed weights, sigma = 1. Each solver is run anew for a number of iterations or passes;
            the time of a point is that of the whole ``fit`` that made its model, the F1 that of this model on the test
            set, which nothing is chosen by. *Near* is within {NEAR} of the F1 of L-BFGS at its own stopping rule, and
            counts from the first point after which no later one is further below. CRFsuite's time is its training
            call's. (``stochastic``)"""
        ),
    ]
    for name, found in results.items():
        converged = _points(found[_LBFGS])[-1]
        base = reached(_points(found[_LBFGS]), converged["f1"] - NEAR)
        rows = []
        for solver, runs in found.items():
            points = _points(runs)
            near = reached(points, converged["f1"] - NEAR)
            best, last = max(point["f1"] for point in points), points[-1]
            rows.append(
                [
                    solver,
                    str(near["n_iter"]) if near else "not reached",
                    f"{near['seconds']:.2f}" if near else "",
                    f"{near['seconds'] / base['seconds']:.2f}" if near else "",
                    f"{near['f1']:.2f}" if near else "",
                    f"{last['n_iter']}, {last['seconds']:.2f} s: {last['f1']:.2f}",
                    f"{best:.2f}",
                ]
            )
        head = ["", "passes", "seconds", "/ L-BFGS", "F1 there", "last point", "best F1"]
        text += [f"{_TITLES[name]}; converged: F1 {converged['f1']:.2f}.\n", table(head, rows)]
    return "\n".join(text)


def figures(results: dict) -> dict:
    """F1 against seconds."""

    def plot(figure) -> None:
        several = figure.subplots(1, len(results), squeeze=False)[0]
        for axes, (name, found) in zip(several, results.items(), strict=True):
            converged = _points(found[_LBFGS])[-1]["f1"]
            axes.axhspan(converged - NEAR, converged + NEAR, color="#000000", alpha=0.08, lw=0)
            for k, (solver, runs) in enumerate(found.items()):
                points = sorted(_points(runs), key=lambda point: point["seconds"])
                seconds, f1 = [p["seconds"] for p in points], [p["f1"] for p in points]
                axes.semilogx(seconds, f1, color=COLOURS[k], marker=MARKERS[k], ms=4, label=solver)
            axes.set(xlabel="seconds of fit", ylabel="F1 (%)", title=_TITLES[name], ylim=(converged - 2, None))
            axes.legend(loc="lower right")

    return {"f1": (plot, "F1 on the test set against training time; shaded: within 0.1 of the converged one.")}
