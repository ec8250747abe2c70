"""The C# file that prints structures as JSON, from a template."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import MAX_IMAGE, MAX_NESTING
from specgate.dialects.directml.native.pointer import MAX_NAME
from specgate.dialects.directml.native.unmarshal import MAX_ELEMENTS
from specgate.dialects.directml.tensor import MAX_DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.dialects.directml.native.abi import Structure

_TEMPLATE: Final = Path(__file__).parent / "SpecgateDml.cs"


def csharp_source() -> str:
    """Return the C# file; names between two @ in the template are replaced."""
    table = abi()
    structures = [table.structure(name) for name in table.operators]
    parts = {
        "MAX_ELEMENTS": str(MAX_ELEMENTS),
        "MAX_DIMENSIONS": str(MAX_DIMENSIONS),
        "MAX_NESTING": str(MAX_NESTING),
        "MAX_BYTES": str(MAX_IMAGE),
        "MAX_NAME": str(MAX_NAME),
        "OPERATORS": _texts(f"{structure.number} {_line(structure)}" for structure in structures),
        "GRAPH": _texts(_line(table.graph(name)) for name in table.graphs),
        "ENUMS": _texts(
            " ".join([enum, *(f"{word}={number}" for word, number in words.items())])
            for enum, words in table.enums.items()
        ),
    }
    text = _TEMPLATE.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _line(structure: Structure) -> str:
    members = [
        ":".join([m.name, m.base, str(m.offset), m.of or "", m.count or ""]).rstrip(":") for m in structure.members
    ]
    return " ".join([structure.name, *members])


def _texts(lines: Iterable[str]) -> str:
    return "\n".join(f'        "{line}",' for line in lines)
