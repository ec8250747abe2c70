"""Skeleton of a table: versions and attributes from the package.

The rest is written by hand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.import_openvino.package import Version

__all__ = ["file_name", "write_skeleton"]

_BAD: Final = re.compile(r"\W")
_TYPES: Final = {bool: "bool", int: "int", float: "float", str: "string"}
_MISSING: Final = (
    "Only versions and attributes are here, as the package states them. Inputs, outputs, types, rules, examples and "
    "which attributes are required are to be written from the page."
)
_LISTS: Final = "The package does not say what the elements of its empty lists are. Here they are int."


def file_name(operator: str) -> str:
    """Return the path of a type's table in the dialect's folder."""
    return f"operators/{operator}.yaml"


def write_skeleton(name: str, at: Mapping[str, Version | None], package: str) -> str:
    """Return the text of a skeleton table.

    at: the package's facts by first opset; None if the type does not exist there. Raises InputError without
    ruamel.yaml.
    """
    from tools.rewrite import Quoted, rewrite_file

    versions = {level: version for level, version in at.items() if version is not None}
    untold = [level for level, version in versions.items() if version.attributes is None]
    unknowns = [_MISSING]
    if untold:
        unknowns.append(f"Which attributes it has at {', '.join(untold)}, the package does not say.")
    if any([] in (version.attributes or {}).values() for version in versions.values()):
        unknowns.append(_LISTS)
    fields = {_BAD.sub("_", name): (field, value) for name, field, value in _fields(versions)}
    source = {"package": "openvino", "version": package, "name": f"openvino/opsets and NodeFactory.create, {name}"}
    last = list(at)[-1]
    content = {
        "operator": name,
        "source": [source],
        "unknowns": unknowns,
        "fields": {name: field for name, (field, _) in fields.items()},
        "support": {
            Quoted(level): {"deprecated": True} if version is None else {}
            for level, version in at.items()
            if version is not None or level != last
        },
        **({"removed": Quoted(last)} if at[last] is None else {}),
    }
    return rewrite_file(
        "", {}, content, {("fields", name): f"{value!r} when nothing is set" for name, (_, value) in fields.items()}
    )


def _fields(versions: Mapping[str, Version]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield the attributes of all versions with their opset ranges."""
    levels = list(versions)
    stated = [version.attributes or {} for version in versions.values()]
    for name in dict.fromkeys(key for attributes in stated for key in attributes):
        having = [name in attributes for attributes in stated]
        first, last = having.index(True), len(having) - 1 - having[::-1].index(True)
        value = stated[last][name]
        field: dict[str, Any] = {"kind": "attribute", "type": _type(value)}
        field |= {"vendor_name": name} if _BAD.search(name) else {}
        field |= {"since": levels[first]} if first else {}
        field |= {"until": levels[last + 1]} if last + 1 < len(levels) else {}
        yield name, field, value


def _type(value: Any) -> str:
    if isinstance(value, list):
        return f"{_type(value[0]) if value else 'int'}[]"
    return _TYPES[type(value)]
