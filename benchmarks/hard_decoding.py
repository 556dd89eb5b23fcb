# SPDX-License-Identifier: BSD-3-Clause
"""Exact decoding where it is hard: flat models, models whose latents persist, and lists of the n best.

    python -m benchmarks.hard_decoding [--quick] [--lattices N] [--only flat persistent nbest epsilon] [--json FILE]

Random lattices: node scores normal with the standard deviation given. *Flat*: arc scores too, the same for all tokens.
*Persistent*: an arc scores c if the number of the latent stays the same, else 0. Each is decoded by each variant of the
search:

    R + D     bound R, dominance state by state: what the search does on peaked models
    C1 + S    cone bound and dominance along suffix cones from the start
    F2 + S    after that the line graph with two labels of memory
    F4 + S    up to four labels of memory
    shipped   what `ldi_exact` does: stages when they pay

A row tells expansions (mean and largest), how many lattices were certified, the mean gap in log between bound and
answer, and milliseconds a lattice (CPU time of this thread). Variants that certify must agree on the answer's weight.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from sklearn_latent._decoding._label_search import label_search

#: name: (max_order, patience)
VARIANTS = {"R + D": (0, -1), "C1 + S": (1, 0), "F2 + S": (2, 0), "F4 + S": (4, 0), "shipped": (4, -1)}

#: (labels, latents, tokens), standard deviations
FLAT = [((11, 4, 30), (2.0, 1.0, 0.5, 0.3, 0.1)), ((23, 2, 40), (2.0, 1.0, 0.5, 0.3, 0.1))]
#: (labels, latents, tokens), standard deviation, c
PERSISTENT = [
    ((11, 4, 30), 0.1, 2.0), ((11, 4, 30), 0.3, 2.0), ((11, 4, 30), 0.3, 3.0), ((11, 4, 30), 0.1, 3.0),
    ((11, 4, 30), 0.1, 4.0), ((5, 8, 30), 0.3, 3.0), ((5, 8, 30), 0.3, 4.0), ((5, 8, 30), 0.1, 4.0),
]  # fmt: skip


def lattice(rng: np.random.Generator, shape: tuple[int, int, int], spread: float, stay: float | None):
    """Factors (T, S) and (1, S, S) of one random lattice."""
    n_labels, n_latent, n_tokens = shape
    n_states = n_labels * n_latent
    node = rng.normal(scale=spread, size=(n_tokens, n_states))
    if stay is None:
        arc = rng.normal(scale=spread, size=(n_states, n_states))
    else:
        arc = stay * np.tile(np.eye(n_latent), (n_labels, n_labels))
    return np.exp(node - node.max(axis=1, keepdims=True)), np.exp(arc - arc.max())[None]


def decode(factors, shape, variant: str, *, n_best: int, cap: int, epsilon: float) -> dict:
    """Search one lattice; expansions, proof, gap, weights, seconds."""
    n_labels, n_latent, n_tokens = shape
    label_ptr = (np.arange(n_labels + 1) * n_latent).astype(np.int32)
    labels, weights = np.empty((n_best, n_tokens), dtype=np.int32), np.empty(n_best)
    state = np.arange(n_labels * n_latent, dtype=np.int32)
    began = time.thread_time()
    found, upper, proven, n_expanded = label_search(
        *factors, label_ptr, state, n_best, cap, epsilon, labels, weights, *VARIANTS[variant]
    )
    seconds = time.thread_time() - began
    return {
        "expanded": n_expanded,
        "certified": bool(proven) or (epsilon > 0 and upper - weights[0] <= np.log1p(epsilon) + 1e-9),
        "proven": bool(proven),
        "gap": float(upper - weights[0]),
        "weights": weights[:found].tolist(),
        "seconds": seconds,
    }


def row(
    name: str, shape, spread: float, stay: float | None, variants, options: dict, n_lattices: int, cap: int
) -> dict:
    """Decode `n_lattices` lattices by each of the variants; one line of the table."""
    rng = np.random.default_rng(0)
    runs: dict[str, list[dict]] = {variant: [] for variant in variants}
    agree = True
    for _ in range(n_lattices):
        factors = lattice(rng, shape, spread, stay)
        for variant in variants:
            runs[variant].append(decode(factors, shape, variant, cap=cap, **options))
        proven = [runs[v][-1]["weights"] for v in variants if runs[v][-1]["proven"]]
        agree &= all(np.allclose(w, proven[0], rtol=0.0, atol=1e-9) for w in proven)
    table = {
        variant: {
            "mean_expanded": float(np.mean([r["expanded"] for r in found])),
            "max_expanded": int(max(r["expanded"] for r in found)),
            "certified": int(sum(r["certified"] for r in found)),
            "mean_gap": float(np.mean([r["gap"] for r in found])),
            "milliseconds": 1e3 * float(np.mean([r["seconds"] for r in found])),
        }
        for variant, found in runs.items()
    }
    print(f"{name}, {n_lattices} lattices" + ("" if agree else "  THE VARIANTS DISAGREE"), flush=True)
    for variant, v in table.items():
        print(
            f"    {variant:8} {v['mean_expanded']:9.0f} / {v['max_expanded']:6d}"
            f"  certified {v['certified']}/{n_lattices}  gap {v['mean_gap']:.3f}  {v['milliseconds']:8.2f} ms",
            flush=True,
        )
    return {"name": name, "lattices": n_lattices, "agree": bool(agree), "variants": table}


def tables(names: list[str], n_lattices: int | None, quick: bool) -> dict[str, list[dict]]:
    """Measure the tables named."""
    out: dict[str, list[dict]] = {}
    single = {"n_best": 1, "epsilon": 0.0}
    flat = [((4, 3, 10), (1.0, 0.3))] if quick else FLAT
    persistent = [((3, 3, 10), 0.3, 3.0)] if quick else PERSISTENT
    many, some = (3, 3) if quick else (n_lattices or 200, n_lattices or 20)
    if "flat" in names:
        out["flat"] = []
        for shape, spreads in flat:
            for s in spreads:
                name = f"flat {shape}, s.d. {s}"
                out["flat"].append(row(name, shape, s, None, VARIANTS, single, many, 10**5))
    if "nbest" in names:
        out["nbest"] = []
        for s in flat[0][1]:
            name = f"20 best, flat {flat[0][0]}, s.d. {s}"
            variants = ["C1 + S", "F2 + S", "shipped"]
            out["nbest"].append(row(name, flat[0][0], s, None, variants, {"n_best": 20, "epsilon": 0.0}, many, 10**5))
    if "persistent" in names:
        out["persistent"] = []
        for shape, s, c in persistent:
            name = f"persistent {shape}, s.d. {s}, c = {c}"
            out["persistent"].append(row(name, shape, s, c, VARIANTS, single, some, 20_000))
    if "epsilon" in names:
        out["epsilon"] = []
        shape, s, c = persistent[0] if quick else PERSISTENT[3]
        for epsilon in (0.0, 0.05, 0.1, 0.2):
            name = f"persistent {shape}, s.d. {s}, c = {c}, epsilon {epsilon}"
            options = {"n_best": 1, "epsilon": epsilon}
            out["epsilon"].append(row(name, shape, s, c, ["F2 + S", "shipped"], options, 3 if quick else 5, 10**5))
    return out


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hard_decoding", description=__doc__.splitlines()[0])
    every = ["flat", "nbest", "persistent", "epsilon"]
    parser.add_argument("--quick", action="store_true", help="small lattices and few of them")
    parser.add_argument("--lattices", type=int, help="lattices a row (default: 200, of persistent models 20)")
    parser.add_argument("--only", nargs="+", choices=every, default=every, metavar="TABLE")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args(arguments)
    found = tables(options.only, options.lattices, options.quick)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
