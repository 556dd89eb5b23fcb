# SPDX-License-Identifier: BSD-3-Clause
"""Comparing models."""

import numpy as np

__all__ = ["DECODERS", "assert_same_marginals", "assert_same_weights"]

DECODERS = ["ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"]


def assert_same_weights(a: list, b: list, *, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Compare all weights of two models."""
    for own, other in zip(a, b, strict=True):
        np.testing.assert_allclose(own, other, rtol=rtol, atol=atol)


def assert_same_marginals(a, b, data, *, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Compare what two models say of a corpus."""
    for own, other in zip(a.predict_marginals(data), b.predict_marginals(data), strict=True):
        np.testing.assert_allclose(own, other, rtol=rtol, atol=atol)
