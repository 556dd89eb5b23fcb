# SPDX-License-Identifier: BSD-3-Clause
"""Raw tokens to features, tokens a second, beside attributes made in Python for CRFsuite."""

from __future__ import annotations

from .. import corpus
from ..harness import Bench, Job, median
from ..rst import paragraph, table, title


def run(bench: Bench) -> dict:
    """The training part of CoNLL-2000, read beforehand; `transform` on the test part."""
    train, test = bench.folder / "train.txt", bench.folder / "test.txt"
    corpus.columns(train, "all", "train", quick=bench.quick)
    corpus.columns(test, "all", "test", quick=bench.quick)
    jobs = [
        Job("ours", "ours_text", "vectorize", train, {"test": test}),
        Job("python-crfsuite", "crfsuite_text", "vectorize", train, {"test": test}),
    ]
    return bench.interleave(jobs)


def _rates(runs: list[dict], kind: str) -> str:
    rates = [{"rate": run["rates"][kind]} for run in runs]
    values = [rate["rate"] for rate in rates]
    return f"{median(rates, 'rate'):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def section(results: dict) -> str:
    """Its part of the page."""
    rows = [
        [f"{name}, {kind}", _rates(runs, kind), f"{runs[0]['n_features']:,}", f"{median(runs, 'peak_mb'):.0f}"]
        for name, runs in results.items()
        for kind in runs[0]["rates"]
    ]
    return "\n".join(
        [
            title("Features from tokens"),
            paragraph(
                """``TemplateVectorizer("chunking")`` on tokens in memory, one thread, to a ``SequenceMatrix``; the same
                attributes as Python strings, alone and with what CRFsuite's trainer needs to take them
                (``append``). (``vectorizing``)"""
            ),
            table(["", "tokens a second", "features", "peak MB"], rows),
        ]
    )
