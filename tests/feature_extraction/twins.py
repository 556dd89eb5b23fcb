# SPDX-License-Identifier: BSD-3-Clause
"""Slow twins: what the vectorizers compute, in plain Python, with a tuple for every feature of every token."""

import re

import numpy as np

OUTSIDE = object()


def chunking_features(sequence):
    """Names of the features of each (word, part of speech) token under the usual chunking templates."""
    words = [token[0] for token in sequence]
    tags = [token[1] for token in sequence]
    single = [(d,) for d in (-2, -1, 0, 1, 2)]
    templates = [("w", words, rows) for rows in [*single, (-1, 0), (0, 1)]]
    pairs = [(-2, -1), (-1, 0), (0, 1), (1, 2)]
    triples = [(-2, -1, 0), (-1, 0, 1), (0, 1, 2)]
    templates += [("pos", tags, rows) for rows in [*single, *pairs, *triples]]
    out = []
    for i in range(len(sequence)):
        names = []
        for name, column, rows in templates:
            if all(0 <= i + d < len(sequence) for d in rows):
                names.append("|".join(f"{name}[{d}]" for d in rows) + "=" + "|".join(column[i + d] for d in rows))
        names += ["__BOS__"] * (i == 0) + ["__EOS__"] * (i == len(sequence) - 1)
        out.append(names)
    return out


def template_keys(templates, sequence):
    """For each token the (template, strings) pairs of CRF++ templates; padding is no string but a tuple."""
    out = []
    for i in range(len(sequence)):
        keys = []
        for template in templates:
            values = []
            for row, column in re.findall(r"%x\[(-?\d+),(\d+)\]", template):
                k = i + int(row)
                if k < 0:
                    values.append((OUTSIDE, k))
                elif k >= len(sequence):
                    values.append((OUTSIDE, k - len(sequence) + 1))
                else:
                    values.append(sequence[k][int(column)])
            keys.append((template, tuple(values)))
        out.append(keys)
    return out


def template_columns(templates, corpus, min_df=1):
    """Column of each (template, strings) pair: grouped by template, then by first occurrence."""
    counts = {}
    for sequence in corpus:
        for keys in template_keys(templates, sequence):
            for key in keys:
                counts[key] = counts.get(key, 0) + 1
    kept = [key for template in templates for key in counts if key[0] == template and counts[key] >= min_df]
    return {key: k for k, key in enumerate(kept)}


def template_matrix(columns, templates, corpus):
    """Dense (n_tokens, n_features) matrix of the features in `columns`."""
    rows = []
    for sequence in corpus:
        for keys in template_keys(templates, sequence):
            row = np.zeros(len(columns))
            for key in keys:
                if key in columns:
                    row[columns[key]] = 1.0
            rows.append(row)
    return np.array(rows).reshape(len(rows), len(columns))


def dict_values(token):
    """{(name, value): number} of a token of the dict vectorizer."""
    out = {}

    def add(key, number):
        out[key] = out.get(key, 0.0) + number

    if isinstance(token, list):
        for item in token:
            add((item, None), 1.0)
        return out
    for name, value in token.items():
        if isinstance(value, str):
            add((name, value), 1.0)
        elif isinstance(value, (bool, int, float)):
            add((name, None), float(value))
        elif value and isinstance(value[0], str):
            for string in value:
                add((name, string), 1.0)
        else:
            for j, number in enumerate(value):
                add((name, j), float(number))
    return out


def dict_matrix(columns, corpus):
    """Dense (n_tokens, n_features) matrix of the features in `columns`, a dict by (name, value)."""
    rows = []
    for sequence in corpus:
        for token in sequence:
            row = np.zeros(len(columns))
            for key, number in dict_values(token).items():
                if key in columns:
                    row[columns[key]] += number
            rows.append(row)
    return np.array(rows).reshape(len(rows), len(columns))
