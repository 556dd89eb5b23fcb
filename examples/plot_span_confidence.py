# SPDX-License-Identifier: BSD-3-Clause
"""
How sure is a chunk? Confidence and precision-recall curves
===========================================================

``predict_spans`` gives the probability that exactly this chunk is there, summed over all label sequences that have
it. Kept above a threshold, chunks get more precise and fewer.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.metrics import get_chunks

X, y = load_chunks(return_X_y=True)
X_test, y_test = load_chunks(subset="test", return_X_y=True)
# Words alone and a third of the sentences: a model that errs often enough to draw a curve.
words = [[word for word, _ in sentence] for sentence in X]
words_test = [[word for word, _ in sentence] for sentence in X_test]
templates = ["%x[-1,0]", "%x[0,0]", "%x[1,0]", "%x[-1,0]/%x[0,0]", "%x[0,0]/%x[1,0]"]
vectorizer = TemplateVectorizer(templates, columns=("word",))
tagger = LatentCRFTagger(2, sigma=2.5, vectorizer=vectorizer, constraints="iob2", tol=1e-4, random_state=0).fit(
    words[:120], y[:120]
)

spans = tagger.predict_spans(words_test)
gold = [set(get_chunks(labels, scheme="iob2")) for labels in y_test]
confidence = np.array([p for own in spans for *_, p in own])
right = np.array([tuple(span) in truth for own, truth in zip(spans, gold, strict=True) for *span, _ in own])
n_gold = sum(map(len, gold))
print(f"{len(right)} chunks found, {right.mean():.0%} of them right, out of {n_gold}")

# %%
# The probability of a whole chunk against a common makeshift, the product of its tokens' marginal probabilities,
# which counts what neighbours have in common as many times as there are tokens:

marginals = tagger.predict_marginals(words_test)
code = {label: k for k, label in enumerate(tagger.classes_)}
product = np.array([
    np.prod([m[t, code[("B-" if t == start else "I-") + kind]] for t in range(start, stop)])
    for own, m in zip(spans, marginals, strict=True) for start, stop, kind, _ in own
])  # fmt: skip


def curve(score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Recall and precision of the chunks with the largest scores, for every number of them."""
    hits = np.cumsum(right[np.argsort(-score, kind="stable")])
    return hits / n_gold, hits / np.arange(1, len(hits) + 1)


def calibration(score: np.ndarray, n_bins: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Mean score and share of right chunks in bins of equal size."""
    parts = np.array_split(np.argsort(score, kind="stable"), n_bins)
    return np.array([score[p].mean() for p in parts]), np.array([right[p].mean() for p in parts])


# %%
# Left: how precise the surest chunks are; the chunk's own probability sorts them better in the middle of the curve.
# Right: of the chunks that the model calls 80 % sure, 80 % should be right. Both are modest here: more are right
# than they say.

fig, axes = plt.subplots(1, 2, figsize=(8.5, 3.8), layout="constrained")
for score, name, style in (
    (confidence, "probability of the chunk", {"color": "#0072B2"}),
    (product, "product of token marginals", {"color": "#D55E00", "linestyle": "--"}),
):
    axes[0].plot(*(100 * values for values in curve(score)), label=name, **style)
    axes[1].plot(*(100 * values for values in calibration(score)), marker="o", label=name, **style)
axes[0].set(xlabel="recall (%)", ylabel="precision (%)")
axes[1].plot([0, 100], [0, 100], color="0.6", linewidth=1, label="as sure as right")
axes[1].set(xlabel="what the model says (%)", ylabel="right chunks (%)", xlim=(20, 101), ylim=(20, 101))
axes[1].legend()
for ax in axes:
    ax.grid(alpha=0.3)
plt.show()
