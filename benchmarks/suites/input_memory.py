# SPDX-License-Identifier: BSD-3-Clause
"""Peak memory of `fit` beside its input: dense numbers in every form, feature dicts held and from a generator."""

from __future__ import annotations

from ..harness import Bench, Job, median
from ..rst import paragraph, table, title

_MODELS = {
    "LatentCRFTagger, 1 state a label": {"model": "latent", "n_latent": 1},
    "LatentCRFTagger, 4 states a label": {"model": "latent", "n_latent": 4},
    "SPNCRFTagger": {"model": "spn"},
}
_FORMS = {
    "matrix": "SequenceMatrix",
    "float32": "SequenceMatrix, float32",
    "list": "list of arrays",
    "array": "3-D array",
}


def run(bench: Bench) -> dict:
    """20,000 tokens of 300 numbers, five labels; 20,000 tokens of 20 features."""
    size = {"n_tokens": 2000} if bench.quick else {}
    dense = [
        Job(f"{name}, {shown}", "ours_input", "dense", "-", {"form": form, **options, **size})
        for name, options in _MODELS.items()
        for form, shown in list(_FORMS.items())[: 1 if bench.quick else None]
    ]
    dicts = [
        Job(name, "ours_input", "dicts", "-", {"held": held, **size})
        for name, held in (("a list of dicts", "yes"), ("a generator of dicts", "no"))
    ]
    return {"dense": bench.interleave(dense), "dicts": bench.interleave(dicts)}


def bound(run: dict) -> float:
    """Three times the data, and the parameters."""
    return 3 * run["data_mb"] + run["weights_mb"]


def section(results: dict) -> str:
    """Its part of the page."""
    rows = [
        [
            name,
            f"{runs[0]['data_mb']:.0f}",
            f"{runs[0]['weights_mb']:.2f}",
            f"{median(runs, 'growth_mb'):.0f}",
            f"{median(runs, 'growth_mb') / runs[0]['data_mb']:.2f}",
            f"{median(runs, 'growth_mb') / bound(runs[0]):.2f}",
        ]
        for name, runs in results["dense"].items()
    ]
    held, streamed = results["dicts"].values()
    ratio = median(streamed, "growth_mb") / median(held, "growth_mb")
    dicts = [[name, f"{median(runs, 'growth_mb'):.0f}"] for name, runs in results["dicts"].items()]
    return "\n".join(
        [
            title("Memory of fit beside its input"),
            paragraph(
                """20,000 tokens of 300 dense numbers, five labels, two iterations. MB: the data, the weights, and what
                the process grew by from the call of ``fit`` to its peak, the data not counted; the bound is three times
                the data and the weights. (``input_memory``)"""
            ),
            table(["", "data", "weights", "growth", "/ data", "/ bound"], rows),
            paragraph(
                f"""20,000 tokens of 20 features as dicts: what the process grew by, with the dicts. From a generator it
                is {ratio:.2f} of what it is with a list."""
            ),
            table(["", "growth"], dicts),
        ]
    )
