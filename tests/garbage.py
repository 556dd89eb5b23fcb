# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies: anything at all, nested, and right input of which one part is anything at all."""

from __future__ import annotations

import copy
import datetime
import decimal
import fractions
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st

from sklearn_latent import LabelSequences, SequenceMatrix

__all__ = ["DOCUMENTED", "anything", "outcome", "spoilt"]

#: What api and docs say that bad input gets: `InvalidParameterError` and `NotFittedError` are both of these kinds.
DOCUMENTED = (ValueError, TypeError)


class Odd:
    """Can't be counted, nor be a key."""

    def __len__(self):
        return -1

    __hash__ = None


class Lies:
    """Says that it has three entries and gives one."""

    def __len__(self):
        return 3

    def __iter__(self):
        return iter([[{"w": "a"}]])


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**400]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=3),
    st.sampled_from(["O", "B-P", "I-P", "B-", "-", "\ud800", "\0", "iob2", "a=b", ""]),
    st.binary(max_size=3),
    st.builds(complex, st.floats(-1, 1)),
    st.sampled_from(
        [
            decimal.Decimal("NaN"), decimal.Decimal(1), fractions.Fraction(1, 3),
            datetime.date(2020, 1, 1), np.datetime64("NaT"), pd.NaT, pd.NA, np.timedelta64(1, "s"), np.float32("nan"),
            np.float16(1), np.int8(-1), np.uint64(2**64 - 1), np.str_("a"), np.bool_(True), np.longdouble(1),
            Ellipsis, NotImplemented, int, len, ValueError("x"), range(2), slice(1), memoryview(b"ab"), object(),
        ]
    ),
    st.builds(Odd),
    st.builds(Lies),
)  # fmt: skip

_ARRAYS = st.builds(
    lambda shape, dtype: np.zeros(shape, dtype=dtype),
    st.lists(st.integers(0, 2), max_size=4),
    st.sampled_from(["f8", "f4", "i8", "?", "c16", "U2", "S2", "O", "M8[s]", "m8[s]", "f2", "u1", "V2", "i4,f4"]),
)

_CONTAINERS = st.one_of(
    _ARRAYS,
    st.sampled_from(["csr_array", "coo_matrix", "dok_array", "lil_matrix"]).map(lambda f: getattr(sp, f)((2, 2))),
    st.builds(lambda n: SequenceMatrix(np.zeros((n, 2)), [n]), st.integers(0, 2)),
    st.sampled_from([pd.DataFrame({"w": ["a"], "n": [1.0]}), pd.DataFrame(), pd.Series([1, 2]), pd.Index(["a"])]),
)


def _nested(inner):
    lists = st.lists(inner, max_size=3)
    keys = st.one_of(st.text(max_size=2), st.integers(0, 2), st.none(), st.just(("a", 1)))
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(iter),
        lists.map(lambda own: (entry for entry in own)),
        lists.map(LabelSequences),
        lists.map(pd.Series),
        lists.map(_objects),
        st.dictionaries(keys, inner, max_size=2),
        st.dictionaries(keys, inner, max_size=2).map(MappingProxyType),
        st.dictionaries(keys, inner, max_size=2).map(lambda own: own.values()),
    )


def _objects(entries: list) -> np.ndarray:
    out = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        out[i] = entry
    return out


#: Anything, up to a handful of parts.
anything = st.recursive(st.one_of(_SCALARS, _CONTAINERS), _nested, max_leaves=6)


@st.composite
def spoilt(draw, right: Any):
    """A copy of right input, a few of whose parts, at any depth, are anything."""
    value = copy.deepcopy(right)
    for _ in range(draw(st.integers(1, 2))):
        value = _replaced(draw, value)
    return value


def _replaced(draw, value):
    """Go down by chance, and put anything in the place reached."""
    deeper = isinstance(value, (list, tuple, dict)) and len(value) > 0
    if not deeper or draw(st.integers(0, 4)) == 0:
        return draw(anything)
    if isinstance(value, dict):
        key = draw(st.sampled_from(list(value)))
        return {**value, key: _replaced(draw, value[key])}
    k = draw(st.integers(0, len(value) - 1))
    if draw(st.integers(0, 5)) == 0:
        return type(value)([*value[:k], *value[k + 1 :]])
    return type(value)([*value[:k], _replaced(draw, value[k]), *value[k + 1 :]])


def outcome(call: Callable) -> Any:
    """The result, or None where one of the documented errors is raised; any other error passes."""
    try:
        return call()
    except DOCUMENTED as error:
        assert str(error), f"{type(error).__name__} without a message"
        return None
