# SPDX-License-Identifier: BSD-3-Clause
"""Copies of a fitted estimator answer with the same bits: pickles of every kind, memory maps, other processes."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import tempfile
from importlib.machinery import PathFinder
from pathlib import Path

import joblib

from .corpora import main_corpora
from .tools import Job, answers, assert_same, fitted

__all__ = ["common"]


def _assert_copies(name: str, estimator, how: str, *duplicates) -> None:
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        expected = answers(est, corpus.X, corpus.y)
        for duplicate in duplicates:
            twin = duplicate(est)
            assert type(twin) is type(est) and twin is not est, f"{name}: a copy by {how} is a {type(twin).__name__}"
            assert_same(answers(twin, corpus.X, corpus.y), expected, f"{name} copied by {how}: ")
            assert vars(twin).keys() == vars(est).keys(), f"{name}: a copy by {how} has other attributes"
        other = corpus.part([0, 3, 5])
        twin.fit(other.X, other.y)
        assert_same(answers(est, corpus.X, corpus.y), expected, f"{name} after a fit of its copy by {how}: ")


def check_pickle(name, estimator):
    """By every protocol of pickle that is in use."""
    protocols = range(2, pickle.HIGHEST_PROTOCOL + 1)
    _assert_copies(
        name, estimator, "pickle", *(lambda est, p=p: pickle.loads(pickle.dumps(est, protocol=p)) for p in protocols)
    )


def check_deepcopy(name, estimator):
    """A deep copy shares nothing with the original that `fit` would change."""
    _assert_copies(name, estimator, "deepcopy", copy.deepcopy)


def check_cloudpickle(name, estimator):
    """By cloudpickle, as joblib's workers get classes of scripts."""
    _assert_copies(name, estimator, "cloudpickle", lambda est: pickle.loads(_cloudpickle().dumps(est)))


def _cloudpickle():
    """The package, or the copy that earlier versions of joblib bring along."""
    try:
        import cloudpickle
    except ImportError:
        from joblib.externals import cloudpickle
    return cloudpickle


def check_joblib(name, estimator):
    """By joblib, compressed."""

    def duplicate(est):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.joblib")
            joblib.dump(est, path, compress=True)
            return joblib.load(path)

    _assert_copies(name, estimator, "joblib", duplicate)


def check_readonly_memmap(name, estimator):
    """Weights that lie in a file and can't be written to, as joblib's workers get them."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(1000))

        def duplicate(est):
            path = os.path.join(folder, f"model{next(numbers)}.joblib")
            joblib.dump(est, path)
            return joblib.load(path, mmap_mode="r")

        _assert_copies(name, estimator, "joblib with a memory map", duplicate)


#: What another process does: it answers by the model that it is given, fits once more, and answers by its own.
_PROCESS = """
import pickle, sys, warnings
sys.path[:] = pickle.loads(bytes.fromhex(sys.argv[2]))
warnings.simplefilter("ignore")
with open(sys.argv[1], "rb") as file:
    jobs = pickle.load(file)
found = [job() for job in jobs]
with open(sys.argv[1], "wb") as file:
    pickle.dump(found, file)
"""


def check_other_processes(name, estimator):
    """Another process, hash seed and number of BLAS threads: same bits of a loaded model and of one trained there."""
    jobs = [Job(fitted(estimator, corpus), corpus.X, corpus.y) for corpus in main_corpora(estimator)]
    expected = [job() for job in jobs]
    # Ours is a random seed unless it is set: then another one.
    environment = {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    environment |= {f"{blas}_NUM_THREADS": "1" for blas in ("OPENBLAS", "OMP", "MKL")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs"
        path.write_bytes(_dumped(jobs, estimator))
        done = subprocess.run(
            [sys.executable, "-c", _PROCESS, str(path), pickle.dumps(sys.path).hex()],
            env={**os.environ, **environment}, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{name} in another process: {done.stderr}"
        found = pickle.loads(path.read_bytes())
    assert_same(found, expected, f"{name} in a process with {environment}: ")


def _dumped(jobs, estimator) -> bytes:
    """Pickled so that another process can read it, also if the class comes from a script or a test."""
    cloudpickle = _cloudpickle()
    module = sys.modules.get(type(estimator).__module__)
    # Asked of the path: what is imported here may have come by another way, as tests do.
    if module is None or PathFinder.find_spec(module.__name__.split(".")[0]) is not None:
        return cloudpickle.dumps(jobs)
    cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps(jobs)
    finally:
        cloudpickle.unregister_pickle_by_value(module)


common = [
    check_pickle,
    check_deepcopy,
    check_cloudpickle,
    check_joblib,
    check_readonly_memmap,
    check_other_processes,
]
