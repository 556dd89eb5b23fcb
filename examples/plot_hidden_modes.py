# SPDX-License-Identifier: BSD-3-Clause
"""
Where latent states beat a plain CRF
====================================

A machine is in one of two modes, shown by a signal at the start of a run and then not any more. Ticks follow,
labelled "wait"; at the bell the right label is "up" in mode A and "down" in mode B. A chain whose states are the
labels forgets the mode at the first "wait". Two states for "wait" can carry it, and nobody has to label them.
"""

# sphinx_gallery_thumbnail_number = -1
import matplotlib.pyplot as plt
import numpy as np

from sklearn_latent import LatentCRFTagger
from sklearn_latent.inspection import MarginalsDisplay

rng = np.random.default_rng(0)


def run(length: int) -> tuple[list[dict], list[str]]:
    """One run of some ticks: its tokens and its labels."""
    mode = rng.choice(["A", "B"])
    tokens = [{"see": f"signal {mode}"}, *({"see": "tick"} for _ in range(length)), {"see": "bell"}]
    return tokens, ["wait"] * (length + 1) + ["up" if mode == "A" else "down"]


lengths = np.arange(11)
X, y = map(list, zip(*(run(length) for length in rng.integers(0, 5, 200)), strict=True))

# %%
# The objective of a latent model has many optima; ``n_init`` starts several times and keeps the best. Training has
# seen up to four ticks, the test goes up to ten.

right, fitted = {}, {}
for n_latent in (1, 2):
    fitted[n_latent] = LatentCRFTagger({"wait": n_latent}, n_init=20, random_state=0, sigma=3.0).fit(X, y)
    right[n_latent] = []
    for length in lengths:
        tokens, labels = zip(*(run(length) for _ in range(100)), strict=True)
        found = fitted[n_latent].predict(list(tokens))
        right[n_latent].append(np.mean([a[-1] == b[-1] for a, b in zip(found, labels, strict=True)]))
    print(f"{n_latent} state(s) for 'wait': {100 * np.mean(right[n_latent]):.0f} % of the answers right")

# %%
# What the states do in a run of mode B: one of the two states of "wait" stands for each mode.

MarginalsDisplay.from_estimator(fitted[2], [{"see": "signal B"}, *[{"see": "tick"}] * 4, {"see": "bell"}])

# %%
# The plain CRF guesses; the latent one is right, and stays right on runs longer than any it has seen.

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(lengths, 100 * np.array(right[1]), "o--", color="#D55E00", label="plain CRF (n_latent=1)")
ax.plot(lengths, 100 * np.array(right[2]), "s-", color="#0072B2", label='two states for "wait"')
ax.axvspan(-0.3, 4.3, color="0.92", label="lengths seen in training")
ax.set(xlabel="ticks between the signal and the answer", ylabel="right answers (%)", ylim=(0, 105), xlim=(-0.3, 10.3))
ax.legend(loc="lower right")
plt.show()
