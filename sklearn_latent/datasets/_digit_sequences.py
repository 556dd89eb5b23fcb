# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten digits strung into dates and numbers with a check digit."""

from __future__ import annotations

import calendar

import numpy as np
from sklearn.utils import Bunch

from .._sequences.labels import LabelSequences
from .._sequences.matrix import SequenceMatrix
from ._base import label_names, parts_of

__all__ = ["load_digit_sequences"]

DESCRIPTION = """\
Dates and checked numbers in handwritten digits
-----------------------------------------------

500 sequences of eight digits, 400 to train on and 100 to test. A token is one of the 1,797 images of scikit-learn's
`load_digits` (8 x 8 pixels from 0 to 16, here 64 features); its label is the digit, an int. Half of the sequences are
dates from 1900 to 2029, as year, month and day; half are numbers whose eighth digit checks the others as in EAN-8
barcodes: three times the first, third, fifth and seventh digit, plus the others, is a multiple of ten. `kind` says
which is which.

Context matters: a month that begins with 1 goes on with 0, 1 or 2, days end with their month, and the check digit
follows from all the others, which no factor over a few labels sees. Neighbours say little about the digits of numbers.

Test sequences are made of a quarter of the images, which no training sequence has, and no date or number of the test
part is one of the training part. Within a part an image can come more than once: dates need many zeros. Which images
and numbers were drawn is fixed.

Images: E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI repository, CC BY 4.0, as shipped by
scikit-learn. Sequences: this package.
"""

_SIZES = {"train": 400, "test": 100}
_SEED = 20180706


def load_digit_sequences(*, subset="train", return_X_y=False):
    """Load dates and checked numbers whose tokens are images of handwritten digits.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        Part of the corpus; ``"all"`` is train, then test.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a `Bunch`.

    Returns
    -------
    data : sklearn.utils.Bunch
        ``data``: `SequenceMatrix` of 64 pixels a token, float64 from 0 to 16; ``target``: `LabelSequences` of int;
        ``kind``: ndarray of str of shape (n_sequences,), "date" or "number"; ``target_names``; ``DESCR``; with
        ``subset="all"`` also ``fold``: ndarray of int of shape (n_sequences,), 0 for train and 1 for test.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    ValueError
        If `subset` is unknown.

    See Also
    --------
    fetch_ocr_letters : Handwritten words, a benchmark of the literature.

    Examples
    --------
    >>> from sklearn_latent.datasets import load_digit_sequences
    >>> digits = load_digit_sequences()
    >>> len(digits.data), digits.data.n_features
    (400, 64)
    >>> digits.target[0]  # 25 September 1945
    [1, 9, 4, 5, 0, 9, 2, 5]
    """
    parts, made = parts_of(subset), _sequences()
    rows = np.concatenate([made[part][0] for part in parts])
    data = SequenceMatrix(rows, np.full(len(rows) // 8, 8))
    target = LabelSequences([own for part in parts for own in made[part][1]])
    if return_X_y:
        return data, target
    kind = np.concatenate([np.tile(["date", "number"], _SIZES[part] // 2) for part in parts])
    bunch = Bunch(data=data, target=target, kind=kind, target_names=label_names(target), DESCR=DESCRIPTION)
    if subset == "all":
        bunch.fold = np.repeat(np.arange(2), [_SIZES[part] for part in parts])
    return bunch


def _sequences() -> dict[str, tuple[np.ndarray, list[list[int]]]]:
    """Pixels (8 n, 64) and digits of either part."""
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    rng = np.random.RandomState(_SEED)
    order = rng.permutation(len(digits))
    pools = {"test": order[: len(order) // 4], "train": order[len(order) // 4 :]}
    taken: set[tuple[int, ...]] = set()
    out = {}
    for part, n in _SIZES.items():
        labels: list[list[int]] = []
        while len(labels) < n:
            own = _date(rng) if len(labels) % 2 == 0 else _number(rng)
            if tuple(own) not in taken:
                taken.add(tuple(own))
                labels.append(own)
        of_digit = [pools[part][digits[pools[part]] == k] for k in range(10)]
        flat = [of_digit[k][rng.randint(len(of_digit[k]))] for own in labels for k in own]
        out[part] = images[flat].astype(np.float64), labels
    return out


def _date(rng: np.random.RandomState) -> list[int]:
    year, month = 1900 + int(rng.randint(130)), 1 + int(rng.randint(12))
    day = 1 + int(rng.randint(calendar.monthrange(year, month)[1]))
    return [int(c) for c in f"{year:04d}{month:02d}{day:02d}"]


def _number(rng: np.random.RandomState) -> list[int]:
    first = [int(k) for k in rng.randint(10, size=7)]
    return [*first, -sum(k * (3, 1)[t % 2] for t, k in enumerate(first)) % 10]
