# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the page on the command line run in their order and print what stands there."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command_line.rst"
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(kind: str) -> list[str]:
    found = re.findall(rf"^\.\. code-block:: {kind}\n\n((?:(?:   .*)?\n)+)", PAGE.read_text(), flags=re.MULTILINE)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE).rstrip("\n") + "\n" for block in found]


def commands() -> list[tuple[str, str]]:
    """Each command and what it prints."""
    out = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            out.append((command, printed))
    return out


@pytest.mark.skipif(shutil.which("bash") is None, reason="the page shows commands for bash")
def test_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in blocks("python"):
        exec(compile(block, str(PAGE), "exec"), {})
    assert len(commands()) > 10
    checker = doctest.OutputChecker()
    name = f'sklearn-latent() {{ "{sys.executable}" -m sklearn_latent "$@"; }}; set -eo pipefail; '
    for command, printed in commands():
        done = subprocess.run(
            ["bash", "-c", name + command], capture_output=True, text=True, env=os.environ, check=False
        )
        assert done.returncode == 0, (command, done.stderr)
        if printed:
            # The last digits, and with latent states more than these, are another machine's; other tests see to them.
            wanted = re.sub(r"[+-]?\d[\d.,]*", "...", printed)
            assert checker.check_output(wanted, done.stdout, LIKE), (command, printed, done.stdout)
