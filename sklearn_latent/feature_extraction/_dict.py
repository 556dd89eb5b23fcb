# SPDX-License-Identifier: BSD-3-Clause
"""`SequenceDictVectorizer`: sequences of dicts or lists of strings to a `SequenceMatrix`."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, _fit_context
from .._sequences import SequenceMatrix
from ._base import SequenceTransformer
from ._corpus import check_dtype, check_separator, token_dicts
from ._dict_features import DictFeatures, DictNames, Entries, read_corpus

__all__ = ["SequenceDictVectorizer", "stacked"]


class SequenceDictVectorizer(SequenceTransformer):
    r"""Turn sequences of feature dicts, or of lists of strings, into a sparse `SequenceMatrix`.

    What a token may be, and the features it then has:

    ==================================  ==========================================================================
    ``{"word": "the"}``                 the indicator that "word" is "the", shown as ``word=the``
    ``{"title": True}``                 the feature ``title`` with the value 1; False is 0
    ``{"length": 3}``                   the feature ``length`` with the value 3
    ``{"bigram": ["a b", "b c"]}``      an indicator each; a string that comes twice has the value 2
    ``{"vector": np.array([.5, 2])}``   the features ``vector[0]`` and ``vector[1]``; a list of numbers is the same
    ``["the", "title"]``                the features ``the`` and ``title`` with the number of times they are listed
    ==================================  ==========================================================================

    Parameters
    ----------
    separator : str, default="="
        Stands between name and value where features are shown. Not empty, without a backslash.
    min_df : int, default=1
        Leave features out that fewer training tokens have, whatever their value.
    dtype : {np.float32, np.float64}, default=np.float64
        Type of the values.
    sort : bool, default=True
        Order columns by the names shown (the columns of an array stay in their order); otherwise by first occurrence.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each feature by ``(name, value)``; the value is a str for indicators, None for numbers, and the
        index (int) for columns of arrays.
    features_ : DictFeatures
        The same, nested for look-up.
    n_columns_ : int
        Number of columns.

    Raises
    ------
    TypeError
        If a token is no mapping or list of strings, or a value is None, a mapping, or of another kind.
    ValueError
        If a number is NaN or infinite, or an array has another width than where it was first seen. Messages name
        the sequence and the token.

    See Also
    --------
    TemplateVectorizer : For raw tokens, without dicts in between.
    SequenceFeatureHasher : For the same tokens, without a vocabulary.
    sklearn.feature_extraction.DictVectorizer : For independent rows.

    Notes
    -----
    Features are told apart by name and value, not by the text they are shown with: ``{"w": "a=b"}`` and
    ``{"w=a": "b"}`` are two. In names the separator's first character and the backslash are escaped by a backslash, so
    the names are different too: ``w=a\=b`` and ``w\=a=b``. Strings are taken as they are; composed and decomposed
    accents differ. Features not seen in training are ignored.

    Examples
    --------
    >>> from sklearn_latent.feature_extraction import SequenceDictVectorizer
    >>> X = [[{"word": "He", "title": True}, {"word": "slept", "title": False}], [{"word": "rain"}]]
    >>> vectorizer = SequenceDictVectorizer()
    >>> corpus = vectorizer.fit_transform(X)
    >>> corpus
    SequenceMatrix(2 sequences, 3 tokens, 4 features, sparse float64)
    >>> vectorizer.get_feature_names_out().tolist()
    ['title', 'word=He', 'word=rain', 'word=slept']
    >>> corpus[0].toarray().tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    _parameter_constraints: dict = {
        "separator": [str],
        "min_df": [Interval(Integral, 1, None, closed="left")],
        "dtype": "no_validation",
        "sort": ["boolean"],
    }

    def __init__(self, *, separator="=", min_df=1, dtype=np.float64, sort=True):
        self.separator = separator
        self.min_df = min_df
        self.dtype = dtype
        self.sort = sort

    def fit(self, X, y=None):
        """Learn the features of a corpus.

        Parameters
        ----------
        X : iterable of n sequences of tokens
            Each token a mapping or a list of strings; an iterator is read once and its tokens are not kept.
        y : None
            Ignored.

        Returns
        -------
        SequenceDictVectorizer
            The vectorizer itself.
        """
        self.fit_transform(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None):
        """Learn the features of a corpus and return its matrix.

        Parameters
        ----------
        X : iterable of n sequences of tokens
            As for `fit`.
        y : None
            Ignored.

        Returns
        -------
        SequenceMatrix
            Of CSR values (n_tokens, n_features).
        """
        dtype = check_dtype(self.dtype)
        check_separator(self.separator)
        features = DictFeatures()
        entries = read_corpus(X, features, learn=True, largest=float(np.finfo(dtype).max))
        n_seen = features.count()
        number = np.arange(n_seen, dtype=np.int32)
        if self.sort:
            number[features.in_order_of_names(self.separator)] = np.arange(n_seen)
        values = stacked(entries, number, n_seen, dtype)
        if self.min_df > 1:
            # Zeros and repeated strings are one entry each here, so entries are tokens.
            kept = np.flatnonzero(np.bincount(values.indices, minlength=n_seen) >= self.min_df)
            again = np.full(n_seen + 1, -1, dtype=np.int32)
            again[kept] = np.arange(len(kept))
            number, values = again[number], values[:, kept]
        self.features_ = features.renumbered(number.tolist())
        self.n_columns_ = values.shape[1]
        self.separator_ = self.separator
        return self._matrix(values, entries)

    def transform(self, X):
        """Matrix of a corpus in the features learnt.

        Parameters
        ----------
        X : iterable of n sequences of tokens
            As for `fit`. Features not seen in training are ignored.

        Returns
        -------
        SequenceMatrix
            Of CSR values (n_tokens, n_features).
        """
        check_is_fitted(self)
        dtype = check_dtype(self.dtype)
        entries = read_corpus(X, self.features_, learn=False, largest=float(np.finfo(dtype).max))
        return self._matrix(stacked(entries, None, self.n_columns_, dtype), entries)

    def inverse_transform(self, X):
        """The features of each token by name.

        Parameters
        ----------
        X : SequenceMatrix
            With as many features as this vectorizer has.

        Returns
        -------
        list of n lists of dicts
            ``{feature name: value}`` for each token, zeros left out, as `sklearn.feature_extraction.DictVectorizer`
            gives them.
        """
        return token_dicts(X, self.get_feature_names_out())

    def get_feature_names_out(self, input_features=None):
        """Names of the columns.

        Parameters
        ----------
        input_features : None
            Ignored; for scikit-learn's sake.

        Returns
        -------
        ndarray of str objects of shape (n_features,)
            All different.
        """
        check_is_fitted(self)
        return self._names()()

    @property
    def vocabulary_(self) -> dict:
        """Column of each feature by (name, value)."""
        check_is_fitted(self)
        return self.features_.by_name_and_value()

    def _names(self) -> DictNames:
        return DictNames(self.features_, self.separator_, self.n_columns_)

    def _matrix(self, values: sp.csr_array, entries: Entries) -> SequenceMatrix:
        values.eliminate_zeros()
        return SequenceMatrix(values, np.array(entries.lengths, dtype=np.int64), feature_names=self._names())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        return tags


def stacked(
    entries: Entries, number: np.ndarray | None, n_features: int, dtype: np.dtype, sign: np.ndarray | None = None
) -> sp.csr_array:
    """The entries as a CSR matrix (n_tokens, n_features), repeated ones added up, zeros still in it.

    `number` gives the column of each feature; None: they are columns already. `sign` is a factor of each feature.
    """
    columns = np.asarray(entries.columns, dtype=np.int32)
    values = np.ones(len(columns), dtype=dtype)
    values[np.array(entries.odd_at, dtype=np.int64)] = entries.odd_values
    ends = np.array(entries.ends, dtype=np.int64)
    known = columns >= 0
    if not known.all():
        columns, values, ends = columns[known], values[known], np.append(0, np.cumsum(known))[ends]
    if sign is not None:
        values *= sign[columns]
    if number is not None:
        columns = number[columns]
    kind = np.int32 if max(len(columns), n_features, len(ends)) < 2**31 - 1 else np.int64
    columns, ends = columns.astype(kind, copy=False), ends.astype(kind)
    X = sp.csr_array((values, columns, ends), shape=(len(ends) - 1, n_features))
    X.sum_duplicates()
    return X
