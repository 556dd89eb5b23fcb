# SPDX-License-Identifier: BSD-3-Clause
"""The learnt features of a list of templates, as arrays, and the CSR matrix made with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _template_kernels as kernels
from ._template_parser import Template

__all__ = ["FeatureTable", "assemble", "pointers"]

SMALLEST_TABLE = 1024


@dataclass
class FeatureTable:
    """Which tuples of ids are features; filled by `learn`, read by `find`.

    Attributes
    ----------
    item_ptr : ndarray of int64 of shape (n_templates + 1,)
        Items of template t are ``item_ptr[t]`` to ``item_ptr[t + 1]``.
    rows, streams : ndarray of int32 of shape (n_items + 1,)
        Relative position and stream of each item; the last entry is a spare one (see the kernels).
    kinds : ndarray of uint8 of shape (n_templates,)
    shift : int
        Added to an id, which may be negative outside of a sequence, in tables of one-item templates.
    column_ptr : ndarray of int64 of shape (n_templates + 1,)
        Columns of each template.
    key_ptr, keys : ndarray of int64 of shape (n_templates + 1,) and of int32
        The tuple of ids of every feature.
    slot_ptr, slots : ndarray of int64 of shape (n_templates + 1,) and of int32
        Tables from tuples to the number of a feature within its template.
    """

    item_ptr: np.ndarray
    rows: np.ndarray
    streams: np.ndarray
    kinds: np.ndarray
    shift: int
    column_ptr: np.ndarray
    key_ptr: np.ndarray
    keys: np.ndarray
    slot_ptr: np.ndarray
    slots: np.ndarray

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.column_ptr[-1])

    @classmethod
    def learn(
        cls,
        templates: Sequence[Template],
        streams: Sequence[tuple[int, str | None]],
        ids: np.ndarray,
        offsets: np.ndarray,
        sizes: Sequence[int],
        min_df: int,
    ) -> tuple[FeatureTable, np.ndarray]:
        """Number the features of a corpus.

        Parameters
        ----------
        templates : sequence of Template
            In the order of their columns.
        streams : sequence of (int, None or str)
            Column and derivation of each row of `ids`.
        ids : ndarray of int32 of shape (n_streams, n_tokens)
            String of each token in each stream, -1 for none.
        offsets : ndarray of int64 of shape (n_sequences + 1,)
            First token of each sequence and, last, the number of tokens.
        sizes : sequence of int
            Number of different strings of each stream.
        min_df : int
            Features of fewer tokens are dropped.

        Returns
        -------
        table : FeatureTable
        local : ndarray of int32 of shape (n_templates, n_tokens)
            As `find` would give.
        """
        layout = cls.layout(templates, streams)
        shift, bounds = layout["shift"], layout["item_ptr"]
        rows = [layout["rows"][a:b] for a, b in pairwise(bounds)]
        parts = [layout["streams"][a:b] for a, b in pairwise(bounds)]
        local = np.empty((len(templates), ids.shape[1]), dtype=np.int32)
        keys, slots, widths = [], [], []
        for t, template in enumerate(templates):
            size = sizes[parts[t][0]] + shift if len(parts[t]) == 1 else 0
            t_keys, t_slots, n = _learn_template(ids, offsets, rows[t], parts[t], template.kind, shift, size, local[t])
            if min_df > 1:
                t_keys, t_slots, n = _drop_rare(t_keys, t_slots, n, len(rows[t]), shift, min_df, local[t])
            keys.append(t_keys)
            slots.append(t_slots)
            widths.append(n)
        spare = [np.zeros(1, dtype=np.int32)]
        return cls(
            **layout,
            column_ptr=pointers(widths),
            key_ptr=pointers([len(k) for k in keys]),
            keys=np.concatenate(keys + spare),
            slot_ptr=pointers([len(s) for s in slots]),
            slots=np.concatenate(slots + spare),
        ), local

    @staticmethod
    def layout(templates: Sequence[Template], streams: Sequence[tuple[int, str | None]]) -> dict:
        """What follows from the templates alone: ``item_ptr``, ``rows``, ``streams``, ``kinds`` and ``shift``.

        Parameters are those of `learn`.
        """
        of = {stream: k for k, stream in enumerate(streams)}
        items = [item for t in templates for item in t.items]
        return {
            "item_ptr": pointers([len(t.items) for t in templates]),
            "rows": np.array([*(item.row for item in items), 0], dtype=np.int32),
            "streams": np.array([*(of[item.column, item.derived] for item in items), 0], dtype=np.int32),
            "kinds": np.array([t.kind for t in templates], dtype=np.uint8),
            "shift": 2 * max((abs(item.row) for item in items), default=0) + 2,
        }

    def find(self, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Number of the feature within each template, -1 for none.

        Parameters
        ----------
        ids : ndarray of int32 of shape (n_streams, n_tokens)
            String of each token in each stream, -1 for none.
        offsets : ndarray of int64 of shape (n_sequences + 1,)
            First token of each sequence and, last, the number of tokens.

        Returns
        -------
        ndarray of int32 of shape (n_templates, n_tokens)
        """
        local = np.empty((len(self.kinds), ids.shape[1]), dtype=np.int32)
        kernels.find_features(
            ids, offsets, self.item_ptr, self.rows, self.streams, self.kinds, self.shift, self.slot_ptr, self.slots,
            self.key_ptr, self.keys, self.column_ptr, local,
        )  # fmt: skip
        return local

    def template_keys(self, t: int) -> np.ndarray:
        """The keys of template `t`, (its features, its items)."""
        width = int(self.item_ptr[t + 1] - self.item_ptr[t])
        n = int(self.column_ptr[t + 1] - self.column_ptr[t])
        return self.keys[self.key_ptr[t] : self.key_ptr[t + 1]].reshape(n, width)


def _learn_template(ids, offsets, rows, streams, kind, shift, direct_size, local):
    """Keys, slots and number of the features of one template; the tables grow as the corpus is read."""
    width = len(rows)
    capacity = SMALLEST_TABLE
    keys = np.empty(capacity * max(width, 1), dtype=np.int32)
    slots = np.full(direct_size or 2 * capacity, -1, dtype=np.int32)
    sequence, n = 0, 0
    while True:
        sequence, n = kernels.learn_template(
            ids, offsets, rows, streams, kind, shift, slots, keys, capacity, n, sequence, local
        )
        if sequence == len(offsets) - 1:
            keys = keys[: n * width]
            return keys, (slots if width == 1 else _hash_table(keys, width, n) if width else slots[:0]), n
        needed = n + int(offsets[sequence + 1] - offsets[sequence])
        while capacity < needed:
            capacity *= 2
        keys = np.concatenate([keys, np.empty(capacity * max(width, 1) - len(keys), dtype=np.int32)])
        if width != 1:
            slots = np.full(2 * capacity, -1, dtype=np.int32)
            kernels.fill_slots(keys, width, n, shift, slots)


def _drop_rare(keys, slots, n, width, shift, min_df, local):
    """Keys, slots and number of the features of at least `min_df` tokens; renumbers `local` in place."""
    # A template holds at most once at a token, so occurrences are tokens.
    kept = np.bincount(local[local >= 0], minlength=n) >= min_df
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    local[:] = number[local]
    n_kept = int(kept.sum())
    keys = np.ascontiguousarray(keys.reshape(n, width)[kept]).reshape(-1)
    if width == 1:
        slots[:] = -1
        kernels.fill_slots(keys, width, n_kept, shift, slots)
    elif width > 1:
        slots = _hash_table(keys, width, n_kept)
    return keys, slots, n_kept


def _hash_table(keys, width, n):
    """The smallest table that is at most half full; a long sequence makes a far larger one while learning."""
    slots = np.full(1 << max(2 * n - 1, 1).bit_length(), -1, dtype=np.int32)
    kernels.fill_slots(keys, width, n, 0, slots)
    return slots


def pointers(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Where runs of these sizes begin and, last, their total: int64 of shape (n + 1,)."""
    out = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def assemble(local: np.ndarray, column_ptr: np.ndarray, dtype) -> sp.csr_array:
    """The CSR matrix of ones, (n_tokens, n_features), in which token i has feature ``local[t, i]`` of template t."""
    n_tokens, n_features = local.shape[1], int(column_ptr[-1])
    indptr = np.zeros(n_tokens + 1, dtype=np.int64)
    kernels.count_entries(local, indptr)
    n_entries = int(indptr[-1])
    if max(n_entries, n_features, n_tokens) < 2**31 - 1:
        indptr = indptr.astype(np.int32)
    indices: Any = np.empty(n_entries, dtype=indptr.dtype)
    kernels.fill_indices(local, column_ptr, indptr, indices)
    X = sp.csr_array((np.ones(n_entries, dtype=dtype), indices, indptr), shape=(n_tokens, n_features))
    # Known by construction; said here, since SciPy would have to look at every entry.
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return X
