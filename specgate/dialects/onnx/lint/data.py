"""Tensors and types of an ONNX model as such: known element types, sizes, and as much data as the sizes ask for.

Source: onnx/checker.cc of onnx, commit f75469120, and what ONNX Runtime 1.31.1 refuses. Data is counted, never read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.descriptors.core import shown
from specgate.dialects.onnx.file.schema import PLAIN_KINDS, STORED
from specgate.dialects.onnx.file.structure import OnnxTensor, OnnxType
from specgate.dialects.onnx.lint.walk import finding, label, tensors
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.walk import Body, Place
    from specgate.verdict import Finding

__all__ = ["data_findings", "tensor_bytes"]

_MOST: Final = 1 << 64
_NO_TYPE: Final = (None, "UNDEFINED")


def data_findings(model: OnnxModel, walked: Sequence[Body]) -> Iterator[Finding]:
    """Yield what is wrong with the tensors and the types that `model` states, whose bodies are `walked`."""
    sound: set[int] = set()  # types and attributes, by their identity: most values and many nodes share theirs
    for body in walked:
        at: Place = (model.file, body.place, None)
        graph = body.graph
        if graph is not None:
            for tensor in graph.initializers:
                yield from _tensor(tensor, "the initializer", tensor.name, at)
            for sparse in graph.sparse_initializers:
                yield from _parts(sparse, "the sparse initializer", sparse.name, at)
            infos = [*graph.inputs, *graph.outputs, *graph.value_infos]
        else:
            infos = body.function.value_infos if body.function is not None else []
        for info in infos:
            if info.type is not None and id(info.type) not in sound:
                told = list(_type(info.type, shown(info.name), at))
                yield from told
                if not told:
                    sound.add(id(info.type))
        for index, node in body.holders:
            if id(node.attributes) not in sound:
                told = list(_attributes(node, (model.file, f"{body.place}/{label(node, index)}", node.op_type)))
                yield from told
                if not told:
                    sound.add(id(node.attributes))
    for info in model.graph.inputs:
        if info.type is not None and info.type.kind == "tensor" and info.type.elem_type in _NO_TYPE:
            message = f"the input {shown(info.name)} is a tensor of no element type"
            yield finding("type-element", "error", message, (model.file, "graph", None))


def tensor_bytes(tensor: OnnxTensor) -> int | None:
    """How many bytes a tensor takes, None where its type or sizes do not say, as with 6 bits."""
    bits = dialect("onnx").bits.get(tensor.elem_type)
    if bits is None or bits & (bits - 1) or min(tensor.dims, default=0) < 0:
        return None
    return -(-_elements(tensor) * bits // 8)


def _elements(tensor: OnnxTensor) -> int:
    count = 1
    for dim in sorted(tensor.dims):  # a size of 0 first, so that no product becomes large before it
        count = min(count * dim, _MOST)
    return count


def _attributes(node: OnnxNode, at: Place) -> Iterator[Finding]:
    for name, tensor in tensors(node):
        yield from _tensor(tensor, "the attribute", name, at)
    for name, attribute in node.attributes.items():
        if attribute.kind in PLAIN_KINDS:
            continue
        for item in attribute.value if isinstance(attribute.value, list) else [attribute.value]:
            if isinstance(item, OnnxTensor) and item.sparse is not None:
                yield from _parts(item, "the attribute", name, at)
            elif isinstance(item, OnnxType):
                yield from _type(item, f"the attribute {shown(name)}", at)


def _parts(sparse: OnnxTensor, what: str, name: str, at: Place) -> Iterator[Finding]:
    for part, word in zip(sparse.sparse or (), ("values", "indices"), strict=False):
        yield from _tensor(part, f"the {word} of {what}", name, at)


def _tensor(tensor: OnnxTensor, what: str, name: str, at: Place) -> Iterator[Finding]:
    """Yield what is wrong with a tensor, which is called what it is and by a name."""
    if tensor.sparse is not None:
        return
    if tensor.elem_type not in STORED:
        found = "no element type" if tensor.elem_type in _NO_TYPE else f"the unknown element type {tensor.elem_type}"
        yield finding("tensor-type", "error", f"{what} {shown(name)} has {found}", at, where="data_type")
    elif min(tensor.dims, default=0) < 0:
        message = f"{what} {shown(name)} has a size of {min(tensor.dims)}, and none is below 0"
        yield finding("tensor-size", "error", message, at, where="dims")
    elif tensor.location == "inline" and not tensor.segment and (wrong := _wrong_data(tensor)):
        message = f"{what} {shown(name)} {wrong}"
        yield finding("tensor-data", "error", message, at, where=next(iter(tensor.held), ""))


def _wrong_data(tensor: OnnxTensor) -> str | None:
    """Say what is wrong with the data that a tensor holds, None where all is well."""
    count = _elements(tensor)
    held = tensor.held
    if not count:
        return f"holds data, but {_named(tensor)} has no elements" if any(held.values()) else None
    if len(held) != 1:
        fields = " and ".join(held) or "none"
        return f"holds its data in {fields}, expected one field"
    (name, found), field = next(iter(held.items())), STORED[tensor.elem_type]
    if name != field and (name != "raw_data" or tensor.elem_type == "STRING"):
        return f"holds its data in {name}, but that of {tensor.elem_type} belongs into {field}"
    needed = tensor_bytes(tensor) if name == "raw_data" else _entries(tensor, count)
    if needed is None or needed == found:
        return None
    word = "bytes" if name == "raw_data" else "entries"
    return f"has {found} {word} in {name}, but {_named(tensor)} takes {needed}"


def _named(tensor: OnnxTensor) -> str:
    sizes = "x".join(map(str, tensor.dims)) if len(tensor.dims) <= 8 else f"{len(tensor.dims)} dimensions"
    return f"{tensor.elem_type} of {sizes}" if tensor.dims else f"one {tensor.elem_type}"


def _entries(tensor: OnnxTensor, count: int) -> int | None:
    """How many entries of its typed field a tensor of so many elements takes."""
    if tensor.elem_type.startswith("COMPLEX"):
        return 2 * count
    bits = dialect("onnx").bits.get(tensor.elem_type) or 8
    return -(-count * bits // 8) if bits in {2, 4} else count  # those are packed


def _type(stated: OnnxType, what: str, at: Place) -> Iterator[Finding]:
    inner: OnnxType | None = stated
    while inner is not None:
        if inner.elem_type is not None and inner.elem_type != "UNDEFINED" and inner.elem_type not in STORED:
            message = f"the type of {what} has the unknown element type {inner.elem_type}"
            yield finding("type-element", "error", message, at)
        inner = inner.inner
