# SPDX-License-Identifier: BSD-3-Clause
"""Which checks apply to an estimator."""

from __future__ import annotations

from collections.abc import Callable

from . import copies, fitting, forms, lengths, parameters, refusals, search, taggers, threads, transformers, weights

__all__ = ["checks_for"]

_MODULES = (parameters, fitting, lengths, forms, refusals, copies, threads, taggers, weights, search, transformers)


def checks_for(estimator) -> list[Callable]:
    """The checks that apply to an estimator."""
    wanted = ["common"]
    wanted += ["of_taggers"] if hasattr(estimator, "predict") else []
    wanted += ["of_transformers"] if hasattr(estimator, "transform") else []
    return [check for module in _MODULES for kind in wanted for check in getattr(module, kind, ())]
