"""Check what the tables say against each other: references, then small named data linters with one line per problem."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from specgate.spec.tables import Dialect, OperatorSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["LINTERS", "check_operator", "check_references", "lint_tables"]

_ORDER: Final = (
    "operator", "summary", "source", "unknowns", "fields", "support", "removed", "define", "rules", "execute",
    "tolerance", "examples", "counterexamples", "observed",
)  # fmt: skip


def check_references(tables: dict[str, Any], folder: Path) -> list[str]:
    """Return one line per name in the tables that refers to nothing: levels, types, fields, expressions."""
    problems = []
    dialect = Dialect(tables["dialect"]["dialect"], tables)
    levels = set(dialect.levels)
    for name, info in dialect.types.items():
        if info.get("since") and info["since"] not in levels:
            problems.append(f"{folder}/types.yaml: types.{name}.since: unknown level {info['since']!r}")
    for index, entry in enumerate(dialect.environments):
        if entry["level"] not in levels:
            problems.append(f"{folder}/environments.yaml: environments.{index}.level: unknown level {entry['level']!r}")
    try:
        _ = dialect.tensor_rules
    except ValueError as error:
        problems.append(f"{folder}/tensor.yaml: rules: {error}")
    for name, operator in tables["operators"].items():
        problems += check_operator(operator, tables, str(folder / tables["files"][name]))
    return problems


def check_operator(raw: dict[str, Any], tables: dict[str, Any], file: str) -> list[str]:
    """Return what one operator's file refers to in vain."""
    dialect = Dialect(tables["dialect"]["dialect"], tables)
    return [f"{file}: {problem}" for problem in _operator_problems(raw, dialect)]


def _operator_problems(raw: dict[str, Any], dialect: Dialect) -> Iterator[str]:
    bad_levels = [level for level in _levels_of(raw) if level[1] not in dialect.position]
    yield from (f"{place}: unknown level {level!r}" for place, level in bad_levels)
    rows = [dialect.position.get(level, -1) for level in raw["support"]]
    if not rows or rows != sorted(rows):
        yield "support: expected at least one row, rows in the order of the levels"
    for level, row in raw["support"].items():
        for name, cell in row.items():
            yield from _cell_problems(f"support.{level}.{name}", name, cell, raw, dialect)
    for index, overlay in enumerate(raw.get("observed", [])):
        for name, cell in overlay.get("support", {}).items():
            yield from _cell_problems(f"observed.{index}.{name}", name, cell, raw, dialect)
        for rule in overlay.get("waives", []):
            if rule not in raw.get("rules", {}):
                yield f"observed.{index}.waives: unknown rule {rule!r}"
    if bad_levels:
        return
    spec = OperatorSpec(dialect, raw)
    try:
        names = {form.name for form in spec.rule_forms}
        for level in spec.levels:
            spec.resolve(level, "observed")
    except ValueError as error:
        yield f"rules: {error}"
        return
    for form in spec.rule_forms:
        yield from (f"rules.{form.name}.after: unknown rule {n!r}" for n in form.after if n not in names)
    yield from _example_problems(raw, names)


def _levels_of(raw: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((f"support.{level}", level) for level in raw["support"])
    for key in ("removed",):
        if raw.get(key):
            yield key, raw[key]
    for name, info in raw["fields"].items():
        yield from ((f"fields.{name}.{key}", info[key]) for key in ("since", "until") if info.get(key))
    for name, forms in raw.get("rules", {}).items():
        for form in forms:
            yield from ((f"rules.{name}.{key}", form[key]) for key in ("since", "until") if form.get(key))
    for name, example in raw.get("examples", {}).items():
        if example.get("since"):
            yield f"examples.{name}.since", example["since"]
    known = {"kernel", "arrays", "arguments", "outputs"}
    yield from ((f"execute.{level}", level) for level in raw.get("execute", {}) if level not in known)


def _cell_problems(place: str, name: str, cell: dict[str, Any], raw: dict[str, Any], dialect: Dialect) -> Iterator[str]:
    if name not in raw["fields"]:
        yield f"{place}: unknown field {name!r}"
    types = cell.get("types")
    if types != "any":
        yield from (f"{place}.types: unknown type {t!r}" for t in types or () if t not in dialect.types)


def _example_problems(raw: dict[str, Any], rules: set[str]) -> Iterator[str]:
    for name, entry in raw.get("counterexamples", {}).items():
        if entry["of"] not in raw.get("examples", {}):
            yield f"counterexamples.{name}.of: unknown example {entry['of']!r}"
        if name not in rules:
            yield f"counterexamples.{name}: unknown rule {name!r}"
    fields = {n for n, f in raw["fields"].items() if f.get("type", "tensor").startswith("tensor")}
    for part in ("arrays", "outputs"):
        named = raw.get("execute", {}).get(part, [])
        names = named.values() if isinstance(named, dict) else named
        yield from (f"execute.{part}: {n!r} is no tensor field" for n in names if n not in fields)


def lint_tables(dialect: Dialect) -> list[str]:
    """Run every data linter over every operator of `dialect`; return lines ``file: linter: what``."""
    problems = []
    for name in dialect.operators:
        spec = dialect.operator(name)
        file = f"{dialect.name}/{dialect.raw['files'].get(name, name)}"
        for linter, function in LINTERS.items():
            problems += [f"{file}: {linter}: {text}" for text in function(spec)]
    return problems


def _canonical_order(spec: OperatorSpec) -> Iterator[str]:
    """Keys stand in one order in every file, so that files read and compare alike."""
    keys = [key for key in spec.raw if key in _ORDER]
    wanted = [key for key in _ORDER if key in spec.raw]
    if keys != wanted:
        yield f"expected the keys in the order {', '.join(wanted)}"
    fields = list(spec.fields)
    for level, row in spec.raw["support"].items():
        named = [name for name in row if name in fields]
        if named != [name for name in fields if name in row]:
            yield f"support.{level}: expected the fields in the order of `fields`"


def _repeated_row(spec: OperatorSpec) -> Iterator[str]:
    """A row equal to the one before it says nothing, and hides which level really changed something."""
    rows = list(spec.raw["support"].items())
    for (before, old), (level, new) in pairwise(rows):
        fields = any(level in {f.since, f.until} for f in spec.fields.values())
        rules = any(level in {form.since, form.until} for form in spec.rule_forms)
        if old == new and not fields and not rules and level not in spec.raw.get("execute", {}):
            yield f"support.{level} repeats {before}"


def _unbroken_rule(spec: OperatorSpec) -> Iterator[str]:
    """A rule that no counterexample breaks has never been seen to work."""
    broken = set(spec.raw.get("counterexamples", {}))
    yield from (f"rules.{name} has no counterexample" for name in spec.raw.get("rules", {}) if name not in broken)


def _no_example(spec: OperatorSpec) -> Iterator[str]:
    """Every operator shows at least one use that is accepted."""
    if not spec.raw.get("examples"):
        yield "expected at least one example"


def _no_source(spec: OperatorSpec) -> Iterator[str]:
    """Every operator file names the page or package its facts come from."""
    if not any(source.get("page") or source.get("package") or source.get("path") for source in spec.raw["source"]):
        yield "expected a source with a page, a path or a package"


def _examples_hold(spec: OperatorSpec) -> Iterator[str]:
    """Examples are accepted from their level on, counterexamples fail by exactly the rule they are for."""
    from specgate.spec.examples import example_problems

    yield from example_problems(spec)


def _unplaced_constraint(spec: OperatorSpec) -> Iterator[str]:
    """Every field that a row could limit is limited in each row, or in none: a forgotten cell allows everything."""
    for field in spec.fields.values():
        if not field.tensor:
            continue
        has = {level for level, row in spec.raw["support"].items() if field.name in row}
        if has and len(has) != len(spec.rows):
            missing = [level for level in spec.rows if level not in has]
            yield f"{field.name} has no cell in {', '.join(missing)}"


#: Linter name -> function over one operator. Add one here, and a failing file to its test.
LINTERS: Final[Mapping[str, Callable[[OperatorSpec], Iterator[str]]]] = {
    "canonical-order": _canonical_order,
    "repeated-row": _repeated_row,
    "unbroken-rule": _unbroken_rule,
    "no-example": _no_example,
    "no-source": _no_source,
    "forgotten-cell": _unplaced_constraint,
    "examples-hold": _examples_hold,
}
