# SPDX-License-Identifier: BSD-3-Clause
"""How time and memory of `fit` grow: tokens x 100, labels 3 to 88, sequences of 10 to 1,000,000 tokens."""

from __future__ import annotations

import math

from ..harness import Bench, Job, median
from ..plots import COLOURS, MARKERS
from ..rst import paragraph, table, title

_TOKENS, _LABELS, _STATES, _LENGTHS = "tokens", "labels", "latent states", "length"


def run(bench: Bench) -> dict:
    """A process for each size; sizes by turns."""
    quick = bench.quick
    np_, all_ = bench.corpus("np").path, bench.corpus("all").path
    n_tokens = 4_000 if quick else 1_000_000
    series = {
        _TOKENS: [(np_, {"repeat": k}) for k in ((1, 4) if quick else (1, 3, 10, 30, 100))],
        _LABELS: [
            (path, {"split": k, "max_iter": 4})
            for path, k in (((all_, 2),) if quick else ((p, k) for p in (np_, all_) for k in (1, 2, 4, 5)))
        ],
        _STATES: [(np_, {"n_latent": k, "max_iter": 4}) for k in ((3,) if quick else (1, 2, 4, 8, 16, 29))],
        _LENGTHS: [
            (np_, {"length": k, "n_tokens": n_tokens})
            for k in ((1_000,) if quick else (10, 100, 1_000, 10_000, 100_000, 1_000_000))
        ],
    }
    out = {}
    for name, sizes in series.items():
        jobs = [
            Job(f"{name}: {', '.join(f'{key} {value}' for key, value in options.items())} ({path.stem})",
                "ours_growth", "fit", path, options)
            for path, options in sizes
        ]  # fmt: skip
        out[name] = list(bench.interleave(jobs).values())
    return out


def exponent(points: list[tuple[float, float]]) -> float:
    """Slope of log y over log x by least squares."""
    x, y = [math.log(a) for a, _ in points], [math.log(b) for _, b in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)


def _memory(runs: list[dict]) -> float:
    return runs[0]["matrix_mb"] + median(runs, "fit_mb")


def section(results: dict) -> str:
    """Its part of the page."""
    sizes = {_TOKENS: "n_tokens", _LABELS: "n_labels", _STATES: "n_states", _LENGTHS: "length"}
    text = [
        title("Growth"),
        paragraph(
            """One thread; noun phrases with one state a label unless said otherwise, three iterations of L-BFGS (four
            where labels and states grow). *Tokens*: the corpus over and over. *Labels*: each label split at random
            into two, four or five, of which rare labels fill only some. *Length*: 1,000,000 tokens in sequences of
            equal length. Memory is that of the features and what ``fit`` adds at its peak. (``growth``)"""
        ),
    ]
    for name, series in results.items():
        rows = []
        for runs in series:
            one, step = runs[0], median(runs, "iteration")
            size = one["n_tokens"] // one["n_sequences"] if name == _LENGTHS else one[sizes[name]]
            rows.append(
                [
                    f"{size:,}",
                    f"{median(runs, 'seconds'):.2f}",
                    f"{step:.4f}",
                    f"{1e9 * step / one['n_tokens']:.0f}",
                    f"{1e9 * step / one['n_tokens'] / one['n_states']:.1f}",
                    f"{_memory(runs):,.0f}",
                    f"{one['n_weights']:,}",
                ]
            )
        head = [name, "fit, s", "iteration, s", "ns a token", "ns a token and state", "MB", "weights"]
        text.append(table(head, rows))
    tokens = results[_TOKENS]
    slopes = ", ".join(f"{value:.3f} ({what})" for what, value in _slopes(tokens).items())
    text.append(f"Exponents in the number of tokens, by least squares on logarithms: {slopes}.\n")
    return "\n".join(text)


def _slopes(tokens: list[list[dict]]) -> dict[str, float]:
    n = [runs[0]["n_tokens"] for runs in tokens]
    return {
        "time of fit": exponent([(a, median(runs, "seconds")) for a, runs in zip(n, tokens, strict=True)]),
        "time of an iteration": exponent([(a, median(runs, "iteration")) for a, runs in zip(n, tokens, strict=True)]),
        "memory": exponent([(a, _memory(runs)) for a, runs in zip(n, tokens, strict=True)]),
    }


def figures(results: dict) -> dict:
    """Tokens; labels, states and length."""

    def by_tokens(figure) -> None:
        left, right = figure.subplots(1, 2)
        tokens = results[_TOKENS]
        n = [runs[0]["n_tokens"] for runs in tokens]
        slopes = _slopes(tokens)
        lines = (
            (left, "seconds", "time of fit", [median(runs, "seconds") for runs in tokens]),
            (left, "seconds", "time of an iteration", [median(runs, "iteration") for runs in tokens]),
            (right, "MB", "memory", [_memory(runs) for runs in tokens]),
        )
        for k, (axes, unit, name, values) in enumerate(lines):
            label = f"{name}, exponent {slopes[name]:.2f}"
            axes.loglog(n, values, color=COLOURS[k], marker=MARKERS[k], label=label)
            axes.set(xlabel="tokens", ylabel=unit)
            axes.margins(y=0.2)
            axes.legend(loc="upper left")

    def by_states(figure) -> None:
        left, right = figure.subplots(1, 2)
        for k, name in enumerate((_LABELS, _STATES)):
            points = [(runs[0]["n_states"], runs) for runs in results[name]]
            cost = [1e9 * median(runs, "iteration") / runs[0]["n_tokens"] / s for s, runs in points]
            label = "labels" if name == _LABELS else "states of 3 labels"
            left.semilogx([s for s, _ in points], cost, color=COLOURS[k], marker=MARKERS[k], label=label)
        for axes in (left, right):
            axes.margins(y=0.1)
        left.set(xlabel="states", ylabel="ns a token, state and iteration", ylim=(0, None))
        ticks = sorted({runs[0]["n_states"] for name in (_LABELS, _STATES) for runs in results[name]})[::2]
        left.set_xticks(ticks, [str(s) for s in ticks])
        left.minorticks_off()
        left.legend()
        lengths = [runs[0]["n_tokens"] // runs[0]["n_sequences"] for runs in results[_LENGTHS]]
        cost = [1e9 * median(runs, "iteration") / runs[0]["n_tokens"] for runs in results[_LENGTHS]]
        right.semilogx(lengths, cost, color=COLOURS[2], marker=MARKERS[2])
        right.set(xlabel="tokens a sequence", ylabel="ns a token and iteration", ylim=(0, None))

    return {
        "tokens": (by_tokens, "Time and memory of fit against the number of tokens, both axes logarithmic."),
        "states": (
            by_states,
            "Cost of an iteration a token and state against the number of states, and a token against the length of "
            "the sequences.",
        ),
    }
