# SPDX-License-Identifier: BSD-3-Clause
"""Every message on the page about messages is one that the package gives."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import sklearn_latent
from sklearn_latent import LatentCRFTagger, SPNCRFTagger
from sklearn_latent.datasets import make_latent_sequences
from sklearn_latent.io import save_model

PAGE = Path(__file__).resolve().parent.parent / "docs" / "troubleshooting.rst"

X, Y = [[{"w": "a"}, {"w": "b"}]] * 4, [["A", "B"]] * 4


def tagger(**options) -> LatentCRFTagger:
    return LatentCRFTagger(n_latent=1, **options)


def on_numbers() -> LatentCRFTagger:
    return tagger().fit([np.eye(2)] * 4, Y)


def without_proof():
    # Weak evidence, and latent states that keep their number whatever the labels are.
    drawn = make_latent_sequences(12, n_labels=6, n_latent=6, n_features=5, mean_length=40, scale=0.6, random_state=3)
    moves = 5.0 * np.tile(np.eye(6), (6, 6))
    hard = LatentCRFTagger.from_weights(
        list("abcdef"), drawn.coef / 6, moves, state_labels=drawn.state_labels, max_search=0
    )
    hard.predict(drawn.data)


def not_built(folder: Path):
    package = Path(sklearn_latent.__file__).parent
    shutil.copytree(package, folder / "sklearn_latent", ignore=shutil.ignore_patterns("*.so", "*.pyd", "data"))
    code = "from sklearn_latent import LatentCRFTagger"
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, env={}, capture_output=True, text=True)
    raise ImportError(run.stderr)


#: What brings each message about, in the order of the page.
CASES = [
    lambda _: tagger().fit(X[0], Y[0]),
    lambda _: tagger().fit(np.eye(2), Y[0]),
    lambda _: tagger().fit(X, Y).predict(["a sentence"]),
    lambda _: tagger().fit([["Ana", "met"]] * 4, Y),
    lambda _: tagger().fit(pd.DataFrame({"a": [1, 2]}), Y),
    lambda _: tagger().fit(X, Y[:3]),
    lambda _: tagger().fit(X, [*Y[:3], ["A"]]),
    lambda _: tagger().fit([np.array([[0.0, np.nan], [1.0, 1.0]])] * 4, Y),
    lambda _: tagger().fit(X, [["A", 1]] * 4),
    lambda _: tagger().fit(X, [[None, None]] * 4),
    lambda _: on_numbers().predict([np.ones((2, 3))]),
    lambda _: on_numbers().predict(X),
    lambda _: tagger(max_iter=1).fit(X, Y),
    lambda _: tagger(constraints="iob2").fit(X, Y),
    lambda _: tagger(constraints=[("B", "A")]).fit(X, Y),
    lambda _: LatentCRFTagger(10**5).fit(X, Y),
    lambda _: tagger(warm_start=True).fit(X, Y).fit(X, [["A", "C"]] * 4),
    lambda _: tagger(solver="sgd").partial_fit(X, Y),
    lambda _: SPNCRFTagger(normalization="local", factors=((1, 2),)).fit(X, Y),
    lambda _: tagger().predict(X),
    lambda _: without_proof(),
    lambda _: tagger(constraints=[("A", "B")]).fit(X, Y).predict(X[:1], fixed=[["B", "A"]]),
    lambda _: tagger().fit(X, Y).decode(X, "mbr"),
    lambda _: tagger().fit(X, Y).decode(X, beam=3),
    lambda _: LatentCRFTagger.from_weights(["a", "b"], [[1e308, -1e308]], np.zeros((2, 2))).predict([[[10.0]]]),
    lambda _: cross_val_score(tagger(), X, Y, scoring="accuracy", cv=2, error_score="raise"),
    lambda folder: save_model(tagger(callback=lambda info: False).fit(X, Y), folder / "model.zip"),
    not_built,
]


def messages() -> list[str]:
    return re.findall(r"^``(.+)``\n   ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_message_has_a_case():
    assert len(messages()) == len(CASES)


@pytest.mark.parametrize("k", range(len(CASES)), ids=[text[:40] for text in messages()])
def test_message_is_given(k, tmp_path):
    with pytest.raises((TypeError, ValueError, ImportError, UserWarning)) as caught:
        CASES[k](tmp_path)
    pattern = ".*".join(re.escape(piece.strip()) for piece in messages()[k].split("..."))
    assert re.search(pattern, str(caught.value), flags=re.DOTALL), str(caught.value)
