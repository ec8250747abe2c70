"""Proposals of `observed` entries for unexplained differences.

They are a patch, to be reviewed before it is applied.
"""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from specgate.conform.result import SCHEMA_VERSION, Difference, Result, Tally
from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.generate.moves import MAX_RANK
from specgate.spec.fields import Cell
from specgate.spec.folders import source_folders
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = ["propose", "read_report"]


def read_report(path: Path) -> Result:
    """Return the verdicts of a campaign; raise InputError.

    path: the output of ``specgate conform --format json``.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["schema"] != SCHEMA_VERSION:
            raise InputError(f"expected schema {SCHEMA_VERSION}, found {report['schema']!r:.40}", file=str(path))
        tallies = tuple(Tally(**_members(Tally, entry)) for entry in report["tallies"])
        differences = tuple(
            Difference(**{**_members(Difference, entry), "findings": tuple(entry["findings"])})
            for entry in report["differences"]
        )
        parts = {"tallies": tallies, "differences": differences, "rules": (), "values": ()}
        return Result(**{**_members(Result, report), **parts})
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"expected a report of specgate conform as JSON: {error!r:.100}", file=str(path)) from None


def _members(kind: type, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known members of an entry.

    Ignores members that only later versions of the report have.
    """
    return {field.name: entry[field.name] for field in fields(kind)}


def propose(result: Result) -> str:
    """Return a unified diff with `observed` entries; "" if none is needed.

    It adds an entry for every unexplained class in which builds accept more than the documentation. Where they accept
    less, a person must write a rule, so the diff contains a comment with the smallest descriptor. `by` is set if only
    some of the implementations disagree.
    """
    files: dict[Path, list[str]] = defaultdict(list)
    for difference in result.differences:
        if difference.kind == "unexplained":
            scope, lines = _entry(difference, result)
            name = "tensor" if scope == "tensor" else difference.operator
            files[_file(result.dialect, name)] += lines
    return "".join(_diff(path, lines) for path, lines in sorted(files.items()))


def _entry(difference: Difference, result: Result) -> tuple[str, list[str]]:
    builds = [level.strip() for level in difference.level.split(",")]
    head = [f"  - builds: [{', '.join(_quote_text(level) for level in builds)}]"]
    if _is_unshared(difference, result.differences, result):
        head.append(f"    by: {difference.implementation}")
    detail = f" ({difference.detail})" if difference.detail else ""
    what = f"{difference.theirs}{detail}, {difference.count} cases; smallest: {difference.command}"
    evidence = [f"    evidence: {_quote_text(what)}"]
    if difference.theirs == "crashed":
        evidence.append("    bug: true")
    names = [finding.rpartition("/")[2] for finding in difference.findings]
    if not names or difference.theirs != "accepted":
        comment = [f"  # {line.strip()}" for line in (*head, *evidence)]
        return "operator", ["  # To be written by hand: a rule that these builds enforce and no page states.", *comment]
    scope = "tensor" if all(finding.split("/")[1] == "tensor" for finding in difference.findings) else "operator"
    waived = [name for name in names if "." not in name]
    cells = _cells([name for name in names if "." in name], difference, result.dialect)
    body = [f"    not_enforced: [{', '.join(waived)}]"] if waived else []
    return scope, [*head, *body, *([f"    support: {cells}"] if cells else []), *evidence]


def _is_unshared(difference: Difference, others: Iterable[Difference], result: Result) -> bool:
    """Return whether some implementation does not share a difference.

    Only considers implementations that were asked at these levels.
    """
    levels = {level.strip() for level in difference.level.split(",")}
    implementations = {
        t.implementation for t in result.tallies if t.operator == difference.operator and t.level in levels
    }
    alike = {
        other.implementation
        for other in others
        if (other.operator, other.findings, other.theirs)
        == (difference.operator, difference.findings, difference.theirs)
    }
    return bool(implementations - alike)


def _cells(names: Sequence[str], difference: Difference, dialect: str) -> str:
    """Return support cells as flow YAML.

    They accept what the row accepts and what the smallest descriptor contains.
    """
    spec = tables(dialect).operator(difference.operator)
    resolved = spec.resolve(difference.level.split(",")[0], "observed")
    descriptor = read_dict(dict(difference.descriptor), dialect)
    cells = []
    for name in names:
        field, _, aspect = name.partition(".")
        cell, value = (resolved.cells.get(field, Cell()) if resolved else Cell()), descriptor.fields.get(field)
        if aspect == "type" and isinstance(value, TensorDesc):
            items: list[Any] = [*(cell.types or ()), value.type]
        elif aspect == "rank" and isinstance(value, TensorDesc):
            items = sorted(
                {*(r for r in range(MAX_RANK + 1) if cell.ranks and r in cell.ranks), len(value.sizes or ())}
            )
        elif aspect == "value":
            items = [*(cell.values or ()), value]
        else:
            continue
        cells.append(f"{field}: {{{aspect}s: [{', '.join(map(str, items))}]}}")
    return "{" + ", ".join(cells) + "}" if cells else ""


def _quote_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _file(dialect: str, name: str) -> Path:
    """Return the file of an operator, or of a dialect's tensor rules."""
    files = tables(dialect).tables.files
    file = "tensor.yaml" if name == "tensor" else files[tables(dialect).operator(name).name]
    for folder in source_folders():
        if (folder / dialect / file).is_file():
            return folder / dialect / file
    raise InputError(f"no spec file of {dialect} {name} to propose entries for was found")


def _diff(path: Path, lines: Sequence[str]) -> str:
    before = path.read_text(encoding="utf-8").splitlines(keepends=True)
    head = [] if any(line.startswith("observed:") for line in before) else ["observed:\n"]
    after = [*before, *head, *(f"{line}\n" for line in lines)]
    parts = path.parts
    name = "/".join(parts[len(parts) - 1 - parts[::-1].index("specs") :]) if "specs" in parts else path.name
    return "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))
