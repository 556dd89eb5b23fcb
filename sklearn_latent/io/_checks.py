# SPDX-License-Identifier: BSD-3-Clause
"""What has to hold of fitted state before it is handed out: kernels index by these arrays without looking.

A file whose checksums are right can still be one that somebody made. Each function takes an object and raises
ValueError; a TypeError from the comparisons means the same to the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lattice import Topology
from .._scorers import Pattern, Support
from .._taggers.model import LinearChainModel
from ..feature_extraction import TemplateVectorizer
from ..feature_extraction import _template_parser as parser
from ..feature_extraction._columns import ColumnCoder
from ..feature_extraction._dict_features import DictFeatures, DictNames
from ..feature_extraction._template_names import FeatureNames
from ..feature_extraction._template_parser import Item, Template
from ..feature_extraction._template_table import FeatureTable

__all__ = [
    "coder", "dict_names", "dict_vectorizer", "feature_table", "is_array", "item", "model", "pattern", "support",
    "tagger", "template", "template_names", "template_vectorizer", "texts", "topology",
]  # fmt: skip


def is_array(value: Any, name: str, dtype, shape: tuple[int, ...]) -> None:
    """Judge kind, dtype and shape."""
    if not isinstance(value, np.ndarray) or value.dtype != dtype or value.shape != shape:
        got = f"{value.dtype}, {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{name} must be an array of {np.dtype(dtype)}, {shape}, got {got}")


def is_count(value: Any, name: str) -> None:
    """Judge a number of things."""
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise ValueError(f"{name} must be a number of things, got {value!r}")


def is_kind(value: Any, name: str, kind: type) -> None:
    """Judge the class."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__}, got {type(value).__name__}")


def is_within(value: np.ndarray, name: str, low: int, high: int) -> None:
    """Judge that entries are from `low` up to, without, `high`."""
    if value.size and (value.min() < low or value.max() >= high):
        raise ValueError(f"{name} must lie from {low} to {high - 1}, got {value.min()} to {value.max()}")


def is_pointer(value: Any, name: str, dtype, parts: int, total: int) -> None:
    """Judge ``ptr`` of `parts` consecutive ranges over `total` entries."""
    is_array(value, name, dtype, (parts + 1,))
    if value[0] != 0 or value[-1] != total or (value[1:] < value[:-1]).any():
        raise ValueError(f"{name} must rise from 0 to {total}")


def texts(values: Any) -> list[str]:
    """Judge a list of str, and give it back."""
    if type(values) is not list or not set(map(type, values)) <= {str}:
        raise ValueError("a table of strings holds something else")
    return values


# -- taggers ---------------------------------------------------------------------------------------


def topology(t) -> None:
    """States, labels and arcs agree."""
    for value, name in ((t.n_labels, "n_labels"), (t.n_states, "n_states")):
        is_count(value, name)
    if t.n_labels == 0:
        raise ValueError("there is no label")
    S, n_arcs = t.n_states, len(t.arc_target)
    is_array(t.state_label, "state_label", np.int32, (S,))
    is_within(t.state_label, "state_label", 0, t.n_labels)
    is_pointer(t.label_ptr, "label_ptr", np.int32, t.n_labels, S)
    is_array(t.label_state, "label_state", np.int32, (S,))
    is_within(t.label_state, "label_state", 0, S)
    if not np.array_equal(t.state_label[t.label_state], np.repeat(np.arange(t.n_labels), np.diff(t.label_ptr))):
        raise ValueError("state_label and label_state contradict each other")
    if (np.bincount(t.label_state, minlength=S) != 1).any() or (np.diff(t.label_ptr) < 1).any():
        raise ValueError("label_state must list each state once, at least one a label")
    is_pointer(t.arc_ptr, "arc_ptr", np.int64, S, n_arcs)
    is_array(t.arc_target, "arc_target", np.int32, (n_arcs,))
    is_within(t.arc_target, "arc_target", 0, S)
    is_array(t.arc_source, "arc_source", np.int32, (n_arcs,))
    if not np.array_equal(t.arc_source, np.repeat(np.arange(S), np.diff(t.arc_ptr))):
        raise ValueError("arc_source and arc_ptr contradict each other")
    if (np.diff(t.arc_target)[np.diff(t.arc_source) == 0] < 1).any():
        raise ValueError("arcs must be sorted by source, then target")
    if type(t.dense) is not bool or (t.dense and n_arcs != S * S):
        raise ValueError(f"dense must say whether all {S * S} pairs of states are arcs; there are {n_arcs}")
    if t.arc_allowed is not None:
        is_array(t.arc_allowed, "arc_allowed", np.bool_, (n_arcs,))


def pattern(p) -> None:
    """Pointers and columns agree."""
    is_count(p.n_features, "n_features")
    is_count(p.n_columns, "n_columns")
    if p.ptr is None and p.column is None:
        return
    is_array(p.column, "column", np.int32, (len(p.column),))
    is_pointer(p.ptr, "ptr", np.int64, p.n_features, len(p.column))
    is_within(p.column, "column", 0, p.n_columns)


def support(s) -> None:
    """Parts are of the right kinds; `model` judges them against the topology."""
    is_kind(s.state, "state", Pattern)
    if s.edge is not None:
        is_kind(s.edge, "edge", Pattern)
    for name in ("transition", "start", "end"):
        value = getattr(s, name)
        is_array(value, name, np.int64, (len(value),))


def model(m) -> None:
    """Support and weights are those of the topology."""
    is_kind(m.topology, "topology", Topology)
    is_kind(m.support, "support", Support)
    s, S, n_arcs = m.support, m.topology.n_states, m.topology.n_arcs
    if s.state.n_columns != S:
        raise ValueError(f"the state weights have {s.state.n_columns} columns for {S} states")
    if s.edge is not None and (s.edge.n_columns, s.edge.n_features) != (n_arcs, s.state.n_features):
        raise ValueError("the edge weights are not of this model's arcs and features")
    is_within(s.transition, "transition", 0, n_arcs)
    for name in ("start", "end"):
        is_within(getattr(s, name), name, 0, S)
        if getattr(s, f"{name}_allowed") is not None:
            is_array(getattr(s, f"{name}_allowed"), f"{name}_allowed", np.bool_, (S,))
    sizes = {"coef": s.state.n_weights, "transition": len(s.transition), "start": len(s.start), "end": len(s.end)}
    if s.edge is not None:
        sizes["edge"] = s.edge.n_weights
    if set(m.params) != set(sizes):
        raise ValueError(f"weights must be {sorted(sizes)}, got {sorted(m.params)}")
    for name, size in sizes.items():
        is_array(m.params[name], name, np.float64, (size,))
        if not np.isfinite(m.params[name]).all():
            raise ValueError(f"{name} holds weights that are not finite")
    is_array(m.edge_features, "edge_features", np.int64, (len(m.edge_features),))
    is_within(m.edge_features, "edge_features", 0, s.state.n_features)
    if (np.diff(m.edge_features) < 1).any():
        raise ValueError("edge_features must rise")


def tagger(t) -> None:
    """Classes and features are those of the model."""
    is_kind(t._model, "_model", LinearChainModel)
    n_labels, n_features = t._topology.n_labels, t._model.support.state.n_features
    is_kind(t.classes_, "classes_", np.ndarray)
    if t.classes_.shape != (n_labels,) or len(set(t.classes_.tolist())) != n_labels:
        raise ValueError(f"classes_ must be {n_labels} different labels")
    if type(t.n_features_in_) is not int or t.n_features_in_ != n_features:
        raise ValueError(f"n_features_in_ is {t.n_features_in_!r}, the weights are for {n_features}")
    if not hasattr(getattr(t, "vectorizer_", TemplateVectorizer), "transform"):
        raise ValueError("vectorizer_ is no vectorizer")
    names = t._feature_names
    if isinstance(names, (FeatureNames, DictNames)):
        n_names = names.n_features if isinstance(names, DictNames) else names.table.n_features
    elif names is not None:
        is_array(names, "feature names", object, (len(names),))
        n_names = len(texts(names.tolist()))
    if names is not None and n_names != n_features:
        raise ValueError(f"{n_names} feature names for {n_features} features")


# -- features --------------------------------------------------------------------------------------


def dict_vectorizer(v) -> None:
    """Columns are those of the features."""
    dict_names(DictNames(v.features_, v.separator_, v.n_columns_))


def hasher(h) -> None:
    """There is nothing to learn, so nothing may have been learnt."""
    raise ValueError("fitted attributes of a hasher, which has none")


def union(u) -> None:
    """Names, transformers and numbers of columns agree."""
    is_kind(u.transformers_, "transformers_", list)
    is_kind(u.n_columns_, "n_columns_", list)
    if not u.transformers_ or len(u.transformers_) != len(u.n_columns_):
        raise ValueError(f"{len(u.transformers_)} transformers with {len(u.n_columns_)} numbers of columns")
    for (name, transformer), width in zip(u.transformers_, u.n_columns_, strict=True):
        is_kind(name, "the name of a transformer", str)
        is_count(width, "n_columns_")
        if not hasattr(transformer, "transform"):
            raise ValueError(f"{name!r} is no transformer")


def numeric(t) -> None:
    """Names are those of the features."""
    is_count(t.n_features_in_, "n_features_in_")
    if t._feature_names is not None:
        is_array(t._feature_names, "feature names", object, (t.n_features_in_,))
        texts(t._feature_names.tolist())


def window(w) -> None:
    """The window has two ends."""
    numeric(w)
    is_kind(w.window_, "window_", tuple)
    before, after = w.window_
    is_count(before, "window_")
    is_count(after, "window_")


def dict_names(names: DictNames) -> None:
    """Every column is one feature's."""
    is_kind(names.features, "features", DictFeatures)
    is_count(names.n_features, "n_features")
    if type(names.separator) is not str or not names.separator:
        raise ValueError(f"the separator is {names.separator!r}")
    f = names.features
    parts = [*map(dict.values, f.strings.values()), f.numbers.values(), *f.arrays.values()]
    columns = np.fromiter((k for part in parts for k in part), dtype=np.int64)
    is_within(columns, "columns", -1, names.n_features)
    columns = np.sort(columns[columns >= 0])
    if len(columns) != names.n_features or (np.diff(columns) != 1).any():
        raise ValueError(f"the features must have each of {names.n_features} columns once")


def item(i: Item) -> None:
    """What a template reads lies within bounds."""
    is_count(i.column, "column")
    if type(i.row) is not int or abs(i.row) > parser.MAX_ROW:
        raise ValueError(f"a template reaches {i.row!r} tokens far")
    if i.derived is not None and i.derived != "shape" and i.derived not in _AFFIXES:
        raise ValueError(f"a template reads {i.derived!r} of a string")


_AFFIXES = {f"{end}{n}" for end in ("prefix", "suffix") for n in range(1, 10)}


def template(t: Template) -> None:
    """Items and text are of the right kinds and numbers."""
    if type(t.items) is not tuple or not all(isinstance(i, Item) for i in t.items) or len(t.items) > parser.MAX_ITEMS:
        raise ValueError("a template has wrong items")
    if t.kind not in (parser.SKIP, parser.PADDED, parser.FIRST, parser.LAST) or type(t.edge) is not bool:
        raise ValueError(f"a template of kind {t.kind!r}")
    if t.items and t.kind in (parser.FIRST, parser.LAST):
        raise ValueError("a template for the ends of a sequence has items")
    texts([t.text, t.prefix, t.suffix])
    if type(t.separators) is not tuple or len(t.separators) != max(len(t.items) - 1, 0) or not all(t.separators):
        raise ValueError("a template has wrong separators")
    texts(list(t.separators))


def coder(c: ColumnCoder) -> None:
    """Streams, strings and tables agree."""
    if type(c.columns) is not tuple or type(c.streams) is not list:
        raise ValueError("wrong columns or streams")
    texts(list(c.columns))
    for column, derived in c.streams:
        item(Item(0, column, derived))
        if column >= len(c.columns) or column not in c.known:
            raise ValueError(f"a template reads column {column}, of which nothing is known")
    if not len(c.streams) == len(c.derived) == len(c.tables):
        raise ValueError("not one table a stream")
    for (column, kind), strings, table in zip(c.streams, c.derived, c.tables, strict=True):
        is_array(table, "tables", np.int32, (0 if kind is None else len(c.known[column]),))
        is_within(table, "tables", -1, len(strings))


def feature_table(t: FeatureTable) -> None:
    """Pointers lead into the arrays; `template_names` judges what these hold."""
    n, n_items = len(t.kinds), len(t.rows) - 1
    is_array(t.kinds, "kinds", np.uint8, (n,))
    for name in ("rows", "streams"):
        is_array(getattr(t, name), name, np.int32, (n_items + 1,))
    is_pointer(t.item_ptr, "item_ptr", np.int64, n, n_items)
    is_count(t.shift, "shift")
    for pointer, name in ((t.key_ptr, "keys"), (t.slot_ptr, "slots")):
        values = getattr(t, name)
        is_array(values, name, np.int32, (len(values),))
        is_pointer(pointer, name, np.int64, n, len(values) - 1)
    is_array(t.column_ptr, "column_ptr", np.int64, (n + 1,))
    is_pointer(t.column_ptr, "column_ptr", np.int64, n, int(t.column_ptr[-1]))


def template_names(names: FeatureNames | Any) -> None:
    """Keys and slots are of these templates and strings, so that look-ups stay inside of the tables and end."""
    templates, c, t = names.templates, names.coder, names.table
    is_kind(c, "coder", ColumnCoder)
    is_kind(t, "table", FeatureTable)
    if type(templates) is not list or not all(isinstance(template, Template) for template in templates):
        raise ValueError("wrong templates")
    for name, wanted in FeatureTable.layout(templates, c.streams).items():
        if not np.array_equal(getattr(t, name), wanted):
            raise ValueError(f"{name} is not that of the templates")
    sizes = [len(c.known[column] if kind is None else c.derived[k]) for k, (column, kind) in enumerate(c.streams)]
    for k, template in enumerate(templates):
        width = len(template.items)
        n = int(t.column_ptr[k + 1] - t.column_ptr[k])
        keys = t.keys[t.key_ptr[k] : t.key_ptr[k + 1]]
        slots = t.slots[t.slot_ptr[k] : t.slot_ptr[k + 1]]
        if len(keys) != n * width or (width == 0 and n > 1):
            raise ValueError(f"template {k} has {len(keys)} ids in {n} keys of {width}")
        is_within(slots, "slots", -1, n)
        keys = keys.reshape(n, width)
        items = t.streams[t.item_ptr[k] : t.item_ptr[k + 1]]
        for j, stream in enumerate(items.tolist()):
            is_within(keys[:, j], "keys", -t.shift, sizes[stream])
        if width == 1 and len(slots) != sizes[items[0]] + t.shift:
            raise ValueError(f"template {k} has {len(slots)} slots for {sizes[items[0]]} strings")
        if width > 1 and (len(slots) & (len(slots) - 1) or not (slots < 0).any()):
            raise ValueError(f"template {k} has no free slot, or a number of them that is no power of two")


class _Named:
    """A vectorizer seen as the names it gives."""

    def __init__(self, v):
        self.templates, self.coder, self.table = v.templates_, v.coder_, v.table_


def template_vectorizer(v) -> None:
    """Templates, strings and tables agree."""
    template_names(_Named(v))
