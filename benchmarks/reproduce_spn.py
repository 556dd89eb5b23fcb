# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Ratajczak, Tschiatschek and Pernkopf (2018) again: letters and phones, networks of every order.

Each fold of each model has a file in the folder of results; what is there is not done again, so that a sitting may be
stopped at any time. ``--render`` writes docs/experiments/spn.rst from these files. Settings are chosen within the
training folds (``--tune sigma=0.3,0.5``), never on the fold that judges.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .experiments import combinations, grid
from .harness import ROOT
from .spn.models import MODELS, TUNED
from .spn.page import render
from .spn.runs import Run
from .spn.tables import TABLES
from .spn.tasks import TASKS

__all__ = ["main"]


def say(text: str) -> None:
    """Progress."""
    print(text, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce_spn", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--split", choices=[*TASKS, "all"], default="all")
    parser.add_argument("--models", type=_names, metavar="NAME,...", help="default: those of the tables")
    parser.add_argument("--folds", type=int, help="of each model, the first ones (default: all)")
    parser.add_argument("--tune", action="append", default=[], metavar="NAME=V,...", type=grid(TUNED),
                        help=f"train without two folds and judge by the second; of {', '.join(TUNED)}")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="threads of training (default 1)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no run after this time")
    parser.add_argument("--crfsuite-python", default=sys.executable, help="interpreter that has python-crfsuite")
    parser.add_argument("--quick", action="store_true", help="digits shipped inside and few passes, seconds")
    parser.add_argument("--results", type=Path, default=Path("spn-results"), metavar="FOLDER")
    parser.add_argument("--render", action="store_true", help="write the page from the results, and run nothing")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in MODELS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(MODELS)}")
    return names


def plan(args: argparse.Namespace) -> list[Run]:
    """The runs, fold by fold, so that a sitting that ends early has something of every model."""
    splits = list(TASKS) if args.split == "all" else [args.split]
    if args.tune:
        trials = combinations(dict(args.tune))
        return [
            Run(split, model, 0, args.quick, dev=True, trial=trial)
            for split in splits
            for model in args.models or []
            for trial in trials
        ]
    runs = []
    for split in splits:
        models = args.models or [name for table in TABLES if table.task == split for name in table.models]
        for name in dict.fromkeys(models):
            n = TASKS[split].folds(quick=args.quick)
            runs += [Run(split, name, fold, args.quick) for fold in range(min(n, args.folds or n))]
    return sorted(runs, key=lambda run: run.fold)


def main(argv: list[str] | None = None) -> int:
    """Do the runs that the arguments ask for, or write the page."""
    parser = _parser()
    args = parser.parse_args(argv)
    for name in ("folds", "jobs"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            parser.error(f"--{name} must be 1 or more, got {getattr(args, name)}")
    if args.tune and not args.models:
        parser.error("--tune needs --models")
    try:
        if args.render:
            render(args.results, ROOT / "docs", say=say)
            return 0
        args.results.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        for run in plan(args):
            if time.monotonic() - began > 60 * args.minutes:
                say(f"{run.name}: not started, {args.minutes:g} minutes are over")
                continue
            run.do(args.results, jobs=args.jobs, crfsuite=args.crfsuite_python, say=say)
    except ValueError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
