"""Comparison of a dialect's tables with the facts of a package."""

from __future__ import annotations

from ctypes import c_float
from typing import TYPE_CHECKING, Any

from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["differences", "facts_of_tables", "level_differences", "version_differences"]

_TYPES = {word: name for name, word in ATTRIBUTE_TYPES.items()}


def facts_of_tables(table: Dialect) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the facts in the tables in the form of `schema_facts`.

    Types have the tables' names.
    """
    return {name: dict(_versions(table.operator(name))) for name in table.operators}


def _versions(spec: OperatorSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    for level in spec.rows:
        row, fields = spec.table.only_rows[level], spec.fields_at(level)
        yield (
            level,
            {
                "deprecated": level in spec.table.deprecated,
                "inputs": [_parameter(f, row) for f in fields.values() if f.kind == "input"],
                "outputs": [_parameter(f, row) for f in fields.values() if f.kind == "output"],
                "type_sets": {cell["variable"]: cell["types"] for cell in row.values() if "variable" in cell},
                "attributes": {f.vendor_name: _attribute(f) for f in fields.values() if f.kind == "attribute"},
            },
        )
    if spec.table.removed:
        yield spec.table.removed, {"deprecated": True}


def _parameter(info: FieldInfo, row: Mapping[str, Any]) -> dict[str, Any]:
    cell = row.get(info.name, {})
    types = cell.get("variable") or ", ".join(cell.get("types", ()))
    parameter = {"name": info.vendor_name, "types": types, "option": "optional" if info.optional else "single"}
    if info.type == "tensor[]":
        least = info.min_count if info.min_count is not None else 0 if info.optional else 1
        parameter |= {"option": "variadic", "homogeneous": not info.heterogeneous, "least": least}
    return parameter


def _attribute(info: FieldInfo) -> dict[str, Any]:
    required = not info.optional and info.default is None
    return {"type": _TYPES.get(info.type, info.type), "required": required, "default": info.default}


def differences(
    tables: Mapping[str, Any], package: Mapping[str, Any], words: Mapping[str, str], newest: Mapping[str, int]
) -> Iterator[str]:
    """Yield one line for each fact in which tables and package differ.

    words: the tables' name of each type, by the package's name. newest: the package's newest version of each domain.
    Newer versions in the tables, and domains that the package lacks, are ignored.
    """
    for name in dict.fromkeys([*package, *tables]):
        top = newest.get(name.rpartition(".")[0], 0)
        ours = {level: version for level, version in tables.get(name, {}).items() if int(level) <= top}
        theirs = package.get(name, {})
        if not ours or not theirs:
            if ours or theirs:
                yield f"{name}: {'no table' if not ours else 'the package does not have it'}"
            continue
        for level in sorted({*ours, *theirs}, key=int):
            if level not in ours or level not in theirs:
                yield f"{name} {level}: {'no row' if level not in ours else 'the package has no such version'}"
                continue
            yield from (f"{name} {level}: {text}" for text in version_differences(ours[level], theirs[level], words))


def version_differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    """Yield the differences in one version of an operator."""
    if ours["deprecated"] != theirs["deprecated"]:
        yield f"deprecated: {ours['deprecated']} in the table, {theirs['deprecated']} in the package"
    if "inputs" not in ours:  # a version that removes the operator permanently has no row
        return
    variables: set[str] = set()
    for part in ("inputs", "outputs"):
        named = [{**p, "types": words.get(p["types"], p["types"])} for p in theirs[part]]
        yield from _compare_lists(part, ours[part], named)
        variables |= {p["types"] for p in ours[part]}
    for variable, types in theirs["type_sets"].items():
        there = {words.get(spelt, spelt) for spelt in types}
        here = set(ours["type_sets"].get(variable, there if variable not in variables else ()))
        if here != there:
            yield f"types of {variable}: {_format_difference(here - there, there - here)}"
    for name in dict.fromkeys([*theirs["attributes"], *ours["attributes"]]):
        ours_, other = ours["attributes"].get(name), theirs["attributes"].get(name)
        if _round_default(ours_) != _round_default(other):
            yield f"attribute {name}: {_fact(ours_)} in the table, {_fact(other)} in the package"


def _compare_lists(part: str, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> Iterator[str]:
    for index in range(max(len(ours), len(theirs))):
        one, other = (side[index] if index < len(side) else None for side in (ours, theirs))
        if one != other:
            yield f"{part}[{index}]: {_fact(one)} in the table, {_fact(other)} in the package"


def _round_default(fact: Mapping[str, Any] | None) -> Any:
    """Return an attribute's facts with its default in single precision.

    The package stores floats with 32 bits.
    """
    if fact is None or not isinstance(fact["default"], float):
        return fact
    return {**fact, "default": repr(c_float(fact["default"]).value)}


def _fact(fact: Mapping[str, Any] | None) -> str:
    return "none" if fact is None else ", ".join(f"{key} {value}" for key, value in fact.items())


def _format_difference(more: set[str], fewer: set[str]) -> str:
    parts = [f"only in the table {', '.join(sorted(more))}"] if more else []
    return "; ".join(parts + ([f"only in the package {', '.join(sorted(fewer))}"] if fewer else []))


def level_differences(table: Dialect, releases: list[list[Any]], newest: Mapping[str, int]) -> Iterator[str]:
    """Yield differences between the levels and the package's releases.

    releases: release, IR version, version of ai.onnx, and of ai.onnx.ml and ai.onnx.preview.training if they exist.
    """
    levels = table.tables.levels
    if str(newest[""]) not in levels:
        yield f"levels.yaml: opset {newest['']} of the package is not there"
    for release, ir_version, opset, *domains in releases:
        info = levels.get(str(opset), {"domains": {}})
        ours = (info.get("ir_version"), *(int(info["domains"].get(name, 0)) for name in _RELEASED[: len(domains)]))
        if ours != (ir_version, *domains):
            yield f"levels.yaml: opset {opset} has {ours}, release {release} has {(ir_version, *domains)}"
    for name in (domain for domain in table.domains if domain not in table.tables.foreign):
        ours_newest = max(int(info.get("domains", {}).get(name, 0)) for info in levels.values())
        if ours_newest != newest.get(name):
            yield f"levels.yaml: {name} ends at {ours_newest}, in the package at {newest.get(name)}"


_RELEASED = ("ai.onnx.ml", "ai.onnx.preview.training")
