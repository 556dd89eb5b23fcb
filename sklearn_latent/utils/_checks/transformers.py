# SPDX-License-Identifier: BSD-3-Clause
"""Vectorizers and transformers: what comes out is a matrix a sequence, of the same tokens, with names."""

from __future__ import annotations

import importlib.util

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from ..._sequences import SequenceMatrix
from .corpora import first_of, main_corpora, taken
from .tools import ROUNDING, assert_same, fitted, prepared, refused

__all__ = ["of_transformers"]


def check_fit_transform(name, estimator):
    """`fit_transform` is `fit` and then `transform`, up to rounding (`PCA` computes them in two ways)."""
    for corpus in taken(estimator):
        est = prepared(estimator)
        at_once = est.fit_transform(corpus.X, corpus.y)
        later = est.transform(corpus.X)
        apart = fitted(estimator, corpus).transform(corpus.X)
        for other in (later, apart):
            assert_same(list(other), list(at_once), f"{name}: transform and fit_transform: ", **ROUNDING)
        if isinstance(at_once, SequenceMatrix):
            assert _names(at_once) == _names(later) == _names(apart), f"{name}: names differ after fit_transform"


def _names(corpus: SequenceMatrix) -> list | None:
    return None if corpus.feature_names is None else corpus.feature_names.tolist()


def check_output(name, estimator):
    """A `SequenceMatrix` over the same sequences: finite real numbers, one width."""
    for corpus in taken(estimator):
        est = fitted(estimator, corpus)
        out = est.transform(corpus.X)
        assert isinstance(out, SequenceMatrix), f"{name}.transform gives a {type(out).__name__}"
        out._check()
        assert out.lengths.tolist() == corpus.lengths
        values = out.values.data if sp.issparse(out.values) else out.values
        assert np.isfinite(values).all(), f"{name}.transform gives numbers that are not finite"
        part = est.transform(corpus.X[:2])
        assert part.n_features == out.n_features, f"{name}: another width for fewer sequences"
        empty = est.transform([])
        assert isinstance(empty, SequenceMatrix) and empty.n_features == out.n_features, (
            f"{name}: another width for no sequence"
        )


def check_feature_names_out(name, estimator):
    """Names of the columns: text, all different, those of the matrix; none before `fit`."""
    if not hasattr(estimator, "get_feature_names_out"):
        return
    if get_tags(estimator).requires_fit:
        refused(
            prepared(estimator).get_feature_names_out, f"{name}.get_feature_names_out before fit",
            errors=(NotFittedError,),
        )  # fmt: skip
    for corpus in taken(estimator):
        est = fitted(estimator, corpus)
        names = est.get_feature_names_out()
        out = est.transform(corpus.X)
        assert isinstance(names, np.ndarray) and names.dtype == object, f"{name}: names are no array of objects"
        assert names.shape == (out.n_features,), f"{name}: {len(names)} names for {out.n_features} columns"
        assert all(type(text) is str for text in names), f"{name}: a name is no str"
        assert len(set(names)) == len(names), f"{name}: a name comes twice"
        assert out.feature_names is None or out.feature_names.tolist() == names.tolist(), (
            f"{name}: the matrix has other names than get_feature_names_out"
        )


def check_set_output(name, estimator):
    """Frames can't hold sequences: `set_output`, and the setting for all, do nothing and do no harm."""
    corpus = taken(estimator)[0]
    expected = fitted(estimator, corpus).transform(corpus.X)
    for library in ("default", "pandas", "polars"):
        if library != "default" and importlib.util.find_spec(library) is None:
            continue
        est = prepared(estimator)
        if hasattr(est, "set_output"):
            assert est.set_output(transform=library) is est, f"{name}.set_output doesn't return self"
        with config_context(transform_output=library):
            outputs = [est.fit_transform(corpus.X, corpus.y), est.transform(corpus.X)]
        outputs.append(est.transform(corpus.X))
        for out in outputs:
            assert isinstance(out, SequenceMatrix), f"{name} gives a {type(out).__name__} when told to make {library}"
            assert_same(list(out), list(expected), f"{name} with {library} output: ", **ROUNDING)


def check_preserves_dtype(name, estimator):
    """Where the tag says so, float32 stays float32."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    for dtype in (np.float64, np.float32):
        if np.dtype(dtype).name in get_tags(estimator).transformer_tags.preserves_dtype:
            X = [x.astype(dtype) for x in corpus.X]
            out = prepared(estimator).fit(X, corpus.y).transform(X)
            assert out.dtype == dtype, f"{name}: {out.dtype} for {np.dtype(dtype)}"


def check_unseen_tokens(name, estimator):
    """Features not seen in training are ignored: they add no column, no state, no error."""
    corpus = first_of(estimator, "dicts", "strings", "words", "columns")
    if corpus is None:
        return
    est = fitted(estimator, corpus)
    width = est.transform(corpus.X).n_features
    before = vars(est).copy()
    strange = {
        "dicts": {"word": "zzz", "pos": "Z"},
        "strings": ["word=zzz"],
        "words": "zzz",
        "columns": ("zzz", "Z"),
    }[corpus.kind]
    out = est.transform([[strange] * 3, []])
    assert out.lengths.tolist() == [3, 0], f"{name}: lengths {out.lengths.tolist()}, not [3, 0]"
    assert out.n_features == width, f"{name}: {out.n_features} columns for tokens never seen, not {width}"
    assert vars(est).keys() == before.keys(), f"{name} learns while it transforms"
    assert est.transform(corpus.X).n_features == width, f"{name} learns while it transforms"


def check_inverse_transform(name, estimator):
    """What can be undone gives dicts that mean the same features, one a token."""
    if not hasattr(estimator, "inverse_transform"):
        return
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        out = est.transform(corpus.X)
        undone = est.inverse_transform(out)
        assert [len(own) for own in undone] == corpus.lengths, f"{name}.inverse_transform has other lengths"
        names = est.get_feature_names_out().tolist()
        rows = [[[token.get(key, 0.0) for key in names] for token in own] for own in undone]
        for own, given in zip(rows, out, strict=True):
            assert_same(np.array(own).reshape(given.shape), _dense(given), f"{name}.inverse_transform: ", rtol=1e-6)


def _dense(rows) -> np.ndarray:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=float)


of_transformers = [
    check_fit_transform,
    check_output,
    check_feature_names_out,
    check_set_output,
    check_preserves_dtype,
    check_unseen_tokens,
    check_inverse_transform,
]
