"""Reader and writer of ONNX nodes as dicts, with the names of NodeProto.

Source: onnx/onnx.proto of the onnx package.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import (
    UNKNOWN,
    UNSTATED,
    Descriptor,
    FileList,
    GraphDesc,
    NumberedWord,
    TensorDesc,
    format_value,
)
from specgate.descriptors.lazy_list import UnreadList
from specgate.descriptors.positional import (
    INT64,
    attributes_of,
    build,
    flatten,
    outputs_of,
    positional,
    shape_of,
    tensors_of,
)
from specgate.descriptors.words import number_of, number_of_word, refuse_unknown, unknown_word, word_of
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.fields import FieldInfo

NAME: Final = "onnx"
_PREFIX: Final = "TensorProto."
#: Type of a table's field by the name of its AttributeProto.AttributeType.
ATTRIBUTE_TYPES: Final = {
    "FLOAT": "float", "INT": "int", "STRING": "string", "TENSOR": "tensor-proto", "GRAPH": "graph",
    "SPARSE_TENSOR": "sparse-tensor-proto", "TYPE_PROTO": "type-proto", "FLOATS": "float[]", "INTS": "int[]",
    "STRINGS": "string[]", "TENSORS": "tensor-proto[]", "GRAPHS": "graph[]", "SPARSE_TENSORS": "sparse-tensor-proto[]",
    "TYPE_PROTOS": "type-proto[]",
}  # fmt: skip
_KEYS: Final = ("op_type", "domain", "name", "inputs", "outputs", "attributes", "opset")
_TENSOR_KEYS: Final = ("elem_type", "shape", "value", "name")


def operator_name(op_type: str, domain: str = "") -> str:
    """Return an operator's table name: ``op_type``, or ``domain.op_type``.

    Operators of ai.onnx have no prefix.
    """
    return op_type if domain in {"", "ai.onnx"} else f"{domain}.{op_type}"


def read(data: Mapping[str, Any], place: str = "") -> Descriptor:
    """Return the Descriptor of a node dict; raise InputError or NoTable.

    ``inputs``/``outputs``: ``{"elem_type": "INT64", "shape": [2, "N", null], "value": …}``, or null if omitted; ``{}``
    is an output without a stated type.
    ``opset``: the opset import it was written for; without it, the node is checked as written for the target.
    """
    prefix = f"{place}." if place else ""
    refuse_unknown(data, _KEYS, place, "a field of a node")
    op_type, domain = data.get("op_type"), data.get("domain") or ""
    if not isinstance(op_type, str) or not isinstance(domain, str):
        text = f"{format_value(op_type)} and {format_value(domain)}"
        raise InputError(f"expected op_type and domain as strings, found {text}", place=place or None)
    spec = dialect(NAME).operator(operator_name(op_type, domain))
    attributes = data.get("attributes") or {}
    if not isinstance(attributes, dict):
        raise InputError("expected an object of attributes by name", place=f"{prefix}attributes")
    opset = data.get("opset")
    if opset is not None and not _is_opset(opset):
        raise InputError(f"expected an opset number, found {format_value(opset)}", place=f"{prefix}opset")
    name = data.get("name")
    if not (name is None or isinstance(name, str)):
        raise InputError(f"expected a name, found {format_value(name)}", place=f"{prefix}name")
    return build(
        spec,
        tensors_of(data.get("inputs"), f"{prefix}inputs", "tensors", _tensor),
        outputs_of(data.get("outputs"), f"{prefix}outputs", "tensors", _tensor),
        attributes,
        version=None if opset is None else str(opset),
        name=name,
        convert=attribute_value,
    )


def _is_opset(value: Any) -> bool:
    if isinstance(value, str):
        return value.isascii() and value.isdecimal() and len(value) <= 6
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**6


def _tensor(raw: Any, place: str) -> TensorDesc | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise InputError(
            f"expected an object with elem_type and shape, or null, found {format_value(raw)}", place=place
        )
    for key in raw:
        if key not in _TENSOR_KEYS:
            raise InputError(
                f"{format_value(key)} is not a field of a tensor; expected elem_type, shape, value", place=place
            )
    shape = shape_of(raw.get("shape"), f"{place}.shape", negative_is_unknown=False)
    return TensorDesc(_elem_type(raw.get("elem_type"), place), shape, value=flatten(raw.get("value"), f"{place}.value"))


def type_word(raw: Any) -> str:
    """Return an element type's name in the tables; InputError if invalid."""
    word = _elem_type(raw, "")
    if word is None:
        raise InputError(f"expected an element type, found {format_value(raw)}")
    return word


def _elem_type(raw: Any, place: str) -> str | None:
    """Return an element type's name from its name, spelling or number.

    An unknown name or number is kept, so that it is reported.
    """
    if raw is None:
        return None
    table = dialect(NAME)
    if raw.__class__ is str and (raw in table.types or table.knows_type(raw)):
        return str(raw)
    type_word = next((name for name, info in table.types.items() if raw == info.get("tensor")), None)
    word = type_word or word_of(raw, table.type_numbers, _PREFIX)
    if isinstance(word, str) or number_of(word) is not None:
        return str(word)[:80]
    raise InputError(f"expected a TensorProto.DataType, found {format_value(raw)}", place=f"{place}.elem_type")


def attribute_value(info: FieldInfo, raw: Any) -> Any:
    """Convert an attribute's value to the field's type; ValueError if invalid."""
    if info.type.endswith("[]"):
        if not isinstance(raw, list | tuple):
            raise ValueError(f"{info.type} is expected")
        if isinstance(raw, FileList) and f"{raw.kind}[]" == info.type and info.enum is None:
            return raw if raw.kind != "string" else UnreadList(raw.kind, raw.data, len(raw), partial(_texts, raw))
        return [_element(info, item) for item in raw]
    return _element(info, raw)


def _texts(raw: list[bytes]) -> list[str]:
    decoded = {text: text.decode("utf-8", "replace") for text in set(raw)}
    return [decoded[text] for text in raw]


def _element(info: FieldInfo, raw: Any) -> Any:
    """Convert an attribute's value or element.

    Enumerators may be given by name or number.
    """
    kind = info.type.removesuffix("[]")
    if info.enum is None:
        return _scalar(kind, raw.word if isinstance(raw, NumberedWord) and kind == "string" else raw)
    type_noun = info.enum.replace("-", " ")
    number = number_of_word(raw, dialect(NAME).numbers(info.enum), type_noun, _PREFIX)
    try:
        return _scalar(kind, number)
    except ValueError:
        raise ValueError(f"the word or number of an {type_noun} is expected") from None


def container(kind: str, inner: str, key: str | None = None) -> str:
    """Return a container type in operator schema spelling.

    For example ``seq(tensor(float))`` or ``map(int64, float)``. kind: sequence, optional or map, as in TypeProto. key:
    the type of a map's keys. Map values appear by element type only, whether scalars or not.
    """
    if kind != "map":
        return f"{'seq' if kind == 'sequence' else kind}({inner})"
    type_words = [str(dialect(NAME).types[key or ""]["tensor"]), inner]
    return f"map({', '.join(text.removeprefix('tensor(').removesuffix(')') for text in type_words)})"


def _scalar(kind: str, raw: Any) -> Any:
    if kind in _OBJECTS:
        return _object(kind, raw)
    if kind == "int":
        if isinstance(raw, bool) or not isinstance(raw, int) or not INT64[0] <= raw <= INT64[1]:
            raise ValueError("a 64-bit integer is expected")
        return raw
    if kind == "float":
        if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, int) and abs(raw) > 2**128):
            raise ValueError("a number is expected")
        return float(raw)
    if isinstance(raw, bytes):
        raw = raw.decode("utf-8", "replace")
    if not isinstance(raw, str):
        raise ValueError("a string is expected")  # noqa: TRY004  # ValueError, as for other invalid values
    return raw


_OBJECTS: Final = {
    "tensor-proto": "a tensor", "sparse-tensor-proto": "a sparse tensor", "type-proto": "a type", "graph": "a graph",
}  # fmt: skip


def _object(kind: str, raw: Any) -> Any:
    """Return a tensor, type or graph, converted from a dict if necessary."""
    function = GraphDesc if kind == "graph" else TensorDesc
    if isinstance(raw, function):
        return raw
    if not isinstance(raw, dict):
        raise ValueError(f"{_OBJECTS[kind]} is expected")  # noqa: TRY004  # ValueError, as for other invalid values
    try:
        if function is TensorDesc:
            return _check_known_type(_tensor(raw, ""))
        if not raw.keys() <= {"inputs", "outputs"}:
            raise ValueError("a graph is expected as inputs and outputs")
        ends = [
            [_check_known_type(t) or TensorDesc(None, None) for t in tensors_of(raw.get(key), key, "tensors", _tensor)]
            for key in ("inputs", "outputs")
        ]
        return GraphDesc(tuple(ends[0]), tuple(ends[1]))
    except InputError as error:
        raise ValueError(f"{_OBJECTS[kind]} is expected: {error}") from None


def _check_known_type(tensor: TensorDesc | None) -> TensorDesc | None:
    """Return a tensor; ValueError for a type that the dialect does not have."""
    table = dialect(NAME)
    if tensor is not None and tensor.type is not None and not table.knows_type(tensor.type):
        raise ValueError(unknown_word("its type", tensor.type, "element type", table.types))
    return tensor


def write(descriptor: Descriptor) -> dict[str, Any]:
    """Return the node dict of a descriptor."""
    spec = dialect(NAME).operator(descriptor.operator)
    domain, _, op_type = descriptor.operator.rpartition(".")
    layout = spec.layout(descriptor.layout or descriptor.version)
    attributes = attributes_of(descriptor, spec)
    node: dict[str, Any] = {
        "op_type": op_type,
        "domain": domain,
        "inputs": [_write_tensor(t) for t in positional(descriptor.fields, layout.inputs)],
        "outputs": [_write_tensor(t) for t in positional(descriptor.fields, layout.outputs)],
        "attributes": {key: _attribute(value) for key, value in attributes.items() if value is not UNKNOWN},
    }
    if descriptor.version is not None:
        node["opset"] = int(descriptor.version)
    if descriptor.name is not None:
        node["name"] = descriptor.name
    return node


def _attribute(value: Any) -> Any:
    """Return an attribute's value for a dict; tensors and graphs are objects."""
    if isinstance(value, TensorDesc):
        return _write_tensor(value)
    if isinstance(value, GraphDesc):
        return {
            "inputs": [_write_tensor(t) for t in value.inputs],
            "outputs": [_write_tensor(t) for t in value.outputs],
        }
    if isinstance(value, NumberedWord):
        return value.word
    if isinstance(value, list):  # an unknown attribute may hold lists in lists, even itself
        return [item if isinstance(item, list) else _attribute(item) for item in value]
    return value


def _write_tensor(tensor: TensorDesc | None) -> dict[str, Any] | None:
    if tensor is None:
        return None
    if tensor is UNSTATED:
        return {}
    shape = None if tensor.sizes is None else [s if s is None or isinstance(s, int) else str(s) for s in tensor.sizes]
    document: dict[str, Any] = {"elem_type": tensor.type, "shape": shape}
    if tensor.value is not None:
        document["value"] = list(tensor.value)
    return document
