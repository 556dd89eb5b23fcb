# SPDX-License-Identifier: BSD-3-Clause
"""
Legal tag sequences
===================

In IOBES a chunk of several tokens begins with B, goes on with I and ends with E. The most probable label of each
token (``decoder="bmp"``) need not spell chunks at all. ``constraints="iobes"`` gives ill-formed sequences
probability zero, in training and in every decoder; ``"bmp"`` then answers with the *legal* sequence that has the
most tokens right in the mean.
"""

import matplotlib.pyplot as plt

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.metrics import chunk_f1_score, convert_labels

X, y = load_chunks(return_X_y=True)
X_test, y_test = load_chunks(subset="test", return_X_y=True)
y, y_test = (convert_labels(labels, "iob2", "iobes") for labels in (y, y_test))


def ill_formed(labels: list[str]) -> int:
    """Places between two tokens where a chunk breaks off, or goes on that never began."""
    moves = zip(["O", *labels], [*labels, "O"], strict=True)
    return sum((a[0] in "BI") != (b[0] in "IE") or (a[0] in "BI" and a[2:] != b[2:]) for a, b in moves)


print(ill_formed(["B-NP", "O", "S-NP"]), ill_formed(["B-NP", "E-NP", "O"]))

# %%
# Any set of allowed moves will do, given as pairs; None stands for the start and the end. Here a door that is
# opened has to be closed before the end:

pairs = [(None, "open"), ("open", "open"), ("open", "close"), ("close", "open"), ("close", None)]
door = LatentCRFTagger(n_latent=1, constraints=pairs).fit([[[0.0], [1.0]]] * 3, [["open", "close"]] * 3)
print(door.predict([[[0.0], [0.0], [0.0]]]))

# %%
# Words alone, from few sentences to many. ``"ldi_exact"`` seldom goes wrong, as it asks for the probability of
# whole sequences, and illegal ones never came in training. Token by token many do, and the constraints rule them
# out. They cost a little F1 where there is little to learn from, and none later: what they buy is output that the
# next program can read.

models = {
    'most probable tokens ("bmp")': {"decoder": "bmp"},
    'most probable sequence ("ldi_exact")': {"decoder": "ldi_exact"},
    '"bmp" with constraints="iobes"': {"decoder": "bmp", "constraints": "iobes"},
}
styles = [{"color": "#D55E00", "marker": "o", "linestyle": "--"}, {"color": "#009E73", "marker": "^", "linestyle": ":"}]
styles.append({"color": "#0072B2", "marker": "s"})
sizes = [10, 20, 40, 80, 160, 320]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
for (name, options), style in zip(models.items(), styles, strict=True):
    errors, f1 = [], []
    for size in sizes:
        tagger = LatentCRFTagger(n_latent=1, vectorizer=TemplateVectorizer("np-chunking"), tol=1e-3, **options)
        found = tagger.fit(X[:size], y[:size]).predict(X_test)
        errors.append(sum(map(ill_formed, found)))
        f1.append(100 * chunk_f1_score(y_test, found, scheme="iobes", invalid="discard"))
    axes[0].plot(sizes, errors, label=name, **style)
    axes[1].plot(sizes, f1, label=name, **style)
for ax, title in zip(axes, ("ill-formed places in the test part", "chunk F1, read strictly (%)"), strict=True):
    ax.set_xscale("log")
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.set(xlabel="training sentences", ylabel=title)
    ax.grid(alpha=0.3)
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
plt.show()
