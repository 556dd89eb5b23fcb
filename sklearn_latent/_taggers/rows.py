# SPDX-License-Identifier: BSD-3-Clause
"""`RowClassifier`: a tagger as an ordinary classifier of independent rows."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._compat import _check_sample_weight
from .._sequences import SequenceMatrix
from .latent_crf import LatentCRFTagger

__all__ = ["RowClassifier"]


class RowClassifier(ClassifierMixin, BaseEstimator):
    """Classifies the rows of a table, each as a sequence of one token.

    What a tagger learns of neighbours is of no use here; its local model is: with the ordinary CRF this is
    logistic regression, with latent states a mixture of such, with sum-product factors a small network. It goes where
    scikit-learn wants a classifier: voting, stacking, calibration, searches with integer `cv`.

    Parameters
    ----------
    tagger : sequence tagger, default=None
        What to fit; a clone of it is. None: ``LatentCRFTagger(n_latent=1)``.

    Attributes
    ----------
    tagger_ : sequence tagger
        Fitted.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where `X` had names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_latent import RowClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RowClassifier().fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(self, tagger=None):
        self.tagger = tagger

    def fit(self, X, y, sample_weight=None) -> RowClassifier:
        """Fit the tagger on sequences of one row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        # Imported where it is used: the package loads nothing that scikit-learn's base has not.
        from sklearn.utils.multiclass import check_classification_targets

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        tagger = LatentCRFTagger(n_latent=1) if self.tagger is None else clone(self.tagger)
        # Numbers of classes: labels of any kind come back as they were, and what has no weight is a class all the same.
        self.tagger_ = tagger.fit(_sequences(X), codes[:, None].tolist(), sample_weight=sample_weight)
        return self

    def predict(self, X) -> np.ndarray:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        rows = self._check(X)
        labels = self.tagger_.predict(rows)
        return self.classes_[np.array([own[0] for own in labels], dtype=np.int64)]

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        rows = self._check(X)
        marginals = self.tagger_.predict_marginals(rows)
        out = np.zeros((len(marginals), len(self.classes_)))
        out[:, self.tagger_.classes_.astype(np.int64)] = np.concatenate(list(marginals))
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tagger = LatentCRFTagger() if self.tagger is None else self.tagger
        tags.input_tags.sparse = get_tags(tagger).input_tags.sparse
        return tags

    def _check(self, X) -> SequenceMatrix:
        check_is_fitted(self)
        return _sequences(validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False))


def _sequences(X) -> SequenceMatrix:
    return SequenceMatrix(X, np.ones(X.shape[0], dtype=np.int64))
