"""Nodes and value infos that end like others before them, read straight out of the reader's block.

Nearly all fields of a large graph are such. This is the reading of `file.plain` once more, for speed alone: as soon as
something is not as it was before, it is left to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.file.plain import INFO_COST, INFO_NAME, INPUT, NAME, NODE_COST, OP_TYPE, OUTPUT
from specgate.dialects.onnx.file.schema import PROTO
from specgate.dialects.onnx.file.structure import OnnxNode, OnnxValueInfo
from specgate.dialects.onnx.file.varints import LEN
from specgate.dialects.onnx.file.wire import FIELD_COST

if TYPE_CHECKING:
    from specgate.dialects.onnx.file.plain import Runs
    from specgate.dialects.onnx.file.source import Source
    from specgate.dialects.onnx.file.structure import OnnxGraph

__all__ = ["quick_fields"]

_NODE, _VALUE_INFO = (
    next(number << 3 | LEN for number, (name, _) in PROTO["GraphProto"].fields.items() if name == field)
    for field in ("node", "value_info")
)
_LONGEST: Final = 1 << 14  # a field whose length takes two bytes
_NODE_FIELD, _INFO_FIELD = NODE_COST + FIELD_COST, INFO_COST + 3 * FIELD_COST


def quick_fields(source: Source, graph: OnnxGraph, runs: Runs, at: int, stop: int) -> int:
    """Read fields of a graph from byte `at` on into it, and return where the first is that is left to others."""
    buffer, base = source.block(at)
    i, last = at - base, min(stop - base, len(buffer))
    nodes, infos = graph.nodes, graph.value_infos
    cost, most = 0, source.left
    while i + 3 < last:
        key, size, begin = buffer[i], buffer[i + 1], i + 2
        if size > 127:
            size += (buffer[begin] << 7) - 128
            begin += 1
        end = begin + size
        if end > last or size >= _LONGEST or cost >= most:
            break
        if key == _NODE:
            node, bare = _node(source, buffer, begin, end)
            if node is None:
                break
            if bare:
                runs.add(len(nodes), base + begin, base + end)
            nodes.append(node)
            cost += _NODE_FIELD + size + FIELD_COST * (len(node.inputs) + len(node.outputs) + len(node.attributes))
        elif key == _VALUE_INFO:
            info = _info(source, buffer, begin, end)
            if info is None:
                break
            infos.append(info)
            cost += _INFO_FIELD + size
        else:
            break
        i = end
    source.spend(cost, base + i)
    return base + i


def _node(source: Source, buffer: bytes, at: int, end: int) -> tuple[OnnxNode | None, bool]:
    """Return the NodeProto in a span of the block, and whether it may be copied as it is; None if it is another."""
    texts = source.texts
    name = ""
    inputs: list[str] = []
    outputs: list[str] = []
    try:
        while (key := buffer[at]) != OP_TYPE:
            size, first = buffer[at + 1], at + 2
            at = first + size
            if size > 127 or at >= end:
                return None, False
            text = buffer[first:at].decode()
            if key == INPUT:
                inputs.append(texts.setdefault(text, text))
            elif key == OUTPUT:
                outputs.append(texts.setdefault(text, text))
            elif key == NAME:
                name = text
            else:
                return None, False
    except (IndexError, UnicodeDecodeError):
        return None, False
    known = source.ends.get(buffer[at:end])
    if known is None:
        return None, False
    op_type, domain, attributes, bare = known
    return OnnxNode(name, op_type, domain, "", tuple(inputs), tuple(outputs), attributes), bare


def _info(source: Source, buffer: bytes, begin: int, end: int) -> OnnxValueInfo | None:
    """Return the ValueInfoProto in a span of the block if it is a name and a type of before, None if it is another."""
    if end - begin < 2 or buffer[begin] != INFO_NAME or buffer[begin + 1] > 127:
        return None
    behind = begin + 2 + buffer[begin + 1]
    kind = source.kinds.get(buffer[behind:end])
    if kind is None:
        return None
    try:
        name = buffer[begin + 2 : behind].decode()
    except UnicodeDecodeError:
        return None
    return OnnxValueInfo(source.texts.setdefault(name, name), kind)
