# SPDX-License-Identifier: BSD-3-Clause
"""Values as JSON and arrays, and back with the same types.

None, bool, str, finite float and int below 2**63 stand for themselves, a list for a list; everything else is an
object of one key, its tag: ``{"tuple": [...]}``, ``{"array": 3}`` (member number 3), ``{"object": 5}`` and so on.
Objects of the package are written once, however many times they are referred to, and only refer to objects before
them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._npy import plain_dtype

__all__ = ["Adapter", "Decoder", "Encoder"]

_MAX_DEPTH = 40
_INT_LIMIT = 1 << 63
_TYPES = {"float": float, "int": int, "bool": bool} | {
    f"numpy.{name}": getattr(np, name)
    for name in (
        "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "bool_", "str_",
    )
}  # fmt: skip
_TYPE_NAMES = {kind: name for name, kind in _TYPES.items()}

#: Where a value stands, from the outermost object inwards: (group, key) of an object's state, ("item", key) of a list
#: or dict.
Place = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Adapter:
    """How objects of one class become values and are made again.

    Attributes
    ----------
    kind : type
        Exactly this class; a subclass may have state of its own.
    state : callable
        From an object to ``{group: {key: value}}``.
    build : callable
        From the same, decoded, to an object; raises ValueError if it describes none.
    estimator : bool
        Whether it can be saved by itself.
    """

    kind: type
    state: Callable[[Any], dict[str, dict[str, Any]]]
    build: Callable[[dict[str, dict[str, Any]]], Any]
    estimator: bool = False


class Encoder:
    """Turns values into JSON, collecting objects and arrays on the way.

    Attributes
    ----------
    objects : list of dict
        ``{"class": name, group: {key: value}}``.
    arrays : list of ndarray
    """

    def __init__(self, adapters: dict[str, Adapter]):
        self._adapters = {adapter.kind: (name, adapter) for name, adapter in adapters.items()}
        self._seen: dict[int, tuple[Any, dict]] = {}
        self.objects: list[dict] = []
        self.arrays: list[np.ndarray] = []

    def encode(self, value: Any, where: Place = (), depth: int = 0) -> Any:
        """JSON of a value; `where` it stands is for messages.

        Raises
        ------
        TypeError
            If a value, or one inside it, is of a kind that can't be saved.
        """
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if abs(value) < _INT_LIMIT else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if depth > _MAX_DEPTH:
            raise TypeError(f"{_words(where)}: nested more than {_MAX_DEPTH} deep, which can't be saved")
        if kind is list:
            if set(map(type, value)) <= {str}:  # the long ones
                return value
            return [self.encode(item, (*where, ("item", k)), depth + 1) for k, item in enumerate(value)]
        if kind in (tuple, set, frozenset):
            # Tuples are pairs of a name and something: the number of the pair says enough.
            items = [self.encode(item, where, depth + 1) for item in value]
            if kind in (set, frozenset):
                items.sort(key=json.dumps)  # the same file for any hash seed
            return {kind.__name__: items}
        if kind is dict:
            pairs = ((key, self.encode(entry, (*where, ("item", key)), depth + 1)) for key, entry in value.items())
            return {"dict": [[self.encode(key, where, depth + 1), entry] for key, entry in pairs]}
        if kind in self._adapters:
            return self._object(value, *self._adapters[kind], where, depth)
        return self._numpy(value, where, depth)

    def _numpy(self, value: Any, where: Place, depth: int) -> Any:
        kind = type(value)
        if isinstance(value, np.ndarray) and kind in (np.ndarray, np.memmap):
            if value.dtype == object:
                items = [self.encode(item, where, depth + 1) for item in value.reshape(-1).tolist()]
                return {"objects": [list(value.shape), items]}
            if plain_dtype(value.dtype):
                if id(value) not in self._seen:
                    self._seen[id(value)] = value, {"array": len(self.arrays)}
                    self.arrays.append(value)
                return self._seen[id(value)][1]
        elif kind is np.str_:
            return {"scalar": ["str_", str(value)]}
        elif isinstance(value, np.generic) and plain_dtype(value.dtype):
            return {
                "scalar": [
                    value.dtype.newbyteorder("<").str,
                    value.astype(value.dtype.newbyteorder("<")).tobytes().hex(),
                ]
            }
        elif isinstance(value, np.dtype) and plain_dtype(value):
            return {"dtype": value.str}
        elif isinstance(value, type) and value in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[value]}
        elif isinstance(value, Path):
            return {"path": str(value)}
        raise TypeError(f"{_words(where)}: {_refused(value)}")

    def _object(self, value: Any, name: str, adapter: Adapter, where: Place, depth: int) -> dict:
        if id(value) not in self._seen:
            state: dict[str, Any] = {"class": name}
            for group, entries in adapter.state(value).items():
                state[group] = {
                    key: self.encode(entry, (*where, (group, key)), depth + 1) for key, entry in entries.items()
                }
            # The value is held, so that its id stays its own.
            self._seen[id(value)] = value, {"object": len(self.objects)}
            self.objects.append(state)
        return self._seen[id(value)][1]


def _words(where: Place) -> str:
    """A place in words: ``step 'tagger', parameter vectorizer.transformer_list[1].transformer``."""
    out, inside = "", False
    for group, key in where:
        if group == "item":
            out += f"[{key!r}]"
        elif group == "steps":
            out, inside = f"{out}, step {key!r}" if out else f"step {key!r}", False
        elif inside:
            out += f".{key}"
        else:
            noun = {"params": "parameter ", "fitted": "attribute "}.get(group, "")
            out, inside = f"{out}, {noun}{key}" if out else f"{noun}{key}", True
    return out


def _refused(value: Any) -> str:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return f"a random generator ({kind}; an int can) can't be saved"
    if hasattr(value, "get_params") and hasattr(value, "fit"):
        return (
            f"an estimator of a class that is not this package's ({kind}) can't be saved; pickle and joblib take such "
            "models"
        )
    if callable(value):
        return f"a callable ({value!r}) can't be saved"
    if isinstance(value, np.ndarray):
        return f"an array of dtype {value.dtype} can't be saved"
    return f"a value of type {kind} can't be saved"


class Decoder:
    """Turns JSON into values again.

    Parameters
    ----------
    adapters : dict of str to Adapter
    array : callable
        Gives the array of a number.
    """

    def __init__(self, adapters: dict[str, Adapter], array: Callable[[int], np.ndarray]):
        self._adapters = adapters
        self._array = array
        self.objects: list[Any] = []

    def add_object(self, state: dict) -> None:
        """Make the next object from its state.

        Raises
        ------
        ValueError
            If the state describes no object; other exceptions (TypeError, KeyError, ...) mean the same.
        """
        state = dict(state)
        name = state.pop("class")
        if name not in self._adapters:
            raise ValueError(f"a class {name!r} is not known to this version")
        groups = {
            group: {key: self.decode(entry) for key, entry in entries.items()} for group, entries in state.items()
        }
        self.objects.append(self._adapters[name].build(groups))

    def decode(self, value: Any) -> Any:
        """The value of a piece of JSON."""
        if isinstance(value, list):
            # Long lists are of strings or numbers, and those stand for themselves.
            return value if set(map(type, value)) <= {str, int, float} else [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        return getattr(self, f"_{tag}_of")(content)

    def _int_of(self, content):
        return int(content, 16)

    def _float_of(self, content):
        return float(content)

    def _tuple_of(self, content):
        return tuple(self.decode(content))

    def _set_of(self, content):
        return set(self.decode(content))

    def _frozenset_of(self, content):
        return frozenset(self.decode(content))

    def _dict_of(self, content):
        return {self.decode(key): self.decode(entry) for key, entry in content}

    def _objects_of(self, content):
        shape, items = content
        out = np.empty(len(items), dtype=object)
        for k, item in enumerate(self.decode(items)):
            out[k] = item
        return out.reshape(shape)

    def _scalar_of(self, content):
        dtype, text = content
        if dtype == "str_":
            return np.str_(text)
        dtype = np.dtype(dtype)
        if not plain_dtype(dtype) or len(text) != 2 * dtype.itemsize:
            raise ValueError(f"a scalar of dtype {dtype} with {len(text)} digits")
        return np.frombuffer(bytes.fromhex(text), dtype)[0].astype(dtype.newbyteorder("="))

    def _dtype_of(self, content):
        dtype = np.dtype(content)
        if not plain_dtype(dtype):
            raise ValueError(f"the dtype {content!r}")
        return dtype

    def _type_of(self, content):
        return _TYPES[content]

    def _path_of(self, content):
        return Path(content)

    def _array_of(self, content):
        return self._array(content)

    def _object_of(self, content):
        if not 0 <= content < len(self.objects):
            raise ValueError(f"object {content}, which is not there yet")
        return self.objects[content]
