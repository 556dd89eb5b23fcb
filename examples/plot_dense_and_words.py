# SPDX-License-Identifier: BSD-3-Clause
"""
Word vectors beside words
=========================

Dense features and sparse ones go side by side in a ``SequenceUnion``. Here the dense ones are word vectors made
from unlabelled text (the neighbours that a word has in all sentences, in 24 dimensions), which help where labels
are few.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.base import BaseEstimator, TransformerMixin

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import SequenceUnion, TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_score

X, y = load_chunks(return_X_y=True)
X_test, y_test = load_chunks(subset="test", return_X_y=True)
X, X_test = ([[word for word, _ in sentence] for sentence in part] for part in (X, X_test))

# %%
# Vectors of the words that come at least twice: counts of left and right neighbours, weighed by how surprising they
# are (positive pointwise mutual information), and the first singular vectors. Pretrained vectors would be read from
# a file.

text = X + X_test
number = {word: k for k, word in enumerate(sorted({word.lower() for sentence in text for word in sentence}))}
ids = [[number[word.lower()] for word in sentence] for sentence in text]
pairs = np.array([(a, b) for sentence in ids for a, b in zip(sentence, sentence[1:], strict=False)])
n_words = len(number)
right = sp.csr_array((np.ones(len(pairs)), pairs.T), shape=(n_words, n_words))
counts = sp.hstack([right, right.T.tocsr()]).tocoo()
expected = counts.sum(axis=1)[counts.row] * counts.sum(axis=0)[counts.col] / counts.sum()
surprise = sp.csr_array((np.maximum(np.log(counts.data / expected), 0.0), (counts.row, counts.col)), shape=counts.shape)
left_vectors, size, _ = svds(surprise, k=24, rng=0)
vectors = left_vectors * np.sqrt(size)
vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


class Vectors(TransformerMixin, BaseEstimator):
    """Looks up the vectors of a token and of its neighbours; zeros for words without one."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        rows = []
        for sentence in X:
            own = np.zeros((len(sentence) + 2, vectors.shape[1]))
            for t, word in enumerate(sentence, 1):
                if word.lower() in number:
                    own[t] = vectors[number[word.lower()]]
            rows.append(np.hstack([own[:-2], own[1:-1], own[2:]]))
        return SequenceMatrix(np.concatenate(rows), [len(sentence) for sentence in X])


# %%
# The union is one vectorizer; its columns are named by block.

templates = TemplateVectorizer(["%x[-1,0]", "%x[0,0]", "%x[1,0]"], columns=("word",))
blocks = {
    "words": SequenceUnion([("words", templates)]),
    "vectors": SequenceUnion([("vectors", Vectors())]),
    "words and vectors": SequenceUnion([("words", templates), ("vectors", Vectors())]),
}
print(blocks["words and vectors"].fit_transform(X))

sizes = [20, 40, 80, 160, 320]
styles = [{"color": "#D55E00", "marker": "o", "linestyle": "--"}, {"color": "#009E73", "marker": "^", "linestyle": ":"}]
styles.append({"color": "#0072B2", "marker": "s"})
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for (name, union), style in zip(blocks.items(), styles, strict=True):
    scores = []
    for n in sizes:
        tagger = LatentCRFTagger(n_latent=1, sigma=2.0, vectorizer=union, constraints="iob2", tol=1e-3)
        scores.append(100 * chunk_f1_score(y_test, tagger.fit(X[:n], y[:n]).predict(X_test)))
    print(f"{name:<18}", "  ".join(f"{score:.1f}" for score in scores))
    ax.plot(sizes, scores, label=name, **style)
ax.set_xscale("log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="labelled sentences", ylabel="chunk F1 on the test part (%)")
ax.grid(alpha=0.3)
ax.legend()
plt.show()
