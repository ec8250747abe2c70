"""Export formats of the tables, each with the function that writes it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Each module is imported on first use: ``MODULE:FUNCTION``, called with a Wanted; it returns lines to print.
FORMATS: Final = {
    "json": "specgate.export.document:export",
    "csharp": "specgate.export.document:csharp",
    "cpp": "specgate.export.document:cpp",
}
#: Formats that are programs with validation.
_VALIDATOR_FORMATS: Final = frozenset({"cpp"})


@dataclass(frozen=True, slots=True)
class ExportScope:
    """An export request: dialects, operators, and the file or folder.

    dialects, operators, levels: empty for all. output: None for standard output. levels and text (whether findings have
    messages) apply to formats that are programs with validation.
    """

    dialects: tuple[str, ...]
    operators: tuple[str, ...] = ()
    output: str | None = None
    levels: tuple[str, ...] = ()
    text: bool = True


def export(name: str, result: ExportScope) -> list[str]:
    """Write the export and return the lines to print.

    Raises InputError and NoTable.
    """
    if name not in _VALIDATOR_FORMATS and (result.levels or not result.text):
        raise InputError(f"--level and --no-text are for {', '.join(sorted(_VALIDATOR_FORMATS))}")
    module, _, function = FORMATS[name].partition(":")
    write: Callable[[ExportScope], Any] = getattr(importlib.import_module(module), function)
    texts: list[str] = write(result)
    return texts
