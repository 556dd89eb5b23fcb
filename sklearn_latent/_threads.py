# SPDX-License-Identifier: BSD-3-Clause
"""Cutting a corpus into chunks and blocks, mapping them over threads, and holding BLAS to one thread.

Cuts depend on the data only, never on the number of threads, and results come back in order: that is
what makes sums the same bits for any ``n_jobs``.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["Workers", "collector_paused", "cut_by_tokens", "cut_evenly", "one_blas_thread"]

#: Tokens of one block: enough to drown the cost of a call, few enough to share among threads.
BLOCK_TOKENS = 8192
#: Bytes of the largest array of one chunk; work buffers stay of this order however long the corpus.
CHUNK_BYTES = 1 << 24


def cut_by_tokens(lengths: np.ndarray, max_tokens: int) -> list[tuple[int, int]]:
    """Ranges of consecutive sequences with about `max_tokens` tokens each, at least one sequence."""
    ranges, start, total = [], 0, 0
    for i, length in enumerate(lengths.tolist()):
        if total and total + length > max_tokens:
            ranges.append((start, i))
            start, total = i, 0
        total += length
    if start < len(lengths):
        ranges.append((start, len(lengths)))
    return ranges


def cut_evenly(lengths: np.ndarray, max_tokens: int, multiple: int = 1) -> list[tuple[int, int]]:
    """Ranges of consecutive sequences with about equal numbers of tokens, so that none makes the others wait.

    Parameters
    ----------
    lengths : ndarray of int of shape (n_sequences,)
    max_tokens : int
        Tokens of a range, but for half a sequence more at either end.
    multiple : int, default=1
        The number of ranges is a multiple of this, if there are sequences enough and a quarter of `max_tokens` or more.
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    n_ranges = -(-total // max_tokens)
    if 4 * total >= max_tokens:
        n_ranges = -(-n_ranges // multiple) * multiple
    n_ranges = max(1, n_ranges)
    # The cut nearest to each of the places where equal shares would end.
    middles = ends - lengths / 2
    cuts = np.searchsorted(middles, np.arange(1, n_ranges) * (total / n_ranges))
    cuts = np.unique(np.concatenate([[0], cuts, [len(lengths)]])).tolist()
    return list(zip(cuts[:-1], cuts[1:], strict=True))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Hold Python's cycle collector while many lists are made.

    They hold no cycles, and it would go through all of them again and again as they grow more.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Workers:
    """Threads that map a function over tasks, results in order.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib: None is 1 unless a joblib context says otherwise, -1 all processors.
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_threads = max(1, effective_n_jobs(n_jobs))
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *exception) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, f: Callable, tasks: Iterable) -> Iterator:
        """Yield ``f(task)`` in the order of `tasks`; few results wait at a time, so memory stays bounded."""
        if self._pool is None:
            yield from map(f, tasks)
            return
        waiting: deque = deque()
        for task in tasks:
            waiting.append(self._pool.submit(f, task))
            if len(waiting) > 2 * self.n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _BlasLimit:
    """Counts the callers inside; the first sets the limit, the last lifts it (the limit is process-wide).

    A thread of its own holds the limit: callers may leave in any order, and threadpoolctl (from 3.8) lets nobody but
    the thread that set a limit lift it.
    """

    def __init__(self):
        self._reset()
        # A forked child starts with nobody inside, whatever its parent was doing.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.scanned: tuple[int, ThreadpoolController] | None = None
        self.controller: ThreadpoolController | None = None
        self.holder: threading.Thread | None = None
        self.last_left: threading.Event | None = None

    def enter(self) -> ThreadpoolController:
        with self.lock:
            if self.inside == 0:
                self.controller, self.last_left, held = self._libraries(), threading.Event(), threading.Event()
                self.holder = threading.Thread(
                    target=self._hold, args=(self.controller, held, self.last_left), daemon=True
                )
                self.holder.start()
                held.wait()
            self.inside += 1
            return self.controller

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.last_left.set()
                self.holder.join()
                self.controller = self.holder = self.last_left = None

    def _libraries(self) -> ThreadpoolController:
        """The BLAS libraries loaded. To look for them takes most of the time of a small `predict`, and another one can
        only have come with a module, so it is done again when there are more modules than last time.
        """
        n_modules = len(sys.modules)
        if self.scanned is None or self.scanned[0] != n_modules:
            self.scanned = (n_modules, ThreadpoolController())
        return self.scanned[1]

    @staticmethod
    def _hold(controller: ThreadpoolController, held: threading.Event, last_left: threading.Event) -> None:
        try:
            with controller.limit(limits=1, user_api="blas"):
                held.set()
                last_left.wait()
        finally:
            held.set()


_limit = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while any caller is inside: its sums depend on the number of its threads."""
    controller = _limit.enter()
    try:
        # Where BLAS runs on OpenMP the limit is each thread's own.
        with controller.limit(limits=1, user_api="blas"):
            yield
    finally:
        _limit.leave()
