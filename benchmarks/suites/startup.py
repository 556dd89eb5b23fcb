# SPDX-License-Identifier: BSD-3-Clause
"""Import of the package beside scikit-learn's own base, and loading a saved model."""

from __future__ import annotations

from .. import corpus
from ..harness import Bench, Job, median
from ..rst import paragraph, seconds, table, title

_BASE, _OURS = "numpy, scipy.sparse, sklearn.base", "sklearn_latent, where these are imported"
_MODEL = 'all chunk types, "chunking" templates'


def run(bench: Bench) -> dict:
    """Fresh processes, by turns; at least five each, since they are short."""
    repeats = bench.repeats if bench.quick else max(5, bench.repeats)
    jobs = [
        Job(_BASE, "startup", "imports", _BASE.replace(" ", "")),
        # In one process: what a package adds is small beside how much the time of its base varies.
        Job(_OURS, "startup", "imports", "sklearn_latent._taggers", {"after": _BASE.replace(" ", "")}),
    ]
    imports = bench.interleave(jobs, repeats)
    train, model = bench.folder / "train.txt", bench.folder / "startup.model"
    corpus.columns(train, "all", "train", quick=bench.quick)
    bench.run(Job("training", "ours_text", "pipeline", train, {"model": model, "max_iter": 5}))
    return {"imports": imports, "model": bench.interleave([Job(_MODEL, "startup", "model", model)], repeats)}


def section(results: dict) -> str:
    """Its part of the page."""
    imports = results["imports"]
    rows = [
        [name, seconds(runs, "seconds"), str(runs[0]["n_modules"]), ", ".join(runs[0]["heavy"]) or "none"]
        for name, runs in imports.items()
    ]
    extra = 1e3 * median(imports[_OURS], "seconds")
    models = [
        [
            name,
            f"{runs[0]['file_mb']:.1f}",
            *(seconds(runs, key) for key in ("seconds", "not_mapped", "first_predict")),
        ]
        for name, runs in results["model"].items()
    ]
    return "\n".join(
        [
            title("Start-up"),
            paragraph(
                """Import in a fresh process, files in the system's cache. *Heavy* modules are those of a short list
                (pandas, matplotlib, torch, scipy.stats and the like) that came along. (``startup``)"""
            ),
            table(["import of", "seconds", "modules", "heavy ones"], rows),
            f"Ours takes {extra:.0f} ms on top of scikit-learn's own base.\n",
            "A saved model, the package imported: seconds to load it, and to label a first sentence.\n",
            table(["", "file, MB", "load, mapped", "load, not mapped", "first sentence"], models),
        ]
    )
