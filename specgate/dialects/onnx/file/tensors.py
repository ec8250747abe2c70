"""Reader of tensors in an ONNX file, with the elements of small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.dialects.onnx.file.schema import DATA_FIELDS, ELEM_TYPES, ITEM_BYTES, KINDS, PROTO
from specgate.dialects.onnx.file.structure import OnnxTensor

if TYPE_CHECKING:
    from specgate.dialects.onnx.file.wire import Reader, Span

MAX_CONSTANT_BYTES = 4096  # encoded payload; larger tensors are skipped


def elem_type(number: int) -> str:
    """Return the name of a TensorProto.DataType."""
    return ELEM_TYPES[number] if 0 <= number < len(ELEM_TYPES) else f"DataType({number})"


def numbers(reader: Reader, items: list[Any], kind: str) -> list[Any]:
    """Return numbers from single values and spans of packed ones."""
    matching_items: list[Any] = []
    for item in items:
        if isinstance(item, tuple):
            matching_items += reader.decode_packed(item[0], item[1], kind)
        else:
            matching_items.append(item)
    return matching_items


def skip(reader: Reader, message: str, field: str, items: list[Any], level: int = 0) -> int:
    """Check a skipped field's values and spans; return their number.

    Messages among them, `level` deep, are queued for `Reader.walk`.
    """
    count = 0
    for item in items:
        if not isinstance(item, tuple):
            count += 1
            continue
        begin, end = item
        kind = KINDS[message][field].removeprefix("repeated ")
        if kind in PROTO:
            reader.pending.append((begin, end, kind, level))
        elif kind != "bytes" and end > begin:
            count += reader.count_packed(begin, end, kind)
    return count


def read_sparse_tensor(reader: Reader, spans: list[Span]) -> OnnxTensor:
    """Read a SparseTensorProto: name and type of its values, its own sizes."""
    dims: list[int] = []
    parts: dict[str, list[Span]] = {"values": [], "indices": []}
    for name, value, end in reader.fields(spans, PROTO["SparseTensorProto"]):
        if name in parts:
            parts[name].append((value, end))
        else:
            dims += reader.decode_packed(value, end, "int64") if end else [value]
    values, indices = (read_tensor(reader, parts[name]) for name in ("values", "indices"))
    return OnnxTensor(
        values.name, values.elem_type, tuple(dims), values.location, dict(values.external), None, (values, indices)
    )


def read_tensor(reader: Reader, spans: list[Span]) -> OnnxTensor:
    """Read a TensorProto."""
    tensor = OnnxTensor()
    dims: list[int] = []
    raw: Span | None = None
    values_by_field: dict[str, list[Any]] = {}
    counts: dict[str, int] = {}
    segment = False
    for name, value, end in reader.fields(spans, PROTO["TensorProto"]):
        if name == "dims":
            dims += reader.decode_packed(value, end, "int64") if end else [value]
        elif name == "data_type":
            tensor.elem_type = elem_type(value)
        elif name == "name":
            tensor.name = value
        elif name == "raw_data":
            raw = (value, end)
        elif name == "data_location":
            if value in {0, 1}:  # a closed enum: other numbers are unknown fields
                tensor.location = "external" if value else "inline"
        elif name == "external_data":
            entry = {key: text for key, text, _ in reader.fields([(value, end)], PROTO["StringStringEntryProto"])}
            tensor.external[entry.get("key", "")] = entry.get("value", "")
        elif name == "segment":
            segment = True
            skip(reader, "TensorProto", name, [(value, end)])
        else:
            items = values_by_field.setdefault(name, [])
            counts[name] = counts.get(name, 0) + _count(reader, name, value, end)
            if len(items) <= MAX_CONSTANT_BYTES:  # each item needs at least one byte
                items.append((value, end) if end else value)
    tensor.dims = tuple(dims)
    tensor.segment = segment
    tensor.stored_counts = {name: count for name, count in counts.items() if count} | (
        {"raw_data": raw[1] - raw[0]} if raw else {}
    )
    if raw and not segment and tensor.location == "inline":
        tensor.data = reader.keep(*raw) if raw[1] - raw[0] <= MAX_CONSTANT_BYTES else None
    elif not segment and tensor.location == "inline" and (stored := DATA_FIELDS.get(tensor.elem_type)):
        tensor.data = _read_typed_data(reader, stored, values_by_field.get(stored, []))
    if tensor.data is None and tensor.stored_counts and not segment and tensor.location == "inline":
        tensor.spans = tuple(spans)
    return tensor


def _count(reader: Reader, name: str, value: Any, end: int) -> int:
    return 1 if name == "string_data" or not end else skip(reader, "TensorProto", name, [(value, end)])


def _read_typed_data(reader: Reader, name: str, items: list[Any]) -> list[Any] | None:
    if len(items) > MAX_CONSTANT_BYTES:
        return None
    size = sum(item[1] - item[0] if isinstance(item, tuple) else ITEM_BYTES[name] for item in items)
    if name == "string_data":
        size += len(items)  # one length byte each
        return [reader.keep(*item) for item in items] if size <= MAX_CONSTANT_BYTES else None
    kind = KINDS["TensorProto"][name].removeprefix("repeated ")
    return numbers(reader, items, kind) if size <= MAX_CONSTANT_BYTES else None
