# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Sun and Tsujii (EACL 2009) again: NP chunking and Bio-NER, plain and latent, every decoder.

All chunk types are added to them. Runs go to files in the folder of results, one a corpus, model and seed; what is
there is not done again, so that a sitting may be stopped at any time. ``--render`` writes docs/experiments/ldi.rst from
these files. Choices are made on a third of the training part (``--tune sigma=0.5,1,2``), never on the test part; what
was chosen stands in benchmarks/ldi/tasks.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from .experiments import combinations, grid, read_json
from .harness import ROOT
from .ldi.compare import compare
from .ldi.page import render
from .ldi.runs import CLOCK, Run
from .ldi.tasks import STATES, TASKS, TEMPLATES

__all__ = ["main"]


def _states(text: str) -> int | str:
    return text if text in STATES else int(text)


#: What ``--tune`` may vary, and how it is read; to a plain CRF the last mean nothing.
_TUNED = {
    "sigma": float, "min_df": int, "templates": str, "edges": str, "support": str, "solver": str, "batch_size": int,
    "max_iter": int, "n_latent": _states, "init_scale": float,
}  # fmt: skip
_LATENT_ONLY = ("n_latent", "init_scale")
_CHOICES = {
    "templates": list(TEMPLATES), "edges": ["all", "none", "word"], "support": ["observed", "all"],
    "solver": ["lbfgs", "sgd", "adam", "adf"],
}  # fmt: skip
#: Passes of a stochastic solver and iterations of L-BFGS in quick mode.
_QUICK_ITERATIONS = {"lbfgs": 12, "sgd": 3, "adam": 3, "adf": 3}


def say(text: str) -> None:
    """Progress."""
    print(text, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce_ldi", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--corpus", choices=[*TASKS, "all"], default="all")
    parser.add_argument("--models", type=_names, default=["crf", "latent", "dev"], metavar="NAME,...",
                        help="of crf, latent and dev, the latent model of the pictures (default: all)")  # fmt: skip
    parser.add_argument("--seeds", type=int, default=5, help="starts of the latent models (default 5)")
    parser.add_argument("--n-paths", type=_counts, metavar="N,...",
                        help="of the published search (default 1,10,30,100,1000; first seed: 10000 too)")  # fmt: skip
    parser.add_argument("--mbr-paths", type=int, default=30, help="label sequences that mbr compares (default 30)")
    for name, kind in _TUNED.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, choices=_CHOICES.get(name),
                            help="of every model, in place of what was chosen for it")  # fmt: skip
    parser.add_argument("--tune", action="append", default=[], metavar="NAME=V,...", type=grid(_TUNED, _CHOICES),
                        help=f"train on two thirds and judge by the rest; of {', '.join(_TUNED)}")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="threads of training; decoding is timed on one")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no run after this time")
    parser.add_argument("--permutations", type=int, help="of the randomization test (default 10,000)")
    parser.add_argument("--quick", action="store_true", help="the small corpus shipped inside, seconds")
    parser.add_argument("--results", type=Path, default=Path("ldi-results"), metavar="FOLDER")
    parser.add_argument("--render", action="store_true", help="write the page from the results, and run nothing")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in ("crf", "latent", "dev"):
            raise argparse.ArgumentTypeError(f"{name!r} is none of crf, latent, dev")
    return names


def _counts(text: str) -> list[int]:
    counts = sorted({int(part) for part in text.split(",")})
    if counts[0] < 1:
        raise argparse.ArgumentTypeError(f"numbers of paths are 1 or more, got {counts[0]}")
    return counts


def _settings(args: argparse.Namespace, corpus: str, model: str) -> dict:
    """What training depends on, the seed apart."""
    settings = TASKS[corpus].latent if model == "latent" else TASKS[corpus].crf
    asked = {name: getattr(args, name) for name in _meant(_TUNED, model)}
    settings = settings | {name: value for name, value in asked.items() if value is not None}
    if args.quick and args.max_iter is None:
        settings["max_iter"] = _QUICK_ITERATIONS[settings["solver"]]
    return settings | {"quick": args.quick}


def _meant(names: Iterable[str], model: str) -> list[str]:
    """Those settings that mean something to the model."""
    return [name for name in names if model == "latent" or name not in _LATENT_ONLY]


def _decoding(args: argparse.Namespace, *, longest: bool) -> dict:
    """How a run decodes; `longest`: with the number of paths that takes longest too."""
    grid, last = ([1, 10, 30], 100) if args.quick else ([1, 10, 30, 100, 1000], 10_000)
    return {
        "n_paths": args.n_paths or ([*grid, last] if longest else grid),
        "mbr_paths": args.mbr_paths,
        "mass_paths": 100 if args.quick else 1000,
        "mass_sentences": 10 if args.quick else 300,
        "repeats": 1 if args.quick else 3,
        "clock": CLOCK,
    }


def plan(args: argparse.Namespace) -> list[Run]:
    """The runs, those first without which a page says least."""
    corpora = list(TASKS) if args.corpus == "all" else [args.corpus]

    def run(corpus: str, model: str, seed: int = 0, **more) -> Run:
        decoding = _decoding(args, longest=model == "latent" and seed == 0 and not more.get("dev"))
        return Run(corpus, model, seed, _settings(args, corpus, model) | more.get("trial", {}), decoding, **more)

    if args.tune:
        return [
            run(corpus, model, dev=True, trial=trial)
            for corpus in corpora
            for model in args.models
            if model != "dev" and (model == "latent" or TASKS[corpus].crf is not None)
            for trial in _trials(dict(args.tune), model)
        ]
    runs = []
    for corpus in corpora:
        if "crf" in args.models and TASKS[corpus].crf is not None:
            runs.append(run(corpus, "crf"))
        if "latent" in args.models:
            runs.append(run(corpus, "latent"))
    if "dev" in args.models:
        runs += [run(corpus, "latent", dev=True) for corpus in corpora if TASKS[corpus].pictured]
    if "latent" in args.models:
        runs += [
            run(corpus, "latent", k) for k in range(1, args.seeds) for corpus in corpora if k < TASKS[corpus].seeds
        ]
    return runs


def _trials(values: dict[str, list], model: str) -> list[dict]:
    """Every combination of the values that mean something to the model."""
    return combinations({name: values[name] for name in _meant(values, model)})


def main(argv: list[str] | None = None) -> int:
    """Do the runs that the arguments ask for, or write the page."""
    parser = _parser()
    args = parser.parse_args(argv)
    for name in ("seeds", "mbr_paths", "min_df", "jobs"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be 1 or more, got {getattr(args, name)}")
    n_permutations = args.permutations or (500 if args.quick else 10_000)
    if args.render:
        try:
            render(args.results, ROOT / "docs", n_seeds=args.seeds, n_permutations=n_permutations, say=say)
        except ValueError as error:
            parser.error(str(error))
        return 0
    args.results.mkdir(parents=True, exist_ok=True)
    began, runs = time.monotonic(), plan(args)
    for run in runs:
        if time.monotonic() - began > 60 * args.minutes:
            say(f"{run.name}: not started, {args.minutes:g} minutes are over")
            continue
        try:
            run.do(args.results, jobs=args.jobs, say=say)
        except ValueError as error:
            parser.error(str(error))
        if run.model == "latent" and not run.dev:
            compare(args.results, run.name, TASKS[run.corpus].plain_run, n_permutations=n_permutations)
    if args.tune:
        _show_trials(args.results, runs)
    return 0


def _show_trials(folder: Path, runs: list[Run]) -> None:
    say("held-out part: F1, sentences right")
    for run in runs:
        result = read_json(folder / f"{run.name}.json")
        if result is not None and "decoding" in result:
            found = next(iter(result["decoding"]["decoders"].values()))
            say(f"{run.name:60} {found['f1']:.2f} {found['sentence_accuracy']:.2f}")


if __name__ == "__main__":
    sys.exit(main())
