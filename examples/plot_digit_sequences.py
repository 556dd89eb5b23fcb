# SPDX-License-Identifier: BSD-3-Clause
"""
Digit sequences with sum-product networks
=========================================

Dates and numbers in handwritten digits: what an image says about its digit is no linear function of 64 pixels.
Small sum-product networks take the place of the linear factors; the hidden variables are summed out exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_latent import SPNCRFTagger
from sklearn_latent.datasets import load_digit_sequences
from sklearn_latent.inspection import show_sequence
from sklearn_latent.metrics import token_error_rate

train, test = load_digit_sequences(), load_digit_sequences(subset="test")
# Pixels from 0 to 1, with noise: the clean images are so easy that all models get nearly all of them right.
rng = np.random.default_rng(0)
X, X_test = (
    corpus.data.map(lambda pixels: pixels / 16 + 0.3 * rng.standard_normal(pixels.shape)) for corpus in (train, test)
)
print(X, train.target[0])

# %%
# Four models of the image, on the same chain of digit pairs: linear factors, a mixture of four templates a digit,
# binary hidden units that all digits share, and a network of two hidden variables with four states each.
# ``early_stopping`` holds a tenth of the sequences out and keeps the weights that do best on them.

options = {"sigma": 1.0, "max_iter": 300, "early_stopping": True, "n_iter_no_change": 5, "random_state": 0}
models = {
    "linear CRF": SPNCRFTagger(n_layers=0, **options),
    "GMM-CRF": SPNCRFTagger.gmm_crf(n_components=4, **options),
    "hidden-unit CRF": SPNCRFTagger.hidden_unit_crf(n_units=40, **options),
    "SPN-CRF": SPNCRFTagger(n_products=2, n_states=4, **options),
}
errors = {}
for name, model in models.items():
    found = model.fit(X, train.target).predict(X_test)
    errors[name] = 100 * token_error_rate(test.target, found)
    print(f"{name:<16} {errors[name]:.2f} % of {X_test.n_tokens} test digits wrong")

# %%
# A test sequence as the model reads it:

show_sequence(model, X_test[0], image_shape=(8, 8))

# %%
# The digit it is least sure of among all test images:

marginals = model.predict_marginals(X_test)
i = int(np.argmin([own.max(axis=1).min() for own in marginals]))
print("is", test.target[i])
show_sequence(model, X_test[i], image_shape=(8, 8))

# %%
# Hidden variables take off a good part of the errors of linear factors. Of the 800 test digits one is 0.125 %, so
# that small differences are chance.

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
bars = ax.barh(list(errors), list(errors.values()), color=["#999999", "#E69F00", "#009E73", "#0072B2"])
ax.bar_label(bars, fmt="%.2f", padding=3)
ax.invert_yaxis()
ax.set_xlabel("wrong digits on the test part (%)")
ax.margins(x=0.15)
plt.show()
