"""The lowest opsets of a model as data: per domain, with their causes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specgate.lowest.text import model_minimum_json

if TYPE_CHECKING:
    from specgate.verdict import Finding, Location

__all__ = ["Blocked", "DomainMinimum", "ModelMinimum", "Moved", "Release", "ReleaseMinimum"]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A node that a version rejects, and why."""

    location: Location
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """A node whose operator has another version at the lowest opset.

    behaviour: differences in results that the tables know; other differences are in the texts of the versions.
    """

    location: Location
    written: str
    there: str
    behaviour: tuple[str, ...] = ()


@dataclass(slots=True)
class DomainMinimum:
    """The answer for one domain.

    imported: the version in the model. version: the lowest one that rejects no node, None if each rejects some. taken:
    all versions that reject no node. blocked: per rejecting version its nodes. undecided: per version the number of
    nodes undecided because of an unknown size or type. moved: nodes whose operator differs at `version`. spoken: the
    name of each version in messages (``opset 17``).
    """

    domain: str
    imported: int | None
    nodes: int = 0
    version: str | None = None
    accepted: list[str] = field(default_factory=list)
    blocked: dict[str, list[Blocked]] = field(default_factory=dict)
    undecided: dict[str, int] = field(default_factory=dict)
    moved: list[Moved] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def nearest(self) -> str:
        """The version that rejects the fewest nodes.

        Of several, the imported one, else the newest.
        """
        return min(self.blocked, key=lambda v: (len(self.blocked[v]), v != str(self.imported), -int(v)))

    @property
    def keepers(self) -> list[Blocked]:
        """Nodes rejected by the next lower version, which require `version`."""
        if self.version is None:
            return []
        below = [version for version in self.blocked if int(version) < int(self.version)]
        return self.blocked[max(below, key=int)] if below else []


@dataclass(frozen=True, slots=True)
class Release:
    """A release: its newest opset, and the newest IR version that it reads.

    refuses: whether its opset rejects a node. reads: whether it reads the file's IR version. newer: types in the model
    that it does not support yet. alone: whether it rejects a node that its opset accepts.
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
        """True if the release accepts the whole model."""
        return self.reads and not (self.refuses or self.newer or self.alone)


@dataclass(frozen=True, slots=True)
class ReleaseMinimum:
    """The first release that accepts a whole model, and all earlier ones.

    The first is None where no release accepts it. ir_version: of the file.
    """

    first: Release | None
    before: tuple[Release, ...]
    ir_version: int | None


@dataclass(slots=True)
class ModelMinimum:
    """The answer of `model_minimum`.

    no_table: operators without a table, with their numbers of nodes. main: the domain whose version is the level of the
    model. release: the answer for releases, if requested.
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
        """The lowest version of the main domain.

        None without one, or where no node of the domain was checked.
        """
        main = [minimum.version for minimum in self.domains if minimum.domain == self.main]
        return main[0] if main else None

    def to_dict(self, name: str = "") -> dict[str, Any]:
        """Return the data that ``specgate minimum --format json`` prints.

        name: the displayed name of the file.
        """
        return model_minimum_json(self, name)
