# SPDX-License-Identifier: BSD-3-Clause
"""
What latent states have learned
===============================

A label that behaves in several ways gets several states, and nobody says which is which. Noun phrases begin
(``B-NP``) with "the" and go on, or are a single "she" and end; inside of one (``I-NP``) adjectives go before nouns.
Two states for each label find that out. ``weights_table`` and ``transitions_table`` say what sets the states of a
label apart.
"""

# sphinx_gallery_thumbnail_number = -1
import matplotlib.pyplot as plt
import numpy as np

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.inspection import TransitionDisplay, transitions_table, weights_table

X, y = load_chunks(return_X_y=True)
y = [[label if label[2:] == "NP" else "O" for label in own] for own in y]
# Of each token its part of speech alone: all else has to come from the states.
vectorizer = TemplateVectorizer(["%x[0,1]"])
tagger = LatentCRFTagger(
    {"B-NP": 2, "I-NP": 2}, vectorizer=vectorizer, sigma=2.0, n_init=5, tol=1e-4, random_state=0
).fit(X, y)

# %%
# The features that pull each state most, compared with its sister (``contrast``):

weights = weights_table(tagger)
inside = weights[weights["label"] != "O"]
top = inside.sort_values("contrast", ascending=False).groupby("state").head(5)
print(top.sort_values(["state", "contrast"], ascending=[True, False]).round(2).to_string(index=False))

# %%
# And the contexts: ``to_contrast`` says how much more than to its sister the chain goes to this state.

moves = transitions_table(tagger)
moves = moves[(moves["to_label"] == "I-NP") & (moves["from_label"] != "O")]
print(moves.drop(columns="from_contrast").round(2).to_string(index=False))

TransitionDisplay.from_estimator(tagger)

# %%
# What the tokens of each state are (of the best latent path, on the training sentences). Of ``B-NP`` one state
# begins phrases that go on, the other is phrases of one word. Of ``I-NP`` one is what stands before the head, the
# other the head.

counts: dict[str, dict[str, np.ndarray]] = {"B-NP": {}, "I-NP": {}}
first = {label: int(np.flatnonzero(tagger.classes_[tagger.state_labels_] == label)[0]) for label in counts}
for sentence, path, labels in zip(X, tagger.predict_latent(X), y, strict=True):
    for (_, pos), state, label in zip(sentence, path.tolist(), labels, strict=True):
        if label in counts and state - first[label] in (0, 1):
            counts[label].setdefault(pos, np.zeros(2))[state - first[label]] += 1

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharex=True)
for ax, (label, of_pos) in zip(axes, counts.items(), strict=True):
    common = sorted(of_pos, key=lambda pos: -of_pos[pos].sum())[:9]
    table = np.array([of_pos[pos] for pos in common])
    share = 100 * table / table.sum(axis=1, keepdims=True)
    order = np.argsort(-share[:, 0], kind="stable")
    names = [f"{common[k]} ({table[k].sum():.0f})" for k in order]
    for k, (color, hatch, left) in enumerate((("#0072B2", None, 0.0), ("#E69F00", "//", share[order, 0]))):
        name = f"state {first[label] + k}"
        ax.barh(names, share[order, k], left=left, color=color, hatch=hatch, edgecolor="white", label=name)
    ax.invert_yaxis()
    ax.set(xlabel="share of the states (%)", title=f"tokens labelled {label}")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)
axes[0].set_ylabel("part of speech (number of tokens)")
plt.show()
