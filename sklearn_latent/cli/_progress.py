# SPDX-License-Identifier: BSD-3-Clause
"""Live progress of training, and stopping it by Ctrl-C without losing the model."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

import click

__all__ = ["Progress", "iterations_left", "stoppable", "terminal_bar"]

#: Iterations over which L-BFGS looks for a fall of the objective.
_PERIOD = 10
#: Seconds between lines where there is no terminal to write over.
_PAUSE = 5.0
_FIRST_LINES = 3


def iterations_left(curve: list[float], tol: float, most: int) -> tuple[int, bool]:
    """How many iterations of L-BFGS are to come.

    The relative fall of the objective over ten iterations goes on shrinking as it did between the last ten and the ten
    before, until it is below `tol`.

    Parameters
    ----------
    curve : list of float
        Objective after each iteration.
    tol : float
    most : int
        Iterations that are still allowed.

    Returns
    -------
    (int, bool)
        The number, and whether it is an estimate rather than just `most`.
    """
    if len(curve) <= 2 * _PERIOD or tol <= 0:
        return most, False
    before, now = (
        (curve[k - _PERIOD] - curve[k]) / max(abs(curve[k]), 1e-300) for k in (len(curve) - 1 - _PERIOD, len(curve) - 1)
    )
    if not 0 < now < before:
        return most, False
    left = _PERIOD * math.log(max(now / tol, 1.0)) / math.log(before / now)
    return min(most, math.ceil(left)), True


def terminal_bar(**options):
    """A bar on the standard error, gone when it is closed."""
    from tqdm import tqdm

    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        width = 0
    # Some terminals say that they have neither width nor height.
    return tqdm(file=sys.stderr, leave=False, ncols=width or 80, nrows=20, **options)


class Progress:
    """Shows each iteration on the standard error, and stops training once it is asked to.

    It is the callback of the tagger, which must not change meanwhile.

    Parameters
    ----------
    tagger : estimator
    quiet : bool
    """

    def __init__(self, tagger, quiet: bool):
        self.stop = False
        self._tagger = tagger
        self._live = not quiet and sys.stderr.isatty()
        self._quiet = quiet
        self._curve: list[float] = []
        self._start = 0
        self._shown = -math.inf
        self._bar = None

    def __enter__(self) -> Progress:
        if self._live:
            self._bar = terminal_bar(bar_format="{desc}")
        return self

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, info) -> bool:
        """Take in an iteration; True stops."""
        if info.n_iter == 1:  # of the first start or of another one
            self._curve = []
            self._start += 1
        self._curve.append(info.objective)
        if self._bar is not None:
            self._bar.set_description_str(self._line(info))
        elif not self._quiet and (info.n_iter <= _FIRST_LINES or time.monotonic() - self._shown >= _PAUSE):
            self._shown = time.monotonic()
            click.echo(self._line(info), err=True)
        return self.stop

    def _line(self, info) -> str:
        tagger = self._tagger
        most = tagger.max_iter - info.n_iter
        left, estimated = most, False
        if tagger.solver == "lbfgs":
            left, estimated = iterations_left(self._curve, tagger.tol, most)
        seconds = left * info.seconds / info.n_iter
        start = f"start {self._start} of {tagger.n_init}  " if tagger.n_init > 1 else ""
        return (
            f"{start}iteration {info.n_iter}  objective {info.objective:.6g}  largest gradient {info.grad_norm:.3g}  "
            f"{_clock(info.seconds)}, {'about' if estimated else 'at most'} {_clock(seconds)} left"
        )


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


@contextlib.contextmanager
def stoppable(progress: Progress) -> Iterator[None]:
    """Ctrl-C asks `progress` to stop training after the iteration; a second one interrupts at once."""
    if threading.current_thread() is not threading.main_thread():  # only there signals can be handled
        yield
        return

    def ask(*_) -> None:
        if progress.stop:
            raise KeyboardInterrupt
        progress.stop = True
        # Not through a stream, which may be in the middle of a line of progress.
        os.write(2, b"\nstopping after this iteration, the model so far is kept; Ctrl-C again gives it up\n")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
