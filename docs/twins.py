"""Equivalent operators of other dialects.

They come from ONNX Runtime's lowering of nodes, from equal names, and from a written list. All are indexed by ONNX
operator, because both other dialects are compared with ONNX.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from specgate.dialects import SHIPPED
from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["compared", "lowered_to", "made_of", "twins", "written"]

_FILE: Final = Path(__file__).parent / "twins.yaml"
_DIRECTML, _ONNX, _OPENVINO = SHIPPED

#: The names of operators by dialect.
Twins = dict[str, list[str]]


@cache
def lowered_to() -> Mapping[str, tuple[str, ...]]:
    """Return by ONNX operator the DirectML operators it is lowered to."""
    found = {}
    for name, entry in lowering_tables()["operators"].items():
        made = dict.fromkeys(to["operator"] for row in entry.get("rows", ()) for to in _parts(row.get("to", ())))
        if made:
            found[name] = tuple(made)
    return found


def _parts(to: Any) -> Iterator[Mapping[str, Any]]:
    for part in to if isinstance(to, list) else [to]:
        if isinstance(part, dict) and "operator" in part:
            yield part


@cache
def made_of() -> Mapping[str, tuple[str, ...]]:
    """Return by DirectML operator the ONNX operators lowered to it."""
    found: dict[str, list[str]] = {}
    for name, made in lowered_to().items():
        for operator in made:
            found.setdefault(operator, []).append(name)
    return {operator: tuple(names) for operator, names in found.items()}


@cache
def written() -> Mapping[str, str]:
    """Return the written list: ONNX operators -> OpenVINO operators."""
    entries: dict[str, str] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))["onnx-openvino"]
    return entries


@cache
def compared() -> Mapping[str, Twins]:
    """Return by ONNX operator the equivalents in the other dialects.

    Only contains operators with an equivalent.
    """
    named = {name: _by_name(name) for name in (_DIRECTML, _OPENVINO)}
    found = {}
    for operator in dialect(_ONNX).operators:
        directml = [made for made in lowered_to().get(operator, ()) if made in dialect(_DIRECTML).operators]
        if len(directml) != 1:  # several: steps of one computation, or alternatives
            directml = [*named[_DIRECTML].get(_folded(operator), ()), *directml]
        openvino = [written()[operator]] if operator in written() else named[_OPENVINO].get(_folded(operator), [])
        twins_ = {_DIRECTML: list(dict.fromkeys(directml)), _OPENVINO: openvino}
        if any(twins_.values()):
            found[operator] = {name: names for name, names in twins_.items() if names}
    return found


def _by_name(dialect_name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for operator in dialect(dialect_name).operators:
        found.setdefault(_folded(operator), []).append(operator)
    return found


def _folded(operator: str) -> str:
    return operator.replace("_", "").lower().removeprefix("elementwise").removeprefix("activation")


def twins(dialect_name: str, operator: str) -> Twins:
    """Return the closest operators of the other dialects."""
    if dialect_name == _ONNX:
        return dict(compared().get(operator, {}))
    like = [name for name, found in compared().items() if operator in found.get(dialect_name, ())]
    other = _OPENVINO if dialect_name == _DIRECTML else _DIRECTML
    alike = _of(like, dialect_name, operator, other) or _by_name(other).get(_folded(operator), [])
    return {name: names for name, names in ((_ONNX, like), (other, alike)) if names}


def _of(onnx: Iterable[str], dialect_name: str, operator: str, other: str) -> list[str]:
    """Return operators of a third dialect through ONNX.

    Only follows ONNX operators that have no other equivalent in this dialect. For OpenVINO, follows all of them.
    """
    found: dict[str, None] = {}
    for name in onnx:
        alike = compared()[name]
        if alike[dialect_name] == [operator] or dialect_name == _OPENVINO:
            found.update(dict.fromkeys(alike.get(other, ())))
    return list(found)
