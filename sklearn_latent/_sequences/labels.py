# SPDX-License-Identifier: BSD-3-Clause
"""Ragged labels: the list that `predict` returns and the coding into integers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .collector import no_cycle_search
from .frames import column_names, group_lengths, value_column
from .matrix import sequence_indices
from .words import shorten

__all__ = ["FOREIGN", "UNKNOWN", "LabelCodec", "LabelSequences", "flatten_labels", "one_kind"]

#: Code of a position whose label is not given (``None``): it is summed over.
UNKNOWN = -1
#: Code of a label that is not among the classes: it has probability zero.
FOREIGN = -2
#: Sequences decoded at a time.
_RUN = 4096


class LabelSequences(list):
    """A list with one entry a sequence, that numpy turns into one object a sequence.

    It is what `predict` returns (entries: plain lists of labels) and what the per-sequence arrays
    come in (`predict_marginals`: arrays of shape (T, n_classes)). It prints, compares and
    serialises as a list; its ``__array__`` is a 1-D object array also when all entries have one
    length, so that scikit-learn's ``cross_val_predict`` can put folds together.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_latent import LabelSequences
    >>> y = LabelSequences([["B", "I"], ["O", "O"]])
    >>> np.asarray(y).shape
    (2,)
    >>> y[np.array([False, True])]
    [['O', 'O']]
    """

    @classmethod
    def from_frame(cls, df, group, label) -> LabelSequences:
        """Cut a column of labels into sequences.

        Parameters
        ----------
        df : pandas or polars data frame of n_tokens rows
            One row a token, in the order of the text.
        group : name or list of names
            Rows with equal values in these columns are one sequence, as in `SequenceMatrix.from_frame`.
        label : name
            The column of labels.

        Returns
        -------
        LabelSequences
            One list of Python scalars a sequence.

        Raises
        ------
        TypeError
            If `df` is no data frame.
        ValueError
            If a column is not there, a label is missing, or a group comes again after another one. The message names
            the rows, counted from 0.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn_latent import LabelSequences
        >>> df = pd.DataFrame({"song": ["a", "a", "b"], "chord": ["C", "G", "C"]})
        >>> LabelSequences.from_frame(df, "song", "chord")
        [['C', 'G'], ['C']]
        """
        names = column_names(df, label, "label")
        if len(names) != 1:
            raise ValueError(f"label must name one column, got {names!r}")
        labels = value_column(df, names[0]).tolist()
        ends = np.cumsum(group_lengths(df, group)).tolist()
        return cls([labels[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)] if ends else [])

    def __getitem__(self, key):
        """Return an entry for an int, `LabelSequences` for a slice, an index array or a mask."""
        if isinstance(key, slice):
            return LabelSequences(list.__getitem__(self, key))
        if (isinstance(key, list) or hasattr(key, "__array__")) and np.ndim(key) == 1:  # Series too
            return LabelSequences([list.__getitem__(self, i) for i in sequence_indices(key, len(self)).tolist()])
        return list.__getitem__(self, key)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"sequences become an array of objects, one a sequence, not of {np.dtype(dtype)}")
        out = np.empty(len(self), dtype=object)
        for i, entry in enumerate(self):
            out[i] = entry
        return out


class LabelCodec:
    """Labels to integer codes and back.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Distinct labels in scikit-learn's order (sorted).

    Notes
    -----
    Codes are int32: the index into `classes`, `UNKNOWN` for ``None`` and `FOREIGN` for a label
    that is not a class.
    """

    def __init__(self, classes: np.ndarray):
        self.classes = classes
        self._code = {label: i for i, label in enumerate(classes.tolist())}
        self._code[None] = UNKNOWN

    @classmethod
    def from_labels(cls, y: list[list]) -> LabelCodec:
        """Learn the classes of `y`, lists of labels as Python scalars.

        Raises
        ------
        ValueError
            If labels are of mixed kinds, not hashable, a float that isn't a whole number, or there is none at all.
        """
        kind = one_kind(y)
        if kind is None:
            raise ValueError("y holds no label: at least one token must have a label that is not None")
        try:
            found = {label for labels in y for label in labels} - {None}
        except TypeError:
            raise ValueError(_first_unhashable(y)) from None
        missing = [label for label in found if label != label]  # NaN and NaT of every library
        if missing:
            raise ValueError(_first_of(y, missing[0]))
        try:
            if issubclass(kind, frozenset):  # sorted by inclusion they'd stand as the hash seed has it
                raise TypeError
            return cls(as_classes(sorted(found)))
        except TypeError:
            raise ValueError(f"labels must be sortable, got {kind.__name__}") from None

    def check(self, y: list[list]) -> None:
        """Refuse labels that are not classes.

        Raises
        ------
        ValueError
            Names the first.
        """
        for i, labels in enumerate(y):
            for t, label in enumerate(labels):
                if label not in self._code:
                    raise ValueError(
                        f"y[{i}][{t}] is {shorten(label)}, which is not one of the labels {self.classes.tolist()}"
                    )

    def encode(self, y: list[list]) -> np.ndarray:
        """Codes of all labels, stacked, int32 of shape (n_tokens,)."""
        code = self._code
        n = sum(map(len, y))
        try:
            return np.fromiter((code.get(label, FOREIGN) for labels in y for label in labels), np.int32, count=n)
        except TypeError:
            raise TypeError(_first_unhashable(y)) from None

    def decode(self, codes: np.ndarray, offsets: np.ndarray) -> LabelSequences:
        """Labels as Python scalars, one list a sequence."""
        # Through objects, so that a label is one object however often it comes.
        labels, out = np.array([*self.classes.tolist(), None], dtype=object), LabelSequences()
        with no_cycle_search():
            for start in range(0, len(offsets) - 1, _RUN):
                bounds = offsets[start : start + _RUN + 1]
                flat = labels[codes[bounds[0] : bounds[-1]]].tolist()
                bounds = (bounds - bounds[0]).tolist()
                out += [flat[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        return out


def as_classes(labels: list) -> np.ndarray:
    """Array of distinct sorted labels, of numpy's own dtype if that gives back equal labels."""
    if labels and isinstance(labels[0], (str, int, float, bool)):
        array = np.array(labels)
        back = array.tolist()
        if array.ndim == 1 and array.dtype != object and back == labels and type(back[0]) is type(labels[0]):
            return array
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def flatten_labels(y: Iterable, name: str = "y") -> list[list]:
    """Lists of labels as Python scalars, one a sequence, from every accepted form of y.

    What is such a list already is not copied.

    Parameters
    ----------
    y : list of lists of labels, or what stands for one
    name : str
        What messages call it.

    Raises
    ------
    TypeError
        If `y` or one of its entries is not a list of labels.
    """
    if isinstance(y, (str, bytes)) or not isinstance(y, Iterable) or isinstance(y, dict):
        raise TypeError(
            f"{name} must hold one list of labels a sequence, such as [['B', 'I'], ['O']]; got {type(y).__name__}"
        )
    if hasattr(y, "columns") and hasattr(y, "shape"):
        raise TypeError(
            f"{name} is a data frame; one list of labels a sequence is expected, such as [['B', 'I'], ['O']], "
            "which LabelSequences.from_frame makes"
        )
    return [_label_list(labels, i, name) for i, labels in enumerate(y)]


def _label_list(labels, i: int, name: str) -> list:
    if type(labels) is list:
        out = labels
    elif isinstance(labels, np.ndarray):
        if labels.ndim != 1:
            raise TypeError(f"{name}[{i}] must be a 1-D array of labels, got {labels.ndim} dimensions")
        if labels.dtype.kind in "mM":
            _refuse_nat(np.flatnonzero(np.isnat(labels)).tolist(), name, i)
        out = labels.tolist()
    elif isinstance(labels, (str, bytes, dict)) or not isinstance(labels, Iterable):
        raise TypeError(
            f"{name}[{i}] is {shorten(labels)} ({type(labels).__name__}), but {name} must hold one list of labels "
            "a sequence, such as [['B', 'I'], ['O']]"
        )
    else:
        out = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if any(issubclass(kind, np.generic) for kind in set(map(type, out))):
        times = (np.datetime64, np.timedelta64)
        _refuse_nat([t for t, label in enumerate(out) if isinstance(label, times) and np.isnat(label)], name, i)
        out = [label.item() if isinstance(label, np.generic) else label for label in out]
    return out


def _refuse_nat(places: list[int], name: str, i: int) -> None:
    """Refuse times that are missing: as Python scalars they are None, which stands for an unknown label."""
    if places:
        raise ValueError(f"{name}[{i}][{places[0]}] is NaT, which is not a label")


def one_kind(y: list[list]) -> type | None:
    """Return the one kind of all labels, None if there is no label.

    Raises
    ------
    ValueError
        If labels are of mixed kinds, or one is a NaN, a float that isn't a whole number, or no label; names the first.
    """
    first = None
    for i, labels in enumerate(y):
        for kind in [k for k in dict.fromkeys(map(type, labels)) if k is not type(None)]:
            if first is None or kind is not first[0] or kind is float:
                t, label = next((t, v) for t, v in enumerate(labels) if type(v) is kind)
                _check_label(label, labels, i, t, kind)
            if first is None:
                first = (kind, i, t, label)
            elif kind is not first[0]:
                raise ValueError(
                    f"labels must be of one kind: y[{i}][{t}] is {shorten(label)} ({kind.__name__}), "
                    f"but y[{first[1]}][{first[2]}] is {shorten(first[3])} ({first[0].__name__})"
                )
    return None if first is None else first[0]


def _check_label(label, labels: list, i: int, t: int, kind: type) -> None:
    if kind is float:
        for t_bad, value in enumerate(labels):
            if isinstance(value, float) and not value.is_integer():
                raise ValueError(f"y[{i}][{t_bad}] is {value!r}: a label that is a float must be a whole number")
    elif kind is complex or kind.__name__ == "NAType":
        raise ValueError(f"y[{i}][{t}] is {shorten(label)}, which is not a label")


def _first_of(y: list[list], wrong) -> str:
    """Message that names the first place of an object that is no label."""
    place = next((i, t) for i, labels in enumerate(y) for t, label in enumerate(labels) if label is wrong)
    return "y[{}][{}] is {}, which is not a label".format(*place, shorten(wrong))


def _first_unhashable(y: list[list]) -> str:
    """Message that names the first entry that can't be a label."""
    for i, labels in enumerate(y):
        for t, label in enumerate(labels):
            try:
                hash(label)
            except TypeError as error:
                return f"y[{i}][{t}] is a {type(label).__name__}, which is not a label ({error})"
    return "y holds something that is not a label"
