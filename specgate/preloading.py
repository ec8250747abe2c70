"""Imports ahead of time, for programs that fork while other threads call specgate."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from specgate.spec.folders import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Commands, campaigns, and what only subprocesses import.
_SKIPPED: Final = frozenset({
    "__main__", "child", "cli", "conform", "export", "generate", "interrupted", "oracle", "pytest_plugin", "testing",
})  # fmt: skip


def import_all() -> None:
    """Import the modules of specgate that its functions use."""
    _import_modules([PACKAGE], f"{__package__}.")


def _import_modules(path: Iterable[str], prefix: str) -> None:
    """Import the modules of a package except those of commands, and except those that need a missing package."""
    for info in iter_modules(path, prefix):
        if info.name.rpartition(".")[2] in _SKIPPED:
            continue
        try:
            module = import_module(info.name)
        except ImportError:  # of a package that is not installed, so that nothing uses the module
            continue
        if info.ispkg:
            _import_modules(module.__path__, f"{info.name}.")
