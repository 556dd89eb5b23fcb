# SPDX-License-Identifier: BSD-3-Clause
"""`Window`: the features of neighbouring tokens side by side."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, _fit_context
from .._sequences import SequenceMatrix
from .._sequences.validation import check_finite
from .._threads import cut_by_tokens
from ._base import NumericTransformer, given_names, numeric_corpus

__all__ = ["Window"]

#: Stored values whose places are worked out at a time: index arrays stay small beside the result.
BLOCK_VALUES = 1 << 20


class Window(NumericTransformer):
    """Give each token the features of its neighbours too, side by side.

    Token t of a sequence gets the features of the tokens t - `before` to t + `after` of the same sequence, in this
    order. Beyond the ends of the sequence they are zero.

    Parameters
    ----------
    before : int, default=1
        Number of tokens before the present one.
    after : int, default=1
        Number of tokens behind it.

    Attributes
    ----------
    n_features_in_ : int
        Number of features of a token.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names, if the input had some.
    window_ : tuple of int
        `before` and `after` at fit.

    Raises
    ------
    TypeError
        If the corpus holds tokens and not numbers.
    ValueError
        If a number is NaN or infinite (the message names sequence, token and feature), or another number of features
        comes than at fit.

    See Also
    --------
    TemplateVectorizer : Windows of raw tokens, and combinations of them.

    Notes
    -----
    The result has ``before + 1 + after`` times the columns; a sparse corpus gives a sparse result. Names get the
    offset, as in ``pitch[-1]``, ``pitch[0]``, ``pitch[1]``; marks `edge_only` are repeated.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_latent import SequenceMatrix
    >>> from sklearn_latent.feature_extraction import Window
    >>> corpus = SequenceMatrix(np.array([[1.0], [2.0], [3.0], [4.0]]), [3, 1], feature_names=["pitch"])
    >>> window = Window(before=1, after=1)
    >>> window.fit_transform(corpus).values.tolist()
    [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 0.0], [0.0, 4.0, 0.0]]
    >>> window.get_feature_names_out().tolist()
    ['pitch[-1]', 'pitch[0]', 'pitch[1]']
    """

    _parameter_constraints: dict = {
        "before": [Interval(Integral, 0, 2**31 - 1, closed="both")],
        "after": [Interval(Integral, 0, 2**31 - 1, closed="both")],
    }

    def __init__(self, before=1, after=1):
        self.before = before
        self.after = after

    def fit(self, X, y=None):
        """Learn the number of features, and their names.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, or 3-D array
        y : None
            Ignored.

        Returns
        -------
        Window
            The transformer itself.
        """
        self._fit(X)
        return self

    def fit_transform(self, X, y=None):
        """Learn the number of features and join neighbours.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, or 3-D array
        y : None
            Ignored.

        Returns
        -------
        SequenceMatrix
        """
        return self._joined(self._fit(X))

    def transform(self, X):
        """Join the features of neighbours.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, or 3-D array

        Returns
        -------
        SequenceMatrix
            With ``n_features_in_ * (before + 1 + after)`` features, of the same dtype.
        """
        corpus = self._check_X(X)
        check_finite(corpus)
        return self._joined(corpus)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns: those of the input, each with its offset.

        Parameters
        ----------
        input_features : None or array-like of str of shape (n_features,), default=None
            Names of the input; None: those known from `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str objects of shape (n_features,)
        """
        check_is_fitted(self)
        return _WindowNames(self._names_in(input_features), self.n_features_in_, *self.window_)()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit(self, X) -> SequenceMatrix:
        corpus = numeric_corpus(X, type(self).__name__)
        check_finite(corpus)
        self._learn(corpus)
        self.window_ = (int(self.before), int(self.after))
        return corpus

    def _joined(self, corpus: SequenceMatrix) -> SequenceMatrix:
        before, after = self.window_
        join = _sparse_window if sp.issparse(corpus.values) else _dense_window
        values = join(corpus, before, after)
        names = _WindowNames(self._feature_names, corpus.n_features, before, after)
        marks = None if corpus.edge_only is None else np.tile(corpus.edge_only, before + 1 + after)
        return SequenceMatrix(values, corpus.lengths, feature_names=names, edge_only=marks)


class _WindowNames:
    """Names with offsets, made when asked for; an object, so that it pickles."""

    def __init__(self, names, n_features: int, before: int, after: int):
        self.names = names
        self.n_features = n_features
        self.before = before
        self.after = after

    def __call__(self) -> np.ndarray:
        names = given_names(self.names, self.n_features).tolist()
        return np.array([f"{name}[{d}]" for d in range(-self.before, self.after + 1) for name in names], dtype=object)


def _bounds(corpus: SequenceMatrix) -> tuple[np.ndarray, np.ndarray]:
    """First row of the sequence of each token, and the row behind its last one, each int64 of shape (n_tokens,)."""
    return np.repeat(corpus.offsets[:-1], corpus.lengths), np.repeat(corpus.offsets[1:], corpus.lengths)


def _dense_window(corpus: SequenceMatrix, before: int, after: int) -> np.ndarray:
    X = corpus.values
    n, n_features = X.shape
    out = np.zeros((n, before + 1 + after, n_features), dtype=X.dtype)
    first, last = _bounds(corpus)
    row = np.arange(n)
    longest = int(corpus.lengths.max(initial=0))
    # Beyond the longest sequence there are only zeros.
    for d in range(-min(before, longest), min(after, longest) + 1):
        to, source = out[max(0, -d) : n - max(0, d), before + d], X[max(0, d) : n + min(0, d)]
        to[:] = source
        there = row[max(0, -d) : n - max(0, d)]
        to[(there + d < first[there]) | (there + d >= last[there])] = 0
    return out.reshape(n, (before + 1 + after) * n_features)


def _sparse_window(corpus: SequenceMatrix, before: int, after: int) -> sp.csr_array:
    """The window of a CSR array: row t of the result is one run of stored values, only their columns change."""
    X: sp.csr_array = corpus.values
    n, n_features = X.shape
    width = (before + 1 + after) * n_features
    if width >= 2**63:
        raise ValueError(
            f"a window of {before + 1 + after} tokens with {n_features} features each has too many columns"
        )
    first, last = _bounds(corpus)
    row = np.arange(n)
    ptr = X.indptr.astype(np.int64)
    begin = ptr[np.maximum(row - before, first)]
    size = ptr[np.minimum(row + after + 1, last)] - begin
    ends = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(size, out=ends[1:])
    kind = np.int32 if max(int(ends[-1]), width) < 2**31 else np.int64
    indices, data = np.empty(int(ends[-1]), dtype=kind), np.empty(int(ends[-1]), dtype=X.dtype)
    for a, b in cut_by_tokens(size, BLOCK_VALUES):
        entry = np.arange(ends[a], ends[b]) + np.repeat(begin[a:b] - ends[a:b], size[a:b])
        source = np.searchsorted(ptr, entry, side="right") - 1
        place = source - np.repeat(row[a:b] - before, size[a:b])
        indices[ends[a] : ends[b]] = X.indices[entry] + place * n_features
        data[ends[a] : ends[b]] = X.data[entry]
    return sp.csr_array((data, indices, ends.astype(kind)), shape=(n, width))
