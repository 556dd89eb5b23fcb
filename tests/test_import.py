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
    call = [sys.executable, "-c", "from sklearn_latent import LatentCRFTagger"]
    done = subprocess.run(call, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    message = f"ImportError: the kernels of sklearn_latent are not built in {folder}"
    assert done.stderr.splitlines()[-1].startswith(message)


def test_importing_loads_nothing_that_scikit_learn_has_not():
    # Of other packages nothing that scikit-learn's own base doesn't load; of ours nothing that a tagger can do without.
    program = """if True:
        import sys
        import numpy, scipy.sparse, scipy.optimize, sklearn.base, sklearn.utils.metaestimators
        before = set(sys.modules)
        from sklearn_latent import LatentCRFTagger
        new = set(sys.modules) - before
        known = {"sklearn_latent", "joblib", "threadpoolctl"} | sys.stdlib_module_names
        print(*sorted(name for name in new if name.partition(".")[0] not in known))
        parts = ("io", "datasets", "cli", "feature_extraction")
        print(*sorted(name for name in new if name.startswith(tuple(f"sklearn_latent.{part}" for part in parts))))
        from sklearn_latent.metrics import chunk_f1_scorer, make_chunk_scorer
        assert "sklearn.metrics" in sys.modules
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    others, ours = done.stdout.split("\n")[:2]
    # Cython keeps types that its modules share in a module of its own.
    assert [name for name in others.split() if not name.startswith("_cython")] == []
    assert ours.split() == []


def test_importing_the_package_alone_waits_for_nothing():
    program = """if True:
        import sys
        import sklearn_latent
        assert not {"numpy", "scipy", "sklearn"} & set(sys.modules)
        assert set(sklearn_latent.__all__) <= set(dir(sklearn_latent))
        assert not hasattr(sklearn_latent, "no_such_name")
        assert sklearn_latent.metrics.chunk_f1_score and sklearn_latent.exceptions.InexactDecodingWarning
        assert all(hasattr(sklearn_latent, name) for name in sklearn_latent.__all__)
        from sklearn_latent import *
        assert SequenceMatrix.__name__ == "SequenceMatrix"
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_name_of_the_metrics_is_there():
    metrics = sklearn_latent.metrics
    assert set(metrics.__all__) <= set(dir(metrics))
    assert all(callable(getattr(metrics, name)) for name in metrics.__all__)
    assert not hasattr(metrics, "no_such_score")
