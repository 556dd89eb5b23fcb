# SPDX-License-Identifier: BSD-3-Clause
"""Checks for estimators of sequences, as `sklearn.utils.estimator_checks` has them for tables.

scikit-learn's own `check_estimator` skips an estimator that takes no table, all but one check. These are the
counterparts on sequences of its checks that have one, and checks of what only sequences have.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..exceptions import InexactDecodingWarning
from ._checks.table import checks_for

__all__ = ["check_sequence_estimator", "parametrize_with_sequence_checks"]


def check_sequence_estimator(estimator, generate_only: bool = False):
    """Check that an estimator of sequences keeps the contract of this package and of scikit-learn.

    Parameters
    ----------
    estimator : estimator instance
        A tagger (has ``predict``), or a vectorizer or transformer (has ``transform``). Its constructor arguments are
        what is checked; clones of it are fitted, on corpora of a dozen short sequences. What input it takes
        is found by trying: numbers, feature dicts, lists of strings, words, tuples of columns, recordings.
    generate_only : bool, default=False
        Run nothing, and return an iterator of (estimator, check).

    Returns
    -------
    None or iterator of (estimator, callable)
        With `generate_only` the checks to run, each as ``check(estimator)``; a check is a `functools.partial`, whose
        ``func.__name__`` is its name.

    Raises
    ------
    Exception
        What the first check that fails raises, mostly an AssertionError. A note on it has the name of the check.

    See Also
    --------
    parametrize_with_sequence_checks : Each check as a test of pytest.
    sklearn.utils.estimator_checks.check_estimator : For estimators of tables.

    Notes
    -----
    Warnings about training that has not converged and about decoding without proof are silenced; seeds (every parameter
    called `random_state`) are set to 0. Two checks start Python processes.

    Examples
    --------
    >>> from sklearn_latent.feature_extraction import Window
    >>> from sklearn_latent.utils.estimator_checks import check_sequence_estimator
    >>> check_sequence_estimator(Window(before=2))
    """
    if isinstance(estimator, type):
        raise TypeError(f"an instance is checked, not a class: pass {estimator.__name__}()")
    pairs = _pairs(estimator)
    if generate_only:
        return pairs
    for _, check in pairs:
        try:
            check(estimator)
        except Exception as error:
            error.add_note(f"{check.func.__name__} of {type(estimator).__name__}")
            raise
    return None


def parametrize_with_sequence_checks(estimators: Iterable):
    """Decorator of pytest that runs a test for each check of each estimator.

    Parameters
    ----------
    estimators : iterable of estimator instances

    Returns
    -------
    pytest.mark.parametrize

    See Also
    --------
    check_sequence_estimator : All checks at once, without pytest.

    Examples
    --------
    >>> from sklearn_latent.feature_extraction import Window
    >>> from sklearn_latent.utils.estimator_checks import parametrize_with_sequence_checks
    >>> @parametrize_with_sequence_checks([Window(), Window(2, 0)])
    ... def test_window(estimator, check):
    ...     check(estimator)
    """
    import pytest

    pairs = [pair for estimator in estimators for pair in check_sequence_estimator(estimator, generate_only=True)]
    return pytest.mark.parametrize(("estimator", "check"), pairs, ids=_id)


def _pairs(estimator) -> Iterator[tuple[Any, functools.partial]]:
    for check in checks_for(estimator):
        yield estimator, functools.partial(_quiet(check), type(estimator).__name__)


def _quiet(check):
    @functools.wraps(check)
    def run(name: str, estimator) -> None:
        with warnings.catch_warnings():
            for category in (ConvergenceWarning, InexactDecodingWarning):
                warnings.simplefilter("ignore", category)
            check(name, estimator)

    return run


def _id(value) -> str:
    """Name of a test: the estimator as it prints, the check as it is called."""
    if isinstance(value, functools.partial):
        return value.func.__name__
    return " ".join(repr(value).split())
