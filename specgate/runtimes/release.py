"""A release of a runtime as a target has it: its providers, and the DirectML that its package carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Runtime"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """One release of one package, as pip names it.

    providers: in the order in which they are asked; the CPU is the last one. registered: those whose registrations are
    known. below: the dialect whose operators the
    first provider makes, with the level that counts ("" where there is none): of the library in the package, or the one
    that was asked for. opsets: the newest version of each domain that the release loads.
    """

    package: str
    release: str
    providers: tuple[str, ...]
    registered: tuple[str, ...]
    below: str = ""
    level: str = ""
    opsets: Mapping[str, int] = field(default_factory=dict, hash=False)
    ir_version: int | None = None
