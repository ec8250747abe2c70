"""ONNX nodes as dicts, with names from NodeProto and TypeProto: errors, round trips."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.descriptors.core import Malformed, Symbol, TensorDesc, tensor
from specgate.descriptors.read import read_dict
from specgate.dialects import package
from specgate.dialects.onnx.reader import operator_name, read, write
from specgate.errors import InputError, NoTable

I64 = {"elem_type": "INT64", "shape": [2, "N", None]}
DEPTH = {"elem_type": "INT64", "shape": [], "value": 4}
VALUES = {"elem_type": "FLOAT", "shape": [2]}
NODE: dict[str, Any] = {
    "op_type": "OneHot",
    "domain": "",
    "inputs": [I64, DEPTH, VALUES],
    "outputs": [],
    "attributes": {"axis": -1},
}


def test_reading() -> None:
    descriptor = read_dict(NODE)
    assert (descriptor.dialect, descriptor.operator, descriptor.version, descriptor.oddities, descriptor.plain) == (
        "onnx",
        "OneHot",
        None,
        (),
        False,
    )
    assert descriptor.fields == {
        "indices": TensorDesc("INT64", (2, Symbol("N"), None)),
        "depth": TensorDesc("INT64", (), value=(4,)),
        "values": TensorDesc("FLOAT", (2,)),
        "axis": -1,
    }


FORMS: dict[str, dict[str, Any]] = {
    "domain by name": {**NODE, "domain": "ai.onnx"},
    "no domain": {key: value for key, value in NODE.items() if key != "domain"},
    "domain null": {**NODE, "domain": None},
    "no outputs": {key: value for key, value in NODE.items() if key != "outputs"},
    "outputs null": {**NODE, "outputs": None},
    "types by number": {
        **NODE,
        "inputs": [{**I64, "elem_type": 7}, {**DEPTH, "elem_type": 7}, {**VALUES, "elem_type": 1}],
    },
    "types as schemas spell them": {**NODE, "inputs": [{**I64, "elem_type": "tensor(int64)"}, DEPTH, VALUES]},
    "named inputs": {**NODE, "inputs": [{**I64, "name": "x"}, DEPTH, VALUES]},
    "constant in a list": {**NODE, "inputs": [I64, {**DEPTH, "value": [4]}, VALUES]},
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_forms(data: dict[str, Any]) -> None:
    assert read(data) == read(NODE)


def test_operator_names() -> None:
    assert operator_name("OneHot") == operator_name("OneHot", "ai.onnx") == "OneHot"
    assert operator_name("Gelu", "com.microsoft") == "com.microsoft.Gelu"


@pytest.mark.parametrize(
    ("shape", "sizes"), [(None, None), ([], ()), ([3, 0], (3, 0)), (["N + 1"], ("N + 1",)), ([2**63 - 1], (2**63 - 1,))]
)
def test_shapes(shape: Any, sizes: Any) -> None:
    assert read({**NODE, "inputs": [{"elem_type": "INT64", "shape": shape}]}).fields["indices"].sizes == sizes


def test_tensor_without_type_and_shape() -> None:
    assert read({**NODE, "inputs": [{}]}).fields["indices"] == TensorDesc(None, None)


VALUES_READ: dict[str, tuple[Any, Any]] = {
    "number": (4, (4,)),
    "nested": ([[1, 2], [3, 4]], (1, 2, 3, 4)),
    "empty": ([], ()),
    "words": (["a", "b"], ("a", "b")),
    "truths": ([True, False], (True, False)),
    "floats": ([0.5, 1e300], (0.5, 1e300)),
    "bytes": (b"x", (b"x",)),
    "complex": (1j, (1j,)),
    "null": (None, None),
    "limits": ([2**64 - 1, -(2**63)], (2**64 - 1, -(2**63))),
}


@pytest.mark.parametrize(("raw", "value"), VALUES_READ.values(), ids=VALUES_READ.keys())
def test_constants(raw: Any, value: Any) -> None:
    assert read({**NODE, "inputs": [I64, {**DEPTH, "value": raw}]}).fields["depth"].value == value


@pytest.mark.parametrize("opset", [13, "13"])
def test_versions(opset: Any) -> None:
    assert read({**NODE, "opset": opset}).version == "13"


def test_omitted_inputs() -> None:
    descriptor = read({**NODE, "inputs": [None, DEPTH, None]})
    assert list(descriptor.fields) == ["depth", "axis"]


def test_oddities() -> None:
    descriptor = read({**NODE, "inputs": [I64] * 4, "attributes": {"axis": "x", "axes": [1]}})
    assert descriptor.oddities == (
        Malformed("too-many-inputs", "inputs", "has 4 inputs, but accepts at most 3 at this level"),
        Malformed("wrong-kind", "axis", "axis is 'x', but a 64-bit integer is expected", "x"),
        Malformed("unknown-attribute", "axes", "OneHot does not have an attribute 'axes'", [1]),
    )


def with_indices(**raw: Any) -> dict[str, Any]:
    return {**NODE, "inputs": [{**I64, **raw}, DEPTH, VALUES]}


SIZE = "expected a size from 0 to 2**63 - 1, a name or null, found"
MISTAKES: dict[str, tuple[Any, str]] = {
    "misspelt key": ({**NODE, "atributes": {}}, "'atributes' is not a field of a node; did you mean attributes?"),
    "strange key": ({**NODE, "x": {}}, "'x' is not a field of a node; expected op_type, domain, name, inputs, outputs, attributes, opset"),
    "key that is no word": ({**NODE, 10**5000: {}}, "an integer of 16610 bits is not a field of a node; expected op_type"),
    "operator": ({**NODE, "op_type": 3}, "expected op_type and domain as strings, found 3 and ''"),
    "no operator": ({**NODE, "op_type": None}, "expected op_type and domain as strings, found None and ''"),
    "domain": ({**NODE, "domain": ["ai.onnx"]}, "expected op_type and domain as strings, found 'OneHot' and ['ai.onnx']"),
    "name": ({**NODE, "name": ["a"]}, "name: expected a name, found ['a']"),
    "inputs": ({**NODE, "inputs": {}}, "inputs: expected a list of tensors, found {}"),
    "input": ({**NODE, "inputs": ["x"]}, "inputs[0]: expected an object with elem_type and shape, or null, found 'x'"),
    "outputs": ({**NODE, "outputs": "y"}, "outputs: expected a list of tensors, found 'y'"),
    "key of a tensor": (with_indices(sizes=[1]), "inputs[0]: 'sizes' is not a field of a tensor; expected elem_type, shape, value"),
    "type in a list": (with_indices(elem_type=["INT64"]), "inputs[0].elem_type: expected a TensorProto.DataType, found ['INT64']"),
    "truth as a type": (with_indices(elem_type=True), "inputs[0].elem_type: expected a TensorProto.DataType, found True"),
    "shape": (with_indices(shape="2,3"), "inputs[0].shape: expected a list of at most 256 sizes or null, found '2,3'"),
    "negative size": (with_indices(shape=[2, -1]), f"inputs[0].shape[1]: {SIZE} -1"),
    "float size": (with_indices(shape=[2.0]), f"inputs[0].shape[0]: {SIZE} 2.0"),
    "truth as a size": (with_indices(shape=[True]), f"inputs[0].shape[0]: {SIZE} True"),
    "empty name": (with_indices(shape=[""]), f"inputs[0].shape[0]: {SIZE} ''"),
    "size too large": (with_indices(shape=[2**63]), f"inputs[0].shape[0]: {SIZE} 9223372036854775808"),
    "many sizes": (with_indices(shape=[1] * 257), "inputs[0].shape: expected a list of at most 256 sizes or null, found [1, 1, 1,"),
    "constant": (with_indices(value={}), "inputs[0].value: expected numbers of at most 64 bits, found {}"),
    "null in a constant": (with_indices(value=[1, None]), "inputs[0].value: expected numbers of at most 64 bits, found None"),
    "constant of too many bits": (with_indices(value=2**64), "inputs[0].value: expected numbers of at most 64 bits, found 18446744073709551616"),
    "attributes": ({**NODE, "attributes": [1]}, "attributes: expected an object of attributes by name"),
    "attribute that has no name": ({**NODE, "attributes": {3: 1}}, "expected attributes by name, found the key 3"),
    "opset": ({**NODE, "opset": "v13"}, "opset: expected an opset number, found 'v13'"),
    "negative opset": ({**NODE, "opset": -1}, "opset: expected an opset number, found -1"),
    "float opset": ({**NODE, "opset": 13.0}, "opset: expected an opset number, found 13.0"),
    "truth as opset": ({**NODE, "opset": True}, "opset: expected an opset number, found True"),
    "huge opset": ({**NODE, "opset": 10**5000}, "opset: expected an opset number, found an integer of 16610 bits"),
    "opset in other digits": ({**NODE, "opset": "１３"}, "opset: expected an opset number, found '１３'"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_invalid_descriptors_are_rejected(data: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 500


def test_location_in_a_file() -> None:
    with pytest.raises(InputError, match=r"^nodes\[2\]\.inputs\[0\]\.shape\[0\]: expected a size"):
        read(with_indices(shape=[-1]), "nodes[2]")


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def doubling() -> list[Any]:
    value: list[Any] = []
    for _ in range(64):
        value = [value, value]
    return value


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [endless(), doubling(), [[]] * 2_000_000, [0] * 1_000_001],
    ids=["endless", "doubling", "many lists", "many"],
)
def test_constants_are_bounded(value: Any) -> None:
    with pytest.raises(InputError, match="expected at most 1000000 elements"):
        read(with_indices(value=value))


@pytest.mark.parametrize(
    ("op_type", "domain", "message"),
    [
        ("Onehot", "", "onnx has no table for 'Onehot'; did you mean OneHot?"),
        ("OneHot", "com.microsoft", "onnx has no table for 'com.microsoft.OneHot'"),
        ("\x1b[0m", "", r"onnx has no table for '\x1b[0m'"),
    ],
)
def test_no_table(op_type: str, domain: str, message: str) -> None:
    with pytest.raises(NoTable) as caught:
        read({**NODE, "op_type": op_type, "domain": domain})
    assert str(caught.value).startswith(message)


ATTRIBUTES = """\
operator: Kinds
summary: Has an attribute of every kind.
source: [{page: own}]
fields:
  many: {kind: input, type: "tensor[]"}
  whole: {kind: attribute, type: int, optional: true}
  half: {kind: attribute, type: float, optional: true}
  word: {kind: attribute, type: string, optional: true}
  axes: {kind: attribute, type: "int[]", optional: true}
  words: {kind: attribute, type: "string[]", optional: true}
support: {"1": {}}
"""
GOOD: dict[str, tuple[str, Any, Any]] = {
    "int": ("whole", -(2**63), -(2**63)),
    "float": ("half", 0.5, 0.5),
    "whole float": ("half", 1, 1.0),
    "infinite float": ("half", float("inf"), float("inf")),
    "string": ("word", "up", "up"),
    "bytes": ("word", b"up\xff", "up\ufffd"),
    "ints": ("axes", [1, -1], [1, -1]),
    "tuple": ("axes", (1, 2), [1, 2]),
    "strings": ("words", ["a", b"b"], ["a", "b"]),
}
BAD: dict[str, tuple[str, Any, str]] = {
    "int": ("whole", 1.0, "whole is 1.0, but a 64-bit integer is expected"),
    "truth": ("whole", True, "whole is True, but a 64-bit integer is expected"),
    "large int": ("whole", 2**63, "whole is 9223372036854775808, but a 64-bit integer is expected"),
    "huge int": ("whole", 10**5000, "whole is an integer of 16610 bits, but a 64-bit integer is expected"),
    "float": ("half", "0.5", "half is '0.5', but a number is expected"),
    "huge float": ("half", 10**400, "half is an integer of 1329 bits, but a number is expected"),
    "string": ("word", 3, "word is 3, but a string is expected"),
    "ints": ("axes", 1, "axes is 1, but int[] is expected"),
    "int of ints": ("axes", [1, "2"], "axes is [1, '2'], but a 64-bit integer is expected"),
    "null": ("axes", None, "axes is None, but int[] is expected"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "raw", "value"), GOOD.values(), ids=GOOD.keys())
def test_attributes(scratch, name: str, raw: Any, value: Any) -> None:
    scratch("onnx", kinds=ATTRIBUTES)
    onnx_model = read({"op_type": "Kinds", "inputs": [VALUES, VALUES], "attributes": {name: raw}})
    assert onnx_model.fields == {"many": [tensor("FLOAT", [2])] * 2, name: value}
    assert onnx_model.oddities == ()
    assert read(write(onnx_model)) == onnx_model


@pytest.mark.slow
@pytest.mark.parametrize(("name", "raw", "message"), BAD.values(), ids=BAD.keys())
def test_attributes_of_wrong_kinds(scratch, name: str, raw: Any, message: str) -> None:
    scratch("onnx", kinds=ATTRIBUTES)
    onnx_model = read({"op_type": "Kinds", "inputs": [VALUES], "attributes": {name: raw}})
    assert [(o.code, o.where, o.message) for o in onnx_model.oddities] == [("wrong-kind", name, message)]
    assert specgate.check(onnx_model, "onnx:17").findings[0].message.startswith(message)


def test_written() -> None:
    assert write(read(NODE)) == {**NODE, "inputs": [I64, {**DEPTH, "value": [4]}, VALUES]}
    named = {**NODE, "opset": 13, "name": "OneHot_3"}
    assert {key: write(read(named))[key] for key in ("opset", "name")} == {"opset": 13, "name": "OneHot_3"}


def test_oddities_and_omitted_inputs_are_written() -> None:
    data = {**NODE, "inputs": [None, DEPTH], "attributes": {"axis": 1.5, "strange": "x"}}
    descriptor = read(data)
    assert write(descriptor)["inputs"] == [None, {**DEPTH, "value": [4]}]
    assert write(descriptor)["attributes"] == {"axis": 1.5, "strange": "x"}
    assert read(write(descriptor)) == descriptor


@pytest.mark.parametrize(
    "data", [{}, {"type": "OneHot", "version": "opset1"}, {"type": "DML_OPERATOR_ONE_HOT", "desc": {}}]
)
def test_values_that_are_not_descriptors(data: dict[str, Any]) -> None:
    assert not package("onnx").recognises(data)


def test_attributes_that_a_schema_does_not_check() -> None:
    node = {"op_type": "LayerNormalization", "inputs": [I64, I64], "outputs": [], "attributes": {"other": 1}}
    assert read(node).oddities == ()
    assert [malformed.code for malformed in read({**node, "op_type": "Gelu", "inputs": [I64]}).oddities] == [
        "unknown-attribute"
    ]


@pytest.mark.parametrize("word", [7, "7", "0x7", "TensorProto.INT64", "tensor(int64)", "INT64"])
def test_spellings_of_a_type(word: Any) -> None:
    assert read(with_indices(elem_type=word)) == read(NODE)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("INT46", "is 'INT46', which is not a valid element type (did you mean INT4?"),
        ("int64", "is 'int64', which is not a valid element type (did you mean INT64?"),
        ("FLOAT32", "is 'FLOAT32', which is not a valid element type (did you mean FLOAT"),
        (0, "is 0, which is not a valid element type (known: FLOAT, UINT8"),
        (99, "is 99, which is not a valid element type (known: FLOAT, UINT8"),
    ],
)
def test_unknown_type_is_a_finding(word: Any, hint: str) -> None:
    verdict = specgate.check(with_indices(elem_type=word), "onnx:17")
    assert verdict.accepted is False
    (result,) = verdict.findings
    assert result.id == "onnx/OneHot/indices.unknown-word"
    assert result.message.startswith(f"the type of indices {hint}")


def test_self_referencing_attribute_is_written() -> None:
    cycle: list[Any] = [1, 2]
    cycle.append(cycle)
    node = {
        "op_type": "Relu",
        "inputs": [{"elem_type": "FLOAT", "shape": [2]}],
        "outputs": [],
        "attributes": {"z": cycle},
    }
    assert write(read_dict(node, "onnx"))["attributes"]["z"][:2] == [1, 2]
