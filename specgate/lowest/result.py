"""The lowest opsets of a model as data: what each domain needs, what refuses it below, and what is another version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specgate.lowest.text import model_minimum_json

if TYPE_CHECKING:
    from specgate.verdict import Finding, Location

__all__ = ["Blocked", "DomainMinimum", "ModelMinimum", "Moved", "Release", "ReleaseMinimum"]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A node whose descriptor a version does not take, and why."""

    location: Location
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """A node whose operator is another version at the lowest opset than in the model.

    behaviour: what the tables say that it computes otherwise there; other differences are in the versions' texts.
    """

    location: Location
    written: str
    there: str
    behaviour: tuple[str, ...] = ()


@dataclass(slots=True)
class DomainMinimum:
    """The answer for one domain.

    imported: as the model says. version: the lowest one that refuses no node's descriptor, None if each refuses some.
    taken: all such versions. blocked: for each other version the nodes that it refuses. undecided: for each version how
    many nodes an unknown size or type leaves open. moved: what is not the same operator at `version`. spoken: how
    messages call each version (``opset 17``).
    """

    domain: str
    imported: int | None
    nodes: int = 0
    version: str | None = None
    taken: list[str] = field(default_factory=list)
    blocked: dict[str, list[Blocked]] = field(default_factory=dict)
    undecided: dict[str, int] = field(default_factory=dict)
    moved: list[Moved] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def nearest(self) -> str:
        """The version that refuses the fewest nodes; of several the imported one, else the newest."""
        return min(self.blocked, key=lambda v: (len(self.blocked[v]), v != str(self.imported), -int(v)))

    @property
    def keepers(self) -> list[Blocked]:
        """The nodes that the next lower version refuses: they keep the model at `version`."""
        if self.version is None:
            return []
        below = [version for version in self.blocked if int(version) < int(self.version)]
        return self.blocked[max(below, key=int)] if below else []


@dataclass(frozen=True, slots=True)
class Release:
    """A release: the newest opset that it has, and the newest version of the file format that it reads.

    refuses: whether a node is refused at this opset. reads: whether it reads the file's version of the format. newer:
    the types in the model that it does not know yet. alone: whether it refuses a node that its opset takes.
    """

    name: str
    title: str
    opset: str
    ir_version: int | None
    refuses: bool = False
    reads: bool = True
    newer: tuple[str, ...] = ()
    alone: bool = False

    @property
    def takes(self) -> bool:
        """Whether it takes the model whole."""
        return self.reads and not (self.refuses or self.newer or self.alone)


@dataclass(frozen=True, slots=True)
class ReleaseMinimum:
    """The first release that takes a model whole, None where none does, and all that come before it.

    ir_version: of the file.
    """

    first: Release | None
    before: tuple[Release, ...]
    ir_version: int | None


@dataclass(slots=True)
class ModelMinimum:
    """The answer of `model_minimum`. no_table: operators that nothing is known of, with their numbers of nodes.

    main: the domain whose version is the level of the model. release: where it is asked which releases take the model.
    """

    domains: list[DomainMinimum]
    no_table: dict[str, int]
    findings: list[Finding]
    main: str
    release: ReleaseMinimum | None = None

    def __bool__(self) -> bool:
        return all(minimum.version is not None for minimum in self.domains)

    def __str__(self) -> str:
        return self.level or "none"

    @property
    def level(self) -> str | None:
        """The lowest version of the main domain, None where there is none or no node of it was judged."""
        main = [minimum.version for minimum in self.domains if minimum.domain == self.main]
        return main[0] if main else None

    def to_dict(self, name: str = "") -> dict[str, Any]:
        """Return it as ``specgate minimum --format json`` prints it. name: the file, as it is to be called."""
        return model_minimum_json(self, name)
