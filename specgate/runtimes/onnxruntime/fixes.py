"""Fixes for placements: another opset, and casts to registered types."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.lint.units import bodies
from specgate.errors import Error
from specgate.runtimes.onnxruntime.graph import body_of
from specgate.runtimes.onnxruntime.registrations import registrations
from specgate.slotted import replace
from specgate.spec.tables import dialect, until_change
from specgate.validate.fixes import cast_fix
from specgate.validate.message import later_fix
from specgate.validate.verdict_cache import Memo, key_of
from specgate.validate.witness import rejecting_implementations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxModel
    from specgate.dialects.onnx.lint.graph import Source
    from specgate.runtimes.onnxruntime.graph import Node
    from specgate.runtimes.onnxruntime.node_assignment import AssignedNode, Assigner
    from specgate.runtimes.onnxruntime.registrations import Registry
    from specgate.runtimes.release import Runtime
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Finding


def registered_fix(finding: Finding, descriptor: Descriptor, runtime: Runtime) -> Finding:
    """Return a type finding whose cast fix names a registered type only."""
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    name, _, aspect = finding.id.rpartition("/")[2].rpartition(".")
    level = str(descriptor.version)
    resolved = spec.resolve(level) if level in spec.levels else None
    if aspect != "type" or not finding.values or resolved is None or name not in resolved.fields:
        return finding
    allowed = next((row.cells[name].types for row in resolved.alternatives if name in row.cells), None)
    if allowed is None or resolved.fields[name].kind != "input":
        return finding
    cell = next(row.cells[name] for row in resolved.alternatives if name in row.cells)
    kernels = list(_rows(spec, level, runtime))
    names = {kind for types in kernels for kind in _types(types, name, cell.variable, allowed)}
    possible = [kind for kind in allowed if kind in names]
    if not kernels or len(possible) == len(allowed):
        return finding
    cast = cast_fix(finding.where, str(next(iter(finding.values.values()))), possible, spec) if possible else None
    later_text = later_fix(level, finding.levels, spec.dialect)
    return replace(finding, fix=" or ".join(part for part in (cast, later_text) if part) or None)


def _rows(spec: OperatorSpec, level: str, runtime: Runtime) -> Iterable[Mapping[str, frozenset[str]]]:
    """Yield the types that each provider kernel supports.

    The keys are type variables or fields.
    """
    since = int(spec.last_row(level) or level)
    domain, _, op_type = spec.name.rpartition(".")
    for provider in runtime.registered:
        try:
            registry = registrations(provider, runtime.release)
        except Error:
            continue
        yield from (row.types for row in registry.of(domain, op_type) if row.holds(since))


def _types(
    types: Mapping[str, frozenset[str]], name: str, variable: str | None, allowed: Iterable[str]
) -> Iterable[str]:
    """Return the types that a kernel supports for a field.

    All types are supported if the kernel does not constrain the field.
    """
    return types.get(variable or name) or types.get(name) or allowed


_REJECTION_CACHE: Final[Memo[bool]] = Memo()
#: Maximum number of opsets that are tried.
_MAX_OPSETS: Final = 6


def fixes(
    source: Source,
    assigner: Assigner,
    assigned_bodies: Sequence[AssignedNode],
    removed_nodes: frozenset[str] = frozenset(),
) -> list[str]:
    """Return lines that name an opset to export at, if it moves nodes.

    An opset qualifies if each ai.onnx node is valid there as it is. Of the opsets that move the most nodes to the first
    provider, the newest is named. removed_nodes: paths of nodes that default optimizations remove, which do not count.
    """
    assigned_bodies = (
        [item for item in assigned_bodies if item.node.path not in removed_nodes] if removed_nodes else assigned_bodies
    )
    first = assigner.runtime.providers[0]
    current = sum(assigned_node.provider == first for assigned_node in assigned_bodies)
    imported = source.model.opset_imports.get("")
    newer = {
        assigned_node.node.operator: assigned_node.node
        for assigned_node in assigned_bodies
        if assigned_node.reason == "newer" and not assigned_node.node.proto.domain
    }
    registry = assigner.lookups[first].registry
    if imported is None or not newer or first == "CPU" or registry is None:
        return []
    operator_counts = _count_operators(source.model)
    support_counts = {
        opset: _count_supported(operator_counts, registry, opset)
        for opset in _candidate_opsets(newer.values(), registry, imported)
    }
    standing = _OpsetValidity(assigned_bodies)
    best_choice: tuple[int, int, int] = current, imported, 0
    for opset, upper_bound in sorted(support_counts.items(), key=lambda item: (item[1], item[0]), reverse=True):
        if upper_bound < best_choice[0] or (upper_bound, opset) < best_choice[:2] or upper_bound <= current:
            break
        if not standing.is_valid_at(opset):
            continue
        body = body_of(source, assigner.runtime.release, {**source.model.opset_imports, "": opset})
        placed_nodes = [item for item in assigner.assign(body) if item.node.path not in removed_nodes]
        count = sum(assigned_node.provider == first for assigned_node in placed_nodes)
        if count > current and (count, opset) > best_choice[:2]:
            best_choice = (count, opset, len(placed_nodes))
    removed_text = f" (without {len(removed_nodes)} that default graph optimizations remove)" if removed_nodes else ""
    gain = f"which places {best_choice[0]} of {best_choice[2]} nodes on {first}{removed_text}"
    return [f"export at opset {best_choice[1]}, {gain}"] if best_choice[0] > current else []


def _candidate_opsets(newer: Iterable[Node], registry: Registry, imported: int) -> list[int]:
    """Return opsets before an operator version that is not registered.

    The newest comes first.
    """
    opsets = {imported - 1}
    for node in newer:
        newest = _newest(registry, node.proto.op_type)
        opsets.update(since - 1 for since in _versions(node.operator) if newest < since <= imported)
    return sorted(opsets, reverse=True)[:_MAX_OPSETS]


def _count_operators(model: OnnxModel) -> Counter[tuple[str, str]]:
    """Return the number of nodes per domain and operator in a model."""
    graphs = (body for body in bodies(model) if body.function is None)
    return Counter((node.domain, node.op_type) for body in graphs for node in body.nodes)


def _count_supported(operator_counts: Counter[tuple[str, str]], registry: Registry, opset: int) -> int:
    """Return an upper bound of the nodes that the provider supports.

    A node counts if its version is not newer than the provider's registrations.
    """
    count = operator_counts.total()
    for (domain, name), times in operator_counts.items():
        if not domain and name in dialect("onnx").operators:
            since = _version_at(name, opset)
            count -= times if since > _newest(registry, name) else 0
    return count


def _newest(registry: Registry, name: str) -> int:
    return max((row.until or row.version for row in registry.of("", name)), default=0)


@until_change
def _versions(operator: str) -> tuple[int, ...]:
    return tuple(int(row) for row in dialect("onnx").operator(operator).rows)


@until_change
def _version_at(operator: str, opset: int) -> int:
    """Return an ONNX operator's version at an opset, or 0 if undefined."""
    return max((version for version in _versions(operator) if version <= opset), default=0)


class _OpsetValidity:
    """Decides whether the nodes of ai.onnx are valid at another opset."""

    def __init__(self, bodies: Sequence[AssignedNode]) -> None:
        descriptors = (assigned_node.node.descriptor for assigned_node in bodies if not assigned_node.node.proto.domain)
        self._descriptors = list(
            {
                id(assigned_descriptor): assigned_descriptor
                for assigned_descriptor in descriptors
                if assigned_descriptor is not None
            }.values()
        )
        self._refused: dict[int, bool] = {}

    def is_valid_at(self, opset: int) -> bool:
        """Return whether all nodes are valid at an opset.

        Nodes that are rejected anyway do not count.
        """
        return all(
            _has_same_rules(node.operator, str(node.version), str(opset))
            or not _is_rejected(replace(node, version=None), str(opset))
            or self._is_rejected_now(node)
            for node in self._descriptors
        )

    def _is_rejected_now(self, descriptor: Descriptor) -> bool:
        cached = self._refused.get(id(descriptor))
        if cached is None:
            cached = self._refused[id(descriptor)] = _is_rejected(descriptor, str(descriptor.version))
        return cached


def _is_rejected(descriptor: Descriptor, level: str) -> bool:
    return _REJECTION_CACHE.of(
        lambda: (level, key_of(descriptor)),
        lambda: any(True for _ in rejecting_implementations(descriptor, level, "both", (None,))),
    )


@until_change
def _has_same_rules(operator: str, version: str, opset: str) -> bool:
    """Return whether an ONNX operator has the same rules at two opsets."""
    spec = dialect("onnx").operator(operator)
    first, second = (list(spec.sides_at(level).values()) for level in (version, opset))
    return [resolved.content for resolved in first] == [resolved.content for resolved in second]
