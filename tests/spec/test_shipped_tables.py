"""Facts of the shipped tables, each against its source."""

from __future__ import annotations

import re
from typing import Any

import pytest

import specgate
from specgate.spec.tables import dialect

# A change of a ONE_HOT descriptor that 2.0 accepts; the first accepting level, and the finding before.
SIZES = {"IndicesTensor": [1, 1, 3, 1], "ValuesTensor": [1, 1, 1, 2], "OutputTensor": [1, 1, 3, 4]}


def one_hot(rank: int = 4, **types: str) -> dict[str, Any]:
    kinds = {"IndicesTensor": "UINT32", "ValuesTensor": "FLOAT32", "OutputTensor": "FLOAT32", **types}
    desc: dict[str, Any] = {name: {"DataType": kinds[name], "Sizes": sizes[-rank:]} for name, sizes in SIZES.items()}
    return {"type": "DML_OPERATOR_ONE_HOT", "desc": {**desc, "Axis": rank - 1}}


def values(kind: str) -> dict[str, Any]:
    return one_hot(ValuesTensor=kind, OutputTensor=kind)


DIRECTML = {
    "INT64 indices": (one_hot(IndicesTensor="INT64"), "2.1", "IndicesTensor.type", "3.0"),
    "UINT64 indices": (one_hot(IndicesTensor="UINT64"), "2.1", "IndicesTensor.type", "3.0"),
    "INT32 indices": (one_hot(IndicesTensor="INT32"), "2.1", "IndicesTensor.type", "3.0"),
    "FLOAT64 values": (values("FLOAT64"), "3.0", "ValuesTensor.type", "4.1"),
    "INT64 values": (values("INT64"), "4.0", "OutputTensor.type", "4.1"),
    "rank 3": (one_hot(rank=3), "2.1", "IndicesTensor.rank", "3.0"),
    "INT32 values": (values("INT32"), "2.0", "ValuesTensor.type", "2.1"),
    "UINT8 values": (values("UINT8"), "2.0", "OutputTensor.type", "2.1"),
    "any": (one_hot(), "1.0", "level", "2.0"),
}


@pytest.mark.parametrize(("data", "level", "rule", "first"), DIRECTML.values(), ids=DIRECTML.keys())
def test_first_levels_of_one_hot(data: dict[str, Any], level: str, rule: str, first: str) -> None:
    verdict = specgate.check(data, f"directml:{level}", "documented")
    assert verdict.accepted is False
    (result,) = [f for f in verdict.findings if f.id == f"directml/ONE_HOT/{rule}"]
    assert result.first_level == first
    assert result.levels[0] == first
    assert result.levels[-1] == "6.4"
    assert specgate.check(data, f"directml:{first}", "documented").accepted is True
    assert specgate.minimum(data, basis="documented") == first
    assert specgate.minimum(data, basis="documented").level == first


def test_one_hot_was_never_removed() -> None:
    assert str(dialect("directml").operator("ONE_HOT").levels) == "2.0..6.4"


def onnx_one_hot() -> dict[str, Any]:
    inputs = [{"elem_type": "INT64", "shape": [3]}, {"elem_type": "INT64", "shape": [], "value": 4}]
    return {"op_type": "OneHot", "inputs": [*inputs, {"elem_type": "FLOAT", "shape": [2]}]}


def test_onnx_one_hot_exists_from_9_on() -> None:
    verdict = specgate.check(onnx_one_hot(), "onnx:8")
    (finding,) = verdict.findings
    assert (finding.id, finding.first_level) == ("onnx/OneHot/level", "9")
    assert finding.message == "OneHot does not exist at opset 8; it exists from 9 on"
    assert specgate.minimum(onnx_one_hot()) == "9"


def test_openvino_attribute_of_opset16() -> None:
    data = {
        "type": "OneHot",
        "inputs": [{"element_type": "i64", "shape": [4]}, {"element_type": "i64", "shape": [], "value": 3}]
        + [{"element_type": "f32", "shape": []}] * 2,
        "data": {"axis": -1, "negative_indices_mode": "normalize"},
    }
    verdict = specgate.check(data, "openvino:opset15")
    assert [(f.id, f.first_level) for f in verdict.findings] == [
        ("openvino/OneHot/negative_indices_mode.exists", "opset16")
    ]
    assert specgate.minimum(data) == "opset16"


# The ONNX table against the package that defines the operator.


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    onnx = pytest.importorskip("onnx", reason="the oracle onnx is not installed")
    result = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == "OneHot" and s.domain == ""]
    return {str(schema.since_version): schema for schema in result}


@pytest.mark.oracle
def test_onnx_versions(schemas) -> None:
    assert sorted(schemas, key=int) == list(dialect("onnx").operator("OneHot").rows)


@pytest.mark.oracle
def test_onnx_tensors(schemas) -> None:
    spec = dialect("onnx").operator("OneHot")
    for schema in schemas.values():
        assert [i.name for i in schema.inputs] == [f.name for f in spec.inputs]
        assert [o.name for o in schema.outputs] == [f.name for f in spec.outputs]
        assert not any(f.optional for f in spec.inputs)
        assert {str(i.option).rpartition(".")[2] for i in schema.inputs} == {"Single"}


@pytest.mark.oracle
def test_onnx_types(schemas) -> None:
    table = dialect("onnx")
    spelled = {name: info["tensor"] for name, info in table.types.items()}
    for version, schema in schemas.items():
        resolved = table.operator("OneHot").resolve(version)
        assert resolved is not None
        allowed = {p.type_param_str: set(p.allowed_type_strs) for p in schema.type_constraints}
        for parameter in [*schema.inputs, *schema.outputs]:
            types = resolved.cells[parameter.name].types
            assert types is not None
            assert {spelled[t] for t in types} == allowed[parameter.type_str]


@pytest.mark.oracle
def test_onnx_attributes(schemas) -> None:
    (info,) = dialect("onnx").operator("OneHot").attributes
    for schema in schemas.values():
        (attribute,) = schema.attributes.values()
        assert (attribute.name, attribute.required) == (info.name, not info.optional)
        assert str(attribute.type).rpartition(".")[2] == info.type.upper()
        assert attribute.default_value.i == info.default


@pytest.mark.oracle
def test_onnx_element_types(schemas) -> None:
    onnx = pytest.importorskip("onnx")
    result = {name: info["value"] for name, info in dialect("onnx").types.items()}
    assert result == {name: value for name, value in onnx.TensorProto.DataType.items() if name != "UNDEFINED"}


@pytest.mark.oracle
def test_onnx_opsets_and_releases(schemas) -> None:
    onnx = pytest.importorskip("onnx")
    levels = dialect("onnx").tables.levels
    first: dict[str, tuple[str, int]] = {}
    for release, ir_version, opset, *_ in onnx.helper.VERSION_TABLE:
        first.setdefault(str(opset), (re.sub(r"(\d+\.\d+)\.0$", r"\1", release), ir_version))
    first["9"] = ("1.4", first["9"][1])  # the package's table begins with 1.4.1, but 1.4.0 also contains it
    for opset, (release, ir_version) in first.items():
        assert levels[opset]["ir_version"] == ir_version
        assert levels[opset]["release"] == release


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_every_fact_has_a_source(name: str) -> None:
    for operator in dialect(name).operators:
        sources = dialect(name).operator(operator).table.sources
        assert all(re.fullmatch(r"[0-9a-f]{8,40}", s["commit"]) for s in sources if s.get("repository"))
