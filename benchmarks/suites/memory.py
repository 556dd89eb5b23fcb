# SPDX-License-Identifier: BSD-3-Clause
"""Peak memory of `fit` beside the features, 3 x weights x history and the work arrays of a chunk."""

from __future__ import annotations

from ..harness import Bench, Job, median
from ..plots import COLOURS
from ..rst import paragraph, table, title

_MODELS = {
    "3 labels, observed": ("np", {}),
    "22 labels, observed": ("all", {}),
    "22 labels, every weight": ("all", {"support": "all"}),
    "3 labels x 5 states, every weight": ("np", {"n_latent": 5, "support": "all"}),
}


def run(bench: Bench) -> dict:
    """Enough iterations to fill the history."""
    jobs = [
        Job(name, "ours_growth", "fit", bench.corpus(task).path, {"max_iter": 10, **options})
        for name, (task, options) in list(_MODELS.items())[2 if bench.quick else 0 :]
    ]
    return bench.interleave(jobs)


def _bound(run: dict) -> float:
    return run["matrix_mb"] + run["weights_mb"] + run["buffers_mb"]


def section(results: dict) -> str:
    """Its part of the page."""
    rows = []
    for name, runs in results.items():
        one, used = runs[0], runs[0]["matrix_mb"] + median(runs, "fit_mb")
        rows.append(
            [
                name,
                f"{one['n_weights']:,}",
                *(f"{one[key]:.0f}" for key in ("matrix_mb", "weights_mb", "buffers_mb")),
                f"{_bound(one):.0f}",
                f"{used:.0f}",
                f"{used / _bound(one):.2f}",
                f"{median(runs, 'peak_mb'):.0f}",
            ]
        )
    head = ["", "weights", "features", "3 x weights x history", "chunk", "sum", "features and fit", "/ sum", "process"]
    return "\n".join(
        [
            title("Memory of fit"),
            paragraph(
                """MB at the peak, one thread, history 6. *Chunk*: the work arrays that hold a row a token of one chunk
                and of the blocks in work. *Features and fit*: the features, and what the process grew by from the call
                of ``fit`` to its peak. *Process*: with the interpreter, its libraries and the labels as Python lists.
                (``memory``)"""
            ),
            table(head, rows),
        ]
    )


def figures(results: dict) -> dict:
    """Measured beside the parts of the bound."""

    def plot(figure) -> None:
        axes = figure.subplots()
        parts = (("matrix_mb", "features"), ("weights_mb", "3 x weights x history"), ("buffers_mb", "chunk"))
        for k, runs in enumerate(results.values()):
            left = 0.0
            for (key, label), colour in zip(parts, COLOURS, strict=False):
                value = runs[0][key]
                axes.barh(k - 0.2, value, 0.36, left=left, color=colour, label=label if k == 0 else None)
                left += value
            used = runs[0]["matrix_mb"] + median(runs, "fit_mb")
            axes.barh(k + 0.2, used, 0.36, color="#777777", label="measured" if k == 0 else None)
            axes.text(used, k + 0.2, f" {used:,.0f}", va="center")
        axes.set_yticks(range(len(results)), list(results))
        axes.invert_yaxis()
        axes.margins(x=0.1)
        axes.set(xlabel="MB")
        axes.grid(False, axis="y")
        figure.legend(loc="outside upper center", ncols=4)

    return {"peak": (plot, "Peak memory of fit, measured, beside the sum of its parts.")}
