"""The beginning of a table: versions and attributes, as the package states them. The rest is for people to write."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.dialects.openvino.importer.package import Version

__all__ = ["begun", "file_name"]

_BOUNDARY: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TYPES: Final = {bool: "bool", int: "int", float: "float", str: "string"}
_MISSING: Final = (
    "Only versions and attributes are here, as the package states them. Inputs, outputs, types, rules, examples and "
    "which attributes are required are to be written from the page."
)
_LISTS: Final = "The package does not say what the elements of its empty lists are. Here they are int."


def file_name(operator: str) -> str:
    """Return where the table of a type lies in the dialect's folder."""
    return f"operators/{_BOUNDARY.sub('_', operator).lower()}.yaml"


def begun(name: str, at: Mapping[str, Version | None], package: str) -> str:
    """Return the text of a table that has only what the package states of a type."""
    lines = [f"operator: {name}", "source:", "  - package: openvino", f'    version: "{package}"']
    lines += [f'    name: "openvino/opsets and NodeFactory.create, {name}"']
    lines += ["unknowns:", *_wrapped(_MISSING)]
    versions = {level: version for level, version in at.items() if version is not None}
    untold = [level for level, version in versions.items() if version.attributes is None]
    if untold:
        lines += _wrapped(f"Which attributes it has at {', '.join(untold)}, the package does not say.")
    if any([] in (version.attributes or {}).values() for version in versions.values()):
        lines += _wrapped(_LISTS)
    fields = list(_fields(versions))
    lines += ["fields:", *fields] if fields else ["fields: {}"]
    lines += ["support:", *_rows(at)]
    if at[list(at)[-1]] is None:
        lines.append(f'removed: "{list(at)[-1]}"')
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    return wrap(text, 119, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def _fields(versions: Mapping[str, Version]) -> Iterator[str]:
    """Yield the attributes of all versions, with the opsets from which on and before which there are such."""
    levels = list(versions)
    stated = [version.attributes or {} for version in versions.values()]
    for name in dict.fromkeys(key for attributes in stated for key in attributes):
        having = [name in attributes for attributes in stated]
        first, last = having.index(True), len(having) - 1 - having[::-1].index(True)
        value = stated[last][name]
        field = re.sub(r"\W", "_", name)
        parts = ["kind: attribute", f"type: {_type(value)}"]
        parts += [f"vendor_name: {name}"] if field != name else []
        parts += [f"since: {levels[first]}"] if first else []
        parts += [f"until: {levels[last + 1]}"] if last + 1 < len(levels) else []
        yield f"  {field}: {{{', '.join(parts)}}}  # {value!r} when nothing is set"


def _type(value: Any) -> str:
    if isinstance(value, list):
        return f'"{_type(value[0]) if value else "int"}[]"'
    return _TYPES[type(value)]


def _rows(at: Mapping[str, Version | None]) -> Iterator[str]:
    for number, (level, version) in enumerate(at.items()):
        if version is not None:
            yield f'  "{level}": {{}}'
        elif number + 1 < len(at):
            yield f'  "{level}": {{deprecated: true}}'
