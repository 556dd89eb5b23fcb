# SPDX-License-Identifier: BSD-3-Clause
"""
Learn from partly labelled sentences
====================================

Labels that nobody knows are None: training sums over them. So someone may label what is quick to judge, here and
there, and leave the rest open. Calling the rest "O" is something else: a wrong label.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_score

X, y = load_chunks(return_X_y=True)
X_test, y_test = load_chunks(subset="test", return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(X))
X, y = [X[i] for i in order], [y[i] for i in order]
n_tokens = sum(map(len, y))


def scattered(share: float, missing=None) -> list[list]:
    """Labels of a random share of all tokens; the others are `missing`."""
    return [[label if rng.random() < share else missing for label in own] for own in y]


print(scattered(0.3)[0])

# %%
# The same number of labels, spent in three ways. Chunks are read with the constraints of IOB2, which also say
# something about the tokens between two known ones.

shares = [0.02, 0.05, 0.15, 0.4]


def f1(sentences, labels) -> float:
    """F1 on the test part, in per cent."""
    tagger = LatentCRFTagger(n_latent=1, vectorizer=TemplateVectorizer("chunking"), constraints="iob2", tol=1e-3)
    return 100 * chunk_f1_score(y_test, tagger.fit(sentences, labels).predict(X_test))


def f1_free(sentences, labels) -> float:
    """The same without constraints, which wrong labels would violate."""
    tagger = LatentCRFTagger(n_latent=1, vectorizer=TemplateVectorizer("chunking"), tol=1e-3)
    return 100 * chunk_f1_score(y_test, tagger.fit(sentences, labels).predict(X_test))


scores: dict[str, list[float]] = {"scattered tokens": [], "whole sentences": [], 'scattered, the rest called "O"': []}
for share in shares:
    whole = int(np.searchsorted(np.cumsum([len(own) for own in y]), share * n_tokens)) + 1
    scores["scattered tokens"].append(f1(X, scattered(share)))
    scores["whole sentences"].append(f1(X[:whole], y[:whole]))
    scores['scattered, the rest called "O"'].append(f1_free(X, scattered(share, "O")))

# %%
# A label is worth about the same wherever it stands; whole sentences are ahead only where labels are so few that
# hardly two stand side by side. But None is not "O": a model that is told so learns that chunks are rare.

styles = [
    {"color": "#0072B2", "marker": "s"},
    {"color": "#D55E00", "marker": "o", "linestyle": "--"},
    {"color": "#999999", "marker": "v", "linestyle": ":"},
]
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for (name, values), style in zip(scores.items(), styles, strict=True):
    ax.plot(100 * np.array(shares), values, label=name, **style)
ax.set_xscale("log")
ax.set_xticks([2, 5, 15, 40], ["2", "5", "15", "40"])
ax.minorticks_off()
ax.set(xlabel=f"labelled tokens (% of {n_tokens:,})", ylabel="chunk F1 on the test part (%)")
ax.grid(alpha=0.3)
ax.legend()
plt.show()
