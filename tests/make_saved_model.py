# SPDX-License-Identifier: BSD-3-Clause
"""Write tests/data/model_v1*.zip, files that every later version has to read, and what they have to predict.

Run it when the format's version goes up, with a new number in the names, or when there is more to write, with one more
model; files that are there stay as they are.

    python tests/make_saved_model.py
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_latent import LatentCRFTagger, RowClassifier, SPNCRFTagger
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
NUMBERS = [[[float(len(word)), float(word.istitle())] for word, _ in tokens] for tokens in TOKENS]
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
    options = {"solver": "lbfgs", "max_iter": 50, "tol": 1e-3, "random_state": 0, "n_states": 2}
    spn = SPNCRFTagger(order=2, factors=((1, 1), (2, 2)), n_latent={"O": 2}, constraints="iob2", **options)
    yield "model_v1_spn", spn.fit(DICTS, LABELS), DICTS
    memm = SPNCRFTagger.memm(order=2, dtype=np.float32, decoder="bmp", vectorizer=templates, **options)
    yield "model_v1_memm", memm.fit(TOKENS, CODES), TOKENS
    hidden = SPNCRFTagger.hidden_unit_crf(3, **{name: value for name, value in options.items() if name != "n_states"})
    around = Pipeline([("around", Window()), ("tagger", hidden)])
    yield "model_v1_numbers", around.fit(NUMBERS, LABELS), NUMBERS
    table = np.array([row for rows in NUMBERS for row in rows])
    rows = RowClassifier(LatentCRFTagger(2, random_state=0, max_iter=100, tol=1e-3))
    yield "model_v1_rows", rows.fit(table, [label for labels in LABELS for label in labels]), table.tolist()


def main() -> int:
    """Write the files that are not there."""
    DATA.mkdir(exist_ok=True)
    for name, model, X in models():
        if (DATA / f"{name}.zip").exists():
            continue
        save_model(model, DATA / f"{name}.zip")
        if isinstance(model, RowClassifier):
            labels, marginals = model.predict(X).tolist(), model.predict_proba(X)
        else:
            matrix = X if not isinstance(model, Pipeline) else model[0].transform(X)
            tagger = model if not isinstance(model, Pipeline) else model[-1]
            labels, marginals = model.predict(X), tagger.predict_marginals(matrix)
        found = {"X": X, "labels": labels, "marginals": [rows.tolist() for rows in marginals]}
        (DATA / f"{name}.json").write_text(json.dumps(found) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
