"""The dialects: those that specgate ships, and those of installed packages (entry points `specgate.dialects`)."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.dialects.base import DialectPackage

__all__ = [
    "GROUP",
    "SHIPPED",
    "dialect_names",
    "dialect_of",
    "is_dialect",
    "model_suffixes",
    "package",
    "package_of",
    "packages",
]

GROUP: Final = "specgate.dialects"

#: The dialects that specgate ships, in the order they are listed, with the class of each.
_SHIPPED: Final = {
    "directml": "specgate.dialects.directml:DirectML",
    "onnx": "specgate.dialects.onnx:ONNX",
    "openvino": "specgate.dialects.openvino:OpenVINO",
}
SHIPPED: Final = tuple(_SHIPPED)


@cache
def _installed() -> Mapping[str, Any]:
    """Return the entry points of other packages by dialect; looked up when a shipped dialect is not what is wanted."""
    from importlib.metadata import entry_points

    return {found.name: found for found in entry_points(group=GROUP) if found.name not in _SHIPPED}


def dialect_names() -> tuple[str, ...]:
    """Return the names of all dialects: the shipped ones, then those of installed packages."""
    return (*_SHIPPED, *sorted(_installed()))


def is_dialect(name: str) -> bool:
    """Return whether there is such a dialect."""
    return name in _SHIPPED or name in _installed()


@cache
def package(name: str) -> DialectPackage:
    """Return a dialect; raise InputError for one that does not exist or cannot be loaded."""
    if name in _SHIPPED:
        module, _, made = _SHIPPED[name].partition(":")
        found: DialectPackage = getattr(importlib.import_module(module), made)()
        return found
    if name not in _installed():
        raise InputError(f"unknown dialect {name!r:.60}; expected one of {', '.join(dialect_names())}")
    from specgate.dialects.base import DialectPackage

    entry = _installed()[name]
    try:
        loaded = entry.load()()
    except Exception as error:  # noqa: BLE001  # it is code of others
        raise InputError(f"the dialect {name!r:.60} of {entry.value!r:.80} cannot be loaded: {error!r:.200}") from None
    if not isinstance(loaded, DialectPackage) or getattr(loaded, "name", None) != name:
        raise InputError(f"expected {entry.value!r:.80} to be a DialectPackage with the name {name!r:.60}")
    return loaded


def packages() -> Iterator[DialectPackage]:
    """Yield all dialects, loaded one by one: those of other packages are looked up behind the shipped ones."""
    yield from map(package, _SHIPPED)
    yield from map(package, sorted(_installed()))


def package_of(path: str) -> DialectPackage:
    """Return the dialect of a model file, by its suffix; any other file is expected to be an ONNX model."""
    lowered = path.lower()
    return next((one for one in packages() if lowered.endswith(one.suffixes)), package("onnx"))


def model_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the model files of all dialects."""
    return tuple(suffix for one in packages() for suffix in one.suffixes)


def dialect_of(data: Mapping[str, Any]) -> str | None:
    """Return the dialect in whose words a dict is, None for none.

    The shipped ones that cannot be mistaken come first, and other packages before what takes any dict with a type.
    """
    for name in ("onnx", "directml"):
        if package(name).recognises(data):
            return name
    others = (*sorted(_installed()), "openvino")
    return next((name for name in others if package(name).recognises(data)), None)
