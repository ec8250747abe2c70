"""The linter's view of a model: units of node, and their context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.slotted import field, slotted
from specgate.spec.tables import dialect
from specgate.verdict import NodeContext, Port

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.spec.fields import FieldInfo
    from specgate.verdict import Finding, Location, Report

    _Ends = tuple[Sequence[str], Sequence[str]]

_NEIGHBOURS: Final = 8  # a constant may have thousands of consumers
_PORTS: Final = 64


def context_of(units: Units | Sequence[Unit], report: Report) -> dict[tuple[str | None, str], NodeContext]:
    """Return the context of each node in a finding or undecided.

    The key is (file, node path).
    """
    places = [finding.location for finding in (*report.findings, *report.ignored)]
    places += [node.location for node in report.undecided]
    names = {place.node for place in places if place is not None and place.node is not None}
    unit_list = list(units) if names else []
    named_units = [unit for unit in unit_list if unit.location.node in names]
    if not named_units:
        return {}
    neighbours = _Neighbours(unit_list, named_units)
    return {(unit.location.file, unit.location.node or ""): neighbours.context(unit) for unit in named_units}


class _Neighbours:
    """Producers and consumers of the values of the nodes in `shown`."""

    def __init__(self, units: Iterable[Unit], shown_units: Sequence[Unit]) -> None:
        self.writers: dict[str, list[Unit]] = {name: [] for unit in shown_units for name in unit.reads if name}
        self.readers: dict[str, list[Unit]] = {name: [] for unit in shown_units for name in unit.writes if name}
        for unit in units:
            for name in unit.writes:
                if name in self.writers:
                    self.writers[name].append(unit)
            for name in dict.fromkeys(unit.reads):
                if name in self.readers:
                    self.readers[name].append(unit)

    def context(self, unit: Unit) -> NodeContext:
        input_names = _input_tensors(unit)
        writes: list[tuple[str, TensorDesc | None]] = [("", None) for _ in unit.writes]
        if unit.descriptor is not None:
            spec = dialect(unit.descriptor.dialect).operator(unit.descriptor.operator)
            output_tensors = _tensors(spec.outputs, unit.descriptor.fields)
            writes = [
                (
                    field,
                    tensor if tensor not in (None, UNSTATED) or i >= len(unit.writes) else self.read(unit.writes[i]),
                )
                for i, (field, tensor) in enumerate(output_tensors)
            ]
        return NodeContext(_ports(input_names, unit.reads, self.writers), _ports(writes, unit.writes, self.readers))

    def read(self, name: str) -> TensorDesc | None:
        """Return the tensor of a value according to its consumers.

        For graph outputs, only the file's own declaration is known.
        """
        for unit in self.readers.get(name, ())[:_NEIGHBOURS]:
            for index, (_, tensor) in enumerate(_input_tensors(unit)):
                if tensor is not None and index < len(unit.reads) and unit.reads[index] == name:
                    return tensor
        return None


def _input_tensors(unit: Unit) -> list[tuple[str, TensorDesc | None]]:
    if unit.descriptor is None:
        return [("", None) for _ in unit.reads]
    spec = dialect(unit.descriptor.dialect).operator(unit.descriptor.operator)
    return list(_tensors(spec.inputs, unit.descriptor.fields))


def _tensors(infos: Sequence[FieldInfo], fields: Any) -> Iterator[tuple[str, TensorDesc | None]]:
    """Yield (field, tensor) by position; array elements as ``FIELD[1]``."""
    for info in infos:
        value = fields.get(info.name)
        if isinstance(value, list | tuple) and not isinstance(value, TensorDesc):
            yield from ((f"{info.name}[{index}]", tensor) for index, tensor in enumerate(value))
        else:
            yield info.name, value


def _ports(
    tensors: Sequence[tuple[str, TensorDesc | None]], names: Sequence[str], peers: dict[str, list[Unit]]
) -> tuple[Port, ...]:
    ports = []
    for index, (place, tensor) in enumerate(tensors[:_PORTS]):
        name = names[index] if index < len(names) else ""
        if tensor is None and not name:
            continue
        neighbours = peers.get(name, [])
        nodes = tuple((unit.location.node or "", unit.operator) for unit in neighbours[:_NEIGHBOURS])
        kind, sizes = (None, None) if tensor is None else (tensor.type, tensor.sizes)
        ports.append(Port(place, name or None, kind, sizes, nodes, max(len(neighbours) - _NEIGHBOURS, 0)))
    return tuple(ports)


class Ends(Protocol):
    """Value names of a unit, computed on demand."""

    def names(self) -> _Ends:
        """Return the names of the inputs and of the outputs."""


@slotted()
class Unit:
    """One node to check.

    descriptor: None if the operator has no table; `reason` then says why. version: the level that such a node states,
    if it is a node of its dialect. at: its location, or a function that returns it, because most locations are not
    needed. ends: the names of its inputs and outputs, or an object that computes them.
    """

    at: Location | Callable[[], Location]
    operator: str
    descriptor: Descriptor | None = None
    reason: str = ""
    ends: _Ends | Ends = ((), ())
    version: str | None = None

    @property
    def location(self) -> Location:
        """The location of the node."""
        if callable(self.at):
            self.at = self.at()
        return self.at

    @property
    def reads(self) -> Sequence[str]:
        """The names of its inputs by position, unique in the file.

        "" for an omitted input.
        """
        return self._names()[0]

    @property
    def writes(self) -> Sequence[str]:
        """The names of its outputs by position, unique in the file."""
        return self._names()[1]

    def _names(self) -> _Ends:
        if not isinstance(self.ends, tuple):
            self.ends = self.ends.names()
        return self.ends


class Units:
    """A sequence of units, of which many are equal.

    The first unit of each kind is stored; the others are created on demand. Subclasses define the kinds and create
    units.
    """

    __slots__ = ()

    def kinds(self) -> Iterable[tuple[Unit, int]]:
        """Return the first unit and the count of each kind, in order."""
        raise NotImplementedError

    def units_of(self, kinds: Collection[int] | None = None) -> Iterator[Unit]:
        """Yield the units in order.

        kinds: if given, only units of the kinds whose first unit has one of these id() values.
        """
        raise NotImplementedError

    def __iter__(self) -> Iterator[Unit]:
        return self.units_of()

    def __len__(self) -> int:
        return sum(count for _, count in self.kinds())


def kinds_of(units: Units | Sequence[Unit]) -> Iterable[tuple[Unit, int]]:
    """Return one unit and the count of each kind, in order.

    In a list, each unit is a separate kind.
    """
    return units.kinds() if isinstance(units, Units) else ((unit, 1) for unit in units)


def units_of(units: Units | Sequence[Unit], kinds: Collection[int]) -> Iterator[Unit]:
    """Yield, in order, the units of kinds with one of these id() values.

    The id() is that of the unit from `kinds_of`.
    """
    return units.units_of(kinds) if isinstance(units, Units) else (unit for unit in units if id(unit) in kinds)


@slotted()
class Graph:
    """All units of a file, which include subgraphs and functions.

    dialect: the dialect of the file. imports: the opset imports of ONNX for ai.onnx and other domains. ir_version: of
    the file. findings: problems of the file itself. not_inferred: the missing package that is required to infer types
    which the file omits; "" otherwise. custom: the operators of other domains with their node counts. source: the
    dialect's own data about the file, for code that needs more than units. parts: the models that units reference, each
    with the location of that unit.
    """

    dialect: str
    units: Units | Sequence[Unit] = ()
    imports: dict[str, int] = field(default_factory=dict)
    ir_version: int | None = None
    findings: list[Finding] = field(default_factory=list)
    not_inferred: str = ""
    custom: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    source: Any = None
    parts: list[tuple[Location, Graph]] = field(default_factory=list)

    def dialects(self) -> list[str]:
        """The dialects of all units and parts.

        If no unit has a table, the dialect of the file.
        """
        units = (unit for unit, _ in kinds_of(self.units))
        names = [unit.descriptor.dialect for unit in units if unit.descriptor]
        names += [name for _, part in self.parts for name in part.dialects()]
        return list(dict.fromkeys(names)) or [self.dialect]
