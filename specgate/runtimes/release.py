"""Releases of runtimes as targets, with providers and DirectML level."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Runtime:
    """One release of one package, as pip names it.

    providers: in order of preference, the CPU last. registered: those with known registrations. below: the dialect of
    the first provider's operators, "" if there is none. level: the level of that dialect, from the package's library or
    as requested. opsets: the newest version of each domain that the release loads.
    """

    package: str
    release: str
    providers: tuple[str, ...]
    registered: tuple[str, ...]
    below: str = ""
    level: str = ""
    opsets: Mapping[str, int] = field(default_factory=dict, hash=False)
    ir_version: int | None = None
