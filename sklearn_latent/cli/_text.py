# SPDX-License-Identifier: BSD-3-Clause
"""From plain text to tokens."""

from __future__ import annotations

import re

__all__ = ["tokenize"]

_TOKEN = re.compile(
    r"""
    (?:[A-Za-z]\.){2,}                           # U.S.
    | \d+(?:[.,:/]\d+)*                          # 1,300  4.2  10:30
    | (?:Mr|Mrs|Ms|Dr|St)\.
    | n't\b | '(?:s|re|ve|ll|d|m)\b              # clitics, after their word has been cut off
    | \w+(?:-\w+)*?(?=n't\b) | \w+(?:-\w+)*
    | \.\.\. | --
    | \S
    """,
    re.VERBOSE,
)


def tokenize(text: str) -> list[str]:
    """Split English text into tokens in the manner of the Penn Treebank.

    Words with inner hyphens, numbers with their points and commas, and a few abbreviations stay whole; clitics
    (n't, 's, 'll, ...) and every other punctuation mark stand alone; double quotes become `` and ''.

    Examples
    --------
    >>> from sklearn_latent.cli import tokenize
    >>> tokenize("It didn't cost $1,300.")
    ['It', 'did', "n't", 'cost', '$', '1,300', '.']
    """
    tokens, inside = [], False
    for token in _TOKEN.findall(text):
        if token == '"':
            token = "''" if inside else "``"
            inside = not inside
        tokens.append(token)
    return tokens
