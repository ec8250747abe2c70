"""ONNX models as units: every node of the graph, its subgraphs and its functions, with the types known there."""

from __future__ import annotations

from collections import ChainMap
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import GraphDesc, Symbol, TensorDesc
from specgate.descriptors.onnx import ATTRIBUTE_TYPES, attribute_value, container, operator_name
from specgate.descriptors.positional import build
from specgate.errors import InputError, NoTable
from specgate.linting.nodes import Graph, Unit
from specgate.models.onnx_structure import OnnxGraph, OnnxTensor, OnnxType
from specgate.rules.language import UNKNOWN
from specgate.spec.tables import dialect
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping

    from specgate.models.onnx_structure import OnnxAttribute, OnnxFunction, OnnxModel, OnnxNode, OnnxValueInfo

__all__ = ["onnx_units"]

Types = "MutableMapping[str, TensorDesc]"


def onnx_units(model: OnnxModel) -> Graph:
    """Return the units of an ONNX model; its nodes are judged at the opsets that it imports."""
    graph = Graph("onnx", imports=dict(model.opset_imports), ir_version=model.ir_version)
    functions = {(f.domain, f.name) for f in model.functions}
    walker = _Walker(model.file, functions)
    graph.units.extend(walker.graph(model.graph, "graph", model.opset_imports, {}))
    for function in model.functions:
        graph.units.extend(walker.function(function))
    return graph


class _Walker:
    def __init__(self, file: str | None, functions: set[tuple[str, str]]) -> None:
        self.file = file
        self.functions = functions

    def graph(
        self, graph: OnnxGraph, place: str, imports: dict[str, int], outer: MutableMapping[str, TensorDesc]
    ) -> Iterator[Unit]:
        types: MutableMapping[str, TensorDesc] = ChainMap({}, outer)
        types.update(_declared([*graph.inputs, *graph.value_infos, *graph.outputs]))
        types.update((tensor.name, _constant(tensor)) for tensor in graph.initializers)
        yield from self.nodes(graph.nodes, place, imports, types)

    def function(self, function: OnnxFunction) -> Iterator[Unit]:
        place = f"function {function.domain}.{function.name}"
        types = _declared(function.value_infos)
        yield from self.nodes(function.nodes, place, function.opset_imports, types)

    def nodes(
        self, nodes: Iterable[OnnxNode], place: str, imports: dict[str, int], types: MutableMapping[str, TensorDesc]
    ) -> Iterator[Unit]:
        nodes = list(nodes)
        for node in nodes:
            _learn_constants(node, types)
        for index, node in enumerate(nodes):
            here = f"{place}/{_label(node, index)}"
            if (node.domain, node.op_type) not in self.functions:
                yield self.unit(node, here, imports, types)
            for name, attribute in node.attributes.items():
                bodies = attribute.value if isinstance(attribute.value, list) else [attribute.value]
                for number, body in enumerate(bodies):
                    if isinstance(body, OnnxGraph):
                        inside = name if len(bodies) == 1 else f"{name}[{number}]"
                        yield from self.graph(body, f"{here}/{inside}", imports, types)

    def unit(self, node: OnnxNode, place: str, imports: dict[str, int], types: MutableMapping[str, TensorDesc]) -> Unit:
        operator = operator_name(node.op_type, node.domain)
        location = Location(self.file, None, place, operator)
        try:
            spec = dialect("onnx").operator(operator)
        except NoTable as error:
            return Unit(location, operator, reason=str(error))
        positions = spec.dialect.position
        opset = imports.get(node.domain)
        if opset is None:
            raise InputError(
                f"imports no opset of the domain {node.domain or 'ai.onnx'!r:.60}", file=self.file, place=place
            )
        if str(opset) not in positions:
            newest, spoken = spec.dialect.levels[-1], spec.dialect.spoken(str(opset))
            return Unit(location, operator, reason=f"{spoken} is not in the tables, which end at {newest}")
        inputs = [None if not name else types.get(name, TensorDesc(None, None)) for name in node.inputs]
        outputs = [None if not name else types.get(name) for name in node.outputs]
        descriptor = build(
            spec,
            inputs,
            outputs,
            {name: attribute_of(attribute) for name, attribute in node.attributes.items()},
            version=str(opset),
            name=node.name or None,
            convert=attribute_value,
            kinds={name: ATTRIBUTE_TYPES[a.kind] for name, a in node.attributes.items() if a.kind in ATTRIBUTE_TYPES},
        )
        return Unit(location, operator, descriptor)


def _label(node: OnnxNode, index: int) -> str:
    """A name that stays when other nodes come and go: the node's own, else its first output's, else its number."""
    output = next((name for name in node.outputs if name), None)
    return node.name or (f"{node.op_type}->{output}" if output else f"node[{index}]")


def _declared(infos: Iterable[OnnxValueInfo]) -> dict[str, TensorDesc]:
    return {info.name: _tensor(info.type) for info in infos if info.type is not None and info.type.kind != "unknown"}


def _tensor(kind: OnnxType | None) -> TensorDesc:
    if kind is None or kind.kind != "tensor":
        return TensorDesc(_spelt(kind), None)
    shape = kind.shape
    sizes = None if shape is None else tuple(Symbol(s) if isinstance(s, str) else s for s in shape)
    known = kind.elem_type if kind.elem_type in dialect("onnx").types else None
    return TensorDesc(known, sizes)


def _spelt(kind: OnnxType | None) -> str | None:
    """Return a type as operator schemas spell it, None where a part of it is not known."""
    if kind is None or kind.kind in {"unknown", "opaque"}:
        return None
    element = dialect("onnx").types.get(kind.elem_type or "", {}).get("tensor")
    if kind.kind in {"tensor", "sparse_tensor"}:
        return f"sparse_{element}" if element and kind.kind == "sparse_tensor" else element
    inner = _spelt(kind.inner)
    if inner is None or (kind.kind == "map" and element is None):
        return None
    return container(kind.kind, inner, kind.elem_type)


def attribute_of(attribute: OnnxAttribute) -> Any:
    """Return what an attribute holds; UNKNOWN for a function's parameter and for what was not read."""
    value = attribute.value
    if value is None:
        return UNKNOWN
    return [_described(item) for item in value] if isinstance(value, list) else _described(value)


def _described(value: Any) -> Any:
    if isinstance(value, OnnxTensor):
        return _constant(value)
    if isinstance(value, OnnxType):
        return _tensor(value)
    if isinstance(value, OnnxGraph):
        return GraphDesc(*(tuple(_tensor(info.type) for info in part) for part in (value.inputs, value.outputs)))
    return value


def _constant(tensor: OnnxTensor) -> TensorDesc:
    values = tensor.values()
    known = tensor.elem_type if tensor.elem_type in dialect("onnx").types else None
    return TensorDesc(known, tuple(tensor.dims), value=None if values is None else tuple(values))


def _learn_constants(node: OnnxNode, types: MutableMapping[str, TensorDesc]) -> None:
    """Constants reach a graph through nodes as well as initializers: take the tensor that such a node holds."""
    if node.inputs or len(node.outputs) != 1 or node.domain or len(node.attributes) != 1:
        return
    held = next(iter(node.attributes.values()))
    name = node.outputs[0]
    if isinstance(held.value, OnnxTensor) and held.name == "value" and node.op_type == "Constant":
        types[name] = _constant(held.value)
