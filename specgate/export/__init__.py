"""The tables for programs that are not specgate: formats by name, each with the function that writes it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMATS", "Wanted", "export"]

#: Each is imported when it is asked for: ``MODULE:FUNCTION``, called with what is wanted; it returns lines to print.
FORMATS: Final = {"json": "specgate.export.jsonform:export"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export: dialects (none: all), some of their operators (none: all), and the file or folder to write.

    output: None for standard output.
    """

    dialects: tuple[str, ...]
    operators: tuple[str, ...] = ()
    output: str | None = None


def export(name: str, wanted: Wanted) -> list[str]:
    """Write what is wanted in a format, and return what to print; raise InputError, NoTable."""
    module, _, function = FORMATS[name].partition(":")
    write: Callable[[Wanted], Any] = getattr(importlib.import_module(module), function)
    told: list[str] = write(wanted)
    return told
