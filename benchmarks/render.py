# SPDX-License-Identifier: BSD-3-Clause
"""The documentation's performance page, from the results of benchmarks: no figure is copied by hand."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from .plots import draw
from .rst import paragraph, table, title
from .suites import SUITES

__all__ = ["render"]

_HEAD = """\
Performance
===========

.. This page is written by ``python -m benchmarks --render results.json ...``.

Every figure on this page comes from a command in the checkout, with the package installed editable
(``pip install -e ".[test]"``); peers that are not installed are skipped by name.

.. code-block:: sh

   python -m benchmarks {names} --json results.json
   python -m benchmarks {first} --quick          # the corpus shipped inside, seconds
   python -m benchmarks --render results.json    # this page

``--crfsuite-python`` and ``--torch-python`` name interpreters that have the peers, ``--wapiti`` the program that
``python benchmarks/build_wapiti.py FOLDER`` builds. Workers run in processes of their own, by turns, several times;
figures are medians, with the range in brackets. The machine was shared: read the ratios, not the seconds.

Text: CoNLL-2000 (8,936 training sentences, 211,727 tokens; 2,012 test sentences, 47,377 tokens), the ``"chunking"``
templates (335,674 features, 18 a token), sigma = 1, unless a section says otherwise.
"""


def render(paths: list[Path], target: Path, say=print) -> None:
    """Write the page from one or more result files; later ones replace earlier ones benchmark by benchmark.

    Pictures go into the folder ``images`` beside it. Without matplotlib those that are there are kept.

    Parameters
    ----------
    paths : list of Path
    target : Path
    say : callable
        Told what could not be drawn.
    """
    results: dict = {}
    taken: dict = {}
    for path in paths:
        report = json.loads(path.read_text(encoding="utf-8"))
        for name in SUITES:
            if name in report:
                results[name] = report[name]
                taken[name] = report["taken"][name] | {"machine": report["machine"]}
    names = [name for name in SUITES if name in results]
    command = " \\\n       ".join(textwrap.wrap(" ".join(names), 80))
    parts = [_HEAD.format(names=command, first=names[0])]
    for name in names:
        parts.append(SUITES[name].section(results[name]))
        if hasattr(SUITES[name], "figures"):
            parts.append(_pictures(name, SUITES[name].figures(results[name]), target.parent / "images", say))
    parts.append(_sittings(taken))
    target.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _pictures(suite: str, figures: dict, folder: Path, say) -> str:
    """Draw the figures of a section and return what shows them."""
    text = []
    for name, (plot, words) in figures.items():
        path = folder / f"performance-{suite}-{name}.svg"
        drawn = draw(plot, path)
        if not drawn:
            say(f"{path.name}: matplotlib is not installed, not drawn")
        if drawn or path.exists():
            text.append(f".. figure:: images/{path.name}\n   :alt: {words}\n\n   {words}\n")
    return "\n".join(text)


def _sittings(taken: dict) -> str:
    """Where, with what, and beside what other load the figures were taken."""
    rows, versions = [], {}
    for name, sitting in taken.items():
        loads = sitting["loads"]
        middle = f"{sorted(loads)[len(loads) // 2]:.1f} ({min(loads):.1f} to {max(loads):.1f})" if loads else ""
        rows.append([name, str(sitting["repeats"]), middle, sitting["commit"] or "", "; ".join(sitting["skipped"])])
        versions |= sitting["versions"]
    machine = next(iter(taken.values()))["machine"]
    clock = "" if machine["clock_mhz"] is None else f" at {machine['clock_mhz'] / 1e3:.1f} GHz"
    return "\n".join(
        [
            title("The machine, and what else it did"),
            paragraph(
                f"""{machine["cpus"]} processors ({machine["machine"]}{clock}), Python {machine["python"]},
                {", ".join(f"{name} {version}" for name, version in sorted(versions.items()))}. The load is that of the
                last minute before each run: the run before is in it."""
            ),
            table(["benchmark", "runs each", "load before", "commit", "skipped"], rows),
        ]
    )
