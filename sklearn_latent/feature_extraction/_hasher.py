# SPDX-License-Identifier: BSD-3-Clause
"""`SequenceFeatureHasher`: sequences of dicts or lists of strings to a `SequenceMatrix`, without a vocabulary."""

from __future__ import annotations

from array import array
from numbers import Integral

import numpy as np
import scipy.sparse as sp
from sklearn.utils import murmurhash3_32

from .._compat import Interval, _fit_context
from .._sequences import SequenceMatrix
from ._base import SequenceTransformer
from ._corpus import check_dtype, check_separator, token_dicts
from ._dict import stacked
from ._dict_features import DictFeatures, DictNames, like_array, read_blocks

__all__ = ["SequenceFeatureHasher"]

#: Tokens after which the strings seen are forgotten: many enough that most strings come again within a block.
BLOCK_TOKENS = 4096


class SequenceFeatureHasher(SequenceTransformer):
    r"""Turn sequences of feature dicts, or of lists of strings, into a sparse matrix of fixed width by hashing.

    Nothing is learnt: a feature's column is a hash of its name and value. So memory does not grow with the number of
    different features, and `transform` needs no `fit`. Tokens are what `SequenceDictVectorizer` takes, under the same
    rules. In return, names can't be told from columns, and features may share a column.

    Parameters
    ----------
    n_features : int, default=2**20
        Number of columns, at most ``2**31 - 1``.
    separator : str, default="="
        Stands between name and value in the text that is hashed. Not empty, without a backslash.
    dtype : {np.float32, np.float64}, default=np.float64
        Type of the values.
    alternate_sign : bool, default=True
        Give each feature a sign that depends on its hash, as in `sklearn.feature_extraction.FeatureHasher`, so that
        features which share a column tend to cancel rather than to add up. With False all indicators are 1.

    Raises
    ------
    TypeError
        If a token is no mapping or list of strings, or a value is None, a mapping, or of another kind.
    ValueError
        If a number is NaN or infinite, or an array has another width than where it was first seen in this call.
        Messages name the sequence and the token.

    See Also
    --------
    SequenceDictVectorizer : Keeps a column for every feature, and its name.
    sklearn.feature_extraction.FeatureHasher : For independent rows.

    Notes
    -----
    The text that is hashed (MurmurHash3, 32 bits, seed 0) is ``name=value`` for indicators, ``name`` for numbers and
    items of lists, and ``name[k]`` for the numbers of an array. In names the backslash and the separator's first
    character are escaped by a backslash, as is the bracket of a number's name that looks like part of an array, so
    different features always have different texts. Where no escape is needed the columns are those of scikit-learn's
    `FeatureHasher`.

    A stream is read in blocks of some thousand tokens; of each only the numbers of its columns are kept.

    Examples
    --------
    >>> from sklearn_latent.feature_extraction import SequenceFeatureHasher
    >>> X = [[{"word": "He", "title": True}, {"word": "slept"}], [{"word": "rain"}]]
    >>> SequenceFeatureHasher(n_features=16).transform(X)
    SequenceMatrix(2 sequences, 3 tokens, 16 features, sparse float64)
    """

    _parameter_constraints: dict = {
        "n_features": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "separator": [str],
        "dtype": "no_validation",
        "alternate_sign": ["boolean"],
    }

    def __init__(self, n_features=2**20, *, separator="=", dtype=np.float64, alternate_sign=True):
        self.n_features = n_features
        self.separator = separator
        self.dtype = dtype
        self.alternate_sign = alternate_sign

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X=None, y=None):
        """Judge the parameters; nothing else has to be done.

        Parameters
        ----------
        X : None or iterable of n sequences of tokens
            Ignored, and not read if it is an iterator.
        y : None
            Ignored.

        Returns
        -------
        SequenceFeatureHasher
            The hasher itself.
        """
        check_dtype(self.dtype)
        check_separator(self.separator)
        return self

    def transform(self, X):
        """Matrix of a corpus.

        Parameters
        ----------
        X : iterable of n sequences of tokens
            Each token a mapping or a list of strings; an iterator is read once and its tokens are not kept.

        Returns
        -------
        SequenceMatrix
            Of CSR values (n_tokens, n_features).
        """
        self.fit()
        dtype, n_features = check_dtype(self.dtype), int(self.n_features)
        lengths, parts = array("q"), []
        for features, entries in read_blocks(X, largest=float(np.finfo(dtype).max), max_tokens=BLOCK_TOKENS):
            hashes = _hashes(features, self.separator)
            sign = np.where(hashes < 0, -1.0, 1.0).astype(dtype) if self.alternate_sign else None
            part = stacked(entries, (np.abs(hashes) % n_features).astype(np.int32), n_features, dtype, sign)
            part.eliminate_zeros()
            parts.append(part)
            lengths.extend(entries.lengths)
        values = parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")
        return SequenceMatrix(values, np.array(lengths, dtype=np.int64), feature_names=_HashNames(n_features))

    def inverse_transform(self, X):
        """The columns of each token by name; what was hashed can't be told from them.

        Parameters
        ----------
        X : SequenceMatrix
            With `n_features` features.

        Returns
        -------
        list of n lists of dicts
            ``{name of column: value}`` for each token, zeros left out.
        """
        return token_dicts(X, _HashNames(int(self.n_features)))

    def get_feature_names_out(self, input_features=None):
        """Names of the columns: ``hash0``, ``hash1``, ...

        Parameters
        ----------
        input_features : None
            Ignored; for scikit-learn's sake.

        Returns
        -------
        ndarray of str objects of shape (n_features,)
        """
        return _HashNames(int(self.n_features))()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        tags.requires_fit = False
        return tags


class _HashNames:
    """Names of columns, made when asked for; an object, so that it pickles."""

    def __init__(self, n_features: int):
        self.n_features = n_features

    def __len__(self) -> int:
        return self.n_features

    def __getitem__(self, columns: np.ndarray) -> np.ndarray:
        return np.array([f"hash{k}" for k in columns.tolist()], dtype=object)

    def __call__(self) -> np.ndarray:
        return self[np.arange(self.n_features)]


def _hashes(features: DictFeatures, separator: str) -> np.ndarray:
    """Signed 32-bit hash of each feature by its number, int64 of shape (n_features,)."""
    names = DictNames(features, separator)
    escaped = names.escaped
    out = np.empty(features.count(), dtype=np.int64)
    for name, values in features.strings.items():
        prefix = escaped(name) + separator
        for value, k in values.items():
            out[k] = _hash(prefix + value)
    for name, k in features.numbers.items():
        # Whatever arrays this corpus has: the text of a feature depends on nothing but the feature.
        out[k] = _hash(names.bracket_escaped(name) if like_array(name) else escaped(name))
    for name, columns in features.arrays.items():
        for j, k in enumerate(columns):
            out[k] = _hash(f"{escaped(name)}[{j}]")
    return out


def _hash(text: str) -> int:
    # Lone surrogates are strings too: dict keys of other vectorizers may hold them.
    return murmurhash3_32(text.encode("utf-8", "surrogatepass"), 0)
