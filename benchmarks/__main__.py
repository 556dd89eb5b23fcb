# SPDX-License-Identifier: BSD-3-Clause
"""``python -m benchmarks NAME``: ours and the peers interleaved, a table on the screen, JSON in a file.

========== ==================================================================================================
conll      CoNLL-2000, all chunk types: F1 and objective beside python-crfsuite at the same prior
evaluation one loss and gradient of a latent CRF (3 labels x 5 states) beside PyTorch
decoding   every decoder on the test set with 1 and 3 states a label: certificates, time
fit        where the time and the memory of `fit` go
methods    time per token of every method on the CoNLL-2000 test set, beside `predict`
ocr        OCR letters, ten folds: error with 1 and 2 states a label beside python-crfsuite
========== ==================================================================================================
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from sklearn_latent.metrics import chunk_f1_score

from . import corpus
from .harness import ROOT, interleave, machine, median, run, spread
from .render import render

OURS, CRFSUITE, TORCH = "benchmarks.workers.ours", "benchmarks.workers.crfsuite", "benchmarks.workers.torch_latent"


def say(text: str) -> None:
    """Progress and tables."""
    print(text, flush=True)


def conll(args, path: Path, pythons: dict) -> dict:
    """Accuracy and objective."""
    gold = corpus.write(path, "all", quick=args.quick)["gold"]
    limit = ["max_iter=30"] if args.quick else []
    out = {}
    for support in ("observed", "all") if args.all_weights else ("observed",):
        runs = [
            ("ours", OURS, ["train", str(path), f"support={support}", "boundary=0", *limit]),
            ("ours, with start and end weights", OURS, ["train", str(path), f"support={support}", *limit]),
            ("python-crfsuite", CRFSUITE, ["train", str(path), f"support={support}", *limit]),
        ]
        results = interleave(runs, args.repeats, pythons, say)
        say(f"\n{support} weights{'':<24}F1   objective  iterations  s/iteration   peak MB")
        for name, found in results.items():
            f1 = 100 * chunk_f1_score(gold, found[0].pop("labels"))
            for other in found[1:]:
                other.pop("labels")
            found[0]["f1"] = f1
            say(
                f"{name:<34}{f1:7.2f}{found[0]['objective']:12.3f}{found[0]['n_iter']:9d}"
                f"{median(found, 'seconds_per_iteration'):13.3f} ({spread(found, 'seconds_per_iteration')})"
                f"{median(found, 'peak_mb'):10.0f}"
            )
        out[support] = results
    return out


def evaluation(args, path: Path, pythons: dict) -> dict:
    """Loss and gradient against PyTorch."""
    corpus.write(path, "np", quick=args.quick)
    runs = [
        ("ours, all weights", OURS, ["evaluation", str(path), "support=all"]),
        ("ours, observed weights", OURS, ["evaluation", str(path), "support=observed"]),
        ("ours, all weights, 2 threads", OURS, ["evaluation", str(path), "support=all", "threads=2"]),
        ("PyTorch, float64", TORCH, ["evaluation", str(path)]),
    ]
    results = interleave(runs, args.repeats, pythons, say)
    say(f"\n{'':<32}s/evaluation            weights   peak MB")
    for name, found in results.items():
        say(
            f"{name:<32}{median(found, 'seconds'):.3f} ({spread(found, 'seconds')})  {found[0]['n_weights']:12,d}"
            f"{median(found, 'peak_mb'):10.0f}"
        )
    if "PyTorch, float64" in results:
        ratio = median(results["PyTorch, float64"], "seconds") / median(results["ours, all weights"], "seconds")
        say(f"PyTorch / ours, same weights, one thread: {ratio:.2f}")
    return results


def decoding(args, path: Path, pythons: dict) -> dict:
    """Certificates and times of the decoders."""
    out = {}
    gold = corpus.write(path, "all", quick=args.quick)["gold"]
    for n_latent in (1, 3):
        arguments = ["decode", str(path), f"n_latent={n_latent}", f"max_iter={20 if args.quick else 100}"]
        result = run(sys.executable, OURS, arguments)
        say(f"\n{n_latent} state(s) a label")
        say(f"{'decoder':<12}{'F1':>7}{'certified':>11}{'us/token':>10}{'/ bhp':>7}{'expanded/token':>18}{'log P':>12}")
        for name, found in result["decoders"].items():
            found["f1"] = 100 * chunk_f1_score(gold, found.pop("labels"))
            say(
                f"{name:<12}{found['f1']:7.2f}{100 * found['certified']:10.1f}%{found['us_per_token']:10.2f}"
                f"{found['seconds'] / result['decoders']['bhp']['seconds']:7.2f}{found['expanded_per_token']:18.2f}"
                f"{found['log_prob']:12.2f}"
            )
        out[n_latent] = result
    return out


def fit(args, path: Path, pythons: dict) -> dict:
    """Where time and memory go."""
    out = {}
    for task, n_latent in (("all", 1), ("np", 5)):
        corpus.write(path, task, quick=args.quick)
        result = run(sys.executable, OURS, ["where", str(path), f"n_latent={n_latent}"])
        per = 1e3 / result["n_iter"]
        say(f"\n{task}, {n_latent} state(s) a label: {result['n_weights']:,} weights, {result['n_iter']} iterations")
        say(f"  whole fit {result['seconds']:.2f} s, outside evaluations {result['outside_evaluations']:.2f} s")
        for name, seconds in result["spent"].items():
            say(f"  {name:<20}{seconds:8.2f} s{seconds * per:10.1f} ms an iteration")
        for name, stage in result["memory"].items():
            say(f"  memory, {name:<16}{stage['mb']:8.0f} MB")
        out[f"{task} {n_latent}"] = result
    return out


def methods(args, path: Path, pythons: dict) -> dict:
    """Time per token of each method."""
    out = {}
    for task, n_latent in (("all", 1), ("np", 3)):
        corpus.write(path, task, quick=args.quick)
        result = run(sys.executable, OURS, ["methods", str(path), f"n_latent={n_latent}"])
        base = result["us_per_token"]["predict, ldi_exact"]
        say(f"\n{task}, {n_latent} state(s) a label{'':<12}us/token  / predict")
        for name, micros in result["us_per_token"].items():
            say(f"  {name:<32}{micros:8.2f}{micros / base:11.2f}")
        out[f"{task} {n_latent}"] = result
    return out


def ocr(args, path: Path, pythons: dict) -> dict:
    """Ten folds of the OCR letters; in quick mode one, and 20 iterations of ours."""
    n_folds = corpus.write_letters(path)
    folds = range(1 if args.quick else n_folds)
    limit = ["max_iter=20"] if args.quick else []
    names = {
        "ours, 1 state": (OURS, ["n_latent=1", *limit]),
        "ours, 2 states": (OURS, ["n_latent=2", *limit]),
        "python-crfsuite": (CRFSUITE, []),
    }
    errors: dict[str, list] = {name: [] for name in names}
    for fold in folds:
        runs = [(name, module, ["letters", str(path), f"fold={fold}", *rest]) for name, (module, rest) in names.items()]
        for name, found in interleave(runs, 1, pythons, say).items():
            errors[name].append(found[0])
    say(f"\n{'OCR letters':<20}error %  (per fold)")
    for name, found in errors.items():
        if found:
            values = [r["error"] for r in found]
            say(
                f"{name:<20}{sum(values) / len(values):7.2f}  ({' '.join(f'{v:.2f}' for v in values)})  "
                f"{median(found, 'seconds'):.1f} s a fold, {median(found, 'n_iter'):.0f} iterations"
            )
    return errors


BENCHMARKS = {
    "conll": conll,
    "evaluation": evaluation,
    "decoding": decoding,
    "fit": fit,
    "methods": methods,
    "ocr": ocr,
}


def main(argv: list[str] | None = None) -> int:
    """Run benchmarks by name."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument(
        "--render", nargs="+", type=Path, metavar="JSON", help="write docs/performance.rst from results"
    )
    parser.add_argument("--repeats", type=int, default=3, help="runs of each worker, by turns (default 3)")
    parser.add_argument("--quick", action="store_true", help="the small corpus shipped inside: minutes become seconds")
    parser.add_argument("--all-weights", action="store_true", help="conll: also with every (feature, label) weight")
    parser.add_argument("--crfsuite-python", default=sys.executable, help="interpreter that has python-crfsuite")
    parser.add_argument("--torch-python", default=sys.executable, help="interpreter that has torch")
    parser.add_argument("--json", type=Path, help="write the results here")
    args = parser.parse_args(argv)
    unknown = sorted(set(args.names) - set(BENCHMARKS))
    if unknown or not (args.names or args.render):
        parser.error(f"no benchmark named {', '.join(unknown)}" if unknown else "name a benchmark, or --render results")
    if args.render:
        render(args.render, ROOT / "docs" / "performance.rst")
        return 0
    pythons = {"crfsuite": args.crfsuite_python, "torch_latent": args.torch_python}
    report = {"machine": machine(), "quick": args.quick, "repeats": args.repeats}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names:
            say(f"== {name}")
            report[name] = BENCHMARKS[name](args, Path(folder) / "corpus.npz", pythons)
    report["load_after"] = machine()["load"]
    if args.json:
        args.json.write_text(json.dumps(report, indent=1))
        say(f"written to {args.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
