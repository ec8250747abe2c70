"""What would move nodes to the first provider: another opset at which the same nodes stand, and where it has them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.lint.units import bodies
from specgate.runtimes.onnxruntime.graph import body_of
from specgate.spec.tables import dialect, on_change
from specgate.validate.memo import Memo, key_of
from specgate.validate.witness import refusing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxModel
    from specgate.dialects.onnx.lint.graph import Source
    from specgate.runtimes.onnxruntime.graph import Node
    from specgate.runtimes.onnxruntime.node_assignment import Assigned, Assigner
    from specgate.runtimes.onnxruntime.registrations import Registry

__all__ = ["fixes"]

_REFUSED: Final[Memo[bool]] = Memo()
#: Opsets that are tried.
_MOST_TRIED: Final = 6


def fixes(
    source: Source, assigner: Assigner, assigned_bodies: Sequence[Assigned], gone: frozenset[str] = frozenset()
) -> list[str]:
    """Return lines that say which opset to export at, where that moves nodes to the first provider.

    An opset counts where each node of ai.onnx would be taken there as it is written. Of those that move the most nodes
    it is the newest one. gone: the paths of nodes that default optimisations take away, which do not count.
    """
    assigned_bodies = [one for one in assigned_bodies if one.node.path not in gone] if gone else assigned_bodies
    first = assigner.runtime.providers[0]
    now = sum(one.provider == first for one in assigned_bodies)
    imported = source.model.opset_imports.get("")
    newer = {
        one.node.operator: one.node for one in assigned_bodies if one.reason == "newer" and not one.node.proto.domain
    }
    registry = assigner.lookups[first].registry
    if imported is None or not newer or first == "CPU" or registry is None:
        return []
    used = _used(source.model)
    most = {opset: _most(used, registry, opset) for opset in _worth_trying(newer.values(), registry, imported)}
    standing = _Standing(assigned_bodies)
    best: tuple[int, int, int] = now, imported, 0
    for opset, upto in sorted(most.items(), key=lambda item: (item[1], item[0]), reverse=True):
        if upto < best[0] or (upto, opset) < best[:2] or upto <= now:
            break
        if not standing.at(opset):
            continue
        body = body_of(source, assigner.runtime.release, {**source.model.opset_imports, "": opset})
        placed = [one for one in assigner.assign(body) if one.node.path not in gone]
        count = sum(one.provider == first for one in placed)
        if count > now and (count, opset) > best[:2]:
            best = (count, opset, len(placed))
    without = f" (without {len(gone)} that default optimisations take away)" if gone else ""
    return [f"export at opset {best[1]}: then {best[0]} of {best[2]}{without}"] if best[0] > now else []


def _worth_trying(newer: Iterable[Node], registry: Registry, imported: int) -> list[int]:
    """Return the last opsets before one of the operators became newer than what is registered, newest first."""
    tried = {imported - 1}
    for node in newer:
        newest = _newest(registry, node.proto.op_type)
        tried.update(since - 1 for since in _versions(node.operator) if newest < since <= imported)
    return sorted(tried, reverse=True)[:_MOST_TRIED]


def _used(model: OnnxModel) -> Counter[tuple[str, str]]:
    """Return how often the graphs of a model have each operator, by domain and name."""
    graphs = (body for body in bodies(model) if body.function is None)
    return Counter((node.domain, node.op_type) for body in graphs for node in body.nodes)


def _most(used: Counter[tuple[str, str]], registry: Registry, opset: int) -> int:
    """Return how many nodes the provider takes at the most: those whose versions are not newer than what it has."""
    count = used.total()
    for (domain, name), times in used.items():
        if not domain and name in dialect("onnx").operators:
            since = _since(name, opset)
            count -= times if since > _newest(registry, name) else 0
    return count


def _newest(registry: Registry, name: str) -> int:
    return max((row.until or row.version for row in registry.of("", name)), default=0)


@lru_cache(maxsize=1024)
def _versions(operator: str) -> tuple[int, ...]:
    return tuple(int(row) for row in dialect("onnx").operator(operator).rows)


@lru_cache(maxsize=4096)
def _since(operator: str, opset: int) -> int:
    """Return the version of an operator of ONNX at an opset, 0 where it has none."""
    return max((version for version in _versions(operator) if version <= opset), default=0)


class _Standing:
    """Says whether a model of another opset could have each node of ai.onnx as it is written."""

    def __init__(self, found: Sequence[Assigned]) -> None:
        descriptors = (one.node.descriptor for one in found if not one.node.proto.domain)
        self._known = list({id(one): one for one in descriptors if one is not None}.values())
        self._refused: dict[int, bool] = {}

    def at(self, opset: int) -> bool:
        """Whether all nodes stand at an opset; those that are refused anyway do not count."""
        return all(
            _alike(one.operator, str(one.version), str(opset))
            or not _refused(replace(one, version=None), str(opset))
            or self._refused_now(one)
            for one in self._known
        )

    def _refused_now(self, descriptor: Descriptor) -> bool:
        known = self._refused.get(id(descriptor))
        if known is None:
            known = self._refused[id(descriptor)] = _refused(descriptor, str(descriptor.version))
        return known


def _refused(descriptor: Descriptor, level: str) -> bool:
    return _REFUSED.of(
        lambda: (level, key_of(descriptor)), lambda: any(True for _ in refusing(descriptor, level, "both", (None,)))
    )


@lru_cache(maxsize=4096)
def _alike(operator: str, version: str, opset: str) -> bool:
    """Whether an operator of ONNX takes and refuses the same at the opset it was written for and at another."""
    spec = dialect("onnx").operator(operator)
    one, two = (list(spec.sides_at(level).values()) for level in (version, opset))
    return [resolved.content for resolved in one] == [resolved.content for resolved in two]


@on_change
def _forget() -> None:
    """Drop what was read from tables that are gone."""
    _versions.cache_clear()
    _since.cache_clear()
    _alike.cache_clear()
