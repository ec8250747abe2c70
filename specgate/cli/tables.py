"""Commands that show what the tables say: support, diff, minimum, rule, targets, explain."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from specgate.cli.common import as_json, emit, text_table, width
from specgate.dialects import SHIPPED, dialect_names, is_dialect, model_owner
from specgate.errors import InputError
from specgate.report.clean import clean
from specgate.spec.tables import dialect
from specgate.targets import expanded, parse_target
from specgate.targets.listing import known_targets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from specgate.linting.input_source import Given
    from specgate.targets import Target

__all__ = ["diff", "explain", "minimum", "rule", "support", "targets"]


def _out(text: str) -> None:
    for line in text.splitlines():
        sys.stdout.write(clean(line, None) + "\n")


def support(arguments: argparse.Namespace) -> int:
    """Print an operator's table with the target's row marked, every operator of a target, or a page of them all."""
    said = (arguments.operator or "").partition("/")[0].lower()
    target = parse_target(arguments.target, said if is_dialect(said) else None) if arguments.target else None
    if arguments.format == "html":
        emit(_page(arguments.operator, target), arguments.output)
        return 0
    if arguments.operator is None:
        if target is None:
            raise InputError("expected an operator, or --target to list its operators")
        emit(_listing(target, arguments), arguments.output)
        return 0
    from specgate.report.tables.text import operator_text
    from specgate.spec.view import resolved_table

    specs = _operators(arguments.operator, target.dialect if target else None)
    tables = [resolved_table(name, operator) for name, operator in specs]
    if arguments.format == "json":
        emit(as_json(tables if len(tables) > 1 else tables[0]), arguments.output)
        return 0
    level = target.level if target else None
    texts = [operator_text(table, level, width(arguments.output)) for table in tables]
    emit("\n\n".join(texts), arguments.output)
    return 0


def _page(operator: str | None, target: Target | None) -> str:
    if operator is not None:
        raise InputError("expected no operator: the page shows every operator of the target's dialect")
    from specgate.report.tables.html import render

    return render(dialect(target.dialect if target else SHIPPED[0]), target)


def _listing(target: Target, arguments: argparse.Namespace) -> str:
    from specgate.report.tables.text import counts, listing_text
    from specgate.spec.view import operators_at

    rows = operators_at(dialect(target.dialect), target.level)
    if arguments.format == "json":
        return as_json({"target": str(target), "counts": counts(rows), "operators": rows})
    return listing_text(target.described, rows, width(arguments.output))


def _operators(text: str, wanted: str | None) -> list[tuple[str, str]]:
    from specgate.spec.view import find_operators, no_operator, operator_named

    found = [(spec.dialect.name, spec.name) for spec in find_operators(text, wanted)]
    if not found:
        name, slash, operator = text.partition("/")
        if slash or wanted:
            # NoTable, with the nearest name.
            operator_named(name.lower() if slash else wanted or "", operator if slash else text)
        raise no_operator(text)
    return found


def _source(source: Mapping[str, Any]) -> str:
    from specgate.report.tables.words import source_words

    return f"source: {source_words(source)}"


def diff(arguments: argparse.Namespace) -> int:
    """Print what changes between two targets of one dialect, or between tables."""
    if arguments.tables:
        return _tables_diff(arguments)
    if arguments.format == "markdown":
        raise InputError("expected --tables with --format markdown")
    from specgate.report.tables.changes import changes_text
    from specgate.spec.changes import difference

    found = difference(parse_target(arguments.before), parse_target(arguments.after))
    if arguments.format == "json":
        sys.stdout.write(as_json(found.to_dict()))
        return 0
    heading = f"{found.before.described} → {found.after.described}"
    count = len(dialect(found.before.dialect).operators)
    sys.stdout.write(changes_text(heading, list(found.operators), count, width(None)))
    return 0


def _tables_diff(arguments: argparse.Namespace) -> int:
    from specgate.export.compare import compare
    from specgate.export.reading import DAMAGED, INSTALLED, damaged, read_tables
    from specgate.report.tables.changes import tables_changes_markdown, tables_changes_text

    before, after = read_tables(arguments.before), read_tables(arguments.after)
    try:
        found = compare(before, after)
        if arguments.format == "json":
            text = as_json(found.to_dict())
        elif arguments.format == "markdown":
            text = tables_changes_markdown(found)
        else:
            text = tables_changes_text(found, width(None))
    except DAMAGED as error:  # what reading does not look into
        source = arguments.after if arguments.before == INSTALLED else arguments.before
        raise damaged(error, source) from None
    write = sys.stdout.write if arguments.format in {"json", "markdown"} else _out
    write(text)
    return 0


def minimum(arguments: argparse.Namespace) -> int:
    """Print the lowest level that accepts a descriptor, or the lowest opsets of a model; 1 when no level does."""
    from specgate.linting.input_source import TEXT, argument, standard_input
    from specgate.lowest.descriptor import find_minimum

    source = arguments.descriptor
    given = standard_input() if source == "-" else argument(source)
    owner = model_owner(source) if given is None else None
    kind = given.kind if given is not None else owner.name if owner is not None else TEXT
    model = kind != TEXT
    if arguments.target or arguments.dialect not in {None, kind}:
        if not model:
            raise InputError("--dialect and --target are for models: what their nodes become is judged")
        from specgate.cli.place import placed_minimum

        return placed_minimum(source if given is None else given, arguments)
    if model:
        return _model_minimum(source if given is None else given, arguments)
    if arguments.pin:
        raise InputError("--pin is for models: a descriptor states its sizes")
    if given is None:
        import specgate

        made = specgate.descriptor(source)
    else:
        from specgate.descriptors.files import one_of, placed

        made = one_of(placed(given.text(), given.name), given.name)
    found = find_minimum(made, arguments.basis)
    if arguments.format == "json":
        whole = {"dialect": made.dialect, "operator": made.operator, **found.to_dict()}
        sys.stdout.write(as_json(whole))
        return 0 if found else 1
    from specgate.report.tables.text import minimum_text

    sys.stdout.write(minimum_text(found, dialect(made.dialect), made.operator, width(None)))
    return 0 if found else 1


def _model_minimum(source: str | Given, arguments: argparse.Namespace) -> int:
    from specgate.linting.settings import LintSettings, read_pins
    from specgate.lowest.model import model_minimum
    from specgate.lowest.text import model_minimum_text

    settings = LintSettings(infer=not arguments.no_infer, pins=read_pins(arguments.pin), strict=True)
    found = model_minimum(source, settings, arguments.basis)
    name = source if isinstance(source, str) else source.name
    if arguments.format == "json":
        sys.stdout.write(as_json(found.to_dict(name)))
    else:
        sys.stdout.write(model_minimum_text(found, name, width(None), verbose=arguments.verbose))
    return 0 if found else 1


def rule(arguments: argparse.Namespace) -> int:
    """Print a rule's reference."""
    from specgate.rulebook import rule_of

    found = rule_of(arguments.id)
    if arguments.format == "json":
        sys.stdout.write(as_json(found.to_dict()))
        return 0
    _out(found.id)
    if found.says:
        _out(f"  says     {found.says}")
    if found.holds:
        _out(text_table(_held(found.holds), indent="  "))
    if found.fix:
        _out(f"  fix      {found.fix}")
    for source in found.source:
        _out("  " + _source(source))
    if found.rejected is not None:
        _out("  accepted " + json.dumps(found.accepted))
        rejected = found.rejected
        changes = ", ".join(f"{path} = {json.dumps(value)}" for path, value in rejected["change"].items())
        _out(f"  rejected at {rejected['at']} with {changes}:")
        target = f"{found.id.partition('/')[0]}:{rejected['at']}"
        _out(f"    specgate check '{json.dumps(rejected['descriptor'])}' --target {target}")
    return 0


def _held(holds: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """The forms of a rule by levels; where builds enforce forms of their own, each says whose it is."""
    if not any("basis" in form for form in holds):
        return [[str(form["levels"]), form["text"]] for form in holds]
    page = {"documented": "page", "observed": "builds"}
    whose = [f"{form['by']} only" if "by" in form else page[form.get("basis", "documented")] for form in holds]
    return [[str(form["levels"]), who, form["text"]] for form, who in zip(holds, whose, strict=True)]


def targets(arguments: argparse.Namespace) -> int:
    """List the levels and releases of dialects, or resolve names."""
    names = [name for name in arguments.name if is_dialect(name)]
    wanted = [name for name in arguments.name if not is_dialect(name)]

    wanted = [given for name in wanted for given in expanded(name)]
    resolved = [parse_target(name) for name in wanted]
    rows = known_targets(names or None) if names or not wanted else []
    if arguments.format == "json":
        entries = [{"given": given, **target.to_dict()} for given, target in zip(wanted, resolved, strict=True)]
        sys.stdout.write(as_json({"resolved": entries, "targets": rows}))
        return 0
    for given, target in zip(wanted, resolved, strict=True):
        _out(_resolution(given, target))
    table = [
        [row["target"], str(row["kind"]), f"level {row['level']}", _via(row, str(row["target"])), _where(row)]
        for row in rows
    ]
    _out(text_table(table))
    for name in names or (dialect_names() if rows else ()):
        _out(f"sources of {name}:")
        for source in _sources(name):
            _out("  " + source)
    return 0


def _sources(name: str) -> list[str]:
    found = dialect(name).tables.sources_of_targets
    return list(dict.fromkeys(_source(source).removeprefix("source: ") for source in found))


def _resolution(given: str, target: Any) -> str:
    entry = next((e for e in dialect(target.dialect).environments if e["title"] == target.environment), None)
    parts = [target.at_level]
    if target.runtime is not None:
        parts = [str(target.environment), dialect(target.dialect).label(target.level)]
    if entry is not None:
        via = _via(entry, target.dialect)
        parts = [str(entry["title"]), *([via] if via else []), target.at_level]
    ir = f" (IR version {target.ir_version})" if target.ir_version else ""
    source = f"; source: {_where(entry)}" if entry else ""
    return f"{given}: {' → '.join(parts)}{ir}{source}"


def _via(row: Mapping[str, Any], target: str) -> str:
    """The vendor's version that an environment comes with, named where a bare number would not say of what."""
    version = row.get("via") or row.get("version") or row.get("release")
    if not version:
        return ""
    bare = str(version)[:1].isdigit()
    if bare and (row["kind"] in {"windows", "package", "wheel"} or "target_version" in row):
        return f"{dialect(target.partition(':')[0]).tables.title} {version}"
    return str(version)


def _where(row: Mapping[str, Any]) -> str:
    return str(row.get("source") or "")


def explain(arguments: argparse.Namespace) -> int:
    """Print what an error code means and how to get the descriptor checked."""
    from specgate.codes import explain_codes

    found = explain_codes(" ".join(arguments.code))
    if arguments.format == "json":
        sys.stdout.write(as_json([entry.to_dict() for entry in found]))
        return 0
    for entry in found:
        _out(f"{entry.code} {entry.name} ({dialect(entry.dialect).tables.title})")
        _out(f"  {entry.meaning}")
        _out(f"  {entry.advice}")
    return 0
