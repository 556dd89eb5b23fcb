# SPDX-License-Identifier: BSD-3-Clause
"""Holding Python's search for reference cycles while a large corpus is made of lists."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_cycle_search"]


class _Hold:
    """Counts the callers inside; the first switches the search off, the last switches it on if it was on."""

    def __init__(self):
        self.lock = threading.Lock()
        self.inside = 0
        self.was_on = False

    def enter(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.was_on = gc.isenabled()
                gc.disable()
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0 and self.was_on:
                gc.enable()


_hold = _Hold()


@contextmanager
def no_cycle_search() -> Iterator[None]:
    """Make no search for reference cycles meanwhile.

    Each search walks over every list there is, again and again while a corpus grows, and took up to half of the time of
    reading one; lists of strings have no cycles. Not for blocks that run code of users, who may rely on the search.
    """
    _hold.enter()
    try:
        yield
    finally:
        _hold.leave()
