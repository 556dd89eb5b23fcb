# SPDX-License-Identifier: BSD-3-Clause
"""Wapiti on the same features: ``python -m benchmarks.workers.wapiti TASK CORPUS program=PATH [key=value ...]``."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .common import Clock, done, main, peak_mb

_ITERATION = re.compile(r"^\s*\[\s*\d+\] obj=(\S+)")


def _write(path: Path, corpus: dict, part: str) -> None:
    """Features by number, one token a line, the label last; ``b`` is the pair of labels."""
    names = [f"u{k}" for k in range(int(corpus["n_features"]))]
    ptr, indices = corpus[f"{part}_ptr"].tolist(), corpus[f"{part}_indices"].tolist()
    offsets, labels = corpus[f"{part}_offsets"].tolist(), corpus["labels"][corpus[f"{part}_codes"]].tolist()
    with open(path, "w") as file:
        for a, b in zip(offsets[:-1], offsets[1:], strict=True):
            for t in range(a, b):
                file.write(" ".join([names[k] for k in indices[ptr[t] : ptr[t + 1]]]) + f" b {labels[t]}\n")
            file.write("\n")


def _cpu(process: int) -> float:
    """Processor seconds of another process so far, in steps of a hundredth; nan where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def finished(process: subprocess.Popen, command: list[str], errors: str):
    """Wait for a command; what it used."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors}")
    return usage


def learn(program: str, data: Path, model: Path, folder: Path, *more: str) -> dict:
    """Train by L-BFGS under sigma = 1; seconds and objective of each iteration, from the lines that it prints.

    Its default prior is L1. It labels a development set after each iteration, and without one the training set: it gets
    a single sentence. Its own stopping rules are off.
    """
    tiny = folder / "tiny"
    with open(data) as source, open(tiny, "w") as target:
        for line in source:
            target.write(line)
            if not line.strip():
                break
    command = [
        program, "train", "-a", "l-bfgs", "--histsz", "6", "-1", "0", "-2", "1", "-d", str(tiny),
        "-w", "0", "-e", "0", *more, str(data), str(model),
    ]  # fmt: skip
    stamps, cpu, objectives, lines, peak = [], [], [], [], 0.0
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in process.stderr:
        lines.append(line)
        found = _ITERATION.match(line)
        if found:
            stamps.append(time.perf_counter())
            cpu.append(_cpu(process.pid))
            objectives.append(float(found[1]))
            peak = peak_mb(process.pid)
        elif "* Train the model" in line:
            began = time.perf_counter()
        elif "* Save the model" in line:
            ended = time.perf_counter()
    usage = finished(process, command, "".join(lines))
    weights = re.search(r"nb features:\s*(\d+)", "".join(lines))
    return {
        "seconds": ended - began,
        "iteration": statistics.median(b - a for a, b in zip(stamps[:-1], stamps[1:], strict=True)),
        "iteration_cpu": (cpu[-1] - cpu[0]) / (len(cpu) - 1),
        "n_iter": len(stamps),
        "objective": objectives[-1],
        "n_weights": int(weights[1]),
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": peak,
        "versions": version(program),
    }


def version(program: str) -> dict[str, str]:
    """What it calls itself."""
    out = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"Wapiti v(\S+)", out.stdout + out.stderr)
    return {"Wapiti": found[1] if found else "unknown"}


def train(corpus: dict, program: str, max_iter=50, threads=1) -> None:
    """Train for some iterations and label the test part."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("train", "test"):
            _write(folder / part, corpus, part)
        result = learn(program, folder / "train", folder / "model", folder, "-i", str(max_iter), "-t", str(threads))
        label = [program, "label", "-l", "-c", "-m", str(folder / "model"), str(folder / "test"), str(folder / "out")]
        with Clock() as clock:
            subprocess.run(label, check=True, capture_output=True)
        # Empty lines stand between the sentences.
        sentences = (folder / "out").read_text().strip().split("\n\n")
    done(
        **result,
        threads=int(threads),
        seconds_per_iteration=result["seconds"] / result["n_iter"],
        label_seconds=clock.wall,
        labels=[sentence.split() for sentence in sentences],
    )


if __name__ == "__main__":
    main({"train": train})
