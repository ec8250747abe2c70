"""Read DxDispatch model files without opening data files."""

from __future__ import annotations

import math
import os
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, TensorDesc, format_value, integer_limits
from specgate.descriptors.files import NoTableEntry, size_in_folder, unusable_location
from specgate.descriptors.read import read_text_file
from specgate.descriptors.text import load_relaxed, place_of, plain_name
from specgate.descriptors.words import number_of, word_of
from specgate.dialects.directml import reader
from specgate.dialects.directml.dxdispatch.graph import GRAPH, check_graphs, graph_dispatchable, unseen_nodes
from specgate.dialects.directml.dxdispatch.model import (
    DxBinding,
    DxCommand,
    DxDispatchable,
    DxModel,
    DxResource,
    write_dx_model,
)
from specgate.dialects.directml.tensor import NAME
from specgate.errors import InputError, NoTable
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.spec.fields import FieldInfo

__all__ = [
    "DxBinding", "DxCommand", "DxDispatchable", "DxModel", "DxResource", "as_dispatched", "bind_points", "entries",
    "is_dx_model", "read_dx_model", "write_dx_model",
]  # fmt: skip


def as_dispatched(descriptor: Descriptor) -> Descriptor:
    """Return the description that DxDispatch passes to DirectML.

    It drops empty Strides, computes a TotalTensorSizeInBytes of 0, omits the tensors of fused operators, and rounds
    FLOAT16 scalars toward zero. Returns the same object if nothing changes.
    """
    fields = _normal_fields(descriptor)
    return descriptor if fields == descriptor.fields else replace(descriptor, fields=fields)


def bind_points(descriptor: Descriptor, kind: str) -> dict[str, list[TensorDesc]]:
    """Return a descriptor's tensors by field; arrays keep their order.

    kind: input or output.
    """
    tensors_by_name: dict[str, list[TensorDesc]] = {}
    for info in dialect("directml").operator(descriptor.operator).fields.values():
        value = descriptor.fields.get(info.name)
        if info.kind == kind and value is not None:
            tensors_by_name[info.name] = [value] if isinstance(value, TensorDesc) else list(value)
    return tensors_by_name


def _normal_fields(descriptor: Descriptor) -> dict[str, Any]:
    infos = dialect("directml").operator(descriptor.operator).fields
    return {name: _value(value, infos[name], descriptor) for name, value in descriptor.fields.items()}


def _value(value: Any, info: FieldInfo, descriptor: Descriptor) -> Any:
    if isinstance(value, list | tuple) and not isinstance(value, TensorDesc):
        return [_value(item, info, descriptor) for item in value] if info.type in {"tensor[]", "operator[]"} else value
    if isinstance(value, TensorDesc):
        return value._replace(strides=value.strides or None, size_in_bytes=value.size_in_bytes or None)
    if isinstance(value, Descriptor):
        infos = dialect("directml").operator(value.operator).fields
        return replace(
            value, fields={n: part for n, part in _normal_fields(value).items() if infos[n].kind == "attribute"}
        )
    if info.type_from is not None and descriptor.fields.get(info.type_from) == "FLOAT16":
        return _truncate_to_half(value)
    return value


def _truncate_to_half(value: float) -> float:
    """Round to float32, then toward zero to float16; 65536 becomes infinite."""
    if not math.isfinite(value):
        return value
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))
        (rounded,) = struct.unpack("<e", struct.pack("<e", single))
    except OverflowError:
        rounded = 65504.0 if abs(value) < 65536 else math.inf
        return math.copysign(rounded, value)
    if abs(rounded) > abs(single):
        (bits,) = struct.unpack("<H", struct.pack("<e", rounded))
        (rounded,) = struct.unpack("<e", struct.pack("<H", bits - 1))
    return float(rounded)


UINT32: Final = 2**32 - 1
UINT64: Final = 2**64 - 1
FOREIGN: Final = {"hlsl": "hlsl", "onnx": "onnx", "dmlserializedgraph": "dmlSerializedGraph"}
#: Kinds of dispatchables that refer to a model file.
MODELS: Final = frozenset({"onnx", "dmlSerializedGraph"})
COMMANDS: Final = {"dispatch": "dispatch", "print": "print", "writefile": "writeFile"}
_WORDS: Final = frozenset({"nan", "inf", "-inf"})


def is_dx_model(document: Any) -> bool:
    """Return whether a JSON or YAML document looks like a DxDispatch model."""
    return isinstance(document, dict) and isinstance(document.get("dispatchables"), dict)


def entries(document: Mapping[str, Any], file: str) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
    """Yield the dispatchables of a model with their places.

    Kinds without tables become NoTableEntry.
    """
    for key, dispatchable in read_dx_model(document, file=file).dispatchables.items():
        if dispatchable.kind == GRAPH:  # its operators are separate dispatchables
            yield from unseen_nodes(dispatchable, place_of("dispatchables", key))
        elif dispatchable.descriptor is not None:
            yield place_of("dispatchables", key), dispatchable.descriptor
        else:
            yield place_of("dispatchables", key), _entry(dispatchable, file)


def _entry(dispatchable: DxDispatchable, file: str) -> NoTableEntry:
    """Return the entry of a dispatchable without a descriptor.

    It includes the model file of the dispatchable if that is readable.
    """
    source, reason = dispatchable.raw.get("sourcePath"), dispatchable.no_table or ""
    if dispatchable.kind not in MODELS or not isinstance(source, str) or not os.path.isfile(file):  # noqa: PTH113
        return NoTableEntry(NAME, dispatchable.operator, reason)
    folder = os.path.dirname(file) or "."  # noqa: PTH120
    problem = unusable_location(source)
    if problem is None and isinstance(size := size_in_folder(folder, source), str):
        problem = f"{format_value(source)}, which {size}"
    if problem is not None:
        return NoTableEntry(NAME, dispatchable.operator, f"its model is not read, because its location is {problem}")
    pins = dispatchable.raw.get("freeDimensionNameOverrides")
    sizes = {name: size for name, size in pins.items() if isinstance(size, int)} if isinstance(pins, dict) else {}
    path = os.path.join(folder, source)  # noqa: PTH118
    return NoTableEntry(NAME, dispatchable.operator, reason, path, sizes)


def read_dx_model(source: str | os.PathLike[str] | Mapping[str, Any], *, file: str | None = None) -> DxModel:
    """Return the model of a path, of a loaded document, or of a text.

    A string is a text if it has a brace or a line break. file: the name of a text or document in errors, and the base
    of its relative paths. Raises InputError.
    """
    if isinstance(source, dict):
        document: Any = source
    else:
        text = os.fspath(source)  # type: ignore[arg-type]  # a Mapping that is not a dict is rejected below
        if "{" not in text and "\n" not in text:
            file, text = text, read_text_file(text)
        document = load_relaxed(text, file or "<text>")
    try:
        return _model(document, file)
    except InputError as error:
        raise InputError(error.message, file=file, place=error.place) from None


def _model(document: Any, file: str | None) -> DxModel:
    if not is_dx_model(document):
        raise InputError("expected a DxDispatch model: an object with resources, dispatchables and commands")
    resources, commands = document.get("resources", {}), document.get("commands", [])
    _expect(isinstance(resources, dict), "an object of resources by name", resources, "resources")
    _expect(isinstance(commands, list), "a list of commands", commands, "commands")
    model = DxModel(
        {name: _resource(raw, place_of("resources", name)) for name, raw in resources.items()},
        {n: _dispatchable(raw, place_of("dispatchables", n)) for n, raw in document["dispatchables"].items()},
        [_command(raw, f"commands[{i}]") for i, raw in enumerate(commands)],
        file,
        {k: v for k, v in document.items() if k not in {"resources", "dispatchables", "commands"}},
    )
    for name, dispatchable in model.dispatchables.items():
        _check_bound(dispatchable.bindings, model, place_of("dispatchables", name))
    for i, command in enumerate(model.commands):
        _check_bound(command.bindings, model, f"commands[{i}]")
        models: Mapping[str, Any] = model.dispatchables if command.kind == "dispatch" else model.resources
        text = command.dispatchable or command.resource
        if text not in models:
            word = "dispatchable" if command.kind == "dispatch" else "resource"
            raise InputError(f"the model does not have a {word} {text!r:.60}", place=f"commands[{i}]")
    check_graphs(model)
    return model


def _expect(condition: bool, text: str, result: Any, place: str) -> None:
    if not condition:
        raise InputError(f"expected {text}, found {format_value(result)}", place=place)


def _check_bound(bindings: Mapping[str, list[DxBinding]], model: DxModel, place: str) -> None:
    for point, bound in bindings.items():
        for binding in bound:
            if binding.name not in model.resources:
                raise InputError(
                    f"the model has no resource {binding.name!r:.60}", place=f"{place}.{plain_name(point)}"
                )


def _uint(raw: Any, place: str, limit: int = UINT64) -> int:
    is_valid = isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= limit
    _expect(is_valid, f"an integer from 0 to {limit}", raw, place)
    return int(raw)


def _text(raw: Mapping[str, Any], key: str, place: str) -> str:
    value = raw.get(key)
    _expect(isinstance(value, str), f"the field {key} as a string", value, place)
    return str(value)


def _other_keys(raw: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in raw.items() if k not in names}


def _resource(raw: Any, place: str) -> DxResource:
    _expect(isinstance(raw, dict), "an object", raw, place)
    data_type = _data_type(raw["initialValuesDataType"], place) if "initialValuesDataType" in raw else None
    initial = raw.get("initialValues")
    values_place = f"{place}.initialValues"
    kind = _kind_of(initial, data_type, values_place)
    if kind in {"array", "constant", "sequence"} and data_type is None:
        raise InputError("expected an initialValuesDataType for these initialValues", place=place)
    _check_initial(kind, initial, data_type or "", values_place)
    size = raw.get("sizeInBytes")
    if size is not None:
        size = _uint(size, f"{place}.sizeInBytes")
    return DxResource(
        kind, initial, data_type, size, _other_keys(raw, "initialValues", "initialValuesDataType", "sizeInBytes")
    )


def _kind_of(initial: Any, data_type: str | None, place: str) -> str:
    if isinstance(initial, list):
        return "array" if data_type else "list"
    if initial == "deferred":
        return "deferred"
    keys = [key for key in ("value", "valueStart", "sourcePath") if isinstance(initial, dict) and key in initial]
    _expect(
        len(keys) == 1,
        "a list, or an object with one of value, valueStart and sourcePath, or 'deferred'",
        initial,
        place,
    )
    return {"value": "constant", "valueStart": "sequence", "sourcePath": "file"}[keys[0]]


def _data_type(raw: Any, place: str) -> str | None:
    """Return a byte-sized type's short name, None for UNKNOWN."""
    short = word_of(raw, {**dialect("directml").type_numbers, "UNKNOWN": 0}, "DML_TENSOR_DATA_TYPE_")
    if short == "UNKNOWN":
        return None
    bits = dialect("directml").bits
    is_known = isinstance(short, str) and (bits.get(short) or 0) >= 8
    hint = " (give 4-bit values as UINT8 bytes, the first one in the low half)" if short in ("UINT4", "INT4") else ""
    _expect(is_known, "an initialValuesDataType such as FLOAT32" + hint, raw, place)
    return str(short)


def _check_initial(kind: str, initial: Any, data_type: str, place: str) -> None:
    if kind in {"array", "list"} and not initial:
        raise InputError("expected at least one value", place=place)
    if kind == "array":
        _check_numbers(enumerate(initial), data_type, place)
    elif kind == "list":
        for i, element in enumerate(initial):
            _expect(isinstance(element, dict), "an object with type and value", element, f"{place}[{i}]")
            value_type = _data_type(element.get("type"), f"{place}[{i}].type")
            _expect(value_type is not None, "a type", element.get("type"), f"{place}[{i}].type")
            _check_numbers([(i, element.get("value"))], value_type or "", place)
    elif kind == "file":
        _text(initial, "sourcePath", place)
    elif kind != "deferred":
        count = initial.get("valueCount")
        _expect(_uint(count, f"{place}.valueCount", UINT32) > 0, "a valueCount above 0", count, place)
        keys = ("value",) if kind == "constant" else ("valueStart", "valueDelta")
        _check_numbers([(key, initial.get(key)) for key in keys], data_type, place)


def _check_numbers(values: Iterable[tuple[int | str, Any]], data_type: str, place: str) -> None:
    """Check values, each with its key, against a data type.

    Floating-point types also allow infinity and its names. Raises InputError.
    """
    floating = data_type.startswith("FLOAT")
    low: float
    high: float
    if floating:
        low, high = -(2.0**1023), 2.0**1023
        text = "a number, nan, inf or -inf"
    else:
        bits = dialect("directml").bits[data_type] or 0
        low, high = integer_limits(bits, signed=not data_type.startswith("U"))
        text = f"an integer from {low} to {high}"
    for key, value in values:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            continue
        if floating and (isinstance(value, float) or (isinstance(value, str) and value.lower() in _WORDS)):
            continue
        _expect(False, text, value, f"{place}[{key}]")


def _bindings(raw: Any, place: str) -> dict[str, list[DxBinding]]:
    _expect(isinstance(raw, dict), "an object of bindings by name", raw, place)
    return {
        point: [
            _binding(item, f"{place}.{plain_name(point)}") for item in (bound if isinstance(bound, list) else [bound])
        ]
        for point, bound in raw.items()
    }


def _binding(raw: Any, place: str) -> DxBinding:
    if isinstance(raw, str):
        return DxBinding(raw)
    _expect(isinstance(raw, dict), "a resource's name or an object with it", raw, place)
    offset = _uint(raw.get("elementOffset", 0), f"{place}.elementOffset")
    size = _uint(raw.get("elementSizeInBytes", 0), f"{place}.elementSizeInBytes")
    return DxBinding(
        _text(raw, "name", place), offset, size, _other_keys(raw, "name", "elementOffset", "elementSizeInBytes")
    )


def _dispatchable(raw: Any, place: str) -> DxDispatchable:
    _expect(isinstance(raw, dict), "an object", raw, place)
    type_key = "type" if "type" in raw else "Type"
    kind: Any = raw[type_key] if number_of(raw.get(type_key)) is not None else _text(raw, type_key, place)
    bindings = _bindings(raw.get("bindings", {}), f"{place}.bindings")
    if isinstance(kind, str) and kind.lower() in FOREIGN:
        word = FOREIGN[kind.lower()]
        reason = f"a dispatchable of type {word} is not a DirectML operator, so it has no table"
        return DxDispatchable(word, word, no_table=reason, raw=dict(raw), bindings=bindings)
    if kind == GRAPH:
        return graph_dispatchable(raw, bindings)
    operator = str(kind).removeprefix("DML_OPERATOR_")
    key = next((k for k in ("Desc", "desc") if k in raw), None)
    options = _other_keys(raw, "type", "Type", "Desc", "desc", "bindings")
    if key is None:  # the operator's fields are next to its type
        desc: Any = _other_keys(options, "dmlCompileType", "executionFlags")
        options = {k: v for k, v in options.items() if k not in desc}
    else:
        desc = raw[key]
    try:
        descriptor = as_dispatched(reader.read({"type": kind, "desc": desc}, place))
    except NoTable as error:
        return DxDispatchable("directml", operator, no_table=str(error), raw=dict(raw), bindings=bindings)
    return DxDispatchable("directml", descriptor.operator, descriptor, bindings=bindings, extra=options)


def _command(raw: Any, place: str) -> DxCommand:
    _expect(isinstance(raw, dict), "an object", raw, place)
    kind = COMMANDS.get(_text(raw, "type", place).lower())
    if kind is None:
        raise InputError(f"expected a command dispatch, print or writeFile, found {raw['type']!r:.60}", place=place)
    if kind == "dispatch":
        groups = raw.get("threadGroupCount", [1, 1, 1])
        _expect(isinstance(groups, list) and len(groups) == 3, "three thread group counts", groups, place)
        bindings = _bindings(raw.get("bindings"), f"{place}.bindings")
        rest = _other_keys(raw, "type", "dispatchable", "bindings")
        return DxCommand(kind, dispatchable=_text(raw, "dispatchable", place), bindings=bindings, extra=rest)
    resource = _text(raw, "resource", place)
    if kind == "print":
        verbose = raw.get("verbose", False)
        _expect(isinstance(verbose, bool), "verbose as true or false", verbose, place)
        return DxCommand(
            kind, resource=resource, verbose=verbose, extra=_other_keys(raw, "type", "resource", "verbose")
        )
    sizes = raw.get("dimensions", [])
    _expect(isinstance(sizes, list) and len(sizes) <= 32, "at most 32 dimensions", sizes, place)
    dimensions = tuple(_uint(size, f"{place}.dimensions", UINT32) for size in sizes)
    rest = _other_keys(raw, "type", "resource", "targetPath", "dimensions")
    target = _text(raw, "targetPath", place)
    return DxCommand(kind, resource=resource, target_path=target, dimensions=dimensions, extra=rest)
