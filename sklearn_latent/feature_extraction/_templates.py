# SPDX-License-Identifier: BSD-3-Clause
"""`TemplateVectorizer`: raw tokens and feature templates to a `SequenceMatrix`."""

from __future__ import annotations

import os
from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, InvalidParameterError, _fit_context
from .._sequences import SequenceMatrix
from ._base import SequenceTransformer
from ._columns import ColumnCoder
from ._corpus import check_dtype, token_dicts
from ._template_names import FeatureNames
from ._template_parser import resolve_templates
from ._template_table import FeatureTable, assemble, pointers

__all__ = ["TemplateVectorizer"]


class TemplateVectorizer(SequenceTransformer):
    r"""Turn sequences of raw tokens into indicator features by templates.

    A template names a few columns of the tokens around the present one, such as "the previous word and this word";
    each combination of strings that it meets in training is one feature, with the value 1. No string or dict is made
    per token and template: each column is turned into integer ids once, and combinations of ids are looked up.

    Parameters
    ----------
    templates : str, os.PathLike or list of str, default="np-chunking"
        One of

        - a preset. ``"np-chunking"``: the words in a window of two and the two pairs of words that contain the
          present one. ``"chunking"``: these 7 and 12 templates of parts of speech (single in the same window, pairs,
          triples). ``"bio-ner"``: these 19, prefixes and suffixes of 1 to 4 characters of the present word, and the
          shapes of words (runs of upper case, lower case, digits, ...) singly and in pairs. Presets skip a template
          where it reaches beyond the sequence, and add the features ``__BOS__`` and ``__EOS__`` at the first and last
          token. They read the columns named ``"word"`` and ``"pos"``, or the first two if neither name is there;
        - a list of templates, any text with ``%x[row,col]`` in it: the string of column number `col` of the token
          `row` positions on, as CRF++ writes it. Templates are told apart by their text. Outside of a sequence the
          string is ``_B-1``, ``_B-2``, ... before it and ``_B+1``, ... behind it. Templates that begin with ``B`` are
          for edges, as in CRF++;
        - the text of a CRF++ template file, or the path to one: lines that begin with ``U`` or ``B``; empty lines
          and those that begin with ``#`` are skipped. A bare ``B`` is accepted and means nothing here, since taggers
          always have weights for pairs of labels.
    columns : list or tuple of str, default=("word", "pos")
        Names of the columns of a token. Columns that no template reads need not be there; further columns are
        ignored.
    min_df : int, default=1
        Leave features out that fewer training tokens have.
    dtype : {np.float32, np.float64}, default=np.float64
        Type of the values.

    Attributes
    ----------
    templates_ : list of Template
        The templates with their items, in the order of their columns.
    coder_ : ColumnCoder
        The strings of each column and their ids.
    table_ : FeatureTable
        The tuples of ids that are features.

    Raises
    ------
    ValueError
        If a template can't be read, or a token lacks a column (the message names sequence and token).
    TypeError
        If `X` is no list of sequences of tokens, or a column of a token is not a string.

    See Also
    --------
    SequenceDictVectorizer : For features computed by the user.

    Notes
    -----
    Columns are grouped by template, in the order given, and within a template ordered by first occurrence in training;
    nothing depends on hash seeds. Strings not seen in training give no feature.

    Names put the strings into the text of the template, ``w[-1]|w[0]=the|old``. In templates of several items a
    string that contains the separator, or ends in a backslash, is escaped with backslashes, so that names are unique.

    Examples
    --------
    >>> from sklearn_latent.feature_extraction import TemplateVectorizer
    >>> X = [[("the", "DT"), ("old", "JJ"), ("man", "NN")], [("he", "PRP"), ("slept", "VBD")]]
    >>> vectorizer = TemplateVectorizer(["U0:%x[0,0]", "U1:%x[-1,1]/%x[0,1]"])
    >>> corpus = vectorizer.fit_transform(X)
    >>> corpus
    SequenceMatrix(2 sequences, 5 tokens, 10 features, sparse float64)
    >>> vectorizer.get_feature_names_out()[4:8].tolist()
    ['U0:slept', 'U1:_B-1/DT', 'U1:DT/JJ', 'U1:JJ/NN']
    """

    _parameter_constraints: dict = {
        "templates": [str, os.PathLike, list, tuple],
        "columns": [list, tuple],
        "min_df": [Interval(Integral, 1, None, closed="left")],
        "dtype": "no_validation",
    }

    def __init__(self, templates="np-chunking", *, columns=("word", "pos"), min_df=1, dtype=np.float64):
        self.templates = templates
        self.columns = columns
        self.min_df = min_df
        self.dtype = dtype

    def fit(self, X, y=None):
        """Learn the features of a corpus.

        Parameters
        ----------
        X : iterable of n sequences of tokens
            Each token a str (the first column), a tuple or list of str, or a mapping from names of columns to str.
        y : None
            Ignored.

        Returns
        -------
        TemplateVectorizer
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
            As for `fit`; read once.
        y : None
            Ignored.

        Returns
        -------
        SequenceMatrix
            Of CSR values (n_tokens, n_features).
        """
        columns, dtype = _check_columns(self.columns), check_dtype(self.dtype)
        templates = resolve_templates(self.templates, columns)
        streams = list(dict.fromkeys((item.column, item.derived) for t in templates for item in t.items))
        coder = ColumnCoder(columns, streams)
        lengths, ids = coder.learn(X)
        sizes = [len(coder.strings(k)) for k in range(len(streams))]
        table, local = FeatureTable.learn(templates, streams, ids, pointers(lengths), sizes, int(self.min_df))
        self.templates_, self.coder_, self.table_ = templates, coder, table
        return self._matrix(local, lengths, dtype)

    def transform(self, X):
        """Matrix of a corpus in the features learnt.

        Parameters
        ----------
        X : iterable of n sequences of tokens
            As for `fit`. Strings and combinations not seen in training are ignored.

        Returns
        -------
        SequenceMatrix
            Of CSR values (n_tokens, n_features).
        """
        check_is_fitted(self)
        lengths, ids = self.coder_.code(X)
        return self._matrix(self.table_.find(ids, pointers(lengths)), lengths, check_dtype(self.dtype))

    def _transform_parts(self, X, max_tokens: int):
        """Matrices as `transform` gives, of about `max_tokens` tokens each, made while `X` is read."""
        check_is_fitted(self)
        dtype = check_dtype(self.dtype)
        for lengths, ids in self.coder_.code_parts(X, max_tokens):
            yield self._matrix(self.table_.find(ids, pointers(lengths)), lengths, dtype)

    def inverse_transform(self, X):
        """The features of each token by name.

        Parameters
        ----------
        X : SequenceMatrix
            With as many features as this vectorizer has.

        Returns
        -------
        list of n lists of dicts
            ``{feature name: value}`` for each token, zeros left out.
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

    def _names(self) -> FeatureNames:
        return FeatureNames(self.templates_, self.coder_, self.table_)

    def _matrix(self, local, lengths, dtype) -> SequenceMatrix:
        edge_only = None
        if any(template.edge for template in self.templates_):
            edge_only = np.repeat([template.edge for template in self.templates_], np.diff(self.table_.column_ptr))
        values = assemble(local, self.table_.column_ptr, dtype)
        return SequenceMatrix(values, lengths, feature_names=self._names(), edge_only=edge_only)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.dict = True
        return tags


def _check_columns(columns) -> tuple[str, ...]:
    if not columns or not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise InvalidParameterError(f"columns must be a list of different names, at least one, got {columns!r}")
    return tuple(columns)
