# SPDX-License-Identifier: BSD-3-Clause
"""From tokens to a `SequenceMatrix`.

::

    dicts, lists of strings ──► SequenceDictVectorizer ──┐
                                (_dict.py)               │
    raw tokens: str, tuples,                             ├──► SequenceMatrix (CSR)
    dicts of columns ─────────► TemplateVectorizer ──────┘
                                (_templates.py)
                                  │ _template_parser.py   template texts and presets
                                  │ _columns.py           strings to ids, affixes, shapes
                                  └ _template_table.py    ids to columns ──► _template_kernels.pyx

`_corpus.py` walks the sequences of a corpus for both and words the errors.
"""

from ._dict import SequenceDictVectorizer
from ._templates import TemplateVectorizer

__all__ = ["SequenceDictVectorizer", "TemplateVectorizer"]
