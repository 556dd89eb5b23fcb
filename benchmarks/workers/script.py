# SPDX-License-Identifier: BSD-3-Clause
"""A script of ours, or the command, in a process of its own, measured from outside.

``python -m benchmarks.workers.script tag MODEL source=FILE target=FILE``, ``command`` with the same arguments, or
``starts MODEL``
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .common import done, main


def tag(model: str, source: str, target: str) -> None:
    """Label a column file with ``benchmarks/tag_file.py``; wall, processor time and peak are those of the process."""
    script = str(Path(__file__).parent.parent / "tag_file.py")
    text, measured = _measured([script, model, source, target], subprocess.PIPE)
    _done(**measured, spent=json.loads(text.splitlines()[-1]))


def command(model: str, source: str, target: str) -> None:
    """Label a column file with ``sklearn-latent tag``."""
    with open(target, "wb") as out:
        _, measured = _measured(["-m", "sklearn_latent", "tag", "--model", model, source], out)
    _done(**measured, file_mb=os.path.getsize(source) / 1e6)


def starts(model: str, repeats=3) -> None:
    """Seconds of whole processes that do next to nothing, by turns: medians."""
    calls = {
        "python -c pass": ["-c", "pass"],
        "import sklearn.base": ["-c", "import sklearn.base"],
        "sklearn-latent --help": ["-m", "sklearn_latent", "--help"],
        "sklearn-latent tag, one sentence": ["-m", "sklearn_latent", "tag", "--model", model],
    }
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(int(repeats)):
        for name, call in calls.items():
            found[name].append(_measured(call, subprocess.DEVNULL, "It PRP\nworks VBZ\n. .\n")[1]["whole"])
    _done(threads=1, cpu=0.0, starts={name: statistics.median(own) for name, own in found.items()})


def _measured(call: list[str], out, given: str = "") -> tuple[str, dict]:
    """What a process writes to a pipe, and its wall and processor seconds and peak memory."""
    wall = -time.perf_counter()
    process = subprocess.Popen([sys.executable, *call], stdin=subprocess.PIPE, stdout=out, text=True)
    with contextlib.suppress(BrokenPipeError):  # some look at no input
        process.stdin.write(given)
        process.stdin.close()
    text = process.stdout.read() if process.stdout is not None else ""
    _, status, usage = os.wait4(process.pid, 0)
    wall += time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    # Linux counts in units of 1,024 bytes; this process, whose memory the count begins with, is a small one.
    peak = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3 / 1.024)
    return text, {"whole": wall, "cpu": usage.ru_utime + usage.ru_stime, "threads": 1, "peak_mb": peak}


def _done(**found) -> None:
    from sklearn_latent import SequenceMatrix  # noqa: F401  for the versions, now that all is measured

    done(**found)


if __name__ == "__main__":
    main({"tag": tag, "command": command, "starts": starts}, arrays=False)
