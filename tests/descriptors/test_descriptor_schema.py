"""JSON Schemas of descriptors accept the tables' examples and reject wrong names."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import specgate
from specgate.cli import main
from specgate.descriptors.read import write_dict
from specgate.dialects import BUILT_IN, capability
from specgate.dialects.protocols import Exporter
from specgate.errors import InputError
from specgate.slotted import replace
from specgate.spec.lint import counterexample
from specgate.spec.tables import dialect
from specgate.testing import descriptors

if TYPE_CHECKING:
    from specgate.spec.operator_spec import OperatorSpec

EVERY = [(name, operator) for name in BUILT_IN for operator in dialect(name).operators]
LARGEST = 700_000


@cache
def schema(name: str) -> jsonschema.Draft202012Validator:
    result = capability(name, Exporter).descriptor_schema()
    jsonschema.Draft202012Validator.check_schema(result)
    return jsonschema.Draft202012Validator(json.loads(json.dumps(result)))


def problems(name: str, document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message:.200}" for error in schema(name).iter_errors(document)]


def plain(spec: OperatorSpec) -> dict[str, Any]:
    entries: dict[str, Any] = next(iter(spec.table.examples.values()))["descriptor"]
    return copy.deepcopy(entries)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_example_is_valid(name) -> None:
    wrong = []
    for operator in dialect(name).operators:
        examples = dialect(name).operator(operator).table.examples
        wrong += [(operator, key, problems(name, item["descriptor"])) for key, item in examples.items()]
    assert [item for item in wrong if item[2]] == []


@pytest.mark.slow
@given(st.data())
def test_accepted_descriptors_are_valid(data) -> None:
    name, operator = data.draw(st.sampled_from(EVERY))
    spec = dialect(name).operator(operator)
    level = data.draw(st.sampled_from(list(spec.levels)))
    result = data.draw(descriptors(name, operator, level))
    written = write_dict(result)
    try:
        specgate.descriptor(written, name)
    except InputError:  # a number that its field cannot hold
        reject()
    assert problems(name, written) == []


@pytest.mark.parametrize(
    ("name", "operator", "attribute"), [("onnx", "Gemm", "alpha"), ("openvino", "MatMul", "transpose_a")]
)
def test_absent_attributes_are_not_written(name, operator, attribute) -> None:
    descriptor = specgate.descriptor(plain(dialect(name).operator(operator)), name)
    bare = write_dict(
        replace(descriptor, fields={key: value for key, value in descriptor.fields.items() if key != attribute})
    )
    assert write_dict(replace(descriptor, fields={**descriptor.fields, attribute: None})) == bare
    assert problems(name, bare) == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_lists_and_named_descriptors_are_valid(name) -> None:
    item = plain(dialect(name).operator(dialect(name).operators[0]))
    assert problems(name, [item, item]) == []
    assert problems(name, {"$schema": "x", "descriptors": {"first": item}}) == []
    assert problems(name, {"$schema": "./descriptor.schema.json", **item}) == []
    assert problems(name, [{"$schema": "x", **item}])
    broken = {**item, "type": "NO_SUCH", "op_type": "NO_SUCH"}
    assert problems(name, broken)
    assert problems(name, [item, broken])
    assert problems(name, {"descriptors": {"first": broken}})


SPELLINGS: list[tuple[str, dict[str, Any]]] = [
    ("directml", {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": ["N", None]}),
    ("directml", {"DataType": 1, "Sizes": None}),
    ("directml", {"Type": "DML_TENSOR_TYPE_BUFFER", "Desc": {"DataType": "FLOAT32", "Sizes": [1, 2], "Strides": None}}),
    ("directml", {"DataType": "FLOAT32", "Sizes": [1], "DimensionCount": 1, "Flags": "OWNED_BY_DML"}),
    ("directml", {"DataType": "FLOAT32", "Sizes": [1], "Flags": ["DML_TENSOR_FLAG_OWNED_BY_DML"]}),
]


@pytest.mark.parametrize(("name", "tensor"), SPELLINGS)
def test_tensors_accepted_by_the_reader_are_valid(name, tensor) -> None:
    item = {"type": "DML_OPERATOR_ELEMENT_WISE_ABS", "desc": {"InputTensor": tensor, "OutputTensor": tensor}}
    specgate.descriptor(item)
    assert problems(name, item) == []


def test_numeric_enum_values_are_valid() -> None:
    entries = plain(dialect("directml").operator("PADDING"))
    for word in ("EDGE", "DML_PADDING_MODE_EDGE", 1, "0x1", "DML_PADDING_MODE_EDGE (1)"):
        entries["desc"]["PaddingMode"] = word
        specgate.descriptor(entries)
        assert problems("directml", entries) == []
    entries["type"] = dialect("directml").operator_numbers["PADDING"]
    specgate.descriptor(entries)
    assert problems("directml", entries) == []


WRONG: dict[str, tuple[str, str, Any]] = {
    "a field": ("directml", "ONE_HOT", lambda item: item["desc"].update(Axes=3)),
    "a field left out": ("directml", "ONE_HOT", lambda item: item["desc"].pop("Axis")),
    "a number": ("directml", "ONE_HOT", lambda item: item["desc"].update(Axis=-1)),
    "a word": ("directml", "PADDING", lambda item: item["desc"].update(PaddingMode="EDGY")),
    "a type": ("directml", "ONE_HOT", lambda item: item["desc"]["ValuesTensor"].update(DataType="FLOAT")),
    "a member of a tensor": ("directml", "ONE_HOT", lambda item: item["desc"]["ValuesTensor"].update(Size=[1])),
    "a fused operator": ("directml", "GEMM", lambda item: item["desc"].update(FusedActivation={"type": "RELU_"})),
    "an attribute": ("onnx", "Gemm", lambda item: item.update(attributes={"trans": 1})),
    "the type of an attribute": ("onnx", "Gemm", lambda item: item.update(attributes={"transA": "yes"})),
    "a word of an attribute": ("onnx", "Pad", lambda item: item.update(attributes={"mode": "edgy"})),
    "a key of a node": ("onnx", "Gemm", lambda item: item.update(attribute={})),
    "too many inputs": ("onnx", "Abs", lambda item: item.update(inputs=[None] * 2)),
    "an attribute of a layer": ("openvino", "Gather", lambda item: item.update(data={"batchdims": 1})),
    "a word of a layer": ("openvino", "Pad", lambda item: item["data"].update(pad_mode="edgy")),
    "a key of a port": ("openvino", "Gather", lambda item: item["inputs"][0].update(type="f32")),
}


@pytest.mark.parametrize(("name", "operator", "change"), WRONG.values(), ids=WRONG.keys())
def test_invalid_descriptors_are_rejected(name, operator, change) -> None:
    item = plain(dialect(name).operator(operator))
    assert problems(name, item) == []
    change(item)
    assert problems(name, item)


def test_a_fused_operator_has_no_tensors() -> None:
    entries = plain(dialect("directml").operator("GEMM"))
    entries["desc"]["FusedActivation"] = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}
    assert problems("directml", entries) == []
    entries["desc"]["FusedActivation"]["desc"] = {"Alfa": 1}
    assert problems("directml", entries)


def test_enum_values_of_layers_are_case_insensitive() -> None:
    entries = plain(dialect("openvino").operator("Pad"))
    entries["data"]["pad_mode"] = str(entries["data"]["pad_mode"]).upper()
    assert problems("openvino", entries) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN)
def test_schema_rejects_counterexamples_unless_a_rule_is_needed(name) -> None:
    """The schema does not contain rules, so `check` alone finds a broken one."""
    open_ = 0
    for operator in dialect(name).operators[:40]:
        spec = dialect(name).operator(operator)
        for entry in spec.table.counterexamples.values():
            if "operator" not in entry:
                open_ += not problems(name, counterexample(spec, entry)[0])
    assert open_ > 40


@pytest.mark.parametrize("name", BUILT_IN)
def test_schema_size_is_limited(name, capsys) -> None:
    assert main(["spec", "schema", "descriptor", "--dialect", name]) == 0
    text = capsys.readouterr().out
    assert json.loads(text)["$id"] == f"urn:specgate:descriptor:{name}:1"
    assert len(json.dumps(json.loads(text))) < LARGEST


def test_fields_are_described() -> None:
    result = capability("directml", Exporter).descriptor_schema()["$defs"]["ONE_HOT"]
    assert result["description"] == dialect("directml").operator("ONE_HOT").table.summary
    assert result["properties"]["Axis"]["description"] == "the dimension of the sequences"


def test_dialect_option_is_required(capsys) -> None:
    assert main(["spec", "schema", "descriptor"]) == 2
    assert "expected --dialect, one of directml, onnx, openvino" in capsys.readouterr().err


def test_schema_is_optional_for_other_dialects() -> None:
    from specgate.dialects.protocols import Reader

    class Other(Reader):
        name = "other"

    with pytest.raises(InputError, match="other has no JSON Schema"):
        capability(Other(), Exporter)
