# SPDX-License-Identifier: BSD-3-Clause
"""The command ``sklearn-latent``: ``train``, ``tag``, ``evaluate``, ``inspect``, ``demo``, ``completion``.

A file a command, each a thin user of the public interface. ``demo`` needs nothing but the package, the others the extra
``cli``. Exit codes: 0 done, 1 the input is at fault, 2 the call is, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from .. import __version__
from ._text import tokenize

__all__ = ["main", "tokenize"]

#: What the extra ``cli`` installs.
_EXTRA = ("click", "tqdm")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack the letters of the text
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone: end quietly, and keep the interpreter from writing to the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return code


def _run(argv: list[str]) -> int:
    if argv[:1] == ["demo"]:
        from ._demo import demo

        try:
            return demo(argv[1:])
        except SystemExit as end:  # of the parser: help, or a wrong call
            return int(end.code or 0)
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing and argv == ["--version"]:
        print(f"sklearn-latent {__version__}")
        return 0
    if missing:
        print(
            f"sklearn-latent: all commands but demo need {' and '.join(missing)}, not installed here: "
            "pip install 'sklearn-latent[cli]'",
            file=sys.stderr,
        )
        return 2
    from ._commands import run

    return run(argv)
