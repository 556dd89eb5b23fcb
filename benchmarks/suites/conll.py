# SPDX-License-Identifier: BSD-3-Clause
"""CoNLL-2000, all chunk types: F1 and objective beside python-crfsuite, each to its own stopping rule."""

from __future__ import annotations

from sklearn_latent.metrics import chunk_f1_score

from ..harness import Bench, Job, median
from ..rst import paragraph, seconds, table, title


def run(bench: Bench) -> dict:
    """Accuracy and objective."""
    corpus = bench.corpus("all")
    limit = {"max_iter": 30} if bench.quick else {}
    out = {}
    for support in ("observed", "all") if bench.all_weights else ("observed",):
        options = {"support": support, **limit}
        jobs = [
            Job("ours", "ours", "train", corpus.path, {"boundary": 0, **options}),
            Job("ours, with start and end weights", "ours", "train", corpus.path, options),
            Job("python-crfsuite", "crfsuite", "train", corpus.path, options),
        ]
        out[support] = bench.interleave(jobs)
        for found in out[support].values():
            for result in found:
                result["f1"] = 100 * chunk_f1_score(corpus.gold, result.pop("labels"))
    return out


def section(results: dict) -> str:
    """Its part of the page."""
    text = [
        title("Accuracy and objective"),
        paragraph(
            """All chunk types (22 labels in training), ``n_latent=1``, beside python-crfsuite with the same features
            and the same prior (``c2 = 1 / (2 sigma^2)``), each to its own stopping rule, one thread. CRFsuite has no
            start and end weights, so they are off in the first row. Seconds an iteration are those of all of training
            over the iterations. (``conll``)"""
        ),
    ]
    for support, found in results.items():
        rows = [
            [
                name,
                f"{runs[0]['f1']:.2f}",
                f"{runs[0]['objective']:.3f}",
                str(runs[0]["n_iter"]),
                seconds(runs, "seconds_per_iteration"),
                f"{median(runs, 'peak_mb'):.0f}",
            ]
            for name, runs in found.items()
        ]
        kind = "observed in training" if support == "observed" else "all, one for every feature and label"
        text += [f"Weights: {kind}.\n", table(["", "F1", "objective", "iterations", "s an iteration", "peak MB"], rows)]
    return "\n".join(text)
