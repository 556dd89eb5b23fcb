# SPDX-License-Identifier: BSD-3-Clause
"""`PhoneSegments`: recordings cut into phones to 92 numbers a phone."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from .._compat import Interval, _fit_context
from .._sequences import SequenceMatrix
from ._base import SequenceTransformer
from ._cepstra import N_CEPSTRA, Framing, cepstra, derivative
from ._corpus import shorten, token_sequences

__all__ = ["PhoneSegments"]

_FORM = "[(audio, [[0, 1600], [1600, 2400]])], a pair of samples and of (T, 2) sample ranges a recording"
_KINDS = [*(f"mfcc{k}" for k in range(1, N_CEPSTRA + 1)), "energy"]
_NAMES = [
    *(f"{name}_{third}" for third in ("first", "middle", "last") for name in _KINDS),
    *(f"{which}_{name}_{end}" for end in ("begin", "end") for which in ("delta", "delta2") for name in _KINDS),
    "log_duration",
]
#: What a segment's parts are to each other, in tenths: 3 : 4 : 3.
_PART = 3


class PhoneSegments(SequenceTransformer):
    """Describe each segment of a recording by 92 numbers, for naming phones whose bounds are known.

    A recording is a sequence, its segments are the tokens. Of each frame of 25 ms, one every 10 ms, 12 mel-frequency
    cepstral coefficients and the log energy are taken, and their first and second derivatives. A segment's features are
    the means of the 13 numbers in its first three tenths, the four tenths of its middle, and its last three tenths; the
    derivatives at its first and at its last frame; and the logarithm of its duration.

    Parameters
    ----------
    sample_rate : int, default=16000
        Samples a second, from 4000 to 1,000,000.

    Raises
    ------
    TypeError
        If a sequence is no pair of samples and ranges, samples are not signed integers or floats, or ranges are not
        integers.
    ValueError
        If a sample is NaN or infinite, a range is empty or reaches beyond the audio (the message names sequence and
        token), or an array has a wrong shape.

    See Also
    --------
    PerToken : Standardises the features, which are of different scales.
    Window : Joins those of neighbouring segments.
    sklearn_latent.datasets.fetch_timit_sample : Speech in this form.

    Notes
    -----
    The 92 numbers are those of Halberstadt and Glass. Coefficients are Kaldi's, with Hamming windows, 23 triangular mel
    filters from 20 Hz to half the sample rate, pre-emphasis 0.97 and lifter 22; the energy is that of the frame itself.
    Derivatives are slopes of the regression over five frames.

    A frame belongs to the segment that holds its centre; a segment without one has the nearest frame. Three frames or
    more are cut so that each part has one; with fewer, frames are taken twice. Beyond its ends the recording is
    mirrored.

    Integers are taken as fractions of their type's range, floats as they are: int16 samples and the same divided by
    32768 have the same features. Energies below 1e-16 of full scale squared count as that.

    Nothing is learnt, and `transform` needs no `fit`.

    References
    ----------
    A. Halberstadt, J. Glass, "Heterogeneous acoustic measurements for phonetic classification", Eurospeech 1997.
    D. Povey et al., "The Kaldi Speech Recognition Toolkit", ASRU 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_latent.feature_extraction import PhoneSegments
    >>> tone = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
    >>> corpus = PhoneSegments().fit_transform([(tone, [[0, 8000], [8000, 16000]]), (tone, [[0, 1600]])])
    >>> corpus
    SequenceMatrix(2 sequences, 3 tokens, 92 features, dense float64)
    >>> corpus.feature_names[[0, 38, 91]].tolist()
    ['mfcc1_first', 'energy_last', 'log_duration']
    """

    _parameter_constraints: dict = {"sample_rate": [Interval(Integral, 4000, 1_000_000, closed="both")]}

    def __init__(self, sample_rate=16000):
        self.sample_rate = sample_rate

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X=None, y=None):
        """Judge the parameters; nothing else has to be done.

        Parameters
        ----------
        X : None or iterable of n pairs (audio, ranges)
            Ignored, and not read if it is an iterator.
        y : None
            Ignored.

        Returns
        -------
        PhoneSegments
            The transformer itself.
        """
        return self

    def transform(self, X):
        """Features of all segments.

        Parameters
        ----------
        X : iterable of n pairs (audio, ranges)
            ``audio``: samples, (n_samples,), signed integers or floats within ±1; ``ranges``: integers, (T, 2), each
            segment's first sample and the one after its last. An iterator is read once and audio is not kept.

        Returns
        -------
        SequenceMatrix
            Of 92 features.
        """
        self.fit()
        framing = Framing(int(self.sample_rate))
        blocks = [self._features(i, pair, framing) for i, pair in token_sequences(X, _FORM)]
        values = np.concatenate([np.empty((0, len(_NAMES))), *blocks])
        return SequenceMatrix(values, [len(block) for block in blocks], feature_names=_NAMES)

    def get_feature_names_out(self, input_features=None):
        """Names of the features.

        Parameters
        ----------
        input_features : None
            Ignored; for scikit-learn's sake.

        Returns
        -------
        ndarray of str objects of shape (92,)
        """
        return np.array(_NAMES, dtype=object)

    def _features(self, i: int, pair: list | tuple, framing: Framing) -> np.ndarray:
        if len(pair) != 2:
            raise TypeError(f"X[{i}] has {len(pair)} parts, but samples and ranges were expected; X looks like {_FORM}")
        audio = _checked_audio(i, pair[0])
        ranges = _checked_ranges(i, pair[1], len(audio))
        out = np.empty((len(ranges), len(_NAMES)))
        if not len(ranges):
            return out
        static = cepstra(audio, framing)
        slopes = derivative(static)
        moving = np.hstack([slopes, derivative(slopes)])
        first, last = _frames(ranges, framing.centres(len(static)))
        for k, (a, b) in enumerate(_thirds(first, last)):
            out[:, k * static.shape[1] : (k + 1) * static.shape[1]] = _means(static, a, b)
        at = 3 * static.shape[1]
        for frames in (first, last - 1):
            out[:, at : at + moving.shape[1]] = moving[frames]
            at += moving.shape[1]
        out[:, at] = np.log((ranges[:, 1] - ranges[:, 0]) / float(self.sample_rate))
        return out

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def _checked_audio(i: int, audio) -> np.ndarray:
    """Samples as float64."""
    try:
        audio = np.asarray(audio)
    except ValueError:
        audio = np.empty(1, dtype=object)
    if audio.ndim == 1 and not audio.size:
        return np.empty(0)
    if audio.dtype.kind not in "if":
        raise TypeError(f"X[{i}]: samples must be signed integers or floats, got dtype {audio.dtype}")
    if audio.ndim != 1:
        raise ValueError(f"X[{i}]: samples must be one channel, (n_samples,), got shape {audio.shape}")
    if audio.dtype.kind == "i":
        return audio / float(2 ** (8 * audio.dtype.itemsize - 1))
    wrong = np.flatnonzero(~np.isfinite(audio))
    if len(wrong):
        raise ValueError(f"X[{i}]: sample {wrong[0]} is {audio[wrong[0]]}")
    largest = float(np.abs(audio).max())
    if largest > 1e100:
        raise ValueError(f"X[{i}]: samples up to {largest:.3g} are beyond any scale; floats should be within ±1")
    return audio.astype(np.float64)


def _checked_ranges(i: int, ranges, n_samples: int) -> np.ndarray:
    """Ranges as int64 of shape (T, 2), each within the audio."""
    try:
        ranges = np.asarray(ranges)
    except ValueError:
        ranges = np.empty(1, dtype=object)
    if not ranges.size:
        return np.empty((0, 2), dtype=np.int64)
    if ranges.dtype.kind not in "iu":
        raise TypeError(f"X[{i}]: ranges must be integers of shape (T, 2), got dtype {ranges.dtype}")
    if ranges.ndim != 2 or ranges.shape[1] != 2:
        raise ValueError(f"X[{i}]: ranges must have shape (T, 2), got {ranges.shape}")
    wrong = np.flatnonzero((ranges[:, 0] < 0) | (ranges[:, 0] >= ranges[:, 1]) | (ranges[:, 1] > n_samples))
    if len(wrong):
        t = int(wrong[0])
        raise ValueError(
            f"X[{i}], segment {t}: samples {shorten(ranges[t].tolist())} are no range of a recording of {n_samples} "
            "samples: 0 <= start < stop <= n_samples was expected"
        )
    return ranges.astype(np.int64)


def _frames(ranges: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First frame of each segment and the one after its last: those centred within it, else the nearest one."""
    first, last = np.searchsorted(centres, ranges[:, 0]), np.searchsorted(centres, ranges[:, 1])
    none = np.flatnonzero(first == last)
    middle = ranges[none].mean(axis=1)
    after = np.clip(first[none], 1, max(1, len(centres) - 1))
    nearest = after - 1
    if len(centres) > 1:
        nearest = np.where(middle - centres[after - 1] <= centres[after] - middle, after - 1, after)
    first[none], last[none] = nearest, nearest + 1
    return first, last


def _thirds(first: np.ndarray, last: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Frames of the parts of segments, each with one frame at least; the outer ones are as long as each other."""
    n = last - first
    outer = np.maximum(1, (_PART * n + 4) // 10)
    middle = np.minimum(outer, n - 1)
    return [
        (first, first + outer),
        (first + middle, np.maximum(first + middle + 1, last - outer)),
        (last - outer, last),
    ]


def _means(frames: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Means of runs of rows."""
    # A row more, since a run may end where the rows do.
    padded = np.vstack([frames, np.zeros((1, frames.shape[1]))])
    sums = np.add.reduceat(padded, np.column_stack([a, b]).reshape(-1), axis=0)[::2]
    return sums / (b - a)[:, None]
