"""Commands that show the tables.

They are support, diff, minimum, rule, targets and explain.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from specgate.cli.common import as_json, emit, output_width, text_table
from specgate.dialects import BUILT_IN, dialect_names, is_dialect, model_owner
from specgate.errors import InputError
from specgate.loading import lazy
from specgate.report.clean import clean
from specgate.spec.tables import dialect
from specgate.targets import expand_query, parse_target
from specgate.targets.listing import known_targets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from specgate import codes
    from specgate.cli import place
    from specgate.descriptors import files
    from specgate.export import compare as export_compare
    from specgate.linting import input_source
    from specgate.linting import settings as linting_settings
    from specgate.linting.input_source import InputSource
    from specgate.lowest import descriptor as lowest_descriptor
    from specgate.lowest import model as lowest_model
    from specgate.lowest import text as lowest_text
    from specgate.report.tables import changes as tables_changes
    from specgate.report.tables import html
    from specgate.report.tables import text as tables_text
    from specgate.spec import changes as spec_changes
    from specgate.spec import rulebook, view
    from specgate.targets import Target
else:
    place = lazy("specgate.cli.place")
    codes = lazy("specgate.codes")
    files = lazy("specgate.descriptors.files")
    export_compare = lazy("specgate.export.compare")
    input_source = lazy("specgate.linting.input_source")
    linting_settings = lazy("specgate.linting.settings")
    lowest_descriptor = lazy("specgate.lowest.descriptor")
    lowest_model = lazy("specgate.lowest.model")
    lowest_text = lazy("specgate.lowest.text")
    tables_changes = lazy("specgate.report.tables.changes")
    html = lazy("specgate.report.tables.html")
    tables_text = lazy("specgate.report.tables.text")
    spec_changes = lazy("specgate.spec.changes")
    rulebook = lazy("specgate.spec.rulebook")
    view = lazy("specgate.spec.view")


def _print_text(text: str) -> None:
    for line in text.splitlines():
        sys.stdout.write(clean(line, None) + "\n")


def support(arguments: argparse.Namespace) -> int:
    """Print an operator's table, a target's operators, or a page of all.

    The row of the target is marked.
    """
    result = (arguments.operator or "").partition("/")[0].lower()
    target = parse_target(arguments.target, result if is_dialect(result) else None) if arguments.target else None
    if arguments.format == "html":
        emit(_page(arguments.operator, target), arguments.output)
        return 0
    if arguments.operator is None:
        if target is None:
            raise InputError("expected an operator, or --target to list its operators")
        emit(_listing(target, arguments), arguments.output)
        return 0
    specs = _operators(arguments.operator, target.dialect if target else None)
    tables = [view.resolved_table(name, operator) for name, operator in specs]
    if arguments.format == "json":
        emit(as_json(tables if len(tables) > 1 else tables[0]), arguments.output)
        return 0
    level = target.level if target else None
    texts = [tables_text.operator_text(table, level, output_width(arguments.output)) for table in tables]
    emit("\n\n".join(texts), arguments.output)
    return 0


def _page(operator: str | None, target: Target | None) -> str:
    if operator is not None:
        raise InputError("remove the operator: the HTML page shows every operator of the target's dialect")
    return html.render(dialect(target.dialect if target else BUILT_IN[0]), target)


def _listing(target: Target, arguments: argparse.Namespace) -> str:
    rows = view.operators_at(dialect(target.dialect), target.level)
    if arguments.format == "json":
        return as_json({"target": str(target), "counts": tables_text.counts(rows), "operators": rows})
    return tables_text.listing_text(target.described, rows, output_width(arguments.output))


def _operators(text: str, result: str | None) -> list[tuple[str, str]]:
    texts = [(spec.dialect.name, spec.name) for spec in view.find_operators(text, result)]
    if not texts:
        name, slash, operator = text.partition("/")
        if slash or result:
            # Raises NoTable with the nearest name.
            view.operator_named(name.lower() if slash else result or "", operator if slash else text)
        raise view.unknown_operator_error(text)
    return texts


def _source(source: Mapping[str, Any]) -> str:
    from specgate.report.tables.words import source_words

    return f"source: {source_words(source)}"


def diff(arguments: argparse.Namespace) -> int:
    """Print the changes between two targets of a dialect, or of tables."""
    if arguments.tables:
        return _tables_diff(arguments)
    if arguments.format == "markdown":
        raise InputError("expected --tables with --format markdown")
    matching_difference = spec_changes.difference(parse_target(arguments.before), parse_target(arguments.after))
    if arguments.format == "json":
        sys.stdout.write(as_json(matching_difference.to_dict()))
        return 0
    heading = f"{matching_difference.before.described} → {matching_difference.after.described}"
    count = len(dialect(matching_difference.before.dialect).operators)
    sys.stdout.write(
        tables_changes.changes_text(heading, list(matching_difference.operators), count, output_width(None))
    )
    return 0


def _tables_diff(arguments: argparse.Namespace) -> int:
    before, after = export_compare.read_tables(arguments.before), export_compare.read_tables(arguments.after)
    try:
        difference = export_compare.compare(before, after)
        if arguments.format == "json":
            text = as_json(difference.to_dict())
        elif arguments.format == "markdown":
            text = tables_changes.tables_changes_markdown(difference)
        else:
            text = tables_changes.tables_changes_text(difference, output_width(None))
    except export_compare.DAMAGED as error:  # not covered by validation
        source = arguments.after if arguments.before == export_compare.INSTALLED else arguments.before
        raise export_compare.damaged_error(error, source) from None
    write = sys.stdout.write if arguments.format in {"json", "markdown"} else _print_text
    write(text)
    return 0


def minimum(arguments: argparse.Namespace) -> int:
    """Print the lowest level of a descriptor, or lowest opsets of a model.

    Returns 1 if no level accepts it.
    """
    source = arguments.descriptor
    result = input_source.standard_input() if source == "-" else input_source.argument(source)
    owner = model_owner(source) if result is None else None
    kind = result.kind if result is not None else owner.name if owner is not None else input_source.TEXT
    model = kind != input_source.TEXT
    if arguments.target or arguments.dialect not in {None, kind}:
        if not model:
            raise InputError("--dialect and --target apply to models only")
        return place.placed_minimum(source if result is None else result, arguments)
    if model:
        return _model_minimum(source if result is None else result, arguments)
    if arguments.pin:
        raise InputError("--pin applies to models only")
    if result is None:
        import specgate

        descriptor = specgate.descriptor(source)
    else:
        descriptor = files.only_entry(files.iterate_placed(result.text(), result.name), result.name)
    matching_minimum = lowest_descriptor.find_minimum(descriptor, arguments.basis)
    if arguments.format == "json":
        data = {"dialect": descriptor.dialect, "operator": descriptor.operator, **matching_minimum.to_dict()}
        sys.stdout.write(as_json(data))
        return 0 if matching_minimum else 1
    sys.stdout.write(
        tables_text.minimum_text(matching_minimum, dialect(descriptor.dialect), descriptor.operator, output_width(None))
    )
    return 0 if matching_minimum else 1


def _model_minimum(source: str | InputSource, arguments: argparse.Namespace) -> int:
    settings = linting_settings.LintSettings(
        infer=not arguments.no_infer, pins=linting_settings.read_pins(arguments.pin), strict=True
    )
    matching_minimum = lowest_model.model_minimum(source, settings, arguments.basis)
    name = source if isinstance(source, str) else source.name
    if arguments.format == "json":
        sys.stdout.write(as_json(matching_minimum.to_dict(name)))
    else:
        sys.stdout.write(
            lowest_text.model_minimum_text(matching_minimum, name, output_width(None), verbose=arguments.verbose)
        )
    return 0 if matching_minimum else 1


def rule(arguments: argparse.Namespace) -> int:
    """Print a rule's reference."""
    matching_rule = rulebook.rule_of(arguments.id)
    if arguments.format == "json":
        sys.stdout.write(as_json(matching_rule.to_dict()))
        return 0
    _print_text(matching_rule.id)
    if matching_rule.says:
        _print_text(f"  says     {matching_rule.says}")
    if matching_rule.holds:
        _print_text(text_table(level_rows(matching_rule.holds), indent="  "))
    if matching_rule.fix:
        _print_text(f"  fix      {matching_rule.fix}")
    for source in matching_rule.source:
        _print_text("  " + _source(source))
    if matching_rule.rejected is not None:
        _print_text("  accepted " + json.dumps(matching_rule.accepted))
        rejected = matching_rule.rejected
        changes = ", ".join(f"{path} = {json.dumps(value)}" for path, value in rejected["change"].items())
        _print_text(f"  rejected at {rejected['at']} with {changes}:")
        target = f"{matching_rule.id.partition('/')[0]}:{rejected['at']}"
        _print_text(f"    specgate check '{json.dumps(rejected['descriptor'])}' --target {target}")
    return 0


def level_rows(rule_conditions: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """Return a rule's forms by level, each with its basis if they differ."""
    if not any("basis" in form for form in rule_conditions):
        return [[str(form["levels"]), form["text"]] for form in rule_conditions]
    page = {"documented": "page", "observed": "builds"}
    conditions = [
        f"{form['by']} only" if "by" in form else page[form.get("basis", "documented")] for form in rule_conditions
    ]
    return [[str(form["levels"]), test, form["text"]] for form, test in zip(rule_conditions, conditions, strict=True)]


def targets(arguments: argparse.Namespace) -> int:
    """List the levels and releases of dialects, or resolve names."""
    names = [name for name in arguments.name if is_dialect(name)]
    items = [name for name in arguments.name if not is_dialect(name)]

    items = [text for name in items for text in expand_query(name)]
    resolved = [parse_target(name) for name in items]
    rows = known_targets(names or None) if names or not items else []
    if arguments.format == "json":
        entries = [{"given": result, **target.to_dict()} for result, target in zip(items, resolved, strict=True)]
        sys.stdout.write(as_json({"resolved": entries, "targets": rows}))
        return 0
    for result, target in zip(items, resolved, strict=True):
        _print_text(_resolution(result, target))
    table = [
        [
            row["target"],
            str(row["kind"]),
            f"level {row['level']}",
            _vendor_version(row, str(row["target"])),
            _row_source(row),
        ]
        for row in rows
    ]
    _print_text(text_table(table))
    for name in names or (dialect_names() if rows else ()):
        _print_text(f"sources of {name}:")
        for source in _sources(name):
            _print_text("  " + source)
    return 0


def _sources(name: str) -> list[str]:
    entries = dialect(name).tables.sources_of_targets
    return list(dict.fromkeys(_source(source).removeprefix("source: ") for source in entries))


def _resolution(text: str, target: Any) -> str:
    entry = next((e for e in dialect(target.dialect).environments if e["title"] == target.environment), None)
    parts = [target.at_level]
    if target.runtime is not None:
        parts = [str(target.environment), dialect(target.dialect).label(target.level)]
    if entry is not None:
        vendor_version = _vendor_version(entry, target.dialect)
        parts = [str(entry["title"]), *([vendor_version] if vendor_version else []), target.at_level]
    ir = f" (IR version {target.ir_version})" if target.ir_version else ""
    source = f"; source: {_row_source(entry)}" if entry else ""
    return f"{text}: {' → '.join(parts)}{ir}{source}"


def _vendor_version(row: Mapping[str, Any], target: str) -> str:
    """Return the vendor's version of an environment.

    The dialect's title is added to a bare number.
    """
    version = row.get("via") or row.get("version") or row.get("release")
    if not version:
        return ""
    is_bare_version = str(version)[:1].isdigit()
    if is_bare_version and (row["kind"] in {"windows", "package", "wheel"} or "target_version" in row):
        return f"{dialect(target.partition(':')[0]).tables.title} {version}"
    return str(version)


def _row_source(row: Mapping[str, Any]) -> str:
    return str(row.get("source") or "")


def explain(arguments: argparse.Namespace) -> int:
    """Print the meaning of an error code, and how to check the descriptor."""
    explanations = codes.explain_codes(" ".join(arguments.code))
    if arguments.format == "json":
        sys.stdout.write(as_json([entry.to_dict() for entry in explanations]))
        return 0
    for entry in explanations:
        _print_text(f"{entry.code} {entry.name} ({dialect(entry.dialect).tables.title})")
        _print_text(f"  {entry.meaning}")
        _print_text(f"  {entry.advice}")
    return 0
