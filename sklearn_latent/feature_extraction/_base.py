# SPDX-License-Identifier: BSD-3-Clause
"""What all transformers of sequences share: tags, output, numbers as input, and names made on demand."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import InputTags, get_tags
from sklearn.utils.validation import check_is_fitted

from .._sequences import SequenceMatrix
from .._sequences.validation import as_corpus, check_n_features
from .._sequences.words import shorten

__all__ = ["NumericTransformer", "SequenceTransformer", "given_names", "input_tags_of", "numeric_corpus"]


class SequenceTransformer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Base of the transformers whose output is a `SequenceMatrix`."""

    def __init_subclass__(cls, **kwargs):
        # scikit-learn wraps `transform` of every class derived, to make frames of what it gives, unless told not to.
        super().__init_subclass__(**{**kwargs, "auto_wrap_output_keys": None})

    #: Whether `fit_transform` and `transform` read an iterator of sequences just once (see `TokenStream`).
    _reads_once = True

    def set_output(self, *, transform=None):
        """Do nothing: the output is a `SequenceMatrix` whatever frames scikit-learn is told to make.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            Ignored; a pipeline passes it on to every step.

        Returns
        -------
        SequenceTransformer
            The transformer itself.
        """
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


class NumericTransformer(SequenceTransformer):
    """Base of the transformers of numbers: they know width and names of their input."""

    def _learn(self, corpus: SequenceMatrix) -> None:
        self.n_features_in_ = corpus.n_features
        self._feature_names = corpus._names

    def _check_X(self, X) -> SequenceMatrix:
        check_is_fitted(self)
        corpus = numeric_corpus(X, type(self).__name__, self.n_features_in_)
        check_n_features(corpus, self.n_features_in_, type(self).__name__)
        return corpus

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features at fit, (n_features,), where known; built on access."""
        names = getattr(self, "_feature_names", None)
        if names is None:
            raise AttributeError(f"{type(self).__name__} has no feature names")
        return given_names(names, self.n_features_in_)

    def _names_in(self, input_features) -> np.ndarray:
        """Names of the input, (n_features,), as scikit-learn judges `input_features`."""
        known = getattr(self, "_feature_names", None)
        if input_features is None:
            return given_names(known, self.n_features_in_)
        names = np.asarray(input_features, dtype=object)
        if names.shape != (self.n_features_in_,):
            raise ValueError(f"input_features must have {self.n_features_in_} names, got shape {names.shape}")
        if known is not None and not np.array_equal(given_names(known, self.n_features_in_), names):
            raise ValueError("input_features is not equal to feature_names_in_")
        return names

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        return tags


def input_tags_of(transformer) -> InputTags:
    """What a transformer says of its input; the defaults for one that scikit-learn's tags are unknown to."""
    return get_tags(transformer).input_tags if hasattr(transformer, "__sklearn_tags__") else InputTags()


def given_names(names, n_features: int) -> np.ndarray:
    """Names that may be lazy or missing as an object array of shape (n_features,); x0, x1, ... where missing."""
    if names is None:
        names = [f"x{k}" for k in range(n_features)]
    return np.array(names() if callable(names) else names, dtype=object)


def numeric_corpus(X, who: str, n_features: int = 0) -> SequenceMatrix:
    """Numbers in every accepted form as a `SequenceMatrix`; `n_features` is the width if `X` has no token.

    Raises
    ------
    TypeError
        If `X` holds tokens.
    """
    corpus = as_corpus(X)
    if isinstance(corpus, SequenceMatrix):
        return corpus
    for i, tokens in enumerate(corpus):
        if len(tokens):
            raise TypeError(
                f"{who} takes numbers, but X[{i}] is a list of tokens that begins with {shorten(tokens[0])}; "
                "turn tokens into a SequenceMatrix first, with a vectorizer such as SequenceDictVectorizer"
            )
    return SequenceMatrix(np.zeros((0, n_features)), np.zeros(len(corpus), dtype=np.int64))
