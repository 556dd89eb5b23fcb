# SPDX-License-Identifier: BSD-3-Clause
"""A command of the benchmarks run in this process: to start one takes longer than most of its runs."""

from __future__ import annotations

import contextlib
import importlib
import io
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextlib.contextmanager
def command(name: str, folder: Path):
    """Give a function that calls the command and returns what it printed, or the errors if it is to fail.

    It is a copy of the benchmarks in `folder`, so that its page is not the documentation's; results go to ``out``.
    """
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))

    def run(*arguments: str, code: int = 0) -> str:
        # What is given last counts.
        arguments = ["--quick", "--results", str(folder / "out"), *arguments]
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
            try:
                ended = module.main(arguments)
            except SystemExit as error:
                ended = error.code
        assert ended == code, errors.getvalue()
        return out.getvalue() if code == 0 else errors.getvalue()

    ours = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "benchmarks"}
    sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(f"benchmarks.{name}")
        assert Path(module.__file__).is_relative_to(folder)
        yield run
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
            del sys.modules[name]
        sys.modules.update(ours)
