# SPDX-License-Identifier: BSD-3-Clause
"""Every decoder on the test set with 1 and 3 states a label: certificates, time."""

from __future__ import annotations

from sklearn_latent.metrics import chunk_f1_score

from ..harness import Bench, Job
from ..rst import paragraph, table, title


def run(bench: Bench) -> dict:
    """Certificates and times of the decoders."""
    corpus, out = bench.corpus("all"), {}
    for n_latent in (1, 3):
        options = {"n_latent": n_latent, "max_iter": 20 if bench.quick else 100, "repeats": 1 if bench.quick else 5}
        result = bench.run(Job(f"{n_latent} state(s) a label", "ours", "decode", corpus.path, options))
        for found in result["decoders"].values():
            found["f1"] = 100 * chunk_f1_score(corpus.gold, found.pop("labels"))
        out[str(n_latent)] = result
    return out


def section(results: dict) -> str:
    """Its part of the page."""
    text = [
        title("Decoders"),
        paragraph(
            """All chunk types, the test sentences, features made beforehand, one thread; 100 iterations of training.
            *Certified*: share of the sentences whose labels are proven to be the most probable ones; *expanded*: steps
            of the search a token. (``decoding``)"""
        ),
    ]
    for n_latent, result in results.items():
        base = result["decoders"]["bhp"]["seconds"]
        rows = [
            [
                name,
                f"{found['f1']:.2f}",
                f"{100 * found['certified']:.1f} %",
                f"{found['us_per_token']:.2f}",
                f"{found['seconds'] / base:.2f}",
                f"{found['expanded_per_token']:.2f}",
            ]
            for name, found in result["decoders"].items()
        ]
        text += [
            f"States a label: {n_latent}.\n",
            table(["decoder", "F1", "certified", "us a token", "times bhp", "expanded"], rows),
        ]
    return "\n".join(text)
