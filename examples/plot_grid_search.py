# SPDX-License-Identifier: BSD-3-Clause
"""
Choose the prior and the number of latent states by cross-validation
====================================================================

A tagger is an estimator like any other: in a ``Pipeline`` with its vectorizer, ``GridSearchCV`` tries the width of
the prior ``sigma`` and the number of latent states a label ``n_latent``. Folds are made of whole sentences.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_scorer

X, y = load_chunks(return_X_y=True)
X, y = X[:240], y[:240]
X_test, y_test = load_chunks(subset="test", return_X_y=True)
# Noun phrases alone: three labels, a small grid is done in seconds.
y, y_test = ([[label if label[2:] == "NP" else "O" for label in own] for own in labels] for labels in (y, y_test))

model = Pipeline([("features", TemplateVectorizer("chunking")), ("tagger", LatentCRFTagger(tol=1e-2, random_state=0))])
grid = {"tagger__sigma": [0.5, 2.0, 8.0, 32.0], "tagger__n_latent": [1, 2, 3]}
search = GridSearchCV(model, grid, scoring=chunk_f1_scorer, cv=KFold(3, shuffle=True, random_state=0))
search.fit(X, y)
print(f"chosen: {search.best_params_}")
print(f"F1 on the test sentences: {100 * search.score(X_test, y_test):.1f} %")

# %%
# The mean over the folds, and its spread over them. A difference smaller than the spread is no reason to prefer a
# larger model: on this small corpus the prior matters, and latent states do not.

shape = len(grid["tagger__n_latent"]), len(grid["tagger__sigma"])
mean = 100 * search.cv_results_["mean_test_score"].reshape(shape)
spread = 100 * search.cv_results_["std_test_score"].reshape(shape)

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
image = ax.imshow(mean, cmap="cividis")
for (row, column), value in np.ndenumerate(mean):
    color = "white" if value < (mean.min() + mean.max()) / 2 else "black"
    ax.text(column, row, f"{value:.1f}\n± {spread[row, column]:.1f}", ha="center", va="center", color=color)
ax.set_xticks(range(shape[1]), grid["tagger__sigma"])
ax.set_yticks(range(shape[0]), grid["tagger__n_latent"])
ax.set_xlabel("sigma, standard deviation of the prior")
ax.set_ylabel("n_latent, states a label")
fig.colorbar(image, label="chunk F1 (%), three folds")
plt.show()
