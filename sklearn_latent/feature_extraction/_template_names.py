# SPDX-License-Identifier: BSD-3-Clause
"""Names of template features, made from ids when somebody asks for them.

A name is the literal text of the template with the strings filled in. Features are tuples, so two of them must not
get one name: ("a|b", "c") and ("a", "b|c") under the separator "|". Three rules keep names apart and leave ordinary
ones as they are:

- a string before a separator that contains the separator's first character, or ends in a backslash, has these
  characters escaped by backslashes;
- a word that looks like CRF++'s padding, ``_B-1``, gets a backslash in front where padding can occur;
- what is equal after all, which takes strange template texts, gets ``#2``, ``#3``, ... at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ._columns import ColumnCoder
from ._template_parser import PADDED, Template
from ._template_table import FeatureTable

__all__ = ["FeatureNames"]

LIKE_PADDING = re.compile(r"\\*_B[+-]\d+")


class FeatureNames:
    """Names of the columns, made when called; an object without closures, so that it pickles."""

    def __init__(self, templates: Sequence[Template], coder: ColumnCoder, table: FeatureTable):
        self.templates = templates
        self.coder = coder
        self.table = table

    def __call__(self) -> np.ndarray:
        """Object array of str of shape (n_features,)."""
        strings = [self.coder.strings(k) for k in range(len(self.coder.streams))]
        names: list[str] = []
        for t, template in enumerate(self.templates):
            keys = self.table.template_keys(t)
            streams = self.table.streams[self.table.item_ptr[t] : self.table.item_ptr[t + 1]]
            items = [_shown(keys[:, j], strings[stream], template, j) for j, stream in enumerate(streams)]
            names += _filled_in(template, items, len(keys))
        out = np.empty(len(names), dtype=object)
        out[:] = _made_unique(names)
        return out


def _shown(keys: np.ndarray, strings: list[str], template: Template, j: int) -> list[str]:
    """What item `j` of each feature looks like in a name."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    shown = []
    for key in distinct.tolist():
        if key < 0:
            text = f"_B-{-key // 2}" if key % 2 == 0 else f"_B+{(-key - 1) // 2}"
        else:
            text = strings[key]
            if template.kind == PADDED and LIKE_PADDING.fullmatch(text):
                text = "\\" + text
        if j < len(template.separators):
            text = _closed(text, template.separators[j][0])
        shown.append(text)
    return list(map(shown.__getitem__, inverse.tolist()))


def _closed(text: str, end: str) -> str:
    if end in text or text.endswith("\\"):
        text = text.replace("\\", "\\\\")
        if end != "\\":
            text = text.replace(end, "\\" + end)
    return text


def _filled_in(template: Template, items: list[list[str]], n: int) -> list[str]:
    if not items:
        return [template.prefix + template.suffix] * n
    literals = (*template.separators, template.suffix)
    names = [template.prefix + text + literals[0] for text in items[0]]
    for strings, literal in zip(items[1:], literals[1:], strict=True):
        names = [name + text + literal for name, text in zip(names, strings, strict=True)]
    return names


def _made_unique(names: list[str]) -> list[str]:
    taken = set(names)
    if len(taken) == len(names):
        return names
    seen: set[str] = set()
    out = []
    for name in names:
        if name in seen:
            name = next(other for other in _numbered(name) if other not in taken)
            taken.add(name)
        seen.add(name)
        out.append(name)
    return out


def _numbered(name: str) -> Iterator[str]:
    k = 2
    while True:
        yield f"{name}#{k}"
        k += 1
