# SPDX-License-Identifier: BSD-3-Clause
"""A script of typical use, for type checkers: it is read, not run (see ``test_typing.py``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from sklearn.pipeline import make_pipeline

from sklearn_latent import LabelSequences, LatentCRFTagger, RowClassifier, SequenceMatrix, SPNCRFTagger
from sklearn_latent.datasets import load_chunks, load_digit_sequences, make_latent_sequences
from sklearn_latent.feature_extraction import (
    PerToken,
    SequenceDictVectorizer,
    SequenceUnion,
    TemplateVectorizer,
    Window,
)
from sklearn_latent.inspection import (
    LearningCurveDisplay,
    MarginalsDisplay,
    SequenceDisplay,
    TransitionDisplay,
    explain,
    show_sequence,
    transitions_table,
    weights_table,
)
from sklearn_latent.io import load_model, read_conll, save_model, write_conll
from sklearn_latent.metrics import chunk_f1_score, chunk_f1_scorer, get_chunks, mcnemar_test

# Tokens to labels
X, y = load_chunks(return_X_y=True)
tagger = LatentCRFTagger(n_latent=2, sigma=0.5, vectorizer=TemplateVectorizer("chunking"), random_state=0)
tagger.fit(X, y)
assert_type(tagger.predict(X), LabelSequences)
assert_type(tagger.predict_marginals(X), LabelSequences)
assert_type(tagger.log_likelihood(X, y), np.ndarray)
assert_type(tagger.score(X, y), float)
for labels, probability in tagger.predict_nbest(X, 3)[0]:
    assert_type(labels, list)
    assert_type(probability, float)
assert_type(tagger.coef_, np.ndarray)

# What an answer is worth
result = tagger.decode(X, "ldi_approx", n_paths=10)
assert_type(result.labels, LabelSequences)
assert_type(result.exact, np.ndarray)
assert_type(result.seconds, float)
f1 = chunk_f1_score(y, result.labels)
get_chunks(["B-NP", "O"])[0]
statistic, pvalue = mcnemar_test(y, result.labels, tagger.predict(X))

# Numbers, networks, pipelines
digits = load_digit_sequences()
network = SPNCRFTagger(n_layers=1, n_products=2, n_states=4, order=2).fit(digits.data, digits.target)
units = SPNCRFTagger.hidden_unit_crf(n_units=10)
assert_type(units, SPNCRFTagger)
corpus = SequenceMatrix(np.zeros((5, 2)), [2, 3])
assert_type(corpus[0:1], Any)
assert_type(corpus.n_tokens, int)
Z, z = make_latent_sequences(5, return_X_y=True)
model = make_pipeline(Window(1, 1), LatentCRFTagger(n_latent={"a": 2}, constraints="iob2")).fit(Z, z)
union = SequenceUnion([("words", TemplateVectorizer()), ("dicts", SequenceDictVectorizer(min_df=2))])
rows = RowClassifier(LatentCRFTagger(n_latent=1))

# Files
sentences, chunks = read_conll("train.txt")
write_conll("out.txt", sentences, chunks)
save_model(tagger, "model.zip")
again = load_model("model.zip", mmap_mode="r")

# Looking inside
weights_table(tagger, top=5)
transitions_table(tagger)
explain(tagger, X[0], 0, against="O")
assert_type(show_sequence(tagger, X[0]), SequenceDisplay)
assert_type(MarginalsDisplay.from_estimator(tagger, X[0], least=0.1), MarginalsDisplay)
TransitionDisplay.from_estimator(tagger).plot(ax=None)
LearningCurveDisplay.from_estimator(tagger)


def metric(labels: list, reference: list) -> float:
    """A metric of one's own for the decoder ``"mbr"``."""
    return float(labels == reference)


scorers: list[Callable] = [metric, chunk_f1_scorer]
reranked = LatentCRFTagger(decoder="mbr", mbr_metric=metric).fit(X, y).predict(X)
scaled = PerToken(Window())
