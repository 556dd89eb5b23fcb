# SPDX-License-Identifier: BSD-3-Clause
"""Every private scikit-learn name that the package uses, and every branch on a version."""

from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "_BaseComposition",
    "_check_sample_weight",
    "_fit_context",
    "validate_parameter_constraints",
]
