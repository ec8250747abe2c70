"""A model as the linter sees it: judged units (node, descriptor, place), whatever file format they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from specgate.slotted import field, slotted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Finding, Location

    _Ends = tuple[Sequence[str], Sequence[str]]

__all__ = ["Ends", "Graph", "Unit", "Units", "kinds_of", "units_of"]


class Ends(Protocol):
    """What knows the names of the values of a unit, where they are not made before they are asked."""

    def names(self) -> _Ends:
        """Return the names of what it reads and of what it writes."""


@slotted()
class Unit:
    """One node to judge. descriptor is None where the operator has no table (reason says so).

    version: the level that such a node states, where it is one of its dialect's.

    at: its place, or a function that returns it (most are never needed). ends: the names of what it reads and of what
    it writes, or what gives both.
    """

    at: Location | Callable[[], Location]
    operator: str
    descriptor: Descriptor | None = None
    reason: str = ""
    ends: _Ends | Ends = ((), ())
    version: str | None = None

    @property
    def location(self) -> Location:
        """Where it is."""
        if callable(self.at):
            self.at = self.at()
        return self.at

    @property
    def reads(self) -> Sequence[str]:
        """The names of the values that it reads by position, unique in the file, "" where one is left out."""
        return self._names()[0]

    @property
    def writes(self) -> Sequence[str]:
        """The names of the values that it writes, likewise."""
        return self._names()[1]

    def _names(self) -> _Ends:
        if not isinstance(self.ends, tuple):
            self.ends = self.ends.names()
        return self.ends


class Units:
    """Units of nodes, most of them alike: the first of each kind stays, the others are made when they are asked for.

    A subclass says what kinds there are, and makes the units.
    """

    __slots__ = ()

    def kinds(self) -> Iterable[tuple[Unit, int]]:
        """Return the first unit of each kind in order, and how many there are of it."""
        raise NotImplementedError

    def made(self, kinds: Collection[int] | None = None) -> Iterator[Unit]:
        """Yield the units in order, or those of the kinds whose first unit has one of these identities."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Unit]:
        return self.made()

    def __len__(self) -> int:
        return sum(count for _, count in self.kinds())


def kinds_of(units: Units | Sequence[Unit]) -> Iterable[tuple[Unit, int]]:
    """Return one unit of each kind in order, and how many there are; in a list each is its own kind."""
    return units.kinds() if isinstance(units, Units) else ((unit, 1) for unit in units)


def units_of(units: Units | Sequence[Unit], kinds: Collection[int]) -> Iterator[Unit]:
    """Yield, in order, the units of the kinds whose unit (see `kinds_of`) has one of these identities."""
    return units.made(kinds) if isinstance(units, Units) else (unit for unit in units if id(unit) in kinds)


@slotted()
class Graph:
    """All units of one file, subgraphs and functions included.

    dialect: whose words the file uses. imports: ONNX's opset imports of the ai.onnx domain and others.
    ir_version: of the file. findings: what is wrong with the file itself. not_inferred: the package without which types
    that the file leaves out stay unknown, "" where it was not missed. custom: the operators of domains that are not the
    dialect's, each with how many nodes there are of it. source: what the dialect read of the file and found out of it,
    for what looks at more than units. parts: the models that units of the file name, each with that unit's place.
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
        """Every dialect of its units and parts; the file's own where none has a table."""
        units = (unit for unit, _ in kinds_of(self.units))
        names = [unit.descriptor.dialect for unit in units if unit.descriptor]
        names += [name for _, part in self.parts for name in part.dialects()]
        return list(dict.fromkeys(names)) or [self.dialect]
