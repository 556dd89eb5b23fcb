# SPDX-License-Identifier: BSD-3-Clause
"""Weights of a fitted tagger as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._fitted import FittedTagger, pandas
from ._networks import network_columns

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["transitions_table", "weights_table"]


def weights_table(estimator, *, top: int | None = None) -> DataFrame:
    """Weights by feature, label and latent state.

    Parameters
    ----------
    estimator : fitted LatentCRFTagger or SPNCRFTagger, or a Pipeline that ends in one
    top : int, default=None
        Only so many weights of each latent state (of each label, where states share their weights), those largest in
        absolute value. None: all.

    Returns
    -------
    pandas.DataFrame
        One row a weight that exists, by state, then from the largest weight to the smallest, with these columns.

        - ``feature``: name, or column number where features have no names
        - ``label``
        - ``state``: index of the latent state, as in ``state_labels_`` of `LatentCRFTagger`
        - ``weight``: log-score that the feature adds per unit of its value (natural log)
        - ``contrast``: the weight less the mean of the label's latent states; what pulls this state and not its sisters

        Of `SPNCRFTagger` with hidden layers, with several factors, or with factors of several tokens or labels also:
        ``factor``, the pair (m, n); ``offset``, 0 for the current token, -1 for the one before; ``before``, the tuple
        of labels before ``label`` in the factor's n-gram; ``path``, the tuple of (hidden variable, its state) from the
        root to the weight. ``label`` is None and ``state`` -1 where all labels share the weights. With local
        normalisation the labels before are features ``label[-1]=...``, ``label[-1]`` for what is before the sequence.

    Raises
    ------
    ImportError
        If pandas is not installed.
    ValueError
        If `top` is not a positive integer.

    See Also
    --------
    transitions_table : Weights of moves between labels, and of features on such moves.

    Examples
    --------
    >>> from sklearn_latent import LatentCRFTagger
    >>> from sklearn_latent.inspection import weights_table
    >>> X = [[{"word": "Ana"}, {"word": "met"}, {"word": "Bo"}], [{"word": "rain"}]] * 5
    >>> y = [["B-PER", "O", "B-PER"], ["O"]] * 5
    >>> table = weights_table(LatentCRFTagger(n_latent=1).fit(X, y), top=1)
    >>> print(table[["feature", "label", "state"]].to_string(index=False))
      feature label  state
      word=Bo B-PER      0
    word=rain     O      1
    """
    if top is not None and (isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 1):
        raise ValueError(f"top must be a positive integer or None, got {top!r}")
    pd, fitted = pandas(), FittedTagger(estimator)
    if fitted.linear:
        feature, state, weight = fitted.tagger._model.state_weights()
        more, names = {}, fitted.feature_names()
    else:
        feature, state, weight, more, names = network_columns(fitted)
    if not more:
        contrast = weight - _mean_of_label(fitted, feature, state, weight)
    order = np.lexsort((-weight, state))
    if top is not None:
        by_size = np.lexsort((-np.abs(weight), state))
        first = np.searchsorted(state[by_size], state[by_size])
        kept = np.zeros(len(weight), dtype=bool)
        kept[by_size[np.arange(len(weight)) - first < top]] = True
        order = order[kept[order]]
    distinct = len(set(names.tolist())) == len(names)
    columns = {
        "feature": pd.Categorical.from_codes(feature[order], pd.Index(names)) if distinct else names[feature[order]],
        "label": _labels_of(pd, fitted, state[order]),
        "state": state[order],
        "weight": weight[order],
    }
    if not more:
        columns["contrast"] = contrast[order]
    return pd.DataFrame(columns | {name: values[order] for name, values in more.items()})


def transitions_table(estimator) -> DataFrame:
    """Weights of moves from label to label and from latent state to latent state.

    Parameters
    ----------
    estimator : fitted LatentCRFTagger or SPNCRFTagger, or a Pipeline that ends in one

    Returns
    -------
    pandas.DataFrame
        One row a weight that exists (what training did not show may have none, and what is forbidden has none), with
        these columns.

        - ``from_label``, ``from_state``: the token before; None and -1 for the start of a sequence
        - ``to_label``, ``to_state``: the token; None and -1 for the end
        - ``weight``: log-score of the move (natural log)
        - ``from_contrast``: the weight less the mean over the latent states of ``from_label``: how much more than its
          sisters ``from_state`` goes this way
        - ``to_contrast``: the same over the latent states of ``to_label``
        - ``feature``: None, or the feature that has to be there (``edge_features``); weights are then per unit of its
          value. Only there if the model has such weights
        - ``before``: the labels before ``from_label`` in a longer n-gram (``SPNCRFTagger(order=2)``), a tuple. Only
          there if the model has such weights

    Raises
    ------
    ImportError
        If pandas is not installed.
    ValueError
        If the model is normalised locally: it has no such weights, the labels before are inputs of its networks.

    See Also
    --------
    TransitionDisplay : These weights as a picture.

    Examples
    --------
    >>> from sklearn_latent import LatentCRFTagger
    >>> from sklearn_latent.inspection import transitions_table
    >>> X = [[{"word": "Ana"}, {"word": "met"}, {"word": "Bo"}], [{"word": "rain"}]] * 5
    >>> y = [["B-PER", "O", "B-PER"], ["O"]] * 5
    >>> table = transitions_table(LatentCRFTagger(n_latent=1).fit(X, y))
    >>> print(table[["from_label", "to_label"]].to_string(index=False))
    from_label to_label
         B-PER        O
             O    B-PER
          None    B-PER
          None        O
         B-PER     None
             O     None
    """
    pd, fitted = pandas(), FittedTagger(estimator)
    model = fitted.tagger._model
    if not hasattr(model, "transitions"):
        raise ValueError("a locally normalised model has no transition weights; see weights_table for label[-1]=...")
    source, target, weight, before = model.transitions()
    feature = np.full(len(source), -1)
    if fitted.linear and len(fitted.tagger.edge_features_):
        edges = fitted.tagger.edge_coef_.tocoo()
        n_states = len(fitted.state_labels)
        source = np.concatenate([source, edges.col // n_states])
        target = np.concatenate([target, edges.col % n_states])
        weight = np.concatenate([weight, edges.data])
        feature = np.concatenate([feature, fitted.tagger.edge_features_[edges.row]])
        before = np.empty((len(weight), 0), dtype=np.int64)
    columns = {
        "from_label": _labels_of(pd, fitted, source),
        "from_state": source,
        "to_label": _labels_of(pd, fitted, target),
        "to_state": target,
        "weight": weight,
        "from_contrast": weight - _mean_of_label(fitted, (target, feature, before), source, weight),
        "to_contrast": weight - _mean_of_label(fitted, (source, feature, before), target, weight),
    }
    if (feature >= 0).any():
        columns["feature"] = np.append(fitted.feature_names().astype(object), None)[feature]
    if before.shape[1]:
        rows = [tuple(fitted.classes[code] for code in row if code >= 0) for row in before.tolist()]
        columns["before"] = pd.Series(rows, dtype=object)
    return pd.DataFrame(columns)


def _labels_of(pd, fitted: FittedTagger, state: np.ndarray):
    """Labels of states; None where there is no state (-1)."""
    if (state >= 0).all():
        return pd.Series(fitted.classes)[fitted.state_labels[state]].reset_index(drop=True)
    labels = np.array([*fitted.classes, None], dtype=object)
    return pd.Series(labels[np.append(fitted.state_labels, -1)[state]], dtype=object)


def _mean_of_label(fitted: FittedTagger, others, state: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """For each weight, the mean over the latent states of its label with all else equal; absent weights are zeros.

    The start and the end are states without sisters.
    """
    others = others if isinstance(others, tuple) else (others,)
    label = np.where(state < 0, -1, fitted.state_labels[state])
    rows = np.column_stack([label, *others])
    group = _group_numbers(rows)
    total = np.bincount(group, weight, minlength=int(group.max(initial=-1)) + 1)
    return total[group] / np.where(label < 0, 1, fitted.n_latent[label])


def _group_numbers(rows: np.ndarray) -> np.ndarray:
    """A number for each distinct row, int64 of shape (n_rows,)."""
    out = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        _, code = np.unique(column, return_inverse=True)
        _, out = np.unique(out * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    return out
