# SPDX-License-Identifier: BSD-3-Clause
"""What latent states are for: labels that depend on a mode nobody labelled.

A machine is in one of two modes, shown by a signal at the start of a run and then not any more; in mode A it answers
"tick" by "up", in mode B by "down". Between the signal and the answer come any number of ticks labelled "wait". A chain
whose states are the labels forgets the mode at the first "wait". Two states for "wait" can carry it.
"""

import numpy as np

from sklearn_latent import LatentCRFTagger

rng = np.random.default_rng(0)


def run() -> tuple[list[dict], list[str]]:
    """One run: its tokens and its labels."""
    mode, length = rng.choice(["A", "B"]), rng.integers(0, 5)
    tokens = [{"see": f"signal {mode}"}, *({"see": "tick"} for _ in range(length)), {"see": "bell"}]
    return tokens, ["wait"] * (length + 1) + ["up" if mode == "A" else "down"]


X, y = map(list, zip(*(run() for _ in range(200)), strict=True))
X_test, y_test = map(list, zip(*(run() for _ in range(200)), strict=True))

for n_latent in (1, 2):
    tagger = LatentCRFTagger({"wait": n_latent}, n_init=20, random_state=0, sigma=3.0).fit(X, y)
    answers = [labels[-1] for labels in tagger.predict(X_test)]
    right = np.mean([a == labels[-1] for a, labels in zip(answers, y_test, strict=True)])
    print(
        f"{n_latent} state(s) for 'wait': objective {tagger.objective_:.1f}, {100 * right:.0f} % of the answers right"
    )
    if n_latent == 2:
        print("   states on the way:", tagger.predict_latent(X_test[:1])[0].tolist(), "for", y_test[0])
