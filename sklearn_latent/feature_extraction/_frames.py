# SPDX-License-Identifier: BSD-3-Clause
"""Tokens for vectorizers from the rows of a data frame."""

from __future__ import annotations

from numbers import Real

import numpy as np

from .._sequences.frames import column_names, group_lengths, value_column
from .._sequences.words import shorten

__all__ = ["sequences_from_frame"]


def sequences_from_frame(df, group, columns, *, as_dicts=False) -> list[list]:
    """Cut the rows of a data frame into sequences of tokens, for a vectorizer.

    Parameters
    ----------
    df : pandas or polars data frame of n_tokens rows
        One row a token, in the order of the text.
    group : name or list of names
        Rows with equal values in these columns are one sequence; they have to stand together. Sequences come in the
        order of the rows.
    columns : name or list of names
        The columns of a token.
    as_dicts : bool, default=False
        Whether tokens are dicts.

    Returns
    -------
    list of n lists of tokens
        If `columns` is one name, each token is a str; if it is a list, a tuple of str, as `TemplateVectorizer` takes
        them. With `as_dicts` each token is a dict from names to strings, numbers or bools, for
        `SequenceDictVectorizer`.

    Raises
    ------
    TypeError
        If `df` is no data frame, or a value is not a string (with `as_dicts`: nor a number).
    ValueError
        If a column is not there, a value is missing, or a group comes again after another one. The message names the
        column and the rows, counted from 0.

    See Also
    --------
    SequenceMatrix.from_frame : For columns of numbers.
    LabelSequences.from_frame : For the labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_latent.feature_extraction import sequences_from_frame
    >>> df = pd.DataFrame({"sentence": [1, 1, 2], "word": ["He", "slept", "Rain"], "pos": ["PRP", "VBD", "NN"]})
    >>> sequences_from_frame(df, "sentence", ["word", "pos"])
    [[('He', 'PRP'), ('slept', 'VBD')], [('Rain', 'NN')]]
    >>> sequences_from_frame(df, "sentence", "word")
    [['He', 'slept'], ['Rain']]
    """
    names = column_names(df, columns, "columns")
    lengths = group_lengths(df, group)
    values = [_texts(value_column(df, name), name, as_dicts) for name in names]
    if as_dicts:
        keys = [str(name) for name in names]
        tokens: list = [dict(zip(keys, row, strict=True)) for row in zip(*values, strict=True)]
    elif isinstance(columns, str) or names == [columns]:
        tokens = values[0]
    else:
        tokens = list(zip(*values, strict=True))
    bounds = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    return [tokens[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


def _texts(values: np.ndarray, name, numbers: bool) -> list:
    """A column as Python scalars, judged."""
    out = values.tolist()
    kinds = (str, Real) if numbers else (str,)
    if not all(isinstance(value, kinds) for value in out):
        row = next(row for row, value in enumerate(out) if not isinstance(value, kinds))
        hint = "" if numbers else "; for numbers see as_dicts and SequenceMatrix.from_frame"
        raise TypeError(
            f"column {name!r} holds {shorten(out[row])} (row {row}), but tokens are made of strings"
            f"{' and numbers' if numbers else ''}{hint}"
        )
    return out
