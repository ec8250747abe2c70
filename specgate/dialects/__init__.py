"""Registry of dialects.

The built-in ones, and those that installed packages register under the entry point group `specgate.dialects`.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from specgate.dialects.protocols import Documents, LibraryObjects, ModelFormat, Reader
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

P = TypeVar("P", bound=Reader)

GROUP: Final = "specgate.dialects"

#: Built-in dialects in listing order, with their classes.
_BUILT_IN: Final = {
    "directml": "specgate.dialects.directml:DirectML",
    "onnx": "specgate.dialects.onnx:ONNX",
    "openvino": "specgate.dialects.openvino:OpenVINO",
}
BUILT_IN: Final = tuple(_BUILT_IN)
#: Dialect of a descriptor file in which no operator has a table.
DEFAULT: Final = BUILT_IN[0]

#: Suffixes of files that are read as text, in any dialect; the last two hold one JSON document per line.
TEXT_SUFFIXES: Final = (".json", ".yaml", ".yml", ".jsonl", ".ndjson")
_SNIFF_BYTES: Final = 4096
_MARK: Final = b"\xef\xbb\xbf"  # the UTF-8 byte order mark, common on Windows
_JSON: Final = (b"{", b"[")
#: Dialects whose descriptors cannot be confused with those of another dialect.
_UNAMBIGUOUS: Final = ("onnx", "directml")


@cache
def _installed_dialects() -> Mapping[str, Any]:
    """Return entry points of third-party dialects by dialect name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in _BUILT_IN}


def dialect_names() -> tuple[str, ...]:
    """Return all dialect names: built-in ones first, then installed ones."""
    return (*_BUILT_IN, *sorted(_installed_dialects()))


def is_dialect(name: str) -> bool:
    """Return True if a dialect of this name exists."""
    return name in _BUILT_IN or name in _installed_dialects()


@cache
def package(name: str) -> Reader:
    """Return a dialect; raise InputError if it is unknown or fails to load."""
    if name in _BUILT_IN:
        module, _, text = _BUILT_IN[name].partition(":")
        loaded: Reader = getattr(importlib.import_module(module), text)()
        return loaded
    if name not in _installed_dialects():
        raise InputError(f"unknown dialect {name!r:.60}; expected one of {', '.join(dialect_names())}")
    entry = _installed_dialects()[name]
    try:
        external = entry.load()()
    except Exception as error:  # noqa: BLE001  # third-party code
        raise InputError(f"the dialect {name!r:.60} of {entry.value!r:.80} cannot be loaded: {error!r:.200}") from None
    if not isinstance(external, Reader) or getattr(external, "name", None) != name:
        raise InputError(f"expected {entry.value!r:.80} to be a Reader with the name {name!r:.60}")
    return external


def packages() -> Iterator[Reader]:
    """Yield all dialects, built-in ones first, loading each on demand."""
    yield from map(package, _BUILT_IN)
    yield from map(package, sorted(_installed_dialects()))


def implementing(protocol: type[P]) -> Iterator[P]:
    """Yield the dialects that implement a protocol, in `packages` order."""
    yield from (owner for owner in packages() if isinstance(owner, protocol))


def capability(dialect: Reader | str, protocol: type[P], file: str | None = None) -> P:
    """Return a dialect that implements a protocol.

    Raise InputError, naming `file`, if the dialect does not implement it.
    """
    owner = package(dialect) if isinstance(dialect, str) else dialect
    if not isinstance(owner, protocol):
        raise InputError(protocol.missing.format(name=owner.name), file=file)
    return owner


def model_package(path: str) -> ModelFormat | None:
    """Return the dialect of a model file by suffix, or None for other files."""
    lowered = path.lower()
    if lowered.endswith(TEXT_SUFFIXES):
        return None
    return next((owner for owner in implementing(ModelFormat) if lowered.endswith(owner.suffixes)), None)


def model_owner(path: str) -> ModelFormat | None:
    """Return the dialect of a model file; None for descriptors as text.

    The suffix decides, or else the first bytes. A binary file of an unknown format is read as ONNX, whose reader
    reports the format it recognizes.
    """
    if path.lower().endswith(TEXT_SUFFIXES) or holds_text(path):
        return None
    return model_package(path) or _recognize_content(path) or (_default_format() if b"\0" in _start(path) else None)


def package_of(path: str) -> ModelFormat:
    """Return the dialect of a model file by suffix or content, default ONNX."""
    return model_package(path) or _recognize_content(path) or _default_format()


def holds_text(path: str) -> bool:
    """Return True if a file is read as JSON or YAML.

    That is decided by suffix; a file without a known suffix counts as text if it begins like JSON.
    """
    if path.lower().endswith(TEXT_SUFFIXES):
        return True
    return model_package(path) is None and _start(path).removeprefix(_MARK).lstrip()[:1] in _JSON


def _default_format() -> ModelFormat:
    return capability("onnx", ModelFormat)


def _recognize_content(path: str) -> ModelFormat | None:
    """Return the first dialect that recognizes a file's first bytes.

    None if no dialect does, or if the file cannot be read.
    """
    start = _start(path).removeprefix(_MARK)
    return next((owner for owner in implementing(ModelFormat) if owner.begins_model(start)), None) if start else None


def _start(path: str) -> bytes:
    """Return the first bytes of a regular file; empty if it is unreadable."""
    try:
        if os.path.isfile(path):  # noqa: PTH113
            with open(path, "rb") as file:  # noqa: PTH123
                return file.read(_SNIFF_BYTES)
    except (OSError, ValueError):
        pass
    return b""


def document_package(document: Any, dialect: str | None = None) -> Documents | None:
    """Return the dialect whose model a loaded JSON or YAML document is.

    None if it is not a model, but perhaps descriptors. `dialect` is the dialect of the expected descriptors, if known;
    if it is built in, third-party dialects are not loaded.
    """
    owner = _document_owner(_BUILT_IN, document)
    if owner is not None or dialect in _BUILT_IN or not isinstance(document, dict):
        return owner
    if any(package(name).recognises(document) for name in _UNAMBIGUOUS):
        return None
    return _document_owner(sorted(_installed_dialects()), document)


def _document_owner(names: Iterable[str], document: Any) -> Documents | None:
    owners = (owner for owner in map(package, names) if isinstance(owner, Documents))
    return next((owner for owner in owners if owner.is_document(document)), None)


def owner_of_object(model: object) -> LibraryObjects | None:
    """Return the dialect of a vendor library's model object, or None."""
    return next((owner for owner in implementing(LibraryObjects) if owner.is_model(model)), None)


def model_suffixes() -> tuple[str, ...]:
    """Return the model file suffixes of all dialects."""
    return tuple(suffix for owner in implementing(ModelFormat) for suffix in owner.suffixes)


def dialect_of(data: Mapping[str, Any]) -> str | None:
    """Return the dialect of a descriptor dict, or None.

    Unmistakable built-in dialects come first; installed packages come before OpenVINO, which accepts any dict with a
    type.
    """
    for name in _UNAMBIGUOUS:
        if package(name).recognises(data):
            return name
    other_dialects = (*sorted(_installed_dialects()), "openvino")
    return next((name for name in other_dialects if package(name).recognises(data)), None)
