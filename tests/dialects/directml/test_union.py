"""DML_SCALAR_UNION as an object: the member of each type, and errors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import specgate
from specgate.descriptors.core import TensorDesc, integer_limits
from specgate.errors import InputError
from specgate.generate.seeds import examples_at
from specgate.spec.tables import dialect

MEMBERS = {
    "FLOAT64": "Float64", "FLOAT32": "Float32", "FLOAT16": "UInt16",
    "INT64": "Int64", "INT32": "Int32", "INT16": "Int16", "INT8": "Int8",
    "UINT64": "UInt64", "UINT32": "UInt32", "UINT16": "UInt16", "UINT8": "UInt8",
}  # fmt: skip


def fill(value: Any, kind: Any) -> Any:
    """Return the number of FILL_VALUE_CONSTANT for a `Value`."""
    desc = {"OutputTensor": {"DataType": "INT32", "Sizes": [1]}, "ValueDataType": kind, "Value": value}
    data = {"type": "DML_OPERATOR_FILL_VALUE_CONSTANT", "desc": {name: x for name, x in desc.items() if x is not None}}
    return specgate.descriptor(data, dialect="directml").fields["Value"]


@pytest.mark.parametrize("kind", MEMBERS)
def test_the_member_of_each_type(kind: str) -> None:
    number = dialect("directml").type_numbers[kind]
    for spelled in (kind, f"DML_TENSOR_DATA_TYPE_{kind}", number, hex(number)):
        assert fill({MEMBERS[kind]: 0}, spelled) == 0
    with pytest.raises(InputError, match=rf"^Value: 'Bytes' is not the member of DML_SCALAR_UNION for {kind}"):
        fill({"Bytes": 0}, kind)
    with pytest.raises(InputError, match=f"Value: expected the field {MEMBERS[kind]}"):
        fill({}, kind)


def test_float16_by_bit_pattern() -> None:
    assert fill({"UInt16": 0x3C00}, "FLOAT16") == 1.0
    assert fill({"UInt16": 0xFBFF}, "FLOAT16") == -65504.0
    assert fill({"UInt16": 0x0001}, "FLOAT16") == 2.0**-24
    assert math.isnan(fill({"UInt16": 0x7E00}, "FLOAT16"))


@pytest.mark.parametrize("kind", [kind for kind in MEMBERS if "INT" in kind])
def test_integer_limits(kind: str) -> None:
    bits = int(kind.strip("UINT"))
    low, high = (0, 2**bits - 1) if kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    assert [fill({MEMBERS[kind]: end}, kind) for end in (low, high)] == [low, high]
    for beyond in (low - 1, high + 1, 1.5, True, "1", [1]):
        with pytest.raises(InputError, match=rf"Value\.{MEMBERS[kind]}: expected an integer from {low} to {high}"):
            fill({MEMBERS[kind]: beyond}, kind)


def test_floats_and_special_float_names() -> None:
    assert fill({"Float32": -2.5}, "FLOAT32") == -2.5
    assert fill({"Float64": "-inf"}, "FLOAT64") == -math.inf
    for wrong in ("many", {"Float32": 1}, [1]):
        with pytest.raises(InputError, match="Value: expected a number"):
            fill({"Float32": wrong}, "FLOAT32")


@pytest.mark.parametrize("kind", ["UINT4", "INT4", "UNKNOWN", "FLOAT8"])
def test_object_requires_a_type_with_a_member(kind: str) -> None:
    with pytest.raises(InputError, match=rf"Value: .* number, found {{'Int32': 1}}; '{kind}' has no member of DML_"):
        fill({"Int32": 1}, kind)


def test_object_requires_a_type() -> None:
    with pytest.raises(InputError, match=r"Value: expected a number, found \{'Int32': 1\}$"):
        fill({"Int32": 1}, None)


SCALARS = [
    (name, info.name)
    for name in dialect("directml").operators
    for info in dialect("directml").operator(name).fields.values()
    if info.type_from is not None
]


def test_every_scalar_is_listed() -> None:
    assert {name for name, _ in SCALARS} == {
        "DIAGONAL_MATRIX1", "ELEMENT_WISE_CLIP1", "ELEMENT_WISE_CLIP_GRAD1", "FILL_VALUE_CONSTANT",
        "FILL_VALUE_SEQUENCE", "PADDING1",
    }  # fmt: skip


@pytest.mark.parametrize(("operator", "scalar"), SCALARS)
@pytest.mark.parametrize("kind", [kind for kind in MEMBERS if "INT" in kind])
def test_scalars_beyond_their_type_are_rejected(operator: str, scalar: str, kind: str) -> None:
    spec = dialect("directml").operator(operator)
    example = next(examples_at(spec, "6.4"))
    fields = {
        name: value._replace(type=kind) if isinstance(value, TensorDesc) else value
        for name, value in example.fields.items()
    }
    fields |= {info.name: 1 for info in spec.fields.values() if info.type_from is not None}
    fields[str(spec.fields[scalar].type_from)] = kind
    bits, signed = int(kind.strip("UINT")), kind.startswith("INT")
    low, high = integer_limits(bits, signed=signed)

    def rules(value: Any) -> list[str]:
        verdict = specgate.check(replace(example, fields={**fields, scalar: value}), "directml:6.4")
        return [finding.id for finding in verdict.findings]

    assert [rules(value) for value in (low, high)] == [[], []]
    for value in (low - 1, high + 1, 0.5, math.nan):
        assert rules(value) == [f"directml/{operator}/value-fits"]
