# SPDX-License-Identifier: BSD-3-Clause
"""Wapiti from column files: ``python -m benchmarks.workers.wapiti_text TASK FILE program=PATH [key=value ...]``."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from .common import done, main
from .wapiti import finished, learn, version


def _patterns() -> str:
    """The "chunking" templates; words beyond the sentence get a name instead of being left out."""
    grams = [(0, (d,)) for d in range(-2, 3)] + [(0, (-1, 0)), (0, (0, 1))]
    for size in (1, 2, 3):
        grams += [(1, tuple(range(d, d + size))) for d in range(-2, 4 - size)]
    lines = [f"u{k}:" + "/".join(f"%x[{d},{column}]" for d in offsets) for k, (column, offsets) in enumerate(grams)]
    return "\n".join([*lines, "b"]) + "\n"


def pipeline(path: str, model: str, program: str, max_iter=30, threads=1) -> None:
    """Train on a labelled file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "patterns").write_text(_patterns())
        more = ["-p", str(folder / "patterns"), "-i", str(max_iter), "-t", str(threads)]
        done(**learn(program, Path(path), Path(model), folder, *more), threads=int(threads))


def tag(model: str, source: str, target: str, program: str) -> None:
    """Label a column file; *start* is the time that a file of one sentence takes."""
    with tempfile.TemporaryDirectory() as name:
        tiny = Path(name) / "tiny"
        tiny.write_text("a DT\n\n")
        start = _label(program, model, str(tiny), str(Path(name) / "out"))[0]
        whole, cpu, peak = _label(program, model, source, target)
    done(whole=whole, cpu=cpu, threads=1, spent={"load": start}, peak_mb=peak, versions=version(program))


def _label(program: str, model: str, source: str, target: str) -> tuple[float, float, float]:
    command = [program, "label", "-m", model, source, target]
    wall = -time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    usage = finished(process, command, process.stderr.read())
    # This process, whose memory the count begins with, is a small one.
    return wall + time.perf_counter(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    main({"pipeline": pipeline, "tag": tag}, arrays=False)
