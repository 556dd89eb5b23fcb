# SPDX-License-Identifier: BSD-3-Clause
"""`SequenceMatrix`: one stacked matrix plus offsets, indexed by sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from .frames import group_lengths, numeric_columns

__all__ = ["SequenceMatrix"]


class SequenceMatrix:
    """A corpus of feature matrices, held as one stacked matrix and the length of each sequence.

    The sequence is the sample: ``len()``, ``shape[0]``, iteration and indexing count sequences, so
    scikit-learn's splitters, searches and pipelines cut it without knowing about tokens.

    Parameters
    ----------
    X : array-like or sparse matrix or array of shape (n_tokens, n_features)
        The rows of all sequences, one after the other. Any real dtype (bool, int, float). Sparse
        input is held as a CSR array, dense input as a C-contiguous array; neither is copied when
        it already is one.
    lengths : array-like of int of shape (n_sequences,)
        Number of tokens of each sequence, zeros allowed; they add up to ``n_tokens``.
    feature_names : None, sequence of str, or callable without arguments, default=None
        Name of each column. A callable is asked once, on first access of `feature_names`; it has to be
        picklable if the matrix is to be.
    edge_only : None or array-like of bool of shape (n_features,), default=None
        Columns that get weights on edges only, and none on states.

    Attributes
    ----------
    values : ndarray or csr_array of shape (n_tokens, n_features)
        The stacked rows.
    lengths : ndarray of int64 of shape (n_sequences,)
    offsets : ndarray of int64 of shape (n_sequences + 1,)
        Sequence ``i`` is rows ``offsets[i]`` to ``offsets[i + 1]``.

    Raises
    ------
    TypeError
        If `X` does not hold real numbers or `lengths` does not hold integers.
    ValueError
        If `X` is not two-dimensional, a length is negative, or the lengths don't add up to the rows of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_latent import SequenceMatrix
    >>> corpus = SequenceMatrix(np.arange(10).reshape(5, 2), lengths=[3, 0, 2])
    >>> len(corpus), corpus.n_tokens, corpus[0].shape
    (3, 5, (3, 2))
    >>> corpus[[2, 0]].lengths.tolist()
    [2, 3]
    """

    def __init__(self, X, lengths, *, feature_names=None, edge_only=None):
        self._values = _as_matrix(X)
        self._lengths = _as_lengths(lengths)
        self._offsets = np.zeros(len(self._lengths) + 1, dtype=np.int64)
        np.cumsum(self._lengths, out=self._offsets[1:])
        if self._offsets[-1] != self._values.shape[0]:
            raise ValueError(
                f"lengths add up to {int(self._offsets[-1])} tokens, but X has {self._values.shape[0]} rows"
            )
        self._names = feature_names
        if feature_names is not None and not callable(feature_names):
            self._names = _as_names(feature_names, self.n_features)
        if edge_only is not None:
            edge_only = np.asarray(edge_only)
            if edge_only.dtype != bool or edge_only.shape != (self.n_features,):
                raise ValueError(
                    f"edge_only must be a bool array of shape ({self.n_features},), one mark a column; "
                    f"got dtype {edge_only.dtype} and shape {edge_only.shape}"
                )
        self._edge_only = edge_only

    # -- what it holds ------------------------------------------------------------------------------

    @property
    def values(self) -> np.ndarray | sp.csr_array:
        """The stacked rows, (n_tokens, n_features)."""
        return self._values

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each sequence, (n_sequences,)."""
        return self._lengths

    @property
    def offsets(self) -> np.ndarray:
        """First row of each sequence and, last, the number of rows, (n_sequences + 1,)."""
        return self._offsets

    @property
    def shape(self) -> tuple[int]:
        """``(n_sequences,)``: scikit-learn reads the number of samples here."""
        return (len(self),)

    @property
    def n_tokens(self) -> int:
        """Number of rows."""
        return int(self._values.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._values.shape[1])

    @property
    def dtype(self) -> np.dtype:
        """Data type of `values`."""
        return self._values.dtype

    @property
    def feature_names(self) -> np.ndarray | None:
        """Name of each column as an object array of str, or None."""
        if callable(self._names):
            self._names = _as_names(self._names(), self.n_features)
        return self._names

    @property
    def edge_only(self) -> np.ndarray | None:
        """Columns that have no state weights, a bool per column, or None."""
        return self._edge_only

    def __len__(self) -> int:
        return len(self._lengths)

    def __repr__(self) -> str:
        kind = "sparse" if sp.issparse(self._values) else "dense"
        return (
            f"SequenceMatrix({len(self)} sequences, {self.n_tokens} tokens, {self.n_features} features, "
            f"{kind} {self.dtype})"
        )

    def __iter__(self) -> Iterator[np.ndarray | sp.csr_array]:
        for i in range(len(self)):
            yield self._rows(int(self._offsets[i]), int(self._offsets[i + 1]))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        """One object per sequence, whatever their lengths."""
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"a SequenceMatrix becomes an array of objects, one a sequence, not of {np.dtype(dtype)}")
        out = np.empty(len(self), dtype=object)
        for i, rows in enumerate(self):
            out[i] = rows
        return out

    def __getitem__(self, key):
        """Rows of one sequence for an int, a `SequenceMatrix` for a slice or an index array."""
        if isinstance(key, tuple):  # scikit-learn writes X[indices, ...]
            if len(key) != 2 or key[1] is not Ellipsis:
                raise IndexError("a SequenceMatrix is indexed by sequence only: sm[i], sm[a:b] or sm[indices]")
            key = key[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._run(start, max(start, stop))
            return self._take(np.arange(start, stop, step))
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            i = int(key)
            if not -len(self) <= i < len(self):
                raise IndexError(f"sequence {i} of a SequenceMatrix of {len(self)}")
            i %= len(self)
            return self._rows(int(self._offsets[i]), int(self._offsets[i + 1]))
        return self._take(sequence_indices(key, len(self)))

    # -- what it does -------------------------------------------------------------------------------

    def map(self, f: Callable) -> SequenceMatrix:
        """Apply `f` to the stacked matrix.

        Parameters
        ----------
        f : callable
            Takes the stacked matrix and returns one of as many rows; columns may change.

        Returns
        -------
        SequenceMatrix
            The same sequences with the new columns, without names or marks.
        """
        values = _as_matrix(f(self._values))
        if values.shape[0] != self.n_tokens:
            raise ValueError(f"map needs as many rows as before: expected {self.n_tokens}, got {values.shape[0]}")
        return SequenceMatrix(values, self._lengths)

    @staticmethod
    def hstack(blocks: Sequence[SequenceMatrix]) -> SequenceMatrix:
        """Put the columns of several matrices over the same sequences side by side.

        Parameters
        ----------
        blocks : sequence of SequenceMatrix
            At least one, of equal `lengths`. If one is sparse, the result is.

        Returns
        -------
        SequenceMatrix
            With the names if every block has some, and the marks if any block has some.
        """
        blocks = list(blocks)
        if not blocks:
            raise ValueError("hstack needs at least one SequenceMatrix")
        for k, block in enumerate(blocks):
            if not isinstance(block, SequenceMatrix):
                raise TypeError(f"hstack takes SequenceMatrix, but block {k} is a {type(block).__name__}")
            if not np.array_equal(block.lengths, blocks[0].lengths):
                raise ValueError(f"block {k} has other sequence lengths than block 0")
        if any(sp.issparse(b.values) for b in blocks):
            values = sp.hstack([sp.csr_array(b.values) for b in blocks], format="csr")
        else:
            values = np.hstack([b.values for b in blocks])
        names = None
        if all(b._names is not None for b in blocks):
            names = _ConcatenatedNames(blocks)
        marks = None
        if any(b.edge_only is not None for b in blocks):
            marks = np.concatenate(
                [np.zeros(b.n_features, dtype=bool) if b.edge_only is None else b.edge_only for b in blocks]
            )
        return SequenceMatrix(values, blocks[0].lengths, feature_names=names, edge_only=marks)

    @classmethod
    def from_frame(cls, df, group, features) -> SequenceMatrix:
        """Cut the rows of a data frame into sequences.

        Parameters
        ----------
        df : pandas or polars data frame of n_tokens rows
            One row a token, in the order of the text.
        group : name or list of names
            Rows with equal values in these columns are one sequence. They have to stand together; sequences come in
            the order of the rows.
        features : name or list of names
            Columns of numbers or bools.

        Returns
        -------
        SequenceMatrix
            Of dense values (n_tokens, n_features), with the names of the columns.

        Raises
        ------
        TypeError
            If `df` is no data frame, or a column holds no numbers.
        ValueError
            If a column is not there, a value is missing or infinite, or a group comes again after another one. The
            message names the column and the rows, counted from 0.

        See Also
        --------
        LabelSequences.from_frame : For the labels.
        sklearn_latent.feature_extraction.sequences_from_frame : For columns of text.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn_latent import SequenceMatrix
        >>> df = pd.DataFrame({"song": ["a", "a", "b"], "pitch": [60, 62, 55], "length": [1.0, 0.5, 2.0]})
        >>> SequenceMatrix.from_frame(df, "song", ["pitch", "length"])[0].tolist()
        [[60.0, 1.0], [62.0, 0.5]]
        """
        values, names = numeric_columns(df, features)
        return cls(values, group_lengths(df, group), feature_names=names)

    def _check(self) -> None:
        """State the invariants; for tests."""
        assert self._offsets[0] == 0 and self._offsets[-1] == self.n_tokens
        assert np.array_equal(np.diff(self._offsets), self._lengths) and (self._lengths >= 0).all()
        assert self._values.ndim == 2
        if sp.issparse(self._values):
            assert isinstance(self._values, sp.csr_array)
            self._values.check_format(full_check=True)
        else:
            assert self._values.flags.c_contiguous
        assert self._names is None or callable(self._names) or len(self._names) == self.n_features

    def _rows(self, first: int, last: int):
        if sp.issparse(self._values):
            return csr_rows(self._values, first, last)
        return self._values[first:last]

    def _rows_of(self, indices: np.ndarray) -> np.ndarray:
        """Numbers of the rows of some sequences, in the order given, int of shape (n_tokens of these,)."""
        return runs(self._offsets[indices], self._lengths[indices])

    def _run(self, start: int, stop: int) -> SequenceMatrix:
        rows = self._rows(int(self._offsets[start]), int(self._offsets[stop]))
        return self._like(rows, self._lengths[start:stop])

    def _take(self, indices: np.ndarray) -> SequenceMatrix:
        if len(indices) and np.array_equal(indices, np.arange(indices[0], indices[0] + len(indices))):
            return self._run(int(indices[0]), int(indices[0]) + len(indices))
        return self._like(self._values[self._rows_of(indices)], self._lengths[indices])

    def _like(self, values, lengths) -> SequenceMatrix:
        return SequenceMatrix(values, lengths, feature_names=self._names, edge_only=self._edge_only)


class _ConcatenatedNames:
    """Names of blocks side by side, made when asked for; an object, so that it pickles."""

    def __init__(self, blocks: list[SequenceMatrix]):
        self.parts = [(b._names, b.n_features) for b in blocks]

    def __call__(self) -> np.ndarray:
        return np.concatenate([_as_names(n() if callable(n) else n, width) for n, width in self.parts])


def runs(start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """``start[i], start[i] + 1, ..., start[i] + count[i] - 1`` for each i, joined."""
    ends = np.cumsum(count)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - (ends - count), count)


def csr_rows(X: sp.csr_array, first: int, last: int) -> sp.csr_array:
    """Rows ``first`` to ``last`` of a CSR array; values and column indices are views."""
    a, b = int(X.indptr[first]), int(X.indptr[last])
    part = (X.data[a:b], X.indices[a:b], X.indptr[first : last + 1] - X.indptr[first])
    return sp.csr_array(part, shape=(last - first, X.shape[1]), copy=False)


def sequence_indices(key, n: int) -> np.ndarray:
    """Turn an int or bool index array (or list) into non-negative int64 indices below `n`."""
    key = np.asarray(key)
    if key.ndim != 1:
        raise IndexError(f"expected a 1-D index array of sequences, got one of {key.ndim} dimensions")
    if key.dtype == bool:
        if len(key) != n:
            raise IndexError(f"a mask of {len(key)} entries for {n} sequences")
        return np.flatnonzero(key)
    if len(key) == 0:
        return np.empty(0, dtype=np.int64)
    if key.dtype.kind not in "iu":
        raise IndexError(f"sequences are indexed by int or bool, not {key.dtype}")
    key = key.astype(np.int64)
    if (key < -n).any() or (key >= n).any():
        bad = key[(key < -n) | (key >= n)][0]
        raise IndexError(f"sequence {bad} of {n}")
    return np.where(key < 0, key + n, key)


def _as_matrix(X) -> np.ndarray | sp.csr_array:
    if sp.issparse(X):
        if X.ndim != 2:
            raise ValueError(f"the stacked matrix must be 2-D (n_tokens, n_features), got {X.ndim}-D")
        X = sp.csr_array(X)
    else:
        X = np.asarray(X)
        if X.dtype == object:
            X = _numbers(X)
        if X.ndim != 2:
            raise ValueError(f"the stacked matrix must be 2-D (n_tokens, n_features), got {X.ndim}-D")
        X = np.ascontiguousarray(X)
    if X.dtype.kind not in "biuf":
        raise TypeError(f"features must be real numbers, got dtype {X.dtype}")
    return X


def _numbers(X: np.ndarray) -> np.ndarray:
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"features must be real numbers, got an object array ({error})") from None


def _as_lengths(lengths) -> np.ndarray:
    lengths = np.asarray(lengths)
    if lengths.ndim != 1:
        raise ValueError(f"lengths must be 1-D, one number a sequence, got {lengths.ndim}-D")
    if lengths.size == 0:
        return np.zeros(0, dtype=np.int64)
    if lengths.dtype.kind not in "iu":
        raise TypeError(f"lengths must be integers, got dtype {lengths.dtype}")
    if (lengths < 0).any():
        i = int(np.flatnonzero(lengths < 0)[0])
        raise ValueError(f"lengths[{i}] is {int(lengths[i])}: a length can't be negative")
    return lengths.astype(np.int64)


def _as_names(names, n_features: int) -> np.ndarray:
    out = np.empty(len(names), dtype=object)
    out[:] = [str(name) for name in names]
    if len(out) != n_features:
        raise ValueError(f"{len(out)} feature names for {n_features} columns")
    return out
