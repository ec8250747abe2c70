"""Fixes of `lint --fix` for ONNX models; none changes what they compute.

Unused imports and unneeded type statements are removed. The IR version is lowered to one that supports everything in
the file, and so are opsets. Models with training information keep their imports, because the training graphs are not
checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specgate.descriptors.core import TensorDesc
from specgate.dialects.onnx.file.model import domain_of
from specgate.dialects.onnx.file.since import needed_ir_version
from specgate.dialects.onnx.lint.units import bodies, graph_paths
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.behaviour import changed_behaviour
from specgate.validate.check import check_at
from specgate.validate.moved import readings
from specgate.verdict import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.units import Path
    from specgate.linting.nodes import Graph
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target
    from specgate.verdict import Finding, Verdict

__all__ = ["file_fixes", "lowered", "older", "unstated"]


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
    unused = set(finding.values["domains"])
    if not model.training and unused.isdisjoint(function.domain for function in model.functions):
        for index, (stated, _) in enumerate(model.stated_imports):
            if domain_of(stated) in unused:
                yield Edit((("opset_import", index),), expected=stated)


def _without_duplicates(model: OnnxModel, finding: Finding) -> Iterator[Edit]:
    """Remove imports that repeat the version of an earlier one.

    Imports of different versions of one domain stay.
    """
    place = finding.node
    holders: list[tuple[Path, list[tuple[str, int]], str]] = [((), model.stated_imports, "model")]
    for number, function in enumerate(model.functions):
        name = f"function {function.domain}.{function.name}"
        holders.append(((("functions", number),), function.stated_imports, name))
    holders = [holder for holder in holders if holder[2] == place]
    if len(holders) != 1:
        return
    path, stated, _ = holders[0]
    versions: dict[str, set[int]] = {}
    for domain, version in stated:
        versions.setdefault(domain_of(domain), set()).add(version)
    met: set[str] = set()
    for index, (domain, _) in enumerate(stated):
        name = domain_of(domain)
        if name in met and len(versions[name]) == 1:
            yield Edit((*path, ("opset_import", index)), expected=domain)
        met.add(name)


def _without_unknown(model: OnnxModel, finding: Finding) -> Iterator[Edit]:
    """Remove value_info entries of values that no graph of the file has."""
    place = finding.node
    walked = list(bodies(model))
    graphs = [body.graph for body in walked if body.place == place and body.graph is not None]
    path = graph_paths(model).get(id(graphs[0])) if len(graphs) == 1 else None  # node names may not be unique
    if path is None:
        return
    known = {name for body in walked for node in body.nodes for name in node.outputs}
    for graph in (body.graph for body in walked if body.graph is not None):
        known |= {info.name for info in graph.inputs}
        known |= {tensor.name for tensor in (*graph.initializers, *graph.sparse_initializers)}
    yield from _statements(path, graphs[0], lambda name: name not in known)


def unstated(model: OnnxModel, graph: OnnxGraph, name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
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


def _statements(path: Path, graph: OnnxGraph, chosen: Callable[[str], bool]) -> Iterator[Edit]:
    for index, info in enumerate(graph.value_infos):
        if chosen(info.name):
            yield Edit((*path, ("value_info", index)), expected=info.name)


def older(graph: Graph, number: int) -> tuple[Edit, ...]:
    """Return the edit that lowers the IR version to `number`, if safe.

    It is safe if that version supports everything in the file and matches its opset.
    """
    model: OnnxModel = graph.source.model
    level = dialect("onnx").tables.levels.get(str(model.opset_imports.get("", "")))
    if model.file is None or level is None or number < max(needed_ir_version(model), int(level["ir_version"])):
        return ()
    return (Edit((("ir_version", 0),), number),)


def lowered(graph: Graph, target: Target, domain: str, number: int) -> tuple[Edit, ...]:
    """Return the edits that lower a domain's opset, or () if unsafe.

    Functions have separate imports that must match, so models with functions or training information stay unchanged.
    """
    model: OnnxModel = graph.source.model
    at = [index for index, (stated, _) in enumerate(model.stated_imports) if domain_of(stated) == domain]
    if (
        model.file is None
        or len({model.stated_imports[index][1] for index in at}) != 1
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
            path, needless = paths.get(id(body.graph)), lowering.needless(node)
            if needless is None or (needless and (path is None or node.duplicates)):
                return ()
            order = list(node.attributes)
            for name in needless:
                step = ("attribute", order.index(name))
                edits.append(Edit((*(path or ()), ("node", index), step), expected=name))
    return (*edits, *(Edit((("opset_import", index), ("version", 0)), number) for index in at))


@dataclass
class _Lowering:
    graph: Graph
    target: Target

    def __post_init__(self) -> None:
        self.known: dict[int, tuple[str, ...] | None] = {}

    def needless(self, node: OnnxNode) -> tuple[str, ...] | None:
        """Return the attributes to remove from a node, None if it would change."""
        unit = self.graph.source.units.get(id(node))
        if unit is None or unit.descriptor is None or unit.descriptor.version is None:
            return None
        result = unit.descriptor  # shared by equal nodes
        if id(result) not in self.known:
            self.known[id(result)] = self.of(result)
        return self.known[id(result)]

    def of(self, descriptor: Descriptor) -> tuple[str, ...] | None:
        spec = dialect(descriptor.dialect).operator(descriptor.operator)
        own, level = str(descriptor.version), spec.level_for(self.target.level)
        if level is None or own not in spec.levels or level not in spec.levels:
            return None
        if spec.row_held(own) == spec.row_held(level):
            return ()
        gone = [name for name in descriptor.fields if spec.field_at(name, level) is None]
        fields = {name: value for name, value in descriptor.fields.items() if name not in gone}
        if not _alike(spec, descriptor, gone, own, level):
            return None
        here = check_at(descriptor, own)
        there = check_at(replace(descriptor, version=None, fields=fields), level)
        if (
            (here.accepted is False and not _moved(spec, descriptor, own))
            or there.accepted is False
            or not _open(there) <= _open(here)
        ):
            return None
        known = {info.vendor_name for name in gone if (info := spec.field_at(name, own)) is not None}
        return tuple(sorted(known))


def _moved(spec: OperatorSpec, descriptor: Descriptor, own: str) -> bool:
    """Return True if inputs given as attributes are the only error."""
    resolved = spec.resolve(own)
    move = None if resolved is None else readings(descriptor, resolved)
    return move is not None and any(check_at(reading, own).accepted is not False for reading in move.readings)


def _alike(spec: OperatorSpec, descriptor: Descriptor, gone: Sequence[str], own: str, level: str) -> bool:
    """Return True if the kept fields mean the same at both levels.

    The fields in `gone` must have their default values.
    """
    if not spec.has_kernel(own) or not spec.has_kernel(level) or changed_behaviour(spec, descriptor, own, level):
        return False
    for name in gone:
        info = spec.field_at(name, own)
        if info is None or info.kind != "attribute" or info.default is None or descriptor.fields[name] != info.default:
            return False
    for name, info in spec.fields_at(level).items():
        before = spec.field_at(name, own)
        if before is None:
            continue  # absent, because the descriptor would be invalid with it
        if name not in descriptor.fields and before.default != info.default:
            return False
        if name in descriptor.fields and before.kind != info.kind:
            return False
    items = [descriptor.fields[info.name] for info in spec.layout(own).inputs if info.name in descriptor.fields]
    if any(tensor.type is None for result in items for tensor in _tensors(result)):
        return False
    return _positions(spec, descriptor, own) == _positions(spec, descriptor, level)


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


def _open(verdict: Verdict) -> set[tuple[str, str, str | None]]:
    """Return the checks that an unknown size leaves undecided."""
    return {(finding.id, finding.where, finding.rule) for finding in verdict.undecided}
