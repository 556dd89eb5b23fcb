# SPDX-License-Identifier: BSD-3-Clause
"""What the checks share: clones with a seed, the answers of an estimator, and comparing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..._sequences import SequenceMatrix

__all__ = [
    "ROUNDING",
    "Job",
    "answers",
    "assert_same",
    "fitted",
    "frame_libraries",
    "object_array",
    "per_sequence",
    "prepared",
    "refused",
]


#: For what is computed in another order.
ROUNDING = {"rtol": 1e-9, "atol": 1e-12}


def prepared(estimator, **params):
    """A clone with a seed, which makes no difference to what draws nothing."""
    est = clone(estimator)
    seeds = {name: 0 for name in est.get_params() if name.split("__")[-1] == "random_state"}
    return est.set_params(**seeds, **params)


def fitted(estimator, corpus, **fit_params):
    """A fitted clone."""
    return prepared(estimator).fit(corpus.X, corpus.y, **fit_params)


def frame_libraries() -> list:
    """pandas and polars, as far as they are installed."""
    found = []
    with suppress(ImportError):
        import pandas

        found.append(pandas)
    with suppress(ImportError):
        import polars

        found.append(polars)
    return found


def object_array(entries) -> np.ndarray:
    """A 1-D array of objects, whatever these are."""
    out = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        out[i] = entry
    return out


def _decoded(est, X) -> list:
    result = est.decode(X)
    columns = (result.labels, result.log_prob, result.upper_bound, result.exact, result.n_paths)
    return list(zip(*columns, strict=True))


#: What an estimator can be asked about X and y, one entry a sequence.
_QUESTIONS: dict[str, Callable] = {
    "predict": lambda est, X, y: est.predict(X),
    "decode": lambda est, X, y: _decoded(est, X),
    "predict_marginals": lambda est, X, y: est.predict_marginals(X),
    "predict_latent": lambda est, X, y: est.predict_latent(X),
    "predict_latent_marginals": lambda est, X, y: est.predict_latent_marginals(X),
    "predict_nbest": lambda est, X, y: est.predict_nbest(X, 2),
    "log_likelihood": lambda est, X, y: est.log_likelihood(X, y),
    "transform": lambda est, X, y: est.transform(X),
}


def per_sequence(est) -> list[str]:
    """Names of the questions that an estimator has a method for."""
    return [name for name in _QUESTIONS if hasattr(est, name)]


def answers(est, X, y, names=None) -> dict[str, Any]:
    """What an estimator says of each sequence, by method; `X` is asked of once a method and can't be an iterator."""
    found = {name: _QUESTIONS[name](est, X, y) for name in (per_sequence(est) if names is None else names)}
    return {name: list(value) for name, value in found.items()}


class Job:
    """Answers of a fitted estimator and of one fitted anew. Another process unpickles it: here little is imported."""

    def __init__(self, est, X: list, y: list):
        self.est, self.X, self.y = est, X, y

    def __call__(self) -> tuple[dict, dict]:
        return answers(self.est, self.X, self.y), answers(prepared(self.est).fit(self.X, self.y), self.X, self.y)


def assert_same(a, b, where: str = "", *, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Compare two answers, or containers of them; numbers to a tolerance, zero for the same bits.

    Raises
    ------
    AssertionError
        Says where they differ.
    """
    if isinstance(a, Mapping):
        assert isinstance(b, Mapping) and a.keys() == b.keys(), f"{where}: {list(a)} and {list(b)}"
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]", rtol=rtol, atol=atol)
    elif isinstance(a, (list, tuple)):
        assert isinstance(b, (list, tuple)) and len(a) == len(b), f"{where}: {a!r} and {b!r}"
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{where}[{k}]", rtol=rtol, atol=atol)
    elif isinstance(a, SequenceMatrix):
        assert_same(list(a), list(b), where, rtol=rtol, atol=atol)
    elif isinstance(a, (np.ndarray, np.generic, float)) or sp.issparse(a):
        _assert_same_numbers(_array(a), _array(b), where, rtol, atol)
    else:
        assert a == b, f"{where}: {a!r} and {b!r}"


def _array(a) -> np.ndarray:
    return a.toarray() if sp.issparse(a) else np.asarray(a)


def _assert_same_numbers(a: np.ndarray, b: np.ndarray, where: str, rtol: float, atol: float) -> None:
    assert a.shape == b.shape, f"{where}: shapes {a.shape} and {b.shape}"
    if a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
        assert np.array_equal(a, b), f"{where}: {a!r} and {b!r}"
    elif rtol or atol:
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=where)
    else:
        # Bits: zeros have a sign and NaN equals NaN.
        assert a.dtype == b.dtype and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes(), (
            f"{where}: not the same bits: {a!r} and {b!r}"
        )


def refused(call: Callable, what: str, *mentions: str, errors=(ValueError, TypeError)) -> Exception:
    """Make sure that a call raises one of the documented errors, and that its message has certain texts.

    Returns the error.
    """
    try:
        call()
    except errors as error:
        for text in mentions:
            assert text in str(error), f"{what}: the message doesn't mention {text!r}: {error}"
        assert str(error), f"{what}: {type(error).__name__} without a message"
        return error
    except Exception as error:
        expected = " or ".join(kind.__name__ for kind in errors)
        raise AssertionError(f"{what}: raised {type(error).__name__} ({error}), expected {expected}") from error
    raise AssertionError(f"{what}: accepted without an error")
