"""Small named data linters over the tables, with one line per problem."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.spec.tables import Dialect, OperatorSpec

__all__ = ["LINTERS", "lint_tables"]

_ORDER: Final = (
    "operator", "summary", "source", "unknowns", "fields", "support", "removed", "define", "rules", "execute",
    "tolerance", "examples", "counterexamples", "observed",
)  # fmt: skip


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
