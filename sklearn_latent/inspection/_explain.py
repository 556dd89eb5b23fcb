# SPDX-License-Identifier: BSD-3-Clause
"""Why a token has its label, as parts that add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._taggers.odds import LabelOdds, label_odds
from ._fitted import FittedTagger, pandas, token_texts

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["explain"]


def explain(estimator, x, i: int, *, label=None, against=None) -> DataFrame:
    r"""Which features and which neighbours moved a token to its label.

    The parts add up to the log-odds of the label against another one, ``log P(y_i = a | x) - log P(y_i = b | x)``.

    Parameters
    ----------
    estimator : fitted LatentCRFTagger or SPNCRFTagger, or a Pipeline that ends in one
    x : one sequence, an entry of what ``estimator.predict`` takes
    i : int
        The token, from 0.
    label : label, default=None
        What to explain, a. None: what ``estimator.predict`` says.
    against : label, default=None
        The other label, b. None: the most probable one but `label`.

    Returns
    -------
    pandas.DataFrame
        One row a part, largest in absolute value first, parts of exactly zero left out; ``attrs`` holds ``label``,
        ``against`` and ``log_odds``, to which column ``contribution`` adds up (to rounding in the model's ``dtype``).
        Columns:

        - ``part``: ``"feature"``; ``"neighbour"``, what another token says; ``"start"`` and ``"end"``, boundary
          weights; ``"states"``, what it is worth that several states of a label share it; ``"hidden"``, biases of
          networks and the same within them
        - ``position``: the token that the part belongs to
        - ``token``: its text, where `x` holds words
        - ``feature``, ``value``: of rows of features
        - ``contribution``: natural log; above zero speaks for `label`

    Raises
    ------
    ImportError
        If pandas is not installed.
    IndexError
        If the sequence has no token `i`.
    ValueError
        If a label is unknown or impossible there, if no other label is possible, or if the model is not a lattice
        (``normalization="local"`` with more label histories than one holds).

    Notes
    -----
    A label owns one or more states h of token i (latent states; label histories, for models of higher order). Let
    ``u(h)`` be the score of the token itself, ``L(h)`` and ``R(h)`` the logs of the summed weights of all ways to get
    to h from the left and to go on from h to the right. Then, with ``q_a(h) = P(h_i = h | y_i = a, x)``,

    .. math::

       \log \frac{P(y_i = a \mid x)}{P(y_i = b \mid x)} = \sum_h (q_a(h) - q_b(h)) \, (u(h) + L(h) + R(h))
       + H(q_a) - H(q_b),

    where H is the entropy, the part ``"states"``; with one state a label it is zero, and nothing is averaged.

    *Features.* ``u`` is linear in the features, so that feature f of value ``x_f`` and weights ``w_f`` has the part
    ``x_f sum_h (q_a(h) - q_b(h)) w_f(h)``. Features with weights on moves into token i count with the probabilities of
    these moves given a and b. In networks (SPN factors) the weights are means over the hidden states' posterior
    probabilities, which makes a part the feature's value times the derivative of the score in it; what is left, biases
    and the entropy of the hidden states, is the part ``"hidden"``. Features of earlier tokens that a factor of token i
    sees have rows of their own.

    *Neighbours.* With ``L_t`` as L for token t, zero for the first, and ``q_t`` the state probabilities of token t
    given the label of token i, token t < i has the part

    .. math::

       \sum_h (q_{t+1,a} - q_{t+1,b})(h) \, L_{t+1}(h) - \sum_h (q_{t,a} - q_{t,b})(h) \, L_t(h),

    less what features have of moves into i. It holds the token's own features and the move to the next token,
    as far as they differ given a and given b; the parts of all tokens on the left add up to what L says. The right is
    alike. With local normalisation a normaliser is part of each move.

    Examples
    --------
    >>> from sklearn_latent import LatentCRFTagger
    >>> from sklearn_latent.inspection import explain
    >>> X = [[{"word": "Ana"}, {"word": "met"}, {"word": "Bo"}], [{"word": "rain"}]] * 5
    >>> y = [["B-PER", "O", "B-PER"], ["O"]] * 5
    >>> tagger = LatentCRFTagger(n_latent=1).fit(X, y)
    >>> parts = explain(tagger, [{"word": "Bo"}, {"word": "met"}], 0)
    >>> parts.attrs["label"], parts.attrs["against"]
    ('B-PER', 'O')
    >>> print(parts[["part", "position", "token", "feature"]].to_string(index=False))
         part  position token feature
      feature         0    Bo word=Bo
    neighbour         1   met    None
        start         0    Bo    None
    >>> bool(abs(parts["contribution"].sum() - parts.attrs["log_odds"]) < 1e-12)
    True
    """
    pd, fitted = pandas(), FittedTagger(estimator)
    tagger = fitted.tagger
    if getattr(tagger, "_beams", None) is not None:
        raise ValueError(
            f"explain needs exact probabilities, but label histories of order={tagger.order} are too many for a lattice"
        )
    corpus = tagger._check_X(fitted.corpus(x))
    n_tokens = corpus.n_tokens
    if isinstance(i, bool) or not isinstance(i, (int, np.integer)):
        raise TypeError(f"i must be the index of a token, got {i!r}")
    if not 0 <= i < n_tokens:
        raise IndexError(f"the sequence has {n_tokens} tokens, there is no token {i}")
    i = int(i)
    label = tagger.predict(corpus)[0][i] if label is None else label
    code = _code(fitted.classes, label, "label")
    other = None if against is None else _code(fitted.classes, against, "against")
    odds = label_odds(tagger, corpus, i, code, other)
    columns = _columns(odds, i, fitted.feature_names())
    texts = token_texts(x, n_tokens)
    columns["token"] = [None if texts is None else texts[t] for t in columns["position"]]
    order = ("part", "position", "token", "feature", "value", "contribution")
    kind = {"token": object, "feature": object}  # of strings pandas would make another missing value of None
    frame = pd.DataFrame({name: pd.Series(columns[name], dtype=kind.get(name)) for name in order})
    by_size = np.argsort(-frame["contribution"].abs().to_numpy(), kind="stable")
    frame = frame.iloc[by_size].reset_index(drop=True)
    frame.attrs = {
        "label": fitted.classes[odds.label],
        "against": fitted.classes[odds.against],
        "log_odds": odds.log_odds,
    }
    return frame


def _code(classes: list, label, name: str) -> int:
    try:
        return classes.index(label)
    except ValueError:
        raise ValueError(f"{name}={label!r} is not a label of this model; its labels are {classes}") from None


def _columns(odds: LabelOdds, i: int, names: np.ndarray) -> dict[str, list]:
    """Columns of the table, parts of zero left out."""
    kept = np.flatnonzero(odds.part)
    position, feature = odds.position[kept], odds.feature[kept]
    out = {
        "part": ["feature"] * len(kept),
        "position": position.tolist(),
        "feature": names[feature].tolist(),
        "value": odds.value[kept].tolist(),
        "contribution": odds.part[kept].tolist(),
    }
    others = np.flatnonzero(odds.neighbours)
    more = [("neighbour", t, v) for t, v in zip(others.tolist(), odds.neighbours[others].tolist(), strict=True)]
    more += [(name, i, getattr(odds, name)) for name in ("start", "end", "hidden", "states")]
    for part, place, value in more:
        if value:
            for name, entry in zip(out, (part, place, None, np.nan, value), strict=True):
                out[name].append(entry)
    return out
