# SPDX-License-Identifier: BSD-3-Clause
"""skops writes and loads what is ours, with the types that the user guide lists as trusted."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_latent import LatentCRFTagger, RowClassifier, SPNCRFTagger
from sklearn_latent.feature_extraction import (
    PerToken,
    SequenceDictVectorizer,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
    Window,
)

skops = pytest.importorskip("skops.io")

WORDS = [["Ana", "met", "Bo"], ["Bo", "left"], ["rain"], [], ["Ana", "and", "Bo", "sang"]]
Y = [["B-PER" if word.istitle() else "O" for word in words] for words in WORDS]
X = [[{"w": word, "v": [len(word), 1.0]} for word in words] for words in WORDS]
NUMBERS = [np.array([[len(w), w.istitle()] for w in words], dtype=float).reshape(-1, 2) for words in WORDS]
QUICK = {"max_iter": 20, "random_state": 0}

MODELS = {
    "latent": (LatentCRFTagger(edge_features=True, **QUICK), X),
    "weights as tokens come": (LatentCRFTagger(solver="sgd", support="all", **QUICK), NUMBERS),
    "templates": (LatentCRFTagger(vectorizer=TemplateVectorizer("np-chunking"), **QUICK), WORDS),
    "spn": (SPNCRFTagger(order=2, factors=((1, 1), (2, 2)), **QUICK), X),
    "memm": (SPNCRFTagger.memm(order=2, **QUICK), X),
    "union": (
        LatentCRFTagger(
            vectorizer=SequenceUnion([("d", SequenceDictVectorizer()), ("h", SequenceFeatureHasher(8))]), **QUICK
        ),
        X,
    ),
    "pipeline": (
        make_pipeline(
            SequenceUnion([("here", "passthrough"), ("near", Window())]), PerToken(StandardScaler()),
            LatentCRFTagger(**QUICK),
        ),
        NUMBERS,
    ),
    "rows": (RowClassifier(LatentCRFTagger(**QUICK)), None),
}  # fmt: skip


def fitted(est, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if data is None:
            return est.fit(np.concatenate(NUMBERS), [label for labels in Y for label in labels])
        return est.fit(data, Y)


def documented() -> set[str]:
    """The types that the user guide lists."""
    guide = Path(__file__).parents[2] / "docs" / "user_guide.rst"
    return set(re.findall(r"^   (sklearn_latent\.[\w.]+)$", guide.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", MODELS)
def test_skops(name):
    est, data = MODELS[name]
    est = fitted(est, data)
    written = skops.dumps(est)
    unknown = skops.get_untrusted_types(data=written)
    assert set(unknown) <= documented()
    again = skops.loads(written, trusted=sorted(documented()))
    if data is None:
        assert np.array_equal(again.predict_proba(np.concatenate(NUMBERS)), est.predict_proba(np.concatenate(NUMBERS)))
        return
    assert again.predict(data) == est.predict(data)
    if hasattr(est, "predict_marginals"):
        for own, other in zip(again.predict_marginals(data), est.predict_marginals(data), strict=True):
            assert own.tobytes() == other.tobytes()


def test_every_type_listed_is_needed():
    found = set()
    for est, data in MODELS.values():
        found |= set(skops.get_untrusted_types(data=skops.dumps(fitted(est, data))))
    assert found == documented()
