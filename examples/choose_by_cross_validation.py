# SPDX-License-Identifier: BSD-3-Clause
"""Choose the prior and the number of latent states by cross-validation, as for any scikit-learn estimator."""

from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_scorer

X, y = load_chunks(return_X_y=True)
X_test, y_test = load_chunks(subset="test", return_X_y=True)

model = Pipeline([("features", TemplateVectorizer("chunking")), ("tagger", LatentCRFTagger(tol=1e-4, random_state=0))])
search = GridSearchCV(
    model,
    {"tagger__sigma": [0.5, 1.0], "tagger__n_latent": [1, 2]},
    scoring=chunk_f1_scorer,
    cv=KFold(3, shuffle=True, random_state=0),
    n_jobs=2,
).fit(X, y)

for params, mean, std in zip(
    search.cv_results_["params"],
    search.cv_results_["mean_test_score"],
    search.cv_results_["std_test_score"],
    strict=True,
):
    print(f"{params}: F1 {100 * mean:.2f} +- {100 * std:.2f}")
print(f"chosen: {search.best_params_}, on the test sentences {100 * search.score(X_test, y_test):.2f}")
