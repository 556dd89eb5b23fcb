# SPDX-License-Identifier: BSD-3-Clause
"""One loss and gradient of a latent CRF beside an expert's PyTorch and beside the machine's floor."""

from __future__ import annotations

from ..harness import Bench, Job, machine, median
from ..rst import paragraph, seconds, table, times, title

_ALL, _ALL_2 = "ours, every weight, 1 thread", "ours, every weight, 2 threads"
_OBSERVED, _TORCH = "ours, observed weights, 1 thread", "PyTorch, float64, 1 thread"
_EDGES, _EDGES_2 = "ours, observed, edge features, 1 thread", "ours, observed, edge features, 2 threads"
_FLOOR, _EDGE_FLOOR = "floor", "floor with edge features"

_SETTINGS = {
    "np": ("Noun phrases of CoNLL-2000, 3 labels with 5 states each", 5),
    "jnlpba": ('JNLPBA, 11 labels with 4 states each, the ``"bio-ner"`` templates', 4),
}


def run(bench: Bench) -> dict:
    """The same model and corpus by every package; the floor once for each model."""
    out = {}
    for task, (_, h) in _SETTINGS.items():
        path = bench.corpus(task, **({"templates": "bio-ner"} if task == "jnlpba" else {})).path
        clock = {"mhz": machine()["clock_mhz"] or 2500.0}

        def job(name: str, worker: str, do: str, path=path, h=h, **options) -> Job:
            return Job(name, worker, do, path, {"n_latent": h, "repeats": 3, **options})

        jobs = [
            job(_ALL, "ours", "evaluation", support="all"),
            job(_ALL_2, "ours", "evaluation", support="all", threads=2),
            job(_OBSERVED, "ours", "evaluation", support="observed"),
            job(_TORCH, "torch_latent", "evaluation"),
            job(_FLOOR, "floor", "products", **clock),
        ]
        if task == "jnlpba":
            jobs += [
                job(_EDGES, "ours", "evaluation", support="observed", edges=1),
                job(_EDGES_2, "ours", "evaluation", support="observed", edges=1, threads=2),
                job(_EDGE_FLOOR, "floor", "products", edges=1, **clock),
            ]
            if bench.quick:
                jobs = [job for job in jobs if job.name not in (_OBSERVED, _FLOOR)]
        out[task] = bench.interleave(jobs)
    return out


def section(results: dict) -> str:
    """Its part of the page."""
    text = [
        title("One loss and gradient of a latent CRF"),
        paragraph(
            """float64, features made beforehand. The peer is what an expert writes in PyTorch: embedding bags, batches
            padded by length (2,048 sentences), a forward pass of scaled matrix products, automatic differentiation; it
            has every weight. *Edge features*: the present word has weights on pairs of states as well, those that
            training shows. (``evaluation``)"""
        ),
        paragraph(
            """The *floor* is the sum of two: the bare sparse products in SciPy, ``X @ W`` and ``X.T @ G`` with a column
            a state, with edge features also those over the observed arcs; and the recursions, counted as 6 (S^2 + h^2)
            operations a token for S states, h of them the label's (forward, backward and arc masses, free and clamped,
            a multiply-add counting two), at one operation a cycle. Exponentials are not counted."""
        ),
    ]
    for task, found in results.items():
        rows = [
            [
                name,
                seconds(runs, "seconds"),
                f"{median(runs, 'cpu'):.3f}",
                f"{runs[0]['n_weights']:,}" if "n_weights" in runs[0] else "",
                f"{median(runs, 'peak_mb'):.0f}" if "n_weights" in runs[0] else "",
            ]
            for name, runs in found.items()
        ]
        text += [f"{_SETTINGS[task][0]}.\n", table(["", "seconds", "CPU s", "weights", "peak MB"], rows)]
        for name in (_FLOOR, _EDGE_FLOOR):
            if name in found:
                text.append(
                    f"{name.capitalize()}: products {median(found[name], 'products'):.3f} s, "
                    f"recursions {median(found[name], 'recursions'):.3f} s ({found[name][0]['flops'] / 1e9:.2f} "
                    f"billion operations at {found[name][0]['mhz'] / 1e3:.1f} GHz).\n"
                )
        pairs = [
            ("PyTorch / ours, the same weights, one thread", _TORCH, _ALL),
            ("ours, every weight / floor, one thread", _ALL, _FLOOR),
            ("ours, observed weights / floor, one thread", _OBSERVED, _FLOOR),
            ("ours with edge features / its floor, one thread", _EDGES, _EDGE_FLOOR),
            ("ours, every weight, one thread / two threads", _ALL, _ALL_2),
            ("ours with edge features, one thread / two threads", _EDGES, _EDGES_2),
        ]
        text.append("Ratios:\n\n" + times(found, pairs, "seconds", "cpu"))
    return "\n".join(text)
