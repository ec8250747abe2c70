"""DxDispatch model files: lossless round trips, and errors with their place."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.dialects.directml.dxdispatch.read import DxBinding, is_dx_model, read_dx_model, write_dx_model
from specgate.errors import InputError
from tests.paths import DATA, ROOT

MODEL: dict[str, Any] = {
    "$schema": "./_schema.json",
    "resources": {
        "array": {"initialValuesDataType": "DML_TENSOR_DATA_TYPE_FLOAT16", "initialValues": [1, -2.5, "NaN", "-inf"]},
        "constant": {
            "initialValuesDataType": "UINT8",
            "initialValues": {"valueCount": 4, "value": 255},
            "sizeInBytes": 9,
        },
        "sequence": {
            "initialValuesDataType": "INT64",
            "initialValues": {"valueCount": 3, "valueStart": 1, "valueDelta": -2},
        },
        "list": {"initialValuesDataType": "UNKNOWN", "initialValues": [{"name": "n", "type": "UINT32", "value": 6}]},
        "typed": {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "x.dat"}, "comment": "kept"},
        "image": {"initialValues": {"sourcePath": "x.jpg"}, "resampleSize": [1, 3, 2, 2], "resampleMode": "scale"},
        "later": {"initialValues": "deferred", "type": "buffer"},
    },
    "dispatchables": {
        "hot": {
            "type": "DML_OPERATOR_ONE_HOT",
            "dmlCompileType": "DmlCompileGraph",
            "executionFlags": ["NONE"],
            "desc": {
                "IndicesTensor": {
                    "Type": "BUFFER",
                    "Desc": {"DataType": "DML_TENSOR_DATA_TYPE_INT32", "Sizes": [2, 1]},
                },
                "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 2], "Flags": "DML_TENSOR_FLAG_OWNED_BY_DML"},
                "OutputTensor": {
                    "DataType": "FLOAT32",
                    "Sizes": [2, 3],
                    "Strides": [4, 1],
                    "TotalTensorSizeInBytes": 32,
                },
                "Axis": 1,
            },
            "bindings": {"ValuesTensor": "typed"},
        },
        "inline": {"Type": "ONE_HOT", "Axis": 0, "executionFlags": "NONE"},
        "gemm": {"type": "DML_OPERATOR_GEMM9", "desc": {"Alpha": 1.0}, "bindings": {"BTensor": ["array"]}},
        "shader": {"type": "HLSL", "sourcePath": "a.hlsl", "compiler": "dxc", "compilerArgs": ["-T", "cs_6_2"]},
        "net": {"type": "onnx", "sourcePath": "a.onnx", "freeDimensionNameOverrides": {"N": 2}},
        "graph": {"type": "dmlSerializedGraph", "sourcePath": "a.bin"},
    },
    "commands": [
        {
            "type": "Dispatch",
            "dispatchable": "hot",
            "bindings": {
                "IndicesTensor": {"name": "sequence", "elementOffset": 4, "elementCount": 2, "elementSizeInBytes": 4},
                "OutputTensor": ["array", {"name": "list", "shape": [1], "counter": "list"}],
            },
        },
        {"type": "dispatch", "dispatchable": "shader", "threadGroupCount": [2, 1, 1], "bindings": {}},
        {"type": "print", "resource": "array", "verbose": True},
        {"type": "print", "resource": "list"},
        {"type": "writefile", "resource": "array", "targetPath": "o.npy", "dimensions": [2, 2], "note": 1},
        {"type": "writeFile", "resource": "array", "targetPath": "o.dat"},
    ],
}


def test_every_section_is_read():
    model = read_dx_model(MODEL, file="a/model.json")
    assert [r.kind for r in model.resources.values()] == [
        "array", "constant", "sequence", "list", "file", "file", "deferred",
    ]  # fmt: skip
    assert [r.data_type for r in model.resources.values()] == ["FLOAT16", "UINT8", "INT64", None, "FLOAT32", None, None]
    assert model.resources["constant"].size_in_bytes == 9
    assert [(d.kind, d.operator, d.descriptor is not None) for d in model.dispatchables.values()] == [
        ("directml", "ONE_HOT", True),
        ("directml", "ONE_HOT", True),
        ("directml", "GEMM9", False),
        ("hlsl", "hlsl", False),
        ("onnx", "onnx", False),
        ("dmlSerializedGraph", "dmlSerializedGraph", False),
    ]
    hot = model.dispatchables["hot"]
    assert hot.bindings == {"ValuesTensor": [DxBinding("typed")]}
    assert hot.descriptor is not None
    assert hot.descriptor.fields["ValuesTensor"].flags == 1
    assert model.dispatchables["gemm"].no_table == "directml has no table for 'GEMM9'; did you mean GEMM?"
    assert [command.kind for command in model.commands] == [
        "dispatch",
        "dispatch",
        "print",
        "print",
        "writeFile",
        "writeFile",
    ]
    bound = model.commands[0].bindings
    assert bound["IndicesTensor"] == [DxBinding("sequence", 4, 4, {"elementCount": 2})]
    assert [binding.name for binding in bound["OutputTensor"]] == ["array", "list"]
    assert model.commands[4].dimensions == (2, 2)
    assert model.file == "a/model.json"


def test_round_trip_keeps_every_field():
    model = read_dx_model(MODEL)
    written = write_dx_model(model)
    assert read_dx_model(written) == model
    assert write_dx_model(read_dx_model(json.dumps(written))) == written
    for name in ("comment", "resampleSize", "freeDimensionNameOverrides", "threadGroupCount", "note", "$schema"):
        assert name in json.dumps(written)


def test_written_models_use_short_forms():
    written = write_dx_model(read_dx_model(MODEL))
    assert written["resources"]["array"]["initialValuesDataType"] == "FLOAT16"
    assert written["dispatchables"]["hot"]["desc"]["IndicesTensor"] == {"DataType": "INT32", "Sizes": [2, 1]}
    assert written["commands"][3] == {"type": "print", "resource": "list"}
    assert written["commands"][0]["bindings"]["OutputTensor"][0] == "array"


@pytest.mark.parametrize("name", ["one_hot.json", "one_hot.yaml"])
def test_models_from_paths_strings_and_documents(name):
    path = DATA / "dxdispatch" / name
    model = read_dx_model(path)
    assert model.file == str(path)
    text = read_dx_model(path.read_text(encoding="utf-8"), file=str(path))
    assert text == model == read_dx_model(write_dx_model(model), file=str(path))


def test_is_dx_model():
    assert is_dx_model(MODEL)
    assert is_dx_model({"dispatchables": {}})
    assert not is_dx_model({"dispatchables": []})
    assert not is_dx_model([MODEL])
    assert not is_dx_model({"type": "ONE_HOT", "desc": {}})


def at(path, value):
    """Return the model with another value at one place; `...` removes it."""
    changed = copy.deepcopy(MODEL)
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed


ARRAY, COMMAND, BOUND = ("resources", "array"), ("commands", 0), ("commands", 0, "bindings")


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "expected a DxDispatch model"),
        (at(("dispatchables",), ...), "expected a DxDispatch model"),
        (at(("resources",), []), r"resources: expected an object of resources by name, found \[\]"),
        (at(("commands",), {}), "commands: expected a list of commands"),
        (at(ARRAY, 3), "resources/array: expected an object, found 3"),
        (at((*ARRAY, "initialValues"), ...), "resources/array.initialValues: expected a list, or an object"),
        (at((*ARRAY, "initialValues"), []), "resources/array.initialValues: expected at least one value"),
        (
            at((*ARRAY, "initialValues"), [1, "x"]),
            r"initialValues\[1\]: expected a number, nan, inf or -inf, found 'x'",
        ),
        (at((*ARRAY, "initialValues"), [10**400]), r"initialValues\[0\]: expected a number"),
        (at((*ARRAY, "initialValues"), {"value": 1, "valueStart": 1}), "an object with one of value, valueStart"),
        (at((*ARRAY, "initialValues"), {"value": 1}), "initialValues.valueCount: expected an integer from 0"),
        (at((*ARRAY, "initialValues"), {"value": 1, "valueCount": 0}), "expected a valueCount above 0, found 0"),
        (at((*ARRAY, "initialValues"), {"value": 1, "valueCount": 2**32}), "valueCount: expected an integer from 0"),
        (
            at((*ARRAY, "initialValues"), {"valueStart": 1, "valueCount": 3}),
            r"initialValues\[valueDelta\]: expected a number",
        ),
        (at((*ARRAY, "initialValues"), {"sourcePath": 1}), "expected the field sourcePath as a string, found 1"),
        (at((*ARRAY, "initialValues"), "soon"), "or 'deferred', found 'soon'"),
        (
            at((*ARRAY, "initialValuesDataType"), ...),
            r"initialValues\[0\]: expected an object with type and value, found 1",
        ),
        (at(("resources", "constant", "initialValuesDataType"), ...), "expected an initialValuesDataType"),
        (at((*ARRAY, "initialValuesDataType"), "FLOAT8"), "such as FLOAT32, found 'FLOAT8'"),
        (at((*ARRAY, "initialValuesDataType"), "INT4"), r"give 4-bit values as UINT8 bytes.*found 'INT4'"),
        (at((*ARRAY, "initialValuesDataType"), ["INT8"]), r"such as FLOAT32, found \['INT8'\]"),
        (at((*ARRAY, "sizeInBytes"), -1), "sizeInBytes: expected an integer from 0"),
        (at(("resources", "list", "initialValues", 0, "type"), "UNKNOWN"), "expected a type, found 'UNKNOWN'"),
        (at(("dispatchables", "hot"), None), "dispatchables/hot: expected an object, found None"),
        (at(("dispatchables", "hot", "type"), ...), "dispatchables/hot: expected the field Type as a string"),
        (at(("dispatchables", "hot", "desc", "Axis"), "x"), "dispatchables/hot.Axis: expected an integer"),
        (at(("dispatchables", "hot", "desc", "Axes"), 1), "dispatchables/hot: 'Axes' is not a field of ONE_HOT"),
        (at(("dispatchables", "inline", "Axes"), 1), "dispatchables/inline: 'Axes' is not a field of ONE_HOT"),
        (at(("dispatchables", "hot", "desc"), 1), "dispatchables/hot.desc: expected an object"),
        (at(("dispatchables", "hot", "bindings", "ValuesTensor"), "none"), "the model has no resource 'none'"),
        (at(COMMAND, []), r"commands\[0\]: expected an object"),
        (at((*COMMAND, "type"), "wait"), "expected a command dispatch, print or writeFile, found 'wait'"),
        (at((*COMMAND, "dispatchable"), "x"), r"commands\[0\]: the model does not have a dispatchable 'x'"),
        (at(BOUND, ...), r"commands\[0\].bindings: expected an object of bindings by name, found None"),
        (at((*BOUND, "IndicesTensor"), 3), "IndicesTensor: expected a resource's name or an object with it, found 3"),
        (at((*BOUND, "IndicesTensor"), {"elementOffset": 1}), "expected the field name as a string"),
        (at((*BOUND, "IndicesTensor", "elementOffset"), 2**64), "elementOffset: expected an integer from 0"),
        (at((*BOUND, "IndicesTensor"), "x" * 999), "the model has no resource 'xxx"),
        (at(("commands", 1, "threadGroupCount"), [1]), "three thread group counts"),
        (at(("commands", 2, "resource"), "x"), r"commands\[2\]: the model does not have a resource 'x'"),
        (at(("commands", 2, "verbose"), 1), "verbose as true or false, found 1"),
        (at(("commands", 4, "dimensions"), [1] * 33), "at most 32 dimensions"),
        (at(("commands", 4, "targetPath"), ...), "expected the field targetPath as a string"),
    ],
)
def test_error_messages_name_the_location(document, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        read_dx_model(document if isinstance(document, dict) else json.dumps(document) + "\n", file="model.json")
    assert str(caught.value).startswith("model.json: ")
    assert len(str(caught.value)) < 400


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["FLOAT32", "array"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PATHS: list[tuple[Any, ...]] = [
    path
    for group in ("resources", "dispatchables", "commands")
    for path in [(group,)]
    + [(group, k) for k in (MODEL[group] if isinstance(MODEL[group], dict) else range(len(MODEL[group])))]
]
PATHS += [(*path, key) for path in PATHS[1:] if len(path) == 2 for key in MODEL[path[0]][path[1]]]


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.sampled_from(PATHS), JSON)
def test_any_value_at_any_path_is_read_or_rejected(path, value):
    try:
        model = read_dx_model(at(path, value))
    except InputError:
        return
    round_trip = read_dx_model(write_dx_model(model))
    assert repr(round_trip) == repr(model), "nan is not equal to itself, but prints the same"


def test_reading_does_not_import_numpy():
    code = (
        "import sys\n"
        "from specgate.dialects.directml.dxdispatch.read import read_dx_model, write_dx_model\n"
        f"write_dx_model(read_dx_model({str(DATA / 'dxdispatch' / 'one_hot.json')!r}))\n"
        "heavy = {'numpy', 'pydantic', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run(
        [sys.executable, "-c", "from specgate.spec.tables import dialect; dialect('directml')"], cwd=ROOT, check=True
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
