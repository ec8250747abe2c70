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

AnyFunction = TypeVar("AnyFunction", bound="Callable[..., Any]")

_dialects: dict[str, Dialect] = {}
_extra: list[Path] = []
_cache_clearers: list[Callable[[], None]] = []


def dialect(name: str) -> Dialect:
    """Return a dialect's tables, loaded once.

    Raises InputError for an unknown dialect.
    """
    if name not in _dialects:
        extra = (*spec_folders(), *_extra)
        missing_folders = [root for root in spec_folders() if not root.is_dir()]
        if missing_folders:
            raise InputError("SPECGATE_SPECS: expected a folder laid out as specs/", file=str(missing_folders[0]))
        if not any((root / name / "levels.yaml").is_file() for root in extra):
            package(name)  # raises for an unknown dialect
        _dialects[name] = Dialect(name, compiled_tables(name, extra))
    return _dialects[name]


def load_extra_specs(*folders: Path) -> None:
    """Load the operators of extra spec folders, replacing those of before.

    Each folder has the layout of ``specs/``.
    """
    _extra[:] = folders
    _dialects.clear()
    _clear_caches()


@contextmanager
def in_use(table: Dialect) -> Iterator[None]:
    """Use `table` for its dialect inside the context."""
    previous_dialect = _dialects.get(table.name)
    if previous_dialect is table:
        yield
        return
    _dialects[table.name] = table
    _clear_caches()
    try:
        yield
    finally:
        del _dialects[table.name]
        if previous_dialect is not None:
            _dialects[table.name] = previous_dialect
        _clear_caches()


def on_change(clear: Callable[[], None]) -> Callable[[], None]:
    """Call `clear` when the tables change.

    It clears what a module cached from them.
    """
    _cache_clearers.append(clear)
    return clear


def until_change(function: AnyFunction) -> AnyFunction:
    """Return the function with its results cached until the tables change."""
    cached: Any = cache(function)
    on_change(cached.cache_clear)
    return cached  # type: ignore[no-any-return]


def _clear_caches() -> None:
    """Clear the caches of the previous tables."""
    for clear in _cache_clearers:
        clear()
