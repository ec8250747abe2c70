"""Assignment of a model's nodes to providers."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.lint.graph import Source, onnx_units
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.functions import inline_calls
from specgate.runtimes.onnxruntime.graph import Body, body_of
from specgate.runtimes.onnxruntime.provider_choice import KernelLookup, Lookup, missing_types
from specgate.runtimes.onnxruntime.qdq_duplication import duplicate_nodes, duplicating
from specgate.runtimes.onnxruntime.registrations import registrations
from specgate.runtimes.onnxruntime.shape_inference import as_inferred, complete_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.runtimes.onnxruntime.functions import Call, Functions, InlinedModel
    from specgate.runtimes.onnxruntime.graph import Node
    from specgate.runtimes.onnxruntime.qdq_duplication import Added
    from specgate.runtimes.onnxruntime.registrations import Registration
    from specgate.runtimes.release import Runtime
    from specgate.verdict import Finding

#: An initializer of at most so many elements does not keep a node from the CPU.
MAX_ELEMENTS: Final = 100
#: Types whose nodes never prefer the CPU.
_GPU_ONLY_TYPES: Final = frozenset(
    {
        "FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1",
    }
)  # fmt: skip


def cpu_preferred_nodes(body: Body, kernels: Mapping[Node, Registration]) -> set[Node]:
    """Return the nodes of a body that the runtime moves to the CPU.

    `kernels` has the provider's registrations. The walk starts at outputs in CPU memory. It continues with the
    consumers of moved nodes, and of nodes without a registration.
    """
    on_cpu: set[str] = set()
    candidates: list[int] = []
    for node, row in kernels.items():
        for index, name in enumerate(node.proto.outputs):
            if name and index in row.cpu_outputs:
                on_cpu.add(name)
                candidates += (reader.index for reader in body.readers.get(name, ()))
    heapq.heapify(candidates)
    visited: set[int] = set()
    cpu_nodes: set[Node] = set()
    while candidates:
        node_index = heapq.heappop(candidates)
        if node_index in visited:
            continue
        visited.add(node_index)
        node = body.nodes[node_index]
        kernel = kernels.get(node)
        if kernel is not None and not _small(node, kernel, body, on_cpu):
            continue
        if kernel is not None:
            cpu_nodes.add(node)
        for name in node.proto.outputs:
            if name:
                on_cpu.add(name)
                for reader in body.readers.get(name, ()):
                    heapq.heappush(candidates, reader.index)
    return cpu_nodes


def _small(node: Node, row: Registration, body: Body, on_cpu: set[str]) -> bool:
    """Return whether a node's inputs are small, graph inputs or on the CPU.

    An input that the provider itself reads from CPU memory must be small or a graph input. Types in `_GPU_ONLY_TYPES`
    do not count as small.
    """
    for index, (name, kind) in enumerate(zip(node.proto.inputs, node.kinds[0], strict=True)):
        if kind in _GPU_ONLY_TYPES:
            return False
        if body.sizes.get(name, MAX_ELEMENTS + 1) <= MAX_ELEMENTS or name in body.inputs:
            continue
        if name not in on_cpu or index in row.cpu_inputs:  # an omitted input is not in memory
            return False
    return True


CPU: Final = "CPU"
#: Nested calls: maximum number of rounds in which inlined bodies are searched for calls.
_MAX_ROUNDS: Final = 100
#: Maximum number of nodes of all expanded calls; nested calls can double it with every level.
_MAX_NODES: Final = 500_000
_NO_LOOKUP: Final = KernelLookup(None)
_PREFERRED: Final = (
    f"shape arithmetic on tensors of at most {MAX_ELEMENTS} elements, which ONNX Runtime keeps on the CPU on "
    "purpose (GetCpuPreferredNodes)"
)


@dataclass(slots=True)
class AssignedNode:
    """One node and its provider.

    row: the registration that it runs by, or None. lookup: the first provider's answer. has_kernel: whether its
    provider has a kernel for it.
    """

    node: Node
    body: Body
    provider: str | None
    row: Registration | None
    lookup: KernelLookup
    reason: str = ""
    why: str = ""
    casts: bool = False
    has_kernel: bool = True


@dataclass(slots=True)
class Assigner:
    """Assigns nodes to the providers of one release on one device."""

    runtime: Runtime
    device: frozenset[str] | None = None
    lookups: dict[str, Lookup] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for provider in self.runtime.providers:
            lacked = {} if provider == CPU else missing_types(self.runtime, self.device)
            is_known = provider in self.runtime.registered
            registry = registrations(provider, self.runtime.release) if is_known else None
            self.lookups[provider] = Lookup(registry, provider, lacked, self.device)

    def assign(self, main: Body) -> list[AssignedNode]:
        """Return every node with its provider, each before its nested bodies."""
        assigned_bodies: list[AssignedNode] = []
        self._body(main, assigned_bodies)
        return assigned_bodies

    def _body(self, body: Body, assigned_bodies: list[AssignedNode]) -> None:
        first = self.runtime.providers[0]
        lookup = self.lookups[first]
        founds = [_NO_LOOKUP if first == CPU else lookup.of(node) for node in body.nodes]
        kernels = {
            node: assignment.registration
            for node, assignment in zip(body.nodes, founds, strict=True)
            if assignment.registration is not None
        }
        cpu_nodes = cpu_preferred_nodes(body, kernels) if kernels else set()
        for node, assignment in zip(body.nodes, founds, strict=True):
            if first == CPU or assignment.reason:
                assigned_bodies.append(self._on_cpu(node, body, assignment, assignment.reason, assignment.says))
            elif node in cpu_nodes:
                assigned_bodies.append(self._on_cpu(node, body, assignment, "preferred", _PREFERRED))
            else:
                assigned_bodies.append(AssignedNode(node, body, first, assignment.registration, assignment))
            for nested_body in node.bodies:
                self._body(nested_body, assigned_bodies)

    def _on_cpu(self, node: Node, body: Body, first: KernelLookup, reason: str, cpu_reason: str) -> AssignedNode:
        """Return a node on the CPU, or without a provider.

        The latter applies if the CPU does not have a kernel for it.
        """
        result = self.lookups[CPU].of(node)
        open_lookup = first if first.open else result
        if result.accepted:
            return AssignedNode(node, body, CPU, result.registration, open_lookup, reason, cpu_reason)
        lookup_text = "; ".join(text for text in (cpu_reason, result.says) if text)
        return AssignedNode(node, body, None, None, open_lookup, reason or result.reason, lookup_text, has_kernel=False)

    def cast(self, assigned_node: AssignedNode) -> AssignedNode:
        """Return an unclaimed node on the CPU, with casts from FLOAT16 to FLOAT.

        The runtime assigns it even if the CPU does not have a kernel for FLOAT.
        """
        inputs, outputs = assigned_node.node.kinds
        if "FLOAT16" not in inputs:
            return assigned_node
        wide_types = tuple("FLOAT" if kind == "FLOAT16" else kind for kind in inputs)
        result = self.lookups[CPU].kernel(
            assigned_node.node, wide_types, tuple("FLOAT" if k == "FLOAT16" else k for k in outputs)
        )
        if result.reason:
            reason = f"{assigned_node.why}; the CPU has no FLOAT16 kernel for it, and inserted casts do not help"
            return replace(assigned_node, provider=CPU, why=reason)
        reason = f"{assigned_node.why}; it runs in FLOAT, between Casts that the runtime inserts"
        return replace(assigned_node, provider=CPU, row=result.registration, why=reason, casts=True, has_kernel=True)


@dataclass(slots=True)
class AssignedModel:
    """The assigned nodes of a model with unclaimed calls expanded.

    origin: by id of a node of such a call, the call's path and operator. called: the calls, each with the place of its
    body. main: the main body. source: the model with its calls, with types as the runtime infers them. added: the
    duplicates that the runtime adds, by node id.
    """

    source: Source
    nodes: list[AssignedNode]
    main: Body
    origin: dict[int, tuple[str, str]]
    called: list[tuple[str, Node]]
    added: Mapping[int, Added] = field(default_factory=dict)


def assign_model(
    source: Source, assigner: Assigner, functions: Functions, findings: list[Finding] | None = None
) -> AssignedModel:
    """Assign the nodes of a model and of the functions that it calls.

    findings: receives findings on nodes if the nodes were not checked before.
    """
    release = assigner.runtime.release
    source = as_inferred(source, release, findings)
    assigned_model = AssignedModel(source, [], Body(""), {}, [])
    duplication = duplicating(release)
    expands_later = duplication is not None and duplication.inlined and bool(source.model.functions)
    if duplication is not None and not expands_later:
        source, assigned_model.added = duplicate_nodes(source, duplication)
    source = _expand_calls(source, assigner, functions, assigned_model)
    if duplication is not None and expands_later:
        source, assigned_model.added = duplicate_nodes(source, duplication, assigned_model)
        if assigned_model.added:
            _expand_calls(source, assigner, functions, assigned_model)
    assigned_model.nodes = [assigner.cast(item) if item.provider is None else item for item in assigned_model.nodes]
    return assigned_model


def _expand_calls(source: Source, assigner: Assigner, functions: Functions, assigned_model: AssignedModel) -> Source:
    """Return the model with the unclaimed calls expanded and assigned."""
    for turn in range(_MAX_ROUNDS + 1):
        assigned_model.main = body_of(source, assigner.runtime.release)
        assigned_model.nodes = assigner.assign(assigned_model.main)
        calls: dict[int, Call] = {}
        for assigned_node in assigned_model.nodes:
            function = functions.of(assigned_node.node, source.model) if assigned_node.provider is None else None
            if function is not None:
                place = assigned_node.body.place
                calls[id(assigned_node.node.proto)] = place, assigned_node.node.path[len(place) + 1 :], function
                assigned_model.called.append((place, assigned_node.node))
        if not calls:
            break
        if turn == _MAX_ROUNDS:
            raise InputError(f"function calls are nested more than {_MAX_ROUNDS} deep", file=source.model.file)
        if len(assigned_model.nodes) + sum(functions.size(function) for _, _, function in calls.values()) > _MAX_NODES:
            raise InputError(f"the model's functions expand to more than {_MAX_NODES:,} nodes", file=source.model.file)
        changed_model = inline_calls(source.model, calls)
        assigned_model.origin |= changed_model.origin
        source = _reinfer_inlined(source, changed_model, assigner.runtime.release)
    return source


def _reinfer_inlined(before: Source, new_inlined: InlinedModel, release: str) -> Source:
    """Return an expanded model with the sizes that a release knows.

    It reuses known sizes of the original model.
    """
    if before.types:
        source = complete_model(before, new_inlined.model, new_inlined.types(before.types), release)
        if source is not None:
            return source
    return as_inferred(onnx_units(new_inlined.model, before.settings).source, release)
