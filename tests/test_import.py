# SPDX-License-Identifier: BSD-3-Clause
"""What somebody meets who imports the package from a checkout that was not built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import sklearn_latent


def test_sources_without_kernels_say_so(tmp_path):
    folder = tmp_path / "sklearn_latent"
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "data")
    shutil.copytree(Path(sklearn_latent.__file__).parent, folder, ignore=ignored)
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    call = [sys.executable, "-c", "import sklearn_latent"]
    done = subprocess.run(call, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    message = f"ImportError: the kernels of sklearn_latent are not built in {folder}"
    assert done.stderr.splitlines()[-1].startswith(message)
