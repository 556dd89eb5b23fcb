# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of decoders and what decoding returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._lattice import Lattice
from .._sequences import LabelSequences

__all__ = ["DecodeResult", "Decoded", "Decoder", "at_least_half"]

#: Half of the probability, less the rounding of the two log sums: nothing else can be more probable.
_HALF = np.log(0.5) - 1e-12


@dataclass
class Decoded:
    """What a decoder found for a batch of sequences, as arrays.

    Attributes
    ----------
    codes : ndarray of int32 of shape (n_tokens,)
        Label ids, stacked.
    log_prob, upper_bound : ndarray of float64 of shape (n_sequences,)
    exact : ndarray of bool of shape (n_sequences,)
    n_paths, n_expanded : ndarray of int64 of shape (n_sequences,)
    n_unfinished : int
        Sequences whose search ended before it could prove what the decoder promises.
    """

    codes: np.ndarray
    log_prob: np.ndarray
    upper_bound: np.ndarray
    exact: np.ndarray
    n_paths: np.ndarray
    n_expanded: np.ndarray
    n_unfinished: int = 0

    @classmethod
    def of(cls, codes: np.ndarray, n: int) -> Decoded:
        """For `n` sequences, before anything but the labels is known."""
        zeros = np.zeros(n, dtype=np.int64)
        return cls(codes, np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool), zeros, zeros.copy())


class Decoder(Protocol):
    """Finds label sequences for the sequences of a lattice.

    A decoder whose labels come for far less than their probability may also have ``labels_alone(lattice)``: what
    `decode` gives, of which all but the labels and `n_unfinished` may be missing, or None where it takes the whole work
    or where a sequence has no finite score.
    """

    def decode(self, lattice: Lattice) -> Decoded:
        """Decode a batch; sequences without tokens get probability one."""
        ...


@dataclass
class DecodeResult:
    """Label sequences with their probability and what is proven about it.

    Attributes
    ----------
    labels : LabelSequences
        One list of labels a sequence.
    log_prob : ndarray of shape (n_sequences,)
        log P(labels | x), latent states summed out, for every decoder.
    upper_bound : ndarray of shape (n_sequences,)
        Log of a certified upper bound on the probability of any label sequence; 0.0 where no search was made.
    exact : ndarray of bool of shape (n_sequences,)
        Whether the labels are proven to be the most probable ones, up to rounding, whichever decoder found them.
    n_paths : ndarray of int64 of shape (n_sequences,)
        Latent paths taken (``"ldi_approx"``) or label sequences compared (``"mbr"``), else 0.
    n_expanded : ndarray of int64 of shape (n_sequences,)
        Nodes expanded by a search.
    seconds : float
        Time of the whole call.
    """

    labels: LabelSequences
    log_prob: np.ndarray
    upper_bound: np.ndarray
    exact: np.ndarray
    n_paths: np.ndarray
    n_expanded: np.ndarray
    seconds: float


def at_least_half(log_prob: np.ndarray) -> np.ndarray:
    """Whether a label sequence has half of the probability, so that no other can have more."""
    return log_prob >= _HALF
