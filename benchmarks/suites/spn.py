# SPDX-License-Identifier: BSD-3-Clause
"""One training pass over sum-product networks beside their bare matrix products and an expert's PyTorch."""

from __future__ import annotations

import numpy as np

from .. import corpus
from ..harness import Bench, Job, median
from ..rst import paragraph, seconds, table, times, title

#: Layers, products, states of the first-order model and of the second-order one.
_SHAPES = {1: (3, 2, 4), 2: (1, 2, 4)}
#: The fastest compiled network that was found for a precision and a number of threads: batches of 64 to 1,024 tokens,
#: tokens innermost or leaves.
_COMPILED = {
    ("float64", 1): {"batch": 256, "columns": 0},
    ("float64", 2): {"batch": 256, "columns": 0},
    ("float32", 1): {"batch": 256, "columns": 1},
    ("float32", 2): {"batch": 512, "columns": 1},
}
_TYPES = ("float64", "float32")


def _name(who: str, dtype: str, threads: int = 1) -> str:
    return f"{who}, {dtype}, {threads} thread{'s' * (threads > 1)}"


def run(bench: Bench) -> dict:
    """The first-order model by both packages, and its products; the second-order one of ours, and its products."""
    out: dict = {}
    for order, shape in _SHAPES.items():
        path = bench.folder / f"images{order}.npz"
        n_tokens = corpus.write_images(path, shape, quick=bench.quick)
        jobs = [job for dtype in _TYPES for job in _jobs(bench, path, order, dtype)]
        runs = bench.interleave(jobs)
        out[f"order {order}"] = {"n_tokens": n_tokens, "runs": runs}
        if order == 1:
            out["differences"] = _differences(runs, {job.name: job.options for job in jobs})
    return out


def _jobs(bench: Bench, path, order: int, dtype: str) -> list[Job]:
    jobs = []

    def add(name: str, worker: str, task: str, **options) -> None:
        if worker != "floor":
            options["gradient"] = bench.folder / f"gradient{len(jobs)}-{order}-{dtype}.npy"
        jobs.append(Job(name, worker, task, path, {"dtype": dtype, **options}))

    for threads in (1, 2) if order == 1 else (1,):
        add(_name("ours", dtype, threads), "ours_spn", "evaluation", order=order, threads=threads)
        if order == 1:
            add(_name("PyTorch", dtype, threads), "torch_spn", "evaluation", threads=threads, batch=256)
            if not bench.quick:
                options = {"threads": threads, "compiled": 1, **_COMPILED[dtype, threads]}
                add(_name("PyTorch compiled", dtype, threads), "torch_spn", "evaluation", **options)
    if order == 1:
        add(_name("ours, no zeros", dtype), "ours_spn", "evaluation", zero=-0.1)
    add(_name("bare products", dtype), "floor", "leaves", order=order)
    return jobs


def _differences(runs: dict[str, list[dict]], options: dict[str, dict]) -> dict:
    """How far objective and gradient of PyTorch are from ours, relative to ours and to its largest entry."""
    found = {}
    for name in runs:
        if name.startswith("PyTorch"):
            ours = name.replace(" compiled", "").replace("PyTorch", "ours")
            value, grad = runs[ours][0]["value"], np.load(options[ours]["gradient"])
            theirs = np.load(options[name]["gradient"])
            found[name] = {
                "value": abs(runs[name][0]["value"] / value - 1),
                "gradient": float(np.abs(theirs - grad).max() / np.abs(grad).max()),
            }
    return found


def section(results: dict) -> str:
    """Its part of the page."""
    text = [
        title("One training pass over sum-product networks"),
        paragraph(
            """``SPNCRFTagger`` on the OCR letters, objective and gradient over nine folds. *Bare products*: the dense
            products by NumPy (OpenBLAS) that the model asks for, once for the leaves and once for the derivatives of
            the weights, 1,024 tokens at a time. Ours leave out pixels that are zero, about four of five, so that they
            can take less; *no zeros*: with -0.1 in their place. The peer is what an expert writes in PyTorch: one dense
            product for all leaves (its sparse one is no faster), log-sum-exp over states, sums over products, a
            forward pass of scaled matrix products over batches of 256 tokens in sequences of like length, automatic
            differentiation. *Compiled*: the network by ``torch.compile``, with the batches and the order of dimensions
            that were the fastest for each precision and number of threads; compiling isn't counted. (``spn``)"""
        ),
    ]
    for order in _SHAPES:
        found = results[f"order {order}"]
        text += _one_order(order, found["n_tokens"], found["runs"])
    if results["differences"]:
        head = ["largest difference from ours", "objective", "gradient"]
        rows = [[name, f"{d['value']:.0e}", f"{d['gradient']:.0e}"] for name, d in results["differences"].items()]
        text += ["Relative to ours; the gradient's to its largest entry.\n", table(head, rows)]
    return "\n".join(text)


def _one_order(order: int, n_tokens: int, runs: dict[str, list[dict]]) -> list[str]:
    rows = [
        [
            name,
            seconds(found, "seconds"),
            f"{median(found, 'cpu'):.3f}",
            f"{1e6 * median(found, 'cpu') / n_tokens:.1f}",
            f"{found[0]['n_weights']:,}" if "n_weights" in found[0] else "",
            f"{median(found, 'peak_mb'):.0f}" if "n_weights" in found[0] else "",
        ]
        for name, found in runs.items()
    ]
    pairs = []
    for dtype in _TYPES:
        pairs.append(
            (f"ours / bare products, {dtype}, one thread", _name("ours", dtype), _name("bare products", dtype))
        )
        pairs.append(
            (
                f"ours, no zeros / bare products, {dtype}, one thread",
                _name("ours, no zeros", dtype),
                _name("bare products", dtype),
            )
        )
        for threads, words in ((1, "one thread"), (2, "two threads each")):
            for who in ("PyTorch", "PyTorch compiled"):
                pairs.append(
                    (f"{who} / ours, {dtype}, {words}", _name(who, dtype, threads), _name("ours", dtype, threads))
                )
    n_layers, n_products, n_states = _SHAPES[order]
    networks = "" if order == 1 else " and, from two tokens, of the bigrams that occur (``factors=((1, 1), (2, 2))``)"
    return [
        paragraph(
            f"""Order {order}, {n_tokens:,} tokens, L = {n_layers}, I = {n_products}, H = {n_states}, networks of the
            labels{networks}."""
        ),
        table(["", "seconds", "CPU s", "CPU us a token", "weights", "peak MB"], rows),
        "Ratios:\n\n" + times(runs, pairs, "seconds", "cpu"),
    ]
