"""Find unresolved references in tables: fields, types, operators, levels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError
from specgate.rules.language import TRUTH, RuleError
from specgate.rules.parse import parse
from specgate.spec.assemble import support_rows
from specgate.spec.dialect_spec import Dialect
from specgate.spec.fields import is_type
from specgate.spec.forms import rule_forms
from specgate.spec.operator_spec import OperatorSpec
from specgate.spec.short_forms import named_sets
from specgate.spec.variables import SAME_TYPE
from specgate.spec.written import cases_of
from specgate.spec.yamlio import format_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from specgate.rules.language import Rule, Scope
    from specgate.spec.assemble import Sources
    from specgate.spec.yamlio import Keys, Lines

#: A path in an operator, and a message.
Problem = tuple["Keys", str]
_KINDS_WITH_KEY: Final = {"ranks": ("tensor",), "types": ("tensor",), "operators": ("operator",)}


def _member_problems(path: Keys, info: dict[str, Any], dialect: Dialect) -> Iterator[Problem]:
    """Report members of fused operators that no operator defines as such.

    A member must be an attribute of some operator, with the same type.
    """
    if info.get("members") and info.get("type") != "operator":
        yield path, "expected a field of type operator"
    elif dialect.tables.about.get("complete"):
        members = {(n, f.get("type")) for raw in dialect.tables.operators.values() for (_, n, *_), f in forms_of(raw)}
        for name, type_ in info.get("members", {}).items():
            if (name, type_) not in members:
                yield (*path, name), f"no operator has an attribute {name} of type {type_!r:.80}"


def field_problems(raw: dict[str, Any], dialect: Dialect) -> Iterator[Problem]:
    """Report inconsistent keys of fields, such as a scalar without a type enum.

    The enum must belong to the same operator, and the forms of a field must be consecutive.
    """
    enums = {path[1] for path, info in forms_of(raw) if str(info.get("type")).startswith("enum:")}
    arrays = {path[1] for path, info in forms_of(raw) if info.get("type", "tensor").endswith("[]")}
    starts = {(path[1], info.get("since")) for path, info in forms_of(raw) if info.get("kind") == "input"}
    for path, info in forms_of(raw):
        yield from _member_problems((*path, "members"), info, dialect)
        type_, type_source = info.get("type", "tensor"), info.get("type_from")
        if not is_type(type_, dialect.vocabulary.records):
            yield (*path, "type"), f"unknown type of fields {type_!r:.80}"
        scalar = type_ == "scalar"
        if scalar and type_source is None:
            yield (*path, "type_from"), "expected the attribute with the scalar's type"
        elif type_source is not None and not scalar:
            yield (*path, "type_from"), "expected a scalar"
        elif type_source is not None and type_source not in enums:
            yield (*path, "type_from"), f"expected an attribute of an enum's type, found {type_source!r:.80}"
        if ("min_count" in info or "heterogeneous" in info) and info.get("type") != "tensor[]":
            yield path, "expected min_count and heterogeneous of an array of tensors only"
        if "enum" in info and (info["kind"] != "attribute" or info.get("type") not in {"int", "int[]"}):
            yield (*path, "enum"), "expected an attribute that contains only integers"
        elif "enum" in info and not dialect.numbers(info["enum"]):
            yield (*path, "enum"), "types.yaml has no numbers"
        if "became" in info and (info["became"], info.get("until")) not in starts:
            yield (*path, "became"), f"expected an input since {info.get('until')!r:.40}, found {info['became']!r:.80}"
        yield from (
            ((*path, "counts"), f"{n!r:.80} is not an array") for n in info.get("counts") or () if n not in arrays
        )
    for name, forms in raw["fields"].items():
        if isinstance(forms, list):
            yield from _order_problems(("fields", name), forms, dialect)


def _order_problems(path: Keys, forms: list[dict[str, Any]], dialect: Dialect) -> Iterator[Problem]:
    if len({form["kind"] for form in forms}) > 1:
        yield (
            path,
            "expected one kind in all its forms; a field of another kind needs a different name, and `vendor_name`",
        )
    for index, (before, after) in enumerate(pairwise(forms), start=1):
        end, start = (dialect.position.get(level or "") for level in (before.get("until"), after.get("since")))
        if end is None or start is None or end > start:
            yield (*path, index, "since"), "expected a level from the `until` of the previous form on"


def support_problems(raw: dict[str, Any], dialect: Dialect) -> Iterator[Problem]:
    cases = cases_of(raw["support"])
    places_by_condition: dict[str, int] = {}
    for index, (path, when, stated) in enumerate(cases):
        rows = [dialect.position[level] for level in stated if level in dialect.position]
        if not stated or rows != sorted(rows):
            yield path, "expected at least one row, rows in the order of the levels"
        if when is not None and places_by_condition.setdefault(when, index) != index:
            yield (*path, "when"), f"support.{places_by_condition[when]} has the same condition"
    if not cases:
        yield ("support",), "expected at least one case"
    before: dict[Keys, dict[str, Any]] = {}
    for path, row in support_rows(raw["support"]):
        previous = before.get(path[:-1], {})
        for name, cell in row.items():
            if previous.get(name) != cell:  # otherwise reported for the row before
                yield from cell_problems((*path, name), name, cell, raw, dialect)
        before[path[:-1]] = row


def cell_problems(
    path: Keys, name: str, cell: dict[str, Any], raw: dict[str, Any], dialect: Dialect
) -> Iterator[Problem]:
    if name not in raw["fields"]:
        yield path, f"unknown field {name!r}"
        return
    kinds = [f.get("type", "tensor").removesuffix("[]") for field_path, f in forms_of(raw) if field_path[1] == name]
    for key in cell.keys() & _KINDS_WITH_KEY.keys():
        if not set(kinds) & set(_KINDS_WITH_KEY[key]):
            yield (*path, key), f"a field of type {kinds[-1]} has no {key}"
    if dialect.tables.about.get("complete"):
        unknown = [n for n in cell.get("operators", ()) if n not in dialect.tables.operators]
        yield from (((*path, "operators"), f"unknown operator {n!r:.80}") for n in unknown)
    if "when" in cell and cell["when"] not in _conditions(raw):
        yield (*path, "when"), "expected the condition of one of the operator's cases, spelled as there"
    types = cell.get("types")
    if types != "any":
        yield from (((*path, "types"), f"unknown type {t!r:.80}") for t in types or () if not dialect.knows_type(t))


def _conditions(raw: dict[str, Any]) -> list[str]:
    return [when for _, when, _ in cases_of(raw["support"]) if when is not None]


def forms_of(raw: dict[str, Any]) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Yield every form of every field with its path."""
    for name, info in raw["fields"].items():
        if isinstance(info, list):
            yield from ((("fields", name, index), form) for index, form in enumerate(info))
        else:
            yield ("fields", name), info


_RECIPE: Final = frozenset(
    {"kernel", "arrays", "arguments", "output_type", "outputs", "sized_by_values", "since", "unsupported_types"}
)


def check_references(
    tables: dict[str, Any], folder: Path, lines: Mapping[str, Lines], sources: Mapping[str, Sources]
) -> list[str]:
    """Return one line per unresolved name in the tables.

    Names are levels, types, fields and those in expressions. lines: positions in the dialect's files, by the file's
    name inside `folder`. sources: the files of each operator.
    """
    dialect = Dialect(tables["dialect"]["dialect"], tables)
    parts = [(f"{part}.yaml", *problem) for part, check in _PARTS.items() for problem in check(dialect)]
    texts = [format_problem(str(folder / file), lines.get(file, {}), path, text) for file, path, text in parts]
    return texts + check_operators(tables, sources)


def check_operators(tables: dict[str, Any], sources: Mapping[str, Sources]) -> list[str]:
    """Return the unresolved names in the operators of `sources`.

    Names in a family are reported for one of its operators.
    """
    root = Dialect(tables["dialect"]["dialect"], tables)
    texts = []
    owners: dict[tuple[str, Keys], str] = {}
    for name, source in sources.items():
        dialect = root.for_domain(name.rpartition(".")[0])
        for path, text in _operator_problems(tables["operators"][name], dialect):
            if owners.setdefault(source.locate_source(path), name) == name:
                texts.append(source.locate_problem(path, text))
    return texts


def _levels_problems(dialect: Dialect) -> Iterator[Problem]:
    """Report limits that only some levels define.

    In rules a missing limit would be a word instead of a number.
    """
    for level in dialect.levels:
        missing_limits = sorted(dialect.limit_names - set(dialect.limits(level)))
        if missing_limits:
            yield ("levels", level, "limits"), f"expected {', '.join(missing_limits)}, as at other levels"


def _types_problems(dialect: Dialect) -> Iterator[Problem]:
    for name, info in dialect.types.items():
        if info.get("since"):
            yield from _level_problem(("types", name, "since"), info["since"], dialect)


def _environments_problems(dialect: Dialect) -> Iterator[Problem]:
    for index, entry in enumerate(dialect.environments):
        yield from _level_problem(("environments", index, "level"), entry["level"], dialect)


def _tensor_problems(dialect: Dialect) -> Iterator[Problem]:
    tensor = dialect.tables.tensor
    forms = {name: rule_forms(entry) for name, entry in tensor.rules.items()}
    yield from _rule_problems(("rules",), forms, dialect.tensor_scope, set(forms), dialect)
    yield from _observed_problems(tensor.entries, dialect.tensor_scope, set(forms), dialect)
    for name, entry in tensor.counterexamples.items():
        place = ("counterexamples", name)
        if name not in forms:
            yield place, f"unknown rule {name!r}"
        operator = dialect.tables.operators.get(entry.get("operator", ""))
        if operator is None:
            yield (*place, "operator"), f"unknown operator {entry.get('operator')!r:.80}"
        elif entry["of"] not in operator.get("examples", {}):
            yield (*place, "of"), f"unknown example {entry['of']!r:.80}"


def _sets_problems(dialect: Dialect) -> Iterator[Problem]:
    raw = dialect.tables.sets
    entries, problems = named_sets(raw)
    yield from problems
    # operators are resolved where cells use a set: a folder with few operators may have sets that name others
    for name, type_list in entries["types"].items():
        unknown = [item for item in type_list if not dialect.knows_type(item)]
        yield from ((("types", name), f"unknown type {item!r:.80}") for item in unknown)


_PARTS: Final[Mapping[str, Callable[[Dialect], Iterator[Problem]]]] = {
    "levels": _levels_problems,
    "types": _types_problems,
    "environments": _environments_problems,
    "sets": _sets_problems,
    "tensor": _tensor_problems,
}


def _level_problem(path: Keys, level: Any, dialect: Dialect) -> Iterator[Problem]:
    if level not in dialect.position:
        yield path, f"unknown level {level!r:.40}"


def _operator_problems(raw: dict[str, Any], dialect: Dialect) -> Iterator[Problem]:
    if "fields" not in raw:
        yield ("fields",), "expected this key"
        return
    if "summary" not in raw and not dialect.tables.about.get("rows_are_versions"):
        yield ("summary",), "expected this key"
    for path, level in _levels_of(raw):
        yield from _level_problem(path, level, dialect)
    yield from field_problems(raw, dialect)
    yield from support_problems(raw, dialect)
    spec = OperatorSpec(dialect, raw)
    defines: dict[str, Rule] = {}
    for name, text in raw.get("define", {}).items():
        try:
            defines[name] = spec.parse_define(name, text, defines)
        except RuleError as error:
            yield ("define", name), error.line
    scope = spec.scope_with(defines)
    for index, (condition, _) in enumerate(spec.support):
        yield from _expression_problems(("support", index, "when"), condition, scope, TRUTH)
    names = set(raw.get("rules", {}))
    yield from _rule_problems(("rules",), raw.get("rules", {}), scope, names, dialect)
    yield from _observed_problems(raw, scope, names, dialect)
    yield from _execute_problems(raw, scope, dialect)
    for name, entry in raw.get("counterexamples", {}).items():
        if entry["of"] not in raw.get("examples", {}):
            yield ("counterexamples", name, "of"), f"unknown example {entry['of']!r:.80}"
        if name not in names:
            yield ("counterexamples", name), f"unknown rule {name!r}"


def _levels_of(raw: dict[str, Any]) -> Iterator[tuple[Keys, Any]]:
    yield from ((path, path[-1]) for path, _ in support_rows(raw["support"]))
    if raw.get("removed"):
        yield ("removed",), raw["removed"]
    for path, info in forms_of(raw):
        yield from (((*path, key), info[key]) for key in ("since", "until") if info.get(key))
    for name, example in raw.get("examples", {}).items():
        yield from ((("examples", name, key), example[key]) for key in ("since", "until") if example.get(key))
    for name, entry in raw.get("counterexamples", {}).items():
        if entry.get("at"):
            yield ("counterexamples", name, "at"), entry["at"]
    yield from ((("execute", level), level) for level in raw.get("execute", {}) if level not in _RECIPE)
    if since := raw.get("execute", {}).get("since"):
        yield ("execute", "since"), since


def _rule_problems(
    path: Keys, rules: Mapping[str, list[dict[str, Any]]], scope: Scope, names: set[str], dialect: Dialect
) -> Iterator[Problem]:
    for name, forms in rules.items():
        for index, form in enumerate(forms):
            place = (*path, name) if len(forms) == 1 else (*path, name, index)
            ends = [form.get(key) for key in ("since", "until")]
            yield from (
                ((*place, key), f"unknown level {form[key]!r:.40}")
                for key in ("since", "until")
                if form.get(key) and form[key] not in dialect.position
            )
            scope_names = (
                scope.scope_between(*ends) if all(end is None or end in dialect.position for end in ends) else scope
            )
            for key in ("require", "when"):
                yield from _expression_problems((*place, key), form.get(key), scope_names, TRUTH)
            yield from (((*place, "after"), f"unknown rule {n!r:.80}") for n in form.get("after", ()) if n not in names)


def _expression_problems(path: Keys, text: str | None, scope: Scope, kind: str | None) -> Iterator[Problem]:
    if text is None:
        return
    try:
        parse(text, scope, expect=kind)
    except RuleError as error:
        yield path, error.line


def _observed_problems(raw: dict[str, Any], scope: Scope, names: set[str], dialect: Dialect) -> Iterator[Problem]:
    """Check observed differences.

    An entry may waive rules of the page and rules that earlier entries add.
    """
    parts = ("type", "rank", "value", "required")
    all_names = {*names, *(f"{name}.{part}" for name in raw.get("fields", ()) for part in parts)}
    if dialect.tables.about.get("type_variables") and "support" in raw:
        cells = [cell for _, row in support_rows(raw["support"]) for cell in row.values()]
        all_names |= {f"{cell['variable']}.{SAME_TYPE}" for cell in cells if "variable" in cell}
    for index, overlay in enumerate(raw.get("observed", [])):
        path = ("observed", index)
        try:
            dialect.level_set(overlay["builds"])
        except InputError as error:
            yield (*path, "builds"), error.message
        for name, cell in overlay.get("support", {}).items():
            yield from cell_problems((*path, "support", name), name, cell, raw, dialect)
        for key in ("not_enforced", "nondeterministic", "partially_enforced", "tools_write"):
            yield from (
                ((*path, key), f"unknown rule {rule!r}") for rule in overlay.get(key, []) if rule not in all_names
            )
        fields = raw.get("fields", ())
        yield from (((*path, "attributes"), f"{n!r} is a field") for n in overlay.get("attributes", ()) if n in fields)
        own_rules = {name: rule_forms(entry) for name, entry in overlay.get("rules", {}).items()}
        all_names.update(own_rules)
        yield from _rule_problems((*path, "rules"), own_rules, scope, all_names, dialect)
        for name, entry in overlay.get("values", {}).items():
            yield from _expression_problems((*path, "values", name, "when"), entry.get("when"), scope, TRUTH)
            for key in ("arguments", "kernel", "fields", "types"):
                if entry.get(key) and not raw.get("execute"):
                    yield (*path, "values", name, key), "expected an operator that a kernel computes"
            yield from _rewritten_problems((*path, "values", name), entry, raw, scope)
            if entry.get("all_builds") and overlay.get("by"):
                yield (*path, "values", name, "all_builds"), "expected an entry of every implementation, without by"
            for argument, value in entry.get("arguments", {}).items():
                text = value["expression"] if isinstance(value, dict) else None
                yield from _expression_problems((*path, "values", name, "arguments", argument), text, scope, None)
            elements_path = (*path, "values", name, "elements")
            yield from _expression_problems(elements_path, entry.get("elements"), scope.of_elements(), TRUTH)


def _rewritten_problems(path: Keys, entry: Mapping[str, Any], raw: dict[str, Any], scope: Scope) -> Iterator[Problem]:
    """Check the attributes that an entry rewrites, and the name of its kernel."""
    for field, text in entry.get("fields", {}).items():
        field_path, info = (*path, "fields", field), raw.get("fields", {}).get(field)
        forms = info if isinstance(info, list) else [info or {}]
        if all(form.get("kind") != "attribute" for form in forms):
            yield field_path, f"{field!r:.80} is not an attribute"
        elif text is None and not any(form.get("optional") or form.get("default") is not None for form in forms):
            yield field_path, f"{field} cannot be left out"
        yield from _expression_problems(field_path, text, scope, None)


def _execute_problems(raw: dict[str, Any], scope: Scope, dialect: Dialect) -> Iterator[Problem]:
    recipe = raw.get("execute", {})
    missing_keys = [key for key in ("kernel", "arrays", "outputs") if recipe and key not in recipe]
    yield from ((("execute", key), "expected this key") for key in missing_keys)
    fields = {path[1] for path, f in forms_of(raw) if f.get("type", "tensor") in {"tensor", "tensor[]"}}
    numbers = {path[1] for path, f in forms_of(raw) if f.get("type") in {"int", "string"}}
    for part in ("arrays", "output_type", "outputs"):
        field_names = recipe.get(part, [])
        entries = field_names.values() if isinstance(field_names, dict) else field_names
        names = [name for entry in entries for name in (entry if isinstance(entry, list) else [entry])]
        names_allowed = fields | numbers if part == "output_type" else fields
        yield from ((("execute", part), f"{n!r} is not a tensor field") for n in names if n not in names_allowed)
    outputs = {name for entry in recipe.get("outputs", []) for name in (entry if isinstance(entry, list) else [entry])}
    unknown = [name for name in recipe.get("sized_by_values", []) if name not in outputs]
    yield from ((("execute", "sized_by_values"), f"{name!r} is not an output") for name in unknown)
    for name, types in recipe.get("unsupported_types", {}).items():
        if name not in fields:
            yield ("execute", "unsupported_types"), f"{name!r} is not a tensor field"
        yield from (
            (("execute", "unsupported_types", name), f"unknown type {t!r:.40}") for t in types if t not in dialect.types
        )
    array_names = {path[1] for path, f in forms_of(raw) if f["kind"] == "attribute" or f.get("type") == "tensor[]"}
    for name, text in recipe.get("arguments", {}).items():
        if text not in array_names:
            yield from _expression_problems(("execute", "arguments", name), text, scope, None)
    for level in recipe.keys() - _RECIPE:
        for name, value in recipe[level].items():
            text = value["expression"] if isinstance(value, dict) and value["expression"] not in array_names else None
            yield from _expression_problems(("execute", level, name), text, scope, None)
