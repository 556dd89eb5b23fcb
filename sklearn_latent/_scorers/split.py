# SPDX-License-Identifier: BSD-3-Clause
"""`Split`: the few features that were seen with many labels as full rows, the many others as a pattern.

In text most occurrences belong to some thousand features seen with many labels: their rows fit in the cache, and
adding a row is a few wide instructions, where a pattern takes one step a weight. Most features are rare ones seen with
one label or two: rows of theirs would be mostly zeros and fill the memory. Training splits its designs once, and the
scores are the sum of both halves'; one number a weight stays one parameter. The gradient takes features one by one and
needs no halves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .support import Pattern

__all__ = ["Split", "split_of"]

#: A feature gets a row if at least this share of its columns has a weight.
_SHARE = 1 / 6
#: Bytes of all rows together: about what stays in the cache of a core.
_ROW_BYTES = 1 << 22
#: Up to this many columns a row is about as long as the list of a feature's weights, and every feature gets one.
_NARROW = 4


@dataclass(frozen=True)
class Split:
    """Which features of a pattern get full rows.

    Attributes
    ----------
    row : ndarray of int32 of shape (n_features,)
        Row of each feature, -1 for those that stay in the pattern.
    rows : Pattern
        The full pattern of the rows, (n_rows, n_columns).
    weight : ndarray of int64, or slice
        Weights of the pattern that belong to rows.
    cell : ndarray of int64
        Flat position of each of them in the matrix of rows.
    """

    row: np.ndarray
    rows: Pattern
    weight: np.ndarray | slice
    cell: np.ndarray

    def matrix(self, coef: np.ndarray) -> np.ndarray:
        """The rows as a matrix, zero where there is no weight."""
        out = np.zeros(self.rows.n_weights)
        out[self.cell] = coef[self.weight]
        return out.reshape(self.rows.n_features, self.rows.n_columns)


def split_of(pattern: Pattern) -> Split | None:
    """Choose the features that get rows, those with most weights first; None if there is nothing to gain."""
    if pattern.full:
        return None
    count = np.diff(pattern.ptr)
    if pattern.n_columns <= _NARROW:
        order = np.flatnonzero(count)
    else:
        order = np.argsort(-count, kind="stable")[: _ROW_BYTES // (8 * pattern.n_columns)]
        order = np.sort(order[count[order] >= max(2.0, _SHARE * pattern.n_columns)])
    if len(order) == 0:
        return None
    row = np.full(pattern.n_features, -1, dtype=np.int32)
    row[order] = np.arange(len(order), dtype=np.int32)
    feature = np.repeat(np.arange(pattern.n_features), count)
    weight = np.flatnonzero(row[feature] >= 0)
    cell = row[feature[weight]].astype(np.int64) * pattern.n_columns + pattern.column[weight]
    # Where every weight belongs to a row there is no need to look for it.
    chosen = slice(None) if len(weight) == pattern.n_weights else weight
    return Split(row, Pattern(len(order), pattern.n_columns), chosen, cell)
