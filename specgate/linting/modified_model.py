"""A modified model file in memory."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.files import State
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.verdict import Edit


@runtime_checkable
class ModifiedModel(Protocol):
    """A file with changes that are not written yet.

    name: the path of the file. state: the state of the file when it was read.
    """

    name: str
    state: State | None

    def apply_edits(self, edits: Iterable[Edit]) -> ModifiedModel:
        """Return it with further edits; raise InputError if one does not apply."""

    def graph(self, settings: LintSettings) -> Graph:
        """Return the graph of the changed file; raise InputError."""

    def copy_to(self, target_file: IO[bytes]) -> None:
        """Write the changed file; raise InputError."""

    def diff(self) -> list[str]:
        """Return the lines of a diff of the changes."""
