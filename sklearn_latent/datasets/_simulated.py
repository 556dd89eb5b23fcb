# SPDX-License-Identifier: BSD-3-Clause
"""Sequences drawn from a latent CRF whose weights are known."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import Bunch, check_random_state

from .._sequences.labels import LabelSequences
from .._sequences.matrix import SequenceMatrix

__all__ = ["make_latent_sequences"]

DESCRIPTION = """\
Sequences drawn from a latent CRF
---------------------------------

{n_sequences} sequences of {n_features} standard normal features. The latent path h of a sequence x was drawn from
P(h | x), proportional to exp(sum_t coef[:, h_t] . x_t + sum_t transition_coef[h_(t-1), h_t]), and its labels are those
of its states: state_labels[h_t]. The weights are in `coef` and `transition_coef`, the paths in `latent`.
"""


def make_latent_sequences(
    n_sequences=200,
    *,
    n_labels=3,
    n_latent=2,
    n_features=20,
    mean_length=10,
    scale=2.0,
    random_state=None,
    return_X_y=False,
):
    """Draw weights of a latent CRF, then inputs, then latent paths and labels exactly from the model.

    Parameters
    ----------
    n_sequences : int, default=200
        Number of sequences.
    n_labels : int, default=3
        Number of labels, 0 to ``n_labels - 1``.
    n_latent : int, default=2
        Latent states of each label.
    n_features : int, default=20
        Features of a token, independent standard normal.
    mean_length : float, default=10
        Mean number of tokens, at least 1; the length is one more than a Poisson number.
    scale : float, default=2.0
        Standard deviation of the scores (natural log) that a token gives a state, and of the transition
        weights. 0 makes all labels equally probable; the larger, the more the input says.
    random_state : int, RandomState instance or None, default=None
        Seed of everything drawn.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a `Bunch`.

    Returns
    -------
    data : sklearn.utils.Bunch
        With these entries; the number of states is ``n_labels * n_latent``.

        - ``data``: SequenceMatrix of n_sequences, dense float64, ``n_features`` columns
        - ``target``: LabelSequences of n_sequences lists of int
        - ``latent``: LabelSequences of n_sequences int64 arrays (T,), the state of each token
        - ``coef``: ndarray (n_features, n_states), weight of each feature for each state
        - ``transition_coef``: ndarray (n_states, n_states), weight of going from row to column
        - ``state_labels``: ndarray of int64 (n_states,), label of each state; states are grouped by label
        - ``target_names``: list of int, all labels, also those that were never drawn
        - ``DESCR``: str
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    TypeError
        If a number is of the wrong kind.
    ValueError
        If a number is out of range.

    Notes
    -----
    Paths are drawn by forward filtering and backward sampling, in logarithms: with a_t(s) the log of the
    summed mass of all paths up to t that end in s, the last state is drawn in proportion to exp(a_T) and
    each earlier one in proportion to exp(a_t(s) + transition_coef[s, next]). This is exact.

    Examples
    --------
    >>> from sklearn_latent.datasets import make_latent_sequences
    >>> corpus = make_latent_sequences(5, random_state=0)
    >>> corpus.data
    SequenceMatrix(5 sequences, 46 tokens, 20 features, dense float64)
    >>> corpus.target[0] == corpus.state_labels[corpus.latent[0]].tolist()
    True
    """
    for name, value in (
        ("n_sequences", n_sequences),
        ("n_labels", n_labels),
        ("n_latent", n_latent),
        ("n_features", n_features),
    ):
        _check(name, value, Integral, 1)
    _check("mean_length", mean_length, Real, 1)
    _check("scale", scale, Real, 0)
    rng = check_random_state(random_state)
    n_states = n_labels * n_latent
    # a token's features have a squared norm of n_features in the mean, which the division takes out
    coef = scale / np.sqrt(n_features) * rng.standard_normal((n_features, n_states))
    transition = scale * rng.standard_normal((n_states, n_states))
    state_labels = np.repeat(np.arange(n_labels, dtype=np.int64), n_latent)
    lengths = 1 + rng.poisson(mean_length - 1, size=n_sequences)
    data = SequenceMatrix(rng.standard_normal((int(lengths.sum()), n_features)), lengths)
    latent = LabelSequences([draw_path(x @ coef, transition, rng) for x in data])
    target = LabelSequences([state_labels[path].tolist() for path in latent])
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        latent=latent,
        coef=coef,
        transition_coef=transition,
        state_labels=state_labels,
        target_names=list(range(n_labels)),
        DESCR=DESCRIPTION.format(n_sequences=n_sequences, n_features=n_features),
    )


def draw_path(scores: np.ndarray, transition: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Draw one state path, int64 (T,), from scores (T, n_states) and transition weights (n_states, n_states)."""
    n_tokens = len(scores)
    forward = np.empty_like(scores)
    for t in range(n_tokens):
        forward[t] = scores[t]
        if t:
            forward[t] += logsumexp(forward[t - 1][:, None] + transition, axis=0)
    # adding Gumbel noise to logarithms and taking the largest draws in proportion to their exponentials
    noise = rng.gumbel(size=scores.shape)
    path = np.empty(n_tokens, dtype=np.int64)
    for t in reversed(range(n_tokens)):
        following = transition[:, path[t + 1]] if t + 1 < n_tokens else 0.0
        path[t] = np.argmax(forward[t] + following + noise[t])
    return path


def _check(name: str, value: Any, kind: Any, least: float) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        wanted = "an integer" if kind is Integral else "a number"
        raise TypeError(f"{name} must be {wanted}, got {value!r}")
    if not least <= value < np.inf:
        raise ValueError(f"{name} must be at least {least} and finite, got {value!r}")
