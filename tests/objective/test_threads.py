# SPDX-License-Identifier: BSD-3-Clause
"""Cuts that depend on data only, results in order, errors that come through."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from sklearn_latent._threads import Workers, cut_by_tokens, cut_evenly, one_blas_thread


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 60))
def test_cuts_cover_everything_once_within_the_limit(lengths, limit):
    cuts = cut_by_tokens(np.array(lengths, dtype=np.int64), limit)
    assert [i for first, last in cuts for i in range(first, last)] == list(range(len(lengths)))
    for first, last in cuts:
        assert first < last
        # At least one sequence, and otherwise no more tokens than asked for.
        assert sum(lengths[first:last]) <= limit or sum(n > 0 for n in lengths[first:last]) == 1


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 200), st.sampled_from([1, 4]))
def test_even_cuts_cover_everything_once(lengths, limit, multiple):
    cuts = cut_evenly(np.array(lengths, dtype=np.int64), limit, multiple)
    assert [i for first, last in cuts for i in range(first, last)] == list(range(len(lengths)))
    share = min(limit, max(1, sum(lengths)))
    for first, last in cuts:
        # A share, and half a sequence more at either end.
        assert first < last and sum(lengths[first:last]) <= share + max(lengths)


def test_even_cuts_are_even():
    lengths = np.random.default_rng(0).integers(1, 40, 1000)
    for limit, multiple in [(1000, 4), (7000, 1), (30_000, 4), (50_000, 4)]:
        sizes = [int(lengths[a:b].sum()) for a, b in cut_evenly(lengths, limit, multiple)]
        assert max(sizes) - min(sizes) <= 80 and len(sizes) % multiple == 0


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_results_come_in_order(n_jobs):
    with Workers(n_jobs) as workers:
        # Later tasks are the faster ones.
        assert list(workers.map(lambda k: (time.sleep(0.002 * (5 - k % 5)), k)[1], range(23))) == list(range(23))
        assert list(workers.map(str, [])) == []


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_errors_come_through(n_jobs):
    def fail(k):
        if k == 3:
            raise KeyError(k)
        return k

    with Workers(n_jobs) as workers, pytest.raises(KeyError, match="3"):
        list(workers.map(fail, range(10)))


def test_tasks_are_not_drawn_long_before_their_results_are_wanted():
    drawn = []

    def tasks():
        for k in range(1000):
            drawn.append(k)
            yield k

    with Workers(2) as workers:
        results = workers.map(lambda k: k, tasks())
        next(results)
        assert len(drawn) < 20
        results.close()


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_is_held_to_one_thread_while_anyone_is_inside():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=other)
    with one_blas_thread():
        assert set(blas_threads()) <= {1}
        thread.start()
        assert inside.wait(5)
    assert set(blas_threads()) <= {1}, "the first to leave lifted the limit of the other"
    leave.set()
    thread.join()
    assert blas_threads() == before
    with pytest.raises(RuntimeError), one_blas_thread():
        raise RuntimeError
    assert blas_threads() == before
