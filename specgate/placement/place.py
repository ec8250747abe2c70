"""Places the nodes of a model: asks each provider, walks for the CPU, inlines functions, and says what comes of it.

The order is that of onnxruntime core/framework/graph_partitioner.cc (commit 1266adfd2): each provider takes what it can
of every body, calls of functions that none took are replaced by their nodes, and all is asked again; then
core/optimizer/insert_cast_transformer.cc (commit 05f47fa0a) gives what reads FLOAT16 and was not taken to the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.lint.graph import Source, onnx_units
from specgate.errors import InputError
from specgate.placement.decide import Found, Lookup
from specgate.placement.folding import Fusing, folding
from specgate.placement.graph import body_of
from specgate.placement.inferring import as_inferred, completed
from specgate.placement.inlining import inlined
from specgate.placement.partition import copies, partitions
from specgate.placement.placed import Partition, PlacedNode, Placement
from specgate.placement.preferred import MOST_ELEMENTS, preferred
from specgate.placement.registrations import registrations
from specgate.placement.remarks import remark
from specgate.placement.validity import refusal, refused_models

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.linting.nodes import Graph
    from specgate.placement.functions import Functions
    from specgate.placement.graph import Body, Node
    from specgate.placement.inlining import Call, Inlined
    from specgate.placement.registrations import Registration
    from specgate.placement.runtime import Runtime
    from specgate.targets import Target
    from specgate.verdict import Finding

__all__ = ["CPU", "Assigned", "Assigner", "Whole", "assigned", "place_graph"]

CPU: Final = "CPU"
#: Calls of calls: how often what was inlined is asked for calls again.
_MOST_ROUNDS: Final = 100
#: What calls may become all together: functions that call others twice each double it with every level.
_MOST_NODES: Final = 500_000
#: The finding on a type that a file states and its operators contradict, with which the runtime loads no model.
_STATED: Final = "onnx/model/stated-type"
_NOT_ASKED: Final = Found(None)
_PREFERRED: Final = (
    f"computes with small values: its inputs are CPU values, graph inputs or initializers of at most {MOST_ELEMENTS} "
    "elements (GetCpuPreferredNodes)"
)


@dataclass(slots=True)
class Assigned:
    """One node and its provider. row: the registration that it runs by, None where it runs by none.

    found: what the first provider said of it. has_kernel: its provider has a kernel for it.
    """

    node: Node
    body: Body
    provider: str | None
    row: Registration | None
    found: Found
    reason: str = ""
    why: str = ""
    casts: bool = False
    has_kernel: bool = True


@dataclass(slots=True)
class Assigner:
    """Assigns the nodes of models to the providers of one release, on one device."""

    runtime: Runtime
    device: frozenset[str] | None = None
    lookups: dict[str, Lookup] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from specgate.placement.device import lacking

        for provider in self.runtime.providers:
            lacked = {} if provider == CPU else lacking(self.runtime, self.device)
            known = provider in self.runtime.registered
            registry = registrations(provider, self.runtime.release) if known else None
            self.lookups[provider] = Lookup(registry, provider, lacked, self.device)

    def assign(self, main: Body) -> list[Assigned]:
        """Return every node with its provider, bodies inside of nodes behind them."""
        made: list[Assigned] = []
        self._body(main, made)
        return made

    def _body(self, body: Body, made: list[Assigned]) -> None:
        first = self.runtime.providers[0]
        lookup = self.lookups[first]
        found = [_NOT_ASKED if first == CPU else lookup.of(node) for node in body.nodes]
        kernels = {
            node: one.registration for node, one in zip(body.nodes, found, strict=True) if one.registration is not None
        }
        chosen = preferred(body, kernels) if kernels else set()
        for node, one in zip(body.nodes, found, strict=True):
            if first == CPU or one.reason:
                made.append(self._on_cpu(node, body, one, one.reason, one.says))
            elif node in chosen:
                made.append(self._on_cpu(node, body, one, "preferred", _PREFERRED))
            else:
                made.append(Assigned(node, body, first, one.registration, one))
            for inside in node.bodies:
                self._body(inside, made)

    def _on_cpu(self, node: Node, body: Body, first: Found, reason: str, why: str) -> Assigned:
        """Return a node on the CPU, or with no provider where the CPU has no kernel for it."""
        found = self.lookups[CPU].of(node)
        open_ = first if first.open else found
        if found.taken:
            return Assigned(node, body, CPU, found.registration, open_, reason, why)
        says = "; ".join(text for text in (why, found.says) if text)
        return Assigned(node, body, None, None, open_, reason or found.reason, says, has_kernel=False)

    def cast(self, one: Assigned) -> Assigned:
        """Return a node that no provider took as it runs with Casts around it: on the CPU, with FLOAT for FLOAT16.

        The runtime does not ask whether the CPU has a kernel for FLOAT: without one the node is there all the same.
        """
        inputs, outputs = one.node.kinds
        if "FLOAT16" not in inputs:
            return one
        wide = tuple("FLOAT" if kind == "FLOAT16" else kind for kind in inputs)
        found = self.lookups[CPU].kernel(one.node, wide, tuple("FLOAT" if k == "FLOAT16" else k for k in outputs))
        if found.reason:
            why = f"{one.why}; it reads FLOAT16, so it is on the CPU, where Casts to FLOAT do not help it"
            return replace(one, provider=CPU, why=why)
        why = f"{one.why}; it runs as FLOAT between Casts that the runtime inserts"
        return replace(one, provider=CPU, row=found.registration, why=why, casts=True, has_kernel=True)


@dataclass(slots=True)
class Whole:
    """Every node of a model with its provider, calls of functions that none took replaced by what they are made of.

    origin: by node of such a call (its id) the call's path and operator. called: the calls. main: the main body.
    source: the model with its calls, as the runtime infers its types.
    """

    nodes: list[Assigned]
    main: Body
    origin: dict[int, tuple[str, str]]
    called: list[Node]
    source: Source


def assigned(source: Source, assigner: Assigner, functions: Functions, findings: list[Finding] | None = None) -> Whole:
    """Assign the nodes of a model, and those of the functions that it calls.

    findings: what is wrong with nodes is added to them, if it was not looked for.
    """
    origin: dict[int, tuple[str, str]] = {}
    called: list[Node] = []
    first = source = as_inferred(source, assigner.runtime.release, findings)
    for turn in range(_MOST_ROUNDS + 1):
        main = body_of(source, assigner.runtime.release)
        found = assigner.assign(main)
        calls: dict[int, Call] = {}
        for one in found:
            function = functions.of(one.node, source.model) if one.provider is None else None
            if function is not None:
                place = one.body.place
                calls[id(one.node.proto)] = place, one.node.path[len(place) + 1 :], function
                called.append(one.node)
        if not calls:
            break
        if turn == _MOST_ROUNDS:
            raise InputError(f"functions call each other more than {_MOST_ROUNDS} deep", file=source.model.file)
        if len(found) + sum(functions.size(function) for _, _, function in calls.values()) > _MOST_NODES:
            raise InputError(f"its functions are made of more than {_MOST_NODES:,} nodes", file=source.model.file)
        made = inlined(source.model, calls)
        origin |= made.origin
        source = _inlined(source, made, assigner.runtime.release)
    cast = [assigner.cast(one) if one.provider is None else one for one in found]
    return Whole(cast, main, origin, called, first)


def _inlined(before: Source, made: Inlined, release: str) -> Source:
    """Return a model in which calls were replaced, with the sizes that a release knows; most are known from before."""
    if before.types:
        source = completed(before, made.model, made.types(before.types), release)
        if source is not None:
            return source
    return as_inferred(onnx_units(made.model, before.settings).source, release)


def place_graph(graph: Graph, target: Target, device: frozenset[str] | None, file: str | None) -> Placement:
    """Return the placement of a model that was read, on a target that has a runtime."""
    runtime = target.runtime
    assert runtime is not None  # asked by all who call  # noqa: S101
    from specgate.placement.creating import Creator
    from specgate.placement.fixes import fixes
    from specgate.placement.functions import Functions

    assigner = Assigner(runtime, device)
    functions = Functions(graph.source.model, runtime.opsets, runtime.release)
    whole = assigned(graph.source, assigner, functions, graph.findings)
    placement = Placement(str(target), runtime.providers, file, device)
    placement.refusals.extend(_refusals(graph, runtime, whole.main))
    placement.refusals.extend(_unloadable(graph, runtime.release))
    stated = {str(at.node): found for found in graph.findings if found.id == _STATED and (at := found.location)}
    creator = Creator(runtime, device, stated)
    made: dict[Node, PlacedNode] = {}
    fusing = Fusing(runtime.providers[0])
    for one in whole.nodes:
        node, call = one.node, whole.origin.get(id(one.node.proto)) if whole.origin else None
        alike = node.alike
        made[node] = placed = PlacedNode(
            node.path,
            alike.operator,
            None if alike.schema is None else alike.schema.since,
            one.provider,
            one.reason,
            one.why,
            one.casts,
            has_kernel=one.has_kernel,
            function=None if call is None else call[0],
            open=one.found.open,
        )
        creator.create(one, placed)
        placed.fuses = fusing.of(one, placed.creation)
        placement.nodes.append(placed)
    for node in whole.called:
        refused = refusal(node.descriptor, runtime.release, on_cpu=False) or stated.get(node.path)
        if refused is not None:
            placement.refusals.append(f"{node.path} ({node.operator}): {refused.message}")
    for node in folding(whole.main, assigner.lookups[CPU]):
        if node in made:
            made[node].folds = True
    _divide(placement, whole.nodes, made)
    remark(placement, graph, functions, whole.main)
    placement.fixes.extend(fixes(whole.source, assigner, whole.nodes))
    return placement


def _divide(placement: Placement, found: Sequence[Assigned], made: Mapping[Node, PlacedNode]) -> None:
    """Add the partitions of the first provider, and what is copied between it and the CPU."""
    first = placement.providers[0]
    if first == CPU:
        return
    by_body: dict[Body, dict[Node, str | None]] = {}
    mine: dict[Node, Registration] = {}
    for one in found:
        by_body.setdefault(one.body, {})[one.node] = one.provider
        if one.provider == first and one.row is not None:
            mine[one.node] = one.row
    for body, providers in by_body.items():
        for nodes in partitions(body, lambda node, held=providers: held.get(node) == first):  # type: ignore[misc]
            number = len(placement.partitions) + 1
            for node in nodes:
                made[node].partition = number
            placement.partitions.append(Partition(number, first, body.place, tuple([node.path for node in nodes])))
        placement.copies.extend(copies(body, first, mine))


def _refusals(graph: Graph, runtime: Runtime, main: Body) -> list[str]:
    """Why the release refuses the file whatever its nodes run on: its versions, and what is wrong with the graph."""
    found = []
    for domain, version in graph.imports.items():
        newest = runtime.opsets.get(domain)
        if newest is not None and version > newest:
            name = domain or "ai.onnx"
            found.append(f"the model imports version {version} of {name}; the release loads those up to {newest}")
    if graph.ir_version is not None and runtime.ir_version is not None and graph.ir_version > runtime.ir_version:
        found.append(f"the model has IR version {graph.ir_version}; the release reads those up to {runtime.ir_version}")
    found += refused_models(graph, main, runtime.release)
    return found


def _unloadable(graph: Graph, release: str) -> list[str]:
    """Which constants have no value, or a type that the runtime has no values of."""
    from specgate.placement.loading import unloadable

    types, scope = unloadable(release), graph.source.scopes.get(id(graph.source.model.graph), {})
    made = [node for node in graph.source.model.graph.nodes if node.op_type == "Constant" and node.outputs]
    held = ((node.outputs[0], scope.get(node.outputs[0])) for node in made)
    found = [
        f"the constant {name} is {one.type}, and the runtime has no values of that type"
        for name, one in held
        if one is not None and one.type in types
    ]
    return found + [f"the constant {node.outputs[0]} has no value" for node in made if not node.attributes]
