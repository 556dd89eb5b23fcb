# SPDX-License-Identifier: BSD-3-Clause
"""The line search of Moré and Thuente (1994): a step of sufficient decrease and small enough slope.

For f(a) = objective(x + a d), the step a found satisfies (with MU = 1e-3, ETA = 0.9, the constants of L-BFGS-B)

    f(a) <= f(0) + MU a f'(0)      and      |f'(a)| <= ETA |f'(0)|.

The search keeps an interval that holds such steps, and takes the next trial step from cubics and parabolas through its
ends (their section 4); while no trial satisfied the first condition with a rising slope, it looks at
f(a) - f(0) - MU a f'(0) instead of f (their section 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["LineSearch"]

MU = 1e-3
ETA = 0.9
#: The search ends when the interval is this small relative to its upper end.
XTOL = 0.1
#: Largest step.
LARGEST = 1e10


@dataclass
class _End:
    """A step tried, the value and the slope there."""

    step: float
    value: float
    slope: float


class LineSearch:
    """Asks for one trial step after another.

    Parameters
    ----------
    value, slope : float
        f(0) and f'(0) < 0.
    step : float
        First step to try.
    """

    def __init__(self, value: float, slope: float, step: float):
        self.value, self.slope, self.step = value, slope, step
        self._best = _End(0.0, value, slope)
        self._other = _End(0.0, value, slope)
        self._bracketed = False
        self._first_stage = True
        self._width, self._width_before = LARGEST, 2.0 * LARGEST
        self._low, self._high = 0.0, 5.0 * step

    def accepts(self, value: float, slope: float) -> bool:
        """Take f and f' at `step`: True if it will do or rounding leaves nothing better, else `step` moves on."""
        step = self.step
        bound = self.value + MU * step * self.slope
        if self._first_stage and value <= bound and slope >= 0.0:
            self._first_stage = False
        outside = self._bracketed and (step <= self._low or step >= self._high)
        small = self._bracketed and self._high - self._low <= XTOL * self._high
        longest = step == LARGEST and value <= bound and slope <= MU * self.slope
        good = value <= bound and abs(slope) <= ETA * -self.slope
        if outside or small or longest or good:
            return True
        at = _End(step, value, slope)
        if self._first_stage and self._best.value >= value > bound:
            # With the line of sufficient decrease taken off, the lowest trial so far is better known.
            tilt = MU * self.slope
            ends = [_End(e.step, e.value - e.step * tilt, e.slope - tilt) for e in (self._best, self._other, at)]
            step = self._choose(*ends)
            best, other = self._updated(self._best, self._other, at, *ends)
        else:
            step = self._choose(self._best, self._other, at)
            best, other = self._updated(self._best, self._other, at, self._best, self._other, at)
        self._best, self._other = best, other
        if self._bracketed:
            if abs(other.step - best.step) >= 0.66 * self._width_before:
                step = best.step + 0.5 * (other.step - best.step)
            self._width_before, self._width = self._width, abs(other.step - best.step)
            self._low, self._high = min(best.step, other.step), max(best.step, other.step)
        else:
            self._low, self._high = step + 1.1 * (step - best.step), step + 4.0 * (step - best.step)
        if not math.isfinite(step):
            step = 0.5 * (best.step + other.step) if self._bracketed else self._high
        step = min(max(step, 0.0), LARGEST)
        outside = self._bracketed and (step <= self._low or step >= self._high)
        if outside or (self._bracketed and self._high - self._low <= XTOL * self._high):
            step = best.step
        self.step = step
        return False

    def _choose(self, best: _End, other: _End, at: _End) -> float:
        """The next step, by the four cases of their section 4; notes when the interval has two ends."""
        opposite = at.slope * math.copysign(1.0, best.slope) < 0.0 if best.slope else False
        if at.value > best.value:
            # Higher: there is a minimum between. The cubic's is used where it is nearer than the parabola's.
            theta, gamma = _cubic(best, at)
            if at.step < best.step:
                gamma = -gamma
            ratio = _ratio((gamma - best.slope) + theta, ((gamma - best.slope) + gamma) + at.slope)
            cubic = best.step + ratio * (at.step - best.step)
            fall = (best.value - at.value) / (at.step - best.step) + best.slope
            parabola = best.step + _ratio(best.slope, fall) / 2.0 * (at.step - best.step)
            near = abs(cubic - best.step) <= abs(parabola - best.step)
            self._bracketed = True
            return cubic if near else cubic + (parabola - cubic) / 2.0
        secant = math.nan
        if at.slope != best.slope:
            secant = at.step + at.slope / (at.slope - best.slope) * (best.step - at.step)
        if opposite:
            # Lower, with a slope of the other sign: there is a minimum between. The farther one from here is used.
            theta, gamma = _cubic(best, at)
            if at.step > best.step:
                gamma = -gamma
            ratio = _ratio((gamma - at.slope) + theta, ((gamma - at.slope) + gamma) + best.slope)
            cubic = at.step + ratio * (best.step - at.step)
            self._bracketed = True
            return cubic if abs(cubic - at.step) > abs(secant - at.step) else secant
        if abs(at.slope) < abs(best.slope):
            # Lower and flatter: the cubic may have no minimum beyond, or fall for ever.
            theta, gamma = _cubic(best, at)
            if at.step > best.step:
                gamma = -gamma
            ratio = _ratio((gamma - at.slope) + theta, (gamma + (best.slope - at.slope)) + gamma)
            if ratio < 0.0 and gamma != 0.0:
                cubic = at.step + ratio * (best.step - at.step)
            else:
                cubic = self._high if at.step > best.step else self._low
            if self._bracketed:
                step = cubic if abs(cubic - at.step) < abs(secant - at.step) else secant
                limit = at.step + 0.66 * (other.step - at.step)
                return min(limit, step) if at.step > best.step else max(limit, step)
            step = cubic if abs(cubic - at.step) > abs(secant - at.step) else secant
            return max(self._low, min(self._high, step))
        # Lower and no flatter: on to the other end, or as far as allowed.
        if self._bracketed:
            theta, gamma = _cubic(other, at)
            if at.step > other.step:
                gamma = -gamma
            ratio = _ratio((gamma - at.slope) + theta, ((gamma - at.slope) + gamma) + other.slope)
            return at.step + ratio * (other.step - at.step)
        return self._high if at.step > best.step else self._low

    @staticmethod
    def _updated(best: _End, other: _End, at: _End, seen_best: _End, seen_other: _End, seen: _End) -> tuple[_End, _End]:
        """The ends of the interval after a trial, judged by the values seen (tilted or not)."""
        if seen.value > seen_best.value:
            return best, at
        if seen.slope * math.copysign(1.0, seen_best.slope) < 0.0 and seen_best.slope:
            return at, best
        return at, other


def _cubic(a: _End, b: _End) -> tuple[float, float]:
    """Theta and gamma of the cubic through two ends, scaled against overflow; gamma is 0 where it has no minimum."""
    theta = 3.0 * (a.value - b.value) / (b.step - a.step) + a.slope + b.slope
    scale = max(abs(theta), abs(a.slope), abs(b.slope)) or 1.0
    return theta, scale * math.sqrt(max(0.0, (theta / scale) ** 2 - (a.slope / scale) * (b.slope / scale)))


def _ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom else math.nan
