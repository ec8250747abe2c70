"""Modules of constructors, one per dialect; functions are made on demand."""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from specgate.make.factory import constructor, operators

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["module_of"]

_PARENT: Final = __name__.rpartition(".")[0]


class _Constructors(ModuleType):
    """Creates the constructor of an operator on attribute access."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{_PARENT}.{name}", f"Constructors of descriptors of {name}, one for each operator.")
        self.__spec__ = ModuleSpec(self.__name__, None)
        self.__package__ = _PARENT
        self._dialect = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return constructor(self._dialect, name)

    def __dir__(self) -> list[str]:
        return operators(self._dialect)


@cache
def module_of(name: str) -> ModuleType:
    """Return the module of a dialect and register it for import."""
    return sys.modules.setdefault(f"{_PARENT}.{name}", _Constructors(name))
