"""The ABI of DirectML's structures, from ``abi/directml.yaml``.

Offsets of members are computed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import format_value
from specgate.errors import InputError, NoTable

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE: Final = Path(__file__).resolve().parents[3]
#: In a checkout, then in a wheel.
_PLACES: Final = (_PACKAGE.parent / "specs", _PACKAGE / "_specs" / "yaml")
_KIND: Final = re.compile(r"([a-z0-9-]+)(?::(\w+))?(?:\[(\w+)\])?(\?)?")
#: Size and alignment of members that are stored inline.
_INLINE: Final = {
    "uint": (4, 4), "int": (4, 4), "float": (4, 4), "bool": (4, 4), "enum": (4, 4),
    "size-2d": (8, 4), "scalar": (8, 8), "size": (8, 8),
}  # fmt: skip
_POINTERS: Final = frozenset({"input", "output", "operator", "scale-bias", "object", "data", "text", "node", "edge"})


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an operator's structure.

    base: the kind without its marks, e.g. ``uint``, ``input``, ``enum``. of: the name of the enum, or of the member
    that types a scalar. count: the member with an array's length, None if it is not an array. counts: the arrays whose
    length this member is.
    """

    name: str
    base: str
    offset: int
    of: str | None = None
    count: str | None = None
    optional: bool = False
    counts: tuple[str, ...] = ()

    @property
    def tensor(self) -> bool:
        return self.base in {"input", "output"}

    @property
    def pointer(self) -> bool:
        return self.count is not None or self.base in _POINTERS


@dataclass(frozen=True, slots=True)
class Structure:
    """One structure: operator number, members in order, size in bytes.

    The number is 0 for the structures of graphs.
    """

    name: str
    number: int
    since: str
    members: tuple[Member, ...]
    size: int


class Abi:
    """The whole ABI table; structures are laid out on first use."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = raw
        self.enums: Mapping[str, Mapping[str, int]] = raw["enums"]
        self.operators: tuple[str, ...] = tuple(raw["operators"])
        self.graphs: tuple[str, ...] = tuple(raw["graph"])
        self._structures: dict[str, Structure] = {}

    def structure(self, operator: str) -> Structure:
        """Return an operator's structure; raise NoTable.

        The name may have the prefix ``DML_OPERATOR_``.
        """
        name = operator.removeprefix("DML_OPERATOR_")
        name = self._raw["aliases"].get(name, name)
        if name not in self._structures:
            if name not in self._raw["operators"]:
                raise NoTable(f"DirectML has no operator {format_value(operator)}")
            self._structures[name] = _build_structure(name, self._raw["operators"][name])
        return self._structures[name]

    def graph(self, name: str) -> Structure:
        """Return a structure of a graph by its name without ``DML_``."""
        if name not in self._structures:
            self._structures[name] = _build_structure(name, {"value": 0, **self._raw["graph"][name]})
        return self._structures[name]


def parse_kind(text: str) -> tuple[str, str | None, str | None, bool]:
    """Return a kind's base, enum or type, count member, and optionality.

    Raises ValueError.
    """
    match = _KIND.fullmatch(text)
    if match is None or match[1] not in {*_INLINE, *_POINTERS}:
        raise ValueError(f"unknown kind {text!r}")
    return match[1], match[2], match[3], match[4] is not None


def _build_structure(name: str, raw: Mapping[str, Any]) -> Structure:
    kinds = {member: parse_kind(kind) for member, kind in raw["fields"].items()}
    members, end, widest = [], 0, 1
    for member, (base, element_type, count, optional) in kinds.items():
        pointer = count is not None or base in _POINTERS
        size, alignment = (8, 8) if pointer else _INLINE[base]
        offset = -(-end // alignment) * alignment
        counts = tuple(other for other, kind in kinds.items() if kind[2] == member)
        members.append(Member(member, base, offset, element_type, count, optional, counts))
        end, widest = offset + size, max(widest, alignment)
    return Structure(name, raw["value"], raw["since"], tuple(members), -(-end // widest) * widest)


@cache
def abi() -> Abi:
    """Return the table, read once; raise InputError if the file is missing."""
    from specgate.spec.yamlio import load_yaml

    for place in _PLACES:
        path = place / "abi" / "directml.yaml"
        if path.is_file():
            return Abi(load_yaml(path.read_text(encoding="utf-8"), str(path))[0])
    raise InputError("the table abi/directml.yaml is missing from the specs; reinstall specgate")
