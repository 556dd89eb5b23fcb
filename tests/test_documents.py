# SPDX-License-Identifier: BSD-3-Clause
"""What the README, the user guide and the examples show runs as it stands there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def markdown_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def restructured_blocks(text: str) -> list[str]:
    blocks = re.findall(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", text, flags=re.MULTILINE)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in blocks]


@pytest.mark.parametrize(
    ("name", "blocks_of"), [("README.md", markdown_blocks), ("docs/user_guide.rst", restructured_blocks)]
)
def test_code_of_a_page_runs(name, blocks_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of((ROOT / name).read_text(encoding="utf-8"))
    assert len(blocks) >= 3
    names: dict = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
    if name == "README.md":
        sentence = [("The", "DT"), ("bridge", "NN"), ("is", "VBZ"), ("closed", "VBN")]
        assert names["tagger"].predict([sentence]) == [["B-NP", "I-NP", "B-VP", "I-VP"]]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(path, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    plt.switch_backend("Agg")
    runpy.run_path(str(path))
    assert plt.get_fignums()
    plt.close("all")
    out = capsys.readouterr().out
    assert out
    if path.stem == "plot_hidden_modes":
        right = [int(share) for share in re.findall(r"(\d+) % of the answers right", out)]
        assert 40 < right[0] < 60 and right[1] == 100
