# SPDX-License-Identifier: BSD-3-Clause
"""The documentation's performance page, from the results of benchmarks: no figure is copied by hand."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from statistics import mean, stdev

from .harness import median

__all__ = ["render"]

_HEAD = """\
Performance
===========

.. This page is written by ``python -m benchmarks --render results.json ...``.

Every figure on this page comes from a command in the checkout, with the package installed editable
(``pip install -e ".[test]"``); peers that are not installed are skipped by name.

.. code-block:: sh

   python -m benchmarks conll evaluation decoding fit methods ocr --json results.json
   python -m benchmarks conll evaluation decoding fit methods --quick     # the corpus shipped inside, seconds
   python -m benchmarks --render results.json                             # this page

``--crfsuite-python`` and ``--torch-python`` name interpreters that have the peers. Workers run in processes of their
own, by turns, several times; figures are medians, with the range in brackets. They were taken on a shared machine with
{cpus} processors (Python {python}, numpy {numpy}, SciPy {scipy}, scikit-learn {scikit-learn}; load {load} before):
read the ratios, not the seconds.

Text: CoNLL-2000 (8,936 training sentences, 211,727 tokens; 2,012 test sentences, 47,377 tokens), the ``"chunking"``
templates (335,674 features, 18 a token), sigma = 1.
"""


def render(paths: list[Path], target: Path) -> None:
    """Write the page from one or more result files; later ones replace earlier ones benchmark by benchmark."""
    report: dict = {}
    for path in paths:
        report |= json.loads(path.read_text())
    machine = report["machine"] | {"load": ", ".join(f"{v:.1f}" for v in report["machine"]["load"])}
    parts = [_HEAD.format(**machine)]
    parts += [section(report[name]) for name, section in SECTIONS.items() if name in report]
    target.write_text("\n".join(parts), encoding="utf-8")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A simple reStructuredText table."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    bar = " ".join("=" * width for width in widths)

    def line(row: list[str]) -> str:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        return " ".join(cells).rstrip()

    return "\n".join([bar, line(head), bar, *(line(row) for row in rows), bar]) + "\n"


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False) + "\n"


def _title(text: str) -> str:
    return f"{text}\n{'-' * len(text)}\n"


def _seconds(runs: list[dict], key: str) -> str:
    values = [r[key] for r in runs]
    return f"{median(runs, key):.3f} ({min(values):.3f} to {max(values):.3f})"


def _conll(results: dict) -> str:
    text = [
        _title("Accuracy and objective"),
        _paragraph(
            "All chunk types (22 labels in training), ``n_latent=1``, beside python-crfsuite with the same "
            "features and the same prior (``c2 = 1 / (2 sigma^2)``), each to its own stopping rule, one "
            "thread. CRFsuite has no start and end weights, so they are off in the first row. (``conll``)"
        ),
    ]
    for support, found in results.items():
        rows = [
            [
                name,
                f"{runs[0]['f1']:.2f}",
                f"{runs[0]['objective']:.3f}",
                str(runs[0]["n_iter"]),
                _seconds(runs, "seconds_per_iteration"),
                f"{median(runs, 'peak_mb'):.0f}",
            ]
            for name, runs in found.items()
        ]
        kind = "observed in training" if support == "observed" else "all, one for every feature and label"
        text += [f"Weights: {kind}.\n", table(["", "F1", "objective", "iterations", "s an iteration", "peak MB"], rows)]
    return "\n".join(text)


def _evaluation(results: dict) -> str:
    rows = [
        [name, _seconds(runs, "seconds"), f"{runs[0]['n_weights']:,}", f"{median(runs, 'peak_mb'):.0f}"]
        for name, runs in results.items()
    ]
    text = [
        _title("One loss and gradient of a latent CRF"),
        _paragraph(
            "Noun phrases, 3 labels with 5 states each, float64. The peer is what an expert writes in "
            "PyTorch: embedding bags, batches padded by length (2,048 sentences), a forward pass of scaled "
            "matrix products, automatic differentiation. (``evaluation``)"
        ),
        table(["", "seconds", "weights", "peak MB"], rows),
    ]
    if "PyTorch, float64" in results:
        ratio = median(results["PyTorch, float64"], "seconds") / median(results["ours, all weights"], "seconds")
        text.append(f"With the same weights and one thread PyTorch takes {ratio:.1f} times as long.\n")
    return "\n".join(text)


def _decoding(results: dict) -> str:
    text = [
        _title("Decoders"),
        _paragraph(
            "All chunk types, the test sentences, features made beforehand, one thread; 100 iterations of "
            "training. *Certified*: share of the sentences whose labels are proven to be the most probable "
            "ones; *expanded*: steps of the search a token. (``decoding``)"
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


_SETTINGS = {"all 1": "22 labels, 1 state each", "np 3": "3 labels, 3 states each", "np 5": "3 labels, 5 states each"}


def _methods(results: dict) -> str:
    names = next(iter(results.values()))["us_per_token"]
    rows = [[name, *(f"{r['us_per_token'][name]:.2f}" for r in results.values())] for name in names]
    return "\n".join(
        [
            _title("Each method"),
            "Microseconds a token on the test sentences, 60 iterations of training. (``methods``)\n",
            table(["", *(_SETTINGS[key] for key in results)], rows),
        ]
    )


def _fit(results: dict) -> str:
    names = list(next(iter(results.values()))["spent"])
    rows = [["weights (observed)", *(f"{r['n_weights']:,}" for r in results.values())]]
    for name in names:
        rows.append([name, *(f"{1e3 * r['spent'][name] / r['n_iter']:.1f}" for r in results.values())])
    outside = [f"{1e3 * r['outside_evaluations'] / r['n_iter']:.1f}" for r in results.values()]
    rows.append(["the rest (mostly L-BFGS)", *outside])
    rows.append(["whole fit, seconds", *(f"{r['seconds']:.1f}" for r in results.values())])
    rows.append(["before training, MB", *(f"{r['memory']['corpus loaded']['mb']:.0f}" for r in results.values())])
    rows.append(["peak, MB", *(f"{r['memory']['fitted']['mb']:.0f}" for r in results.values())])
    return "\n".join(
        [
            _title("Where the time and the memory of fit go"),
            _paragraph(
                "One thread, 30 iterations of L-BFGS; milliseconds an iteration unless said otherwise. Before "
                "training there are Python with its libraries (about 150 MB), the features and the labels. "
                "Training adds the features transposed, some 17 vectors of the length of the weights, most of "
                "them in L-BFGS, and a row of score derivatives a token of one chunk. (``fit``)"
            ),
            table(["", *(_SETTINGS[key] for key in results)], rows),
        ]
    )


def _ocr(results: dict) -> str:
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
        _title("OCR letters"),
        _paragraph(
            "6,877 handwritten words, 128 binary pixels and a constant, ten folds by word as given with the "
            "corpus, every weight, sigma = 1, each to its own stopping rule (at most 500 iterations). Ours "
            "have start and end weights, CRFsuite has none. Errors in per cent of the letters. (``ocr``)"
        ),
        table(["", "error %", "s.d. over folds", "iterations", "seconds a fold"], rows),
    ]
    folds = [f"{name}: {' '.join(format(r['error'], '.2f') for r in runs)}" for name, runs in results.items() if runs]
    return "\n".join([*text, "Fold by fold: " + "; ".join(folds) + ".\n"])


SECTIONS = {
    "conll": _conll,
    "evaluation": _evaluation,
    "decoding": _decoding,
    "methods": _methods,
    "fit": _fit,
    "ocr": _ocr,
}
