"""The registry of kernels: name in the tables -> module of this package that defines the function of that name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import NoKernel

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KERNELS", "find_kernel", "register_kernel"]

#: Add a line here with a new kernel file.
KERNELS: Final[dict[str, str]] = {
    "one_hot": "specgate.execution.kernels.one_hot",
}
_registered: dict[str, Callable[..., Any]] = {}


def register_kernel(name: str, function: Callable[..., Any]) -> None:
    """Register a kernel that does not ship with specgate, for operators of one's own spec folder."""
    _registered[name] = function


def find_kernel(name: str) -> Callable[..., Any]:
    """Return a kernel by its name in the tables; raise NoKernel when there is none."""
    if name in _registered:
        return _registered[name]
    if name not in KERNELS:
        raise NoKernel(f"no kernel {name!r:.60}; known: {', '.join([*KERNELS, *_registered])}")
    function: Callable[..., Any] = getattr(importlib.import_module(KERNELS[name]), name)
    return function
