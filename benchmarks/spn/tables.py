# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the page: which models stand where, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .models import (
    HISTORIES,
    HISTORY_SIZES,
    MODELS,
    SIZES,
    SPOKEN_SIZES,
    SPOKEN_SIZES_HIGH,
    UNITS,
    named,
    remembering,
    size_text,
)
from .tasks import TASKS

__all__ = ["TABLES", "Table"]


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Attributes
    ----------
    title : str
    task : {"folds", "words", "speakers"}
    text : str
        What stands above it.
    columns : list of str
        Heads of the columns of errors; none: one row a model, with what is published and what it took.
    rows : list of (str, list of str)
        What a row is called, and the models of its columns.
    """

    title: str
    task: str
    text: str
    columns: list[str]
    rows: list[tuple[str, list[str]]] = field(hash=False)

    @property
    def models(self) -> list[str]:
        """All models of the table."""
        return [name for _, names in self.rows for name in names]


_SUMMARY = [
    "logistic", "crfsuite", "linear", "gmm", "hu", "spn", "spn-tied", "memm8", "memm8-tied", "hu-o2", "spn-o2",
    "spn-o2-324", "spn-tied-o2", "hu-o3", "spn-o3",
]  # fmt: skip

_WORDS = """Here no word of a test part is in the training part (GroupKFold by the letters of the word, {n} folds).
    The more labels a model remembers, the more it errs: forty words don't teach which letters follow which."""
_SPEECH = """A sample of 16 speakers, not TIMIT: 128 sentences where the paper has 3,696, so that nothing here can be
    held against its figures (best known: {best}). Four folds by speaker; 39 classes, q left out, sentences that all
    speakers read left out; 92 features a segment (:class:`~sklearn_latent.feature_extraction.PhoneSegments`),
    standardised. Errors in per cent of the segments."""

TABLES: list[Table] = [
    Table(
        "Table III: letters, summary", "folds",
        """6,877 handwritten words, pixels 0 and 1, the ten folds given with the corpus; errors in per cent of the
        letters, mean and standard deviation over the folds done. All 55 words are in every fold, so that a model of
        high order knows all words that can come: its figures measure memory for words as much as reading.""",
        [], [(MODELS[name].title, [name]) for name in _SUMMARY],
    ),
    Table(
        "Letters, words that were not trained on", "words", _WORDS.format(n=TASKS["words"].n_folds),
        [], [(MODELS[name].title, [name]) for name in _SUMMARY],
    ),
    Table(
        "Table I: letters, first order", "folds",
        """The last column takes the best state of each hidden variable where the others sum over them. Errors in per
        cent of the letters.""",
        ["SPN-MEMM", "SPN-LC-CRF", "SPN-LC-CRF, max"],
        [(size_text(size), [remembering(size, 1), named("lc", size), named("max", size)]) for size in SIZES],
    ),
    Table(
        "Table II: letters, SPN-MEMM with longer histories", "folds",
        """Previous labels as inputs of networks with one layer; decoded exactly while a lattice holds the histories,
        beyond by a beam of 32.""",
        [f"{order} previous" for order in HISTORIES],
        [(size_text(size), [remembering(size, order) for order in HISTORIES]) for size in HISTORY_SIZES],
    ),
    Table(
        "Table IV in form: phones, first order", "speakers", _SPEECH.format(best="17.8 per cent"),
        ["SPN-MEMM", "SPN-LC-CRF"],
        [(size_text(size), [named(kind, size) for kind in ("speech-memm", "speech-lc")]) for size in SPOKEN_SIZES],
    ),
    Table(
        "Table V in form: phones, second order", "speakers",
        """Factors m = n = 1 and m = n = 2 with input, trigrams without; seen n-grams alone. As above.""",
        ["sum", "max"],
        [
            (size_text(size), [named("speech-ho", size, operator) for operator in ("sum", "max")])
            for size in SPOKEN_SIZES_HIGH
        ],
    ),
    Table(
        "Table VI in form: phones, hidden-unit CRFs", "speakers",
        """All but the first column with trigrams; "+" keeps the factors of lower order with input. As above.""",
        ["m = n = 1, bigrams", "m = n = 1", "m = n = 2", "m = n = 2+"],
        [(f"{n} units", [f"speech-hu{n}-{kind}" for kind in ("1", "2", "22", "22+")]) for n in UNITS],
    ),
]  # fmt: skip
