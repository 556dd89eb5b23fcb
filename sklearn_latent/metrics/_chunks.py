# SPDX-License-Identifier: BSD-3-Clause
"""From labels with chunk prefixes to chunks.

Every mode cuts a sequence the same way, by the rules of the CoNLL evaluation script; the strict modes
then look at the first and the last label of each piece and ask whether the scheme allows them there.
That is enough, because the cut leaves nothing but I labels between the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from .._sequences.labels import flatten_labels

__all__ = ["INVALID_MODES", "SCHEMES", "check_options", "chunk_set", "find_chunks", "get_chunks", "infer_scheme"]


class Scheme(NamedTuple):
    """What a labelling scheme allows, in prefixes."""

    prefixes: str
    first: str  # prefixes a chunk may begin with
    last: str  # prefixes a chunk may end with
    only_between: str = ""  # prefix used only where two chunks of one type touch


SCHEMES = {
    "io": Scheme("I", first="I", last="I"),
    "iob1": Scheme("IB", first="IB", last="IB", only_between="B"),
    "iob2": Scheme("IB", first="B", last="IB"),
    "ioe1": Scheme("IE", first="IE", last="IE", only_between="E"),
    "ioe2": Scheme("IE", first="IE", last="E"),
    "iobes": Scheme("IBES", first="BS", last="ES"),
    "bilou": Scheme("IBLU", first="BU", last="LU"),
}

INVALID_MODES = ("conlleval", "discard", "raise")

#: Two spellings of one thing: BILOU's L and U are IOBES's E and S.
_OPENS = "BSU"
_CLOSES = "ESLU"
_OUTSIDE = ("O", "")


def get_chunks(labels: Iterable, scheme: str | None = None, invalid: str = "conlleval") -> list[tuple[int, int, str]]:
    """Chunks of one sequence of labels.

    Parameters
    ----------
    labels : iterable of str of shape (n_tokens,)
        Each ``"O"`` or a prefix, a hyphen and the type, such as ``"B-NP"``; only the first hyphen
        separates. A prefix alone (``"B"``) belongs to one unnamed type, ``""``.
    scheme : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"} or None, default=None
        Labelling scheme. None infers it from the prefixes that occur; B with I is read as IOB2,
        since IOB1 has the same prefixes.
    invalid : {"conlleval", "discard", "raise"}, default="conlleval"
        What becomes of a chunk that the scheme does not allow: counted as the CoNLL evaluation
        script counts (a stray I opens a chunk, a change of type splits one), left out, or refused.
        The script knows no schemes, so under ``"conlleval"`` `scheme` only says which prefixes may occur.

    Returns
    -------
    list of (start, stop, type)
        In order of position; `stop` is exclusive.

    Raises
    ------
    ValueError
        If a label is neither ``"O"`` nor has a chunk prefix of the scheme; if the prefixes fit no one
        scheme and `invalid` needs one; with ``invalid="raise"``, if a chunk is malformed. The position
        is named.
    TypeError
        If `labels` is not a flat list of labels.

    See Also
    --------
    chunk_f1_score : F1 over the chunks of a corpus.

    Notes
    -----
    Chunks that touch stay apart if the first is closed by E, L, S or U, or if the second is opened by
    B, S or U. The released CoNLL script was made for B, I and O: it has no L, S or U, and would merge two
    chunks of one type where B follows E. On other labels the counts are the script's.

    Examples
    --------
    >>> from sklearn_latent.metrics import get_chunks
    >>> get_chunks(["B-NP", "I-NP", "O", "I-VP"])
    [(0, 2, 'NP'), (3, 4, 'VP')]
    >>> get_chunks(["B-NP", "I-NP", "O", "I-VP"], scheme="iob2", invalid="discard")
    [(0, 2, 'NP')]
    """
    check_options(scheme, invalid)
    inner = labels[0] if isinstance(labels, (list, tuple)) and labels else None
    nested = isinstance(inner, (list, tuple))
    if nested or not isinstance(labels, Iterable) or isinstance(labels, (str, bytes, dict)):
        raise TypeError(
            f"get_chunks takes the labels of one sequence, such as ['B-NP', 'O']; got {type(labels).__name__}"
            + (f" of {type(inner).__name__}" if nested else "")
        )
    [labels] = flatten_labels([labels])
    if scheme is None and invalid != "conlleval":
        scheme = infer_scheme(labels)
    return find_chunks(labels, scheme, invalid)


def chunk_set(labels: Iterable, scheme: str | None) -> frozenset[tuple[int, int, str]]:
    """Chunks of one sequence as the CoNLL script counts them, as a set of (start, stop, type)."""
    return frozenset(find_chunks(labels, scheme, "conlleval"))


def infer_scheme(classes: Iterable) -> str | None:
    """Scheme that the prefixes of some labels belong to.

    Parameters
    ----------
    classes : iterable of str
        Labels, in any order, repeated or not.

    Returns
    -------
    str or None
        The smallest scheme that has all the prefixes, IOB2 for B with or without I; None if every
        label is ``"O"``.

    Raises
    ------
    ValueError
        If a label is no chunk label (it is named), or the prefixes are of IOBES and BILOU both.
    """
    example = {}
    for label in classes.tolist() if hasattr(classes, "tolist") else classes:  # messages show plain str
        prefix, _ = _split(label)
        example.setdefault(prefix, label)
    example.pop("O", None)
    if not example:
        return None
    for name in ("io", "iob2", "ioe2", "iobes", "bilou"):
        if example.keys() <= set(SCHEMES[name].prefixes):
            return name
    two = next(example[p] for p in "ES" if p in example), next(example[p] for p in "LU" if p in example)
    raise ValueError(
        f"labels {two[0]!r} and {two[1]!r} belong to no one scheme: the first is of iobes, the second of bilou"
    )


def check_options(scheme, invalid) -> None:
    """Refuse unknown values of `scheme` and `invalid`."""
    if scheme is not None and (not isinstance(scheme, str) or scheme not in SCHEMES):
        raise ValueError(f"scheme must be None or one of {', '.join(SCHEMES)}; got {scheme!r}")
    if not isinstance(invalid, str) or invalid not in INVALID_MODES:
        raise ValueError(f"invalid must be one of {', '.join(INVALID_MODES)}; got {invalid!r}")


def find_chunks(labels: Iterable, scheme: str | None, invalid: str, place: str = "") -> list[tuple[int, int, str]]:
    """Work of `get_chunks`, on checked options; `place` says in messages where the sequence is."""
    parts = _parse(labels, scheme, place)
    chunks = _cut(parts)
    if invalid == "conlleval" or scheme is None:  # without a scheme there is no label but O
        return chunks
    rules = SCHEMES[scheme]
    sound = []
    for k, (start, stop, kind) in enumerate(chunks):
        before = chunks[k - 1] if k else (0, -1, "")
        after = chunks[k + 1] if k + 1 < len(chunks) else (-1, 0, "")
        first, last = parts[start][0], parts[stop - 1][0]
        if first not in rules.first or (first == rules.only_between == "B" and (before[1], before[2]) != (start, kind)):
            fault = start, "begin"
        elif last not in rules.last or (last == rules.only_between == "E" and (after[0], after[2]) != (stop, kind)):
            fault = stop - 1, "end"
        else:
            sound.append((start, stop, kind))
            continue
        if invalid == "raise":
            t, verb = fault
            prefix = parts[t][0]
            label = f"{prefix}-{kind}" if kind else prefix
            raise ValueError(f"{place}position {t}: {label!r} can't {verb} a chunk here in scheme {scheme}")
    return sound


@lru_cache(maxsize=4096)  # a corpus repeats a few labels; splitting them again is what would cost
def _split_str(label: str) -> tuple[str, str] | None:
    prefix, _, kind = label.partition("-")
    if label == "O":
        return _OUTSIDE
    return (prefix, kind) if len(prefix) == 1 and prefix in "BIESLU" else None


def _split(label) -> tuple[str, str]:
    """Split a label into prefix and type."""
    parts = _split_str(label) if isinstance(label, str) else None
    if parts is None:
        raise ValueError(
            f"label {label!r} is no chunk label: expected 'O' or a prefix (B, I, E, S, L or U) and a type, "
            "such as 'B-NP'"
        )
    return parts


def _parse(labels: Iterable, scheme: str | None, place: str) -> list[tuple[str, str]]:
    """Split all labels, and name the position of one that can't be or that the scheme does not have."""
    allowed = "OBIESLU" if scheme is None else "O" + SCHEMES[scheme].prefixes
    parts = []
    for t, label in enumerate(labels):
        try:
            part = _split(label)
        except ValueError as error:
            raise ValueError(f"{place}position {t}: {error}") from None
        if part[0] not in allowed:
            raise ValueError(f"{place}position {t}: label {label!r} has a prefix that scheme {scheme} does not have")
        parts.append(part)
    return parts


def _cut(parts: list[tuple[str, str]]) -> list[tuple[int, int, str]]:
    """Cut as the CoNLL script does: (start, stop, type) of every maximal piece that nothing splits."""
    chunks = []
    start, previous = None, _OUTSIDE
    for t, part in enumerate(parts):
        prefix, kind = part
        opens = prefix != "O" and (
            prefix in _OPENS or previous[0] == "O" or previous[0] in _CLOSES or kind != previous[1]
        )
        if start is not None and (opens or prefix == "O"):
            chunks.append((start, t, previous[1]))
            start = None
        if opens:
            start = t
        previous = part
    if start is not None:
        chunks.append((start, len(parts), previous[1]))
    return chunks
