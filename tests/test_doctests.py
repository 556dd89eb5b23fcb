# SPDX-License-Identifier: BSD-3-Clause
"""The examples in docstrings print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import sklearn_latent

ROOT = Path(sklearn_latent.__file__).parent


def modules() -> list[str]:
    """Modules of the package with an example in them."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def test_there_are_examples():
    assert len(modules()) > 30


@pytest.mark.parametrize("name", modules())
def test_examples_of_a_module(name, tmp_path, monkeypatch):
    if "inspection" in name:
        pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)  # some write files
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted and not result.failed
