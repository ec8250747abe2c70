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
from specgate.runtimes.onnxruntime.constant_folding import Fusing, folding, removing
from specgate.runtimes.onnxruntime.fixes import fixes
from specgate.runtimes.onnxruntime.functions import Functions
from specgate.runtimes.onnxruntime.graph import with_imports
from specgate.runtimes.onnxruntime.load_checks import (
    refusal,
    refused_graph,
    refused_models,
    refusing_findings,
    unloadable,
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
    from specgate.runtimes.onnxruntime.node_assignment import Assigned, Whole
    from specgate.runtimes.onnxruntime.registrations import Registration
    from specgate.runtimes.release import Runtime
    from specgate.targets import Target
    from specgate.verdict import Finding

__all__ = ["place_graph", "place_model"]

#: Finding on a stated type that contradicts its operators; the runtime does not load such a model.
_STATED: Final = "onnx/model/stated-type"


def place_graph(graph: Graph, target: Target, device: frozenset[str] | None, file: str | None) -> Placement:
    """Return the placement of a parsed model on a target with a runtime."""
    runtime = target.runtime
    assert runtime is not None  # every caller checks this  # noqa: S101
    graph = with_imports(graph, runtime)
    assigner = Assigner(runtime, device)
    functions = Functions(graph.source.model, runtime.opsets, runtime.release)
    whole = assign_model(graph.source, assigner, functions, graph.findings)
    placement = Placement(str(target), runtime.providers, file, device)
    placement.file_findings = refusing_findings(graph, whole.main, runtime.release)
    placement.refusals.extend(_refusals(graph, runtime, placement.file_findings))
    placement.own_refusals.extend(refused_graph(graph.source.model, whole.main))
    placement.own_refusals.extend(_unloadable(graph, runtime.release))
    stated = {str(at.node): finding for finding in graph.findings if finding.id == _STATED and (at := finding.location)}
    creator = Creator(runtime, device, stated, computed_descriptors(graph.source))
    placeds_by_node = _nodes(placement, whole, creator)
    for _, node in whole.called:
        refused = refusal(node.descriptor, runtime.release, on_cpu=False) or stated.get(node.path)
        if refused is not None:
            placement.own_refusals.append(f"{node.path} ({node.operator}): {refused.message}")
        else:
            _fail_call(placement, node, run_failure(node.descriptor, runtime.release, on_cpu=False))
    placement.refusals.extend(placement.own_refusals)
    for node in folding(whole.main, assigner.lookups[CPU]):
        if node in placeds_by_node:
            placeds_by_node[node].folds = True
    for node in removing(whole.main, runtime.release):
        if node in placeds_by_node:
            placeds_by_node[node].removed = True
    _divide(placement, whole.nodes, placeds_by_node)
    remark(placement, graph, functions, whole.main, runtime.release)
    own = (
        [assigned for assigned in whole.nodes if id(assigned.node.proto) not in whole.added]
        if whole.added
        else whole.nodes
    )
    gone = frozenset(node.node for node in placement.nodes if node.gone)
    placement.fixes.extend(fixes(whole.source, assigner, own, gone))
    return placement


def _nodes(placement: Placement, whole: Whole, creator: Creator) -> dict[Node, PlacedNode]:
    """Add the nodes of a model to its placement.

    Return all nodes, including those that the runtime adds.
    """
    placeds_by_node: dict[Node, PlacedNode] = {}
    several: dict[int, list[PlacedNode]] = {}
    fusing = Fusing(placement.providers[0])
    for assigned in whole.nodes:
        node, shared = assigned.node, assigned.node.alike
        call = whole.origin.get(id(node.proto)) if whole.origin else None
        added = whole.added.get(id(node.proto)) if whole.added else None
        placeds_by_node[node] = placed = PlacedNode(
            node.path,
            shared.operator,
            None if shared.schema is None else shared.schema.since,
            assigned.provider,
            assigned.reason,
            assigned.why,
            assigned.casts,
            has_kernel=assigned.has_kernel,
            function=None if call is None else call[0],
            open=assigned.lookup.open,
            descriptor=shared.descriptor,
        )
        creator.create(assigned, placed)
        placed.fuses = fusing.of(assigned, placed.creation)
        if added is None:
            placement.nodes.append(placed)
        else:
            placed.reader = added.reader
            several.setdefault(added.of, []).append(placed)
    for node, placed in placeds_by_node.items() if several else ():
        placed.duplicates = tuple(several.get(id(node.proto), ()))
    return placeds_by_node


def _fail_call(placement: Placement, call: Node, late: tuple[Finding, bool] | None) -> None:
    """Mark the last node of a call as failing at the first run; others may be folded."""
    nodes = [node for node in placement.nodes if node.function == call.path] if late is not None else []
    if late is not None and nodes and all(node.provider == CPU and node.creation != "fails" for node in nodes):
        nodes[-1].refused, nodes[-1].at_run, nodes[-1].findings = late[1], True, (late[0],)
        nodes[-1].creation, nodes[-1].created_by = "fails", f"fails at the first run: {late[0].message}"


def _divide(
    placement: Placement, assigned_bodies: Sequence[Assigned], placeds_by_node: Mapping[Node, PlacedNode]
) -> None:
    """Add the first provider's partitions and the copies to the placement."""
    first = placement.providers[0]
    if first == CPU:
        return
    by_body: dict[Body, set[Node]] = {}
    mine: dict[Node, Registration] = {}
    for assigned in assigned_bodies:
        inside = by_body.setdefault(assigned.body, set())
        if assigned.provider == first:
            inside.add(assigned.node)
            if assigned.row is not None:
                mine[assigned.node] = assigned.row
    for body, inside in by_body.items():
        for nodes in partitions(body, inside):
            number = len(placement.partitions) + 1
            for node in nodes:
                placeds_by_node[node].partition = number
            placement.partitions.append(Partition(number, first, body.place, tuple([node.path for node in nodes])))
        placement.copies.extend(copies(body, first, mine))


def _refusals(graph: Graph, runtime: Runtime, refusing: Sequence[Finding]) -> list[str]:
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
    texts += refused_models(refusing)
    return texts


def _unloadable(graph: Graph, release: str) -> list[str]:
    """Return texts about constants without a value or of unsupported types."""
    types, scope = unloadable(release), graph.source.scopes.get(id(graph.source.model.graph), {})
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
