# SPDX-License-Identifier: BSD-3-Clause
"""What the number of latent paths buys a decoder (Sun and Tsujii 2009, figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..metrics import chunk_f1_score
from ..metrics._sequence_scores import token_accuracy
from ._fitted import FittedTagger
from ._plotting import COLORS, counts_axis, pyplot

__all__ = ["DecoderCurveDisplay"]

_PANELS = ("score", "exactitude", "mean_paths", "seconds")


class DecoderCurveDisplay:
    """Score, exactitude, latent paths taken and time of ``ldi_approx`` against the most latent paths it may take.

    Parameters
    ----------
    n_paths : array-like of int of shape (n_points,)
        The most latent paths a sequence may take.
    score : array-like of float of shape (n_points,)
        Score of the labels, in per cent.
    exactitude : array-like of float of shape (n_points,)
        Share of the sequences whose labels are proven to be the most probable ones, in per cent.
    mean_paths : array-like of float of shape (n_points,)
        Latent paths taken, mean over sequences.
    seconds : array-like of float of shape (n_points,)
        Time of decoding.
    score_name : str, default="score"
    exact : dict or None, default=None
        The same figures (``score``, ``exactitude``, ``seconds``) of ``ldi_exact``, drawn as lines across.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes of shape (4,)

    See Also
    --------
    LatentMassDisplay : Why few paths suffice.

    Examples
    --------
    >>> from sklearn_latent import LatentCRFTagger
    >>> from sklearn_latent.datasets import make_latent_sequences
    >>> from sklearn_latent.inspection import DecoderCurveDisplay
    >>> X, y = make_latent_sequences(30, random_state=0, return_X_y=True)
    >>> tagger = LatentCRFTagger(max_iter=20, random_state=0).fit(X, y)  # doctest: +SKIP
    >>> DecoderCurveDisplay.from_estimator(tagger, X, y, n_paths=[1, 10, 100])  # doctest: +SKIP
    """

    def __init__(self, n_paths, score, exactitude, mean_paths, seconds, *, score_name: str = "score", exact=None):
        self.n_paths = n_paths
        self.score = score
        self.exactitude = exactitude
        self.mean_paths = mean_paths
        self.seconds = seconds
        self.score_name = score_name
        self.exact = exact

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, n_paths: Sequence[int] = (1, 3, 10, 30, 100, 300, 1000), scoring=None, axes=None
    ) -> DecoderCurveDisplay:
        """Decode `X` once for each number of paths, and once exactly, and draw the curves.

        Parameters
        ----------
        estimator : fitted tagger
        X : as in ``estimator.predict``
        y : list of lists of labels
        n_paths : sequence of int, default=(1, 3, 10, 30, 100, 300, 1000)
        scoring : callable, default=None
            ``scoring(y, labels)``, larger is better. None: chunk F1 where the labels have the prefixes of chunks, the
            share of right tokens otherwise.
        axes : sequence of four matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        DecoderCurveDisplay
        """
        points = [int(n) for n in n_paths]
        if not points or min(points) < 1:
            raise ValueError(f"n_paths must be positive integers, at least one, got {n_paths!r}")
        score, name = _scoring(estimator, scoring)
        y = list(y)
        results = [estimator.decode(X, "ldi_approx", n_paths=n) for n in points]
        best = estimator.decode(X, "ldi_exact")
        display = cls(
            n_paths=np.array(points),
            score=np.array([100.0 * score(y, r.labels) for r in results]),
            exactitude=np.array([100.0 * r.exact.mean() for r in results]),
            mean_paths=np.array([r.n_paths.mean() for r in results]),
            seconds=np.array([r.seconds for r in results]),
            score_name=name,
            exact={
                "score": 100.0 * score(y, best.labels),
                "exactitude": 100.0 * best.exact.mean(),
                "seconds": best.seconds,
            },
        )
        return display.plot(axes=axes)

    def plot(self, *, axes=None) -> DecoderCurveDisplay:
        """Draw the four curves.

        Parameters
        ----------
        axes : sequence of four matplotlib Axes, default=None
            None: a new figure.

        Returns
        -------
        DecoderCurveDisplay
        """
        plt = pyplot()
        if axes is None:
            _, axes = plt.subplots(2, 2, figsize=(8.0, 5.6), layout="constrained")
        axes = np.asarray(axes, dtype=object).ravel()
        if len(axes) != len(_PANELS):
            raise ValueError(f"four axes are needed, got {len(axes)}")
        titles = (f"{self.score_name} (%)", "proven most probable (%)", "latent paths taken (mean)", "time (s)")
        for ax, panel, title in zip(axes, _PANELS, titles, strict=True):
            ax.plot(self.n_paths, getattr(self, panel), marker="o", color=COLORS[0], label="ldi_approx")
            if self.exact is not None and panel in self.exact:
                ax.axhline(self.exact[panel], linestyle="--", color=COLORS[1], label="ldi_exact")
            counts_axis(ax)
            ax.set_xlabel("most latent paths")
            ax.set_ylabel(title)
            ax.grid(alpha=0.3)
        axes[0].legend()
        self.axes_, self.figure_ = axes, axes[0].figure
        return self


def _scoring(estimator, scoring):
    """A function of true and found labels, and its name."""
    if callable(scoring):
        return scoring, getattr(scoring, "__name__", "score").replace("_", " ")
    if scoring is not None:
        raise TypeError(f"scoring must be callable or None, got {scoring!r}")
    if FittedTagger(estimator).scheme is not None:
        return (lambda true, found: chunk_f1_score(true, found, zero_division=0.0)), "chunk F1"
    return token_accuracy, "tokens right"
