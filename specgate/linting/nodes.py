"""The linter's view of a model: units of node, descriptor, location.

The representation is the same for all file formats.
"""

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
