# SPDX-License-Identifier: BSD-3-Clause
"""``python -m benchmarks NAME ...``: ours and the peers by turns, tables on the screen, JSON in a file."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .harness import ROOT, Bench, machine
from .render import render
from .suites import SUITES


def say(text: str) -> None:
    """Progress and tables."""
    print(text, flush=True)


def _described() -> str:
    width = max(map(len, SUITES))
    lines = [f"  {name:<{width}}  {module.__doc__.strip().splitlines()[0]}" for name, module in SUITES.items()]
    return "\n".join(["benchmarks:", *lines])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, epilog=_described(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run")
    parser.add_argument(
        "--render", nargs="+", type=Path, metavar="JSON", help="write docs/performance.rst from results"
    )
    parser.add_argument("--repeats", type=int, default=3, help="runs of each worker, by turns (default 3)")
    parser.add_argument("--quick", action="store_true", help="the small corpus shipped inside: minutes become seconds")
    parser.add_argument("--all-weights", action="store_true", help="conll: also with every (feature, label) weight")
    parser.add_argument("--crfsuite-python", default=sys.executable, help="interpreter that has python-crfsuite")
    parser.add_argument("--torch-python", default=sys.executable, help="interpreter that has torch")
    parser.add_argument("--wapiti", metavar="PATH", help="the program that benchmarks/build_wapiti.py builds")
    parser.add_argument("--json", type=Path, help="write the results here, after each benchmark")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run benchmarks by name."""
    parser = _parser()
    args = parser.parse_args(argv)
    unknown = sorted(set(args.names) - set(SUITES))
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(SUITES)}")
    if bool(args.names) == bool(args.render):
        parser.error("name benchmarks, or give --render results")
    if args.repeats < 1:
        parser.error(f"--repeats must be 1 or more, got {args.repeats}")
    if args.render:
        render(args.render, ROOT / "docs" / "performance.rst", say)
        return 0
    programs = {}
    for option in ("crfsuite_python", "torch_python", "wapiti"):
        given = getattr(args, option)
        found = given and shutil.which(given)
        if given and not found:
            parser.error(f"--{option.replace('_', '-')}: {given} is no program that can be run")
        # Workers start in the checkout's folder. Links are kept: what a link to an interpreter points to lacks its
        # environment.
        programs[option.removesuffix("_python")] = found and os.path.abspath(found)
    wapiti = programs.pop("wapiti")
    report: dict = {"machine": machine(), "quick": args.quick, "taken": {}}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), args.quick, args.repeats, programs, wapiti, args.all_weights, say)
        for name in args.names:
            say(f"== {name}")
            bench.skipped.clear()
            # Through JSON and back, so that what is shown is what a file would show.
            report[name] = results = json.loads(json.dumps(SUITES[name].run(bench)))
            report["taken"][name] = _sitting(bench, results)
            say("\n" + SUITES[name].section(results))
            if args.json:
                args.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    if args.json:
        say(f"written to {args.json}")
    return 0


def _sitting(bench: Bench, results: dict) -> dict:
    """What the page tells about how a benchmark was taken."""
    runs = list(_runs(results))
    versions: dict = {}
    for run in runs:
        versions |= run["versions"]
    return {
        "repeats": bench.repeats,
        "loads": [run["load_before"] for run in runs],
        "versions": versions,
        "commit": machine()["commit"],
        "skipped": sorted(bench.skipped),
    }


def _runs(results) -> Iterator[dict]:
    """Every worker's result, however deep."""
    if isinstance(results, dict) and "load_before" in results:
        yield results
    elif isinstance(results, (dict, list)):
        for part in results.values() if isinstance(results, dict) else results:
            yield from _runs(part)


if __name__ == "__main__":
    sys.exit(main())
