# SPDX-License-Identifier: BSD-3-Clause
"""Data frames to sequences, for pandas and polars alike.

Neither library is imported: a frame is what has `columns`, and gives for ``frame[name]`` a column with `to_numpy`.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["column_names", "group_lengths", "numeric_columns", "value_column"]

#: Row numbers that a message lists.
SHOWN_ROWS = 10


def column_names(frame: Any, names: Any, what: str) -> list:
    """One or several names as a list, each of them a column of the frame.

    Raises
    ------
    TypeError
        If `frame` is no data frame, or a lazy one.
    ValueError
        If there is no name, or one is not a column or is several columns.
    """
    if hasattr(frame, "collect") and not hasattr(frame, "to_numpy"):
        raise TypeError("the frame is lazy: pass frame.collect()")
    if not hasattr(frame, "columns") or not hasattr(frame, "__getitem__"):
        raise TypeError(f"a pandas or polars data frame was expected, got {type(frame).__name__}")
    columns = list(frame.columns)
    if isinstance(names, str) or not isinstance(names, Iterable) or (isinstance(names, tuple) and names in columns):
        names = [names]
    names = list(names)
    if not names:
        raise ValueError(f"{what} names no column")
    for name in names:
        if columns.count(name) != 1:
            found = "is no column" if name not in columns else f"stands for {columns.count(name)} columns"
            raise ValueError(f"{what}: {name!r} {found} of the frame, which has {_listed(map(repr, columns))}")
    return names


def group_lengths(frame: Any, group: Any) -> np.ndarray:
    """Number of rows of each group, int64 of shape (n_groups,), in their order.

    Parameters
    ----------
    frame : data frame of n rows
    group : name or list of names
        Rows with equal values in these columns are one sequence. They have to stand together.

    Raises
    ------
    ValueError
        If a value is missing, or a group comes again after another one; names the row.
    """
    names = column_names(frame, group, "group")
    columns = [value_column(frame, name) for name in names]
    n = len(columns[0])
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    begins = np.zeros(n, dtype=bool)
    begins[0] = True
    for values in columns:
        begins[1:] |= np.asarray(values[1:] != values[:-1], dtype=bool)
    starts = np.flatnonzero(begins)
    seen: dict = {}
    for row, *key in zip(starts.tolist(), *(values[starts].tolist() for values in columns), strict=True):
        before = seen.setdefault(tuple(key), row)
        if before != row:
            shown = ", ".join(f"{name}={value!r}" for name, value in zip(names, key, strict=True))
            raise ValueError(
                f"row {row}: the group {shown} began at row {before} and ended before this row; the rows of a group "
                "have to stand together: sort the frame by its groups (stably), or name more columns in group"
            )
    return np.diff(np.append(starts, n)).astype(np.int64)


def value_column(frame: Any, name: Any) -> np.ndarray:
    """One column as an array of shape (n_rows,) without missing values.

    Raises
    ------
    ValueError
        If a value is missing (None, NaN, NA, NaT); names the rows.
    """
    values = _array(frame, name)
    missing = _missing(values)
    if missing.any():
        raise ValueError(
            f"column {name!r} has missing values (NaN or None) in {_rows(missing)}, counted from 0; "
            "fill them in or drop them (readers of CSV files turn words such as NA and null into NaN unless told not "
            "to: keep_default_na=False in pandas)"
        )
    return values


def numeric_columns(frame: Any, features: Any) -> tuple[np.ndarray, list[str]]:
    """Columns of numbers as a matrix (n_rows, n_features), and their names.

    Raises
    ------
    TypeError
        If a column does not hold real numbers.
    ValueError
        If a value is missing or infinite; names the rows.
    """
    names = column_names(frame, features, "features")
    columns = [_numbers(frame, name) for name in names]
    out = np.empty((len(columns[0]), len(columns)), dtype=np.result_type(*(c.dtype for c in columns)))
    for k, values in enumerate(columns):
        out[:, k] = values
    return out, [str(name) for name in names]


def _numbers(frame: Any, name: Any) -> np.ndarray:
    kind = str(getattr(frame[name], "dtype", "")).lower()
    values = _array(frame, name)
    # Codes of categories are numbers that mean nothing.
    if kind.startswith(("categor", "enum")) or values.dtype.kind not in "biufO":
        _refuse(name, f"is of type {getattr(frame[name], 'dtype', values.dtype)}")
    missing = _missing(values)
    if values.dtype == object:
        odd = [not isinstance(v, (Real, np.bool_)) for v in values[~missing].tolist()]
        if any(odd):
            row = int(np.flatnonzero(~missing)[odd.index(True)])
            _refuse(name, f"holds {values[row]!r} (row {row})")
    if missing.any():
        raise ValueError(f"column {name!r} has missing values (NaN or None) in {_rows(missing)}, counted from 0")
    if values.dtype == object:
        values = values.astype(np.float64)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"column {name!r} is infinite in {_rows(~np.isfinite(values))}: features must be finite")
    return values


def _refuse(name: Any, why: str):
    raise TypeError(
        f"column {name!r} {why}, but features are numbers; for words and categories take sequences_from_frame and a "
        "vectorizer, both in sklearn_latent.feature_extraction"
    )


def _array(frame: Any, name: Any) -> np.ndarray:
    return np.asarray(frame[name].to_numpy())


def _missing(values: np.ndarray) -> np.ndarray:
    """Which values are None, NaN, NA or NaT."""
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype != object:
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((_is_missing(v) for v in values.tolist()), dtype=bool, count=len(values))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":
        return True
    # NaN and NaT are the values that differ from themselves.
    return not isinstance(value, str) and isinstance(value != value, (bool, np.bool_)) and bool(value != value)


def _rows(marked: np.ndarray) -> str:
    rows = np.flatnonzero(marked).tolist()
    return ("row " if len(rows) == 1 else "rows ") + _listed(map(str, rows))


def _listed(texts: Iterable[str]) -> str:
    texts = list(texts)
    more = f" and {len(texts) - SHOWN_ROWS} more" if len(texts) > SHOWN_ROWS else ""
    return ", ".join(texts[:SHOWN_ROWS]) + more
