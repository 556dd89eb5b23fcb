# SPDX-License-Identifier: BSD-3-Clause
"""A script of ours in a process of its own, measured from outside.

``python -m benchmarks.workers.script tag MODEL source=FILE target=FILE``
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from .common import done, main


def tag(model: str, source: str, target: str) -> None:
    """Label a column file with ``benchmarks/tag_file.py``; wall, processor time and peak are those of the process."""
    command = [sys.executable, str(Path(__file__).parent.parent / "tag_file.py"), model, source, target]
    wall = -time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall += time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    import sklearn_latent  # noqa: F401  for its version, now that all is measured

    done(
        whole=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        threads=1,
        spent=json.loads(text.splitlines()[-1]),
        # Linux counts in units of 1,024 bytes; this process, whose memory the count begins with, is a small one.
        peak_mb=usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3 / 1.024),
    )


if __name__ == "__main__":
    main({"tag": tag}, arrays=False)
