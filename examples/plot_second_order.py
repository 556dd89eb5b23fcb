# SPDX-License-Identifier: BSD-3-Clause
"""
Second order: when two labels back matter
=========================================

A first-order chain knows the label before. Here a label depends on the *two* before it: steps of a dance go left,
right, and after two equal steps the other way. ``order`` says how many labels back the longest n-gram with a weight
looks.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_latent import SPNCRFTagger

rng = np.random.default_rng(0)
labels = np.array(["left", "right", "turn"])
# P(next | two before): after two equal steps another one, after two different ones mostly the first of them again.
following = np.full((3, 3, 3), 0.05)
for a in range(3):
    for b in range(3):
        following[a, b, (b + 1) % 3 if a == b else a] = 0.9


def dance(n_steps: int, noise: float) -> tuple[np.ndarray, list[str]]:
    """Noisy measurements of the steps, (n_steps, 3), and the steps."""
    steps = list(rng.integers(0, 3, 2))
    while len(steps) < n_steps:
        steps.append(rng.choice(3, p=following[steps[-2], steps[-1]]))
    return np.eye(3)[steps] + noise * rng.standard_normal((n_steps, 3)), labels[steps].tolist()


# %%
# The noisier the measurements, the more the steps before have to say.

noises = [0.25, 0.5, 1.0, 1.5]
orders = {0: ("#999999", "v"), 1: ("#D55E00", "o"), 2: ("#0072B2", "s"), 3: ("#009E73", "^")}
right: dict[int, list[float]] = {order: [] for order in orders}
fitted: dict[int, SPNCRFTagger] = {}
for noise in noises:
    X, y = zip(*(dance(20, noise) for _ in range(100)), strict=True)
    X_test, y_test = zip(*(dance(20, noise) for _ in range(200)), strict=True)
    for order in orders:
        fitted[order] = SPNCRFTagger.linear_crf(order=order, sigma=3.0, tol=1e-3).fit(X, y)
        right[order].append(100 * fitted[order].score(X_test, y_test))
print({order: [round(value, 1) for value in values] for order, values in right.items()})

# %%
# What the model has learned: the weights of the label trigrams, largest first.

trigrams = sorted(zip(fitted[2].ngram_coef_[3], fitted[2].ngrams_[3], strict=True), reverse=True)
for weight, trigram in trigrams[:5]:
    print(f"{weight:6.2f}  {' '.join(trigram)}")

# %%
# One label back helps a little, two help much, and a third one has nothing to add. The states of the chain are the
# histories that the n-grams ask for:

print({order: len(fitted[order].state_histories_) for order in orders})

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for order, (color, marker) in orders.items():
    name = {0: "no label before", 1: "one label before", 2: "two labels before", 3: "three labels before"}[order]
    style = "--" if order == 3 else "-"
    ax.plot(noises, right[order], style, color=color, marker=marker, label=f"order={order}: {name}")
ax.set(xlabel="noise of the measurements (standard deviation)", ylabel="right labels (%)")
ax.grid(alpha=0.3)
ax.legend()
plt.show()
