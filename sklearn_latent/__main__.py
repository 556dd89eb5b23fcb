# SPDX-License-Identifier: BSD-3-Clause
"""``python -m sklearn_latent`` is the command ``sklearn-latent``."""

import sys

from .cli import main

sys.exit(main())
