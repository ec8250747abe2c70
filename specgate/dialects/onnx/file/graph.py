"""Reader of ONNX graphs: nodes, attributes, subgraphs, values and types."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from specgate.dialects.onnx.file.fast_paths import (
    MAX_ATTRIBUTE_BYTES,
    MAX_ATTRIBUTE_VALUES,
    MIN_BYTES,
    Plain,
    Runs,
    listed_attribute,
    plain_info,
    plain_node,
)
from specgate.dialects.onnx.file.schema import ATTRIBUTE_FIELDS, ATTRIBUTE_TYPES, KINDS, LEN, PROTO, WireError
from specgate.dialects.onnx.file.structure import (
    NO_ATTRIBUTES,
    OnnxAttribute,
    OnnxGraph,
    OnnxNode,
    OnnxType,
    OnnxValueInfo,
)
from specgate.dialects.onnx.file.tensors import (
    elem_type,
    numbers,
    read_sparse_tensor,
    read_tensor,
    skip,
)
from specgate.dialects.onnx.file.wire import FIELD_COST, MAX_NESTING, Field, Reader, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.onnx.file.model import Source

__all__ = [
    "MAX_ATTRIBUTE_BYTES",
    "MAX_ATTRIBUTE_VALUES",
    "domain_of",
    "read_attribute",
    "read_graph",
    "read_node",
    "read_value_info",
]

_NODE, _VALUE_INFO = (
    next(number << 3 | LEN for number, (name, _) in PROTO["GraphProto"].fields.items() if name == field)
    for field in ("node", "value_info")
)
_TWO_BYTES = 1 << 14  # the least length that takes three bytes
_COUNT_LEVEL = MAX_NESTING - 10  # beyond this level every message is counted; only graphs and types nest deeper than 10
_SAFE_DEPTH = _COUNT_LEVEL // 2  # at a smaller depth, a type of at most 127 bytes cannot reach the limit


def read_graph(reader: Source, spans: list[Span], depth: int) -> OnnxGraph:
    _check_nesting(reader, spans, "GraphProto", depth)
    graph = OnnxGraph()
    runs = Runs()
    for name, value, end in _graph_fields(reader, spans, graph, runs, depth):
        if name == "node":
            node, is_bare = read_node(reader, value, end, depth)
            if is_bare:
                runs.add(len(graph.nodes), value, end)
            graph.nodes.append(node)
        elif name == "value_info":
            graph.value_infos.append(read_value_info(reader, value, end, depth))
        elif name == "initializer":
            graph.initializers.append(read_tensor(reader, [(value, end)]))
        elif name == "input":
            graph.inputs.append(read_value_info(reader, value, end, depth))
        elif name == "output":
            graph.outputs.append(read_value_info(reader, value, end, depth))
        elif name == "sparse_initializer":
            graph.sparse_initializers.append(read_sparse_tensor(reader, [(value, end)]))
        elif name == "quantization_annotation":
            _quantization(reader, [(value, end)], graph.quantization)
        else:
            graph.name = value
    if len(spans) == 1:  # the nodes' bytes are contiguous only if the graph is one span
        runs.close()
        graph.runs = [(first, past, reader.keep(begin, end)) for first, past, begin, end in runs.spans]
    return graph


def _graph_fields(reader: Source, spans: list[Span], graph: OnnxGraph, runs: Runs, depth: int) -> Iterator[Field]:
    """Read nodes and value infos that lie in a block; yield the other fields."""
    message = PROTO["GraphProto"]
    reader.spend(message.cost, spans[0][0] if spans else 0)
    for begin, stop in spans:
        position = begin
        while (position := _read_block(reader, graph, runs, (position, stop), depth)) < stop:
            batch, position = reader.field(position, stop, message)
            yield from batch


def _read_block(reader: Source, graph: OnnxGraph, runs: Runs, span: Span, depth: int) -> int:
    """Read nodes and value infos in a block; return the next field's offset."""
    buffer, base = reader.block(span[0])
    i, last = span[0] - base, min(span[1] - base, len(buffer))
    nodes, infos = graph.nodes, graph.value_infos
    number = len(nodes) + len(infos)
    known_types = reader.types if depth < _SAFE_DEPTH else {}
    while i + 3 < last:
        key, size, begin = buffer[i], buffer[i + 1], i + 2
        if size > 127:
            size += (buffer[begin] << 7) - 128
            begin += 1
        end = begin + size
        if end > last or size >= _TWO_BYTES:
            break
        if key == _NODE:
            plain = plain_node(reader, buffer, begin, end, base)
            if plain is None:
                nodes.append(_any_node(reader, base + begin, base + end, depth))
            else:
                node, pairs, is_bare, end_bytes = plain
                if pairs or end_bytes is not None:
                    is_bare = _add_attributes(reader, plain, depth)
                if is_bare:
                    runs.add(len(nodes), base + begin, base + end)
                nodes.append(node)
        elif key == _VALUE_INFO:
            pair = plain_info(reader, buffer, begin, end)
            if pair is None:
                break
            name, data = pair
            infos.append(OnnxValueInfo(name, known_types.get(data) or _shared_type(reader, data, base + end, depth)))
        else:
            break
        i = end
    reader.spend(FIELD_COST * (len(nodes) + len(infos) - number), base + i)
    return base + i


def _check_nesting(reader: Reader, spans: list[Span], kind: str, level: int) -> None:
    """Raise WireError for messages nested deeper than protobuf allows.

    Close to the limit, messages are queued for an exact walk.
    """
    if level > MAX_NESTING:
        raise WireError(f"messages are nested more than {MAX_NESTING} deep", spans[0][0])
    if level > _COUNT_LEVEL:
        reader.pending.extend((begin, end, kind, level) for begin, end in spans)


def _quantization(reader: Reader, spans: list[Span], annotations: dict[str, dict[str, str]]) -> None:
    tensor = ""
    names: dict[str, str] = {}
    for name, value, end in reader.fields(spans, PROTO["TensorAnnotation"]):
        if name == "tensor_name":
            tensor = value
        else:
            pair = {key: text for key, text, _ in reader.fields([(value, end)], PROTO["StringStringEntryProto"])}
            names[pair.get("key", "")] = pair.get("value", "")
    annotations.setdefault(tensor, {}).update(names)


def read_node(reader: Source, begin: int, end: int, depth: int) -> tuple[OnnxNode, bool]:
    """Read a node; return also whether its bytes can be copied unchanged."""
    data = reader.read_span(begin, end)
    plain = None if data is None else plain_node(reader, data, 0, len(data), begin)
    if plain is None:
        return _any_node(reader, begin, end, depth), False
    return plain[0], _add_attributes(reader, plain, depth)


def _add_attributes(reader: Source, plain: Plain, depth: int) -> bool:
    """Decode a node's attributes; return whether its bytes can be copied."""
    node, pairs, is_bare, end_bytes = plain
    if pairs:
        attributes = []
        for data, offset in pairs:
            attributes.append(
                reader.attribute(data, partial(read_attribute, reader, [(offset, offset + len(data))], depth))
            )
        node.attributes, node.duplicates = _attributes_by_name(attributes)
        is_bare = is_bare and not node.duplicates and all(attribute.whole for attribute in attributes)
    if end_bytes is not None:
        reader.share_end(end_bytes, node, [data for data, _ in pairs], is_bare=is_bare)
    return is_bare


def _attributes_by_name(attributes: Iterable[OnnxAttribute]) -> tuple[Mapping[str, OnnxAttribute], Sequence[str]]:
    """Return attributes by name and the names of duplicates.

    The first attribute of each name is kept.
    """
    attributes_by_name: dict[str, OnnxAttribute] = {}
    duplicates: list[str] = []
    for attribute in attributes:
        if attribute.name in attributes_by_name:
            duplicates.append(attribute.name)
        else:
            attributes_by_name[attribute.name] = attribute
    return attributes_by_name or NO_ATTRIBUTES, tuple(duplicates)


def _any_node(reader: Source, begin: int, end: int, depth: int) -> OnnxNode:
    node = OnnxNode()
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: list[OnnxAttribute] = []
    for name, value, stop in reader.fields([(begin, end)], PROTO["NodeProto"]):
        if name == "input":
            inputs.append(reader.texts.setdefault(value, value))
        elif name == "output":
            outputs.append(reader.texts.setdefault(value, value))
        elif name == "attribute":
            attributes.append(read_attribute(reader, [(value, stop)], depth))
        elif name == "domain":
            node.domain = domain_of(value)
        else:
            setattr(node, name, value)
    node.inputs, node.outputs = tuple(inputs), tuple(outputs)
    node.attributes, node.duplicates = _attributes_by_name(attributes)
    return node


def read_attribute(reader: Source, spans: list[Span], depth: int) -> OnnxAttribute:
    if len(spans) == 1 and spans[0][1] - spans[0][0] >= MIN_BYTES:
        listed_values = listed_attribute(reader, *spans[0])
        if listed_values is not None:
            return listed_values
    attribute_name, kind, reference = "", "UNDEFINED", ""
    items_by_name: dict[str, list[Any]] = {}  # numbers and spans by field; the attribute's type selects one at the end
    for name, value, end in reader.fields(spans, PROTO["AttributeProto"]):
        if name == "name":
            attribute_name = value
        elif name == "ref_attr_name":
            reference = value
        elif name == "type":
            if 0 <= value < len(ATTRIBUTE_TYPES):  # a closed enum, so protobuf treats other numbers as unknown fields
                kind = ATTRIBUTE_TYPES[value]
        elif name not in items_by_name or name in {"f", "i", "s"}:
            if not end or end > value or name not in {"floats", "ints"}:  # an empty packed field counts as absent
                items_by_name[name] = [(value, end) if end else value]
        elif len(items_by_name[name]) <= MAX_ATTRIBUTE_VALUES:
            items_by_name[name].append((value, end) if end else value)
        elif end:
            skip(reader, "AttributeProto", name, [(value, end)], depth + 3)
    if kind == "UNDEFINED":
        kind = next((kind for kind, name in ATTRIBUTE_FIELDS.items() if name in items_by_name), "UNDEFINED")
    content = None
    if kind != "UNDEFINED" and not reference:
        items = items_by_name.pop(ATTRIBUTE_FIELDS[kind], [])
        content = _value(reader, kind, items, depth)
        if content is None:
            skip(reader, "AttributeProto", ATTRIBUTE_FIELDS[kind], items, depth + 3)
    for name, items in items_by_name.items():
        skip(reader, "AttributeProto", name, items, depth + 3)
    skipped = content is None and not reference and kind != "UNDEFINED"
    return OnnxAttribute(attribute_name, kind, content, reference or None, tuple(spans) if skipped else ())


def _value(reader: Source, kind: str, items: list[Any], depth: int) -> Any:
    if len(items) > MAX_ATTRIBUTE_VALUES:
        return None
    if kind in {"FLOAT", "INT"}:
        return items[-1] if items else 0.0 if kind == "FLOAT" else 0
    if kind in {"FLOATS", "INTS"}:
        if sum(item[1] - item[0] for item in items if isinstance(item, tuple)) > MAX_ATTRIBUTE_BYTES:
            return None
        matching_items = numbers(reader, items, "float" if kind == "FLOATS" else "int64")
        return matching_items if len(matching_items) <= MAX_ATTRIBUTE_VALUES else None
    if kind in {"STRING", "STRINGS"}:
        if sum(end - begin for begin, end in items) > MAX_ATTRIBUTE_BYTES:
            return None
        strings = [reader.keep(begin, end) for begin, end in items]
        return strings if kind == "STRINGS" else strings[-1] if strings else b""
    if kind in {"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"}:
        return _element(reader, kind, items, depth) if items else None
    return [_element(reader, kind.removesuffix("S"), [span], depth) for span in items]


def _element(reader: Source, kind: str, spans: list[Span], depth: int) -> Any:
    if kind == "TENSOR":
        return read_tensor(reader, spans)
    if kind == "GRAPH":
        return read_graph(reader, spans, depth + 3)  # depth of node, attribute and graph
    if kind == "SPARSE_TENSOR":
        return read_sparse_tensor(reader, spans)
    return _type(reader, spans, depth + 3)


def read_value_info(reader: Source, begin: int, end: int, depth: int) -> OnnxValueInfo:
    content = reader.read_span(begin, end)
    pair = None if content is None else plain_info(reader, content, 0, len(content))
    if pair is not None:
        return OnnxValueInfo(pair[0], _shared_type(reader, pair[1], end, depth))
    info = OnnxValueInfo()
    types: list[Span] = []
    for name, value, stop in reader.fields([(begin, end)], PROTO["ValueInfoProto"]):
        if name == "name":
            info.name = value
        else:
            types.append((value, stop))
    info.type = _type(reader, types, depth + 2) if types else None
    return info


def _shared_type(reader: Source, data: bytes, end: int, depth: int) -> OnnxType:
    """Return the type in the bytes before `end`, cached unless nesting is deep."""
    span = end - len(data), end
    if depth >= _SAFE_DEPTH:
        return _type(reader, [span], depth + 2)
    return reader.known_type(data) or reader.type(data, partial(_type, reader, [span], depth + 2))


def _type(reader: Reader, spans: list[Span], depth: int) -> OnnxType:
    _check_nesting(reader, spans, "TypeProto", depth)
    case = ""
    content: list[Span] = []
    for name, value, end in reader.fields(spans, PROTO["TypeProto"]):
        if name != case:  # a oneof, where the last field wins
            skip(reader, "TypeProto", case, content, depth + 1)
            case = name
            content = []
        content.append((value, end))
    if not case:
        return OnnxType()
    kind = case.removesuffix("_type")
    element: str | None = None
    inner: list[Span] = []
    for _, value, end in reader.fields(content, PROTO[KINDS["TypeProto"][case]]):
        if end:
            inner.append((value, end))
        else:
            element = elem_type(value)
    if inner and kind in {"tensor", "sparse_tensor"}:
        return OnnxType(kind, element, _shape(reader, inner))
    return OnnxType(kind, element, None, _type(reader, inner, depth + 2) if inner else None)


def _shape(reader: Reader, spans: list[Span]) -> tuple[int | str | None, ...]:
    dimension = PROTO["TensorShapeProto.Dimension"]
    shape: list[int | str | None] = []
    for _, begin, end in reader.fields(spans, PROTO["TensorShapeProto"]):
        size = None
        for _, value, _ in reader.fields([(begin, end)], dimension):  # a oneof, where the last field wins
            size = None if value == "" else value
        if isinstance(size, int) and size < 0:
            size = None
            reader.negative_sizes.append(begin)
        shape.append(size)
    return tuple(shape)


def domain_of(name: str) -> str:
    return "" if name == "ai.onnx" else name
