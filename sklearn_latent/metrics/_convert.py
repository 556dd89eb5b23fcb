# SPDX-License-Identifier: BSD-3-Clause
"""From one labelling scheme to another."""

from __future__ import annotations

from .._sequences.labels import LabelSequences, flatten_labels
from ._chunks import SCHEMES, check_options, find_chunks, infer_scheme

__all__ = ["convert_labels"]


def convert_labels(y, source, target, *, invalid="raise"):
    """Write the chunks of label sequences in another scheme.

    Parameters
    ----------
    y : list of n_sequences lists of str
        Labels, ``"O"`` or a chunk prefix and a type such as ``"B-NP"``.
    source : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"} or None
        Scheme of `y`. None infers it from the prefixes; B with I is read as IOB2.
    target : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"}
        Scheme to write.
    invalid : {"raise", "conlleval", "discard"}, default="raise"
        What becomes of a chunk that `source` does not allow: refused, repaired to what the CoNLL
        evaluation script would count, or left out, its tokens becoming ``"O"``.

    Returns
    -------
    LabelSequences of n_sequences lists of str

    Raises
    ------
    ValueError
        If a scheme is unknown, a label is no chunk label of `source`, or with ``invalid="raise"`` a chunk
        is malformed. Sequence and position are named.

    See Also
    --------
    get_chunks : The chunks themselves.

    Notes
    -----
    There and back gives the labels one started from, with one exception: ``"io"`` has nothing to part
    two chunks of one type that touch, so that they become one.

    Examples
    --------
    >>> from sklearn_latent.metrics import convert_labels
    >>> convert_labels([["B-NP", "I-NP", "B-NP", "O"]], "iob2", "iobes")
    [['B-NP', 'E-NP', 'S-NP', 'O']]
    >>> convert_labels([["B-NP", "I-NP", "B-NP", "O"]], "iob2", "iob1")
    [['I-NP', 'I-NP', 'B-NP', 'O']]
    """
    check_options(source, invalid)
    if not isinstance(target, str) or target not in SCHEMES:
        raise ValueError(f"target must be one of {', '.join(SCHEMES)}; got {target!r}")
    y = flatten_labels(y)
    if source is None:
        source = infer_scheme(label for labels in y for label in labels)
    out = LabelSequences()
    for i, labels in enumerate(y):
        out.append(_write(find_chunks(labels, source, invalid, f"sequence {i}, "), len(labels), target))
    return out


def _write(chunks: list[tuple[int, int, str]], n_tokens: int, scheme: str) -> list[str]:
    """Labels of one sequence with these chunks, which are in order."""
    labels = ["O"] * n_tokens
    for k, (start, stop, kind) in enumerate(chunks):
        touches_before = k > 0 and chunks[k - 1][1:] == (start, kind)
        touches_after = k + 1 < len(chunks) and chunks[k + 1][::2] == (stop, kind)
        prefixes = ["I"] * (stop - start)
        prefixes[0] = _first(scheme, touches_before) or prefixes[0]
        prefixes[-1] = _last(scheme, touches_after, len(prefixes) == 1) or prefixes[-1]
        labels[start:stop] = [f"{prefix}-{kind}" if kind else prefix for prefix in prefixes]
    return labels


def _first(scheme: str, touches_before: bool) -> str | None:
    """Prefix that opens a chunk, None if nothing special does."""
    if scheme in ("iob2", "iobes", "bilou") or (scheme == "iob1" and touches_before):
        return "B"
    return None


def _last(scheme: str, touches_after: bool, single: bool) -> str | None:
    """Prefix that closes a chunk, `single` if it is a chunk of one token; None if nothing special does."""
    if scheme == "iobes":
        return "S" if single else "E"
    if scheme == "bilou":
        return "U" if single else "L"
    if scheme == "ioe2" or (scheme == "ioe1" and touches_after):
        return "E"
    return None
