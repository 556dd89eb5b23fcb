# SPDX-License-Identifier: BSD-3-Clause
"""`SequenceUnion`: the features of several transformers side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._compat import _BaseComposition, _fit_context
from .._sequences import SequenceMatrix
from .._sequences.stream import TokenStream
from .._sequences.validation import as_corpus, check_finite, check_n_features
from .._sequences.words import shorten
from ._base import NumericTransformer, SequenceTransformer, given_names, input_tags_of, numeric_corpus

__all__ = ["SequenceUnion"]


class SequenceUnion(SequenceTransformer, _BaseComposition):
    """Put the features of several transformers of sequences side by side.

    scikit-learn's `FeatureUnion` for sequences: each transformer sees the same corpus, and their matrices are joined
    token by token.

    Parameters
    ----------
    transformer_list : list of (str, transformer) tuples
        Names and transformers: vectorizers if the corpus has tokens, `Window`, `PerToken` and pipelines of these if it
        has numbers. ``"drop"`` instead of a transformer leaves the block out; ``"passthrough"`` stands for the
        corpus itself, which then has to be numbers. Parameters of a transformer are set by ``name__parameter``, and
        the transformer itself by its name.

    Attributes
    ----------
    transformers_ : list of (str, transformer) tuples
        The fitted clones, without those that are dropped.
    n_columns_ : list of int
        Number of columns of each of them.

    Raises
    ------
    TypeError
        If something in the list is no transformer, or gives no matrices.
    ValueError
        If two transformers give sequences of different lengths, or a name is taken twice or holds ``__``.

    See Also
    --------
    SequenceMatrix.hstack : For matrices that are there already.
    sklearn.pipeline.FeatureUnion : For independent rows; it can't join sequences.

    Notes
    -----
    Clones are fitted, so the transformers given stay as they are. If the corpus is an iterator its sequences are put
    into a list, since each transformer has to read them. Columns marked `edge_only` stay marked. If one block is
    sparse, so is the result.

    Examples
    --------
    >>> from sklearn_latent.feature_extraction import SequenceUnion, TemplateVectorizer
    >>> X = [["the", "old", "man"], ["he", "slept"]]
    >>> union = SequenceUnion([("here", TemplateVectorizer(["%x[0,0]"])), ("before", TemplateVectorizer(["%x[-1,0]"]))])
    >>> union.fit_transform(X)
    SequenceMatrix(2 sequences, 5 tokens, 9 features, sparse float64)
    >>> union.get_feature_names_out()[4:7].tolist()
    ['here__slept', 'before___B-1', 'before__the']
    """

    _parameter_constraints: dict = {"transformer_list": [list, tuple]}

    def __init__(self, transformer_list):
        self.transformer_list = transformer_list

    # -- parameters ---------------------------------------------------------------------------------

    def get_params(self, deep=True):
        """Parameters of the union and, if `deep`, the transformers by name and their parameters.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        dict
        """
        return self._get_params("transformer_list", deep=deep)

    def set_params(self, **params):
        """Set parameters of the union, transformers by ``name``, and their parameters by ``name__parameter``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        SequenceUnion
            The union itself.
        """
        return self._set_params("transformer_list", **params)

    @property
    def named_transformers(self) -> Bunch:
        """Transformers by name: after `fit` the fitted ones (dropped ones are left out), before it those given."""
        return Bunch(**dict(getattr(self, "transformers_", self.transformer_list)))

    def __getitem__(self, name: str):
        """The transformer of this name, as in `named_transformers`."""
        if not isinstance(name, str):
            raise KeyError("a SequenceUnion is indexed by the names of its transformers")
        return self.named_transformers[name]

    # -- fit and transform --------------------------------------------------------------------------

    def fit(self, X, y=None):
        """Fit a clone of every transformer.

        Parameters
        ----------
        X : corpus of n sequences
            What the transformers take; an iterator is read once.
        y : None or list of n lists of labels
            Handed on to every transformer.

        Returns
        -------
        SequenceUnion
            The union itself.
        """
        self.fit_transform(X, y)
        return self

    # Transformers judge their own parameters when they are fitted.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit_transform(self, X, y=None):
        """Fit a clone of every transformer and join what they make of the corpus.

        Parameters
        ----------
        X : corpus of n sequences
            As for `fit`.
        y : None or list of n lists of labels
            Handed on to every transformer.

        Returns
        -------
        SequenceMatrix
        """
        given = self._checked_list()
        X, y = _listed(X), None if y is None else _listed(y)
        fitted, blocks = [], []
        for name, transformer in given:
            transformer = _Identity() if isinstance(transformer, str) else clone(transformer)
            # A union has one argument y for transformers that want none as well.
            if hasattr(transformer, "fit_transform"):
                out = transformer.fit_transform(X, y)
            else:
                out = transformer.fit(X, y).transform(X)
            blocks.append(_as_block(out, name, transformer))
            fitted.append((name, transformer))
        joined = _joined([name for name, _ in fitted], blocks)
        self.transformers_ = fitted
        self.n_columns_ = [block.n_features for block in blocks]
        return joined

    def transform(self, X):
        """Join what the fitted transformers make of a corpus.

        Parameters
        ----------
        X : corpus of n sequences
            As for `fit`.

        Returns
        -------
        SequenceMatrix
        """
        check_is_fitted(self)
        X = _listed(X)
        blocks = []
        for (name, transformer), width in zip(self.transformers_, self.n_columns_, strict=True):
            block = _as_block(transformer.transform(X), name, transformer, width)
            check_n_features(block, width, f"the transformer {name!r}")
            blocks.append(block)
        return _joined([name for name, _ in self.transformers_], blocks)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns: the name of the transformer, two underscores, and its own name.

        Parameters
        ----------
        input_features : None or array-like of str of shape (n_features_in,), default=None
            Names of the columns of the corpus if it has numbers; handed on to the transformers.

        Returns
        -------
        ndarray of str objects of shape (n_features,)
        """
        check_is_fitted(self)
        names = []
        for name, transformer in self.transformers_:
            if not hasattr(transformer, "get_feature_names_out"):
                raise AttributeError(
                    f"the transformer {name!r} ({type(transformer).__name__}) has no get_feature_names_out"
                )
            names.append(_Prefixed(name, transformer.get_feature_names_out(input_features), 0)())
        return np.concatenate(names)

    def _checked_list(self) -> list[tuple]:
        """The list without what is dropped, judged."""
        for entry in self.transformer_list:
            if not isinstance(entry, (tuple, list)) or len(entry) != 2:
                raise TypeError(f"transformer_list must hold (name, transformer) tuples, got {shorten(entry)}")
        names, transformers = [e[0] for e in self.transformer_list], [e[1] for e in self.transformer_list]
        for name, transformer in zip(names, transformers, strict=True):
            if not isinstance(name, str):
                raise TypeError(f"names of transformers are strings, got {shorten(name)}")
            if isinstance(transformer, str) and transformer in ("drop", "passthrough"):
                continue
            fits = hasattr(transformer, "fit") or hasattr(transformer, "fit_transform")
            if not fits or not hasattr(transformer, "transform") or isinstance(transformer, type):
                raise TypeError(
                    f"{name!r} is {shorten(transformer)}, but a transformer with fit and transform, 'drop' or "
                    "'passthrough' was expected"
                )
        self._validate_names(names)
        active = [(n, t) for n, t in zip(names, transformers, strict=True) if not (isinstance(t, str) and t == "drop")]
        if not active:
            raise ValueError("a SequenceUnion needs at least one transformer that is not dropped")
        return active

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = [input_tags_of(_first_step(part)) for part in self._parts()]
        for name in ("three_d_array", "sparse", "string", "dict", "allow_nan"):
            setattr(tags.input_tags, name, bool(inner) and all(getattr(own, name) for own in inner))
        return tags

    def _parts(self) -> list:
        """The transformers that are not dropped, as far as the list, which nobody has judged yet, has some."""
        pairs = self.transformer_list if isinstance(self.transformer_list, (list, tuple)) else []
        parts = [entry[1] for entry in pairs if isinstance(entry, (list, tuple)) and len(entry) == 2]
        return [part for part in parts if not (isinstance(part, str) and part == "drop")]


def _first_step(part):
    """What sees the corpus: of a pipeline its first step that does something."""
    if hasattr(part, "steps"):
        steps = [step for _, step in part.steps if step is not None]
        return _first_step(next((step for step in steps if not isinstance(step, str)), "passthrough"))
    return _Identity() if isinstance(part, str) else part


class _Identity(NumericTransformer):
    """Numbers as they are: what "passthrough" stands for."""

    def fit(self, X, y=None):
        """Learn width and names."""
        corpus = numeric_corpus(X, "'passthrough'")
        check_finite(corpus, allow_nan=True)
        self._learn(corpus)
        return self

    def transform(self, X):
        """The corpus, with its names or those learnt."""
        corpus = self._check_X(X)
        check_finite(corpus, allow_nan=True)
        return corpus

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # for imputers behind it
        return tags

    def get_feature_names_out(self, input_features=None):
        """Names of the input."""
        check_is_fitted(self)
        return self._names_in(input_features)


class _Prefixed:
    """Names with a prefix, made when asked for; an object, so that it pickles."""

    def __init__(self, prefix: str, names, n_features: int):
        self.prefix = prefix
        self.names = names
        self.n_features = n_features

    def __call__(self) -> np.ndarray:
        names = given_names(self.names, self.n_features)
        return np.array([f"{self.prefix}__{name}" for name in names.tolist()], dtype=object)


def _joined(names: list[str], blocks: list[SequenceMatrix]) -> SequenceMatrix:
    """Blocks side by side, once it is sure that they have the same sequences."""
    first = blocks[0]
    for name, block in zip(names, blocks, strict=True):
        if len(block) != len(first):
            raise ValueError(f"{names[0]!r} gives {len(first)} sequences, but {name!r} gives {len(block)}")
        other = np.flatnonzero(block.lengths != first.lengths)
        if len(other):
            i = int(other[0])
            raise ValueError(
                f"sequence {i}: {names[0]!r} gives {int(first.lengths[i])} tokens, but {name!r} gives "
                f"{int(block.lengths[i])}"
            )
    named = [
        SequenceMatrix(
            block.values,
            block.lengths,
            feature_names=_Prefixed(name, block._names, block.n_features),
            edge_only=block.edge_only,
        )
        for name, block in zip(names, blocks, strict=True)
    ]
    return SequenceMatrix.hstack(named)


def _as_block(out, name: str, transformer, n_features: int = 0) -> SequenceMatrix:
    """What a transformer gave as a `SequenceMatrix`; `n_features` is its width if there is no token."""
    try:
        block = as_corpus(out)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the transformer {name!r} ({type(transformer).__name__}) gives no matrix a sequence: {error}"
        ) from error
    if isinstance(block, SequenceMatrix):
        return block
    if any(map(len, block)):
        raise TypeError(
            f"the transformer {name!r} ({type(transformer).__name__}) gives tokens, but a SequenceMatrix was expected"
        )
    return SequenceMatrix(np.zeros((0, n_features)), np.zeros(len(block), dtype=np.int64))


def _listed(X):
    """An iterator as a list, also within a list, so that it can be read again; anything else as it is."""
    if isinstance(X, (Iterator, TokenStream)):
        X = list(X)
    elif not isinstance(X, Iterable) or isinstance(X, (str, bytes, Mapping, SequenceMatrix, np.ndarray)):
        return X
    if isinstance(X, (list, tuple)) and any(isinstance(entry, Iterator) for entry in X):
        return [list(entry) if isinstance(entry, Iterator) else entry for entry in X]
    return X
