# SPDX-License-Identifier: BSD-3-Clause
"""`Design`: the feature rows of a chunk of sequences in the forms that the kernels take."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from . import _linear_kernels

if TYPE_CHECKING:
    from .split import Split
    from .support import Pattern

__all__ = ["Design"]

_ONES = np.empty(0)


class Design:
    """Rows of features, sparse or dense, converted to float64 no earlier than needed.

    Parameters
    ----------
    matrix : csr_array or ndarray of shape (n_tokens, n_features)
    """

    def __init__(self, matrix: Any):
        self.sparse = sp.issparse(matrix)
        self.shape = matrix.shape
        self._matrix = matrix
        self._halves: tuple[Split, Design, Design] | None = None
        self._whole: tuple[Design, int, int] | None = None
        self._ranges: dict[int, tuple] = {}
        if self.sparse:
            index = np.result_type(matrix.indptr.dtype, matrix.indices.dtype)
            wide = index != np.int32
            self.row_ptr = matrix.indptr.astype(np.int64 if wide else np.int32, copy=False)
            self.feature = matrix.indices.astype(np.int64 if wide else np.int32, copy=False)
            # A matrix of ones, the usual case for text, needs no values: a third of the memory to read.
            self.values = _ONES if (matrix.data == 1).all() else matrix.data.astype(np.float64, copy=False)

    @classmethod
    def of_arrays(cls, row_ptr: np.ndarray, feature: np.ndarray, values: np.ndarray, n_features: int) -> Design:
        """A sparse design from the arrays that the kernels take."""
        out = cls.__new__(cls)
        out.sparse, out.shape, out._matrix = True, (len(row_ptr) - 1, n_features), None
        out._halves = out._whole = None
        out._ranges = {}
        out.row_ptr, out.feature, out.values = row_ptr, feature, values
        return out

    def rows(self, first: int, last: int) -> Design:
        """The design of a range of rows; its features and values are views."""
        if not self.sparse:
            return Design(self._matrix[first:last])
        a, b = int(self.row_ptr[first]), int(self.row_ptr[last])
        values = self.values[a:b] if len(self.values) else _ONES
        out = Design.of_arrays(self.row_ptr[first : last + 1] - a, self.feature[a:b], values, self.shape[1])
        out._whole = (self, first, last)
        return out

    def row(self, token: int) -> tuple[np.ndarray, np.ndarray]:
        """Features of one token that are not zero, and their values, float64."""
        if not self.sparse:
            values = np.asarray(self._matrix[token], dtype=np.float64)
            feature = np.flatnonzero(values)
            return feature, values[feature]
        stored = slice(int(self.row_ptr[token]), int(self.row_ptr[token + 1]))
        feature = self.feature[stored]
        return feature, self.values[stored] if len(self.values) else np.ones(len(feature))

    def dense_rows(self) -> np.ndarray:
        """The rows as C-contiguous float64; only for dense designs."""
        return np.ascontiguousarray(self._matrix, dtype=np.float64)

    def dense_part(self, first: int, last: int, dtype: np.dtype) -> np.ndarray:
        """A range of rows as C-contiguous numbers of a type; only for dense designs."""
        return np.ascontiguousarray(self._matrix[first:last], dtype=dtype)

    def dense_columns(self, first: int, last: int) -> np.ndarray:
        """A range of columns as float64; only for dense designs."""
        return self._matrix[:, first:last].astype(np.float64, copy=False)

    def split(self, split: Split) -> tuple[Design, Design]:
        """Occurrences of the features that have rows in `split`, numbered by row, and of the others; made once.

        The rows of a larger design are rows of its halves.
        """
        if self._halves is None or self._halves[0] is not split:
            if self._whole is None:
                halves = self._halved(split)
            else:
                whole, first, last = self._whole
                halves = [half.rows(first, last) for half in whole.split(split)]
            self._halves = (split, halves[0], halves[1])
        return self._halves[1:]

    def _halved(self, split: Split) -> list[Design]:
        n_stored, n_tokens = len(self.feature), self.shape[0]
        n_first = _linear_kernels.count_chosen(self.feature, split.row)
        halves = []
        for size, width in ((n_first, split.rows.n_features), (n_stored - n_first, self.shape[1])):
            row_ptr, feature = (np.empty(n, dtype=self.feature.dtype) for n in (n_tokens + 1, size))
            halves.append(Design.of_arrays(row_ptr, feature, np.empty(size) if len(self.values) else _ONES, width))
        own = (self.row_ptr, self.feature, self.values, split.row)
        parts: list[Any] = [a for half in halves for a in (half.row_ptr, half.feature, half.values)]
        _linear_kernels.halve(*own, *parts)
        return halves

    @property
    def transposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """CSC arrays of a sparse design: feature pointers (int64), tokens (int32), values (or empty)."""
        feature_ptr = np.zeros(self.shape[1] + 1, dtype=np.int64)
        token = np.empty(len(self.feature), dtype=np.int32)
        values = np.empty(len(self.values))
        _linear_kernels.transpose(self.row_ptr, self.feature, self.values, feature_ptr, token, values)
        return feature_ptr, token, values

    @cached_property
    def by_feature(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """`transposed` without the features that don't occur: the others (int64), their pointers, tokens, values."""
        feature_ptr, token, values = self.transposed
        present = np.flatnonzero(np.diff(feature_ptr))
        return present, np.append(feature_ptr[present], len(token)), token, values

    @cached_property
    def feature_ranges(self) -> list[tuple[int, int]]:
        """Ranges of features with about equal numbers of values, for the gradient; they depend on the data only."""
        n_features = self.shape[1]
        if not self.sparse:
            step = max(1, 1 << 16 >> max(0, int(self.shape[0]).bit_length() - 12))
            return [(f, min(f + step, n_features)) for f in range(0, n_features, step)]
        present, ptr, _, _ = self.by_feature
        cuts = np.array([0, *(last for _, last in _even(ptr))])
        cuts = np.unique(np.append(present, n_features)[cuts]) if len(present) else np.array([0, n_features])
        cuts[0], cuts[-1] = 0, n_features
        return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))

    def ranges_of(self, pattern: Pattern) -> list[tuple[int, int]]:
        """Ranges of the features that occur with about equal work over a pattern of weights."""
        if id(pattern) not in self._ranges:
            present, ptr, _, _ = self.by_feature
            n_weights = pattern.n_columns if pattern.full else pattern.ptr[present + 1] - pattern.ptr[present]
            work = np.concatenate([[0], np.cumsum(np.diff(ptr) * n_weights)])
            # The pattern is kept so that no other can have its id.
            self._ranges[id(pattern)] = (pattern, _even(work))
        return self._ranges[id(pattern)][1]


def _even(work: np.ndarray) -> list[tuple[int, int]]:
    """Ranges with about equal work, given what the items before each one take together; at most 16."""
    n, total = len(work) - 1, int(work[-1])
    n_ranges = max(1, min(16, total // 16384))
    cuts = np.searchsorted(work, np.linspace(0, total, n_ranges + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], cuts, [n]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
