# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: ours and the peers in one sitting. ``python -m benchmarks --help``."""
