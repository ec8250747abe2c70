"""Commands that show what the tables say: support, diff, minimum, rule, targets, explain."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from specgate.cli.common import as_json, text_table
from specgate.errors import InputError
from specgate.spec.store import DIALECTS
from specgate.spec.tables import dialect
from specgate.targets import known_targets, parse_target

if TYPE_CHECKING:
    import argparse

__all__ = ["diff", "explain", "minimum", "rule", "support", "targets"]


def _out(text: str) -> None:
    from specgate.report.clean import clean

    for line in text.splitlines():
        sys.stdout.write(clean(line, None) + "\n")


def support(arguments: argparse.Namespace) -> int:
    """Print an operator's table with the target's row marked, or every operator of a target."""
    from specgate.spec.view import operators_at, resolved_table

    target = parse_target(arguments.target) if arguments.target else None
    if arguments.operator is None:
        if target is None:
            raise InputError("expected an operator, or --target to list its operators")
        rows = operators_at(dialect(target.dialect), target.level)
        if arguments.format == "json":
            sys.stdout.write(as_json({"target": str(target), "operators": rows}))
            return 0
        _out(f"{target.described}: {len(rows)} operators with a table")
        _out(text_table([[r["operator"], r["support"], f"rows {', '.join(r['rows'])}"] for r in rows], indent="  "))
        return 0
    specs = _operators(arguments.operator, target.dialect if target else None)
    tables = [resolved_table(name, operator) for name, operator in specs]
    if arguments.format == "json":
        sys.stdout.write(as_json(tables if len(tables) > 1 else tables[0]))
        return 0
    for number, table in enumerate(tables):
        _out("\n" * bool(number) + _support_text(table, target.level if target else None))
    return 0


def _operators(text: str, wanted: str | None) -> list[tuple[str, str]]:
    from specgate.spec.view import find_operators

    name, slash, operator = text.partition("/")
    if slash:
        return [(name, operator)]
    found = [(s.dialect.name, s.name) for s in find_operators(text) if wanted in {None, s.dialect.name}]
    if not found:
        dialect(wanted or DIALECTS[0]).operator(text)  # NoTable, with the nearest name
    return found


def _support_text(table: dict[str, Any], level: str | None) -> str:
    levels = table["levels"]
    lines = [
        f"{table['dialect']} {table['operator']}: {table['summary']}",
        f"levels {levels[0]}..{levels[-1]}; " + (f"kernel {table['kernel']}" if table["kernel"] else "no kernel yet"),
    ]
    shared = {name: text for name, text in table["rows"][0]["rules"].items() if _everywhere(name, text, table["rows"])}
    case = None
    for row in table["rows"]:
        if row.get("when") != case:
            case = row["when"]
            lines += ["", f"where {case}"]
        span = row["levels"][0] if len(row["levels"]) == 1 else f"{row['levels'][0]}..{row['levels'][-1]}"
        marked = " <- this target" if level in row["levels"] else ""
        lines += ["", f"{'*' if marked else ' '} {span}{marked}"]
        cells = [[name, cell["kind"], _cell_text(cell)] for name, cell in row["fields"].items()]
        lines += text_table(cells, indent="    ").splitlines()
        lines += text_table(
            [[name, text] for name, text in row["rules"].items() if name not in shared], indent="    "
        ).splitlines()
    if shared:
        lines += [
            "",
            "  rules at all these levels",
            *text_table([[n, t] for n, t in shared.items()], indent="    ").splitlines(),
        ]
    lines += ["", *(_source(source) for source in table["source"])]
    return "\n".join(lines)


def _everywhere(name: str, text: str, rows: list[dict[str, Any]]) -> bool:
    return all(row["rules"].get(name) == text for row in rows)


def _cell_text(cell: dict[str, Any]) -> str:
    parts = []
    if "ranks" in cell:
        parts.append(f"rank {cell['ranks']}")
    if "types" in cell:
        parts.append(" ".join(cell["types"]))
    if "type" in cell:
        parts.append(cell["type"])
    parts.extend(f"{key} {_words(cell[key])}" for key in ("values", "range", "operators", "default") if key in cell)
    return "; ".join(parts)


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _source(source: dict[str, Any]) -> str:
    names = [source.get(k) for k in ("page", "package", "name") if source.get(k)]
    place = source.get("path") and f"{source.get('repository')}: {source['path']}"
    version = source.get("commit") or source.get("version")
    return "source: " + ", ".join(str(p) for p in (*names[:2], place, version, source.get("measured")) if p)


def diff(arguments: argparse.Namespace) -> int:
    """Print what changes between two targets of one dialect."""
    from specgate.spec.view import differences

    before, after = parse_target(arguments.before), parse_target(arguments.after)
    if before.dialect != after.dialect:
        raise InputError(f"expected two targets of one dialect, found {before} and {after}")
    changes = differences(dialect(before.dialect), before.level, after.level)
    if arguments.format == "json":
        sys.stdout.write(as_json({"before": str(before), "after": str(after), "changes": changes}))
        return 0
    total = len(dialect(before.dialect).operators)
    _out(f"{before.described} → {after.described}: {len(changes)} of {total} operators differ")
    for change in changes:
        _out(f"  {change['operator']}: {change['change']}")
        for detail in change["details"]:
            _out(f"    {detail}")
    return 0


def minimum(arguments: argparse.Namespace) -> int:
    """Print the lowest level that accepts a descriptor; 1 when no level does."""
    import specgate
    from specgate.descriptors.read import load_document

    source = arguments.descriptor
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
    lowest = dialect(made.dialect).spoken(found.level) if found.level else "none"
    _out(f"{made.dialect} {made.operator}: lowest level {lowest}; accepted by {found.levels}")
    if found.undecided:
        _out(f"  undecided at {found.undecided}")
    for level, findings in found.blockers.items():
        _out(f"  {level}:")
        for finding in findings:
            _out(f"    {finding.id}: {finding.message}")
    return 0 if found else 1


def rule(arguments: argparse.Namespace) -> int:
    """Print a rule's reference."""
    from specgate.spec.view import rule_reference

    reference = rule_reference(arguments.id)
    if arguments.format == "json":
        sys.stdout.write(as_json(reference))
        return 0
    _out(reference["id"])
    if reference.get("says"):
        _out(f"  says     {reference['says']}")
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
            {"given": g, "target": str(t), "environment": t.environment, "ir_version": t.ir_version}
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
    parts = [str(target)]
    if entry is not None:
        parts = [str(entry["title"]), *([f"{_via(entry)}"] if _via(entry) else []), str(target)]
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
