"""OpenVINO layers as dicts, with names of IR layers: forms, mistakes, round trips."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.descriptors.core import UNKNOWN, Malformed, Symbol, TensorDesc
from specgate.descriptors.read import read_dict
from specgate.dialects.openvino.oracle.layer import layer_of
from specgate.dialects.openvino.reader import is_descriptor, read, write
from specgate.errors import InputError, NoTable
from specgate.spec.tables import dialect

I64 = {"element_type": "i64", "shape": [3, -1]}
DEPTH = {"element_type": "i64", "shape": [], "value": 4}
F32 = {"element_type": "f32", "shape": []}
LAYER: dict[str, Any] = {
    "type": "OneHot",
    "version": "opset1",
    "inputs": [I64, DEPTH, F32, F32],
    "outputs": [],
    "data": {"axis": -1},
}


def test_reading() -> None:
    descriptor = read_dict(LAYER)
    assert (descriptor.dialect, descriptor.operator, descriptor.version, descriptor.oddities) == (
        "openvino",
        "OneHot",
        "opset1",
        (),
    )
    assert descriptor.fields == {
        "indices": TensorDesc("i64", (3, None)),
        "depth": TensorDesc("i64", (), value=(4,)),
        "on_value": TensorDesc("f32", ()),
        "off_value": TensorDesc("f32", ()),
        "axis": -1,
    }


FORMS: dict[str, dict[str, Any]] = {
    "with an id": {**LAYER, "id": "7"},
    "null for an unknown size": {**LAYER, "inputs": [{"element_type": "i64", "shape": [3, None]}, DEPTH, F32, F32]},
    "attributes as text": {**LAYER, "data": {"axis": "-1"}},
    "attributes as text with spaces": {**LAYER, "data": {"axis": " -1 "}},
    "no outputs": {key: value for key, value in LAYER.items() if key != "outputs"},
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_forms(data: dict[str, Any]) -> None:
    assert read(data) == read(LAYER)


def test_without_a_version() -> None:
    assert read({key: value for key, value in LAYER.items() if key != "version"}).version is None


def test_symbols_and_unknown_ranks() -> None:
    descriptor = read({**LAYER, "inputs": [{"element_type": "i64", "shape": ["N", 2]}, {"shape": None}]})
    assert descriptor.fields["indices"].sizes == (Symbol("N"), 2)
    assert descriptor.fields["depth"] == TensorDesc(None, None)


def test_oddities() -> None:
    descriptor = read({**LAYER, "inputs": [I64] * 5, "data": {"axis": "--1", "depth": "3"}})
    assert descriptor.oddities == (
        Malformed("too-many-inputs", "inputs", "has 5 inputs, but accepts at most 4 at this level"),
        Malformed("wrong-kind", "axis", "axis is '--1', but a 64-bit integer is expected", "--1"),
        Malformed(
            "unknown-attribute",
            "depth",
            "OneHot does not have an attribute 'depth'",
            "3",
        ),
    )


def with_indices(**raw: Any) -> dict[str, Any]:
    return {**LAYER, "inputs": [{**I64, **raw}]}


SIZE = "expected a size from 0 to 2**63 - 1, a name or null, found"
MISTAKES: dict[str, tuple[Any, str]] = {
    "misspelt key": ({**LAYER, "verson": "opset1"}, "'verson' is not a field of a layer; did you mean version?"),
    "strange key": ({**LAYER, "x": 1}, "'x' is not a field of a layer; expected type, version, name, id, inputs, outputs, data"),
    "key that is no word": ({**LAYER, None: 1}, "None is not a field of a layer; expected type"),
    "type": ({**LAYER, "type": 3}, "expected type and version as strings, found 3 and 'opset1'"),
    "version": ({**LAYER, "version": 1}, "expected type and version as strings, found 'OneHot' and 1"),
    "name": ({**LAYER, "name": 3}, "name: expected a name, found 3"),
    "inputs": ({**LAYER, "inputs": {"a": 1}}, "inputs: expected a list of ports, found {'a': 1}"),
    "input": ({**LAYER, "inputs": [3]}, "inputs[0]: expected an object with element_type and shape, or null, found 3"),
    "outputs": ({**LAYER, "outputs": 3}, "outputs: expected a list of ports, found 3"),
    "key of a port": (with_indices(precision="I64"), "inputs[0]: 'precision' is not a field of a port; expected element_type, shape, value"),
    "type in a list": (with_indices(element_type=["i64"]), "inputs[0].element_type: expected an element type such as f32, found ['i64']"),
    "type as an object": (with_indices(element_type={}), "inputs[0].element_type: expected an element type such as f32, found {}"),
    "shape": (with_indices(shape=3), "inputs[0].shape: expected a list of at most 256 sizes or null, found 3"),
    "negative size": (with_indices(shape=[-2]), f"inputs[0].shape[0]: {SIZE} -2"),
    "range of sizes": (with_indices(shape=[[1, 3]]), f"inputs[0].shape[0]: {SIZE} [1, 3]"),
    "constant": (with_indices(value=[{}]), "inputs[0].value: expected numbers of at most 64 bits, found {}"),
    "data": ({**LAYER, "data": "axis"}, "data: expected an object of attributes by name"),
    "attribute that has no name": ({**LAYER, "data": {(1, 2): 1}}, "expected attributes by name, found the key (1, 2)"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_invalid_descriptors_are_rejected(data: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 400


def test_location_in_a_file() -> None:
    with pytest.raises(InputError, match=r"^layers\[2\]\.inputs\[0\]\.shape\[0\]: expected a size"):
        read(with_indices(shape=[-2]), "layers[2]")


def test_no_table() -> None:
    with pytest.raises(NoTable, match="openvino has no table for 'ONEHOT'"):
        read({**LAYER, "type": "ONEHOT"})


ATTRIBUTES = """\
operator: Kinds
summary: Has an attribute of every kind.
source: [{page: own}]
fields:
  whole: {kind: attribute, type: int, optional: true}
  half: {kind: attribute, type: float, optional: true}
  switch: {kind: attribute, type: bool, optional: true}
  word: {kind: attribute, type: string, optional: true}
  axes: {kind: attribute, type: "int[]", optional: true}
support: {"opset1": {}}
"""
GOOD: dict[str, tuple[str, Any, Any]] = {
    "int": ("whole", 3, 3),
    "int as text": ("whole", "-9223372036854775808", -(2**63)),
    "float": ("half", 0.5, 0.5),
    "float as text": ("half", "1e-05", 1e-05),
    "infinite float as text": ("half", "inf", float("inf")),
    "whole float": ("half", 2, 2.0),
    "true": ("switch", True, True),
    "true as text": ("switch", "true", True),
    "false as text": ("switch", "false", False),
    "one as text": ("switch", "1", True),
    "zero": ("switch", 0, False),
    "string": ("word", "left", "left"),
    "ints": ("axes", [1, 2], [1, 2]),
    "ints as text": ("axes", "1, 2,-3", [1, 2, -3]),
}
BAD: dict[str, tuple[str, Any, str]] = {
    "int": ("whole", "1.5", "whole is '1.5', but a 64-bit integer is expected"),
    "two signs": ("whole", "--5", "whole is '--5', but a 64-bit integer is expected"),
    "empty int": ("whole", "", "whole is '', but a 64-bit integer is expected"),
    "long int": ("whole", "9" * 5000, f"whole is '{'9' * 58}…, but a 64-bit integer is expected"),
    "large int": ("whole", "9223372036854775808", "whole is '9223372036854775808', but a 64-bit integer is expected"),
    "float": ("half", "half", "half is 'half', but a number is expected"),
    "long float": ("half", "x" * 10**5, f"half is '{'x' * 58}…, but a number is expected"),
    "huge float": ("half", 10**400, "half is an integer of 1329 bits, but a number is expected"),
    "truth as a float": ("half", True, "half is True, but a number is expected"),
    "list as a float": ("half", [1], "half is [1], but a number is expected"),
    "truth": ("switch", "yes", "switch is 'yes', but true or false is expected"),
    "list as a truth": ("switch", [True], "switch is [True], but true or false is expected"),
    "two as a truth": ("switch", 2, "switch is 2, but true or false is expected"),
    "string": ("word", 3, "word is 3, but a string is expected"),
    "ints": ("axes", "1;2", "axes is '1;2', but a 64-bit integer is expected"),
    "int as ints": ("axes", 3, "axes is 3, but int[] is expected"),
}


@pytest.mark.parametrize(("name", "raw", "value"), GOOD.values(), ids=GOOD.keys())
def test_attributes(scratch, name: str, raw: Any, value: Any) -> None:
    scratch("openvino", kinds=ATTRIBUTES)
    result = read({"type": "Kinds", "version": "opset1", "data": {name: raw}})
    assert result.fields == {name: value}
    assert repr(result.fields[name]) == repr(value)
    assert read(write(result)) == result


@pytest.mark.parametrize(("name", "raw", "message"), BAD.values(), ids=BAD.keys())
def test_attributes_of_wrong_kinds(scratch, name: str, raw: Any, message: str) -> None:
    scratch("openvino", kinds=ATTRIBUTES)
    result = read({"type": "Kinds", "version": "opset1", "data": {name: raw}})
    assert [(o.code, o.where, o.message) for o in result.oddities] == [("wrong-kind", name, message)]
    assert specgate.check(result, "openvino:opset13").findings[0].message.startswith(message)


def test_written() -> None:
    assert write(read(LAYER)) == {**LAYER, "inputs": [I64, {**DEPTH, "value": [4]}, F32, F32]}


def test_oddities_and_omitted_inputs_are_written() -> None:
    descriptor = read(
        {
            **LAYER,
            "name": "oh",
            "inputs": [None, {"element_type": "i64", "shape": None}],
            "data": {"axis": [], "x": "y"},
        }
    )
    assert write(descriptor) == {
        "type": "OneHot",
        "version": "opset1",
        "name": "oh",
        "inputs": [None, {"element_type": "i64", "shape": None}],
        "outputs": [],
        "data": {"axis": [], "x": "y"},
    }
    assert read(write(descriptor)) == descriptor


@pytest.mark.parametrize("data", [{}, {"type": "OneHot"}, {"type": "OneHot", "version": 1}, {"op_type": "OneHot"}])
def test_values_that_are_not_descriptors(data: dict[str, Any]) -> None:
    assert not is_descriptor(data)


def test_element_type_in_port_spelling() -> None:
    assert read(with_indices(element_type="I64")) == read(with_indices(element_type="i64"))
    assert read(with_indices(element_type="dynamic")) == read(with_indices(element_type=None))


def test_unknown_type_is_a_finding() -> None:
    verdict = specgate.check(with_indices(element_type="i46"), "openvino:opset16")
    assert verdict.accepted is False
    assert verdict.findings[0].id == "openvino/OneHot/indices.unknown-word"
    assert not any(finding.id.endswith("indices.type") for finding in verdict.findings)
    assert "did you mean i4? Known: f64, f32" in verdict.findings[0].message


@pytest.mark.parametrize("word", ["tanh", "TANH", "Tanh"])
def test_enum_values_are_case_insensitive(word):
    """OpenVINO's reader accepts them, and OpenVINO writes some in capitals."""
    tensor = {"element_type": "f32", "shape": [2]}
    layer = {
        "type": "Gelu",
        "version": "opset7",
        "inputs": [tensor],
        "outputs": [],
        "data": {"approximation_mode": word},
    }
    assert read_dict(layer, "openvino").fields["approximation_mode"] == "tanh"
    assert specgate.check(layer, "openvino:opset7").accepted
    layer["data"] = {"approximation_mode": f"{word}x"}
    assert specgate.check(layer, "openvino:opset7").accepted is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2,?,1..3", [2, -1, -1]), ("", []), (" 5, 6", [5, 6]), ("-1", [-1]), ("...", UNKNOWN), ([2, -1], [2, -1])],
)
def test_the_attribute_shape(text, expected):
    data = {"type": "Parameter", "data": {"element_type": "f32", "shape": text}}
    result = read(data)
    assert result.fields["shape"] == expected
    assert result.oddities == ()
    assert read(write(result)).fields == result.fields


@pytest.mark.parametrize("shape", ["a", "1,,2", "2;3", ["?"], 3])
def test_invalid_shapes_are_oddities(shape):
    result = read({"type": "Parameter", "data": {"element_type": "f32", "shape": shape}})
    assert [oddity.code for oddity in result.oddities] == ["wrong-kind"]


END = {"element_type": "f32", "shape": [2]}
BODY = {"inputs": [END], "outputs": [END]}


def test_layer_with_bodies_round_trips():
    layer = {
        "type": "TensorIterator",
        "version": "opset1",
        "inputs": [END],
        "outputs": [END],
        "data": {
            "body": BODY,
            "port_map": {"input": [{"external_port_id": 0, "internal_layer_id": 0, "axis": 0}], "output": []},
            "back_edges": [{"from-layer": 1, "to-layer": 0}],
        },
    }
    descriptor = read(layer)
    assert descriptor.oddities == ()
    assert descriptor.extra["back_edges"] == [{"from-layer": 1, "to-layer": 0}]
    assert write(descriptor) == layer


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"port_map": 3}, r"data\.port_map: expected an object with input and output, found 3"),
        ({"port_map": {"inputs": []}}, "expected an object with input and output"),
        ({"port_map": {"input": 3}}, r"port_map\.input: expected a list of objects"),
        ({"port_map": {"output": [3]}}, r"port_map\.output\[0\]: expected an object of external_port_id"),
        ({"port_map": {"output": [{"from-layer": 1}]}}, "expected an object of external_port_id"),
        ({"back_edges": [{"axis": 1}]}, "expected an object of from-layer, to-layer"),
        ({"back_edges": [{"to-layer": 1.5}]}, "expected numbers and words"),
    ],
)
def test_odd_maps_are_rejected(change, message):
    with pytest.raises(InputError, match=message):
        read({"type": "Loop", "data": {"body": BODY, **change}})


@pytest.mark.parametrize(
    "body", [3, {"layers": []}, {"inputs": [3]}, {"outputs": [{"element_type": "q7", "shape": []}]}]
)
def test_invalid_bodies_are_oddities(body):
    result = read({"type": "Loop", "data": {"body": body}})
    assert [(oddity.code, oddity.where) for oddity in result.oddities] == [("wrong-kind", "body")]


def test_port_maps_without_bodies_are_unknown_attributes():
    descriptor = read({"type": "Abs", "data": {"port_map": {}}})
    assert [(oddity.code, oddity.where) for oddity in descriptor.oddities] == [("unknown-attribute", "port_map")]


def test_attribute_names_with_a_dash(scratch):
    """A field cannot have this name; it is accepted in addition to the IR's."""
    text = (
        "operator: Mine\nsummary: It is ours.\nsource:\n  - {page: Mine-1}\n"
        "fields:\n  exclude_pad: {kind: attribute, type: bool, vendor_name: exclude-pad}\n"
        'support:\n  "opset1": {}\n'
    )
    scratch("openvino", mine=text)
    descriptor = read({"type": "Mine", "version": "opset1", "data": {"exclude-pad": "true"}})
    assert (descriptor.fields, descriptor.oddities) == ({"exclude_pad": True}, ())
    assert write(descriptor)["data"] == {"exclude-pad": True}
    assert layer_of(descriptor, "opset1").data == {"exclude-pad": True}


def test_odd_value_is_written_under_its_ir_name() -> None:
    layer = {
        "type": "AvgPool",
        "version": "opset1",
        "inputs": [{"element_type": "f32", "shape": [1, 1, 4]}],
        "outputs": [],
        "data": {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0], "exclude-pad": [3]},
    }
    descriptor = read_dict(layer, "openvino")
    assert [(o.code, o.where) for o in descriptor.oddities] == [("wrong-kind", "exclude_pad")]
    assert write(descriptor)["data"]["exclude-pad"] == [3]
    assert read_dict(write(descriptor), "openvino") == descriptor


@pytest.mark.parametrize(
    ("kind", "page", "name"),
    [
        ("SearchSorted", "right", "right_mode"),
        ("MatrixNms", "sort_result", "sort_result_type"),
        ("MulticlassNms", "sort_result", "sort_result_type"),
        ("SegmentMax", "empty_segment_value", "fill_mode"),
        ("Col2Im", "stride", "strides"),
        ("Col2Im", "dilation", "dilations"),
    ],
)
def test_attribute_name_that_only_the_documentation_has(kind: str, page: str, name: str) -> None:
    """Builds ignore it: OpenVINO 2026.4.1 writes the other name in its IRs."""
    examples = [example["descriptor"] for example in dialect("openvino").operator(kind).table.examples.values()]
    theirs = next(example for example in examples if name in example.get("data", {}))
    value = theirs["data"][name]
    ours = {**theirs, "data": {page if key == name else key: item for key, item in theirs["data"].items()}}
    target = "openvino:opset16"
    assert specgate.check(ours, target, basis="documented").accepted is True
    assert specgate.check(theirs, target, basis="documented").accepted is True
    for basis in ("observed", "both"):
        result = specgate.check(ours, target, basis=basis).findings
        assert result[0].id == f"openvino/{kind}/unknown-attribute"
        assert result[0].message.startswith(f"{page} is the documented name of {name}, which builds do not read")
        assert result[0].fix == f"rename {page} to {name}"
    outcome = read_dict(ours, "openvino")
    assert write(outcome)["data"][page] == value
    assert name not in write(outcome)["data"]


@pytest.mark.parametrize("epsilon", [10**5000, -(10**5000), [10**5000]], ids=["large", "negative", "list"])
def test_integers_too_long_to_print(epsilon: Any) -> None:
    ports = [{"element_type": "f32", "shape": shape} for shape in ([1, 3, 4], [3], [3], [3], [3])]
    layer = {"type": "BatchNormInference", "version": "opset5", "inputs": ports, "data": {"epsilon": epsilon}}
    assert specgate.check(layer, "openvino:opset13").accepted is False
