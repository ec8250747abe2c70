"""Fixes of `lint --fix` for ONNX models; none changes what they compute."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from dataclasses import replace as replace_plain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc, format_value
from specgate.dialects.onnx.file.ir_versions import needed_ir_version
from specgate.dialects.onnx.file.model import domain_of
from specgate.dialects.onnx.file.structure import CODES, OnnxAttribute, OnnxNode, OnnxTensor
from specgate.dialects.onnx.file.write import Nodes, added_field, write_attribute, write_tensor
from specgate.dialects.onnx.lint.units import bodies, graph_paths, label
from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES
from specgate.errors import Error, NoTable
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.behaviour import changed_behaviour
from specgate.validate.check import check_at
from specgate.validate.moved import readings
from specgate.validate.rewrites import replacement
from specgate.verdict import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxModel
    from specgate.dialects.onnx.lint.units import Body, Path
    from specgate.linting.nodes import Graph
    from specgate.runtimes.protocol import Runtime
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target
    from specgate.verdict import Finding, Verdict

_FIXABLE_SUFFIXES: Final = (".exists", "/too-many-inputs", "/level")
_KINDS: Final = {type_: kind for kind, type_ in ATTRIBUTE_TYPES.items()}
#: First IR version in which an initializer need not be a graph input.
_FREE_INITIALIZERS: Final = 4


class _Node(NamedTuple):
    body: Body
    at: int
    node: OnnxNode
    path: Path


def with_edits(graph: Graph, findings: list[Finding]) -> list[Finding]:
    """Return findings with edits that rewrite their nodes, where safe."""
    model: OnnxModel | None = getattr(graph.source, "model", None)
    node_labels = {
        finding.location.node
        for finding in findings
        if finding.location is not None and not finding.edits and finding.id.endswith(_FIXABLE_SUFFIXES)
    }
    if model is None or model.file is None or not node_labels or model.training:
        return findings
    rewriting = _OperatorRewrite(graph, model)
    edits: dict[str | None, tuple[Edit, ...]] = {}
    for node in _nodes(model, node_labels):
        place = f"{node.body.place}/{label(node.node, node.at)}"
        edits[place] = (*edits.get(place, ()), *rewriting.edits(node))
    return [
        replace(finding, edits=edits.get(finding.location.node, ()))
        if finding.location is not None and not finding.edits and finding.id.endswith(_FIXABLE_SUFFIXES)
        else finding
        for finding in findings
    ]


def _nodes(model: OnnxModel, node_labels: set[str | None]) -> Iterator[_Node]:
    paths = graph_paths(model)
    functions = {id(function): (("functions", number),) for number, function in enumerate(model.functions)}
    for body in bodies(model):
        path = paths.get(id(body.graph)) if body.graph is not None else functions.get(id(body.function))
        if path is not None:
            for index, node in enumerate(body.nodes):
                if f"{body.place}/{label(node, index)}" in node_labels:
                    yield _Node(body, index, node, path)


class _OperatorRewrite:
    def __init__(self, graph: Graph, model: OnnxModel) -> None:
        self.units = graph.source.units
        self.names: set[str] = set()
        for body in bodies(model):
            self.names.update(name for node in body.nodes for name in (*node.inputs, *node.outputs))
            if body.graph is not None:
                for part in (body.graph.inputs, body.graph.outputs, body.graph.value_infos, body.graph.initializers):
                    self.names.update(item.name for item in part)
        self.initializers = (model.ir_version or _FREE_INITIALIZERS) >= _FREE_INITIALIZERS

    def edits(self, node: _Node) -> tuple[Edit, ...]:
        """Return edits that rewrite a node, () if not valid or not equivalent."""
        unit = self.units.get(id(node.node))
        descriptor: Descriptor | None = None if unit is None else unit.descriptor
        if descriptor is None or descriptor.version is None or node.node.duplicates or node.node.domain:
            return ()
        try:
            spec = dialect(descriptor.dialect).operator(descriptor.operator)
            if descriptor.version not in spec.levels:
                return self.replace_operator(node, descriptor, spec)
            resolved = spec.resolve(descriptor.version)
            move = None if resolved is None else readings(descriptor, resolved)
            if move is None:
                return ()
            best_reading = min(
                move.readings, key=lambda reading: len(check_at(reading, str(descriptor.version)).findings)
            )
        except Error:
            return ()
        if move.to_inputs:
            return tuple(self.to_inputs(node, spec, best_reading, move.fields))
        return tuple(_to_attributes(node, spec, best_reading, move.fields))

    def to_inputs(
        self, node: _Node, spec: OperatorSpec, reading: Descriptor, fields: Mapping[str, str]
    ) -> Iterator[Edit]:
        """Yield edits that replace attributes by inputs."""
        layout = spec.layout(reading.version).inputs
        names = list(node.node.inputs)
        for new in fields.values():
            input_index = next(index for index, info in enumerate(layout) if info.name == new)
            names += [""] * (input_index + 1 - len(names))
            names[input_index] = self.free_name(node, layout[input_index].vendor_name)
            yield self.constant(node, names[input_index], reading.fields[new])
        yield from _without_attributes(node, [spec.fields[old].vendor_name for old in fields])
        yield from _with_inputs(node, names)

    def replace_operator(self, node: _Node, descriptor: Descriptor, spec: OperatorSpec) -> tuple[Edit, ...]:
        """Return edits that replace a removed operator by its successor."""
        other = replacement(descriptor, spec)
        if other is None:
            return ()
        new = dialect(descriptor.dialect).operator(other.descriptor.operator)
        edits: list[Edit] = []
        old_names = dict(zip([info.name for info in spec.layout(other.last).inputs], node.node.inputs, strict=False))
        for name in other.moved:
            tensor = other.descriptor.fields[other.inputs[name]]
            old_names[name] = self.free_name(node, name)
            edits.append(self.constant(node, old_names[name], tensor))
        empty = {name: self.free_name(node, name) for name in other.empty}
        edits += [self.constant(node, empty[name], other.descriptor.fields[name]) for name in empty]
        sources = empty | {to: old_names.get(name, "") for name, to in other.inputs.items()}
        names = [sources.get(info.name, "") for info in new.layout(descriptor.version).inputs]
        while names and not names[-1]:
            names.pop()
        edits += _without_attributes(node, other.dropped)
        for name, value in other.added.items():
            edits.append(_with_attribute(node, name, value, str(new.fields[name].type)))
        edits += _with_inputs(node, names)
        step = (*node.path, ("node", node.at), ("op_type", 0))
        return (*edits, Edit(step, text=new.name, expected=node.node.op_type))

    def free_name(self, node: _Node, name: str) -> str:
        """Return an unused value name, deterministic for a node."""
        steps = "".join(f"_{number}" for _, number in node.path if number)
        text = f"{next(filter(None, node.node.outputs), node.node.op_type)}_{name}{steps}"
        while text in self.names:
            text += "_"
        return text

    def constant(self, known_node: _Node, name: str, tensor: TensorDesc) -> Edit:
        """Return an edit that adds a constant to a node's graph or function."""
        dims = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        new_tensor = OnnxTensor(name, str(tensor.type), dims, data=_pack_numbers(str(tensor.type), tensor.value or ()))
        words = ", ".join(str(value) for value in (tensor.value or ())[:8])
        if known_node.body.graph is not None and self.initializers:
            data = added_field("GraphProto", "initializer", write_tensor(new_tensor))
            return Edit(
                known_node.path,
                added=data,
                text=f"initializer {{ name: {format_value(name)} {tensor.type} {list(dims)}: {words} }}",
            )
        attribute = OnnxAttribute("value", "TENSOR", replace_plain(new_tensor, name=""))
        node = OnnxNode(op_type="Constant", outputs=(name,), attributes={"value": attribute})
        message = "FunctionProto" if known_node.body.graph is None else "GraphProto"
        data = added_field(message, "node", Nodes().write(node, lambda _: b""))
        text = f"node {{ output: {format_value(name)} op_type: 'Constant' {tensor.type} {list(dims)}: {words} }}"
        return Edit(known_node.path, added=data, text=text, ahead=True)


def _pack_numbers(type_: str, values: Sequence[Any]) -> bytes:
    if type_ == "BFLOAT16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{CODES[type_]}", *values)


def _without_attributes(node: _Node, names: Sequence[str]) -> Iterator[Edit]:
    order = list(node.node.attributes)
    for name in names:
        yield Edit((*node.path, ("node", node.at), ("attribute", order.index(name))), expected=name)


def _with_attribute(node: _Node, name: str, value: Any, type_: str) -> Edit:
    content = value.encode() if isinstance(value, str) else value
    data = write_attribute(OnnxAttribute(name, _KINDS[type_], content))
    new_field = added_field("NodeProto", "attribute", data)
    return Edit(
        (*node.path, ("node", node.at)), added=new_field, text=f"attribute {{ name: {format_value(name)} {value} }}"
    )


def _with_inputs(node: _Node, names: Sequence[str]) -> Iterator[Edit]:
    """Yield edits that set the inputs of a node to `names`."""
    place = (*node.path, ("node", node.at))
    for index, old in enumerate(node.node.inputs):
        if index >= len(names):
            yield Edit((*place, ("input", index)), expected=old)
        elif old != names[index]:
            yield Edit((*place, ("input", index)), text=names[index], expected=old)
    new_inputs = names[len(node.node.inputs) :]
    if new_inputs:
        new_field = b"".join(added_field("NodeProto", "input", name) for name in new_inputs)
        yield Edit(place, added=new_field, text=" ".join(f"input: {format_value(name)}" for name in new_inputs))


def _to_attributes(node: _Node, spec: OperatorSpec, reading: Descriptor, fields: Mapping[str, str]) -> Iterator[Edit]:
    """Yield edits that replace surplus inputs by attributes."""
    for old in fields.values():
        info = spec.field_at(old, str(reading.version))
        if info is not None:
            yield _with_attribute(node, info.vendor_name, reading.fields[old], info.type)
    yield from _with_inputs(node, node.node.inputs[: len(spec.layout(reading.version).inputs)])


def limit_fixes(graph: Graph, target: Target, runtime: Runtime | None, findings: list[Finding]) -> list[Finding]:
    """Return findings with fixes limited to what the target supports.

    `runtime` is the target's.
    """
    if not graph.imports:
        return findings
    new_findings = [
        _limit_fix(graph, finding, target) if finding.fix and finding.levels else finding for finding in findings
    ]
    if runtime is None or not any(finding.id.endswith(".type") for finding in new_findings):
        return new_findings
    nodes = _descriptors(graph, {finding.node for finding in new_findings})
    return [
        runtime.registered_fix(finding, descriptor, target)
        if (descriptor := nodes.get(finding.node)) is not None
        else finding
        for finding in new_findings
    ]


def _limit_fix(graph: Graph, finding: Finding, target: Target) -> Finding:
    """Return a finding whose fix proposes no opset above the target's.

    The finding on the opset import covers that case.
    """
    try:
        spec = dialect(target.dialect).operator(finding.id.split("/")[1])
    except NoTable:
        return finding
    position, top = spec.dialect.position, spec.level_for(target.level)
    imported_opset = graph.imports.get(spec.dialect.domain)
    if (
        top in finding.levels
        and imported_opset is not None
        and str(imported_opset) in position
        and position[str(imported_opset)] > position[str(top)]
    ):
        return replace(finding, fix=f"import {spec.dialect.label(str(top))}, at which the node is valid unchanged")
    for level in finding.levels:
        words = f"use {spec.dialect.label(level)}"
        fix = finding.fix or ""
        if level in position and (top is None or position[level] > position[top]) and fix.endswith(words):
            return replace(finding, fix=fix.removesuffix(words).removesuffix(" or ") or None)
    return finding


def _descriptors(graph: Graph, places: set[str | None]) -> dict[str | None, Descriptor]:
    """Return the descriptors of nodes by path."""
    return {
        place: kind.descriptor
        for row in graph.source.node_units.rows
        for index, kind in enumerate(row.kinds)
        if kind is not None
        and kind.descriptor is not None
        and (place := f"{row.place}/{label(row.nodes[row.first + index], row.first + index)}") in places
    }


def file_fixes(model: OnnxModel, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings on a file, with edits for those that can be fixed."""
    makers = {
        "onnx/model/opset-unused": _without_unused,
        "onnx/model/opset-duplicate": _without_duplicates,
        "onnx/model/value-info-unknown": _without_unknown,
    }
    for finding in findings:
        maker = makers.get(finding.id) if model.file is not None else None
        yield finding if maker is None else replace(finding, edits=tuple(maker(model, finding)))


def _without_unused(model: OnnxModel, finding: Finding) -> Iterator[Edit]:
    """Remove imports of domains without a node or function in the file."""
    unused_domains = set(finding.values["domains"])
    if not model.training and unused_domains.isdisjoint(function.domain for function in model.functions):
        for index, (domain, _) in enumerate(model.stated_imports):
            if domain_of(domain) in unused_domains:
                yield Edit((("opset_import", index),), expected=domain)


def _without_duplicates(model: OnnxModel, finding: Finding) -> Iterator[Edit]:
    """Remove imports that repeat the version of an earlier one.

    Imports of different versions of one domain stay.
    """
    place = finding.node
    import_holders: list[tuple[Path, list[tuple[str, int]], str]] = [((), model.stated_imports, "model")]
    for number, function in enumerate(model.functions):
        name = f"function {function.domain}.{function.name}"
        import_holders.append(((("functions", number),), function.stated_imports, name))
    import_holders = [holder for holder in import_holders if holder[2] == place]
    if len(import_holders) != 1:
        return
    path, import_domain, _ = import_holders[0]
    versions: dict[str, set[int]] = {}
    for domain, version in import_domain:
        versions.setdefault(domain_of(domain), set()).add(version)
    domains: set[str] = set()
    for index, (domain, _) in enumerate(import_domain):
        name = domain_of(domain)
        if name in domains and len(versions[name]) == 1:
            yield Edit((*path, ("opset_import", index)), expected=domain)
        domains.add(name)


def _without_unknown(model: OnnxModel, finding: Finding) -> Iterator[Edit]:
    """Remove value_info entries of values that no graph of the file has."""
    place = finding.node
    walked_bodies = list(bodies(model))
    graphs = [body.graph for body in walked_bodies if body.place == place and body.graph is not None]
    path = graph_paths(model).get(id(graphs[0])) if len(graphs) == 1 else None  # node names may not be unique
    if path is None:
        return
    defined = {name for body in walked_bodies for node in body.nodes for name in node.outputs}
    for graph in (body.graph for body in walked_bodies if body.graph is not None):
        defined |= {info.name for info in graph.inputs}
        defined |= {tensor.name for tensor in (*graph.initializers, *graph.sparse_initializers)}
    yield from _statements(path, graphs[0], lambda name: name not in defined)


def wrong_type_findings(
    model: OnnxModel, graph: OnnxGraph, name: str, findings: Iterable[Finding]
) -> Iterator[Finding]:
    """Yield findings on wrongly stated types, with edits that remove them.

    The type of a graph input or output is part of the interface and stays.
    """
    if model.file is None or any(info.name == name for info in (*graph.inputs, *graph.outputs)):
        yield from findings
        return
    for finding in findings:
        path = graph_paths(model).get(id(graph))
        edits = () if path is None else tuple(_statements(path, graph, name.__eq__))
        yield replace(finding, edits=edits)


def _statements(path: Path, graph: OnnxGraph, predicate: Callable[[str], bool]) -> Iterator[Edit]:
    for index, info in enumerate(graph.value_infos):
        if predicate(info.name):
            yield Edit((*path, ("value_info", index)), expected=info.name)


def lower_ir_version(graph: Graph, number: int) -> tuple[Edit, ...]:
    """Return the edit that lowers the IR version to `number`, if safe.

    It is safe if that version supports everything in the file and matches its opset.
    """
    model: OnnxModel = graph.source.model
    level = dialect("onnx").tables.levels.get(str(model.opset_imports.get("", "")))
    if model.file is None or level is None or number < max(needed_ir_version(model), int(level["ir_version"])):
        return ()
    return (Edit((("ir_version", 0),), number),)


def lower_opset(graph: Graph, target: Target, domain: str, number: int) -> tuple[Edit, ...]:
    """Return the edits that lower a domain's opset, or () if unsafe.

    Functions have separate imports that must match, so models with functions or training information stay unchanged.
    """
    model: OnnxModel = graph.source.model
    import_indices = [
        index for index, (import_domain, _) in enumerate(model.stated_imports) if domain_of(import_domain) == domain
    ]
    if (
        model.file is None
        or len({model.stated_imports[index][1] for index in import_indices}) != 1
        or model.functions
        or model.training
    ):
        return ()
    edits: list[Edit] = []
    lowering = _Lowering(graph, target)
    paths = graph_paths(model)
    for body in bodies(model):
        for index, node in enumerate(body.nodes):
            if node.domain != domain:
                continue
            path, removable_attributes = paths.get(id(body.graph)), lowering.needless(node)
            if removable_attributes is None or (removable_attributes and (path is None or node.duplicates)):
                return ()
            order = list(node.attributes)
            for name in removable_attributes:
                step = ("attribute", order.index(name))
                edits.append(Edit((*(path or ()), ("node", index), step), expected=name))
    return (*edits, *(Edit((("opset_import", index), ("version", 0)), number) for index in import_indices))


@dataclass
class _Lowering:
    graph: Graph
    target: Target

    def __post_init__(self) -> None:
        self.orders: dict[int, tuple[str, ...] | None] = {}

    def needless(self, node: OnnxNode) -> tuple[str, ...] | None:
        """Return the attributes to remove from a node, None if it would change."""
        unit = self.graph.source.units.get(id(node))
        if unit is None or unit.descriptor is None or unit.descriptor.version is None:
            return None
        result = unit.descriptor  # shared by equal nodes
        if id(result) not in self.orders:
            self.orders[id(result)] = self.of(result)
        return self.orders[id(result)]

    def of(self, descriptor: Descriptor) -> tuple[str, ...] | None:
        spec = dialect(descriptor.dialect).operator(descriptor.operator)
        version, level = str(descriptor.version), spec.level_for(self.target.level)
        if level is None or version not in spec.levels or level not in spec.levels:
            return None
        if spec.last_row(version) == spec.last_row(level):
            return ()
        lost_fields = [name for name in descriptor.fields if spec.field_at(name, level) is None]
        fields = {name: value for name, value in descriptor.fields.items() if name not in lost_fields}
        if not _have_same_meaning(spec, descriptor, lost_fields, version, level):
            return None
        own_verdict = check_at(descriptor, version)
        other_verdict = check_at(replace(descriptor, version=None, fields=fields), level)
        if (
            (own_verdict.accepted is False and not _has_moved_inputs(spec, descriptor, version))
            or other_verdict.accepted is False
            or not _undecided_checks(other_verdict) <= _undecided_checks(own_verdict)
        ):
            return None
        vendor_names = {info.vendor_name for name in lost_fields if (info := spec.field_at(name, version)) is not None}
        return tuple(sorted(vendor_names))


def _has_moved_inputs(spec: OperatorSpec, descriptor: Descriptor, node_version: str) -> bool:
    """Return True if inputs given as attributes are the only error."""
    resolved = spec.resolve(node_version)
    move = None if resolved is None else readings(descriptor, resolved)
    return move is not None and any(check_at(reading, node_version).accepted is not False for reading in move.readings)


def _have_same_meaning(
    spec: OperatorSpec, descriptor: Descriptor, lost_fields: Sequence[str], node_version: str, level: str
) -> bool:
    """Return True if the kept fields mean the same at both levels.

    The fields in `lost_fields` must have their default values.
    """
    if (
        not spec.has_kernel(node_version)
        or not spec.has_kernel(level)
        or changed_behaviour(spec, descriptor, node_version, level)
    ):
        return False
    for name in lost_fields:
        info = spec.field_at(name, node_version)
        if info is None or info.kind != "attribute" or info.default is None or descriptor.fields[name] != info.default:
            return False
    for name, info in spec.fields_at(level).items():
        before = spec.field_at(name, node_version)
        if before is None:
            continue  # absent, because the descriptor would be invalid with it
        if name not in descriptor.fields and before.default != info.default:
            return False
        if name in descriptor.fields and before.kind != info.kind:
            return False
    items = [
        descriptor.fields[info.name] for info in spec.layout(node_version).inputs if info.name in descriptor.fields
    ]
    if any(tensor.type is None for result in items for tensor in _tensors(result)):
        return False
    return _positions(spec, descriptor, node_version) == _positions(spec, descriptor, level)


def _tensors(result: object) -> list[TensorDesc]:
    parts = result if isinstance(result, list | tuple) else [result]
    return [part for part in parts if isinstance(part, TensorDesc)]


def _positions(spec: OperatorSpec, descriptor: Descriptor, level: str) -> list[str | None]:
    """Return the field names of a node's inputs and outputs in order."""
    layout = spec.layout(level)
    texts: list[str | None] = []
    for part in (layout.inputs, layout.outputs):
        names = [info.name if info.name in descriptor.fields else None for info in part]
        while names and names[-1] is None:
            names.pop()
        texts += [*names, None]
    return texts


def _undecided_checks(verdict: Verdict) -> set[tuple[str, str, str | None]]:
    """Return the checks that an unknown size leaves undecided."""
    return {(finding.id, finding.where, finding.rule) for finding in verdict.undecided}
