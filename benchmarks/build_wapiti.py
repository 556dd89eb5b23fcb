# SPDX-License-Identifier: BSD-3-Clause
"""Build the `wapiti` program for the benchmarks: ``python benchmarks/build_wapiti.py FOLDER``.

Its C sources come inside the source archive of the package `libwapiti`, which pip downloads. They need a C compiler
(``cc``, or the one that the environment variable ``CC`` names) and POSIX threads. The last line printed is the
program's path, for ``python -m benchmarks --wapiti PATH``.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

#: As in the Makefile beside the sources.
FLAGS = ["-std=gnu99", "-O3", "-DNDEBUG"]


def build(folder: Path) -> Path:
    """Download, unpack and compile; returns the program."""
    folder.mkdir(parents=True, exist_ok=True)
    download = ["pip", "download", "--no-binary", ":all:", "--no-deps", "--dest", str(folder), "libwapiti==0.2.1"]
    subprocess.run([sys.executable, "-m", *download], check=True, stdout=sys.stderr)
    with tarfile.open(folder / "libwapiti-0.2.1.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    sources = sorted((folder / "libwapiti-0.2.1" / "cwapiti" / "src").glob("*.c"))
    program = folder / "wapiti"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, *FLAGS, "-o", str(program), *map(str, sources), "-lm", "-lpthread"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return program.resolve()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/build_wapiti.py FOLDER")
    print(build(Path(sys.argv[1])))
