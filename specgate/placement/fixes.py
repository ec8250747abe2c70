"""What would move nodes to the first provider: another opset at which the same nodes stand, and where it has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from specgate.placement.graph import body_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.lint.graph import Source
    from specgate.placement.graph import Node
    from specgate.placement.place import Assigned, Assigner

__all__ = ["fixes"]

#: Opsets that are tried.
_MOST_TRIED: Final = 6


def fixes(source: Source, assigner: Assigner, found: Sequence[Assigned]) -> list[str]:
    """Return lines that say which opset to export at, where that moves nodes to the first provider.

    An opset counts where each node of ai.onnx would be taken there as it is written. Of those that move the most nodes
    it is the newest one.
    """
    first = assigner.runtime.providers[0]
    now = sum(one.provider == first for one in found)
    imported = source.model.opset_imports.get("")
    newer = [one.node for one in found if one.reason == "newer" and not one.node.proto.domain]
    if imported is None or not newer or first == "CPU":
        return []
    best: tuple[int, int, int] | None = None
    for opset in _worth_trying(newer, assigner, imported):
        if not _stand(found, opset):
            continue
        placed = assigner.assign(body_of(source, assigner.runtime.release, {**source.model.opset_imports, "": opset}))
        count = sum(one.provider == first for one in placed)
        if count > now and (best is None or (count, opset) > best[:2]):
            best = (count, opset, len(placed))
    return [] if best is None else [f"export at opset {best[1]}: then {best[0]} of {best[2]}"]


def _worth_trying(newer: Iterable[Node], assigner: Assigner, imported: int) -> list[int]:
    """Return the last opsets before one of the operators became newer than what is registered, newest first."""
    registry = assigner.lookups[assigner.runtime.providers[0]].registry
    tried = {imported - 1}
    for node in newer:
        rows = () if registry is None else registry.of(node.proto.domain, node.proto.op_type)
        newest = max((row.until or row.version for row in rows), default=0)
        tried.update(since - 1 for since in _versions(node) if newest < since <= imported)
    return sorted(tried, reverse=True)[:_MOST_TRIED]


def _versions(node: Node) -> list[int]:
    from specgate.spec.tables import dialect

    return [int(row) for row in dialect("onnx").operator(node.operator).rows]


def _stand(found: Sequence[Assigned], opset: int) -> bool:
    """Whether a model of `opset` could have each node of ai.onnx as it is written."""
    seen: set[int] = set()
    for one in found:
        descriptor = one.node.descriptor
        if descriptor is None or one.node.proto.domain or id(descriptor) in seen:
            continue
        seen.add(id(descriptor))
        if _alike(descriptor, opset):
            continue
        there = replace(descriptor, version=None)
        if _refused(there, str(opset)) and not _refused(descriptor, str(descriptor.version)):
            return False
    return True


def _refused(descriptor: Descriptor, level: str) -> bool:
    from specgate.validate.witness import refusing

    return any(True for _ in refusing(descriptor, level, "both", (None,)))


def _alike(descriptor: Descriptor, opset: int) -> bool:
    """Whether its operator takes and refuses the same at the opset that it was written for and at another."""
    from specgate.spec.tables import dialect

    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    one, two = (list(spec.sides_at(level).values()) for level in (str(descriptor.version), str(opset)))
    return [said.content for said in one] == [said.content for said in two]
