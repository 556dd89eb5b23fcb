# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent tag``: a gigabyte in the memory of a megabyte, beside the script that reads it all; start-up."""

from __future__ import annotations

import hashlib

from .. import corpus
from ..harness import Bench, Job, median
from ..rst import paragraph, table, title

_SCRIPT = "tag_file.py, all at once"
#: The test set so often: a file of 40 MB and one of 1 GB.
_OFTEN = {"sklearn-latent tag, 40 MB": 100, "sklearn-latent tag, 1 GB": 2_600}
_QUICK = {"sklearn-latent tag, once": 1, "sklearn-latent tag, eight times": 8}


def run(bench: Bench) -> dict:
    """Train a model, then label by turns, one thread; the file of a gigabyte once, since it takes minutes."""
    train, model = bench.folder / "command.train.txt", bench.folder / "command.model"
    corpus.columns(train, "all", "train", quick=bench.quick)
    options = {"model": model, "max_iter": 20 if bench.quick else 100}
    bench.run(Job("training", "ours_text", "pipeline", train, options))
    sources, n_tokens = {}, {}
    for name, repeat in (_QUICK if bench.quick else _OFTEN).items():
        sources[name] = bench.folder / f"command.{repeat}.txt"
        n_tokens[name] = corpus.columns(sources[name], "all", "test", repeat=repeat, labels=False, quick=bench.quick)
    few, many = sources
    target = bench.folder / "command.out"

    def job(name: str, task: str, source: str) -> Job:
        return Job(name, "script", task, model, {"source": sources[source], "target": target})

    found, written = {}, {}
    for each in (job(_SCRIPT, "tag", few), job(few, "command", few)):
        bench.run(each)
        written[each.name] = target.read_text(encoding="utf-8").split()
    found |= bench.interleave([job(_SCRIPT, "tag", few), job(few, "command", few)])
    found |= bench.interleave([job(many, "command", many)], 1)
    for name, runs in found.items():
        for own in runs:
            own["n_tokens"] = n_tokens.get(name, n_tokens[few])
            own["rate"] = own["n_tokens"] / own["whole"]
            own["written"] = _hash(written.get(name, []))
    return {"runs": found, "starts": bench.interleave([Job("starts", "script", "starts", model)], 1)}


def _hash(words: list[str]) -> str:
    """A number that two runs share if they wrote the same columns."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _ratio(a: list[dict], b: list[dict], key: str) -> str:
    return f"{median(a, key) / median(b, key):.2f}"


def section(results: dict) -> str:
    """Its part of the page."""
    runs = results["runs"]
    rows = [
        [name, f"{own[0]['n_tokens']:,}", f"{median(own, 'rate'):,.0f}", f"{median(own, 'peak_mb'):,.0f}"]
        for name, own in runs.items()
    ]
    script, few, many = runs.values()
    (starts,) = results["starts"]["starts"]
    return "\n".join(
        [
            title("The command"),
            paragraph(
                """The test set over and over in one file; one thread, whole process, the start of Python and all
                imports included. (``command``)"""
            ),
            table(["", "tokens", "tokens a second", "peak MB"], rows),
            f"The command / the script on the same file, processor time: {_ratio(few, script, 'cpu')}. The long file / "
            f"the short one, peak memory: {_ratio(many, few, 'peak_mb')}.\n",
            "Whole processes that do next to nothing, seconds:\n",
            table(["", "seconds"], [[name, f"{value:.2f}"] for name, value in starts["starts"].items()]),
        ]
    )
