# SPDX-License-Identifier: BSD-3-Clause
"""The checks, a file a theme.

A check is a function ``check(name, estimator)`` that raises if the estimator does not hold. It gets an instance that it
must not touch: it fits clones. Those in `common` lists are for every estimator of sequences, the others for what has
``predict`` (taggers) or ``transform`` (vectorizers and transformers).

`table` lists them, `corpora` has the data, `tools` what all checks share.
"""
