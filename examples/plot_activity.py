# SPDX-License-Identifier: BSD-3-Clause
"""
A time series: recognise activities from an accelerometer
=========================================================

Someone sits, walks and climbs stairs with a sensor at the hip. Windows of half a second are the tokens; their
features are a few statistics of the signal. A chain of labels smooths over windows that look like something else.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent.feature_extraction import PerToken, Window

rng = np.random.default_rng(0)
RATE, WIDTH = 50, 25  # samples a second, samples a window
KINDS = ("sit", "walk", "stairs")
MOVES = {"sit": ["walk"], "walk": ["sit", "stairs", "stairs"], "stairs": ["walk"]}


def recording(n_bouts: int = 9) -> tuple[np.ndarray, list[str]]:
    """Acceleration (samples,) in units of g, and the activity of each window."""
    signal, labels, kind = [], [], str(rng.choice(KINDS))
    for _ in range(n_bouts):
        n_windows = int(rng.integers(8, 24))
        t = np.arange(n_windows * WIDTH) / RATE
        beat, size = {"sit": (0.0, 0.0), "walk": (1.8, 0.30), "stairs": (1.5, 0.36)}[kind]
        size = size * rng.uniform(0.7, 1.3) * (1 + 0.5 * np.sin(2 * np.pi * t / rng.uniform(3, 6)))
        wave = size * np.sin(2 * np.pi * beat * rng.uniform(0.9, 1.1) * t) ** 3
        signal.append(1.0 + wave + 0.12 * rng.standard_normal(len(t)))
        labels += [kind] * n_windows
        kind = str(rng.choice(MOVES[kind]))
    return np.concatenate(signal), labels


def statistics(signal: np.ndarray) -> np.ndarray:
    """Mean, spread, range, mean step and strength of three slow frequencies of each window."""
    windows = signal.reshape(-1, WIDTH)
    power = np.abs(np.fft.rfft(windows - windows.mean(axis=1, keepdims=True), axis=1))[:, 1:4]
    steps = np.abs(np.diff(windows, axis=1)).mean(axis=1)
    return np.column_stack([windows.mean(axis=1), windows.std(axis=1), np.ptp(windows, axis=1), steps, power])


train, test = ([recording() for _ in range(n)] for n in (30, 30))
X, X_test = ([statistics(signal) for signal, _ in part] for part in (train, test))
y, y_test = ([labels for _, labels in part] for part in (train, test))
print(SequenceMatrix.hstack([SequenceMatrix(np.concatenate(X), [len(own) for own in X])]))

# %%
# One pipeline from statistics to labels: scaled, each window with its two neighbours on either side. Against it a
# classifier that sees the same features and labels every window by itself.

features = make_pipeline(PerToken(StandardScaler()), Window(before=2, after=2))
rows, rows_test = features.fit_transform(X), features.transform(X_test)
single = LogisticRegression(max_iter=2000).fit(rows.values, np.concatenate(y))
chain = make_pipeline(features, LatentCRFTagger(n_latent=2, sigma=3.0, tol=1e-4, random_state=0)).fit(X, y)
alone = np.split(single.predict(rows_test.values), rows_test.offsets[1:-1])
found = chain.predict(X_test)
for name, answer in (("window by window", alone), ("latent CRF", found)):
    right = np.mean(np.concatenate(answer) == np.concatenate(y_test))
    changes = np.mean([np.sum(np.array(own)[1:] != np.array(own)[:-1]) for own in answer])
    print(f"{name:<17} {right:.1%} of the windows right, {changes:.1f} changes of activity a recording")

# %%
# One recording of the test part: the chain has no flicker.

i = int(
    np.argmax(
        [np.mean(np.array(a) == b) - np.mean(np.array(c) == b) for a, b, c in zip(found, y_test, alone, strict=True)]
    )
)
signal, labels = test[i]
time = np.arange(len(signal)) / RATE
fig, axes = plt.subplots(2, 1, figsize=(9, 4), sharex=True, layout="constrained", height_ratios=(2, 1.2))
axes[0].plot(time, signal, color="0.3", linewidth=0.6)
axes[0].set_ylabel("acceleration (g)")
colors = dict(zip(KINDS, ("#999999", "#56B4E9", "#D55E00"), strict=True))
for row, answer in enumerate((labels, found[i], alone[i])):
    for kind in KINDS:
        runs = [(t * WIDTH / RATE, WIDTH / RATE) for t, label in enumerate(answer) if label == kind]
        axes[1].broken_barh(runs, (row - 0.4, 0.8), color=colors[kind], label=kind if row == 0 else None)
axes[1].set_yticks(range(3), ["true", "latent CRF", "window by window"])
axes[1].invert_yaxis()
axes[1].set_xlabel("time (s)")
fig.legend(*axes[1].get_legend_handles_labels(), loc="outside upper right", ncols=3)
plt.show()
