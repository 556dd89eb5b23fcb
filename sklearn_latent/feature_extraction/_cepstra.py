# SPDX-License-Identifier: BSD-3-Clause
"""Cepstra of speech as Kaldi defines them: frames, mel filters, cosine transform, derivatives."""

from __future__ import annotations

import numpy as np
from scipy.fft import dct, rfft
from scipy.signal import savgol_filter

__all__ = ["N_CEPSTRA", "Framing", "cepstra", "derivative"]

#: Cepstral coefficients beside the energy.
N_CEPSTRA = 12

_N_FILTERS = 23
_LOWEST_HZ = 20.0
_PREEMPHASIS = 0.97
_LIFTER = 22.0
#: Energies below this count as it, so that digital silence has a logarithm: Kaldi's floor, for samples within ±1.
_FLOOR = float(np.finfo(np.float32).eps) / 32768.0**2
#: Frames worked on at a time.
_BLOCK = 4096


class Framing:
    """Length and distance of frames in samples, and what depends on them.

    Parameters
    ----------
    sample_rate : int

    Notes
    -----
    Frame k is centred on sample ``(k + 1/2) * hop``. Beyond its ends the audio is mirrored.
    """

    def __init__(self, sample_rate: int):
        self.length = round(0.025 * sample_rate)
        self.hop = round(0.010 * sample_rate)
        self.n_fft = 1 << (self.length - 1).bit_length()
        self.window = 0.54 - 0.46 * np.cos(2.0 * np.pi * np.arange(self.length) / (self.length - 1))
        self.filters = _mel_filters(self.n_fft, sample_rate)

    def count(self, n_samples: int) -> int:
        """Frames of a recording, at least one."""
        return max(1, (n_samples + self.hop // 2) // self.hop)

    def first_samples(self, k: np.ndarray) -> np.ndarray:
        """Where frames begin, before sample 0 for the first ones."""
        return k * self.hop + self.hop // 2 - self.length // 2

    def centres(self, n_frames: int) -> np.ndarray:
        """The sample that each frame is centred on."""
        return np.arange(n_frames) * self.hop + self.hop // 2


def _mel_filters(n_fft: int, sample_rate: int) -> np.ndarray:
    """Triangles on the mel scale, (n_fft / 2 + 1, _N_FILTERS); the bin at half the sample rate counts in none."""

    def mel(hz):
        return 1127.0 * np.log1p(hz / 700.0)

    corners = np.linspace(mel(_LOWEST_HZ), mel(sample_rate / 2.0), _N_FILTERS + 2)
    at = mel(np.arange(n_fft // 2 + 1) * sample_rate / n_fft)[:, None]
    rise = (at - corners[:-2]) / (corners[1:-1] - corners[:-2])
    fall = (corners[2:] - at) / (corners[2:] - corners[1:-1])
    filters = np.maximum(0.0, np.minimum(rise, fall))
    filters[-1] = 0.0
    return filters


def cepstra(audio: np.ndarray, framing: Framing) -> np.ndarray:
    """12 mel-frequency cepstral coefficients and the log energy of each frame.

    Parameters
    ----------
    audio : ndarray of float64 of shape (n_samples,)
        At least one sample, within ±1.
    framing : Framing

    Returns
    -------
    ndarray of shape (n_frames, 13)
        The energy is the last column; it is the frame's own, before anything is done to it but taking off its mean.
    """
    n_frames, n_samples = framing.count(len(audio)), len(audio)
    out = np.empty((n_frames, N_CEPSTRA + 1))
    lifter = 1.0 + 0.5 * _LIFTER * np.sin(np.pi * np.arange(1, N_CEPSTRA + 1) / _LIFTER)
    for a in range(0, n_frames, _BLOCK):
        own = out[a : a + _BLOCK]
        place = framing.first_samples(np.arange(a, a + len(own)))[:, None] + np.arange(framing.length)
        # Mirrored at both ends as often as it takes: the period is two recordings.
        place %= 2 * n_samples
        frames = audio[np.minimum(place, 2 * n_samples - 1 - place)]
        frames -= frames.mean(axis=1, keepdims=True)
        own[:, -1] = np.log(np.maximum(np.square(frames).sum(axis=1), _FLOOR))
        frames[:, 1:] -= _PREEMPHASIS * frames[:, :-1]
        frames[:, 0] *= 1.0 - _PREEMPHASIS
        power = np.square(np.abs(rfft(frames * framing.window, framing.n_fft, axis=1)))
        log_mel = np.log(np.maximum(power @ framing.filters, _FLOOR))
        own[:, :-1] = dct(log_mel, norm="ortho", axis=1)[:, 1 : N_CEPSTRA + 1] * lifter
    return out


def derivative(frames: np.ndarray) -> np.ndarray:
    """Slope of the regression line through each frame and two on either side; at the ends the last one is repeated."""
    return savgol_filter(frames, 5, polyorder=1, deriv=1, axis=0, mode="nearest")
