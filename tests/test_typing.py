# SPDX-License-Identifier: BSD-3-Clause
"""A type checker passes on the package and on a script of typical use, and sees an error in one of wrong use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_latent

pytest.importorskip("mypy")

ROOT = Path(__file__).resolve().parent.parent
USAGE = ROOT / "tests" / "typing" / "usage.py"


def check(cache, folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run mypy where it finds the package that is tested, and no checkout beside it."""
    home = str(Path(sklearn_latent.__file__).parent.parent)
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(cache.mkdir("mypy"))]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": home},
    )


def test_package(request, tmp_path):
    result = check(request.config.cache, tmp_path, "-p", "sklearn_latent")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no issues found" in result.stdout


def test_typical_use(request, tmp_path):
    result = check(request.config.cache, tmp_path, str(USAGE))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("line", "message"), [
    ("tagger.predict(X).shuffle()", 'has no attribute "shuffle"'),
    ("tagger.decode(X).labells", 'has no attribute "labells"'),
    ("wrong: dict = tagger.predict(X)", "Incompatible types in assignment"),
    ("show_sequence(tagger)", "Missing positional argument"),
    ("SequenceMatrix()", "Missing positional argument"),
])  # fmt: skip
def test_wrong_use_is_seen(request, tmp_path, line, message):
    script = tmp_path / "wrong.py"
    script.write_text(USAGE.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    result = check(request.config.cache, tmp_path, str(script))
    assert result.returncode == 1 and message in result.stdout
