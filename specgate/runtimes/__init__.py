"""Runtimes whose releases are targets that place and run nodes of models."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.runtimes.protocol import Runtime
    from specgate.targets import Target

#: The runtimes that specgate ships, with the class of each.
_BUILT_IN: Final = {"onnxruntime": "specgate.runtimes.onnxruntime.package:ONNXRuntime"}


@cache
def _runtime(name: str) -> Runtime:
    module, _, cls = _BUILT_IN[name].partition(":")
    loaded: Runtime = getattr(importlib.import_module(module), cls)()
    return loaded


def runtimes(dialect: str | None = None) -> Iterator[Runtime]:
    """Yield the runtimes of a dialect's models, or every runtime for None."""
    yield from (runtime for runtime in map(_runtime, _BUILT_IN) if dialect in {None, runtime.dialect})


def runtime_of(target: Target) -> Runtime | None:
    """Return the runtime of a target, or None if it is not a release of one."""
    return None if target.runtime is None else next(runtimes(target.dialect))
