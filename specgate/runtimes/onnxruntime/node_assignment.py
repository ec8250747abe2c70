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

    from specgate.runtimes.onnxruntime.functions import Call, Functions, Inlined
    from specgate.runtimes.onnxruntime.graph import Node
    from specgate.runtimes.onnxruntime.qdq_duplication import Added
    from specgate.runtimes.onnxruntime.registrations import Registration
    from specgate.runtimes.release import Runtime
    from specgate.verdict import Finding

__all__ = ["CPU", "MOST_ELEMENTS", "Assigned", "Assigner", "Whole", "assign_model", "cpu_preferred_nodes"]

#: An initializer of at most so many elements does not keep a node from the CPU.
MOST_ELEMENTS: Final = 100
#: Types whose nodes never prefer the CPU.
_NEVER: Final = frozenset(
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
    chosen: set[Node] = set()
    while candidates:
        at = heapq.heappop(candidates)
        if at in visited:
            continue
        visited.add(at)
        node = body.nodes[at]
        kernel = kernels.get(node)
        if kernel is not None and not _small(node, kernel, body, on_cpu):
            continue
        if kernel is not None:
            chosen.add(node)
        for name in node.proto.outputs:
            if name:
                on_cpu.add(name)
                for reader in body.readers.get(name, ()):
                    heapq.heappush(candidates, reader.index)
    return chosen


def _small(node: Node, row: Registration, body: Body, on_cpu: set[str]) -> bool:
    """Return whether a node's inputs are small, graph inputs or on the CPU.

    An input that the provider itself reads from CPU memory must be small or a graph input. Types in `_NEVER` do not
    count as small.
    """
    for index, (name, kind) in enumerate(zip(node.proto.inputs, node.kinds[0], strict=True)):
        if kind in _NEVER:
            return False
        if body.sizes.get(name, MOST_ELEMENTS + 1) <= MOST_ELEMENTS or name in body.inputs:
            continue
        if name not in on_cpu or index in row.cpu_inputs:  # an omitted input is not in memory
            return False
    return True


CPU: Final = "CPU"
#: Nested calls: maximum number of rounds in which inlined bodies are searched for calls.
_MOST_ROUNDS: Final = 100
#: Maximum number of nodes of all expanded calls; nested calls can double it with every level.
_MOST_NODES: Final = 500_000
_NOT_ASKED: Final = KernelLookup(None)
_PREFERRED: Final = (
    f"shape arithmetic on tensors of at most {MOST_ELEMENTS} elements, which ONNX Runtime keeps on the CPU on "
    "purpose (GetCpuPreferredNodes)"
)


@dataclass(slots=True)
class Assigned:
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

    def assign(self, main: Body) -> list[Assigned]:
        """Return every node with its provider, each before its nested bodies."""
        assigned_bodies: list[Assigned] = []
        self._body(main, assigned_bodies)
        return assigned_bodies

    def _body(self, body: Body, assigned_bodies: list[Assigned]) -> None:
        first = self.runtime.providers[0]
        lookup = self.lookups[first]
        founds = [_NOT_ASKED if first == CPU else lookup.of(node) for node in body.nodes]
        kernels = {
            node: assignment.registration
            for node, assignment in zip(body.nodes, founds, strict=True)
            if assignment.registration is not None
        }
        chosen = cpu_preferred_nodes(body, kernels) if kernels else set()
        for node, assignment in zip(body.nodes, founds, strict=True):
            if first == CPU or assignment.reason:
                assigned_bodies.append(self._on_cpu(node, body, assignment, assignment.reason, assignment.says))
            elif node in chosen:
                assigned_bodies.append(self._on_cpu(node, body, assignment, "preferred", _PREFERRED))
            else:
                assigned_bodies.append(Assigned(node, body, first, assignment.registration, assignment))
            for inside in node.bodies:
                self._body(inside, assigned_bodies)

    def _on_cpu(self, node: Node, body: Body, first: KernelLookup, reason: str, why: str) -> Assigned:
        """Return a node on the CPU, or without a provider.

        The latter applies if the CPU does not have a kernel for it.
        """
        result = self.lookups[CPU].of(node)
        open_ = first if first.open else result
        if result.accepted:
            return Assigned(node, body, CPU, result.registration, open_, reason, why)
        says = "; ".join(text for text in (why, result.says) if text)
        return Assigned(node, body, None, None, open_, reason or result.reason, says, has_kernel=False)

    def cast(self, assigned: Assigned) -> Assigned:
        """Return an unclaimed node on the CPU, with casts from FLOAT16 to FLOAT.

        The runtime assigns it even if the CPU does not have a kernel for FLOAT.
        """
        inputs, outputs = assigned.node.kinds
        if "FLOAT16" not in inputs:
            return assigned
        wide = tuple("FLOAT" if kind == "FLOAT16" else kind for kind in inputs)
        result = self.lookups[CPU].kernel(assigned.node, wide, tuple("FLOAT" if k == "FLOAT16" else k for k in outputs))
        if result.reason:
            why = f"{assigned.why}; the CPU has no FLOAT16 kernel for it, and inserted casts do not help"
            return replace(assigned, provider=CPU, why=why)
        why = f"{assigned.why}; it runs in FLOAT, between Casts that the runtime inserts"
        return replace(assigned, provider=CPU, row=result.registration, why=why, casts=True, has_kernel=True)


@dataclass(slots=True)
class Whole:
    """The assigned nodes of a model with unclaimed calls expanded.

    origin: by id of a node of such a call, the call's path and operator. called: the calls, each with the place of its
    body. main: the main body. source: the model with its calls, with types as the runtime infers them. added: the
    duplicates that the runtime adds, by node id.
    """

    source: Source
    nodes: list[Assigned]
    main: Body
    origin: dict[int, tuple[str, str]]
    called: list[tuple[str, Node]]
    added: Mapping[int, Added] = field(default_factory=dict)


def assign_model(
    source: Source, assigner: Assigner, functions: Functions, findings: list[Finding] | None = None
) -> Whole:
    """Assign the nodes of a model and of the functions that it calls.

    findings: receives findings on nodes if the nodes were not checked before.
    """
    release = assigner.runtime.release
    source = as_inferred(source, release, findings)
    whole = Whole(source, [], Body(""), {}, [])
    duplication = duplicating(release)
    later = duplication is not None and duplication.inlined and bool(source.model.functions)
    if duplication is not None and not later:
        source, whole.added = duplicate_nodes(source, duplication)
    source = _expand_calls(source, assigner, functions, whole)
    if duplication is not None and later:
        source, whole.added = duplicate_nodes(source, duplication, whole)
        if whole.added:
            _expand_calls(source, assigner, functions, whole)
    whole.nodes = [assigner.cast(assigned) if assigned.provider is None else assigned for assigned in whole.nodes]
    return whole


def _expand_calls(source: Source, assigner: Assigner, functions: Functions, whole: Whole) -> Source:
    """Return the model with the unclaimed calls expanded and assigned."""
    for turn in range(_MOST_ROUNDS + 1):
        whole.main = body_of(source, assigner.runtime.release)
        whole.nodes = assigner.assign(whole.main)
        calls: dict[int, Call] = {}
        for assigned in whole.nodes:
            function = functions.of(assigned.node, source.model) if assigned.provider is None else None
            if function is not None:
                place = assigned.body.place
                calls[id(assigned.node.proto)] = place, assigned.node.path[len(place) + 1 :], function
                whole.called.append((place, assigned.node))
        if not calls:
            break
        if turn == _MOST_ROUNDS:
            raise InputError(f"function calls are nested more than {_MOST_ROUNDS} deep", file=source.model.file)
        if len(whole.nodes) + sum(functions.size(function) for _, _, function in calls.values()) > _MOST_NODES:
            raise InputError(f"the model's functions expand to more than {_MOST_NODES:,} nodes", file=source.model.file)
        changed = inline_calls(source.model, calls)
        whole.origin |= changed.origin
        source = _reinfer_inlined(source, changed, assigner.runtime.release)
    return source


def _reinfer_inlined(before: Source, new_inlined: Inlined, release: str) -> Source:
    """Return an expanded model with the sizes that a release knows.

    It reuses known sizes of the original model.
    """
    if before.types:
        source = complete_model(before, new_inlined.model, new_inlined.types(before.types), release)
        if source is not None:
            return source
    return as_inferred(onnx_units(new_inlined.model, before.settings).source, release)
