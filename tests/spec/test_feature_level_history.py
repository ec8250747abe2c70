"""DirectML's tables against its feature level history, in both directions.

The facts of that page, and its conflicts with the operators' pages, are in
tests/data/directml/feature_level_history.yaml.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from specgate.spec.tables import dialect
from specgate.spec.yamlio import load_yaml
from tests.paths import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

FILE = DATA / "directml" / "feature_level_history.yaml"
HISTORY: dict[str, Any] = load_yaml(FILE.read_text(encoding="utf-8"), str(FILE))[0]
LEVELS: dict[str, Any] = HISTORY["levels"]
KINDS = ("types", "ranks", "values", "operators")
TABLE = dialect("directml")


class Gain(NamedTuple):
    """Something that a level supports and the previous one does not.

    For a rule: its name, and the requirement as `text`.
    """

    kind: str
    field: str
    value: Any
    case: str = ""
    text: str = ""


def accepts_case(resolved: Resolved) -> Iterator[Gain]:
    """Return everything that a level's support rows list, case by case."""
    cases = {case.when.text: case.resolved for case in resolved.cases} or {"": resolved}
    for when, part in cases.items():
        for field, cell in part.cells.items():
            ranks = [n for n in range(1, 9) if n in cell.ranks] if cell.ranks is not None else []
            for kind, values in zip(KINDS, (cell.types, ranks, cell.values, cell.operators), strict=True):
                yield from (Gain(kind, field, value, when) for value in values or ())


@cache
def gains(spec: OperatorSpec, level: str) -> frozenset[Gain]:
    """Return an operator's additions at `level`; nothing at its first one."""
    current, last = spec.resolve(level), spec.resolve(TABLE.levels[TABLE.position[level] - 1])
    if current is None or last is None:
        return frozenset()
    before, after = ({form.name: form.require.text for form in part.rules} for part in (last, current))
    rules = {Gain("rules", "", name, text=text) for name, text in before.items() if after.get(name) != text}
    rules |= {Gain("rules", "", name) for name in after.keys() - before.keys()}
    return frozenset(accepts_case(current)) - set(accepts_case(last)) | rules


def words(case: str) -> set[str]:
    """Return the enum values in a case's condition."""
    return set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", case))


def statements(entry: Any) -> list[dict[str, Any]]:
    return entry if isinstance(entry, list) else [entry]


def find_meant(statement: Mapping[str, Any], result: Iterable[Gain]) -> set[Gain]:
    """Return the additions that a statement names."""
    kinds = {"integers": {"types"}, "types-or-ranks": {"types", "ranks"}}.get(statement["what"], {statement["what"]})
    of, takes = statement.get("of"), statement.get("takes")
    when = {word for values in statement.get("when", {}).values() for word in values}
    return {
        gain
        for gain in result
        if gain.kind in kinds
        and (not of or (gain.field in of if gain.kind != "rules" else all(name in gain.text for name in of)))
        and (not takes or gain.value in takes)
        and (not when or (gain.case and words(gain.case) <= when))
    }


def holds(statement: Mapping[str, Any], spec: OperatorSpec, level: str) -> bool:
    """Return whether the tables have the facts of a statement."""
    result = find_meant(statement, gains(spec, level))
    if statement["what"] == "integers":
        result = {gain for gain in result if "INT" in gain.value}
    for expected in statement.get("when", {}).values():
        if not set(expected) <= {word for gain in result for word in words(gain.case)}:
            return False
    if "takes" in statement:
        resolved = spec.resolve(level)
        fields = statement.get("of") or {gain.field for gain in result}
        everything = {(gain.field, gain.value) for gain in accepts_case(resolved)} if resolved is not None else set()
        if not {(field, value) for field in fields for value in statement["takes"]} <= everything:
            return False
    if "to" in statement and result:
        resolved, last = spec.resolve(level), spec.resolve(TABLE.levels[TABLE.position[level] - 1])
        most = [
            max(g.value for g in accepts_case(part) if g.kind == "ranks")
            for part in (last, resolved)
            if part is not None
        ]
        return most == [statement["from"], statement["to"]]
    return bool(result)


def list_unsupported(level: str, facts: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return facts of the page that the tables lack: operators by kind of statement."""
    pairs = set()
    for name in facts.get("introduced", ()):
        if name not in TABLE.operators or TABLE.operator(name).levels.first != level:
            pairs.add((name, "introduced"))
    for name, entry in facts.get("extended", {}).items():
        spec = TABLE.operator(name)
        pairs |= {(name, entries["what"]) for entries in statements(entry) if not holds(entries, spec, level)}
    return pairs


def list_uncovered(spec: OperatorSpec, level: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return an operator's facts in the tables that the page lacks."""
    if spec.levels.first == level:
        return {} if spec.name in facts.get("introduced", ()) else {"introduced": True}
    left = set(gains(spec, level))
    for entries in statements(facts.get("extended", {}).get(spec.name, [])):
        left -= find_meant(entries, left)
    every = facts.get("every", {})
    pairs = {("types", word) for word in every.get("types", ())}
    pairs |= {("operators", word) for word in [*every.get("operators", ()), *facts.get("introduced", ())]}
    left = {g for g in left if (g.kind, g.value) not in pairs and not (g.kind == "ranks" and "max_dimensions" in every)}
    return {kind: sorted({g.value for g in left if g.kind == kind}) for kind in sorted({g.kind for g in left})}


def all_uncovered(level: str, facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    entries = {name: list_uncovered(TABLE.operator(name), level, facts) for name in TABLE.operators}
    return {name: what for name, what in entries.items() if what}


def load_known(level: str, key: str) -> list[dict[str, Any]]:
    return [entry for entry in HISTORY["known"] if entry["level"] == level and key in entry]


def test_the_history_has_every_level_after_the_first() -> None:
    assert tuple(LEVELS) == TABLE.levels[1:]
    for level, facts in LEVELS.items():
        assert facts["version"] == TABLE.tables.levels[level]["version"]


def test_every_name_of_the_history_is_in_the_tables() -> None:
    for level, facts in LEVELS.items():
        assert set(facts) <= {"version", "every", "introduced", "extended"}
        for name, entry in facts.get("extended", {}).items():
            fields = TABLE.operator(name).fields
            for entries in statements(entry):
                assert set(entries) <= {"what", "of", "takes", "from", "to", "when"}, (level, name)
                assert set(entries.get("of", ())) | set(entries.get("when", ())) <= set(fields), (level, name)
                for field, values in entries.get("when", {}).items():
                    assert set(values) <= set(fields[field].words or ()), (level, name)


@pytest.mark.parametrize("level", LEVELS)
def test_documented_history_is_in_the_tables(level: str) -> None:
    """Except for recorded conflicts, which must all exist."""
    expected = [(name, entry["says"]) for entry in load_known(level, "says") for name in entry["operators"]]
    assert len(expected) == len(set(expected))
    assert list_unsupported(level, LEVELS[level]) == set(expected)


@pytest.mark.parametrize("level", LEVELS)
def test_table_changes_are_in_the_documented_history(level: str) -> None:
    """Except for recorded conflicts, which must all exist."""
    expected: dict[str, dict[str, Any]] = {}
    for entry in load_known(level, "lacks"):
        for name in entry["operators"]:
            for kind, values in entry["lacks"].items():
                assert kind not in expected.setdefault(name, {}), (name, kind)
                expected[name][kind] = sorted(values) if isinstance(values, list) else values
    assert all_uncovered(level, LEVELS[level]) == expected


def test_recorded_conflicts_have_a_reason() -> None:
    for entry in HISTORY["known"]:
        assert set(entry) in ({"level", "operators", "says", "reason"}, {"level", "operators", "lacks", "reason"})
        assert entry["level"] in LEVELS
        assert entry["operators"]
        assert entry["reason"]


def test_history_entries_about_every_operator() -> None:
    for level, facts in LEVELS.items():
        every = facts.get("every", {})
        before = TABLE.levels[TABLE.position[level] - 1]
        limits = [TABLE.limits(at)["max_dimensions"] for at in (before, level)]
        most = every.get("max_dimensions", {"from": limits[1], "to": limits[1]})
        assert limits == [most["from"], most["to"]]
        assert every.get("types", []) == [n for n, info in TABLE.types.items() if info["since"] == level]
        if "by" in every:
            takers = {name for name in TABLE.operators if accepts_any_type(name, level, every["types"])}
            assert takers == set(every["by"])
        fused = {g.value for n in TABLE.operators for g in gains(TABLE.operator(n), level) if g.kind == "operators"}
        assert set(every.get("operators", ())) <= fused


def accepts_any_type(name: str, level: str, types: list[str]) -> bool:
    resolved = TABLE.operator(name).resolve(level)
    return resolved is not None and any(gain.kind == "types" and gain.value in types for gain in accepts_case(resolved))


def test_later_levels_remove_nothing() -> None:
    for name in TABLE.operators:
        rows = [row for level in TABLE.levels if (row := TABLE.operator(name).resolve(level)) is not None]
        for before, after in pairwise(rows):
            assert set(accepts_case(before)) <= set(accepts_case(after)), (name, after.level)


# The comparison itself can fail.


def test_an_excess_statement_is_detected() -> None:
    facts = {"extended": {"ONE_HOT": {"what": "types"}, "TILE": {"what": "ranks"}}, "introduced": ["ONE_HOT"]}
    assert list_unsupported("4.1", facts) == {("TILE", "ranks"), ("ONE_HOT", "introduced")}
    wrong = {"what": "types", "of": ["ValuesTensor"], "takes": ["UINT4"]}
    assert list_unsupported("4.1", {"extended": {"ONE_HOT": wrong}}) == {("ONE_HOT", "types")}
    assert list_unsupported("3.1", {"extended": {"TILE": {"what": "ranks", "from": 4, "to": 7}}}) == {("TILE", "ranks")}
    assert list_unsupported("3.1", {"extended": {"TILE": {"what": "ranks", "from": 4, "to": 8}}}) == set()


def test_a_missing_statement_is_detected() -> None:
    without = {**LEVELS["6.4"], "introduced": ["FOLD"], "extended": {}}
    assert all_uncovered("6.4", without) == {
        "ACTIVATION_SOFTPLUS": {"rules": ["steepness-minimum"]},
        "PADDING": {"values": ["WRAP"]},
        "PADDING1": {"values": ["WRAP"]},
        "RESAMPLE3": {"introduced": True},
        "UNFOLD": {"introduced": True},
    }
    partly = {"extended": {"REDUCE": {"what": "types", "when": {"Function": ["MAX", "MIN"]}}}}
    spec = TABLE.operator("REDUCE")
    assert list_uncovered(spec, "5.0", partly) == {"types": ["INT32", "INT64", "UINT32", "UINT64"]}
    assert list_uncovered(spec, "5.0", {"extended": {"REDUCE": {"what": "types"}}}) == {}
