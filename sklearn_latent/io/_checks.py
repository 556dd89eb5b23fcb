# SPDX-License-Identifier: BSD-3-Clause
"""What has to hold of fitted state before it is handed out: kernels index by these arrays without looking.

A file whose checksums are right can still be one that somebody made. Each function takes an object and raises
ValueError; a TypeError from the comparisons means the same to the caller.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._lattice import Topology
from .._scorers import Pattern, Support
from .._sequences.matrix import _ConcatenatedNames
from .._taggers.spn_model import NetworkShape
from ..feature_extraction import TemplateVectorizer
from ..feature_extraction import _template_parser as parser
from ..feature_extraction._columns import ColumnCoder
from ..feature_extraction._dict_features import DictFeatures, DictNames
from ..feature_extraction._hasher import _HashNames
from ..feature_extraction._template_names import FeatureNames
from ..feature_extraction._template_parser import Item, Template
from ..feature_extraction._template_table import FeatureTable
from ..feature_extraction._union import _Prefixed
from ..feature_extraction._window import _WindowNames

__all__ = [
    "WRAPPERS", "coder", "concatenated_names", "dict_names", "dict_vectorizer", "feature_table", "hash_names",
    "is_array", "item", "local_model", "model", "n_names", "network_shape", "numeric", "pattern", "per_token",
    "prefixed_names", "rows", "spn_model", "support", "tagger", "template", "template_names", "template_vectorizer",
    "texts", "topology", "union", "window", "window_names",
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


def is_positive(value: Any, name: str) -> None:
    """Judge a finite number above zero."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a finite number above zero, got {value!r}")


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


#: Layers of networks: more would have more leaves than there are numbers for.
_MOST_LAYERS = 64


def network_shape(s) -> None:
    """Numbers and names are what networks can have."""
    for name in ("n_layers", "n_products", "n_states"):
        is_count(getattr(s, name), name)
    if s.n_layers > _MOST_LAYERS or s.n_products < 1 or s.n_states < 1 or s.operator not in ("sum", "max"):
        raise ValueError("networks of no such shape")
    if type(s.tied) is not bool or type(s.single) is not bool or (s.tied and (s.n_layers < 1 or s.n_states < 2)):
        raise ValueError("networks of no such kind")


def spn_model(m) -> None:
    """N-grams are of the labels, and weights of the n-grams and networks."""
    is_kind(m.shape, "shape", NetworkShape)
    pairs_of_counts(m.factors)
    is_count(m.order, "order")
    is_count(m.n_features, "n_features")
    n_labels = len(m.n_latent)
    is_array(m.n_latent, "n_latent", np.int64, (n_labels,))
    is_within(m.n_latent, "n_latent", 1, 1 << 31)
    if n_labels == 0 or type(m.forbid) is not bool or type(m.ngrams) is not dict:
        raise ValueError("there is no label, or no table of n-grams")
    longest = max(m.order + 1, *(n for _, n in m.factors))
    lengths = set(range(2, m.order + 2)) | {n for _, n in m.factors if n > 1}
    if set(m.ngrams) != (set(range(2, longest + 1)) if m.forbid else lengths):
        raise ValueError(f"n-grams must be of {sorted(lengths)} labels, got {sorted(m.ngrams)}")
    for n, rows in m.ngrams.items():
        is_array(rows, "ngrams", np.int32, (len(rows), n))
        is_within(rows, "ngrams", 0, n_labels)
        before = rows[:-1] < rows[1:]
        first = (rows[:-1] != rows[1:]).argmax(axis=1)
        if not before[np.arange(len(before)), first].all():
            raise ValueError("n-grams must be different and sorted")
    _label_rules(m, n_labels)
    # Before states are made: as many as these numbers say.
    is_array(m.params["start"], "start", np.float64, (int(m.n_latent.sum()),))
    named_weights(m, m.scorer(False).shapes())


def local_model(m) -> None:
    """Weights are those of the networks."""
    is_kind(m.shape, "shape", NetworkShape)
    pairs_of_counts(m.factors)
    for name in ("order", "n_features", "n_labels"):
        is_count(getattr(m, name), name)
    if m.n_labels == 0 or any(n > 1 for _, n in m.factors):
        raise ValueError("there is no label, or a factor over several")
    _label_rules(m, m.n_labels)
    named_weights(
        m,
        {f"{name}_{k}": shape for k, circuit in enumerate(m.circuits()) for name, shape in circuit.shapes.items()},
    )


def pairs_of_counts(factors: Any) -> None:
    """Judge pairs of positive numbers of things."""
    if type(factors) is not tuple or not factors:
        raise ValueError("factors must be pairs of numbers")
    for pair in factors:
        if type(pair) is not tuple or len(pair) != 2:
            raise ValueError("factors must be pairs of numbers")
        for count in pair:
            is_count(count, "factors")
            is_positive(count, "factors")


def _label_rules(m, n_labels: int) -> None:
    """Which labels may follow, start and end."""
    for name, shape in (("moves", (n_labels, n_labels)), ("start_allowed", (n_labels,)), ("end_allowed", (n_labels,))):
        if getattr(m, name) is not None:
            is_array(getattr(m, name), name, np.bool_, shape)


def named_weights(m, shapes: dict[str, tuple[int, ...]]) -> None:
    """Judge finite float64 arrays of these names and shapes, in this order."""
    if type(m.params) is not dict or list(m.params) != list(shapes):
        raise ValueError(f"weights must be {list(shapes)}, got {list(m.params)}")
    for name, shape in shapes.items():
        is_array(m.params[name], name, np.float64, shape)
        if not np.isfinite(m.params[name]).all():
            raise ValueError(f"{name} holds weights that are not finite")


def tagger(t) -> None:
    """Classes and features are those of the model."""
    n_labels, n_features = t._topology.n_labels, t._model.n_features
    is_kind(t.classes_, "classes_", np.ndarray)
    if t.classes_.shape != (n_labels,) or len(set(t.classes_.tolist())) != n_labels:
        raise ValueError(f"classes_ must be {n_labels} different labels")
    if type(t.n_features_in_) is not int or t.n_features_in_ != n_features:
        raise ValueError(f"n_features_in_ is {t.n_features_in_!r}, the weights are for {n_features}")
    if not hasattr(getattr(t, "vectorizer_", TemplateVectorizer), "transform"):
        raise ValueError("vectorizer_ is no vectorizer")
    _names_for(t._feature_names, n_features)
    if hasattr(t, "_stepper_state"):
        _stepper_state(t._stepper_state, sum(values.size for values in t._model.params.values()))


def rows(c) -> None:
    """The tagger knows classes by their numbers, and the table has the tagger's columns."""
    is_kind(c.classes_, "classes_", np.ndarray)
    n_classes = len(c.classes_) if c.classes_.ndim == 1 else 0
    if not n_classes or len(set(c.classes_.tolist())) != n_classes:
        raise ValueError("classes_ must be different classes")
    inner = c.tagger_
    if not hasattr(inner, "predict_marginals") or not isinstance(getattr(inner, "classes_", None), np.ndarray):
        raise ValueError("tagger_ is no fitted tagger")
    if inner.classes_.dtype.kind not in "iu" or not set(inner.classes_.tolist()) <= set(range(n_classes)):
        raise ValueError("tagger_ must label by the numbers of the classes")
    if type(c.n_features_in_) is not int or c.n_features_in_ != inner.n_features_in_:
        raise ValueError(f"n_features_in_ is {c.n_features_in_!r}, tagger_ has {inner.n_features_in_}")
    if hasattr(c, "feature_names_in_"):
        is_array(c.feature_names_in_, "feature_names_in_", object, (c.n_features_in_,))


#: What the update rules remember, each before and after its first step: counts, a step length, and arrays.
_RULES = (
    set(),
    {"t", "rate"}, {"t", "rate", "mean"},
    {"t", "rate", "squares", "last", "samples"}, {"t", "rate", "squares", "last", "samples", "mean"},
    {"t", "a_pass", "first", "second"},
    {"t", "period", "length", "count", "last"},
)  # fmt: skip
_COUNTS = {"t", "a_pass", "period", "samples"}


def _stepper_state(state: Any, n_weights: int) -> None:
    """What `partial_fit` goes on from is of these weights, and of one update rule."""
    if type(state) is not dict or set(state) != {"x", "seed", "seen", "rule"}:
        raise ValueError("the state of partial_fit must be x, seed, seen and rule")
    is_array(state["x"], "x of partial_fit", np.float64, (n_weights,))
    if not np.isfinite(state["x"]).all():
        raise ValueError("x of partial_fit holds weights that are not finite")
    is_count(state["seed"], "seed of partial_fit")
    is_positive(state["seen"], "seen of partial_fit")
    rule = state["rule"]
    if type(rule) is not dict or set(rule) not in _RULES:
        raise ValueError("rule of partial_fit is not what an update rule remembers")
    for name, value in rule.items():
        if name in _COUNTS:
            is_count(value, f"{name} of partial_fit")
        elif name == "rate":
            is_positive(value, "rate of partial_fit")
        else:
            is_array(value, f"{name} of partial_fit", np.float64, (n_weights,))


# -- names of features -----------------------------------------------------------------------------

#: Names that are made of other names. One of no columns could stand for any number of calls, and so is not written.
WRAPPERS = (_Prefixed, _WindowNames, _ConcatenatedNames)


def n_names(names: Any) -> int:
    """How many names there are."""
    if isinstance(names, (DictNames, _HashNames, _Prefixed)):
        return names.n_features
    if isinstance(names, FeatureNames):
        return names.table.n_features
    if isinstance(names, _WindowNames):
        return names.n_features * (names.before + 1 + names.after)
    if isinstance(names, _ConcatenatedNames):
        return sum(width for _, width in names.parts)
    is_array(names, "feature names", object, (len(names),))
    return len(texts(names.tolist()))


def _names_for(names: Any, n_features: int) -> None:
    if names is not None and n_names(names) != n_features:
        raise ValueError(f"{n_names(names)} feature names for {n_features} features")


def _part_names(names: Any, n_features: int) -> None:
    _names_for(names, n_features)
    if n_features == 0 and isinstance(names, WRAPPERS):
        raise ValueError("names of no feature, made of others")


def hash_names(names: _HashNames) -> None:
    """They are numbered."""
    is_count(names.n_features, "n_features")


def prefixed_names(names: _Prefixed) -> None:
    """As many as there are without the prefix."""
    is_kind(names.prefix, "a prefix", str)
    is_count(names.n_features, "n_features")
    _part_names(names.names, names.n_features)


def window_names(names: _WindowNames) -> None:
    """The names within are those of one token."""
    for name in ("n_features", "before", "after"):
        is_count(getattr(names, name), name)
    _part_names(names.names, names.n_features)


def concatenated_names(names: _ConcatenatedNames) -> None:
    """Each part has as many as it says."""
    is_kind(names.parts, "parts", list)
    for part, width in names.parts:
        is_count(width, "n_features")
        if part is None:
            raise ValueError("a part without names")
        _part_names(part, width)


# -- transformers ----------------------------------------------------------------------------------


def numeric(t) -> None:
    """Names are those of the input."""
    is_count(t.n_features_in_, "n_features_in_")
    _names_for(t._feature_names, t.n_features_in_)


def window(w) -> None:
    """The width learnt is one; arrays are made of that size."""
    numeric(w)
    if type(w.window_) is not tuple or len(w.window_) != 2:
        raise ValueError(f"window_ must be two numbers of tokens, got {w.window_!r}")
    for n in w.window_:
        is_count(n, "window_")
        if n >= 1 << 31:
            raise ValueError(f"window_ reaches {n} tokens far")


def per_token(t) -> None:
    """There is a transformer."""
    numeric(t)
    is_count(t.n_columns_, "n_columns_")
    if not hasattr(t.transformer_, "transform"):
        raise ValueError("transformer_ is no transformer")


def union(u) -> None:
    """Transformers have names and widths."""
    is_kind(u.transformers_, "transformers_", list)
    is_kind(u.n_columns_, "n_columns_", list)
    if not u.transformers_ or len(u.transformers_) != len(u.n_columns_):
        raise ValueError(f"{len(u.transformers_)} transformers have {len(u.n_columns_)} widths")
    for (name, transformer), width in zip(u.transformers_, u.n_columns_, strict=True):
        is_kind(name, "the name of a transformer", str)
        is_count(width, "n_columns_")
        if not hasattr(transformer, "transform"):
            raise ValueError(f"{name!r} is no transformer")


# -- features --------------------------------------------------------------------------------------


def dict_vectorizer(v) -> None:
    """Columns are those of the features."""
    dict_names(DictNames(v.features_, v.separator_, v.n_columns_))


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
