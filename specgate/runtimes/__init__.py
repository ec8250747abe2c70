"""Runtimes whose releases are targets that place and run nodes of models."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Final

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.runtimes.protocol import Runtime
    from specgate.targets import Target

__all__ = ["is_runtime", "runtime", "runtime_of", "runtimes"]

#: The runtimes that specgate ships, with the class of each.
_SHIPPED: Final = {"onnxruntime": "specgate.runtimes.onnxruntime.package:ONNXRuntime"}


@cache
def runtime(name: str) -> Runtime:
    """Return a runtime by the name of its tables.

    Raises InputError for an unknown name.
    """
    if name not in _SHIPPED:
        raise InputError(f"unknown runtime {name!r:.60}; expected one of {', '.join(_SHIPPED)}")
    module, _, cls = _SHIPPED[name].partition(":")
    loaded: Runtime = getattr(importlib.import_module(module), cls)()
    return loaded


def is_runtime(name: str) -> bool:
    """Return whether a name is the name of a runtime's tables."""
    return name in _SHIPPED


def runtimes(dialect: str | None = None) -> Iterator[Runtime]:
    """Yield the runtimes of a dialect's models, or every runtime for None."""
    yield from (each for each in map(runtime, _SHIPPED) if dialect in {None, each.dialect})


def runtime_of(target: Target) -> Runtime | None:
    """Return the runtime of a target, or None if it is not a release of one."""
    return None if target.runtime is None else next(runtimes(target.dialect))
