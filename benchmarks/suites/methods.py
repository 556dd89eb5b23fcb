# SPDX-License-Identifier: BSD-3-Clause
"""Time per token of every method on the CoNLL-2000 test set, beside `predict`."""

from __future__ import annotations

from ..harness import Bench, Job
from ..rst import table, title

_SETTINGS = {"all 1": "22 labels, 1 state each", "np 3": "3 labels, 3 states each"}


def run(bench: Bench) -> dict:
    """Time per token of each method."""
    out = {}
    for task, n_latent in (("all", 1), ("np", 3)):
        options = {"n_latent": n_latent, "repeats": 1 if bench.quick else 3}
        job = Job(f"{task} {n_latent}", "ours", "methods", bench.corpus(task).path, options)
        out[job.name] = bench.run(job)
    return out


def section(results: dict) -> str:
    """Its part of the page."""
    names = next(iter(results.values()))["us_per_token"]
    rows = [[name, *(f"{r['us_per_token'][name]:.2f}" for r in results.values())] for name in names]
    return "\n".join(
        [
            title("Each method"),
            "Microseconds a token on the test sentences, 60 iterations of training. (``methods``)\n",
            table(["", *(_SETTINGS[key] for key in results)], rows),
        ]
    )
