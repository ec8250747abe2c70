"""Descriptors from files: one dict, a list, a mapping of named ones, or a DxDispatch model; JSON or YAML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.read import dialect_of, read_dict, read_text_file
from specgate.descriptors.text import load_relaxed, place_of
from specgate.errors import InputError, NoTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.descriptors.core import Descriptor

__all__ = ["NoTableEntry", "holds_descriptors", "read_descriptors", "read_one"]

MAX_SHOWN: Final = 8
_UNMISTAKABLE: Final = ("DML_OPERATOR_", '"dispatchables"', '"op_type"')


@dataclass(frozen=True, slots=True)
class NoTableEntry:
    """An entry of a file that no table speaks of, so that it is neither accepted nor rejected.

    operator: in its dialect's own words, or the kind of a dispatchable that is no DirectML operator (``hlsl``).
    """

    dialect: str
    operator: str
    message: str


def read_one(path: str | os.PathLike[str], dialect: str | None = None) -> Descriptor:
    """Return the only descriptor of a file; raise InputError naming what is there otherwise, NoTable for its operator.

    dialect: ``directml``, ``onnx`` or ``openvino``; found from the file's own words when left out.
    """
    found = read_descriptors(path, dialect)
    if len(found) != 1:
        names = ", ".join(place or "(one)" for place, _ in found[:MAX_SHOWN])
        more = f" and {len(found) - MAX_SHOWN} more" if len(found) > MAX_SHOWN else ""
        raise InputError(f"expected one descriptor, found {len(found)}: {names or 'none'}{more}", file=os.fspath(path))
    entry = found[0][1]
    if isinstance(entry, NoTableEntry):
        raise NoTable(entry.message)
    return entry


def read_descriptors(
    path: str | os.PathLike[str], dialect: str | None = None
) -> list[tuple[str, Descriptor | NoTableEntry]]:
    """Return the descriptors of a file by their place in it; raise InputError.

    A place is "" for a file that is one descriptor, ``[2]`` in a list, ``descriptors/NAME`` in a mapping of that key
    and ``dispatchables/NAME`` in a DxDispatch model.
    """
    name = os.fspath(path)
    document = load_relaxed(read_text_file(name), name)
    return list(_entries(document, name, dialect))


def holds_descriptors(path: str | os.PathLike[str]) -> bool:
    """Whether a JSON or YAML file that nobody named is meant as descriptors or as a DxDispatch model.

    A JSON Schema, say, is not, although it has a ``type``. A file that cannot be loaded is, where it has words that
    only descriptors have: what is wrong with it is for its reader to say.
    """
    name = os.fspath(path)
    text = ""
    try:
        text = read_text_file(name)
        document = load_relaxed(text, name)
    except InputError:
        return any(word in text for word in _UNMISTAKABLE)
    if isinstance(document, dict) and "dispatchables" in document:
        return True
    if isinstance(document, dict) and isinstance(document.get("descriptors"), dict):
        document = list(document["descriptors"].values())
    return any(map(_is_meant, document if isinstance(document, list) else [document]))


def _is_meant(item: Any) -> bool:
    """Whether a value has what makes a descriptor of some dialect, beyond the words that other formats have too."""
    if not isinstance(item, dict):
        return False
    if isinstance(item.get("op_type"), str):
        return True
    kind, version = item.get("type", item.get("Type")), item.get("version")
    if not isinstance(kind, str):
        return False
    if kind.startswith("DML_OPERATOR_") or isinstance(item.get("desc", item.get("Desc")), dict):
        return True
    return "inputs" in item or "outputs" in item or (isinstance(version, str) and version.startswith("opset"))


def _entries(document: Any, name: str, dialect: str | None) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
    from specgate.models.dxdispatch import is_dx_model

    if is_dx_model(document):
        if dialect not in {None, "directml"}:
            raise InputError(f"a DxDispatch model holds descriptors of directml, not of {dialect!r:.40}", file=name)
        yield from _of_dx_model(document, name)
        return
    named: list[tuple[str, Any]]
    if isinstance(document, list):
        named = [(f"[{i}]", item) for i, item in enumerate(document)]
    elif isinstance(document, dict) and isinstance(document.get("descriptors"), dict):
        extra = [key for key in document if key not in {"descriptors", "$schema"}]
        if extra:
            raise InputError(f"expected nothing beside descriptors, found {extra[0]!r:.60}", file=name)
        named = [(place_of("descriptors", key), item) for key, item in document["descriptors"].items()]
    else:
        named = [("", document)]
    for place, item in named:
        yield place, _entry(item, dialect, name, place)


def _entry(item: Any, dialect: str | None, name: str, place: str) -> Descriptor | NoTableEntry:
    try:
        return read_dict(item, dialect, place)
    except NoTable as error:
        kind = item.get("op_type", item.get("type", item.get("Type")))
        return NoTableEntry(dialect or dialect_of(item) or "", str(kind).removeprefix("DML_OPERATOR_"), str(error))
    except InputError as error:
        raise InputError(error.message, file=name, place=error.place) from None


def _of_dx_model(document: Mapping[str, Any], name: str) -> Iterator[tuple[str, Descriptor | NoTableEntry]]:
    from specgate.models.dxdispatch import read_dx_model

    for key, dispatchable in read_dx_model(document, file=name).dispatchables.items():
        if dispatchable.descriptor is not None:
            yield place_of("dispatchables", key), dispatchable.descriptor
        else:
            entry = NoTableEntry("directml", dispatchable.operator, dispatchable.no_table or "")
            yield place_of("dispatchables", key), entry
