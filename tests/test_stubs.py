# SPDX-License-Identifier: BSD-3-Clause
"""Each extension has a stub beside it, with the same functions and the same arguments in the same order."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import sklearn_latent

ROOT = Path(sklearn_latent.__file__).parent
SUFFIXES = (".so", ".pyd")


def extensions() -> list[str]:
    found = {path for path in ROOT.rglob("*") if path.suffix in SUFFIXES}
    return sorted(".".join([*p.relative_to(ROOT.parent).parent.parts, p.name.split(".")[0]]) for p in found)


def stub_of(module: str) -> Path:
    return ROOT.parent.joinpath(*module.split(".")).with_suffix(".pyi")


def test_there_are_extensions():
    assert len(extensions()) >= 5


@pytest.mark.parametrize("module", extensions())
def test_stub_agrees(module):
    compiled = importlib.import_module(module)
    functions = {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(compiled).items()
        if "cython_function" in type(value).__name__ or "cyfunction" in type(value).__name__
    }
    assert functions, "no function found in the extension"
    tree = ast.parse(stub_of(module).read_text(encoding="utf-8"))
    stub = {
        node.name: [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    assert stub == functions
