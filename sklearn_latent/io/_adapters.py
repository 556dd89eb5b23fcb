# SPDX-License-Identifier: BSD-3-Clause
"""What can be saved: one `Adapter` a class. A new estimator needs one line in `adapters`.

Constructor parameters and the attributes that end in an underscore are the state of an estimator, with the private
ones named here. Arrays are judged in `_checks` before an object is handed out, because kernels don't look again.
Names of features are made when somebody asks for them, and so files hold what they are made of (`_saved_names`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._lattice import Topology
from .._scorers import Pattern, Support
from .._sequences.labels import as_classes
from .._sequences.matrix import _ConcatenatedNames
from .._taggers import LatentCRFTagger, RowClassifier, SPNCRFTagger
from .._taggers.model import LinearChainModel
from .._taggers.spn_model import LocalModel, NetworkShape, SPNModel
from ..feature_extraction import (
    PerToken,
    PhoneSegments,
    SequenceDictVectorizer,
    SequenceFeatureHasher,
    SequenceUnion,
    TemplateVectorizer,
    Window,
)
from ..feature_extraction._columns import ColumnCoder
from ..feature_extraction._dict_features import DictFeatures, DictNames
from ..feature_extraction._hasher import _HashNames
from ..feature_extraction._template_names import FeatureNames
from ..feature_extraction._template_parser import Item, Template
from ..feature_extraction._template_table import FeatureTable
from ..feature_extraction._union import _Identity, _Prefixed
from ..feature_extraction._window import _WindowNames
from . import _checks
from ._state import Adapter

__all__ = ["adapters"]

#: Attributes of topologies that are not written: they say what `LinearChainModel` never has.
_OF_HISTORIES = ("histories", "one_path")
#: Fitted state that has no underscore at its end.
_PRIVATE = ("_feature_names", "_stepper_state")


@functools.cache
def adapters() -> dict[str, Adapter]:
    """Adapters by the name that stands in files."""
    found = [
        _of_estimator(LatentCRFTagger, _tagger_state, _build_tagger(LinearChainModel)),
        _of_estimator(SPNCRFTagger, _tagger_state, _build_tagger(SPNModel, LocalModel)),
        _of_estimator(RowClassifier, _fitted, _checked(_checks.rows)),
        _of_estimator(SequenceDictVectorizer, _fitted, _checked(_checks.dict_vectorizer)),
        _of_estimator(TemplateVectorizer, _fitted, _checked(_checks.template_vectorizer)),
        _of_stateless(SequenceFeatureHasher),
        _of_stateless(PhoneSegments),
        _of_estimator(SequenceUnion, _fitted, _checked(_checks.union)),
        _of_estimator(Window, _numeric_state, _checked(_checks.window)),
        _of_estimator(PerToken, _numeric_state, _checked(_checks.per_token)),
        _of_estimator(_Identity, _numeric_state, _checked(_checks.numeric), estimator=False),
        Adapter(Pipeline, _pipeline_state, _build_pipeline, estimator=True),
        _of_fields(Topology, _checks.topology, tuple(f.name for f in fields(Topology) if f.name not in _OF_HISTORIES)),
        _of_fields(Pattern, _checks.pattern),
        _of_fields(Support, _checks.support),
        _of_fields(LinearChainModel, _checks.model),
        _of_fields(NetworkShape, _checks.network_shape),
        _of_fields(SPNModel, _checks.spn_model),
        _of_fields(LocalModel, _checks.local_model),
        _of_fields(Item, _checks.item),
        _of_fields(Template, _checks.template),
        _of_fields(FeatureTable, _checks.feature_table),
        _of_fields(FeatureNames, _checks.template_names, ("templates", "coder", "table")),
        _of_fields(DictNames, _checks.dict_names, ("features", "separator", "n_features")),
        Adapter(ColumnCoder, _coder_state, _build_coder),
        Adapter(DictFeatures, _dict_state, _build_dict),
        _of_fields(_HashNames, _checks.hash_names, ("n_features",)),
        _of_fields(_Prefixed, _checks.prefixed_names, ("prefix", "names", "n_features")),
        _of_fields(_WindowNames, _checks.window_names, ("names", "n_features", "before", "after")),
        Adapter(_ConcatenatedNames, lambda names: {"fields": {"parts": names.parts}}, _build_concatenated),
    ]
    return {adapter.kind.__name__.lstrip("_"): adapter for adapter in found}


# -- kinds of adapters -----------------------------------------------------------------------------


def _of_fields(kind: type, check: Callable[[Any], None], names: tuple[str, ...] | None = None) -> Adapter:
    """For a class whose constructor takes what its attributes are."""
    names = names or tuple(field.name for field in fields(kind))

    def state(value) -> dict:
        return {"fields": {name: getattr(value, name) for name in names}}

    def build(state: dict):
        value = kind(**state["fields"])
        check(value)
        return value

    return Adapter(kind, state, build)


def _of_estimator(
    kind: type, fitted: Callable[[Any], dict], complete: Callable[[Any, dict], None], *, estimator: bool = True
) -> Adapter:
    """For an estimator of the package: its parameters, and what `fitted` gives and `complete` sets."""

    def state(value) -> dict:
        return {"params": value.get_params(deep=False), "fitted": fitted(value)}

    def build(state: dict):
        value = kind(**state["params"])
        if state["fitted"]:
            complete(value, state["fitted"])
        return value

    return Adapter(kind, state, build, estimator=estimator)


def _of_stateless(kind: type) -> Adapter:
    """For an estimator that learns nothing: its parameters are all there is to judge, which its `fit` does."""
    return Adapter(
        kind,
        lambda value: {"params": value.get_params(deep=False)},
        lambda state: kind(**state["params"]).fit(),
        estimator=True,
    )


def _fitted(estimator, private: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        name: value
        for name, value in sorted(vars(estimator).items())
        if name in private or (name.endswith("_") and not name.startswith("_"))
    }


def _checked(check: Callable[[Any], None]) -> Callable[[Any, dict], None]:
    def complete(estimator, fitted: dict) -> None:
        for name in fitted:
            # Others could stand before a method.
            if name not in _PRIVATE and (not name.isidentifier() or name[0] == "_" or name[-1] != "_"):
                raise ValueError(f"a fitted attribute {name!r}")
        vars(estimator).update(fitted)
        check(estimator)

    return complete


# -- taggers ---------------------------------------------------------------------------------------


def _tagger_state(tagger) -> dict[str, Any]:
    state = _fitted(tagger, ("_model", *_PRIVATE))
    if not state:
        return state
    for name in ("state_labels_", "edge_features_"):  # the model has them
        state.pop(name, None)
    state["_feature_names"] = _saved_names(state["_feature_names"])
    classes = state["classes_"]
    if classes.dtype == object:
        # Strings that numpy would shorten and ints beyond 64 bits; anything else has no exact form in a file.
        if not all(type(label) in (str, int) for label in classes.tolist()):
            kinds = sorted({type(label).__name__ for label in classes.tolist()})
            raise TypeError(f"classes_: labels of type {', '.join(kinds)} can't be saved; str, int, bool and float can")
        state["classes_"] = classes.tolist()
    return state


def _build_tagger(*kinds: type) -> Callable[[Any, dict], None]:
    """For a tagger whose model is of one of some classes."""
    complete = _checked(_checks.tagger)

    def build(tagger, fitted: dict) -> None:
        fitted = dict(fitted)
        model, classes = fitted.pop("_model"), fitted.pop("classes_")
        if type(model) not in kinds:
            raise ValueError(f"a model of class {type(model).__name__}")
        classes = as_classes(classes) if isinstance(classes, list) else classes
        tagger._set_model(model)
        complete(tagger, fitted | {"classes_": classes})

    return build


# -- pipelines -------------------------------------------------------------------------------------


def _pipeline_state(pipeline: Pipeline) -> dict:
    # Defaults are left out, so that a parameter new in scikit-learn doesn't tie the file to that version.
    default = Pipeline([]).get_params(deep=False)
    params = {name: value for name, value in pipeline.get_params(deep=False).items() if value is not default[name]}
    return {"params": {k: v for k, v in params.items() if k != "steps"}, "steps": dict(params["steps"])}


def _build_pipeline(state: dict) -> Pipeline:
    for name, step in state["steps"].items():
        if step is not None and step != "passthrough" and not hasattr(step, "get_params"):
            raise ValueError(f"step {name!r} is no estimator")
    return Pipeline(list(state["steps"].items()), **state["params"])


# -- transformers ----------------------------------------------------------------------------------


def _numeric_state(transformer) -> dict[str, Any]:
    state = _fitted(transformer, ("_feature_names",))
    if "_feature_names" in state:
        state["_feature_names"] = _saved_names(state["_feature_names"])
    return state


# -- names -----------------------------------------------------------------------------------------


def _saved_names(names):
    """Names in a form that can be written: what they are made of where that is ours, otherwise the strings."""
    if names is None or type(names) in (FeatureNames, DictNames, _HashNames):
        return names
    if type(names) in _checks.WRAPPERS and _checks.n_names(names) > 0:
        if type(names) is _ConcatenatedNames:
            return _concatenated([(_saved_names(part), width) for part, width in names.parts])
        if type(names) is _Prefixed:
            return _Prefixed(names.prefix, _saved_names(names.names), names.n_features)
        return _WindowNames(_saved_names(names.names), names.n_features, names.before, names.after)
    strings = names() if callable(names) else names
    return np.array([str(name) for name in strings], dtype=object)


def _concatenated(parts: list) -> _ConcatenatedNames:
    names = _ConcatenatedNames([])
    names.parts = parts
    return names


def _build_concatenated(state: dict) -> _ConcatenatedNames:
    names = _concatenated(state["fields"]["parts"])
    _checks.concatenated_names(names)
    return names


# -- features --------------------------------------------------------------------------------------


def _coder_state(coder: ColumnCoder) -> dict:
    # Ids are 0, 1, ... in the order of the dicts, so that strings are all there is to write.
    return {
        "fields": {
            "columns": coder.columns,
            "streams": coder.streams,
            "known": {column: list(strings) for column, strings in coder.known.items()},
            "derived": [list(strings) for strings in coder.derived],
            "tables": coder.tables,
        }
    }


def _build_coder(state: dict) -> ColumnCoder:
    given = state["fields"]
    known = {column: _numbered(strings) for column, strings in given["known"].items()}
    derived = [_numbered(strings) for strings in given["derived"]]
    coder = ColumnCoder(given["columns"], given["streams"], known, derived, given["tables"])
    _checks.coder(coder)
    return coder


def _numbered(strings: list) -> dict[str, int]:
    out = dict(zip(_checks.texts(strings), range(len(strings)), strict=True))
    if len(out) != len(strings):
        raise ValueError("a table of strings that holds one twice")
    return out


def _dict_state(features: DictFeatures) -> dict:
    strings, arrays = features.strings, features.arrays
    return {
        "fields": {
            "names": list(strings),
            "counts": _int64(map(len, strings.values())),
            "values": [value for values in strings.values() for value in values],
            "columns": _int64(k for values in strings.values() for k in values.values()),
            "number_names": list(features.numbers),
            "number_columns": _int64(features.numbers.values()),
            "array_names": list(arrays),
            "array_counts": _int64(map(len, arrays.values())),
            "array_columns": _int64(k for columns in arrays.values() for k in columns),
        }
    }


def _int64(values) -> np.ndarray:
    return np.fromiter(values, dtype=np.int64)


def _build_dict(state: dict) -> DictFeatures:
    given = state["fields"]
    values, columns = _checks.texts(given["values"]), _listed(given["columns"], len(given["values"]), "columns")
    strings = {}
    for name, part in _parts(given["names"], given["counts"], len(values)):
        strings[name] = dict(zip(values[part], columns[part], strict=True))
    numbers = given["number_names"]
    numbers = dict(zip(_checks.texts(numbers), _listed(given["number_columns"], len(numbers), "columns"), strict=True))
    columns = _listed(given["array_columns"], None, "columns")
    arrays = {name: columns[part] for name, part in _parts(given["array_names"], given["array_counts"], len(columns))}
    features = DictFeatures(strings, numbers, arrays)
    n = len(given["values"]) + len(given["number_names"]) + len(columns)
    if features.count() != n or len(strings) + len(arrays) != len(given["names"]) + len(given["array_names"]):
        raise ValueError("a table of features that holds one twice")
    return features


def _listed(array, size: int | None, name: str) -> list[int]:
    _checks.is_array(array, name, np.int64, (len(array) if size is None else size,))
    return array.tolist()


def _parts(names: list, counts, total: int):
    """Each name with the slice of its entries."""
    counts = _listed(counts, len(_checks.texts(names)), "counts")
    if any(count < 0 for count in counts) or sum(counts) != total:
        raise ValueError("counts that don't add up to the number of entries")
    start = 0
    for name, count in zip(names, counts, strict=True):
        yield name, slice(start, start + count)
        start += count
