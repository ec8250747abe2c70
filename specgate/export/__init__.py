"""The tables for programs that are not specgate: formats by name, each with the function that writes it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMATS", "Wanted", "export"]

#: Each is imported when it is asked for: ``MODULE:FUNCTION``, called with what is wanted; it returns lines to print.
FORMATS: Final = {
    "json": "specgate.export.jsonform:export",
    "csharp": "specgate.export.sources:csharp",
    "cpp": "specgate.export.sources:cpp",
}
#: Those that are programs that judge.
_JUDGING: Final = frozenset({"cpp"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export: dialects (none: all), some of their operators (none: all), and the file or folder to write.

    output: None for standard output. levels (none: all) and text (whether findings have sentences): where the format is
    a program that judges.
    """

    dialects: tuple[str, ...]
    operators: tuple[str, ...] = ()
    output: str | None = None
    levels: tuple[str, ...] = ()
    text: bool = True


def export(name: str, result: Wanted) -> list[str]:
    """Write what is wanted in a format, and return what to print; raise InputError, NoTable."""
    if name not in _JUDGING and (result.levels or not result.text):
        raise InputError(f"--level and --no-text are for {', '.join(sorted(_JUDGING))}")
    module, _, function = FORMATS[name].partition(":")
    write: Callable[[Wanted], Any] = getattr(importlib.import_module(module), function)
    texts: list[str] = write(result)
    return texts
