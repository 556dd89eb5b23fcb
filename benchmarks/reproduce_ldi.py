# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Sun and Tsujii (EACL 2009) again: NP chunking and Bio-NER, plain and latent, every decoder.

Runs go to files in the folder of results, one a corpus, model and seed; what is there is not done again, so that a
sitting may be stopped at any time. ``--render`` writes docs/experiments/ldi.rst from these files. Choices are made on a
tenth of the training part (``--tune sigma=0.5,1,2``), never on the test part.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .experiments import combinations, grid, read_json
from .harness import ROOT
from .ldi.compare import compare
from .ldi.page import render
from .ldi.runs import CLOCK, Run
from .ldi.tasks import TASKS

__all__ = ["main"]

#: Training of a plain CRF has one optimum: it is run until it is there.
_CRF_ITERATIONS = 500
#: What ``--tune`` may vary, and how it is read; the plain CRF has only the first two.
_TUNED = {"sigma": float, "min_df": int, "init_scale": float, "n_latent": int, "max_iter": int}
_CRF_TUNED = ("sigma", "min_df")


def say(text: str) -> None:
    """Progress."""
    print(text, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce_ldi", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--corpus", choices=[*TASKS, "both"], default="both")
    parser.add_argument("--models", type=_names, default=["crf", "latent", "dev"], metavar="NAME,...",
                        help="of crf, latent and dev, the latent model of the pictures (default: all)")  # fmt: skip
    parser.add_argument("--seeds", type=int, default=5, help="starts of the latent models (default 5)")
    parser.add_argument("--n-paths", type=_counts, metavar="N,...",
                        help="latent paths of the published search (default 1,10,30,100,1000)")  # fmt: skip
    parser.add_argument("--mbr-paths", type=int, default=30, help="label sequences that mbr compares (default 30)")
    parser.add_argument("--max-iter", type=int, help="iterations of the latent models (default 150)")
    parser.add_argument("--sigma", type=float, default=1.0, help="of the prior (default 1)")
    parser.add_argument("--init-scale", type=float, help="range of the start (default: np 0.01, bio 0.1)")
    parser.add_argument("--min-df", type=int, default=2, help="least tokens of a feature (default 2)")
    parser.add_argument("--edges", choices=["auto", "all", "word", "none"], default="auto",
                        help="features with weights on pairs of states: np has all, bio none (auto)")  # fmt: skip
    parser.add_argument("--tune", action="append", default=[], metavar="NAME=V,...", type=grid(_TUNED),
                        help=f"train on nine tenths and judge by the rest; of {', '.join(_TUNED)}")  # fmt: skip
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
    task = TASKS[corpus]
    latent = model == "latent"
    max_iter = args.max_iter or (12 if args.quick else 150)
    return {
        "n_latent": task.n_latent if latent else 1,
        "sigma": args.sigma,
        # A plain CRF starts at zero.
        "init_scale": (args.init_scale or task.init_scale) if latent else 0.1,
        "max_iter": max_iter if latent or args.quick else _CRF_ITERATIONS,
        "min_df": args.min_df,
        "templates": task.templates,
        "edges": task.edges if args.edges == "auto" else args.edges,
        "quick": args.quick,
    }


def _decoding(args: argparse.Namespace) -> dict:
    return {
        "n_paths": args.n_paths or ([1, 10, 30] if args.quick else [1, 10, 30, 100, 1000]),
        "mbr_paths": args.mbr_paths,
        "mass_paths": 100 if args.quick else 1000,
        "mass_sentences": 10 if args.quick else 300,
        "repeats": 1 if args.quick else 3,
        "clock": CLOCK,
    }


def plan(args: argparse.Namespace) -> list[Run]:
    """The runs, those first without which a page says least."""
    corpora = list(TASKS) if args.corpus == "both" else [args.corpus]
    decoding = _decoding(args)

    def run(corpus: str, model: str, seed: int = 0, **more) -> Run:
        return Run(corpus, model, seed, _settings(args, corpus, model) | more.get("trial", {}), decoding, **more)

    if args.tune:
        return [
            run(corpus, model, dev=True, trial=trial)
            for corpus in corpora
            for model in args.models
            if model != "dev"
            for trial in _trials(dict(args.tune), model)
        ]
    runs = []
    for corpus in corpora:
        runs += [run(corpus, model) for model in ("crf", "latent") if model in args.models]
    if "dev" in args.models:
        runs += [run(corpus, "latent", dev=True) for corpus in corpora]
    if "latent" in args.models:
        runs += [run(corpus, "latent", seed) for seed in range(1, args.seeds) for corpus in corpora]
    return runs


def _trials(values: dict[str, list], model: str) -> list[dict]:
    """Every combination of the values that mean something to the model."""
    return combinations({n: v for n, v in values.items() if model == "latent" or n in _CRF_TUNED})


def main(argv: list[str] | None = None) -> int:
    """Do the runs that the arguments ask for, or write the page."""
    parser = _parser()
    args = parser.parse_args(argv)
    for name in ("seeds", "mbr_paths", "min_df", "jobs"):
        if getattr(args, name) < 1:
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
            compare(args.results, run.name, f"{run.corpus}-crf-0", n_permutations=n_permutations)
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
