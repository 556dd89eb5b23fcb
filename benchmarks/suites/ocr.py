# SPDX-License-Identifier: BSD-3-Clause
"""OCR letters, ten folds: error with 1 and 2 states a label beside python-crfsuite."""

from __future__ import annotations

from statistics import mean, stdev

from .. import corpus
from ..harness import Bench, Job, median
from ..rst import paragraph, table, title


def run(bench: Bench) -> dict:
    """Ten folds; in quick mode one, and 20 iterations of ours."""
    path = bench.folder / "letters.npz"
    n_folds = corpus.write_letters(path)
    limit = {"max_iter": 20} if bench.quick else {}
    kinds = {
        "ours, 1 state": ("ours", {"n_latent": 1, **limit}),
        "ours, 2 states": ("ours", {"n_latent": 2, **limit}),
        "python-crfsuite": ("crfsuite", {}),
    }
    errors: dict[str, list] = {name: [] for name in kinds}
    for fold in range(1 if bench.quick else n_folds):
        jobs = [
            Job(name, worker, "letters", path, {"fold": fold, **options}) for name, (worker, options) in kinds.items()
        ]
        for name, found in bench.interleave(jobs, repeats=1).items():
            errors[name].append(found[0])
    return {name: found for name, found in errors.items() if found}


def section(results: dict) -> str:
    """Its part of the page."""
    rows = []
    for name, runs in results.items():
        if not runs:
            continue
        errors = [r["error"] for r in runs]
        spread = f"{stdev(errors):.2f}" if len(errors) > 1 else ""
        rows.append(
            [name, f"{mean(errors):.2f}", spread, f"{median(runs, 'n_iter'):.0f}", f"{median(runs, 'seconds'):.1f}"]
        )
    text = [
        title("OCR letters"),
        paragraph(
            """6,877 handwritten words, 128 binary pixels and a constant, ten folds by word as given with the corpus,
            every weight, sigma = 1, each to its own stopping rule (at most 500 iterations). Ours have start and end
            weights, CRFsuite has none. Errors in per cent of the letters. (``ocr``)"""
        ),
        table(["", "error %", "s.d. over folds", "iterations", "seconds a fold"], rows),
    ]
    folds = [f"{name}: {' '.join(format(r['error'], '.2f') for r in runs)}" for name, runs in results.items() if runs]
    return "\n".join([*text, "Fold by fold: " + "; ".join(folds) + ".\n"])
