# SPDX-License-Identifier: BSD-3-Clause
"""Label and latent marginals of one sequence, as a picture."""

from __future__ import annotations

import numpy as np

from ._fitted import FittedTagger, token_texts
from ._plotting import COLORS, SEQUENTIAL, pyplot

__all__ = ["MarginalsDisplay"]

#: More tokens than this have no text below them, but positions.
_MOST_TEXTS = 60


class MarginalsDisplay:
    """Probability of each label, and of each of its latent states, at each token of a sequence.

    Parameters
    ----------
    marginals : ndarray of float of shape (T, n_classes)
    latent_marginals : ndarray of float of shape (T, n_states)
        Columns add up to those of `marginals` over the latent states of each label (label histories are summed out).
    state_labels : ndarray of int of shape (n_states,)
        Index into `classes` of each state's label.
    classes : sequence of labels
    labels : sequence of T labels
        The labels found.
    tokens : sequence of T str or None, default=None
        What stands below the columns; None: positions.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes

    See Also
    --------
    show_sequence : The labels found, as text.
    """

    def __init__(self, marginals, latent_marginals, state_labels, classes, labels, *, tokens=None):
        self.marginals = marginals
        self.latent_marginals = latent_marginals
        self.state_labels = state_labels
        self.classes = classes
        self.labels = labels
        self.tokens = tokens

    @classmethod
    def from_estimator(cls, estimator, x, *, tokens=None, least: float = 0.01, ax=None) -> MarginalsDisplay:
        """Draw the marginals of one sequence.

        Parameters
        ----------
        estimator : fitted LatentCRFTagger or SPNCRFTagger, or a Pipeline that ends in one
        x : one sequence, an entry of what ``estimator.predict`` takes
        tokens : sequence of T str, default=None
            None: the words of `x`, if it holds words.
        least : float, default=0.01
            Labels that reach this probability at no token are left out of the picture.
        ax : matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        MarginalsDisplay

        Raises
        ------
        ValueError
            If the sequence is empty, or `tokens` is of another length.
        """
        fitted = FittedTagger(estimator)
        tagger = fitted.tagger
        corpus = tagger._check_X(fitted.corpus(x))
        if not corpus.n_tokens:
            raise ValueError("the sequence is empty: there is nothing to draw")
        if tokens is None:
            tokens = token_texts(x, corpus.n_tokens)
        elif len(tokens) != corpus.n_tokens:
            raise ValueError(f"tokens has {len(tokens)} entries, the sequence {corpus.n_tokens} tokens")
        states = tagger.predict_latent_marginals(corpus)[0]
        latent = np.zeros((len(states), len(fitted.state_labels)))
        np.add.at(latent.T, fitted.unit_of_state, states.T)
        return cls(
            tagger.predict_marginals(corpus)[0],
            latent,
            fitted.state_labels,
            fitted.classes,
            tagger.predict(corpus)[0],
            tokens=tokens,
        ).plot(least=least, ax=ax)

    def plot(self, *, least: float = 0.01, ax=None) -> MarginalsDisplay:
        """Draw a row for each label and, under it, one for each of its states if it has several.

        Parameters
        ----------
        least : float, default=0.01
            Labels that reach this probability at no token are left out.
        ax : matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        MarginalsDisplay
        """
        plt = pyplot()
        shown = np.flatnonzero(self.marginals.max(axis=0) >= least)
        rows: list[np.ndarray] = []
        names, place, bounds = [], {}, []
        for code in shown.tolist():
            place[self.classes[code]] = len(rows)
            bounds.append(len(rows))
            rows.append(self.marginals[:, code])
            names.append(str(self.classes[code]))
            states = np.flatnonzero(self.state_labels == code)
            if len(states) > 1:
                rows += list(self.latent_marginals[:, states].T)
                names += [f"state {state}" for state in states.tolist()]
        n_tokens = len(self.marginals)
        if ax is None:
            size = (min(16.0, 2.5 + 0.38 * n_tokens), min(14.0, 1.6 + 0.27 * len(rows)))
            _, ax = plt.subplots(figsize=size, layout="constrained")
        image = ax.pcolormesh(np.array(rows), cmap=SEQUENTIAL, vmin=0.0, vmax=1.0, edgecolors="white", linewidth=0.5)
        ax.invert_yaxis()
        for edge in bounds[1:]:
            ax.axhline(edge, color="black", linewidth=0.8)
        found = [(t, place[label]) for t, label in enumerate(self.labels) if label in place]
        ax.scatter(
            [t + 0.5 for t, _ in found], [row + 0.5 for _, row in found],
            s=22, marker="o", facecolor=COLORS[1], edgecolor="white", linewidth=0.8, label="label found", zorder=3,
        )  # fmt: skip
        ax.set_yticks(np.arange(len(rows)) + 0.5, names)
        for name, text in zip(names, ax.get_yticklabels(), strict=True):
            text.set(fontsize=7.5, color="0.35") if name.startswith("state ") else text.set(
                fontsize=9, fontweight="bold"
            )
        if self.tokens is not None and n_tokens <= _MOST_TEXTS:
            ax.set_xticks(np.arange(n_tokens) + 0.5, list(self.tokens), rotation=90 if n_tokens > 4 else 0, fontsize=9)
            ax.set_xlabel("token")
        else:
            step = max(1, n_tokens // 20)
            ax.set_xticks(np.arange(0, n_tokens, step) + 0.5, np.arange(0, n_tokens, step))
            ax.set_xlabel("position of the token")
        ax.set_ylabel("label and latent state" if len(rows) > len(shown) else "label")
        ax.tick_params(length=0)
        ax.figure.colorbar(image, ax=ax, label="probability")
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, borderpad=0.1)
        self.ax_, self.figure_ = ax, ax.figure
        return self
