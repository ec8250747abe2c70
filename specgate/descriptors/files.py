"""Descriptors from files: one dict, a list, a mapping of named ones, or a DxDispatch model; JSON or YAML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.read import dialect_of, load_document, read_dict, read_text_file
from specgate.errors import InputError, NoTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.yamlio import Lines

__all__ = [
    "NoTableEntry",
    "lines",
    "load_relaxed",
    "place_of",
    "plain_name",
    "read_descriptors",
    "read_one",
    "without_comments",
]

MAX_SHOWN: Final = 8


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


def place_of(group: str, key: str) -> str:
    """Return ``group/key``, with a key that is long or not printable shortened and quoted."""
    return f"{group}/{plain_name(key)}"


def plain_name(name: str) -> str:
    """Return a name from a file as it stands, or shortened and quoted where it is long or not printable."""
    return name if name.isprintable() and len(name) <= 80 else repr(name[:60])


def load_relaxed(text: str, name: str) -> Any:
    """Return the JSON or YAML document in `text`; JSON may have comments and trailing commas, as DxDispatch takes it.

    Raises InputError that names the place, with lines and columns as they stand in the file.
    """
    if name.endswith((".yaml", ".yml")):
        return load_document(text, name)
    start = text.lstrip()[:1]
    try:
        return load_document(without_comments(text, name) if start == "/" else text, name)
    except InputError:
        plain = without_comments(text, name) if start in {"{", "["} else text
        if plain == text:
            raise
    return load_document(plain, name)


def without_comments(text: str, name: str = "") -> str:
    """Return JSON with its comments and trailing commas blanked, so that every character keeps its line and column."""
    import re

    # Each alternative also matches up to the end of the text, so that what is never closed costs one pass only.
    string = r'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)'

    def blank(found: re.Match[str]) -> str:
        token = found.group()
        if token[0] == '"':
            return token
        if token[1] == "*" and not token.endswith("*/", 2):
            line = text.count("\n", 0, found.start()) + 1
            raise InputError("a comment that begins here is not closed", file=name or None, place=f"line {line}")
        return re.sub(r"[^\n]", " ", token)

    def keep_string(found: re.Match[str]) -> str:
        return " " if found.group() == "," else found.group()

    plain = re.sub(rf"{string}|//[^\n]*|/\*.*?(?:\*/|\Z)", blank, text, flags=re.DOTALL)
    return re.sub(rf"{string}|,(?=\s*[\]}}])", keep_string, plain, flags=re.DOTALL)


def lines(text: str, name: str) -> Lines | None:
    """Return the 1-based line of each value in a JSON or YAML document, by its path of keys and indices.

    None where the document cannot be read that way (nested too deeply, say). It is parsed again as YAML, which JSON is
    nearly: ask only when lines are shown.
    """
    from specgate.spec.yamlio import load_yaml

    if text.lstrip()[:1] in {"{", "[", "/"} and not name.endswith((".yaml", ".yml")):
        try:
            text = without_comments(text).replace("\t", " ")  # YAML takes no tabs here, and only lines matter
        except InputError:
            return None
    try:
        return load_yaml(text, name)[1]
    except InputError:
        return None
