"""Reader and writer of OpenVINO layers as dicts, with the names of an IR."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, GraphDesc, TensorDesc, format_value
from specgate.descriptors.positional import (
    INT64,
    build,
    flatten,
    outputs_of,
    positional,
    read_by_page_names,
    shape_of,
    tensors_of,
)
from specgate.descriptors.words import refuse_unknown, unknown_word
from specgate.dialects.openvino.bodies import maps_of, split_attributes, with_maps
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

_names_by_level: WeakKeyDictionary[OperatorSpec, dict[str, dict[str, str]]] = WeakKeyDictionary()


def spell_attributes(spec: OperatorSpec, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return attributes with enumerators in the table's upper and lower case.

    Measured: `read_model` of OpenVINO 2026.4.1 compares enumerators case-insensitively, and save_model writes some of
    them in capitals.
    """
    words = _names_by_level.get(spec)
    if words is None:
        words = _names_by_level[spec] = _words(spec)
    if not words:
        return attributes
    new_attributes = {
        name: words[name][value.lower()]
        for name, value in attributes.items()
        if isinstance(value, str) and name in words and value.lower() in words[name]
    }
    return {**attributes, **new_attributes} if new_attributes else attributes


def _words(spec: OperatorSpec) -> dict[str, dict[str, str]]:
    """Return the enumerators of each attribute by lower-case spelling.

    Documented spellings take precedence.
    """
    rows = [row for _, rows in spec.support for row in rows.values()]
    rows += [entry.get("support", {}) for entry in spec.table.observed]
    entries: dict[str, dict[str, str]] = {}
    for info in spec.attributes:
        if info.type == "string":
            values = [word for row in rows for word in row.get(info.name, {}).get("values") or ()]
            for word in values:
                entries.setdefault(info.name, {}).setdefault(str(word).lower(), str(word))
    return entries


_INTEGER: Final = re.compile(r"\s*(-?[0-9]{1,19})(?![0-9])", re.ASCII)
_FLOAT: Final = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.ASCII)
_MAX_TEXT: Final = 10_000
_MAX_BITS: Final = 1024  # more than any float holds; Python does not print integers of more than 4,300 digits


def builds_read(kind: str, raw: Any) -> Any:
    """Return the value that builds read for a type, None if they reject it."""
    text = _text(raw)
    if text is None or len(text) > _MAX_TEXT:
        return None
    if kind.endswith("[]"):
        items = text.split(",") if text else []
        if items and not items[-1]:
            items.pop()
        values = [_value(kind.removesuffix("[]"), item) for item in items]
        return None if None in values else values
    return _value(kind, text)


def _value(kind: str, text: str) -> Any:
    if kind == "string":
        return text
    if kind == "bool":
        return text.lower() == "true" or text == "1"
    if kind == "int":
        match = _INTEGER.match(text)
        number = None if match is None else int(match[1])
        return number if number is not None and INT64[0] <= number <= INT64[1] else None
    match = _FLOAT.match(text) if kind == "float" else None
    value = None if match is None else float(match[1])
    return None if value is None or value in {float("inf"), float("-inf")} else value


def _text(raw: Any) -> str | None:
    """Return a value as IR text, None if it has no text form."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int) and raw.bit_length() > _MAX_BITS:
        return None
    if isinstance(raw, int | float):
        return repr(raw)
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list | tuple):
        items = [None if isinstance(item, list | tuple) else _text(item) for item in raw]
        return None if None in items else ",".join(map(str, items))
    return None


NAME: Final = "openvino"
_KEYS: Final = ("type", "version", "name", "id", "inputs", "outputs", "data")
#: Unknown types, as layers and ports spell them.
_NO_TYPE: Final = ("dynamic", "UNSPECIFIED")
#: Name suffix of attributes that are shapes, where sizes may be unknown.
_SHAPE: Final = "shape"
_TENSOR_KEYS: Final = ("element_type", "shape", "value", "name")


def is_descriptor(data: Mapping[str, Any]) -> bool:
    """Return True if `data` looks like an OpenVINO layer."""
    version = data.get("version")
    return "type" in data and ("data" in data or (isinstance(version, str) and version.startswith("opset")))


def read(data: Mapping[str, Any], place: str = "") -> Descriptor:
    """Return the Descriptor of a layer dict; raise InputError or NoTable.

    ``inputs``/``outputs``: ``{"element_type": "i64", "shape": [3, -1]}``. -1 or null is an unknown size, a null shape
    an unknown rank, and ``{}`` an output without a stated type. ``version``: the layer's opset; without it, the layer
    is checked as written for the target. ``data``: a body is ``{"inputs": [...], "outputs": [...]}`` with tensors as
    above and outputs in the order of the layer's outputs. Port maps and back edges of a layer with bodies are also in
    ``data``, with the names of the IR.
    """
    prefix = f"{place}." if place else ""
    refuse_unknown(data, _KEYS, place, "a field of a layer")
    kind, version = data.get("type"), data.get("version")
    if not isinstance(kind, str) or not (version is None or isinstance(version, str)):
        text = f"{format_value(kind)} and {format_value(version)}"
        raise InputError(f"expected type and version as strings, found {text}", place=place or None)
    name = data.get("name")
    if not (name is None or isinstance(name, str)):
        raise InputError(f"expected a name, found {format_value(name)}", place=f"{prefix}name")
    attributes = data.get("data") or {}
    if not isinstance(attributes, dict):
        raise InputError("expected an object of attributes by name", place=f"{prefix}data")
    spec = dialect(NAME).operator(kind)
    maps: dict[str, Any] = {}
    if any(info.type == "graph" for info in spec.attributes):
        attributes, maps = split_attributes(attributes, f"{prefix}data")
    descriptor = build(
        spec,
        tensors_of(data.get("inputs"), f"{prefix}inputs", "ports", _tensor),
        outputs_of(data.get("outputs"), f"{prefix}outputs", "ports", _tensor),
        spell_attributes(spec, attributes),
        version=version,
        name=name,
        convert=attribute_value,
        builds_read=builds_read,
    )
    return with_maps(descriptor, maps)


def _tensor(raw: Any, place: str) -> TensorDesc | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise InputError(
            f"expected an object with element_type and shape, or null, found {format_value(raw)}", place=place
        )
    for key in raw:
        if key not in _TENSOR_KEYS:
            raise InputError(
                f"{format_value(key)} is not a field of a port; expected element_type, shape, value", place=place
            )
    kind = _element_type(raw.get("element_type"), f"{place}.element_type")
    shape = shape_of(raw.get("shape"), f"{place}.shape", negative_is_unknown=True)
    return TensorDesc(kind, shape, value=flatten(raw.get("value"), f"{place}.value"))


def type_word(raw: Any) -> str:
    """Return an element type's name in the tables; InputError if invalid."""
    word = _element_type(raw, "")
    if word is None:
        raise InputError(f"expected an element type, found {format_value(raw)}")
    return word


def _element_type(raw: Any, place: str) -> str | None:
    """Return a type's name from a layer or port spelling (``f32``, ``FP32``).

    An unknown type is kept.
    """
    if raw is None or (isinstance(raw, str) and raw in _NO_TYPE):
        return None
    if not isinstance(raw, str):
        raise InputError(f"expected an element type such as f32, found {format_value(raw)}", place=place)
    types = dialect(NAME).types
    return raw if raw in types else next((name for name, info in types.items() if info.get("ir") == raw), raw[:80])


def attribute_value(info: FieldInfo, raw: Any) -> Any:
    """Convert an attribute from JSON or IR text; ValueError if invalid."""
    if info.type == "graph":
        return _graph(raw)
    if info.type.endswith("[]"):
        if isinstance(raw, str) and info.name.endswith(_SHAPE):
            return _shape(raw)
        items = _split_list(raw) if isinstance(raw, str) else raw
        if not isinstance(items, list | tuple):
            raise ValueError(f"{info.type} is expected")
        return [_scalar(info.type.removesuffix("[]"), item) for item in items]
    return _scalar(info.type, raw)


def _shape(text: str) -> Any:
    """Parse a shape such as ``2,?,1..3``.

    -1 is an unknown size, UNKNOWN an unknown rank.
    """
    if text.strip() == "...":
        return UNKNOWN
    parts = text.split(",") if text.strip() else []
    return [-1 if part.strip() == "?" or ".." in part else _scalar("int", part) for part in parts]


def _graph(raw: Any) -> GraphDesc:
    if isinstance(raw, GraphDesc):
        return raw
    if not isinstance(raw, dict) or not raw.keys() <= {"inputs", "outputs"}:
        raise ValueError("a body is expected as inputs and outputs")
    try:
        ends = [tensors_of(raw.get(key), key, "tensors", _tensor) for key in ("inputs", "outputs")]
    except InputError as error:
        raise ValueError(f"a body is expected: {error}") from None
    types = dialect(NAME).types
    for word in (end.type for part in ends for end in part if end is not None):
        if word is not None and word not in types:
            raise ValueError(unknown_word("a type in it", word, "element type", types))
    return GraphDesc(*(tuple(end or TensorDesc(None, None) for end in part) for part in ends))


def _split_list(text: str) -> list[str]:
    """Split a comma-separated list of an IR, ignoring spaces."""
    return [item.strip() for item in text.split(",")] if text.strip() else []


def _scalar(kind: str, raw: Any) -> Any:
    if kind == "int":
        if isinstance(raw, str) and len(raw) <= 21 and raw.strip().removeprefix("-").isdecimal():
            raw = int(raw)
        if isinstance(raw, bool) or not isinstance(raw, int) or not INT64[0] <= raw <= INT64[1]:
            raise ValueError("a 64-bit integer is expected")
        return raw
    if kind == "float":
        return _float(raw)
    if kind == "bool":
        word = raw.lower() if isinstance(raw, str) else raw  # Model Optimizer writes True and False
        if not isinstance(word, int | str) or word not in {True, False, "true", "false", "1", "0"}:
            raise ValueError("true or false is expected")
        return word in {True, "true", "1"}
    if not isinstance(raw, str):
        raise ValueError("a string is expected")  # noqa: TRY004  # ValueError, as for other invalid values
    return raw


def _float(raw: Any) -> float:
    if not isinstance(raw, bool) and isinstance(raw, int | float | str):
        try:
            return float(raw)
        except (ValueError, OverflowError):
            pass
    raise ValueError("a number is expected")


def write(descriptor: Descriptor) -> dict[str, Any]:
    """Return the layer dict of a descriptor."""
    spec = dialect(NAME).operator(descriptor.operator)
    pairs = ((i.vendor_name, descriptor.fields.get(i.name)) for i in spec.attributes)
    renamed = read_by_page_names(descriptor, spec)
    data = {name: _attribute(name, value) for name, value in pairs if value is not None and name not in renamed}
    names = {info.name: info.vendor_name for info in spec.attributes}
    oddities = (o for o in descriptor.oddities if o.code in {"unknown-attribute", "wrong-kind"})
    data.update((names.get(o.where, o.where), o.value) for o in oddities)
    data.update(maps_of(descriptor))
    layer: dict[str, Any] = {"type": descriptor.operator}
    if descriptor.version is not None:
        layer["version"] = descriptor.version
    if descriptor.name is not None:
        layer["name"] = descriptor.name
    layout = spec.layout(descriptor.layout or descriptor.version)
    layer["inputs"] = [_write_tensor(t) for t in positional(descriptor.fields, layout.inputs)]
    layer["outputs"] = [_write_tensor(t) for t in positional(descriptor.fields, layout.outputs)]
    layer["data"] = data
    return layer


def _attribute(name: str, value: Any) -> Any:
    if isinstance(value, GraphDesc):
        return {
            "inputs": [_write_tensor(t) for t in value.inputs],
            "outputs": [_write_tensor(t) for t in value.outputs],
        }
    return "..." if value is UNKNOWN and name.endswith(_SHAPE) else value


def _write_tensor(tensor: TensorDesc | None) -> dict[str, Any] | None:
    if tensor is None:
        return None
    if tensor is UNSTATED:
        return {}
    shape = (
        None
        if tensor.sizes is None
        else [-1 if s is None else s if isinstance(s, int) else str(s) for s in tensor.sizes]
    )
    document: dict[str, Any] = {"element_type": tensor.type, "shape": shape}
    if tensor.value is not None:
        document["value"] = list(tensor.value)
    return document
