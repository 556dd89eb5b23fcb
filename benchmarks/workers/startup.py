# SPDX-License-Identifier: BSD-3-Clause
"""Start-up: ``python -m benchmarks.workers.startup imports MODULE,... [after=MODULE,...]`` or ``... model FILE``."""

from __future__ import annotations

import importlib
import os
import sys

from .common import Clock, done, main

#: What costs time to import, and few need for what they do first.
HEAVY = (
    "IPython", "dask", "joblib", "matplotlib", "pandas", "polars", "pyarrow", "scipy.optimize", "scipy.stats",
    "sklearn.metrics", "torch",
)  # fmt: skip


def imports(modules: str, after: str = "") -> None:
    """Seconds to import some modules where others are there already, and which heavy ones came with them."""
    for name in filter(None, after.split(",")):
        importlib.import_module(name)
    before = set(sys.modules)
    with Clock() as clock:
        for name in modules.split(","):
            importlib.import_module(name)
    come = set(sys.modules) - before
    done(seconds=clock.wall, cpu=clock.cpu, n_modules=len(come), heavy=[name for name in HEAVY if name in come])


def model(path: str) -> None:
    """Seconds to load a model, memory-mapped and not, and to label a first sentence."""
    with Clock() as clock:
        from sklearn_latent.io import load_model
    with Clock() as mapped:
        tagger = load_model(path, mmap_mode="r")
    with Clock() as first:
        labels = tagger.predict([[("It", "PRP"), ("works", "VBZ"), (".", ".")]])
    with Clock() as read:
        load_model(path)
    done(
        seconds=mapped.wall,
        cpu=mapped.cpu,
        import_seconds=clock.wall,
        first_predict=first.wall,
        not_mapped=read.wall,
        file_mb=os.path.getsize(path) / 1e6,
        n_labels=len(labels[0]),
    )


if __name__ == "__main__":
    main({"imports": imports, "model": model}, arrays=False)
