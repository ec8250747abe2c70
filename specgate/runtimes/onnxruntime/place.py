"""Placement of a model's nodes on providers, with its consequences."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects import holds_text
from specgate.dialects.onnx.file.structure import OnnxTensor
from specgate.errors import InputError
from specgate.linting.input_source import TEXT, InputSource
from specgate.linting.model import graph_of
from specgate.loading import gc_paused
from specgate.runtimes.onnxruntime.constant_folding import FusionRules, folding, removing
from specgate.runtimes.onnxruntime.fixes import fixes
from specgate.runtimes.onnxruntime.functions import Functions
from specgate.runtimes.onnxruntime.graph import with_imports
from specgate.runtimes.onnxruntime.load_checks import (
    refusal,
    refused_graph,
    refused_models,
    refusing_findings,
    unloadable_types,
)
from specgate.runtimes.onnxruntime.node_assignment import CPU, Assigner, assign_model
from specgate.runtimes.onnxruntime.operator_creation import Creator
from specgate.runtimes.onnxruntime.partition import copies, partitions
from specgate.runtimes.onnxruntime.placement import Partition, PlacedNode, Placement, remark
from specgate.runtimes.onnxruntime.run_outcomes import run_failure
from specgate.runtimes.onnxruntime.shape_inference import computed_descriptors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.onnx.file.structure import OnnxNode
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.runtimes.onnxruntime.graph import Body, Node
    from specgate.runtimes.onnxruntime.node_assignment import AssignedModel, AssignedNode
    from specgate.runtimes.onnxruntime.registrations import Registration
    from specgate.runtimes.release import Runtime
    from specgate.targets import Target
    from specgate.verdict import Finding

#: Finding on a stated type that contradicts its operators; the runtime does not load such a model.
_STATED_TYPE: Final = "onnx/model/stated-type"


def place_graph(graph: Graph, target: Target, device: frozenset[str] | None, file: str | None) -> Placement:
    """Return the placement of a parsed model on a target with a runtime."""
    runtime = target.runtime
    assert runtime is not None  # every caller checks this  # noqa: S101
    graph = with_imports(graph, runtime)
    assigner = Assigner(runtime, device)
    functions = Functions(graph.source.model, runtime.opsets, runtime.release)
    assigned_model = assign_model(graph.source, assigner, functions, graph.findings)
    placement = Placement(str(target), runtime.providers, file, device)
    placement.file_findings = refusing_findings(graph, assigned_model.main, runtime.release)
    placement.refusals.extend(_refusals(graph, runtime, placement.file_findings))
    placement.own_refusals.extend(refused_graph(graph.source.model, assigned_model.main))
    placement.own_refusals.extend(_unloadable_constants(graph, runtime.release))
    findings_by_node = {
        str(place.node): finding
        for finding in graph.findings
        if finding.id == _STATED_TYPE and (place := finding.location)
    }
    creator = Creator(runtime, device, findings_by_node, computed_descriptors(graph.source))
    placeds_by_node = _nodes(placement, assigned_model, creator)
    for _, node in assigned_model.called:
        rejection = refusal(node.descriptor, runtime.release, on_cpu=False) or findings_by_node.get(node.path)
        if rejection is not None:
            placement.own_refusals.append(f"{node.path} ({node.operator}): {rejection.message}")
        else:
            _fail_call(placement, node, run_failure(node.descriptor, runtime.release, on_cpu=False))
    placement.refusals.extend(placement.own_refusals)
    for node in folding(assigned_model.main, assigner.lookups[CPU]):
        if node in placeds_by_node:
            placeds_by_node[node].folds = True
    for node in removing(assigned_model.main, runtime.release):
        if node in placeds_by_node:
            placeds_by_node[node].removed = True
    _divide(placement, assigned_model.nodes, placeds_by_node)
    remark(placement, graph, functions, assigned_model.main, runtime.release)
    own_nodes = (
        [item for item in assigned_model.nodes if id(item.node.proto) not in assigned_model.added]
        if assigned_model.added
        else assigned_model.nodes
    )
    removed_nodes = frozenset(node.node for node in placement.nodes if node.gone)
    placement.fixes.extend(fixes(assigned_model.source, assigner, own_nodes, removed_nodes))
    return placement


def _nodes(placement: Placement, assigned_model: AssignedModel, creator: Creator) -> dict[Node, PlacedNode]:
    """Add the nodes of a model to its placement.

    Return all nodes, including those that the runtime adds.
    """
    placeds_by_node: dict[Node, PlacedNode] = {}
    nodes_by_call: dict[int, list[PlacedNode]] = {}
    fusing_rules = FusionRules(placement.providers[0])
    for assigned_node in assigned_model.nodes:
        node, shared = assigned_node.node, assigned_node.node.properties
        call = assigned_model.origin.get(id(node.proto)) if assigned_model.origin else None
        added_place = assigned_model.added.get(id(node.proto)) if assigned_model.added else None
        placeds_by_node[node] = placed_node = PlacedNode(
            node.path,
            shared.operator,
            None if shared.schema is None else shared.schema.since,
            assigned_node.provider,
            assigned_node.reason,
            assigned_node.why,
            assigned_node.casts,
            has_kernel=assigned_node.has_kernel,
            function=None if call is None else call[0],
            open=assigned_node.lookup.open,
            descriptor=shared.descriptor,
        )
        creator.create(assigned_node, placed_node)
        placed_node.fuses = fusing_rules.of(assigned_node, placed_node.creation)
        if added_place is None:
            placement.nodes.append(placed_node)
        else:
            placed_node.reader = added_place.reader
            nodes_by_call.setdefault(added_place.of, []).append(placed_node)
    for node, placed_node in placeds_by_node.items() if nodes_by_call else ():
        placed_node.duplicates = tuple(nodes_by_call.get(id(node.proto), ()))
    return placeds_by_node


def _fail_call(placement: Placement, call: Node, late_failure: tuple[Finding, bool] | None) -> None:
    """Mark the last node of a call as failing at the first run; others may be folded."""
    nodes = [node for node in placement.nodes if node.function == call.path] if late_failure is not None else []
    if late_failure is not None and nodes and all(node.provider == CPU and node.creation != "fails" for node in nodes):
        nodes[-1].refused, nodes[-1].at_run, nodes[-1].findings = late_failure[1], True, (late_failure[0],)
        nodes[-1].creation, nodes[-1].created_by = "fails", f"fails at the first run: {late_failure[0].message}"


def _divide(
    placement: Placement, assigned_bodies: Sequence[AssignedNode], placeds_by_node: Mapping[Node, PlacedNode]
) -> None:
    """Add the first provider's partitions and the copies to the placement."""
    first = placement.providers[0]
    if first == CPU:
        return
    by_body: dict[Body, set[Node]] = {}
    registrations: dict[Node, Registration] = {}
    for assigned_node in assigned_bodies:
        claimed_nodes = by_body.setdefault(assigned_node.body, set())
        if assigned_node.provider == first:
            claimed_nodes.add(assigned_node.node)
            if assigned_node.row is not None:
                registrations[assigned_node.node] = assigned_node.row
    for body, claimed_nodes in by_body.items():
        for nodes in partitions(body, claimed_nodes):
            number = len(placement.partitions) + 1
            for node in nodes:
                placeds_by_node[node].partition = number
            placement.partitions.append(Partition(number, first, body.place, tuple([node.path for node in nodes])))
        placement.copies.extend(copies(body, first, registrations))


def _refusals(graph: Graph, runtime: Runtime, refusing_findings: Sequence[Finding]) -> list[str]:
    """Return why the release rejects the file regardless of its nodes.

    The reasons are its versions and invalid parts of the graph.
    """
    texts = []
    for domain, version in graph.imports.items():
        newest = runtime.opsets.get(domain)
        if newest is not None and version > newest:
            name = domain or "ai.onnx"
            texts.append(f"the model imports version {version} of {name}; the release loads those up to {newest}")
    if graph.ir_version is not None and runtime.ir_version is not None and graph.ir_version > runtime.ir_version:
        texts.append(f"the model has IR version {graph.ir_version}; the release reads those up to {runtime.ir_version}")
    texts += refused_models(refusing_findings)
    return texts


def _unloadable_constants(graph: Graph, release: str) -> list[str]:
    """Return texts about constants without a value or of unsupported types."""
    types, scope = unloadable_types(release), graph.source.scopes.get(id(graph.source.model.graph), {})
    items = [node for node in graph.source.model.graph.nodes if node.op_type == "Constant" and node.outputs]
    values = ((node.outputs[0], _constant_type(node, scope.get(node.outputs[0]))) for node in items)
    texts = [
        f"the constant {name} is {kind}, a type that the runtime does not support"
        for name, kind in values
        if kind in types
    ]
    return texts + [f"the constant {node.outputs[0]} has no value" for node in items if not node.attributes]


def _constant_type(node: OnnxNode, value: TensorDesc | None) -> str | None:
    """Return the element type of a constant.

    value: what shape inference knows of it. If a node has several attributes, the runtime reads the first one only.
    """
    first = next(iter(node.attributes.values()), None)
    if len(node.attributes) > 1 and first is not None:
        return first.value.elem_type if isinstance(first.value, OnnxTensor) else None
    return None if value is None else value.type


def place_model(model: Any, target: Target, device: frozenset[str] | None, settings: LintSettings) -> Placement:
    """Return the placement of a model.

    model: a path, an ``onnx.ModelProto``, or an `InputSource`. Raises InputError for an invalid file, and for a target
    that does not place nodes.
    """
    if target.runtime is None:
        raise InputError(f"{target} does not place nodes; use a runtime release such as onnxruntime-directml:1.24.4")
    file = (
        model.name
        if isinstance(model, InputSource)
        else os.fspath(model)
        if isinstance(model, str | os.PathLike)
        else None
    )
    with gc_paused():  # objects are freed at the end, so that collection is useless
        return _place_source(model, target, device, settings, file)


def _place_source(
    model: Any, target: Target, device: frozenset[str] | None, settings: LintSettings, file: str | None
) -> Placement:
    if _is_text(model, file):  # reported even if the file has other problems
        raise InputError("only ONNX models can be placed", file=file)
    graph = graph_of(model, replace(settings, placing=True))
    if graph.dialect != target.dialect or graph.source is None:
        raise InputError("only ONNX models can be placed", file=file)
    return place_graph(graph, target, device, file)


def _is_text(model: Any, file: str | None) -> bool:
    if isinstance(model, InputSource):
        return model.kind == TEXT
    return file is not None and os.path.isfile(file) and holds_text(file)  # noqa: PTH113
