# SPDX-License-Identifier: BSD-3-Clause
"""Labelled sequences of several files, and where each of them came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from ._files import Layout, located, read_parts

__all__ = ["LabelledCorpus", "read_corpus"]


@dataclass
class LabelledCorpus:
    """Sequences with their labels.

    Attributes
    ----------
    X : list of lists of tokens
    y : LabelSequences
    documents : list of int
        Number of the document of each sequence; no document goes on in another file.
    width : int
        Columns of a token beside its label.
    """

    X: list[list]
    y: list
    documents: list[int] = field(default_factory=list)
    width: int = 0

    @property
    def has_chunks(self) -> bool:
        """Whether all labels are those of chunks, at least one of them other than O."""
        from ..metrics._chunks import infer_scheme

        try:
            return infer_scheme(set().union(*self.y)) is not None
        except ValueError:
            return False


def read_corpus(files: Iterable[str], layout: Layout, label: int, scheme: str | None = None) -> LabelledCorpus:
    """Read column files whose tokens have equally many columns.

    Parameters
    ----------
    files : iterable of str
        Paths; none, or ``-``: the standard input.
    layout : Layout
    label : int
        The column of labels.
    scheme : str, default=None
        A scheme that every sequence must follow.

    Raises
    ------
    ValueError
        With file and line, if a file is not as it should be, or there is no token.
    """
    from .. import LabelSequences

    corpus, first = LabelledCorpus([], LabelSequences()), None
    n_documents = 0
    for at in read_parts(files, layout, label):
        part = at.part
        if part.first == 1:
            n_documents = corpus.documents[-1] + 1 if corpus.documents else 0
        if part.token is not None:
            first = first or at
            _same_width(first, at)
        if scheme is not None:
            located(at.name, part.starts, partial(_follow, scheme), part.y)
        corpus.X += part.X
        corpus.y += part.y
        corpus.documents += [n_documents + k for k in part.documents]
    if first is None:
        raise ValueError(f"{', '.join(files) or '<stdin>'}: no token, but lines such as 'rain NN B-NP' were expected")
    corpus.width = first.part.token.width - 1
    return corpus


def _same_width(first, at) -> None:
    n, line, width = at.part.token
    expected = first.part.token
    if width != expected.width:
        raise ValueError(
            f"{at.name}, line {n}: {width} columns, but line {expected.n} of {first.name} has {expected.width}: "
            f"{line!r}"
        )


def _follow(scheme: str, y: list[list[str]]) -> None:
    from ..metrics import chunk_f1_score

    chunk_f1_score(y, y, scheme=scheme, invalid="raise", zero_division=0.0)
