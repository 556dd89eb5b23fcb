# SPDX-License-Identifier: BSD-3-Clause
"""Every accepted form of X and y gives the same model and the same answers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from ..._sequences import LabelSequences, SequenceMatrix
from .corpora import Corpus, first_of, taken
from .tools import ROUNDING, answers, assert_same, fitted, frame_libraries, object_array, prepared, refused

__all__ = ["common", "of_taggers"]


def stacked(X: list[np.ndarray]) -> SequenceMatrix:
    """Matrices as one `SequenceMatrix`."""
    return SequenceMatrix(np.concatenate(X), [len(x) for x in X])


class ArrayLike:
    """An array of a library that numpy does not know, such as a tensor."""

    def __init__(self, values: np.ndarray):
        self._values, self.ndim, self.shape = values, values.ndim, values.shape

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self):
        return map(ArrayLike, self._values)


def read_only(x: np.ndarray) -> np.ndarray:
    """A copy that can't be written to."""
    x = x.copy()
    x.setflags(write=False)
    return x


def _pandas() -> dict[str, Callable]:
    """Forms of a corpus that need pandas; none without it."""
    if importlib.util.find_spec("pandas") is None:
        return {}
    import pandas as pd

    return {
        "Series": pd.Series,
        "Series with an index of its own": lambda X: pd.Series(X, index=range(50, 50 + len(X))),
    }


_LISTS: dict[str, Callable] = {
    "tuple": tuple,
    "object array": object_array,
    "iterator": iter,
    "generator": lambda X: (x for x in X),
    "values of a dict": lambda X: dict(enumerate(X)).values(),
    "LabelSequences": LabelSequences,
}

_MATRICES: dict[str, Callable] = {
    "SequenceMatrix": stacked,
    "array of a SequenceMatrix": lambda X: np.asarray(stacked(X)),
    "nested lists": lambda X: [x.tolist() for x in X],
    "lists of rows": lambda X: [list(x) for x in X],
    "generators of rows": lambda X: ((row for row in x) for x in X),
    "objects": lambda X: [x.astype(object) for x in X],
    "another library's arrays": lambda X: [ArrayLike(x) for x in X],
}

_SPARSE: dict[str, Callable] = {
    **{f"{f}_array": lambda x, f=f: sp.csr_array(x).asformat(f) for f in ("csr", "csc", "coo", "lil", "dok", "bsr")},
    **{f"{f}_matrix": lambda x, f=f: sp.csr_matrix(x).asformat(f) for f in ("csr", "csc", "coo", "lil")},
}


def _assert_forms_agree(name: str, estimator, corpus: Corpus, forms: dict[str, Callable]) -> None:
    expected = answers(fitted(estimator, corpus), corpus.X, corpus.y)
    for form, make in forms.items():
        est = prepared(estimator).fit(make(corpus.X), corpus.y)
        for method in expected:
            found = answers(est, make(corpus.X), corpus.y, [method])  # made anew: an iterator is read once
            assert_same(found[method], expected[method], f"{name}.{method} on {form}: ")
        if hasattr(est, "fit_transform"):
            at_once = list(prepared(estimator).fit_transform(make(corpus.X), corpus.y))
            assert_same(at_once, expected["transform"], f"{name}.fit_transform on {form}: ", **ROUNDING)


def _sparse(estimator) -> Corpus | None:
    """The corpus of numbers as sparse arrays, if the estimator's tags say that it takes such."""
    corpus = first_of(estimator, "numbers")
    if corpus is None or not get_tags(estimator).input_tags.sparse:
        return None
    return Corpus("numbers", [sp.csr_array(x) for x in corpus.X], corpus.y, corpus.empty)


def check_forms_of_corpora(name, estimator):
    """A tuple, Series, object array, iterator or generator of sequences is as good as a list."""
    for corpus in taken(estimator):
        _assert_forms_agree(name, estimator, corpus, _LISTS | _pandas())


def check_forms_of_tokens(name, estimator):
    """A sequence of tokens may be an iterator or an object array; a mapping may be any mapping."""
    corpus = first_of(estimator, "dicts", "strings", "words", "columns")
    if corpus is None:
        return
    forms = {
        "generators of tokens": lambda X: ((token for token in x) for x in X),
        "object arrays of tokens": lambda X: [object_array(x) for x in X],
    }
    _assert_forms_agree(name, estimator, corpus, forms)
    corpus = first_of(estimator, "dicts")
    if corpus is not None:
        proxies = {"other mappings": lambda X: [[MappingProxyType(token) for token in x] for x in X]}
        _assert_forms_agree(name, estimator, corpus, proxies)


def check_forms_of_matrices(name, estimator):
    """Matrices come stacked, nested, as objects, as frames, or as arrays of other libraries."""
    corpus = first_of(estimator, "numbers")
    if corpus is not None:
        frames = {
            f"frames of {library.__name__}": lambda X, library=library: [library.DataFrame(x) for x in X]
            for library in frame_libraries()
        }
        _assert_forms_agree(name, estimator, corpus, _MATRICES | frames)


def check_readonly_input(name, estimator):
    """Arrays that can't be written to, such as memory maps in joblib's workers, dense and sparse."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    _assert_forms_agree(name, estimator, corpus, {"read-only arrays": lambda X: [read_only(x) for x in X]})
    _assert_forms_agree(
        name, estimator, corpus, {"a read-only SequenceMatrix": lambda X: stacked_read_only(X, sparse=False)}
    )
    sparse = _sparse(estimator)
    if sparse is not None:
        form = {"a read-only sparse SequenceMatrix": lambda X: stacked_read_only([x.toarray() for x in X], sparse=True)}
        _assert_forms_agree(name, estimator, sparse, form)


def stacked_read_only(X: list[np.ndarray], *, sparse: bool) -> SequenceMatrix:
    """Matrices as one `SequenceMatrix` over arrays that can't be written to."""
    values: Any = np.concatenate(X)
    arrays = [values]
    if sparse:
        values = sp.csr_array(values)
        arrays = [values.data, values.indices, values.indptr]
    for array in arrays:
        array.setflags(write=False)
    return SequenceMatrix(values, [len(x) for x in X])


def check_fortran_order(name, estimator):
    """Columns first in memory, and views with steps."""
    corpus = first_of(estimator, "numbers")
    if corpus is not None:
        forms = {
            "arrays in Fortran order": lambda X: [np.asfortranarray(x) for x in X],
            "a 2-step view": lambda X: [np.repeat(x, 2, axis=1)[:, ::2] for x in X],
            "stacked in Fortran order": lambda X: SequenceMatrix(
                np.asfortranarray(np.concatenate(X)), [len(x) for x in X]
            ),
        }
        _assert_forms_agree(name, estimator, corpus, forms)


def check_dtypes(name, estimator):
    """Any real dtype: small whole numbers mean the same in all of them."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    expected = answers(fitted(estimator, corpus), corpus.X, corpus.y)
    for dtype in (np.float32, np.float16, np.int64, np.int8):
        X = [x.astype(dtype) for x in corpus.X]
        found = answers(prepared(estimator).fit(X, corpus.y), X, corpus.y)
        assert_same(_floats(found), _floats(expected), f"{name} on {np.dtype(dtype)}: ", rtol=1e-3, atol=1e-3)


def _floats(found: dict) -> dict:
    """Matrices of a transformer keep the dtype of their input."""
    return {
        method: [np.asarray(e.toarray() if sp.issparse(e) else e, dtype=float) for e in entries]
        if method == "transform"
        else entries
        for method, entries in found.items()
    }


def check_sparse_formats(name, estimator):
    """Every format of SciPy, arrays and matrices, 64-bit indices: the same bits."""
    sparse = _sparse(estimator)
    if sparse is None:
        return
    _assert_forms_agree(
        name, estimator, sparse,
        {form: lambda X, make=make: [make(x.toarray()) for x in X] for form, make in _SPARSE.items()},
    )  # fmt: skip


def check_sparse_tag(name, estimator):
    """Sparse matrices are taken or refused, as the tag says."""
    corpus = first_of(estimator, "numbers")
    if corpus is None:
        return
    for make in (sp.csr_array, sp.csr_matrix):
        X = [make(x) for x in corpus.X]
        if get_tags(estimator).input_tags.sparse:
            answers(prepared(estimator).fit(X, corpus.y), X, corpus.y)
        else:
            refused(lambda X=X: prepared(estimator).fit(X, corpus.y), f"{name} on sparse matrices without the tag")


def check_int64_indices(name, estimator):
    """What scikit-learn calls large sparse: indices of 64 bits."""
    sparse = _sparse(estimator)
    if sparse is None:
        return
    forms = {
        "sparse arrays with 64-bit indices": lambda X: [_wide(x.copy()) for x in X],
        "a SequenceMatrix with 64-bit indices": lambda X: SequenceMatrix(
            _wide(sp.csr_array(sp.vstack(X))), [x.shape[0] for x in X]
        ),
    }
    _assert_forms_agree(name, estimator, sparse, forms)


def _wide(x: sp.csr_array) -> sp.csr_array:
    x.indices, x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    return x


def check_sparse_equals_dense(name, estimator):
    """The same numbers, up to rounding: sums are done in another order, and training carries that on."""
    corpus = first_of(estimator, "numbers")
    if corpus is None or not get_tags(estimator).input_tags.sparse:
        return
    forms = {
        "sparse arrays": lambda X: [sp.csr_array(x) for x in X],
        "a sparse SequenceMatrix": lambda X: SequenceMatrix(sp.csr_array(np.concatenate(X)), [len(x) for x in X]),
        "dense and sparse by turns": lambda X: [x if i % 2 else sp.csr_array(x) for i, x in enumerate(X)],
        "sparse arrays with zeros stored": lambda X: [_with_zeros(x) for x in X],
    }
    est = fitted(estimator, corpus)
    for form, make in forms.items():
        for asked in (est, prepared(estimator).fit(make(corpus.X), corpus.y)):
            for method in answers(est, corpus.X[:1], corpus.y[:1]):
                found = answers(asked, make(corpus.X), corpus.y, [method])
                expected = answers(asked, corpus.X, corpus.y, [method])
                assert_same(found, expected, f"{name} on {form}: ", rtol=1e-9, atol=1e-12)


def _with_zeros(x: np.ndarray) -> sp.csr_array:
    full = sp.csr_array(np.where(x == 0, 7.0, x))
    full.data[full.data == 7.0] = 0.0
    return full


def check_forms_of_y(name, estimator):
    """Labels as tuples, arrays, Series, categories, iterators, numpy scalars, and as one 2-D array."""
    corpus = taken(estimator)[0]
    forms: dict[str, Callable] = {
        **_LISTS,
        **_pandas(),
        "tuples": lambda y: tuple(map(tuple, y)),
        "arrays": lambda y: [np.array(own) for own in y],
        "arrays of objects": lambda y: [np.array(own, dtype=object) for own in y],
        "generators": lambda y: ((label for label in own) for own in y),
        "numpy scalars": lambda y: [[np.str_(label) for label in own] for own in y],
    }
    if importlib.util.find_spec("pandas"):
        import pandas as pd

        forms["a list of Series"] = lambda y: [pd.Series(own, index=range(9, 9 + len(own))) for own in y]
        forms["categories"] = lambda y: [pd.Categorical(own) for own in y]
    pairs = corpus.part([i for i, n in enumerate(corpus.lengths) if n == 2])
    for data, own in ((corpus, forms), (pairs, {"a 2-D array": np.array})):
        expected = fitted(estimator, data)
        for form, make in own.items():
            est = prepared(estimator).fit(data.X, make(data.y))
            found = answers(est, data.X, data.y)
            assert_same(found, answers(expected, data.X, data.y), f"{name} fitted on labels as {form}: ")
            assert {type(label) for labels in est.predict(data.X) for label in labels} == {str}, (
                f"{name}: predicted labels are no Python strings after labels as {form}"
            )
            if hasattr(est, "score"):
                assert est.score(data.X, make(data.y)) == expected.score(data.X, data.y)


common = [
    check_forms_of_corpora,
    check_forms_of_tokens,
    check_forms_of_matrices,
    check_readonly_input,
    check_fortran_order,
    check_dtypes,
    check_sparse_tag,
    check_sparse_formats,
    check_int64_indices,
    check_sparse_equals_dense,
]
of_taggers = [check_forms_of_y]
