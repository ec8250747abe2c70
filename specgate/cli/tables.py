"""Commands that show what the tables say: support, diff, minimum, rule, targets, explain."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from specgate.cli.common import as_json, emit, text_table, width
from specgate.errors import InputError
from specgate.spec.store import DIALECTS
from specgate.spec.tables import dialect
from specgate.targets import known_targets, parse_target

if TYPE_CHECKING:
    import argparse

    from specgate.targets import Target

__all__ = ["diff", "explain", "minimum", "rule", "support", "targets"]


def _out(text: str) -> None:
    from specgate.report.clean import clean

    for line in text.splitlines():
        sys.stdout.write(clean(line, None) + "\n")


def support(arguments: argparse.Namespace) -> int:
    """Print an operator's table with the target's row marked, every operator of a target, or a page of them all."""
    target = parse_target(arguments.target) if arguments.target else None
    if arguments.format == "html":
        emit(_page(arguments.operator, target), arguments.output)
        return 0
    if arguments.operator is None:
        if target is None:
            raise InputError("expected an operator, or --target to list its operators")
        emit(_listing(target, arguments), arguments.output)
        return 0
    from specgate.report.tables.operator import operator_text
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

    return render(dialect(target.dialect if target else DIALECTS[0]), target)


def _listing(target: Target, arguments: argparse.Namespace) -> str:
    from specgate.report.tables.listing import counts, listing_text
    from specgate.spec.view import operators_at

    rows = operators_at(dialect(target.dialect), target.level)
    if arguments.format == "json":
        return as_json({"target": str(target), "counts": counts(rows), "operators": rows})
    return listing_text(target.described, rows, width(arguments.output))


def _operators(text: str, wanted: str | None) -> list[tuple[str, str]]:
    from specgate.spec.view import find_operators

    name, slash, operator = text.partition("/")
    if slash:
        return [(name, operator)]
    found = [(s.dialect.name, s.name) for s in find_operators(text) if wanted in {None, s.dialect.name}]
    if not found:
        dialect(wanted or DIALECTS[0]).operator(text)  # NoTable, with the nearest name
    return found


def _source(source: dict[str, Any]) -> str:
    from specgate.report.tables.words import source_words

    return f"source: {source_words(source)}"


def diff(arguments: argparse.Namespace) -> int:
    """Print what changes between two targets of one dialect."""
    from specgate.report.tables.changes import changes_text
    from specgate.spec.changes import changes, differences

    before, after = parse_target(arguments.before), parse_target(arguments.after)
    if before.dialect != after.dialect:
        raise InputError(f"expected two targets of one dialect, found {before} and {after}")
    table = dialect(before.dialect)
    if arguments.format == "json":
        found = differences(table, before.level, after.level)
        sys.stdout.write(as_json({"before": str(before), "after": str(after), "changes": found}))
        return 0
    heading = f"{before.described} → {after.described}"
    changed = changes(table, before.level, after.level)
    sys.stdout.write(changes_text(heading, changed, len(table.operators), width(None)))
    return 0


def minimum(arguments: argparse.Namespace) -> int:
    """Print the lowest level that accepts a descriptor, or the lowest opsets of an ONNX model; 1 when no level does."""
    import specgate
    from specgate.descriptors.read import load_document

    source = arguments.descriptor
    if source.lower().endswith(".onnx"):
        return _model_minimum(source, arguments)
    data = load_document(source, "<argument>") if source.lstrip().startswith("{") else source
    made = specgate.descriptor(data)
    found = specgate.minimum(made, basis=arguments.basis)
    if arguments.format == "json":
        blockers = {
            level: [{"id": f.id, "where": f.where, "message": f.message} for f in findings]
            for level, findings in found.blockers.items()
        }
        sys.stdout.write(
            as_json(
                {
                    "dialect": made.dialect,
                    "operator": made.operator,
                    "minimum": found.level,
                    "levels": list(found.levels),
                    "undecided": list(found.undecided),
                    "blockers": blockers,
                }
            )
        )
        return 0 if found else 1
    from specgate.report.tables.lowest import minimum_text

    sys.stdout.write(minimum_text(found, dialect(made.dialect), made.operator, width(None)))
    return 0 if found else 1


def _model_minimum(source: str, arguments: argparse.Namespace) -> int:
    from specgate.linting.minimum_text import model_minimum_json, model_minimum_text
    from specgate.linting.model_minimum import model_minimum
    from specgate.linting.settings import LintSettings, read_pins

    settings = LintSettings(infer=not arguments.no_infer, pins=read_pins(arguments.pin))
    found = model_minimum(source, settings, arguments.basis)
    if arguments.format == "json":
        sys.stdout.write(as_json(model_minimum_json(found, source)))
    else:
        sys.stdout.write(model_minimum_text(found, source, width(None)))
    return 0 if found else 1


def rule(arguments: argparse.Namespace) -> int:
    """Print a rule's reference."""
    from specgate.linting.model_rules import model_rule_reference
    from specgate.linting.rulebook import file_rule
    from specgate.spec.rulebook import rule_reference

    said = file_rule(arguments.id)
    own = None if said is None else {"id": arguments.id, "says": said, "holds": [], "fix": None, "source": []}
    reference = model_rule_reference(arguments.id) or own or rule_reference(arguments.id)
    if arguments.format == "json":
        sys.stdout.write(as_json(reference))
        return 0
    _out(reference["id"])
    if reference.get("says"):
        _out(f"  says     {reference['says']}")
    if reference["holds"]:
        _out(text_table([[str(entry["levels"]), entry["text"]] for entry in reference["holds"]], indent="  "))
    if reference.get("fix"):
        _out(f"  fix      {reference['fix']}")
    for source in reference["source"]:
        _out("  " + _source(source))
    if "rejected" in reference:
        import json

        _out("  accepted " + json.dumps(reference["accepted"]))
        rejected = reference["rejected"]
        changes = ", ".join(f"{path} = {json.dumps(value)}" for path, value in rejected["change"].items())
        _out(f"  rejected at {rejected['at']} with {changes}:")
        target = f"{reference['id'].partition('/')[0]}:{rejected['at']}"
        _out(f"    specgate check '{json.dumps(rejected['descriptor'])}' --target {target}")
    return 0


def targets(arguments: argparse.Namespace) -> int:
    """List the levels and releases of dialects, or resolve names."""
    names = [name for name in arguments.name if name in DIALECTS]
    wanted = [name for name in arguments.name if name not in DIALECTS]
    resolved = [parse_target(name) for name in wanted]
    rows = known_targets(names or DIALECTS) if names or not wanted else []
    if arguments.format == "json":
        entries = [
            {"given": g, "target": t.at_level, "environment": t.environment, "ir_version": t.ir_version}
            for g, t in zip(wanted, resolved, strict=True)
        ]
        sys.stdout.write(as_json({"resolved": entries, "targets": rows}))
        return 0
    for given, target in zip(wanted, resolved, strict=True):
        _out(_resolution(given, target))
    table = [[row["target"], str(row["kind"]), f"level {row['level']}", _via(row), _where(row)] for row in rows]
    _out(text_table(table))
    for name in names or (DIALECTS if rows else ()):
        _out(f"sources of {name}:")
        for source in _sources(name):
            _out("  " + source)
    return 0


def _sources(name: str) -> list[str]:
    raw = dialect(name).raw
    found = [*raw["levels"]["sources"], *raw.get("environments", {}).get("sources", [])]
    return list(dict.fromkeys(_source(source).removeprefix("source: ") for source in found))


def _resolution(given: str, target: Any) -> str:
    entry = next((e for e in dialect(target.dialect).environments if e["title"] == target.environment), None)
    parts = [target.at_level]
    if entry is not None:
        parts = [str(entry["title"]), *([f"{_via(entry)}"] if _via(entry) else []), target.at_level]
    ir = f" (IR version {target.ir_version})" if target.ir_version else ""
    source = f"; source: {_where(entry)}" if entry else ""
    return f"{given}: {' → '.join(parts)}{ir}{source}"


def _via(row: dict[str, Any]) -> str:
    version = row.get("via") or row.get("version") or row.get("release")
    if not version:
        return ""
    bare = str(version)[:1].isdigit()
    name = "DirectML " if bare and (row["kind"] in {"windows", "package", "wheel"} or "target_version" in row) else ""
    return f"{name}{version}"


def _where(row: dict[str, Any]) -> str:
    return str(row.get("source") or "")


def explain(arguments: argparse.Namespace) -> int:
    """Print what an error code means and how to get the descriptor checked."""
    wanted = arguments.code.strip()
    spelled = _hexadecimal(wanted)
    for name in DIALECTS:
        for code, entry in dialect(name).raw.get("codes", {}).get("codes", {}).items():
            if wanted.upper() == entry["name"].split()[0] or spelled == code:
                _out(f"{code} {entry['name']} ({dialect(name).raw['dialect']['title']})")
                _out(f"  {entry['meaning']}")
                _out(f"  {entry['advice']}")
                return 0
    known = [f"{c} {e['name']}" for n in DIALECTS for c, e in dialect(n).raw.get("codes", {}).get("codes", {}).items()]
    raise InputError(f"unknown code {wanted!r:.40}; known: {'; '.join(known)}")


def _hexadecimal(text: str) -> str | None:
    """0x80070057 from itself, from an unsigned or a signed decimal number."""
    try:
        number = int(text, 0) if len(text) < 30 else None
    except ValueError:
        return None
    if number is None or not -(2**31) <= number < 2**32:
        return None
    return f"0x{number & 0xFFFFFFFF:08X}"
