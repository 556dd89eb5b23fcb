# SPDX-License-Identifier: BSD-3-Clause
"""Write tests/data/model_v1*.zip, files that every later version has to read, and what they have to predict.

Run it when the format's version goes up, with a new number in the names, or when there is more to write, with one more
model; files that are there stay as they are.

    python tests/make_saved_model.py
"""

import json
import sys
from pathlib import Path

from sklearn.pipeline import Pipeline

from sklearn_latent import LatentCRFTagger
from sklearn_latent.feature_extraction import (
    SequenceDictVectorizer,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
    Window,
)
from sklearn_latent.io import save_model

DATA = Path(__file__).parent / "data"
TOKENS = [
    [("Mira", "N"), ("saw", "V"), ("the", "D"), ("grey", "A"), ("heron", "N")],
    [("the", "D"), ("heron", "N"), ("saw", "V"), ("nobody", "P")],
    [("Mira", "N"), ("sang", "V")],
    [],
]
LABELS = [["B-NP", "O", "B-NP", "I-NP", "I-NP"], ["B-NP", "I-NP", "O", "B-NP"], ["B-NP", "O"], []]
DICTS = [[{"word": word, "pos": [pos], "length": len(word)} for word, pos in tokens] for tokens in TOKENS]
CODES = [[{"O": 0, "B-NP": 1, "I-NP": 2}[label] for label in labels] for labels in LABELS]
TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,1]/%x[0,1]", "B0:%x[0,1]"]


def models():
    """Name, fitted model, and the corpus that it reads."""
    options = {"sigma": 2.0, "max_iter": 100, "tol": 1e-3, "random_state": 0}
    templates = TemplateVectorizer(TEMPLATES, columns=["word", "pos"])
    tagger = LatentCRFTagger(2, constraints="iob2", vectorizer=templates, **options)
    yield "model_v1", tagger.fit(TOKENS, LABELS), TOKENS
    tagger = LatentCRFTagger({1: 2}, edge_features=["pos=D"], decoder="bmp", **options)
    pipeline = Pipeline([("features", SequenceDictVectorizer(min_df=2)), ("off", None), ("tagger", tagger)])
    yield "model_v1_pipeline", pipeline.fit(DICTS, CODES), DICTS
    around = SequenceUnion([("here", "passthrough"), ("before", Window(1, 0))])
    hashed = Pipeline([("hasher", SequenceFeatureHasher(8)), ("around", around)])
    union = SequenceUnion([("named", SequenceDictVectorizer()), ("hashed", hashed), ("off", "drop")])
    tagger = LatentCRFTagger(1, support="all", solver="adam", learning_rate=0.5, vectorizer=union, random_state=0)
    for _ in range(10):
        tagger.partial_fit(DICTS, LABELS)
    yield "model_v1_union", tagger, DICTS


def main() -> int:
    """Write the files that are not there."""
    DATA.mkdir(exist_ok=True)
    for name, model, X in models():
        if (DATA / f"{name}.zip").exists():
            continue
        save_model(model, DATA / f"{name}.zip")
        matrix = X if not isinstance(model, Pipeline) else model[0].transform(X)
        tagger = model if not isinstance(model, Pipeline) else model[-1]
        found = {
            "X": X,
            "labels": model.predict(X),
            "marginals": [rows.tolist() for rows in tagger.predict_marginals(matrix)],
        }
        (DATA / f"{name}.json").write_text(json.dumps(found) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
