"""Faster starts: lazy modules, and a pause of the garbage collector."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class lazy:  # noqa: N801  # used like a function
    """A module that is imported when it is first used.

    Assign it to the module's name in the ``else`` branch of ``if TYPE_CHECKING``, which imports the module itself.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: Any = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = import_module(self._name)  # waits if another thread is importing it
        return getattr(self._module, attribute)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection while many long-lived objects are built.

    The collector otherwise takes a third of the time of reading a large model, and a larger share for larger models.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
