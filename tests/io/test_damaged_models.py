# SPDX-License-Identifier: BSD-3-Clause
"""Model files that are cut short, altered, made by hand, or no model files: ValueError, always, and no more memory."""

import gzip
import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sklearn_latent.io import _archive, load_model, save_model
from sklearn_latent.io._archive import Archive, ArchiveError, write_archive
from sklearn_latent.io._npy import from_npy, to_npy

DATA = Path(__file__).parents[1] / "data"
WHOLE = {path.stem: path.read_bytes() for path in DATA.glob("model_v1*.zip")}
MODES = pytest.mark.parametrize("mmap_mode", [None, "r"])
many = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.zip"


def refuse(path, data, match=None, mmap_mode=None):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=match) as caught:
        load_model(path, mmap_mode=mmap_mode)
    assert str(path) in str(caught.value)


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts):
    """A file with right checksums, whatever is in it."""
    file = io.BytesIO()
    write_archive(file, [(name, [data]) for name, data in parts.items()])
    return file.getvalue()


# -- cut short, altered -----------------------------------------------------------------------------


@given(st.sampled_from(sorted(WHOLE)), st.data(), st.sampled_from([None, "r"]))
@many
def test_any_byte_altered(path, name, data, mmap_mode):
    damaged = bytearray(WHOLE[name])
    for k in data.draw(st.sets(st.integers(0, len(damaged) - 1), min_size=1, max_size=3)):
        damaged[k] ^= data.draw(st.integers(1, 255))
    refuse(path, damaged, mmap_mode=mmap_mode)


@given(st.sampled_from(sorted(WHOLE)), st.data(), st.binary(max_size=100))
@many
def test_any_part_replaced(path, name, data, new):
    whole = WHOLE[name]
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(start, min(len(whole), start + 200)))
    damaged = whole[:start] + new + whole[stop:]
    if damaged != whole:
        refuse(path, damaged)


@given(st.binary(max_size=300), st.sampled_from([b"", b"PK\3\4", WHOLE["model_v1"][:90]]))
@many
def test_any_bytes(path, data, start):
    refuse(path, start + data)


def test_every_byte_of_the_container(tmp_path):
    """Nothing stands outside of both the checksums and the comparison."""
    whole = packed({"first": b"{}", "a": b"12345", "b": b""})
    path = tmp_path / "archive"
    for k in range(len(whole)):
        damaged = bytearray(whole)
        damaged[k] ^= 1 << k % 8
        path.write_bytes(damaged)
        with open(path, "rb") as file, pytest.raises(ArchiveError):
            archive = Archive(file, "first", lambda data: None)
            for name in archive.names:
                archive.read(name)


@MODES
def test_cut_short(path, mmap_mode):
    whole = WHOLE["model_v1"]
    for size in [*range(1, 300, 7), *range(300, len(whole), 501), len(whole) - 1]:
        refuse(path, whole[:size], "cut short", mmap_mode)
    refuse(path, b"", "is empty", mmap_mode)


def test_more_behind_the_end(path):
    refuse(path, WHOLE["model_v1"] + b"\n", "has 1 bytes behind its end")
    refuse(path, WHOLE["model_v1"] + bytes(70_000), "has 70000 bytes behind its end")
    refuse(path, WHOLE["model_v1"] * 2, "altered")


@MODES
def test_altered_member(path, mmap_mode):
    whole = bytearray(WHOLE["model_v1"])
    k = whole.index(b"NUMPY", len(whole) // 2) + 130
    whole[k] ^= 1
    refuse(path, whole, r"altered: the member 'arrays/\d+.npy' fails its checksum", mmap_mode)
    whole = bytearray(WHOLE["model_v1"])
    whole[whole.index(b"LatentCRFTagger")] ^= 1
    refuse(path, whole, r"altered: the member 'model.json' fails its checksum", mmap_mode)


# -- something else ---------------------------------------------------------------------------------


def test_no_model_file(path):
    refuse(path, b"%!PS-Adobe", "not a zip")
    refuse(path, gzip.compress(WHOLE["model_v1"]), "not a zip")
    other = io.BytesIO()
    np.savez(other, a=np.arange(3))
    refuse(path, other.getvalue(), "is a zip, but no model file")
    refuse(path, packed({"a": b"x"}), "is a zip, but no model file")
    refuse(path, packed({}), "not a zip")
    refuse(path, packed({"format.json": b'{"version": 1}'}), "doesn't say what it is")
    refuse(path, packed({"format.json": b"[[["}), "JSON can't be read")


def test_packed_by_another_tool(path):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        other = io.BytesIO()
        with zipfile.ZipFile(other, "w", compression) as archive:
            for name, data in members(WHOLE["model_v1"]).items():
                archive.writestr(name, data)
        refuse(path, other.getvalue(), "altered")


def test_later_version(path):
    parts = members(WHOLE["model_v1"])
    head = json.loads(parts["format.json"]) | {"version": 2, "package": "9.1"}
    parts["format.json"] = json.dumps(head).encode()
    refuse(path, packed(parts), r"later version of the format, 2; .* reads up to 1 \(written by sklearn_latent 9.1\)")
    # Whatever else such a version does differently.
    refuse(path, packed({"format.json": parts["format.json"], "model.cbor": b"?"}), "later version")
    parts["format.json"] = json.dumps(head | {"version": 0}).encode()
    refuse(path, packed(parts), "never was")


def test_members(path):
    parts = members(WHOLE["model_v1"])
    refuse(path, packed(parts | {"more": b""}), "member 'more' that is not of the model")
    refuse(path, packed({k: v for k, v in parts.items() if k != "arrays/3.npy"}), "is not of the model|lacks")
    refuse(path, packed(dict(list(parts.items())[:-1])), "lacks members")
    refuse(path, packed({"format.json": parts["format.json"]}), "no member 'model.json'")
    file = io.BytesIO()
    write_archive(file, [(name, [data]) for name, data in [*parts.items(), ("model.json", parts["model.json"])]])
    refuse(path, file.getvalue(), "two members 'model.json'")


# -- made by hand, with right checksums -------------------------------------------------------------


def rewritten(name, change):
    parts = members(WHOLE[name])
    tree = json.loads(parts["model.json"])
    change(tree, parts)
    parts["model.json"] = json.dumps(tree).encode()
    return packed(parts)


def array_of(tree, parts, kind, field, change):
    """Replace the array of the first object of a class."""
    entry = next(state for state in tree["objects"] if state["class"] == kind)["fields"]
    for key in field.split("."):
        entry = dict(map(tuple, entry["dict"]))[key] if "dict" in entry else entry[key]
    name = f"arrays/{entry['array']}.npy"
    array = from_npy(np.frombuffer(parts[name], dtype=np.uint8)).copy()
    made = change(array)
    parts[name] = b"".join(map(bytes, to_npy(array if made is None else made)))


def put(k, value):
    def change(array):
        array[k] = value

    return change


@pytest.mark.parametrize(
    ("kind", "field", "change"),
    [
        ("Topology", "state_label", put(0, 9)),
        ("Topology", "state_label", put(0, -1)),
        ("Topology", "state_label", put(0, 1)),
        ("Topology", "label_ptr", put(1, 1000)),
        ("Topology", "label_ptr", put(0, -1)),
        ("Topology", "label_state", put(0, 1)),
        ("Topology", "arc_target", put(0, 6)),
        ("Topology", "arc_target", put(0, 1)),
        ("Topology", "arc_source", put(0, 1)),
        ("Topology", "arc_ptr", put(1, 1 << 40)),
        ("Topology", "arc_allowed", lambda a: a[:-1]),
        ("Topology", "arc_allowed", lambda a: a.astype(np.int8)),
        ("Pattern", "column", put(-1, 6)),
        ("Pattern", "column", put(0, -1)),
        ("Pattern", "column", lambda a: a.astype(np.int64)),
        ("Pattern", "column", lambda a: a[:-1]),
        ("Pattern", "ptr", put(1, -5)),
        ("Pattern", "ptr", put(-1, 1 << 50)),
        ("Pattern", "ptr", lambda a: a[:-1]),
        ("Pattern", "ptr", lambda a: a.reshape(1, -1)),
        ("Support", "transition", put(0, 10_000)),
        ("Support", "start", put(0, -1)),
        ("Support", "start", lambda a: a.astype(np.int32)),
        ("Support", "start_allowed", lambda a: a[:0]),
        ("LinearChainModel", "params.coef", put(0, np.nan)),
        ("LinearChainModel", "params.coef", put(0, np.inf)),
        ("LinearChainModel", "params.coef", lambda a: a[1:]),
        ("LinearChainModel", "params.coef", lambda a: a.astype(np.float32)),
        ("LinearChainModel", "params.transition", lambda a: a[1:]),
        ("LinearChainModel", "edge_features", put(-1, 10_000)),
        ("LinearChainModel", "edge_features", lambda a: a[::-1].copy()),
        ("FeatureTable", "slots", put(0, 1000)),
        ("FeatureTable", "slots", put(0, -2)),
        ("FeatureTable", "slots", lambda a: np.maximum(a, 0)),
        ("FeatureTable", "slots", lambda a: a[:-1]),
        ("FeatureTable", "slot_ptr", put(1, 3)),
        ("FeatureTable", "keys", put(0, 1000)),
        ("FeatureTable", "keys", put(0, -1000)),
        ("FeatureTable", "key_ptr", put(1, 1)),
        ("FeatureTable", "column_ptr", put(-1, 1 << 50)),
        ("FeatureTable", "column_ptr", put(1, -3)),
        ("FeatureTable", "rows", put(0, 1)),
        ("FeatureTable", "streams", put(1, 5)),
        ("FeatureTable", "kinds", put(0, 7)),
        ("FeatureTable", "item_ptr", put(1, 0)),
    ],
)
def test_arrays_out_of_bounds(kind, field, change, path):
    refuse(path, rewritten("model_v1", lambda tree, parts: array_of(tree, parts, kind, field, change)), "altered")


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("columns", put(0, 99)),
        ("columns", put(0, 1)),
        ("columns", put(0, -2)),
        ("counts", put(0, -1)),
        ("counts", put(0, 1 << 40)),
        ("number_columns", lambda a: a[:0]),
        ("number_columns", lambda a: a.astype(float)),
    ],
)
def test_dict_features_out_of_bounds(field, change, path):
    data = rewritten("model_v1_pipeline", lambda tree, parts: array_of(tree, parts, "DictFeatures", field, change))
    refuse(path, data, "altered")


def state_of(tree, kind):
    return next(state for state in tree["objects"][::-1] if state["class"] == kind)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.update(model={"object": 99}),
        lambda t: t.update(model={"object": -1}),
        lambda t: t.update(model={"object": 1}),
        lambda t: t.update(model={"object": 1, "array": 2}),
        lambda t: t.update(model={"nothing": 1}),
        lambda t: t.update(model={"": 1}),
        lambda t: t.update(model="LatentCRFTagger"),
        lambda t: t.update(arrays=10**12),
        lambda t: t.update(arrays=True),
        lambda t: t.pop("arrays"),
        lambda t: t.pop("objects"),
        lambda t: t.update(objects=3),
        lambda t: t["objects"].insert(0, {"class": "Later"}),
        lambda t: t["objects"].insert(0, {"class": "Item", "fields": {"__class__": 1}}),
        lambda t: t["objects"].insert(0, 7),
        lambda t: state_of(t, "LatentCRFTagger")["params"].update(later=1),
        lambda t: state_of(t, "LatentCRFTagger")["params"].update(n_latent={"set": [[]]}),
        lambda t: state_of(t, "LatentCRFTagger")["params"].update(n_latent={"scalar": ["<f8", "00"]}),
        lambda t: state_of(t, "LatentCRFTagger")["params"].update(n_latent={"scalar": ["O", "00" * 8]}),
        lambda t: state_of(t, "LatentCRFTagger")["params"].update(n_latent={"objects": [[10**15], []]}),
        lambda t: state_of(t, "LatentCRFTagger")["params"].update(n_latent={"type": "os.system"}),
        lambda t: state_of(t, "LatentCRFTagger")["params"].update(n_latent={"array": -1}),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].update(n_features_in_=10**15),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].update(_feature_names={"objects": [[1], ["a"]]}),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].update(classes_=["a"]),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].update(classes_=["a", "a", "b"]),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].update(__class__=3),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].pop("_model"),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].pop("_feature_names"),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].update(_model={"object": 1}),
        lambda t: state_of(t, "LatentCRFTagger")["fitted"].update(vectorizer_=3),
        lambda t: state_of(t, "TemplateVectorizer")["fitted"].pop("table_"),
        lambda t: t["objects"].insert(0, {"class": "Pipeline", "params": {}, "steps": {"a": 3}}),
        lambda t: state_of(t, "Topology")["fields"].update(n_labels=10**15),
        lambda t: state_of(t, "Topology")["fields"].update(n_states=10**15),
        lambda t: state_of(t, "Topology")["fields"].update(n_states=True),
        lambda t: state_of(t, "Topology")["fields"].update(dense="yes"),
        lambda t: state_of(t, "Pattern")["fields"].update(n_features=10**15, ptr=None, column=None),
        lambda t: state_of(t, "Pattern")["fields"].update(n_features=10**15),
        lambda t: state_of(t, "Pattern")["fields"].update(ptr=None),
        lambda t: state_of(t, "LinearChainModel")["fields"].update(params={"dict": []}),
        lambda t: state_of(t, "FeatureTable")["fields"].update(shift=10**15),
        lambda t: state_of(t, "FeatureTable")["fields"].update(shift=1),
        lambda t: state_of(t, "Item")["fields"].update(row=10**6),
        lambda t: state_of(t, "Item")["fields"].update(column=-1),
        lambda t: state_of(t, "Item")["fields"].update(derived="suffix"),
        lambda t: state_of(t, "Template")["fields"].update(kind=2),
        lambda t: state_of(t, "Template")["fields"].update(separators={"tuple": [""]}),
        lambda t: state_of(t, "ColumnCoder")["fields"].update(columns={"tuple": []}),
        lambda t: state_of(t, "ColumnCoder")["fields"].update(known={"dict": []}),
        lambda t: state_of(t, "ColumnCoder")["fields"].update(known={"dict": [[0, ["a", "a"]], [1, []]]}),
        lambda t: state_of(t, "ColumnCoder")["fields"].update(known={"dict": [[0, [1]], [1, []]]}),
        lambda t: state_of(t, "ColumnCoder")["fields"].update(known={"dict": [[0, ["a"]], [1, ["b"]]]}),
    ],
)  # fmt: skip
def test_trees_that_describe_no_model(change, path):
    refuse(path, rewritten("model_v1", lambda tree, parts: change(tree) and None))


def union_of(t):
    return state_of(t, "SequenceUnion")["fitted"]


def stepper_of(t):
    return dict(map(tuple, state_of(t, "LatentCRFTagger")["fitted"]["_stepper_state"]["dict"]))


def with_stepper(tree, **changes):
    """Replace parts of the state of `partial_fit`; None takes one away."""
    parts = {name: part for name, part in (stepper_of(tree) | changes).items() if part is not None}
    state_of(tree, "LatentCRFTagger")["fitted"]["_stepper_state"] = {"dict": [list(pair) for pair in parts.items()]}


def with_rule(tree, **changes):
    rule = dict(map(tuple, stepper_of(tree)["rule"]["dict"])) | changes
    rule = {name: part for name, part in rule.items() if part is not None}
    with_stepper(tree, rule={"dict": [list(pair) for pair in rule.items()]})


@pytest.mark.parametrize(
    "change",
    [
        lambda t: union_of(t).update(transformers_=[]),
        lambda t: union_of(t).update(transformers_=3),
        lambda t: union_of(t)["transformers_"].pop(),
        lambda t: union_of(t)["transformers_"][0]["tuple"].append(1),
        lambda t: union_of(t)["transformers_"][0]["tuple"].__setitem__(0, 1),
        lambda t: union_of(t)["transformers_"][0]["tuple"].__setitem__(1, "drop"),
        lambda t: union_of(t)["n_columns_"].append(1),
        lambda t: union_of(t)["n_columns_"].__setitem__(0, -1),
        lambda t: union_of(t)["n_columns_"].__setitem__(0, True),
        lambda t: union_of(t).update(transform=3),
        lambda t: union_of(t).update(_validate_names=3),
        lambda t: union_of(t).pop("n_columns_"),
        lambda t: state_of(t, "Window")["fitted"].update(window_={"tuple": [1, -1]}),
        lambda t: state_of(t, "Window")["fitted"].update(window_={"tuple": [1]}),
        lambda t: state_of(t, "Window")["fitted"].update(window_=[1, 0]),
        lambda t: state_of(t, "Window")["fitted"].update(window_={"tuple": [1, 1 << 40]}),
        lambda t: state_of(t, "Window")["fitted"].update(n_features_in_=10**15),
        lambda t: state_of(t, "Window")["fitted"].update(n_features_in_=8.0),
        lambda t: state_of(t, "Window")["fitted"].pop("_feature_names"),
        lambda t: state_of(t, "Window")["fitted"].update(_feature_names={"object": 0}),
        lambda t: state_of(t, "Window")["fitted"].update(_feature_names=["a"] * 8),
        lambda t: state_of(t, "Identity")["fitted"].update(n_features_in_=9),
        lambda t: state_of(t, "SequenceFeatureHasher")["params"].update(n_features=0),
        lambda t: state_of(t, "SequenceFeatureHasher")["params"].update(n_features=1 << 40),
        lambda t: state_of(t, "SequenceFeatureHasher")["params"].update(separator=""),
        lambda t: state_of(t, "SequenceFeatureHasher")["params"].update(dtype={"type": "int"}),
        lambda t: t.update(model={"object": next(k for k, o in enumerate(t["objects"]) if o["class"] == "Identity")}),
        lambda t: state_of(t, "HashNames")["fields"].update(n_features=-1),
        lambda t: state_of(t, "HashNames")["fields"].update(n_features=9),
        lambda t: state_of(t, "Prefixed")["fields"].update(n_features=7),
        lambda t: state_of(t, "Prefixed")["fields"].update(prefix=7),
        lambda t: state_of(t, "Prefixed")["fields"].update(names="abc"),
        lambda t: state_of(t, "WindowNames")["fields"].update(before=2),
        lambda t: state_of(t, "WindowNames")["fields"].update(before=-1, after=2),
        lambda t: state_of(t, "ConcatenatedNames")["fields"].update(parts=[]),
        lambda t: state_of(t, "ConcatenatedNames")["fields"]["parts"][0]["tuple"].__setitem__(0, None),
        lambda t: state_of(t, "ConcatenatedNames")["fields"]["parts"][0]["tuple"].__setitem__(1, 1),
        lambda t: state_of(t, "ConcatenatedNames")["fields"]["parts"].append({"tuple": [{"objects": [[0], []]}, 1]}),
        lambda t: with_stepper(t, seed=None),
        lambda t: with_stepper(t, later=1),
        lambda t: with_stepper(t, seed=-1),
        lambda t: with_stepper(t, seen=0),
        lambda t: with_stepper(t, seen={"float": "nan"}),
        lambda t: with_stepper(t, seen="1"),
        lambda t: with_stepper(t, x=[0.0]),
        lambda t: with_stepper(t, x={"array": 0}),
        lambda t: with_stepper(t, rule=[]),
        lambda t: with_rule(t, t=None),
        lambda t: with_rule(t, t=0.5),
        lambda t: with_rule(t, second=None),
        lambda t: with_rule(t, second={"array": 0}),
        lambda t: with_rule(t, mean=1.0),
        lambda t: with_rule(t, first=None, second=None, a_pass=None, rate=-1.0),
        lambda t: with_rule(t, first=None, second=None, a_pass=None, rate="auto"),
        lambda t: with_rule(t, a_pass=-3),
    ],
)  # fmt: skip
def test_trees_with_blocks_and_training_that_are_none(change, path):
    refuse(path, rewritten("model_v1_union", lambda tree, parts: change(tree) and None), "altered")


def test_names_without_columns_are_no_others_names(path):
    """A name of nothing that is made of two of its kind, and those of two more ...: nobody could wait for the end."""

    def change(tree, parts):
        leaf = {"objects": [[0], []]}
        for _ in range(60):
            names = {"class": "ConcatenatedNames", "fields": {"parts": [{"tuple": [leaf, 0]}] * 2}}
            tree["objects"].append(names)
            leaf = {"object": len(tree["objects"]) - 1}

    refuse(path, rewritten("model_v1_union", change), "altered.*names of no feature, made of others")


@pytest.mark.parametrize("change", [lambda a: a[1:], lambda a: a.astype(np.float32), lambda a: a.reshape(1, -1)])
@pytest.mark.parametrize("name", ["x", "first", "second"])
def test_training_of_other_weights(name, change, path):
    def with_array(tree, parts):
        held = stepper_of(tree) | dict(map(tuple, stepper_of(tree)["rule"]["dict"]))
        member = f"arrays/{held[name]['array']}.npy"
        array = change(from_npy(np.frombuffer(parts[member], dtype=np.uint8)))
        parts[member] = b"".join(map(bytes, to_npy(np.ascontiguousarray(array))))

    refuse(path, rewritten("model_v1_union", with_array), f"altered.*{name} of partial_fit must be an array of float64")


def test_training_that_is_not_finite(path):
    def with_array(tree, parts):
        member = f"arrays/{stepper_of(tree)['x']['array']}.npy"
        array = from_npy(np.frombuffer(parts[member], dtype=np.uint8)).copy()
        array[0] = np.nan
        parts[member] = b"".join(map(bytes, to_npy(array)))

    refuse(path, rewritten("model_v1_union", with_array), "altered.*x of partial_fit holds weights that are not finite")


def test_deep_json(path):
    parts = members(WHOLE["model_v1"])
    parts["model.json"] = b"[" * 100_000 + b"]" * 100_000
    refuse(path, packed(parts), "JSON can't be read")
    parts["model.json"] = b'{"arrays": 0, "objects": [], "model": ' + b'{"tuple": [' * 600 + b"]}" * 600 + b"}"
    refuse(path, packed({k: v for k, v in parts.items() if not k.startswith("arrays")}), "altered")


@given(st.data())
@many
def test_any_json_value_replaced(path, data):
    """With right checksums: a model or a ValueError, never another exception."""
    name = data.draw(st.sampled_from(sorted(WHOLE)))
    junk = st.sampled_from([None, True, -1, 0, 7, 2**70, 0.5, "x", [], {}, [1], {"array": 0}, {"tuple": []}, {"x": 1}])

    def change(tree, parts):
        entry = data.draw(st.sampled_from(tree["objects"]))
        while True:
            key = data.draw(st.sampled_from(range(len(entry)) if isinstance(entry, list) else sorted(entry)))
            if not isinstance(entry[key], (dict, list)) or not entry[key] or data.draw(st.booleans()):
                entry[key] = data.draw(junk)
                return
            entry = entry[key]

    path.write_bytes(rewritten(name, change))
    try:
        load_model(path)
    except ValueError as error:
        assert str(path) in str(error)


HEADER = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n"


@pytest.mark.parametrize(
    "header",
    [
        HEADER % ("<f8", "1000000000000,"),
        HEADER % ("<f8", "0, 100000000000000000"),
        HEADER % ("<f8", "1, " * 70),
        HEADER % ("|O8", "1,"),
        HEADER % ("<V8", "1,"),
        HEADER % ("<f7", "1,"),
        HEADER % ("<i3", "1,"),
        HEADER % ("<U0", "1000000000000,"),
        HEADER % ("<U999999999", "1,"),
        HEADER % ("<U2", "1,"),
        HEADER % ("<M8[s]", "1,"),
        HEADER.replace("False", "True") % ("<f8", "1,"),
        "{}",
        "(" * 5000,
        "",
    ],
)
def test_npy_headers(header, path):
    """Sizes are compared with the file's before anything is made of them."""
    text = header.encode()
    array = b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + b"\xff" * 8
    parts = members(WHOLE["model_v1"]) | {"arrays/0.npy": array}
    data = packed(parts)
    tracemalloc.start()
    try:
        refuse(path, data, "altered")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("array", [b"", b"\x93NUMPY", b"\x93NUMPY\2\0" + bytes(100), b"\x93NUMPY\1\0\xff\xff"])
def test_npy_beginnings(array, path):
    refuse(path, packed(members(WHOLE["model_v1"]) | {"arrays/0.npy": array}), "altered: the member 'arrays/0.npy'")


# -- the container itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("large", [100, 1000, 1 << 40])
def test_zip64(large, monkeypatch, path):
    """Sizes and places beyond 4 GB, at a border that tests can reach; zipfile is the other reader."""
    monkeypatch.setattr(_archive, "ZIP64_FROM", large)
    parts = members(WHOLE["model_v1"])
    path.write_bytes(packed(parts))
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == parts
    assert load_model(path).predict([[("the", "D"), ("heron", "N")]]) == [["B-NP", "I-NP"]]
    whole = path.read_bytes()
    for k in [*range(0, 200, 3), *range(len(whole) - 200, len(whole))]:
        damaged = bytearray(whole)
        damaged[k] ^= 1 << k % 8
        refuse(path, damaged)


def test_saved_again(path):
    """What this version writes for a file that it reads is that file, but for its own version."""
    for whole in WHOLE.values():
        path.write_bytes(whole)
        save_model(load_model(path), path)
        again, parts = members(path.read_bytes()), members(whole)
        assert {k: v for k, v in again.items() if k != "format.json"} == {
            k: v for k, v in parts.items() if k != "format.json"
        }
