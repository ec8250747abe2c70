"""The JSON Schema of DirectML's descriptors as `reader.py` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.schema import any_of_schema, document, list_schema, nullable, words
from specgate.dialects.directml.tensor import LIMITS, NAME, UINT32_MAX, UINT64_MAX
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

#: By name, by the vendor's longer name, or by number. Debuggers write numbers as text.
_NUMBER: Final = any_of_schema(
    {"type": "integer"}, {"type": "string", "pattern": r"^\s*(0[xXnN])?[0-9A-Fa-f]+\s*$|\([^()]*\)$"}
)
_UINT: Final = {"type": "integer", "minimum": 0, "maximum": UINT32_MAX}
_FLOAT: Final = any_of_schema({"type": "number"}, {"type": "string", "pattern": "^-?(?:[nN][aA][nN]|[iI][nN][fF])$"})
_PREFIX: Final = "DML_OPERATOR_"


def schema() -> dict[str, Any]:
    """Return the schema; the operator's name selects the alternative."""
    table = dialect(NAME)
    names = table.operators
    enums = {f"DML_{enum}": _words(enum, list(numbers)) for enum, numbers in table.tables.enums.items()}
    fused = {"fused": _descriptor(_fusable_operators(table), single_operator=False)}
    operators = {name: _operator(table.operator(name)) for name in names}
    return document(NAME, _descriptor(names, single_operator=True), {**fused, **_records(), **enums, **operators})


def _descriptor(names: Iterable[str], *, single_operator: bool) -> dict[str, Any]:
    """Return the schema of a descriptor of one of several operators.

    single_operator: require the operator's required fields.
    """
    operators = list(names)
    kind = any_of_schema(words(_PREFIX + name for name in operators), words(operators), _NUMBER)
    return {
        "type": "object",
        "properties": {
            "type": {**kind, "description": "the operator"},
            "desc": {"type": ["object", "null"], "description": "its fields"},
        },
        "allOf": [_case(name, single_operator=single_operator) for name in operators],
    }


def _case(name: str, *, single_operator: bool) -> dict[str, Any]:
    spec = dialect(NAME).operator(name)
    required_fields = [field for field, info in spec.fields.items() if not spec.dialect.may_omit(info)]
    desc = {"$ref": f"#/$defs/{name}"} | ({"required": required_fields} if single_operator and required_fields else {})
    type_condition = {"properties": {"type": words([_PREFIX + name, name])}, "required": ["type"]}
    return {"if": type_condition, "then": {"properties": {"desc": desc}}}


def _fusable_operators(table: Dialect) -> list[str]:
    """Return the operators that can be fused at any level.

    Fused operators omit their tensors.
    """
    specs = [table.operator(name) for name in table.operators]
    rows = [row for spec in specs for _, rows in spec.support for row in rows.values()]
    rows += [entry.get("support", {}) for spec in specs for entry in spec.table.observed]
    return sorted({name for row in rows for cell in row.values() for name in cell.get("operators", ())})


def _records() -> dict[str, Any]:
    table = dialect(NAME)
    size = any_of_schema(_UINT, {"type": "string", "description": "the name of a size"}, {"type": "null"})
    flags = any_of_schema({"enum": list(table.tables.flags)}, {"type": ["string", "array", "integer", "null"]})
    buffer = {
        "DataType": {
            **_words("TENSOR_DATA_TYPE", [*table.types, "UNKNOWN"]),
            "description": "the type of its elements",
        },
        "Sizes": {"type": ["array", "null"], "items": size, "maxItems": 64, "description": "slowest dimension first"},
        "Strides": {"type": ["array", "null"], "items": _UINT, "description": "in elements; left out: packed"},
        "Flags": {**flags, "description": "for instance OWNED_BY_DML"},
        "DimensionCount": {"type": ["integer", "null"], "description": "one per entry of Sizes"},
        "TotalTensorSizeInBytes": nullable({"type": "integer", "minimum": 0, "maximum": UINT64_MAX}),
        "GuaranteedBaseOffsetAlignment": nullable(_UINT),
    }
    kind = {"description": "BUFFER, the only kind of tensor"}
    tensor_schema = {"type": "object", "properties": {"Type": kind, **buffer}, "additionalProperties": False}
    wrapped_schema = {
        "type": "object",
        "required": ["Desc"],
        "properties": {"Type": kind, "Desc": {**tensor_schema, "required": ["DataType", "Sizes"]}},
        "additionalProperties": False,
    }
    return {
        "tensor": {
            "if": {"required": ["Desc"]},
            "then": wrapped_schema,
            "else": {**tensor_schema, "required": ["DataType", "Sizes"]},
        },
        "size-2d": _record(Size2D, _UINT),
        "scale-bias": _record(ScaleBias, _FLOAT),
    }


def _record(kind: type[Size2D | ScaleBias], part: dict[str, Any]) -> dict[str, Any]:
    names = list(kind._fields)
    members = dict.fromkeys(names, part)
    return {"type": "object", "required": names, "properties": members, "additionalProperties": False}


def _words(enum: str, names: list[str]) -> dict[str, Any]:
    return any_of_schema(words(names), words(f"DML_{enum}_{word}" for word in names), _NUMBER)


def _operator(spec: OperatorSpec) -> dict[str, Any]:
    members = {name: _field(info) for name, info in spec.fields.items()}
    return {
        "type": "object",
        "description": spec.table.summary,
        "properties": members,
        "additionalProperties": False,
    }


def _field(info: FieldInfo) -> dict[str, Any]:
    kinds = [list_schema(_value_schema(form.type.removesuffix("[]")), form) for form in info.forms or (info,)]
    entries = any_of_schema(*kinds)
    texts_by_name = {"description": info.doc} if info.doc else {}
    default = {} if info.default is None else {"default": info.default}
    return {**nullable(entries), **texts_by_name, **default}


def _value_schema(kind: str) -> dict[str, Any]:
    if kind in LIMITS:
        low, high = LIMITS[kind]
        return {"type": "integer", "minimum": low, "maximum": high}
    if kind.startswith("enum:"):
        return {"$ref": f"#/$defs/DML_{kind.removeprefix('enum:')}"}
    schemas: dict[str, dict[str, Any]] = {
        "bool": {"enum": [True, False, 0, 1]},
        "float": _FLOAT,
        "scalar": any_of_schema(*_FLOAT["anyOf"], {"type": "object", "description": "the member of DML_SCALAR_UNION"}),
        "operator": {"$ref": "#/$defs/fused"},
    }
    return schemas.get(kind) or {"$ref": f"#/$defs/{kind}"}
