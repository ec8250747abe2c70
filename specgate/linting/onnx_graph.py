"""ONNX models as units: every node of the graph, its subgraphs and its functions, with the types known there."""

from __future__ import annotations

from collections import ChainMap
from itertools import chain
from typing import TYPE_CHECKING

from specgate.descriptors.core import UNKNOWN, TensorDesc
from specgate.descriptors.onnx import attribute_value, operator_name
from specgate.descriptors.positional import build
from specgate.errors import NoTable
from specgate.linting import inference
from specgate.linting.nodes import Graph, Unit
from specgate.linting.onnx_external import external_findings
from specgate.linting.onnx_functions import function_findings
from specgate.linting.onnx_names import name_findings
from specgate.linting.onnx_types import (
    constant,
    contradictions,
    held_constant,
    known_type,
    merged,
    pin_sizes,
)
from specgate.linting.onnx_versions import complete_imports, import_findings
from specgate.linting.onnx_walk import (
    STANDARD_DOMAINS,
    domain_name,
    finding,
    function_key,
    function_place,
    label,
    subgraphs,
)
from specgate.linting.settings import LintSettings
from specgate.spec.tables import dialect
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping

    from specgate.models.onnx_structure import OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode, OnnxType
    from specgate.verdict import Finding

    Types = MutableMapping[str, TensorDesc]

__all__ = ["onnx_units"]

_QUIET = LintSettings(infer=False)


def onnx_units(model: OnnxModel, settings: LintSettings = _QUIET) -> Graph:
    """Return the units of an ONNX model, which are judged at the opsets that it imports, and what is wrong with it.

    The sizes of `model` are pinned and its imports completed. Without settings nothing is inferred.
    """
    complete_imports(model)
    graph = Graph("onnx", imports=dict(model.opset_imports), ir_version=model.ir_version)
    graph.findings.extend(import_findings(model, settings.custom_domains))
    graph.findings.extend(pin_sizes(model, settings.pins))
    graph.findings.extend(function_findings(model))
    graph.findings.extend(name_findings(model))
    graph.findings.extend(external_findings(model))
    inferred = inference.Inferred()
    if settings.infer and model.graph.nodes:
        if inference.installed():
            inferred = inference.infer(model)
        else:
            graph.not_inferred = "onnx"
    graph.findings.extend(inferred.findings)
    walker = _Walker(model, inferred.types, graph.findings)
    graph.units.extend(walker.graph(model.graph, "graph", model.opset_imports, {}))
    for function in model.functions:
        graph.units.extend(walker.function(function))
    return graph


class _Walker:
    def __init__(
        self, model: OnnxModel, inferred: Mapping[int, Mapping[str, OnnxType]], findings: list[Finding]
    ) -> None:
        self.file = model.file
        self.functions = {function_key(function) for function in model.functions}
        self.inferred = inferred
        self.findings = findings
        self.reasons: dict[str, str] = {}
        self.overridable = (model.ir_version or 4) >= 4  # an initializer is then but the default of its input

    def graph(self, graph: OnnxGraph, place: str, imports: Mapping[str, int], outer: Types) -> Iterator[Unit]:
        types: Types = ChainMap({}, outer)
        stated = {info.name: info.type for info in chain(graph.inputs, graph.value_infos, graph.outputs)}
        found = self.inferred.get(id(graph), {})
        makers = _makers(graph.nodes, place) if found else {}
        for name in dict.fromkeys(chain(stated, found)):
            declared, computed = stated.get(name), found.get(name)
            if declared is not None and computed is not None:
                node, operator = makers.get(name, (place, None))
                self.findings.extend(contradictions(name, declared, computed, (self.file, node, operator)))
            best = merged(declared, computed)
            if best is not None and best.kind == "tensor":
                types[name] = known_type(best)
        inputs = {info.name for info in graph.inputs} if self.overridable else set()
        for tensor in graph.initializers:
            held = constant(tensor)
            types[tensor.name] = held._replace(value=None) if tensor.name in inputs else held
        types.update((tensor.name, constant(tensor)) for tensor in graph.sparse_initializers)
        yield from self.nodes(graph.nodes, place, imports, types, {name for name, kind in stated.items() if kind})

    def function(self, function: OnnxFunction) -> Iterator[Unit]:
        stated = {info.name: info.type for info in function.value_infos if info.type is not None}
        types = {name: known_type(kind) for name, kind in stated.items() if kind.kind == "tensor"}
        yield from self.nodes(function.nodes, function_place(function), function.opset_imports, types, set(types))

    def nodes(
        self, nodes: list[OnnxNode], place: str, imports: Mapping[str, int], types: Types, stated: set[str]
    ) -> Iterator[Unit]:
        """Yield the nodes of one body. stated: the values whose types the file itself states."""
        for node in nodes:
            held = held_constant(node)
            if held is not None:
                types[node.outputs[0]] = held
        for index, node in enumerate(nodes):
            here = f"{place}/{label(node, index)}"
            if function_key(node) not in self.functions:
                yield self.unit(node, here, imports, types, stated)
            for inside, body in subgraphs(node):
                yield from self.graph(body, f"{here}/{inside}", imports, types)

    def unit(self, node: OnnxNode, place: str, imports: Mapping[str, int], types: Types, stated: set[str]) -> Unit:
        operator = operator_name(node.op_type, node.domain)
        location = Location(self.file, None, place, operator)
        table = dialect("onnx")
        if operator not in table.raw["operators"]:
            if node.domain in STANDARD_DOMAINS and table.raw["dialect"].get("complete"):
                message = f"ONNX has no operator {operator!r:.60}"
                self.findings.append(finding("operator-unknown", "error", message, (self.file, place, operator)))
            if operator not in self.reasons:  # the nearest name is worth looking for once
                try:
                    table.operator(operator)
                except NoTable as error:
                    self.reasons[operator] = str(error)
            return Unit(location, operator, reason=self.reasons[operator])
        spec = table.operator(operator)
        opset = imports.get(node.domain)
        if opset is None:
            name = domain_name(node.domain)
            return Unit(location, operator, reason=f"no opset of the domain {name!r:.60} is imported")
        level, axis = str(opset), spec.dialect
        if level not in axis.position:
            reason = f"{axis.spoken(level)} is not in the tables, which end at {axis.levels[-1]}"
            return Unit(location, operator, reason=reason)
        inputs = [None if not name else types.get(name, TensorDesc(None, None)) for name in node.inputs]
        # What a file does not state of an output cannot be wrong; what is inferred of it is for those that read it.
        outputs = [types.get(name) if name in stated else None for name in node.outputs]
        attributes = {name: _attribute(attribute) for name, attribute in node.attributes.items()}
        descriptor = build(
            spec, inputs, outputs, attributes, version=level, name=node.name or None, convert=attribute_value
        )
        return Unit(location, operator, descriptor)


def _makers(nodes: list[OnnxNode], place: str) -> dict[str, tuple[str, str | None]]:
    """The path and operator of the node that computes each value."""
    return {
        name: (f"{place}/{label(node, index)}", operator_name(node.op_type, node.domain))
        for index, node in enumerate(nodes)
        for name in node.outputs
    }


def _attribute(attribute: OnnxAttribute) -> object:
    """An attribute's value; that of a function's attribute, or one too large to be read, is not known."""
    return UNKNOWN if attribute.value is None else attribute.value
