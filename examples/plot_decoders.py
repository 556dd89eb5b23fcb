# SPDX-License-Identifier: BSD-3-Clause
"""
The five decoders compared
==========================

A latent model gives a label sequence the summed probability of its latent paths. The most probable *label sequence*
(``"ldi_exact"``), the labels of the most probable *path* (``"bhp"``) and the most probable label of each *token*
(``"bmp"``) are different answers to different questions. Data are drawn from a latent CRF with little evidence a
token, where they differ much.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import make_latent_sequences
from sklearn_latent.metrics import sequence_accuracy_score

truth = make_latent_sequences(5000, n_labels=3, n_latent=5, n_features=12, mean_length=6, scale=1.5, random_state=1)
X_test, y_test = truth.data, truth.target
# The model that the data were drawn from, so that nothing but the decoder makes a difference.
tagger = LatentCRFTagger.from_weights(
    [0, 1, 2], truth.coef, truth.transition_coef, state_labels=truth.state_labels, mbr_metric="token_accuracy"
)

decoders = ["ldi_exact", "ldi_approx", "mbr", "bmp", "bhp"]
results = {name: tagger.decode(X_test, name) for name in decoders}
best = results["ldi_exact"].log_prob

# %%
# ``decode`` says of every answer how probable it is and whether it is proven to be the most probable one.

print(f"{'decoder':<12}{'tokens':>9}{'sequences':>11}{'optimal':>9}{'proven':>8}{'time':>10}")
rows = []
for name, result in results.items():
    tokens = np.mean(np.concatenate([np.equal(a, b) for a, b in zip(y_test, result.labels, strict=True)]))
    sequences = sequence_accuracy_score(y_test, result.labels)
    optimal = np.mean(result.log_prob >= best - 1e-9)
    rows.append((tokens, sequences, optimal))
    print(
        f"{name:<12}{tokens:>9.1%}{sequences:>11.1%}{optimal:>9.0%}{result.exact.mean():>8.0%}"
        f"{1000 * result.seconds:>7.0f} ms"
    )

# %%
# ``"bmp"`` gets the most tokens right and ``"ldi_exact"`` the most whole sequences: each is the best there is, in
# the mean, at what it maximises. ``"mbr"`` with token accuracy goes most of the way to ``"bmp"``, but only ever
# answers with one of the most probable label sequences. The labels of the best path fall behind ``"ldi_exact"`` at
# both.

fig, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
titles = ("tokens right (%)", "whole sequences right (%)", "most probable labels found (%)")
for ax, title, values in zip(axes, titles, 100 * np.array(rows).T, strict=True):
    ax.hlines(decoders, min(values) - 1, values, color="0.8")
    ax.plot(values, decoders, "o", color="#0072B2", markersize=8)
    for value, name in zip(values, decoders, strict=True):
        ax.annotate(f"{value:.1f}", (value, name), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8)
    ax.set_xlabel(title)
    ax.margins(x=0.12, y=0.15)
    ax.grid(axis="x", alpha=0.3)
axes[0].invert_yaxis()
plt.show()
