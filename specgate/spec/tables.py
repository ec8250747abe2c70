"""The tables in use: dialects by their names, loaded once, and who must forget what was made of others."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from specgate.dialects import package
from specgate.errors import InputError
from specgate.spec.dialect_spec import Dialect
from specgate.spec.folders import spec_folders
from specgate.spec.store import compiled_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["dialect", "extra_specs", "in_use", "on_change", "use_specs"]

_dialects: dict[str, Dialect] = {}
_extra: list[Path] = []
_forgetting: list[Callable[[], None]] = []


def dialect(name: str) -> Dialect:
    """Return a dialect's tables, loaded once; raise InputError when there is no such dialect."""
    if name not in _dialects:
        extra = (*spec_folders(), *_extra)
        missing = [root for root in spec_folders() if not root.is_dir()]
        if missing:
            raise InputError("SPECGATE_SPECS: expected a folder laid out as specs/", file=str(missing[0]))
        if not any((root / name / "levels.yaml").is_file() for root in extra):
            package(name)  # which raises for an unknown one
        _dialects[name] = Dialect(name, compiled_tables(name, extra))
    return _dialects[name]


def use_specs(*folders: Path) -> None:
    """Load the operators of further spec folders too (each laid out as ``specs/``); replaces an earlier call's."""
    _extra[:] = folders
    _dialects.clear()
    _forget()


def extra_specs() -> tuple[Path, ...]:
    """Return the folders that `use_specs` was called with last."""
    return tuple(_extra)


@contextmanager
def in_use(table: Dialect) -> Iterator[None]:
    """Judge by `table` for a while, whatever the tables of that dialect are otherwise."""
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
    """Call `forget`, which drops what a module made of the tables, whenever other tables count."""
    _forgetting.append(forget)
    return forget


def _forget() -> None:
    """Drop what was compiled from tables that no longer count."""
    for forget in _forgetting:
        forget()
