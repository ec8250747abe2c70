"""A model file with changes, as the linter sees it."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.files import State
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.verdict import Edit

__all__ = ["Edited"]


@runtime_checkable
class Edited(Protocol):
    """A file that is changed, but not written yet. name: the path of the file; state: of it when it was read."""

    name: str
    state: State | None

    def edited(self, edits: Iterable[Edit]) -> Edited:
        """Return it with further changes; raise InputError where it has not what they are about."""

    def graph(self, settings: LintSettings) -> Graph:
        """Return its nodes; raise InputError."""

    def copy_to(self, out: IO[bytes]) -> None:
        """Write it; raise InputError."""

    def diff(self) -> list[str]:
        """Return the lines that show what changes."""
