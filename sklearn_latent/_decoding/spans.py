# SPDX-License-Identifier: BSD-3-Clause
"""The probability that exactly a given chunk is present, for every labelling scheme.

A chunk (start, stop, type) is present when the labels inside spell it and its neighbours don't extend it: in IOB2 the
labels ``B-type, I-type, ...`` at its tokens, and no ``I-type`` after. That is a window of label sets, at most a token
wider than the chunk on either side. Its probability is the mass of the paths through the window: forward sums up to the
window, a forward pass inside it with the sets as masks, backward sums from its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._lattice import Lattice
from ..metrics._chunks import SCHEMES

__all__ = ["Span", "SpanReader"]

Span = tuple[int, int, str]

#: Rows of windows put into one batch.
_BATCH_ROWS = 8192


@dataclass(frozen=True)
class _Window:
    """Label sets of one way in which a chunk may be spelled; None: the neighbour may be anything."""

    before: np.ndarray | None
    inside: list[np.ndarray]
    after: np.ndarray | None
    needs_before: bool = False
    needs_after: bool = False


class SpanReader:
    """Reads chunks of one scheme off a model's labels.

    Parameters
    ----------
    classes : list of str
        Labels, in the order of their ids.
    scheme : str
        Key of `SCHEMES`.

    Raises
    ------
    ValueError
        If a label has no place in the scheme; it is named.
    """

    def __init__(self, classes: list[str], scheme: str):
        self.scheme = scheme
        self.n_labels = len(classes)
        self.code = {}
        for k, label in enumerate(classes):
            prefix, _, kind = label.partition("-") if isinstance(label, str) else ("", "", "")
            if label == "O":
                continue
            if len(prefix) != 1 or prefix not in SCHEMES[scheme].prefixes:
                raise ValueError(f"label {label!r} is no chunk label of scheme {scheme!r}")
            self.code[prefix, kind] = k

    def log_prob(self, lattice: Lattice, spans: list[list[Span]]) -> list[np.ndarray]:
        """log P(exactly this span is present) of each span of each sequence of the lattice."""
        forward, backward, log_sum = lattice.messages()
        owner, windows, target = [], [], []
        out = [np.full(len(found), -np.inf) for found in spans]
        for i, found in enumerate(spans):
            n_tokens = int(lattice.offsets[i + 1] - lattice.offsets[i])
            for k, (start, stop, kind) in enumerate(found):
                for window in self._windows(kind, stop - start):
                    if (window.needs_before and start == 0) or (window.needs_after and stop == n_tokens):
                        continue
                    owner.append(i)
                    target.append(k)
                    windows.append(_rows_of(window, start, stop, n_tokens, int(lattice.offsets[i])))
        first = 0
        while first < len(windows):
            last, rows = first, 0
            while last < len(windows) and (last == first or rows + len(windows[last][0]) <= _BATCH_ROWS):
                rows += len(windows[last][0])
                last += 1
            sums = _window_sums(lattice, windows[first:last], forward, backward)
            for j, value in enumerate(sums, first):
                i, k = owner[j], target[j]
                out[i][k] = np.logaddexp(out[i][k], min(0.0, value - log_sum[i]))
            first = last
        return [np.minimum(values, 0.0) for values in out]

    def _set(self, kind: str, *prefixes: str) -> np.ndarray:
        """Labels of a type with one of some prefixes, bool of shape (n_labels,)."""
        out = np.zeros(self.n_labels, dtype=bool)
        out[[self.code[p, kind] for p in prefixes if (p, kind) in self.code]] = True
        return out

    def _windows(self, kind: str, length: int) -> list[_Window]:
        """The ways to spell a chunk of a type and length; they exclude one another."""
        inner = [self._set(kind, "I")] * (length - 1)
        of = self._set
        if self.scheme == "io":
            return [_Window(~of(kind, "I"), [*inner, of(kind, "I")], ~of(kind, "I"))]
        if self.scheme == "iob2":
            return [_Window(None, [of(kind, "B"), *inner], ~of(kind, "I"))]
        if self.scheme == "ioe2":
            return [_Window(~of(kind, "I"), [*inner, of(kind, "E")], None)]
        both = of(kind, "B", "I") if self.scheme == "iob1" else of(kind, "E", "I")
        if self.scheme == "iob1":  # B only where the chunk before is of the same type
            return [
                _Window(both, [of(kind, "B"), *inner], ~of(kind, "I"), needs_before=True),
                _Window(~both, [of(kind, "I"), *inner], ~of(kind, "I")),
            ]
        if self.scheme == "ioe1":  # E only where the chunk after is of the same type
            return [
                _Window(~of(kind, "I"), [*inner, of(kind, "E")], both, needs_after=True),
                _Window(~of(kind, "I"), [*inner, of(kind, "I")], ~both),
            ]
        end, single = ("E", "S") if self.scheme == "iobes" else ("L", "U")
        if length == 1:
            return [_Window(None, [of(kind, single)], None)]
        return [_Window(None, [of(kind, "B"), *inner[1:], of(kind, end)], None)]


def _rows_of(window: _Window, start: int, stop: int, n_tokens: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the lattice that a window covers, and the labels allowed in each."""
    sets = list(window.inside)
    if window.before is not None and start > 0:
        sets.insert(0, window.before)
        start -= 1
    if window.after is not None and stop < n_tokens:
        sets.append(window.after)
        stop += 1
    return np.arange(offset + start, offset + stop), np.array(sets)


def _window_sums(lattice: Lattice, windows: list, forward: np.ndarray, backward: np.ndarray) -> np.ndarray:
    """Log of the summed weight of the paths through each window."""
    top = lattice.topology
    lengths = [len(rows) for rows, _ in windows]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.concatenate([rows for rows, _ in windows])
    allowed = np.concatenate([sets for _, sets in windows])[:, top.state_label]
    node = lattice.node[rows]
    node[offsets[:-1]] = forward[rows[offsets[:-1]]]
    node[offsets[1:] - 1] += backward[rows[offsets[1:] - 1]]
    node[~allowed] = -np.inf
    arc = lattice.arc[rows] if lattice.arc_rows_differ else lattice.arc
    return Lattice(top, node, arc, offsets).log_sum()
