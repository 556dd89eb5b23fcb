# SPDX-License-Identifier: BSD-3-Clause
"""The parts of ``python -m benchmarks.reproduce_ldi``: corpora, runs, tests of significance, the page."""
