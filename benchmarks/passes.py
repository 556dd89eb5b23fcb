# SPDX-License-Identifier: BSD-3-Clause
"""Test F1 against training time: ``python -m benchmarks.passes [--task np] [--n-latent 5] SOLVER:PASSES,... ...``.

For example ``sgd:1,2,3,4,5,6,8 lbfgs:30,50,70,100,200 l2sgd:5,10,15,20``, the last one with ``--crfsuite-python``.
Each number is a fit of its own in a process of its own; the solvers take turns.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from sklearn_latent.metrics import chunk_f1_score

from . import corpus
from .harness import run


def main(argv: list[str] | None = None) -> int:
    """Print a line a fit: solver, passes, F1, wall and processor seconds, the least of the repeats."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.passes")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--task", choices=["all", "np"], default="all")
    parser.add_argument("--n-latent", default="1")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--crfsuite-python", default=sys.executable)
    parser.add_argument("--quick", action="store_true", help="the small corpus shipped with the package")
    args = parser.parse_args(argv)
    plan = [(name, [int(k) for k in passes.split(",")]) for name, passes in (text.split(":") for text in args.runs)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.npz"
        gold = corpus.write(path, args.task, quick=args.quick)["gold"]
        for k in range(max(len(passes) for _, passes in plan)):
            for name, passes in plan:
                if k >= len(passes):
                    continue
                python = args.crfsuite_python if name == "l2sgd" else sys.executable
                arguments = [str(path), name, str(passes[k]), args.n_latent]
                results = [run(python, "benchmarks.workers.passes", arguments) for _ in range(args.repeats)]
                if None in results:
                    print(f"{name}: not installed, skipped")
                    continue
                f1 = 100.0 * chunk_f1_score(gold, results[0]["labels"])
                wall, cpu = (min(r[clock] for r in results) for clock in ("seconds", "cpu"))
                print(f"{name:6} {passes[k]:4d}  F1 {f1:.2f}  {wall:7.2f} s  {cpu:7.2f} s of processor", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
