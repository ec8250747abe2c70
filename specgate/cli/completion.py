"""Shell completion scripts; completion itself does not start Python."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The names of options and arguments for files and for folders.
_FILES: Final = frozenset({"FILE", "path", "model", "descriptor", "file"})
_FOLDERS: Final = frozenset({"DIR", "folder"})


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return a shell's completion script; raise InputError without shtab."""
    try:
        import shtab
    except ImportError:
        raise InputError("--print-completion requires shtab: pip install shtab") from None
    for action in _actions(parser):
        name = action.metavar or action.dest
        kind = shtab.FILE if name in _FILES else shtab.DIRECTORY if name in _FOLDERS else None
        if kind is not None and action.choices is None:
            action.complete = kind  # type: ignore[attr-defined]  # shtab reads it
    return f"{shtab.complete(parser, shell)}\n"


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way to walk
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for subparser in action.choices.values():
                yield from _actions(subparser)
