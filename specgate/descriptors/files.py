"""Read descriptors from JSON or YAML files, and files that a model references."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from specgate.descriptors.core import format_value
from specgate.descriptors.read import read_dict, read_text_file
from specgate.descriptors.text import in_lines, load_relaxed, place_of
from specgate.dialects import dialect_of, document_package, implementing, package, packages
from specgate.dialects.protocols import Documents
from specgate.errors import InputError, NoTable
from specgate.slotted import field, slotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Finding

LEAVES_FOLDER = "leaves the model's folder through a link"


def unusable_location(location: str) -> str | None:
    """Return why a location in a model is invalid, None if it is valid.

    It does not access the file system.
    """
    if not location:
        return "missing"
    parts = location.replace("\\", "/").split("/")
    if "\0" in location:
        return f"{format_value(location)}, which is not a valid file name"
    drive = parts[0][1:2] == ":" and (len(parts[0]) == 2 or os.name == "nt")
    if not parts[0] or drive:
        return f"{format_value(location)}, an absolute path"
    depth = 0
    for part in parts:
        depth += 0 if part in {"", "."} else -1 if part == ".." else 1
        if depth < 0:
            return f"{format_value(location)}, outside the model's folder"
    return None


def size_in_folder(folder: str, location: str) -> int | str:
    """Return a referenced file's size in bytes, or the reason it is unusable.

    folder: that of the model.
    """
    path = os.path.join(folder, location)  # noqa: PTH118
    try:
        home, real = os.path.realpath(folder), os.path.realpath(path)
        if os.path.commonpath([home, real]) != home:
            return LEAVES_FOLDER
        status = os.stat(real)  # noqa: PTH116
    except FileNotFoundError:
        return "does not exist"
    except (OSError, ValueError) as error:
        return f"cannot be used: {getattr(error, 'strerror', None) or error}"
    return status.st_size if stat.S_ISREG(status.st_mode) else "is not a regular file"


MAX_SHOWN: Final = 8

#: The place of a descriptor in its file, its line in files with one descriptor per line, and the descriptor.
Placed: TypeAlias = "tuple[str, int | None, Descriptor | NoTableEntry]"


@slotted(frozen=True)
class NoTableEntry:
    """An entry of a file without a table, neither accepted nor rejected.

    operator: in its dialect's spelling, or the kind of a dispatchable other than a DirectML operator (``hlsl``). model:
    the file that contains the entry's model, or None. pins: fixed sizes of dimensions.
    """

    dialect: str
    operator: str
    message: str
    model: str | None = None
    pins: Mapping[str, int] = field(default_factory=dict)


def read_one(path: str | os.PathLike[str], dialect: str | None = None) -> Descriptor:
    """Return the only descriptor of a file.

    dialect: ``directml``, ``onnx`` or ``openvino``; detected from the file's keys when left out. Raises InputError for
    other content, and NoTable for its operator.
    """
    return only_entry(read_placed(path, dialect), os.fspath(path))


def only_entry(entries: Iterable[Placed], name: str) -> Descriptor:
    """Return the only descriptor of parsed entries.

    Raises InputError for other content, and NoTable for its operator.
    """
    parts = list(entries)
    if len(parts) != 1:
        names = ", ".join(place or "(one)" for place, _, _ in parts[:MAX_SHOWN])
        remainder = f" and {len(parts) - MAX_SHOWN} more" if len(parts) > MAX_SHOWN else ""
        summary = f"{len(parts)}: {names}{remainder}" if parts else "none"
        raise InputError(f"expected one descriptor, found {summary}", file=name)
    entry = parts[0][2]
    if isinstance(entry, NoTableEntry):
        raise NoTable(f"{name}: {entry.message}")
    return entry


def read_placed(
    path: str | os.PathLike[str], dialect: str | None = None, findings: list[Finding] | None = None
) -> Iterator[Placed]:
    """Yield the descriptors of a file with their places and lines.

    A place is "" for a file that is one descriptor, ``[2]`` in a list or in a file with one per line,
    ``descriptors/NAME`` in a mapping of that key and ``dispatchables/NAME`` in a DxDispatch model. Only files with one
    descriptor per line have lines. findings: receives remarks on the document as a whole. Raises InputError.
    """
    name = os.fspath(path)
    return iterate_placed(read_text_file(name), name, dialect, findings)


def iterate_placed(
    text: str, name: str, dialect: str | None = None, findings: list[Finding] | None = None
) -> Iterator[Placed]:
    """Yield the descriptors of a text; see `read_placed`.

    name: determines the format by its suffix, and appears in errors.
    """
    numbered = in_lines(text, name)
    if numbered is None:
        yield from (
            (place, None, entry) for place, entry in _entries(load_document(text, name), name, dialect, findings)
        )
        return
    for index, (number, line) in enumerate(numbered):
        document = _read_line(line, name, number)
        yield f"[{index}]", number, _entry(document, dialect, name, f"line {number}")


def load_document(text: str, name: str) -> Any:
    """Return the document in a text without its ``$schema`` key."""
    document = load_relaxed(text, name)
    return {k: v for k, v in document.items() if k != "$schema"} if isinstance(document, dict) else document


def _read_line(line: str, name: str, number: int) -> Any:
    try:
        return load_relaxed(line, name)
    except InputError as error:
        column = (error.place or "").partition("column ")[2]
        position = f"line {number} column {column}" if column else f"line {number}"
        raise InputError(error.message, file=name, place=position) from None


def holds_descriptors(path: str | os.PathLike[str]) -> bool:
    """Return whether a JSON or YAML file seems to hold descriptors or a model.

    A JSON Schema does not, although it has a ``type``. A file that cannot be parsed does if it has keys that only
    descriptors use; its reader then reports the error.
    """
    name = os.fspath(path)
    text = ""
    try:
        text = read_text_file(name)
        numbered = list(in_lines(text, name) or ())[:1]
        document = _read_line(numbered[0][1], name, numbered[0][0]) if numbered else load_relaxed(text, name)
    except InputError:
        return any(word in text for package in packages() for word in package.marks)
    if isinstance(document, dict) and any(owner.document_key in document for owner in implementing(Documents)):
        return True
    if isinstance(document, dict) and isinstance(document.get("descriptors"), dict):
        document = list(document["descriptors"].values())
    return any(map(_is_meant, document if isinstance(document, list) else [document]))


def _is_meant(item: Any) -> bool:
    """Return whether a value has keys that only descriptors of a dialect use."""
    return isinstance(item, dict) and any(package.is_meant(item) for package in packages())


def _entries(
    document: Any, name: str, dialect: str | None, findings: list[Finding] | None
) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
    owner = document_package(document, dialect)
    if owner is not None:
        if dialect not in {None, owner.name}:
            message = f"{owner.document_name} holds descriptors of {owner.name}, not of {dialect!r:.40}"
            raise InputError(message, file=name)
        yield from owner.entries(document, name)
        if findings is not None:
            findings.extend(owner.document_findings(document, name))
        return
    named_entries: list[tuple[str, Any]]
    if isinstance(document, list):
        named_entries = [(f"[{i}]", item) for i, item in enumerate(document)]
    elif isinstance(document, dict) and isinstance(document.get("descriptors"), dict):
        extra = [key for key in document if key != "descriptors"]
        if extra:
            raise InputError(f"expected only descriptors, found {extra[0]!r:.60}", file=name)
        named_entries = [(place_of("descriptors", key), item) for key, item in document["descriptors"].items()]
    else:
        named_entries = [("", document)]
    for place, item in named_entries:
        yield place, _entry(item, dialect, name, place)


def _entry(item: Any, dialect: str | None, name: str, place: str) -> Descriptor | NoTableEntry:
    try:
        return read_dict(item, dialect, place)
    except NoTable as error:
        reader = package(dialect or dialect_of(item) or "")
        return NoTableEntry(reader.name, reader.operator_of(item), str(error))
    except InputError as error:
        raise InputError(error.message, file=name, place=error.place) from None
