# SPDX-License-Identifier: BSD-3-Clause
"""Solvers; they know a function and a vector, and no model."""

from .lbfgs import minimize_lbfgs
from .report import IterationInfo, Report, Result, Watch
from .stochastic import STEPPERS, Stepper, minimize_stochastic

__all__ = [
    "STEPPERS",
    "IterationInfo",
    "Report",
    "Result",
    "Stepper",
    "Watch",
    "minimize_lbfgs",
    "minimize_stochastic",
]
