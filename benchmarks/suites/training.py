# SPDX-License-Identifier: BSD-3-Clause
"""Seconds an L-BFGS iteration of a plain CRF on CoNLL-2000, beside CRFsuite and Wapiti, 1 and 2 threads."""

from __future__ import annotations

from sklearn_latent.metrics import chunk_f1_score

from ..harness import Bench, Job, median
from ..plots import COLOURS
from ..rst import paragraph, seconds, table, times, title

_OURS, _OURS_2, _CRFSUITE = "ours, 1 thread", "ours, 2 threads", "python-crfsuite, 1 thread"
_WAPITI, _WAPITI_2 = "Wapiti, 1 thread", "Wapiti, 2 threads"

_TITLES = {
    "np observed": "Noun phrases (3 labels), weights observed in training",
    "all observed": "All chunk types (22 labels), weights observed in training",
    "all all": "All chunk types (22 labels), every weight",
}


def run(bench: Bench) -> dict:
    """Train for a fixed number of iterations, with every package the same number.

    Wapiti has every weight in any case: it is run once for each set of labels.
    """
    out = {}
    n_iter = 10 if bench.quick else 50
    settings = [tuple(key.split()) for key in _TITLES]
    for task, support in settings[::2] if bench.quick else settings:
        corpus = bench.corpus(task)
        options = {"support": support, "max_iter": n_iter}
        jobs = [
            Job(_OURS, "ours", "train", corpus.path, {"boundary": 0, "tol": 0.0, **options}),
            Job(_OURS_2, "ours", "train", corpus.path, {"boundary": 0, "tol": 0.0, "threads": 2, **options}),
            Job(_CRFSUITE, "crfsuite", "train", corpus.path, options),
        ]
        if (task, support) != ("all", "observed"):
            for name, threads in ((_WAPITI, 1), (_WAPITI_2, 2)):
                jobs.append(Job(name, "wapiti", "train", corpus.path, {"max_iter": n_iter, "threads": threads}))
        results = bench.interleave(jobs)
        for found in results.values():
            for result in found:
                result["f1"] = 100 * chunk_f1_score(corpus.gold, result.pop("labels"))
        out[f"{task} {support}"] = results
    return out


def section(results: dict) -> str:
    """Its part of the page."""
    text = [
        title("Training: seconds an iteration"),
        paragraph(
            """Plain CRFs (``n_latent=1``), the same number of iterations of L-BFGS (loss, gradient and step; history 6)
            for every package, the same prior (``c2 = 1 / (2 sigma^2)`` in CRFsuite, ``-1 0 -2 1`` in Wapiti), no start
            and end weights. *Median*: of the iterations but the first, wall and processor time (of
            the latter Wapiti's is a mean). *All of training*: the
            time of the package's training call, what it does before and after the iterations included, over their
            number. Wapiti has a weight for every feature and label in any case, so its objective compares with that of
            every weight. *Objective* and *F1* are those after the last iteration. (``training``)"""
        ),
    ]
    for key, found in results.items():
        rows = [
            [
                name,
                seconds(runs, "iteration"),
                f"{median(runs, 'iteration_cpu'):.3f}",
                f"{median(runs, 'seconds_per_iteration'):.3f}",
                f"{runs[0]['objective']:.2f}",
                f"{runs[0]['f1']:.2f}",
                f"{runs[0]['n_weights']:,}",
                f"{median(runs, 'peak_mb'):.0f}",
            ]
            for name, runs in found.items()
        ]
        head = ["", "median, s", "its CPU s", "all of training, s", "objective", "F1", "weights", "peak MB"]
        text += [f"{_TITLES[key]}, {next(iter(found.values()))[0]['n_iter']} iterations.\n", table(head, rows)]
        pairs = [
            ("CRFsuite / ours, one thread", _CRFSUITE, _OURS),
            ("Wapiti / ours, one thread", _WAPITI, _OURS),
            ("Wapiti / ours, two threads each", _WAPITI_2, _OURS_2),
            ("ours, one thread / two threads", _OURS, _OURS_2),
            ("Wapiti, one thread / two threads", _WAPITI, _WAPITI_2),
        ]
        text.append("Ratios of the medians:\n\n" + times(found, pairs, "iteration", "iteration_cpu"))
    return "\n".join(text)


def figures(results: dict) -> dict:
    """Seconds an iteration, package by package."""

    def plot(figure) -> None:
        several = figure.subplots(1, len(results), squeeze=False)[0]
        for axes, (key, found) in zip(several, results.items(), strict=True):
            for k, (name, runs) in enumerate(found.items()):
                package = next(i for i, first in enumerate(("ours", "python-crfsuite", "Wapiti")) if first in name)
                step = median(runs, "iteration")
                axes.barh(k, step, color=COLOURS[package], alpha=0.6 if "2 threads" in name else 1.0)
                axes.text(step, k, f" {step:.3f}", va="center", fontsize=8)
            axes.set_yticks(range(len(found)), [name.replace(", ", "\n") for name in found], fontsize=8)
            axes.invert_yaxis()
            axes.margins(x=0.3)
            axes.locator_params(axis="x", nbins=3)
            axes.grid(False, axis="y")
            axes.set_title(_TITLES[key].replace(", ", "\n").replace(" (", "\n("), fontsize=8)
            axes.set(xlabel="s an iteration")

    return {"iteration": (plot, "Seconds an iteration of L-BFGS, median; paler: two threads.")}
