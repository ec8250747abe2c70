"""What comes of holding the nodes of a model against another implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Compared", "Different"]


@dataclass(frozen=True, slots=True)
class Different:
    """A value that differs. node: the path of its node; value: its name; text: how it differs."""

    node: str
    operator: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A model executed beside an implementation of a version.

    outputs: of specgate, by name. count: how many values were compared, missing: how many the other does not give.
    found: the values that differ, in the order of the nodes.
    """

    implementation: str
    version: str
    outputs: Mapping[str, Any]
    count: int
    missing: int
    found: Sequence[Different]

    def lines(self) -> list[str]:
        """Return a line for the whole, then one for each value that differs, in the order of the nodes."""
        rest = f", {self.missing} are not given by it" if self.missing else ""
        count = f"{len(self.found)} differ" if self.found else "none differs"
        first = f"{self.implementation} {self.version}: of {self.count} values {count}{rest}"
        return [first, *(f"{one.node} ({one.operator}), {one.value}: {one.text}" for one in self.found)]
