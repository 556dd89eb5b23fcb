# SPDX-License-Identifier: BSD-3-Clause
"""Warnings and errors of this package.

Wrong kinds are ``TypeError``, wrong values are ``ValueError`` or a subclass, and what scikit-learn
already names (``NotFittedError``, ``ConvergenceWarning``, ``InvalidParameterError``) keeps its name.
"""

from sklearn.exceptions import ConvergenceWarning, NotFittedError

__all__ = ["ConvergenceWarning", "InexactDecodingWarning", "ModelTooLargeError", "NotFittedError"]


class InexactDecodingWarning(UserWarning):
    """A decoder that promises the most probable sequence gave its best find without the proof."""


class ModelTooLargeError(ValueError):
    """The model asked for can't be allocated; the message estimates its size and says what shrinks it."""
