# SPDX-License-Identifier: BSD-3-Clause
"""The parts of ``python -m benchmarks.reproduce_spn``: data and splits, models, runs, the page."""
