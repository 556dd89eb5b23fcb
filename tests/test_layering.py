# SPDX-License-Identifier: BSD-3-Clause
"""Imports point one way only: every import of ours is on the list of what that storey may know."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sklearn_latent

PACKAGE = "sklearn_latent"
ROOT = Path(sklearn_latent.__file__).parent

LEAVES = {"_compat", "_threads", "_typing", "exceptions"}

#: What each part of the package may import besides itself and the leaves. Kernels and headers are parts of their own.
MAY_IMPORT: dict[str, set[str]] = {
    **{leaf: set() for leaf in LEAVES},
    "_sequences": set(),
    "feature_extraction": {"_sequences"},
    "metrics": {"_sequences"},
    # Model files write and check the arrays of a model's parts.
    "io": {"", "_sequences", "_taggers", "feature_extraction", "_lattice", "_scorers"},
    "datasets": {"_sequences", "io"},
    "_lattice": set(),
    # `_sequences` is containers only and knows no model, so whoever holds rows or labels may know it.
    "_scorers": {"_sequences"},
    "_objective": {"_lattice", "_scorers", "_sequences"},
    "_optim": set(),
    "_decoding": {"_lattice", "_sequences", "metrics"},
    "_taggers": {
        "_sequences", "_lattice", "_scorers", "_objective", "_optim", "_decoding", "feature_extraction", "metrics",
    },
    "inspection": {"_taggers", "_sequences", "metrics"},
    # The battery knows containers and the public methods of whatever it is given.
    "utils": {"_sequences"},
    "__main__": {"cli"},
    "cli": {"", "_taggers", "_sequences", "feature_extraction", "io", "metrics", "datasets", "inspection"},
    "dask": {"_taggers", "_sequences", "feature_extraction"},
    "": {"_taggers", "_sequences"},  # the package itself
}  # fmt: skip

#: Kernels import no Python module of ours; of headers only those named here.
KERNEL = re.compile(r"^\s*(?:from\s+(\S+)\s+(c?import)\s|(c?import)\s+(\S+))", re.MULTILINE)
HEADERS = {
    "sklearn_latent._lattice._numeric",
    "sklearn_latent._lattice._structure",
    *(
        f"sklearn_latent._decoding._{name}"
        for name in (
            "answers",
            "beam",
            "cones",
            "dive",
            "fronts",
            "heap",
            "line_graph",
            "meeting",
            "prefixes",
            "sequence",
            "sides",
            "stages",
        )
    ),
}


def part_of(module: str) -> str:
    """The storey a module of the package belongs to, the empty string for the package itself."""
    names = module.split(".")
    assert names[0] == PACKAGE
    return names[1] if len(names) > 1 else ""


def is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(PACKAGE + ".")


def resolve(module: str | None, level: int, package: str) -> str:
    """The absolute name of ``from <module> import ...`` inside `package`."""
    if level == 0:
        return module or ""
    base = package.split(".")[: len(package.split(".")) - (level - 1)]
    return ".".join([*base, *([module] if module else [])])


def run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those under ``if TYPE_CHECKING``, which are annotations and never run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                yield other
                yield from run_time_nodes(other)
            continue
        yield node
        yield from run_time_nodes(node)


def imported(source: str, package: str) -> set[str]:
    """Modules that a file of `package` imports, at the top or inside functions."""
    found = set()
    for node in run_time_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve(node.module, node.level, package)
            # `from .. import x` names modules, or attributes of the package, by what it imports.
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= names if base == PACKAGE else {base}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "importlib.import_module"):
            raise AssertionError("importing by a computed name hides what is imported")
    return found


def upward(source: str, module: str, *, package: str | None = None) -> list[str]:
    """Imports of a Python file that its storey may not have."""
    package = package if package is not None else module.rpartition(".")[0]
    part = part_of(module)
    assert part in MAY_IMPORT, f"{module}: a part of the package that the list does not know"
    wrong = []
    for name in sorted(n for n in imported(source, package) if is_ours(n)):
        target = part_of(name)
        if target not in MAY_IMPORT and name.count(".") == 1:
            target = ""  # an attribute of the package, such as __version__
        if target != part and target not in LEAVES and target not in MAY_IMPORT[part]:
            wrong.append(f"{module} imports {name}")
    return wrong


def upward_of_kernel(source: str, module: str) -> list[str]:
    """Imports of a kernel or a header that are not headers of the lattice."""
    package, wrong = module.rpartition(".")[0], []
    for match in KERNEL.finditer(source):
        name, kind = match.group(1) or match.group(4), match.group(2) or match.group(3)
        level = len(name) - len(name.lstrip("."))
        absolute = resolve(name.lstrip(".") or None, level, package)
        if is_ours(absolute) and (kind == "import" or absolute not in HEADERS):
            wrong.append(f"{module} {kind}s {absolute}")
        if absolute.split(".")[0] == "numpy":
            wrong.append(f"{module} {kind}s numpy: kernels take memoryviews")
    return wrong


def modules(suffix: str) -> list[tuple[str, Path]]:
    out = []
    for path in sorted(ROOT.rglob(f"*{suffix}")):
        names = list(path.relative_to(ROOT.parent).with_suffix("").parts)
        out.append((".".join(names), path))
    return out


@pytest.mark.parametrize(("module", "path"), modules(".py"), ids=lambda v: v if isinstance(v, str) else "")
def test_python_imports_point_down(module, path):
    package = module.rpartition(".")[0]
    name = package if path.name == "__init__.py" else module
    assert upward(path.read_text(encoding="utf-8"), name, package=package) == []


def kernels() -> list[tuple[str, Path]]:
    found = [*modules(".pyx"), *modules(".pxd")]
    # The installed package keeps headers and leaves out sources.
    return found


@pytest.mark.parametrize(("module", "path"), kernels(), ids=lambda v: v if isinstance(v, str) else "")
def test_kernels_know_headers_only(module, path):
    assert upward_of_kernel(path.read_text(encoding="utf-8"), module) == []


def test_there_is_something_to_check():
    assert len(modules(".py")) > 30 and len(modules(".pxd")) >= 1


def test_the_list_has_no_circle():
    below: dict[str, set[str]] = {}

    def reach(part: str, above: tuple[str, ...]) -> set[str]:
        assert part not in above, f"a circle: {' -> '.join([*above, part])}"
        if part not in below:
            below[part] = set().union(*({p} | reach(p, (*above, part)) for p in MAY_IMPORT[part]))
        return below[part]

    for part in MAY_IMPORT:
        reach(part, ())
    assert "_taggers" not in below["_decoding"] and "_scorers" not in below["_lattice"]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sklearn_latent._lattice.lattice", "from .._taggers import LatentCRFTagger"),
        ("sklearn_latent._lattice.lattice", "from .._scorers.design import Design"),
        ("sklearn_latent._scorers.linear", "from sklearn_latent._lattice import Topology"),
        ("sklearn_latent._scorers.linear", "import sklearn_latent._objective.chain"),
        ("sklearn_latent._optim.lbfgs", "from .. import _lattice"),
        ("sklearn_latent._optim.lbfgs", "from .. import LatentCRFTagger"),
        ("sklearn_latent.metrics._chunks", "def f():\n    from .._decoding import DECODERS"),
        ("sklearn_latent.feature_extraction._dict", "if True:\n    from .._taggers.base import SequenceTaggerMixin"),
        ("sklearn_latent._sequences.matrix", "from ..feature_extraction import SequenceDictVectorizer"),
        ("sklearn_latent._threads", "from ._lattice import Lattice"),
        ("sklearn_latent._decoding.base", "from .._objective import Chunk"),
    ],
)
def test_an_upward_import_is_caught(module, source):
    assert len(upward(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sklearn_latent._lattice.lattice", "from . import _kernels\nfrom .topology import Topology"),
        ("sklearn_latent._lattice.lattice", "import numpy as np\nfrom ..exceptions import ModelTooLargeError"),
        ("sklearn_latent._scorers.linear", "if TYPE_CHECKING:\n    from .._lattice.topology import Topology"),
        ("sklearn_latent._taggers.base", "from .._decoding import DecodeResult\nfrom .. import _threads"),
    ],
)
def test_a_downward_import_passes(module, source):
    assert upward(source, module) == []


@pytest.mark.parametrize(
    "source",
    [
        "from .._lattice.topology import Topology",
        "from sklearn_latent._sequences cimport matrix",
        "    from . import design",
        "cimport numpy as np",
        "import sklearn_latent.exceptions",
    ],
)
def test_a_kernel_that_looks_up_is_caught(source):
    assert len(upward_of_kernel(source + "\n", "sklearn_latent._scorers._linear_kernels")) == 1
    assert upward_of_kernel("from libc.math cimport exp\n", "sklearn_latent._scorers._linear_kernels") == []
    assert upward_of_kernel("from ._numeric cimport exp\n", "sklearn_latent._lattice._kernels") == []
