"""Attributes with element types: accepted as word or number, reported as word."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import replace
from typing import Any

import pytest

import specgate
from specgate import make
from specgate.descriptors.core import NumberedWord, format_value
from specgate.descriptors.read import read_dict, write_dict
from specgate.spec.tables import dialect

TABLES = dialect("onnx")
NUMBERS = TABLES.type_numbers
FLOAT = {"elem_type": "FLOAT", "shape": [2]}
MARKED = {
    (name, info.name): info
    for name in TABLES.operators
    for info in TABLES.operator(name).attributes
    if any(form.enum for form in info.forms or (info,))
}


QUANTIZE = {"op_type": "QuantizeLinear", "inputs": [FLOAT, {"elem_type": "FLOAT", "shape": []}]}


def cast(to: Any, target: str = "onnx:17", output: str | None = None, **more: Any) -> specgate.Verdict:
    outputs = [] if output is None else [{"elem_type": output, "shape": [2]}]
    node = {"op_type": "Cast", "inputs": [FLOAT], "outputs": outputs, "attributes": {"to": to}, **more}
    return specgate.check(node, target)


def test_every_data_type_attribute_of_the_schemas_is_marked() -> None:
    defs = pytest.importorskip("onnx.defs")
    stated = set()
    for schema in defs.get_all_schemas_with_history():
        for name, attribute in schema.attributes.items():
            text = attribute.description.replace("\n", " ")
            match = re.search(
                r"[Dd]ata ?type|floating-point precision|^Type of|precision of the division", text, re.IGNORECASE
            )
            if match and attribute.type == defs.OpSchema.AttrType.INT:
                stated.add((f"{schema.domain}.{schema.name}".lstrip("."), name))
    assert stated == {key for key in MARKED if key[0].rpartition(".")[0] not in TABLES.tables.foreign}


def test_attributes_read_as_type_numbers_are_marked() -> None:
    read = 0
    for name in TABLES.operators:
        spec = TABLES.operator(name)
        for inputs in spec.table.behaviour.get("output_type", {}).values():
            for item in inputs if isinstance(inputs, list) else [inputs]:
                if spec.fields[item].kind == "attribute":
                    read += 1
                    assert (name, item) in MARKED
    assert read


@pytest.mark.parametrize(
    "message", ["INT64", "int64", "Int64", "TensorProto.INT64", "tensorproto.int64", " INT64 ", "7"]
)
def test_a_word_equals_its_number(message: str) -> None:
    assert cast(message, output="INT64").accepted is True
    node = {"op_type": "Cast", "inputs": [FLOAT], "attributes": {"to": message}}
    assert read_dict(node).fields["to"] == 7
    (result,) = cast(message, output="INT32").findings
    assert result.message.endswith("output is INT32, expected INT64 (to is 7 (INT64)).") or message == "7"


@pytest.mark.parametrize("of", list(MARKED), ids=".".join)
def test_every_marked_attribute_accepts_words(of: tuple[str, str]) -> None:
    operator, name = of
    domain, _, op_type = operator.rpartition(".")
    node = {"op_type": op_type, "domain": domain, "inputs": [], "attributes": {name: "bfloat16"}}
    result = read_dict(node)
    assert (result.fields[name], result.oddities) == (16, ())
    (malformed,) = read_dict({**node, "attributes": {name: "bfloat"}}).oddities
    assert (malformed.code, malformed.where) == ("unknown-word", name)


def test_words_match_the_versions_with_string_attributes() -> None:
    assert specgate.minimum({"op_type": "Cast", "inputs": [FLOAT], "attributes": {"to": "FLOAT16"}}) == "1"
    assert cast("FLOAT16", "onnx:4").accepted is True
    assert cast("TensorProto.FLOAT16", "onnx:4").accepted is True
    assert [finding.id for finding in cast(10, "onnx:4").findings] == ["onnx/Cast/to.wrong-kind"]
    (finding,) = cast("FLOAT8E4M3FN").findings
    assert finding.levels == tuple(map(str, range(19, int(TABLES.levels[-1]) + 1)))
    assert finding.message.startswith(
        "to is 17 (FLOAT8E4M3FN), which is not supported at opset 17 (supported: FLOAT16, FLOAT, DOUBLE, "
    )


def test_a_model_has_numbers() -> None:
    onnx = pytest.importorskip("onnx")
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=7)
    types = {"x": onnx.helper.make_tensor_type_proto(1, [2])}
    assert specgate.check((node, types), "onnx:17").accepted is True
    node.attribute[0].CopyFrom(onnx.helper.make_attribute("to", "INT64"))
    assert [finding.id for finding in specgate.check((node, types), "onnx:17").findings] == ["onnx/Cast/to.wrong-kind"]
    verdict = specgate.check((node, types), "onnx:5")
    assert verdict.accepted is True


def test_a_string_of_an_older_version_is_not_a_word_later() -> None:
    descriptor = read_dict({"op_type": "Cast", "inputs": [FLOAT], "attributes": {"to": "FLOAT"}, "opset": 5})
    assert specgate.check(descriptor, "onnx:17").accepted is True
    (finding,) = specgate.check(replace(descriptor, version=None), "onnx:17").findings
    assert finding.message.startswith("to is 'FLOAT', but it is stored as string, and int is expected")


def test_an_unknown_word_is_a_finding_with_the_words() -> None:
    (finding,) = cast("FLOT").findings
    assert finding.id == "onnx/Cast/to.unknown-word"
    assert (
        finding.message
        == f"to is 'FLOT', which is not a valid element type (did you mean FLOAT? Known: {', '.join(NUMBERS)})"
    )
    assert finding.fix == "set to to FLOAT"
    assert (finding.where, dict(finding.values)) == ("to", {"to": "FLOT"})
    (finding,) = cast("#").findings
    assert (finding.id, finding.fix) == ("onnx/Cast/to.unknown-word", None)
    assert [finding.id for finding in cast("FLOT", "onnx:4").findings] == ["onnx/Cast/to.value"]
    with pytest.raises(specgate.InputError, match="which is not a valid element type"):
        specgate.execute({**QUANTIZE, "attributes": {"output_dtype": "INT0"}}, {})


@pytest.mark.parametrize("value", [True, 1.5, 2**64 + 1, None, [1], {"a": 1}])
def test_values_that_are_neither_are_of_the_wrong_kind(value: Any) -> None:
    (result,) = cast(value).findings
    assert result.id == "onnx/Cast/to.wrong-kind"
    assert result.message.endswith(", but the word or number of an element type is expected")


def test_values_are_reported_by_their_words() -> None:
    (finding,) = cast(99).findings
    assert finding.message == (
        "to is 99, which is not supported at opset 17 "
        "(supported: FLOAT16, FLOAT, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, 3 more)"
    )
    assert json.loads(json.dumps(dict(finding.values))) == {"to": 99}
    (finding,) = cast("BFLOAT16", "onnx:9").findings
    assert finding.message.startswith("to is 16 (BFLOAT16), which is not supported at opset 9 (supported: ")
    assert type(finding.values["to"]) is int
    node = {"op_type": "Multinomial", "inputs": [{"elem_type": "FLOAT", "shape": [2, 2]}], "attributes": {"dtype": 1}}
    (finding,) = specgate.check(node, "onnx:17").findings
    assert (finding.message.rpartition(": ")[2], finding.fix) == ("dtype is 1 (FLOAT).", "set dtype to INT32 or INT64")
    assert type(finding.values["dtype"]) is int
    (finding,) = specgate.check(
        {
            "op_type": "HannWindow",
            "inputs": [{"elem_type": "INT64", "shape": []}],
            "outputs": [{"elem_type": "DOUBLE", "shape": [4]}],
        },
        "onnx:17",
    ).findings
    assert "(output_datatype is 1 (FLOAT))" in finding.message  # which it is by default


def test_a_constructor_accepts_words() -> None:
    tensor = make.tensor("FLOAT", [2])
    assert make.onnx.Cast(input=tensor, to="INT64") == make.onnx.Cast(input=tensor, to=7)
    (malformed,) = make.onnx.Cast(input=tensor, to="INT65").oddities
    assert malformed.code == "unknown-word"


def test_words_stay_words_in_written_descriptors() -> None:
    node = {"op_type": "Cast", "inputs": [FLOAT], "attributes": {"to": "tensorproto.int64"}}
    assert write_dict(read_dict(node))["attributes"] == {"to": "INT64"}
    assert write_dict(read_dict({**node, "attributes": {"to": 7}}))["attributes"] == {"to": 7}
    assert write_dict(read_dict({**node, "attributes": {"to": "INT65"}}))["attributes"] == {"to": "INT65"}


def test_a_numbered_word_is_a_number() -> None:
    numbered = NumberedWord(7, "INT64")
    for same in (copy.deepcopy(numbered), pickle.loads(pickle.dumps(numbered))):
        assert (same, same.word, hash(same)) == (7, "INT64", hash(7))
    assert (str(numbered), json.dumps(numbered), format_value(numbered)) == ("7", "7", "7 (INT64)")


def test_words_execute_as_their_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    arrays = {"x": numpy.array([1.5, 200.0], "float32"), "y_scale": numpy.array(1.0, "float32")}
    (result,) = specgate.execute({**QUANTIZE, "attributes": {"output_dtype": "INT8"}}, arrays).values()
    assert (result.dtype, result.tolist()) == (numpy.int8, [2, 127])
