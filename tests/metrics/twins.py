# SPDX-License-Identifier: BSD-3-Clause
"""Slow twins of the chunk code, and strategies that feed both."""

from hypothesis import strategies as st

SCHEME_PREFIXES = {
    "io": "I",
    "iob1": "BI",
    "iob2": "BI",
    "ioe1": "IE",
    "ioe2": "IE",
    "iobes": "BIES",
    "bilou": "BILU",
}

# The CoNLL script asks two questions of each pair of neighbouring prefixes of one type; S, and
# B after E, are additions: the script knows neither. A pair is "previous, current".
ENDS = {"BB", "BO", "BS", "IB", "IO", "IS", "EB", "EE", "EI", "EO", "ES", "SB", "SI", "SE", "SO", "SS"}
STARTS = {"BB", "IB", "OB", "EB", "SB", "OI", "EI", "SI", "OE", "EE", "SE", "BS", "IS", "ES", "OS", "SS"}


def parts(label):
    prefix, _, kind = label.partition("-")
    return {"L": "E", "U": "S"}.get(prefix, prefix), kind


def ends(previous, current):
    (p, kind), (c, next_kind) = previous, current
    return p + c in ENDS or (p != "O" and kind != next_kind)


def starts(previous, current):
    (p, kind), (c, next_kind) = previous, current
    return p + c in STARTS or (c != "O" and kind != next_kind)


def conlleval_counts(y_true, y_pred):
    """Numbers of chunks right, predicted and true: one walk over both sequences, without any list of chunks."""
    right = found = wanted = 0
    for true, pred in zip(y_true, y_pred, strict=True):
        previous_true = previous_pred = ("O", "")
        open_and_right = False
        for label_true, label_pred in zip([*true, "O"], [*pred, "O"], strict=True):
            t, p = parts(label_true), parts(label_pred)
            if open_and_right:
                end_true, end_pred = ends(previous_true, t), ends(previous_pred, p)
                if end_true and end_pred:
                    right += 1
                    open_and_right = False
                elif end_true != end_pred or t[1] != p[1]:
                    open_and_right = False
            start_true, start_pred = starts(previous_true, t), starts(previous_pred, p)
            open_and_right = open_and_right or (start_true and start_pred and t[1] == p[1])
            wanted += start_true
            found += start_pred
            previous_true, previous_pred = t, p
    return right, found, wanted


def labels_of(chunks, n, scheme):
    """Write chunks in a scheme: the inverse of `get_chunks`."""
    labels = ["O"] * n
    for k, (start, stop, kind) in enumerate(chunks):
        touches_before = k > 0 and chunks[k - 1][1:] == (start, kind)
        touches_after = k + 1 < len(chunks) and (chunks[k + 1][0], chunks[k + 1][2]) == (stop, kind)
        prefixes = ["I"] * (stop - start)
        if scheme == "iob2" or (scheme == "iob1" and touches_before):
            prefixes[0] = "B"
        elif scheme == "ioe2" or (scheme == "ioe1" and touches_after):
            prefixes[-1] = "E"
        elif scheme in ("iobes", "bilou"):
            last, single = ("E", "S") if scheme == "iobes" else ("L", "U")
            prefixes[0], prefixes[-1] = "B", last
            if len(prefixes) == 1:
                prefixes = [single]
        labels[start:stop] = [f"{p}-{kind}" if kind else p for p in prefixes]
    return labels


@st.composite
def chunk_lists(draw, kinds=("A", "B", "a-b", "")):
    """Chunks of one sequence in order, and its length."""
    chunks, at = [], 0
    for gap, width, kind in draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(kinds)), max_size=6)
    ):
        chunks.append((at + gap, at + gap + width, kind))
        at += gap + width
    return chunks, at + draw(st.integers(0, 2))


def merged(chunks):
    """Join touching chunks of one type, which the scheme io can't tell apart."""
    out = []
    for start, stop, kind in chunks:
        if out and out[-1][1:] == (start, kind):
            out[-1] = (out[-1][0], stop, kind)
        else:
            out.append((start, stop, kind))
    return out


def label_lists(prefixes, kinds=("A", "B"), max_size=9):
    """Any labels with these prefixes, well-formed or not."""
    labels = ["O"] + [f"{p}-{k}" for p in prefixes for k in kinds]
    return st.lists(st.sampled_from(labels), max_size=max_size)


@st.composite
def label_pairs(draw, prefixes, kinds=("A", "B"), max_sequences=3):
    """A corpus labelled twice, the second often near the first."""
    labels = ["O"] + [f"{p}-{k}" for p in prefixes for k in kinds]
    y_true = draw(st.lists(label_lists(prefixes, kinds), max_size=max_sequences))
    y_pred = [
        [draw(st.sampled_from(labels)) if draw(st.integers(0, 3)) == 0 else label for label in sequence]
        for sequence in y_true
    ]
    return y_true, y_pred
