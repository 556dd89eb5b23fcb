# SPDX-License-Identifier: BSD-3-Clause
"""Every private name of scikit-learn that we use, imported in one place."""

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, InvalidParameterError, Options, StrOptions

__all__ = ["Interval", "InvalidParameterError", "Options", "StrOptions", "_fit_context"]
