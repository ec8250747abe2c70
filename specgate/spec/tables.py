"""The tables in use, loaded once per dialect, and change notifications."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from specgate.dialects import package
from specgate.errors import InputError
from specgate.spec.dialect_spec import Dialect
from specgate.spec.folders import spec_folders
from specgate.spec.store import compiled_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["dialect", "in_use", "on_change", "until_change", "use_specs"]

AnyFunction = TypeVar("AnyFunction", bound="Callable[..., Any]")

_dialects: dict[str, Dialect] = {}
_extra: list[Path] = []
_forgetting: list[Callable[[], None]] = []


def dialect(name: str) -> Dialect:
    """Return a dialect's tables, loaded once.

    Raises InputError for an unknown dialect.
    """
    if name not in _dialects:
        extra = (*spec_folders(), *_extra)
        missing = [root for root in spec_folders() if not root.is_dir()]
        if missing:
            raise InputError("SPECGATE_SPECS: expected a folder laid out as specs/", file=str(missing[0]))
        if not any((root / name / "levels.yaml").is_file() for root in extra):
            package(name)  # raises for an unknown dialect
        _dialects[name] = Dialect(name, compiled_tables(name, extra))
    return _dialects[name]


def use_specs(*folders: Path) -> None:
    """Load the operators of extra spec folders, replacing those of before.

    Each folder has the layout of ``specs/``.
    """
    _extra[:] = folders
    _dialects.clear()
    _forget()


@contextmanager
def in_use(table: Dialect) -> Iterator[None]:
    """Use `table` for its dialect inside the context."""
    usual = _dialects.get(table.name)
    if usual is table:
        yield
        return
    _dialects[table.name] = table
    _forget()
    try:
        yield
    finally:
        del _dialects[table.name]
        if usual is not None:
            _dialects[table.name] = usual
        _forget()


def on_change(forget: Callable[[], None]) -> Callable[[], None]:
    """Call `forget` when the tables change.

    It clears what a module cached from them.
    """
    _forgetting.append(forget)
    return forget


def until_change(function: AnyFunction) -> AnyFunction:
    """Return the function with its results cached until the tables change."""
    cached: Any = cache(function)
    on_change(cached.cache_clear)
    return cached  # type: ignore[no-any-return]


def _forget() -> None:
    """Clear the caches of the previous tables."""
    for forget in _forgetting:
        forget()
