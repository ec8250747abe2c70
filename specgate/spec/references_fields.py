"""What the fields and support rows of an operator refer to in vain: other fields, types, operators, levels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from specgate.spec.assemble import support_rows
from specgate.spec.fields import is_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.yamlio import Keys

__all__ = ["Problem", "cell_problems", "field_problems", "forms_of", "support_problems"]

#: Where in an operator something is wrong, and what.
Problem = tuple["Keys", str]
_SPEAKS_OF: Final = {"ranks": ("tensor",), "types": ("tensor",), "operators": ("operator",)}


def _member_problems(path: Keys, info: dict[str, Any], dialect: Dialect) -> Iterator[Problem]:
    """What rules read of a fused operator is an attribute of some operator, of the type that stands there."""
    if info.get("members") and info.get("type") != "operator":
        yield path, "expected it of an operator only"
    elif dialect.tables.about.get("complete"):
        known = {(n, f.get("type")) for raw in dialect.tables.operators.values() for (_, n, *_), f in forms_of(raw)}
        for name, type_ in info.get("members", {}).items():
            if (name, type_) not in known:
                yield (*path, name), f"no operator has an attribute {name} of type {type_!r:.80}"


def field_problems(raw: dict[str, Any], dialect: Dialect) -> Iterator[Problem]:
    """A scalar's type is in an enum of the same operator; the forms of a field follow each other."""
    enums = {path[1] for path, info in forms_of(raw) if str(info.get("type")).startswith("enum:")}
    arrays = {path[1] for path, info in forms_of(raw) if info.get("type", "tensor").endswith("[]")}
    starts = {(path[1], info.get("since")) for path, info in forms_of(raw) if info.get("kind") == "input"}
    for path, info in forms_of(raw):
        yield from _member_problems((*path, "members"), info, dialect)
        type_, named = info.get("type", "tensor"), info.get("type_from")
        if not is_type(type_, dialect.vocabulary.records):
            yield (*path, "type"), f"unknown type of fields {type_!r:.80}"
        scalar = type_ == "scalar"
        if scalar and named is None:
            yield (*path, "type_from"), "expected the attribute that says which type the scalar has"
        elif named is not None and not scalar:
            yield (*path, "type_from"), "expected it of a scalar only"
        elif named is not None and named not in enums:
            yield (*path, "type_from"), f"expected an attribute of an enum's type, found {named!r:.80}"
        if ("min_count" in info or "heterogeneous" in info) and info.get("type") != "tensor[]":
            yield path, "expected min_count and heterogeneous of an array of tensors only"
        if "enum" in info and (info["kind"] != "attribute" or info.get("type") not in {"int", "int[]"}):
            yield (*path, "enum"), "expected it of an attribute that holds integers only"
        elif "enum" in info and not dialect.numbers(info["enum"]):
            yield (*path, "enum"), "types.yaml has no numbers"
        if "became" in info and (info["became"], info.get("until")) not in starts:
            yield (*path, "became"), f"expected an input since {info.get('until')!r:.40}, found {info['became']!r:.80}"
        yield from (((*path, "counts"), f"{n!r:.80} is no array") for n in info.get("counts") or () if n not in arrays)
    for name, forms in raw["fields"].items():
        if isinstance(forms, list):
            yield from _order_problems(("fields", name), forms, dialect)


def _order_problems(path: Keys, forms: list[dict[str, Any]], dialect: Dialect) -> Iterator[Problem]:
    if len({form["kind"] for form in forms}) > 1:
        yield (
            path,
            "expected one kind in all its forms; a field of another kind needs a name of its own, and `vendor_name`",
        )
    for index, (before, after) in enumerate(pairwise(forms), start=1):
        end, start = (dialect.position.get(level or "") for level in (before.get("until"), after.get("since")))
        if end is None or start is None or end > start:
            yield (*path, index, "since"), "expected it no lower than the `until` of the form before"


def support_problems(raw: dict[str, Any], dialect: Dialect) -> Iterator[Problem]:
    support = raw["support"]
    cases = list(enumerate(support)) if isinstance(support, list) else [(None, support)]
    seen: dict[str, int] = {}
    for index, case in cases:
        path: Keys = ("support",) if index is None else ("support", index)
        levels = [level for level in case if index is None or level != "when"]
        rows = [dialect.position[level] for level in levels if level in dialect.position]
        if not levels or rows != sorted(rows):
            yield path, "expected at least one row, rows in the order of the levels"
        if index is not None and seen.setdefault(case["when"], index) != index:
            yield (*path, "when"), f"support.{seen[case['when']]} says the same"
    if not cases:
        yield ("support",), "expected at least one case"
    before: dict[Keys, dict[str, Any]] = {}
    for path, row in support_rows(support):
        kept = before.get(path[:-1], {})
        for name, cell in row.items():
            if kept.get(name) != cell:  # else the row before has said it
                yield from cell_problems((*path, name), name, cell, raw, dialect)
        before[path[:-1]] = row


def cell_problems(
    path: Keys, name: str, cell: dict[str, Any], raw: dict[str, Any], dialect: Dialect
) -> Iterator[Problem]:
    if name not in raw["fields"]:
        yield path, f"unknown field {name!r}"
        return
    kinds = [f.get("type", "tensor").removesuffix("[]") for at, f in forms_of(raw) if at[1] == name]
    for key in cell.keys() & _SPEAKS_OF.keys():
        if not set(kinds) & set(_SPEAKS_OF[key]):
            yield (*path, key), f"a field of type {kinds[-1]} has no {key}"
    if dialect.tables.about.get("complete"):
        unknown = [n for n in cell.get("operators", ()) if n not in dialect.tables.operators]
        yield from (((*path, "operators"), f"unknown operator {n!r:.80}") for n in unknown)
    if "when" in cell and cell["when"] not in _conditions(raw):
        yield (*path, "when"), "expected the condition of one of the operator's cases, as it stands there"
    types = cell.get("types")
    if types != "any":
        yield from (((*path, "types"), f"unknown type {t!r:.80}") for t in types or () if not dialect.knows_type(t))


def _conditions(raw: dict[str, Any]) -> list[str]:
    return [case["when"] for case in raw["support"]] if isinstance(raw["support"], list) else []


def forms_of(raw: dict[str, Any]) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Yield every form of every field with its path."""
    for name, info in raw["fields"].items():
        if isinstance(info, list):
            yield from ((("fields", name, index), form) for index, form in enumerate(info))
        else:
            yield ("fields", name), info
