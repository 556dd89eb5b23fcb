# SPDX-License-Identifier: BSD-3-Clause
"""Threads: any `n_jobs` gives the same bits, and one model may be asked by many threads at once."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from .corpora import main_corpora
from .tools import answers, assert_same, fitted, prepared

__all__ = ["common"]

#: Copies of the corpus that make a batch large enough to be cut.
_COPIES = 300
_THREADS = 8
#: Methods that cut a batch; those that search one sequence after the other take long.
_IN_PARTS = ("predict", "predict_marginals", "log_likelihood", "transform")


def check_n_jobs(name, estimator):
    """The same bits for any number of threads, from `fit` and from every method."""
    params = estimator.get_params(deep=False)
    if "n_jobs" not in params:
        return
    few = {"max_iter": 2} if "max_iter" in params else {}
    corpus = main_corpora(estimator)[0]
    X, y = corpus.X * _COPIES, corpus.y * _COPIES
    expected = None
    for n_jobs in (None, 2, -1):
        est = prepared(estimator, n_jobs=n_jobs, **few).fit(X, y)
        found = answers(est, X, y, [m for m in _IN_PARTS if hasattr(est, m)])
        expected = found if expected is None else expected
        assert_same(found, expected, f"{name} with n_jobs={n_jobs}: ")


def check_threads(name, estimator):
    """Eight threads that ask one model about different sequences get what one thread gets."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        parts = [corpus.part([k, (k + 3) % 12, 11 - k]) for k in range(_THREADS)]
        expected = [answers(est, part.X, part.y) for part in parts]
        start = Barrier(_THREADS, timeout=60)

        def ask(k: int, est=est, parts=parts, start=start) -> list[dict]:
            start.wait()
            return [answers(est, parts[k].X, parts[k].y) for _ in range(4)]

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # so that threads meet in the middle of things
        try:
            with ThreadPoolExecutor(_THREADS) as pool:
                found = list(pool.map(ask, range(_THREADS)))
        finally:
            sys.setswitchinterval(interval)
        for own, right in zip(found, expected, strict=True):
            for answer in own:
                assert_same(answer, right, f"{name} asked by {_THREADS} threads: ")


def check_threads_that_fit(name, estimator):
    """Estimators that are fitted at the same time don't know of each other."""
    for corpus in main_corpora(estimator):
        parts = [corpus.part([k, k + 5]) for k in range(4)]
        expected = [answers(fitted(estimator, part), part.X, part.y) for part in parts]
        clones = [prepared(estimator) for _ in parts]
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(lambda est, part: est.fit(part.X, part.y), clones, parts))
        for est, part, right in zip(clones, parts, expected, strict=True):
            assert_same(answers(est, part.X, part.y), right, f"{name} fitted beside others: ")


common = [check_n_jobs, check_threads, check_threads_that_fit]
