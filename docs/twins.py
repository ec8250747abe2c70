"""Equivalent operators of other dialects.

They come from ONNX Runtime's lowering of nodes, from equal names, and from a written list. All are indexed by ONNX
operator, because both other dialects are compared with ONNX.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from specgate.dialects import BUILT_IN
from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["closest_operators", "directml_by_onnx", "equivalents_by_operator", "onnx_by_directml", "written_list"]

_FILE: Final = Path(__file__).parent / "twins.yaml"
_DIRECTML, _ONNX, _OPENVINO = BUILT_IN

#: The names of operators by dialect.
Twins = dict[str, list[str]]


@cache
def directml_by_onnx() -> Mapping[str, tuple[str, ...]]:
    """Return by ONNX operator the DirectML operators it is lowered to."""
    targets = {}
    for name, entry in lowering_tables()["operators"].items():
        operators = dict.fromkeys(to["operator"] for row in entry.get("rows", ()) for to in _parts(row.get("to", ())))
        if operators:
            targets[name] = tuple(operators)
    return targets


def _parts(to: Any) -> Iterator[Mapping[str, Any]]:
    for part in to if isinstance(to, list) else [to]:
        if isinstance(part, dict) and "operator" in part:
            yield part


@cache
def onnx_by_directml() -> Mapping[str, tuple[str, ...]]:
    """Return by DirectML operator the ONNX operators lowered to it."""
    sources: dict[str, list[str]] = {}
    for name, targets in directml_by_onnx().items():
        for operator in targets:
            sources.setdefault(operator, []).append(name)
    return {operator: tuple(names) for operator, names in sources.items()}


@cache
def written_list() -> Mapping[str, str]:
    """Return the written list: ONNX operators -> OpenVINO operators."""
    entries: dict[str, str] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))["onnx-openvino"]
    return entries


@cache
def equivalents_by_operator() -> Mapping[str, Twins]:
    """Return by ONNX operator the equivalents in the other dialects.

    Only contains operators with an equivalent.
    """
    named = {name: _operators_by_name(name) for name in (_DIRECTML, _OPENVINO)}
    equivalents = {}
    for operator in dialect(_ONNX).operators:
        directml = [
            lowered for lowered in directml_by_onnx().get(operator, ()) if lowered in dialect(_DIRECTML).operators
        ]
        if len(directml) != 1:  # several: steps of one computation, or alternatives
            directml = [*named[_DIRECTML].get(_fold_name(operator), ()), *directml]
        openvino = (
            [written_list()[operator]] if operator in written_list() else named[_OPENVINO].get(_fold_name(operator), [])
        )
        twins_ = {_DIRECTML: list(dict.fromkeys(directml)), _OPENVINO: openvino}
        if any(twins_.values()):
            equivalents[operator] = {name: names for name, names in twins_.items() if names}
    return equivalents


def _operators_by_name(dialect_name: str) -> dict[str, list[str]]:
    operators: dict[str, list[str]] = {}
    for operator in dialect(dialect_name).operators:
        operators.setdefault(_fold_name(operator), []).append(operator)
    return operators


def _fold_name(operator: str) -> str:
    return operator.replace("_", "").lower().removeprefix("elementwise").removeprefix("activation")


def closest_operators(dialect_name: str, operator: str) -> Twins:
    """Return the closest operators of the other dialects."""
    if dialect_name == _ONNX:
        return dict(equivalents_by_operator().get(operator, {}))
    like = [
        name for name, equivalents in equivalents_by_operator().items() if operator in equivalents.get(dialect_name, ())
    ]
    other = _OPENVINO if dialect_name == _DIRECTML else _DIRECTML
    alike = _operators_via_onnx(like, dialect_name, operator, other) or _operators_by_name(other).get(
        _fold_name(operator), []
    )
    return {name: names for name, names in ((_ONNX, like), (other, alike)) if names}


def _operators_via_onnx(onnx: Iterable[str], dialect_name: str, operator: str, other: str) -> list[str]:
    """Return operators of a third dialect through ONNX.

    Only follows ONNX operators that have no other equivalent in this dialect. For OpenVINO, follows all of them.
    """
    operators: dict[str, None] = {}
    for name in onnx:
        alike = equivalents_by_operator()[name]
        if alike[dialect_name] == [operator] or dialect_name == _OPENVINO:
            operators.update(dict.fromkeys(alike.get(other, ())))
    return list(operators)
