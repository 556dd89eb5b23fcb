# SPDX-License-Identifier: BSD-3-Clause
"""For developers of estimators: `estimator_checks`, the battery of checks on sequences."""
