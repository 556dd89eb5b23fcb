# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of `fit` goes."""

from __future__ import annotations

from ..harness import Bench, Job
from ..rst import paragraph, table, title

_SETTINGS = {"all 1": "22 labels, 1 state each", "np 5": "3 labels, 5 states each"}


def run(bench: Bench) -> dict:
    """Time of each step, by wrapping the functions that do them."""
    out = {}
    for task, n_latent in (("all", 1), ("np", 5)):
        job = Job(f"{task} {n_latent}", "ours", "where", bench.corpus(task).path, {"n_latent": n_latent})
        out[job.name] = bench.run(job)
    return out


def section(results: dict) -> str:
    """Its part of the page."""
    names = list(next(iter(results.values()))["spent"])
    rows = [["weights (observed)", *(f"{r['n_weights']:,}" for r in results.values())]]
    for name in names:
        rows.append([name, *(f"{1e3 * r['spent'][name] / r['n_iter']:.1f}" for r in results.values())])
    outside = [f"{1e3 * r['outside_evaluations'] / r['n_iter']:.1f}" for r in results.values()]
    rows.append(["the rest (mostly L-BFGS)", *outside])
    rows.append(["whole fit, seconds", *(f"{r['seconds']:.1f}" for r in results.values())])
    return "\n".join(
        [
            title("Where the time of fit goes"),
            paragraph(
                """One thread, 30 iterations of L-BFGS; milliseconds an iteration unless said otherwise. (``fit``)"""
            ),
            table(["", *(_SETTINGS[key] for key in results)], rows),
        ]
    )
