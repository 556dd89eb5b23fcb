# SPDX-License-Identifier: BSD-3-Clause
"""What the README, the user guide and the examples show runs as it stands there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


def markdown_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def restructured_blocks(text: str) -> list[str]:
    blocks = re.findall(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", text, flags=re.MULTILINE)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in blocks]


#: Pages whose code is run as it stands, the least number of blocks, and packages that they compare with.
PAGES = {
    "README.md": (3, ()),
    "docs/user_guide.rst": (3, ("pandas", "skops")),
    "docs/index.rst": (1, ()),
    "docs/get_started.rst": (6, ("pandas",)),
    "docs/coming_from/crfsuite.rst": (1, ("sklearn_crfsuite",)),
    "docs/coming_from/crfpp.rst": (1, ()),
    "docs/coming_from/hmmlearn.rst": (1, ("hmmlearn",)),
    "docs/extending/decoder.rst": (3, ()),
    "docs/extending/scorer.rst": (3, ()),
    "docs/extending/topology.rst": (3, ()),
    "docs/extending/features.rst": (3, ()),
    "docs/extending/estimator.rst": (1, ()),
}


@pytest.mark.parametrize("name", PAGES)
def test_code_of_a_page_runs(name, tmp_path, monkeypatch, capsys):
    n_blocks, packages = PAGES[name]
    for package in packages:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = markdown_blocks(text) if name.endswith(".md") else restructured_blocks(text)
    assert len(blocks) >= n_blocks
    names: dict = {"__name__": name}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
    out = capsys.readouterr().out
    if name == "README.md":
        sentence = [("The", "DT"), ("bridge", "NN"), ("is", "VBZ"), ("closed", "VBN")]
        assert names["tagger"].predict([sentence]) == [["B-NP", "I-NP", "B-VP", "I-VP"]]
    elif name == "docs/get_started.rst":
        for line in ("[['NAME', 'other']]", "[['B-PER', 'O', 'B-LOC']]", "[['B-NP', 'I-NP', 'B-VP', 'I-VP']]"):
            assert line in out
    elif name == "docs/coming_from/crfsuite.rst":
        # The same model but for the weights of first and last labels.
        assert np.mean(names["same"]) > 0.9
    elif name == "docs/coming_from/crfpp.rst":
        assert "He\tPRP\tB-NP\nfell\tVBD\tB-VP" in out
    elif name == "docs/extending/topology.rst":
        assert "[0 0 0 0 1 1 1 1 1]" in out
    elif name == "docs/coming_from/hmmlearn.rst":
        theirs = names["hmm"].predict_proba(names["X"], names["lengths"])
        np.testing.assert_allclose(names["marginals"], theirs, rtol=0.0, atol=1e-9)
        assert out.endswith("True\n")


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
