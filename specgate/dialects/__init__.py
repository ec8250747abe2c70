"""The dialects: those that specgate ships, and those of installed packages (entry points `specgate.dialects`)."""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from specgate.dialects.protocols import Documents, LibraryObjects, ModelFormat, Reader
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "DEFAULT",
    "GROUP",
    "SHIPPED",
    "TEXT_SUFFIXES",
    "capability",
    "dialect_names",
    "dialect_of",
    "document_package",
    "holds_text",
    "implementing",
    "is_dialect",
    "model_owner",
    "model_package",
    "model_suffixes",
    "owner_of_object",
    "package",
    "package_of",
    "packages",
]

P = TypeVar("P", bound=Reader)

GROUP: Final = "specgate.dialects"

#: The dialects that specgate ships, in the order they are listed, with the class of each.
_SHIPPED: Final = {
    "directml": "specgate.dialects.directml:DirectML",
    "onnx": "specgate.dialects.onnx:ONNX",
    "openvino": "specgate.dialects.openvino:OpenVINO",
}
SHIPPED: Final = tuple(_SHIPPED)
#: Whose a file of descriptors is taken to be where none of them has a table.
DEFAULT: Final = SHIPPED[0]

#: Of files that are read as text, whosever descriptors they hold; those of the last two hold one a line.
TEXT_SUFFIXES: Final = (".json", ".yaml", ".yml", ".jsonl", ".ndjson")
_SNIFFED: Final = 4096
_MARK: Final = b"\xef\xbb\xbf"  # with which text may begin on Windows
_JSON: Final = (b"{", b"[")
#: Those whose descriptors no dict of another dialect is like.
_UNMISTAKABLE: Final = ("onnx", "directml")


@cache
def _installed() -> Mapping[str, Any]:
    """Return the entry points of other packages by dialect; looked up when a shipped dialect is not what is wanted."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in _SHIPPED}


def dialect_names() -> tuple[str, ...]:
    """Return the names of all dialects: the shipped ones, then those of installed packages."""
    return (*_SHIPPED, *sorted(_installed()))


def is_dialect(name: str) -> bool:
    """Return whether there is such a dialect."""
    return name in _SHIPPED or name in _installed()


@cache
def package(name: str) -> Reader:
    """Return a dialect; raise InputError for one that does not exist or cannot be loaded."""
    if name in _SHIPPED:
        module, _, text = _SHIPPED[name].partition(":")
        loaded: Reader = getattr(importlib.import_module(module), text)()
        return loaded
    if name not in _installed():
        raise InputError(f"unknown dialect {name!r:.60}; expected one of {', '.join(dialect_names())}")
    entry = _installed()[name]
    try:
        external = entry.load()()
    except Exception as error:  # noqa: BLE001  # it is code of others
        raise InputError(f"the dialect {name!r:.60} of {entry.value!r:.80} cannot be loaded: {error!r:.200}") from None
    if not isinstance(external, Reader) or getattr(external, "name", None) != name:
        raise InputError(f"expected {entry.value!r:.80} to be a Reader with the name {name!r:.60}")
    return external


def packages() -> Iterator[Reader]:
    """Yield all dialects, loaded one by one: those of other packages are looked up after the shipped ones."""
    yield from map(package, _SHIPPED)
    yield from map(package, sorted(_installed()))


def implementing(protocol: type[P]) -> Iterator[P]:
    """Yield the dialects that implement a protocol, in the order of `packages`."""
    yield from (each for each in packages() if isinstance(each, protocol))


def capability(dialect: Reader | str, protocol: type[P], file: str | None = None) -> P:
    """Return a dialect as a protocol; raise InputError, naming `file`, if the dialect does not implement it."""
    owner = package(dialect) if isinstance(dialect, str) else dialect
    if not isinstance(owner, protocol):
        raise InputError(protocol.missing.format(name=owner.name), file=file)
    return owner


def model_package(path: str) -> ModelFormat | None:
    """Return the dialect of a model file, by its suffix; None for any other file, such as JSON and YAML."""
    lowered = path.lower()
    if lowered.endswith(TEXT_SUFFIXES):
        return None
    return next((each for each in implementing(ModelFormat) if lowered.endswith(each.suffixes)), None)


def model_owner(path: str) -> ModelFormat | None:
    """Return the dialect of a model file, by its suffix or by how it begins; None for descriptors as text.

    What is no text is taken for ONNX, whose reader says what it may be.
    """
    if path.lower().endswith(TEXT_SUFFIXES) or holds_text(path):
        return None
    return model_package(path) or _by_content(path) or (_fallback() if b"\0" in _start(path) else None)


def package_of(path: str) -> ModelFormat:
    """Return the dialect of a model file: by its suffix, or else by how it begins; what is left is taken for ONNX."""
    return model_package(path) or _by_content(path) or _fallback()


def holds_text(path: str) -> bool:
    """Whether a file is read as JSON or YAML: by its suffix, or one without a known suffix that begins as JSON does."""
    if path.lower().endswith(TEXT_SUFFIXES):
        return True
    return model_package(path) is None and _start(path).removeprefix(_MARK).lstrip()[:1] in _JSON


def _fallback() -> ModelFormat:
    return capability("onnx", ModelFormat)


def _by_content(path: str) -> ModelFormat | None:
    """Return the first dialect whose models begin as a regular file does, None for a file that cannot be read."""
    start = _start(path).removeprefix(_MARK)
    return next((each for each in implementing(ModelFormat) if each.begins_model(start)), None) if start else None


def _start(path: str) -> bytes:
    """Return how a regular file begins; nothing for one that cannot be read, as its reader says."""
    try:
        if os.path.isfile(path):  # noqa: PTH113
            with open(path, "rb") as file:  # noqa: PTH123
                return file.read(_SNIFFED)
    except (OSError, ValueError):
        pass
    return b""


def document_package(document: Any, dialect: str | None = None) -> Documents | None:
    """Return the dialect that a loaded JSON or YAML document is a model of, None for none: it may be descriptors.

    dialect: whose descriptors are expected, where that is known; other packages are then not looked up in vain.
    """
    owner = _document_owner(_SHIPPED, document)
    if owner is not None or dialect in _SHIPPED or not isinstance(document, dict):
        return owner
    if any(package(name).recognises(document) for name in _UNMISTAKABLE):
        return None
    return _document_owner(sorted(_installed()), document)


def _document_owner(names: Iterable[str], document: Any) -> Documents | None:
    owners = (each for each in map(package, names) if isinstance(each, Documents))
    return next((each for each in owners if each.is_document(document)), None)


def owner_of_object(model: object) -> LibraryObjects | None:
    """Return the dialect of a model object of a vendor's library, None for any other object."""
    return next((each for each in implementing(LibraryObjects) if each.is_model(model)), None)


def model_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the model files of all dialects."""
    return tuple(suffix for each in implementing(ModelFormat) for suffix in each.suffixes)


def dialect_of(data: Mapping[str, Any]) -> str | None:
    """Return the dialect in whose words a dict is, None for none.

    The shipped ones that cannot be mistaken come first, and other packages before what takes any dict with a type.
    """
    for name in _UNMISTAKABLE:
        if package(name).recognises(data):
            return name
    others = (*sorted(_installed()), "openvino")
    return next((name for name in others if package(name).recognises(data)), None)
