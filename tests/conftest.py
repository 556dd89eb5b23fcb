# SPDX-License-Identifier: BSD-3-Clause
"""For all tests."""

import os

# Processes that tests start must import the installed package, too, and not the checkout they may be started in, which
# has no compiled kernels: no folder gets onto their path by being the current one.
os.environ["PYTHONSAFEPATH"] = "1"
