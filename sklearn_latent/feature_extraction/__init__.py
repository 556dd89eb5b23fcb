# SPDX-License-Identifier: BSD-3-Clause
"""From tokens to a `SequenceMatrix`, and from one `SequenceMatrix` to another.

::

    data frames ──► sequences_from_frame ──► tokens
                    (_frames.py)
    dicts, lists of strings ──► SequenceDictVectorizer ──┐
                                (_dict.py)               │
                            ──► SequenceFeatureHasher ───┤
                                (_hasher.py)             │
    raw tokens: str, tuples,                             ├──► SequenceMatrix (CSR)
    dicts of columns ─────────► TemplateVectorizer ──────┘
                                (_templates.py)
                                  │ _template_parser.py   template texts and presets
                                  │ _columns.py           strings to ids, affixes, shapes
                                  └ _template_table.py    ids to columns ──► _template_kernels.pyx

    numbers ──► Window (_window.py), PerToken (_per_token.py) ──► SequenceMatrix
    recordings ──► PhoneSegments (_phones.py, _cepstra.py) ──► SequenceMatrix
    anything ──► SequenceUnion (_union.py) of the above ──► SequenceMatrix

`_dict_features.py` reads dicts for both of their vectorizers, `_corpus.py` walks the sequences of token corpora and
words the errors, and `_base.py` has what all transformers share.
"""

from ._dict import SequenceDictVectorizer
from ._frames import sequences_from_frame
from ._hasher import SequenceFeatureHasher
from ._per_token import PerToken
from ._phones import PhoneSegments
from ._templates import TemplateVectorizer
from ._union import SequenceUnion
from ._window import Window

__all__ = [
    "PerToken",
    "PhoneSegments",
    "SequenceDictVectorizer",
    "SequenceFeatureHasher",
    "SequenceUnion",
    "TemplateVectorizer",
    "Window",
    "sequences_from_frame",
]
