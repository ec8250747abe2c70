"""Small named data linters over the tables, with one line per problem."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.evaluate import Context, evaluate
from specgate.spec.folders import examples_file, written_tables
from specgate.spec.lint_written import WRITTEN_LINTERS, Written, written_file
from specgate.spec.tables import in_use

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import RuleForm
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["LINTERS", "lint_tables"]

#: What no package states.
_BY_HAND: Final = frozenset({"define", "rules", "execute", "counterexamples", "observed"})
MOST_COMBINATIONS: Final = 10_000
MAX_SENTENCE: Final = 200
_FORMULA: Final = re.compile(r"[=!<>]=|//|\b(?:rank|type|elements|values?|len|dims|present|all|any)\(|\bsizes\[")


def lint_tables(dialect: Dialect, only: Collection[str] | None = None) -> list[str]:
    """Run every data linter over every operator of `dialect`; return lines ``file: linter: what``.

    only: the operators to look at, where a folder adds some to a dialect; families and tensor rules are then left out.
    """
    problems = [*_family_problems(dialect), *_tensor_rule_problems(dialect)] if only is None else []
    with in_use(dialect):
        for name in dialect.operators if only is None else only:
            spec = dialect.operator(name)
            for linter, function in LINTERS.items():
                found = list(function(spec))
                problems += [f"{_file(spec, text, whole=only is None)}: {linter}: {text}" for text in found]
    return problems


def _file(spec: OperatorSpec, problem: str, *, whole: bool) -> str:
    """Return the file that a problem is in: that of the operator, or that of its examples."""
    file = spec.dialect.tables.files.get(spec.name, spec.name)
    apart = examples_file(file)
    if problem.startswith(("examples.", "counterexamples.")) and (_folder(spec.dialect) / apart).is_file():
        file = apart
    return f"{spec.dialect.name}/{file}" if whole else file


def _folder(dialect: Dialect) -> Path:
    """Where the files of a dialect are: what `spec check` was given, else those of the tables in use."""
    given = dialect.tables.folder
    return Path(given) if given else written_tables(dialect.name) or Path()


def _of_file(looks: Callable[[Written], Iterator[str]], spec: OperatorSpec) -> Iterator[str]:
    """What a linter of files says of an operator's, nothing where only the compiled table is there."""
    tables = spec.dialect.tables
    path = _folder(spec.dialect) / tables.files.get(spec.name, "")
    if path.is_file():
        yield from looks(written_file(path, spec.table.fields, tables.sets))


def _family_problems(dialect: Dialect) -> Iterator[str]:
    """What is wrong with a family apart from the operators that use it: they are judged with all that it gives them."""
    used = {raw.get("family") for raw in dialect.tables.operators.values()}
    for name, family in dialect.tables.families.items():
        file = f"{dialect.name}/families/{name}.yaml"
        path = _folder(dialect) / f"families/{name}.yaml"
        if path.is_file():
            written = written_file(path, family.get("fields", {}), dialect.tables.sets)
            for linter, looks in WRITTEN_LINTERS.items():
                yield from (f"{file}: {linter}: {text}" for text in looks(written))
        if name not in used:
            yield f"{file}: unused-family: no operator uses it"


def _cases(spec: OperatorSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of every case, with the words that a line about one begins with."""
    for index, (when, rows) in enumerate(spec.support):
        yield "support." if when is None else f"support.{index}.", rows


def _repeated_row(spec: OperatorSpec) -> Iterator[str]:
    """A row equal to the one before it says nothing, and hides which level really changed something.

    Where a dialect's rows are the operator's versions each of them has one.
    """
    if spec.dialect.tables.about.get("rows_are_versions"):
        return
    for place, rows in _cases(spec):
        for (before, old), (level, new) in pairwise(rows.items()):
            fields = any(level in {f.since, f.until} for info in spec.fields.values() for f in info.forms or (info,))
            rules = any(level in {form.since, form.until} for form in spec.rule_forms)
            if old == new and not fields and not rules and level not in spec.table.behaviour:
                yield f"{place}{level} repeats {before}"


def _unbroken_rule(spec: OperatorSpec) -> Iterator[str]:
    """A rule that no counterexample breaks has never been seen to work."""
    broken = set(spec.table.counterexamples)
    yield from (f"rules.{name} has no counterexample" for name in spec.table.rules if name not in broken)


def _no_example(spec: OperatorSpec) -> Iterator[str]:
    """Every operator shows at least one use that is accepted, unless all of its table is what a package states."""
    stated = spec.dialect.tables.about.get("rows_are_versions") and not spec.table.entries.keys() & _BY_HAND
    whole = spec.inputs or spec.outputs  # a table without both is begun, and no more
    if not spec.table.examples and not (stated and whole):
        yield "expected at least one example"


def _no_source(spec: OperatorSpec) -> Iterator[str]:
    """Every operator file names the page or package its facts come from."""
    if not any(source.get("page") or source.get("package") or source.get("path") for source in spec.table.sources):
        yield "expected a source with a page, a path or a package"


def _examples_hold(spec: OperatorSpec) -> Iterator[str]:
    """Examples are accepted from their level on, counterexamples fail by exactly the rule they are for."""
    from specgate.spec.examples import example_problems

    yield from example_problems(spec)


def _unshown_part(spec: OperatorSpec) -> Iterator[str]:
    """Every support row and every optional tensor is in an example, from which valid descriptors are drawn."""
    from specgate.spec.examples import unshown_parts

    yield from unshown_parts(spec)


def _unplaced_constraint(spec: OperatorSpec) -> Iterator[str]:
    """Every field that a row could limit is limited in each row, or in none: a forgotten cell allows everything."""
    for field in spec.fields.values():
        if not field.tensor:
            continue
        places = {
            f"{place}{level}".removeprefix("support."): row
            for place, rows in _cases(spec)
            for level, row in rows.items()
            if spec.field_at(field.name, level) is not None
        }
        missing = [place for place, row in places.items() if field.name not in row]
        if 0 < len(missing) < len(places):
            yield f"{field.name} has no cell in {', '.join(missing)}"


def _rules_in_words(spec: OperatorSpec) -> Iterator[str]:
    """Every rule has a sentence that is understood without its expression; findings begin with it."""
    for form in spec.rule_forms:
        yield from (f"rules.{form.name}: {problem}" for problem in _sentence_problems(form))
    for index, overlay in enumerate(spec.overlays):
        for form in overlay.rules:
            yield from (f"observed.{index}.rules.{form.name}: {problem}" for problem in _sentence_problems(form))


def _tensor_rule_problems(dialect: Dialect) -> Iterator[str]:
    forms = [*dialect.tensor_rules, *(form for overlay in dialect.tensor_overlays for form in overlay.rules)]
    for form in forms:
        yield from (f"{dialect.name}/tensor.yaml: {form.name}: {problem}" for problem in _sentence_problems(form))


def _sentence_problems(form: RuleForm) -> Iterator[str]:
    text = form.because
    if not text:
        yield "expected because: what must be, in a sentence"
        return
    found = _FORMULA.search(text)
    if found is not None:
        yield f"expected because without {found[0]!r}, which is for the expression"
    if len(text) > MAX_SENTENCE:
        yield f"expected because of at most {MAX_SENTENCE} characters, found {len(text)}"
    if text.endswith("."):
        yield "expected because without a period at its end, where values follow"


def _overlapping_cases(spec: OperatorSpec) -> Iterator[str]:
    """No descriptor belongs to two cases; looked at where enums alone decide, with every value that they have."""
    read = sorted({name for when in spec.whens for name in when.fields})
    words = [spec.fields[name].words or () for name in read]
    if prod(map(len, words)) > MOST_COMBINATIONS:
        return
    for values in product(*words):
        context = Context(dict(zip(read, values, strict=True)), defines=spec.scope.defines)
        held = [when.text for when in spec.whens if evaluate(when, context) is True]
        if len(held) > 1:
            given = " and ".join(f"{name} {value}" for name, value in zip(read, values, strict=True))
            yield f"{given} is one of {held[0]} and one of {held[1]}"


#: Linter name -> function over one operator. Add one here, and a failing file to its test.
LINTERS: Final[Mapping[str, Callable[[OperatorSpec], Iterator[str]]]] = {
    **{name: partial(_of_file, looks) for name, looks in WRITTEN_LINTERS.items()},
    "repeated-row": _repeated_row,
    "unbroken-rule": _unbroken_rule,
    "no-example": _no_example,
    "no-source": _no_source,
    "forgotten-cell": _unplaced_constraint,
    "rules-in-words": _rules_in_words,
    "overlapping-cases": _overlapping_cases,
    "examples-hold": _examples_hold,
    "unshown-part": _unshown_part,
}
