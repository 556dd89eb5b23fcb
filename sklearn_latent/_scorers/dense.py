# SPDX-License-Identifier: BSD-3-Clause
"""Products with dense rows, many of whose numbers may be zeros: pixels without ink, indicators, padded windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import _spn_kernels

__all__ = ["add_transposed_product", "product"]

#: Share of numbers other than zero up to which the rest is left out; with more, BLAS is about as fast.
_SHARE = 1 / 3
#: Rows and columns from which on a list of the numbers pays.
_LEAST = 32
#: Rows of derivatives at a time: those of a tile of columns stay in the first cache.
_ROWS = 128
#: Columns of weights that one task of a gradient takes at least.
_COLUMNS = 512
#: Bytes that a tile has of each row (SL_SPN_TILE in `_spn.h`).
_TILE = 256


class _Entries(NamedTuple):
    """Numbers other than zero of each row: pointers and columns (int32), values."""

    ptr: np.ndarray
    column: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> _Entries:
        """From C-contiguous rows."""
        there = rows != 0  # a search among truth values is several times faster
        at = np.flatnonzero(there)
        ptr = np.concatenate([[0], np.cumsum(np.count_nonzero(there, axis=1))])
        return cls(ptr.astype(np.int32), (at % rows.shape[1]).astype(np.int32), rows.reshape(-1)[at])


def product(rows: np.ndarray, coef: np.ndarray, out: np.ndarray) -> None:
    """``rows @ coef``, written to `out`; all C-contiguous and of one type."""
    if _is_empty_enough(rows, coef.shape[1]):
        _spn_kernels.sums(*_Entries.of(rows), coef, out, _work(len(coef), out.dtype), False)
    else:
        np.matmul(rows, coef, out=out)


def add_transposed_product(rows: np.ndarray, delta: np.ndarray, grad: np.ndarray, tasks: Callable) -> None:
    """``grad += rows.T @ delta``, summed in the type of `delta`.

    `tasks` is a function ``tasks(f, ranges)`` that runs ``f`` over ranges.
    """
    n = delta.shape[1]
    width = max(_COLUMNS, -(-n // 8))
    few = _is_empty_enough(rows, n)
    parts = [slice(a, a + _ROWS) for a in range(0, len(rows) if few else 0, _ROWS)]
    entries = [_Entries.of(np.ascontiguousarray(rows[part].T)) for part in parts]

    def add_columns(columns: tuple[int, int]) -> None:
        a, b = columns
        if not few:
            grad[:, a:b] += rows.T @ delta[:, a:b]
            return
        total, work = np.zeros((rows.shape[1], b - a), dtype=delta.dtype), _work(_ROWS, delta.dtype)
        for part, own in zip(parts, entries, strict=True):
            _spn_kernels.sums(*own, delta[part, a:b], total, work, True)
        grad[:, a:b] += total

    tasks(add_columns, [(a, min(a + width, n)) for a in range(0, n, width)])


def _is_empty_enough(rows: np.ndarray, n_columns: int) -> bool:
    """Whether to leave zeros out of a product."""
    return bool(min(len(rows), n_columns) >= _LEAST and np.count_nonzero(rows) <= _SHARE * rows.size)


def _work(n_rows: int, kind: np.dtype) -> np.ndarray:
    return np.empty((n_rows + 1) * (_TILE // kind.itemsize), dtype=kind)
