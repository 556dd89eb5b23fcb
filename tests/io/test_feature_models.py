# SPDX-License-Identifier: BSD-3-Clause
"""Saved models whose features come from unions, hashing and windows."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import (
    PerToken,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
    Window,
)
from sklearn_latent.io import load_model, save_model

WORDS = [["Ana", "met", "Bo"], ["Bo", "left"]] * 3
DICTS = [[{"w": word} for word in words] for words in WORDS]
Y = [["B", "O", "B"], ["B", "O"]] * 3
NUMBERS = SequenceMatrix(np.random.default_rng(0).normal(size=(15, 2)), [3, 2] * 3, feature_names=["a", "b"])


def union():
    return SequenceUnion(
        [("words", TemplateVectorizer()), ("edge", TemplateVectorizer(["B%x[0,0]"])), ("gone", "drop")]
    )


CASES = {
    "union": (LatentCRFTagger(vectorizer=union(), random_state=0), WORDS),
    "hasher": (LatentCRFTagger(vectorizer=SequenceFeatureHasher(64), random_state=0), DICTS),
    "union in a pipeline": (make_pipeline(union(), LatentCRFTagger(random_state=0)), WORDS),
    "window": (make_pipeline(Window(1, 0), LatentCRFTagger(random_state=0)), NUMBERS),
    "passthrough": (
        make_pipeline(SequenceUnion([("w", Window()), ("p", "passthrough")]), LatentCRFTagger(random_state=0)),
        list(NUMBERS),
    ),
    "features made before": (LatentCRFTagger(random_state=0), Window().fit_transform(NUMBERS)),
}


@pytest.mark.parametrize("case", CASES)
def test_saved_and_loaded(case, tmp_path):
    estimator, X = CASES[case]
    estimator.fit(X, Y)
    save_model(estimator, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.predict(X) == estimator.predict(X)
    assert again.score(X, Y) == estimator.score(X, Y)
    tagger, other = (e[-1] if hasattr(e, "steps") else e for e in (estimator, again))
    assert (
        hasattr(tagger, "feature_names_in_") and tagger.feature_names_in_.tolist() == other.feature_names_in_.tolist()
    )
    assert np.array_equal(tagger.coef_, other.coef_)


@pytest.mark.parametrize(
    ("transformer", "X"), [(union(), WORDS), (Window(2, 1), NUMBERS), (SequenceFeatureHasher(8), DICTS)]
)
def test_alone(transformer, X, tmp_path):
    save_model(transformer.fit(X), tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert type(again) is type(transformer) and repr(again) == repr(transformer)
    found, expected = again.transform(X), transformer.transform(X)
    assert abs(found.values - expected.values).sum() == 0
    assert found.feature_names.tolist() == again.get_feature_names_out().tolist() == expected.feature_names.tolist()


def test_transformers_of_others_are_refused(tmp_path):
    pipeline = make_pipeline(PerToken(StandardScaler()), LatentCRFTagger()).fit(NUMBERS, Y)
    with pytest.raises(TypeError, match="step 'pertoken'"):
        save_model(pipeline, tmp_path / "model")
    assert not (tmp_path / "model").exists()
