# SPDX-License-Identifier: BSD-3-Clause
"""How much probability the best latent paths hold (Sun and Tsujii 2009, figure 2)."""

from __future__ import annotations

import numpy as np

from ._plotting import COLORS, counts_axis, pyplot

__all__ = ["LatentMassDisplay", "latent_path_mass"]


def latent_path_mass(estimator, X, *, n_paths: int = 1000) -> np.ndarray:
    """Share of the probability that the most probable latent paths of each sequence hold.

    Parameters
    ----------
    estimator : fitted tagger
    X : as in ``estimator.predict``
        Empty sequences are left out.
    n_paths : int, default=1000

    Returns
    -------
    ndarray of float of shape (n_sequences, n_paths)
        Entry ``[i, n - 1]``: what the n best latent paths of sequence ``i`` hold together. Where a
        sequence has fewer paths the rest of the row is what all of them hold.

    See Also
    --------
    LatentMassDisplay : Draws it.
    """
    if isinstance(n_paths, bool) or not isinstance(n_paths, (int, np.integer)) or n_paths < 1:
        raise ValueError(f"n_paths must be a positive integer, got {n_paths!r}")
    return estimator._latent_path_mass(X, int(n_paths))


class LatentMassDisplay:
    """Probability of the n most probable latent paths together, against n.

    Parameters
    ----------
    mass : ndarray of float of shape (n_sequences, n_paths)
        ``mass[i, n - 1]``: share of the probability of sequence ``i`` that its n best latent paths hold.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes

    See Also
    --------
    DecoderCurveDisplay : What these paths mean for the answers.
    latent_path_mass : The numbers alone.
    """

    def __init__(self, mass):
        self.mass = mass

    @classmethod
    def from_estimator(cls, estimator, X, *, n_paths: int = 1000, ax=None) -> LatentMassDisplay:
        """Find the best latent paths of each sequence and draw what they hold.

        Parameters
        ----------
        estimator : fitted tagger
        X : as in ``estimator.predict``
            Empty sequences are left out.
        n_paths : int, default=1000
        ax : matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        LatentMassDisplay
        """
        return cls(latent_path_mass(estimator, X, n_paths=n_paths)).plot(ax=ax)

    def plot(self, *, ax=None) -> LatentMassDisplay:
        """Draw the mean over sequences, and the range that the middle half of them is in.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        LatentMassDisplay
        """
        plt = pyplot()
        if ax is None:
            _, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
        n = np.arange(1, self.mass.shape[1] + 1)
        low, high = np.percentile(100.0 * self.mass, [25, 75], axis=0)
        ax.plot(n, 100.0 * self.mass.mean(axis=0), color=COLORS[0], label="mean")
        ax.fill_between(n, low, high, color=COLORS[0], alpha=0.2, linewidth=0, label="middle half of the sequences")
        counts_axis(ax)
        ax.set_ylim(0.0, 102.0)
        ax.set_xlabel("most probable latent paths")
        ax.set_ylabel("probability they hold (%)")
        ax.grid(alpha=0.3)
        ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self
