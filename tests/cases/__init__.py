# SPDX-License-Identifier: BSD-3-Clause
"""What went wrong for users of other sequence labellers, each case reduced to tiny inputs: G01 to G40.

The taggers' cases run for both of them. The halves that concern vectorizers alone are in ``tests/feature_extraction``.
"""
