"""Context of nodes with findings: tensors, producers and consumers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.spec.tables import dialect
from specgate.verdict import NodeContext, Port

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from specgate.linting.nodes import Unit, Units
    from specgate.spec.fields import FieldInfo
    from specgate.verdict import Report

__all__ = ["context_of"]

_NEIGHBOURS: Final = 8  # a constant may have thousands of consumers
_PORTS: Final = 64


def context_of(units: Units | Sequence[Unit], report: Report) -> dict[tuple[str | None, str], NodeContext]:
    """Return the context of each node in a finding or undecided.

    The key is (file, node path).
    """
    places = [finding.location for finding in (*report.findings, *report.ignored)]
    places += [node.location for node in report.undecided]
    names = {place.node for place in places if place is not None and place.node is not None}
    listed = list(units) if names else []
    shown = [unit for unit in listed if unit.location.node in names]
    if not shown:
        return {}
    neighbours = _Neighbours(listed, shown)
    return {(unit.location.file, unit.location.node or ""): neighbours.context(unit) for unit in shown}


class _Neighbours:
    """Producers and consumers of the values of the nodes in `shown`."""

    def __init__(self, units: Iterable[Unit], shown: Sequence[Unit]) -> None:
        self.writers: dict[str, list[Unit]] = {name: [] for unit in shown for name in unit.reads if name}
        self.readers: dict[str, list[Unit]] = {name: [] for unit in shown for name in unit.writes if name}
        for unit in units:
            for name in unit.writes:
                if name in self.writers:
                    self.writers[name].append(unit)
            for name in dict.fromkeys(unit.reads):
                if name in self.readers:
                    self.readers[name].append(unit)

    def context(self, unit: Unit) -> NodeContext:
        reads = _reads(unit)
        writes: list[tuple[str, TensorDesc | None]] = [("", None) for _ in unit.writes]
        if unit.descriptor is not None:
            spec = dialect(unit.descriptor.dialect).operator(unit.descriptor.operator)
            stated = _tensors(spec.outputs, unit.descriptor.fields)
            writes = [
                (
                    field,
                    tensor if tensor not in (None, UNSTATED) or at >= len(unit.writes) else self.read(unit.writes[at]),
                )
                for at, (field, tensor) in enumerate(stated)
            ]
        return NodeContext(_ports(reads, unit.reads, self.writers), _ports(writes, unit.writes, self.readers))

    def read(self, name: str) -> TensorDesc | None:
        """Return the tensor of a value according to its consumers.

        For graph outputs, only the file's own declaration is known.
        """
        for unit in self.readers.get(name, ())[:_NEIGHBOURS]:
            for at, (_, tensor) in enumerate(_reads(unit)):
                if tensor is not None and at < len(unit.reads) and unit.reads[at] == name:
                    return tensor
        return None


def _reads(unit: Unit) -> list[tuple[str, TensorDesc | None]]:
    if unit.descriptor is None:
        return [("", None) for _ in unit.reads]
    spec = dialect(unit.descriptor.dialect).operator(unit.descriptor.operator)
    return list(_tensors(spec.inputs, unit.descriptor.fields))


def _tensors(infos: Sequence[FieldInfo], fields: Any) -> Iterator[tuple[str, TensorDesc | None]]:
    """Yield (field, tensor) by position; array elements as ``FIELD[1]``."""
    for info in infos:
        value = fields.get(info.name)
        if isinstance(value, list | tuple) and not isinstance(value, TensorDesc):
            yield from ((f"{info.name}[{at}]", tensor) for at, tensor in enumerate(value))
        else:
            yield info.name, value


def _ports(
    tensors: Sequence[tuple[str, TensorDesc | None]], names: Sequence[str], peers: dict[str, list[Unit]]
) -> tuple[Port, ...]:
    ports = []
    for at, (where, tensor) in enumerate(tensors[:_PORTS]):
        name = names[at] if at < len(names) else ""
        if tensor is None and not name:
            continue
        others = peers.get(name, [])
        nodes = tuple((unit.location.node or "", unit.operator) for unit in others[:_NEIGHBOURS])
        kind, sizes = (None, None) if tensor is None else (tensor.type, tensor.sizes)
        ports.append(Port(where, name or None, kind, sizes, nodes, max(len(others) - _NEIGHBOURS, 0)))
    return tuple(ports)
