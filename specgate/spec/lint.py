"""Linters of table files, and checks of their examples and counterexamples."""

from __future__ import annotations

import copy
import re
from functools import lru_cache, partial
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict
from specgate.errors import Error
from specgate.rules.evaluate import Context, evaluate
from specgate.rules.shorthand import Shortener
from specgate.spec.folders import examples_file, written_tables
from specgate.spec.forms import rule_forms
from specgate.spec.short_forms import KINDS, MARK, complete_rows, may_be_absent, named_sets, names_for_types
from specgate.spec.tables import in_use
from specgate.spec.written import cases_of
from specgate.spec.yamlio import load_yaml
from specgate.validate.check import check_at
from specgate.validate.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import RuleForm
    from specgate.spec.operator_spec import OperatorSpec


def change_paths(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of `data` with new values at dotted paths.

    Paths are spelled ``desc.Axis`` or ``inputs.1.shape``.
    """
    result: dict[str, Any] = copy.deepcopy(dict(data))
    for path, value in changes.items():
        *way, last = path.split(".")
        target_part: Any = result
        for key in way:
            target_part = target_part[int(key)] if isinstance(target_part, list) else target_part.setdefault(key, {})
        if isinstance(target_part, list):
            target_part[int(last)] = value
        else:
            target_part[last] = value
    return result


def levels_of_example(spec: OperatorSpec, example: Mapping[str, Any]) -> list[str]:
    """Return the levels at which an example must be accepted.

    They begin at `since` (or the first row) and end before `until`.
    """
    own_version = example["descriptor"].get("opset", example["descriptor"].get("version"))
    first = example.get("since") or (str(own_version) if own_version is not None else spec.rows[0])
    return [level for level in spec.levels if spec.dialect.holds(level, first, example.get("until"))]


def counterexample(spec: OperatorSpec, entry: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a counterexample's dict and the level to check it at."""
    example = spec.table.examples[entry["of"]]
    level = entry.get("at") or list(spec.levels)[-1]
    return change_paths(example["descriptor"], entry["set"]), level


def example_problems(spec: OperatorSpec) -> Iterator[str]:
    """Yield one line per failing example or counterexample.

    Examples must be accepted, and counterexamples must fail by their rule alone.
    """
    for name, example in spec.table.examples.items():
        try:
            descriptor = read_dict(example["descriptor"], spec.dialect.name)
            for level in levels_of_example(spec, example):
                verdict = check_at(descriptor, level, "documented")
                if not verdict.accepted:
                    text = ", ".join(f.id for f in verdict.findings or verdict.undecided)
                    yield f"examples.{name} is {verdict.word} at {level}: {text}"
        except (Error, LookupError) as error:
            yield f"examples.{name}: {error}"
    entries = [(n, e, spec.name) for n, e in spec.table.counterexamples.items()]
    tensor = spec.dialect.tables.tensor.counterexamples
    entries += [(n, e, "tensor") for n, e in tensor.items() if e.get("operator") == spec.name]
    for name, entry, owner in entries:
        result = f"{spec.dialect.name}/{owner}/{name}"
        try:
            data, level = counterexample(spec, entry)
            verdict = check_at(read_dict(data, spec.dialect.name), level, "documented")
        except (Error, LookupError, ValueError, TypeError, AttributeError) as error:  # an invalid path
            yield f"counterexamples.{name}: {error}"
            continue
        found_ids = sorted({f.id for f in verdict.findings})
        if found_ids != [result]:
            ids_text = ", ".join(found_ids) or "nothing"
            yield f"counterexamples.{name}: expected only {result} at {level}, found {ids_text}"


def unshown_parts(spec: OperatorSpec) -> Iterator[str]:
    """Yield one line per part of the table that the examples do not cover.

    Parts are support rows, and the presence and absence of optional tensors.
    """
    shown_parts = [part for example in spec.table.examples.values() for part in _example_readings(spec, example)]
    if not shown_parts:
        return
    rows = {row for level, descriptor in shown_parts for row in _rows(spec, level, descriptor)}
    for index, (condition, row_levels) in enumerate(spec.support):
        names = {spec.row_at(level, row_levels) for level in spec.levels}
        place = "support." if condition is None else f"support.{index}."
        yield from (f"{place}{row} has no example" for row in row_levels if row in names and (index, row) not in rows)
    for name, info in spec.fields.items():
        if info.kind == "attribute" or not any(form.optional for form in info.forms or (info,)):
            continue
        fields = [(spec.field_at(name, level), descriptor.fields.get(name)) for level, descriptor in shown_parts]
        if all(value is None for _, value in fields):
            yield f"fields.{name}: no example has it"
        if all(value is not None for field, value in fields if field is not None and field.optional):
            yield f"fields.{name}: no example omits it"


def _example_readings(spec: OperatorSpec, example: Mapping[str, Any]) -> Iterator[tuple[str, Descriptor]]:
    """Yield an example as read at a level of each row and layout.

    Unreadable examples yield nothing.
    """
    try:
        descriptor = read_dict(example["descriptor"], spec.dialect.name)
        levels = {(spec.row_at(n), *_layout(spec, n)): n for n in levels_of_example(spec, example)}
        yield from ((level, reordered_for(descriptor, spec, level)) for level in levels.values())
    except (Error, LookupError):  # `example_problems` reports the error
        return


def _layout(spec: OperatorSpec, level: str) -> Iterator[int]:
    """Yield the properties in which fields differ between levels."""
    yield from map(id, spec.fields_at(level).values()) if spec.varies else ()


def _rows(spec: OperatorSpec, level: str, descriptor: Descriptor) -> Iterator[tuple[int, str]]:
    """Yield the row that applies to a descriptor, with its case number."""
    resolved = spec.resolve(level)
    context = Facts().context(descriptor, resolved) if resolved is not None and spec.conditions else None
    for index, (_, row_levels) in enumerate(spec.support):
        row = spec.row_at(level, row_levels)
        if row is not None and (context is None or Facts().holds(spec.conditions[index], context) is True):
            yield index, row


_ORDER: Final = (
    "operator", "like", "family", "summary", "source", "unknowns", "fields", "support", "removed",
    "unchecked_attributes", "define", "rules", "execute", "tolerance", "examples", "counterexamples", "observed",
)  # fmt: skip


class WrittenFile(NamedTuple):
    """A file's content as written, with the data to check it against.

    fields: those of the operator and its family. optional: those that may be absent. sets: the dialect's sets by kind.
    """

    content: Mapping[str, Any]
    fields: Collection[str]
    optional: Collection[str]
    sets: Mapping[str, Mapping[str, list[str]]]


def written_file(path: Path, fields: Mapping[str, Any], sets: Mapping[str, Any]) -> WrittenFile:
    """Return the content of a table's file.

    fields: the compiled fields of its operator. sets: the content of sets.yaml.
    """
    content = _content(path, path.stat().st_mtime_ns)
    optional = [name for name, info in fields.items() if may_be_absent(info)]
    return WrittenFile(content, list(fields), optional, named_sets(sets)[0])


@lru_cache(maxsize=4)
def _content(path: Path, _changed: int) -> Any:
    content = load_yaml(path.read_text(encoding="utf-8"), str(path))[0]
    return content if "like" not in content else {key: _stated_part(key, part) for key, part in content.items() if part}


def _stated_part(key: str, part: Any) -> Any:
    """Return the facts that a file with `like` states itself.

    {} and null state nothing.
    """
    if key == "support" or not isinstance(part, dict):
        return part
    return {name: _stated_part(name, entry) for name, entry in part.items() if entry is not None and entry != {}}


def _check_key_order(keys: list[str]) -> Iterator[str]:
    texts = [key for key in _ORDER if key in keys]
    if [key for key in keys if key in _ORDER] != texts:
        yield f"expected the keys in the order {', '.join(texts)}"


def _cases(content: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of every case, with the prefix of its messages."""
    for path, _, rows in cases_of(content.get("support", {})):
        yield ".".join([*map(str, path), ""]), rows


def _canonical_order(file: WrittenFile) -> Iterator[str]:
    """Report keys that are not in canonical order."""
    yield from _check_key_order(list(file.content))
    for place, rows in _cases(file.content):
        for level, row in rows.items():
            ordered_names = [name for name in row if name in file.fields]
            if ordered_names != [name for name in file.fields if name in row]:
                yield f"{place}{level}: expected the fields in the order of `fields`"


def _repeated_cell(file: WrittenFile) -> Iterator[str]:
    """Report cells that repeat the row before, which hides real changes."""
    for place, rows in _cases(file.content):
        full_rows, _ = complete_rows(rows)
        for (before, old), (level, _) in pairwise(full_rows.items()):
            for name, cell in rows[level].items():
                parts = cell if isinstance(cell, dict) else {}
                result = old.get(name, {}) if isinstance(old.get(name), dict) else {}
                for part in (part for part, value in parts.items() if part in result and result[part] == value):
                    yield f"{place}{level}.{name}.{part} repeats {before}"


def _unnamed_set(file: WrittenFile) -> Iterator[str]:
    """Report lists that have a name in sets.yaml."""
    for place, kind, type_list in _lists(file.content):
        plain_types = [entry for entry in type_list if not entry.startswith(MARK)]
        result = names_for_types(type_list, file.sets.get(kind, {}))
        if result != type_list and len(plain_types) > 1:
            list_text = result if isinstance(result, str) else f"[{', '.join(result)}]"
            yield f"{place}: expected {list_text} for this list"


def _lists(content: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    rows = [(f"{place}{level}", row) for place, rows in _cases(content) for level, row in rows.items()]
    rows += [
        (f"observed.{i}.support", o["support"]) for i, o in enumerate(content.get("observed", ())) if "support" in o
    ]
    for place, row in rows:
        for name, cell in row.items():
            parts = cell if isinstance(cell, dict) else {}
            for kind in parts if name == "type_sets" else KINDS:
                if isinstance(parts.get(kind), list):
                    yield f"{place}.{name}.{kind}", "types" if name == "type_sets" else kind, parts[kind]


def _long_form(file: WrittenFile) -> Iterator[str]:
    """Report expressions that have a short form."""
    for place, text in expressions(file.content):
        shortener = Shortener(file.optional)
        shortener.shorten_text(text)
        yield from (f"{place}: expected {short} for {long}" for long, short in shortener.replacements)


def expressions(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every expression of a file with its place."""
    yield from ((f"define.{name}", text) for name, text in content.get("define", {}).items())
    yield from _iterate_forms("rules", content.get("rules", {}))
    for index, overlay in enumerate(content.get("observed", ())):
        yield from _iterate_forms(f"observed.{index}.rules", overlay.get("rules", {}))
        for name, entry in overlay.get("values", {}).items():
            yield from ((f"observed.{index}.values.{name}.{k}", entry[k]) for k in ("when", "elements") if k in entry)
    for name, text in content.get("execute", {}).get("arguments", {}).items():
        yield f"execute.arguments.{name}", text


def _iterate_forms(place: str, rules: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, entry in rules.items():
        for form in rule_forms(entry):
            yield from ((f"{place}.{name}.{key}", form[key]) for key in ("require", "when") if key in form)


#: Linter name -> function over one file. Add new linters here, and a failing file to the test.
FILE_LINTERS: Final[Mapping[str, Callable[[WrittenFile], Iterator[str]]]] = {
    "canonical-order": _canonical_order,
    "repeated-cell": _repeated_cell,
    "unnamed-set": _unnamed_set,
    "long-form": _long_form,
}


#: Keys that packages do not state.
_HANDWRITTEN: Final = frozenset({"define", "rules", "execute", "counterexamples", "observed"})
MAX_COMBINATIONS: Final = 10_000
MAX_SENTENCE: Final = 200
_FORMULA: Final = re.compile(r"[=!<>]=|//|\b(?:rank|type|elements|values?|len|dims|present|all|any)\(|\bsizes\[")


def lint_tables(dialect: Dialect, operators: Collection[str] | None = None) -> list[str]:
    """Run the data linters of `dialect`; return ``file: linter: what`` lines.

    operators: the operators to check, where a folder adds some to a dialect; families and tensor rules are then
    skipped.
    """
    problems = [*_family_problems(dialect), *_tensor_rule_problems(dialect)] if operators is None else []
    with in_use(dialect):
        for name in dialect.operators if operators is None else operators:
            spec = dialect.operator(name)
            for linter, function in LINTERS.items():
                texts = list(function(spec))
                problems += [
                    f"{_file(spec, text, is_operator_file=operators is None)}: {linter}: {text}" for text in texts
                ]
    return problems


def _file(spec: OperatorSpec, problem: str, *, is_operator_file: bool) -> str:
    """Return the file of a problem: the operator's, or that of its examples."""
    file = spec.dialect.tables.files.get(spec.name, spec.name)
    examples = examples_file(file)
    if problem.startswith(("examples.", "counterexamples.")) and (_folder(spec.dialect) / examples).is_file():
        file = examples
    return f"{spec.dialect.name}/{file}" if is_operator_file else file


def _folder(dialect: Dialect) -> Path:
    """Return the folder of a dialect's files.

    It is the one passed to `spec check`, else that of the tables in use.
    """
    text = dialect.tables.folder
    return Path(text) if text else written_tables(dialect.name) or Path()


def _lint_file(lint_file: Callable[[WrittenFile], Iterator[str]], spec: OperatorSpec) -> Iterator[str]:
    """Yield the problems of an operator's file, if its YAML is available."""
    tables = spec.dialect.tables
    path = _folder(spec.dialect) / tables.files.get(spec.name, "")
    if path.is_file():
        yield from lint_file(written_file(path, spec.table.fields, tables.sets))


def _family_problems(dialect: Dialect) -> Iterator[str]:
    """Yield the problems of family files, and the unused families."""
    used_families = {raw.get("family") for raw in dialect.tables.operators.values()}
    for name, family in dialect.tables.families.items():
        file = f"{dialect.name}/families/{name}.yaml"
        path = _folder(dialect) / f"families/{name}.yaml"
        if path.is_file():
            written_text = written_file(path, family.get("fields", {}), dialect.tables.sets)
            for linter, lint_file in FILE_LINTERS.items():
                yield from (f"{file}: {linter}: {text}" for text in lint_file(written_text))
        if name not in used_families:
            yield f"{file}: unused-family: no operator uses it"


def _repeated_row(spec: OperatorSpec) -> Iterator[str]:
    """Report rows equal to the row before, which hide real changes.

    In a dialect whose rows are operator versions, equal rows are allowed.
    """
    if spec.dialect.tables.about.get("rows_are_versions"):
        return
    for place, rows in _cases(spec.table.entries):
        for (before, old), (level, new) in pairwise(rows.items()):
            fields = any(level in {f.since, f.until} for info in spec.fields.values() for f in info.forms or (info,))
            rules = any(level in {form.since, form.until} for form in spec.rule_forms)
            if old == new and not fields and not rules and level not in spec.table.behaviour:
                yield f"{place}{level} repeats {before}"


def _rules_without_counterexample(spec: OperatorSpec) -> Iterator[str]:
    """Report rules without a counterexample."""
    broken_rules = set(spec.table.counterexamples)
    yield from (f"rules.{name} has no counterexample" for name in spec.table.rules if name not in broken_rules)


def _no_example(spec: OperatorSpec) -> Iterator[str]:
    """Report operators without an accepted example.

    Tables generated entirely from a package are exempt.
    """
    rows_required = spec.dialect.tables.about.get("rows_are_versions") and not spec.table.entries.keys() & _HANDWRITTEN
    tensor_fields = spec.inputs or spec.outputs  # a table without both is only begun
    if not spec.table.examples and not (rows_required and tensor_fields):
        yield "expected at least one example"


def _no_source(spec: OperatorSpec) -> Iterator[str]:
    """Report operator files that do not name a source."""
    if not any(source.get("page") or source.get("package") or source.get("path") for source in spec.table.sources):
        yield "expected a source with a page, a path or a package"


def _examples_hold(spec: OperatorSpec) -> Iterator[str]:
    """Report examples that are rejected, and counterexamples that do not fail.

    A counterexample must fail by its rule alone.
    """
    yield from example_problems(spec)


def _parts_without_example(spec: OperatorSpec) -> Iterator[str]:
    """Report support rows and optional tensors without an example.

    Valid descriptors are generated from the examples.
    """
    yield from unshown_parts(spec)


def _unplaced_constraint(spec: OperatorSpec) -> Iterator[str]:
    """Report fields limited in some rows only: a missing cell allows anything."""
    for field in spec.fields.values():
        if not field.tensor:
            continue
        places = {
            f"{place}{level}".removeprefix("support."): row
            for place, rows in _cases(spec.table.entries)
            for level, row in rows.items()
            if spec.field_at(field.name, level) is not None
        }
        missing_places = [place for place, row in places.items() if field.name not in row]
        if 0 < len(missing_places) < len(places):
            yield f"{field.name} has no cell in {', '.join(missing_places)}"


def _rules_in_words(spec: OperatorSpec) -> Iterator[str]:
    """Report rules without a sentence; findings begin with it."""
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
    match = _FORMULA.search(text)
    if match is not None:
        yield f"expected because without {match[0]!r}, which is for the expression"
    if len(text) > MAX_SENTENCE:
        yield f"expected because of at most {MAX_SENTENCE} characters, found {len(text)}"
    if text.endswith("."):
        yield "expected because without a period at its end, where values follow"


def _overlapping_cases(spec: OperatorSpec) -> Iterator[str]:
    """Report cases that overlap.

    Only conditions on enums are checked, with all their values.
    """
    fields_read = sorted({name for condition_rule in spec.conditions for name in condition_rule.fields})
    words = [spec.fields[name].words or () for name in fields_read]
    if prod(map(len, words)) > MAX_COMBINATIONS:
        return
    for values in product(*words):
        context = Context(dict(zip(fields_read, values, strict=True)), defines=spec.scope.defines)
        texts = [condition_rule.text for condition_rule in spec.conditions if evaluate(condition_rule, context) is True]
        if len(texts) > 1:
            text = " and ".join(f"{name} {value}" for name, value in zip(fields_read, values, strict=True))
            yield f"{text} is one of {texts[0]} and one of {texts[1]}"


#: Linter name -> function over one operator. Add new linters here, and a failing file to the test.
LINTERS: Final[Mapping[str, Callable[[OperatorSpec], Iterator[str]]]] = {
    **{name: partial(_lint_file, lint_file) for name, lint_file in FILE_LINTERS.items()},
    "repeated-row": _repeated_row,
    "unbroken-rule": _rules_without_counterexample,
    "no-example": _no_example,
    "no-source": _no_source,
    "forgotten-cell": _unplaced_constraint,
    "rules-in-words": _rules_in_words,
    "overlapping-cases": _overlapping_cases,
    "examples-hold": _examples_hold,
    "unshown-part": _parts_without_example,
}
