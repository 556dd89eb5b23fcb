# SPDX-License-Identifier: BSD-3-Clause
"""Labelling a column file of 4.7 million tokens by a script, whole process, beside CRFsuite and Wapiti."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from .. import corpus
from ..harness import Bench, Job, median
from ..plots import COLOURS
from ..rst import paragraph, table, title

_OURS, _CRFSUITE, _WAPITI = "ours, tag_file.py", "python-crfsuite, attributes in Python", "Wapiti, label"

#: Tokens a second of CRF++ 0.59, which can no longer be built from its sources as they are: measured earlier on another
#: machine, one thread, one test set, whole process.
QUOTED = {"np": 280_000, "all": 100_000}

_TITLES = {"np": "Noun phrases (3 labels)", "all": "All chunk types (22 labels)"}


def run(bench: Bench) -> dict:
    """Train each package's model once, then label by turns.

    Ours get the test set a hundred times over in one file, the peers, which work sentence by sentence, ten times.
    """
    many, some = (1, 1) if bench.quick else (100, 10)
    out = {}
    for task in ("all",) if bench.quick else ("np", "all"):
        paths = {name: bench.folder / f"{task}.{name}.txt" for name in ("train", "many", "some")}
        corpus.columns(paths["train"], task, "train", quick=bench.quick)
        n_many = corpus.columns(paths["many"], task, "test", repeat=many, labels=False, quick=bench.quick)
        n_some = corpus.columns(paths["some"], task, "test", repeat=some, labels=False, quick=bench.quick)
        workers = {
            _OURS: ("ours_text", "script", 20 if bench.quick else 100, "many", n_many),
            _CRFSUITE: ("crfsuite_text", "crfsuite_text", 20 if bench.quick else 100, "some", n_some),
            _WAPITI: ("wapiti_text", "wapiti_text", 20 if bench.quick else 30, "some", n_some),
        }
        jobs, labelled = [], {}
        for k, (name, (trainer, tagger, n_iter, source, _)) in enumerate(workers.items()):
            model, target = bench.folder / f"{task}.{k}.model", bench.folder / f"{task}.{k}.labelled"
            options = {"model": model, "max_iter": n_iter}
            if bench.run(Job(name, trainer, "pipeline", paths["train"], options)) is None:
                bench.say(f"  {name}: not installed, skipped")
                bench.skipped.add(name)
                continue
            jobs.append(Job(name, tagger, "tag", model, {"source": paths[source], "target": target}))
            labelled[name] = target
        found = bench.interleave(jobs)
        first = None
        for name, runs in found.items():
            # Against our labels: the training of the packages differs in its last digits, Wapiti's in its weights.
            y = _labels(labelled[name], n_some // some)
            first = y if first is None else first
            for run in runs:
                run["n_tokens"] = workers[name][4]
                run.setdefault("whole", run["process_wall"])
                run["rate"] = run["n_tokens"] / run["whole"]
            runs[0]["same_labels"] = sum(a == b for a, b in zip(y, first, strict=True)) / len(first)
        out[task] = found
    return out


def _labels(path: Path, n_tokens: int) -> list[str]:
    """The last column of the first tokens of a file."""
    with open(path, encoding="utf-8") as file:
        return [line.split()[-1] for line in islice(filter(str.strip, file), n_tokens)]


def section(results: dict) -> str:
    """Its part of the page."""
    text = [
        title("Labelling a column file"),
        paragraph(
            """The test set, words and parts of speech, over and over in one file; one thread, model file to labelled
            file, whole process. Ours is ``benchmarks/tag_file.py``. *Without import*: the time to import left out.
            *Same*: share of the labels that are ours. CRF++ is quoted from another machine, not run: it can't be built
            from its sources as they are. (``tagging``)"""
        ),
    ]
    for task, found in results.items():
        rows = []
        for name, runs in found.items():
            spent = runs[0]["spent"]
            bare = [{"rate": run["n_tokens"] / (run["whole"] - run["spent"].get("import", 0.0))} for run in runs]
            rates = [run["rate"] for run in runs]
            rows.append(
                [
                    name,
                    f"{runs[0]['n_tokens']:,}",
                    f"{median(runs, 'rate'):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})",
                    f"{median(bare, 'rate'):,.0f}",
                    f"{spent['import']:.2f}" if "import" in spent else "",
                    f"{spent['load']:.2f}",
                    f"{100 * runs[0]['same_labels']:.2f} %",
                    f"{median(runs, 'peak_mb'):,.0f}",
                ]
            )
        rows.append(["CRF++ 0.59 (quoted)", "47,377", f"{QUOTED[task]:,}", f"{QUOTED[task]:,}", "", "0.00", "", ""])
        head = ["", "tokens", "tokens a second", "without import", "import, s", "load, s", "same", "peak MB"]
        text += [f"{_TITLES[task]}.\n", table(head, rows)]
        spent = found[_OURS][0]["spent"]
        parts = ", ".join(f"{name} {value:.2f} s" for name, value in spent.items())
        text.append(f"Where the time of ours goes: {parts}.\n")
        ratios = [(name, median(found[_OURS], "rate") / median(runs, "rate")) for name, runs in found.items()]
        ratios = [*ratios[1:], ("CRF++ (quoted)", median(found[_OURS], "rate") / QUOTED[task])]
        text.append("Ours / theirs, tokens a second:\n\n" + "".join(f"* {name}: {r:.2f}\n" for name, r in ratios))
    return "\n".join(text)


def figures(results: dict) -> dict:
    """Tokens a second, package by package."""

    def plot(figure) -> None:
        several = figure.subplots(1, len(results), squeeze=False)[0]
        for axes, (task, found) in zip(several, results.items(), strict=True):
            rates = {name.split(",")[0]: median(runs, "rate") for name, runs in found.items()}
            rates["CRF++ (quoted)"] = QUOTED[task]
            for k, rate in enumerate(rates.values()):
                axes.barh(k, rate / 1e3, color=COLOURS[k])
                axes.text(rate / 1e3, k, f" {rate / 1e3:,.0f}", va="center", fontsize=8)
            axes.set_yticks(range(len(rates)), list(rates))
            axes.invert_yaxis()
            axes.margins(x=0.25)
            axes.locator_params(axis="x", nbins=4)
            axes.grid(False, axis="y")
            axes.set(xlabel="thousand tokens a second", title=_TITLES[task])

    return {"rate": (plot, "Tokens a second from a column file to a labelled column file, one thread.")}
