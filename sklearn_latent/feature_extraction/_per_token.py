# SPDX-License-Identifier: BSD-3-Clause
"""`PerToken`: a transformer of rows on the tokens of sequences."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import OneToOneFeatureMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, _fit_context
from .._sequences import LabelCodec, SequenceMatrix
from .._sequences.labels import UNKNOWN
from .._sequences.validation import check_finite, check_labels
from ._base import NumericTransformer, given_names, input_tags_of, numeric_corpus

__all__ = ["PerToken"]


def _inner_names_its_columns(self) -> bool:
    return hasattr(getattr(self, "transformer_", self.transformer), "get_feature_names_out")


class PerToken(NumericTransformer):
    """Apply a scikit-learn transformer to the tokens of all sequences, as rows of one matrix.

    `StandardScaler`, `PCA`, `SelectKBest` and the like treat rows one by one: to them the tokens are the samples.

    Parameters
    ----------
    transformer : transformer
        Anything with `fit` and `transform` on a matrix (n_tokens, n_features). A clone of it is fitted.

    Attributes
    ----------
    transformer_ : transformer
        The fitted clone.
    n_features_in_ : int
        Number of features of a token.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names, if the input had some.
    n_columns_ : int
        Number of features that the transformer gives.

    Raises
    ------
    TypeError
        If the corpus holds tokens and not numbers.
    ValueError
        If there is no token at fit, the transformer gives another number of rows, or a number is NaN or infinite
        and the transformer does not take NaN (the message names sequence, token and feature).

    Notes
    -----
    Labels given to `fit` are stacked too, for transformers such as `SelectKBest`. Tokens whose label is unknown are
    then left out of fitting; without labels all tokens take part.

    Marks `edge_only` are kept by transformers that select columns or treat them one by one, and lost with others.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_latent import SequenceMatrix
    >>> from sklearn_latent.feature_extraction import PerToken
    >>> corpus = SequenceMatrix(np.array([[1.0], [3.0], [5.0], [7.0]]), [3, 1])
    >>> scaled = PerToken(StandardScaler()).fit_transform(corpus)
    >>> scaled.lengths.tolist(), scaled[1].round(2).tolist()
    ([3, 1], [[1.34]])
    """

    _parameter_constraints: dict = {"transformer": [HasMethods(["fit", "transform"])]}

    def __init__(self, transformer):
        self.transformer = transformer

    def fit(self, X, y=None):
        """Fit a clone of the transformer on the stacked tokens.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, or 3-D array
        y : None or list of n lists of labels
            None within it where a label is unknown.

        Returns
        -------
        PerToken
            The transformer itself.
        """
        self._fit(X, y, transform=False)
        return self

    def fit_transform(self, X, y=None):
        """Fit a clone of the transformer on the stacked tokens and transform them.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, or 3-D array
        y : None or list of n lists of labels
            As for `fit`.

        Returns
        -------
        SequenceMatrix
        """
        return self._fit(X, y, transform=True)

    def transform(self, X):
        """Transform the tokens of all sequences.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, or 3-D array

        Returns
        -------
        SequenceMatrix
        """
        corpus = self._check_X(X)
        _check_numbers(corpus, self.transformer_)
        if corpus.n_tokens == 0:
            # Transformers refuse a matrix without rows.
            return self._matrix(np.zeros((0, self.n_columns_)), corpus)
        return self._matrix(_as_values(self._call(self.transformer_.transform, corpus.values)), corpus)

    @available_if(_inner_names_its_columns)
    def get_feature_names_out(self, input_features=None):
        """Names of the columns, as the transformer makes them from those of the input.

        Parameters
        ----------
        input_features : None or array-like of str of shape (n_features,), default=None
            Names of the input; None: those known from `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str objects of shape (n_features,)
        """
        check_is_fitted(self)
        return _InnerNames(self.transformer_, self._names_in(input_features), self.n_features_in_)()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = input_tags_of(self.transformer)
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def _fit(self, X, y, *, transform: bool) -> SequenceMatrix | None:
        corpus = numeric_corpus(X, type(self).__name__)
        inner = clone(self.transformer)
        _check_numbers(corpus, inner)
        values, labels = corpus.values, ()
        if y is not None:
            values, labels = _labelled(corpus, y)
        if values.shape[0] == 0:
            raise ValueError(f"X has no token {'with a label ' if labels else ''}to fit a transformer on")
        if transform and values is corpus.values and hasattr(inner, "fit_transform"):
            out = self._call(inner.fit_transform, values, *labels)
        else:
            self._call(inner.fit, values, *labels)
            out = self._call(inner.transform, corpus.values if transform else values[:1])
        out = _as_values(out)
        self._learn(corpus)
        self.transformer_ = inner
        self.n_columns_ = int(out.shape[1])
        return self._matrix(out, corpus) if transform else None

    @staticmethod
    def _call(method, *args):
        # Rows are stacked here and cut again: frames would only be taken apart.
        with config_context(transform_output="default"):
            return method(*args)

    def _matrix(self, values, corpus: SequenceMatrix) -> SequenceMatrix:
        if values.shape[0] != corpus.n_tokens:
            raise ValueError(
                f"{type(self.transformer_).__name__} gave {values.shape[0]} rows for {corpus.n_tokens} tokens"
            )
        names = None
        if hasattr(self.transformer_, "get_feature_names_out"):
            names = _InnerNames(self.transformer_, self._feature_names, self.n_features_in_)
        marks = corpus.edge_only
        if marks is not None and hasattr(self.transformer_, "get_support"):
            marks = marks[self.transformer_.get_support()]
        elif not isinstance(self.transformer_, OneToOneFeatureMixin):
            marks = None
        return SequenceMatrix(values, corpus.lengths, feature_names=names, edge_only=marks)


class _InnerNames:
    """Names that a fitted transformer gives, made when asked for; an object, so that it pickles."""

    def __init__(self, transformer, names, n_features: int):
        self.transformer = transformer
        self.names = names
        self.n_features = n_features

    def __call__(self) -> np.ndarray:
        names = given_names(self.names, self.n_features)
        return np.asarray(self.transformer.get_feature_names_out(names), dtype=object)


def _labelled(corpus: SequenceMatrix, y):
    """Rows to fit on, and a tuple of their stacked labels: the tokens whose label is known.

    Whether a transformer needs labels can't be asked (`SelectKBest` has neither the tag nor an argument without
    default), so all are treated alike.
    """
    labels = check_labels(y, corpus.lengths)
    if corpus.n_tokens == 0:
        return corpus.values, ()
    codec = LabelCodec.from_labels(labels)
    codes = codec.encode(labels)
    known = codes != UNKNOWN
    return (corpus.values if known.all() else corpus.values[known]), (codec.classes[codes[known]],)


def _check_numbers(corpus: SequenceMatrix, transformer) -> None:
    # Imputers are there for NaN; others would name neither sequence nor token.
    check_finite(corpus, allow_nan=input_tags_of(transformer).allow_nan)


def _as_values(out):
    return out if sp.issparse(out) else np.asarray(out)
