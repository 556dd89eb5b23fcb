# SPDX-License-Identifier: BSD-3-Clause
"""Solvers; they know a function and a vector, and no model."""

from .lbfgs import minimize_lbfgs
from .report import IterationInfo, Report, Result

__all__ = ["IterationInfo", "Report", "Result", "minimize_lbfgs"]
