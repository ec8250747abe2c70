"""Differences between tables: every kind of fact, at its levels, from any source."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from specgate.cli import main
from specgate.errors import InputError
from specgate.export.compare import compare, read_tables
from tests.spec.conftest import BASE, OPERATOR

if TYPE_CHECKING:
    from pathlib import Path

TENSOR = """\
dialect: scratch
sources: [{name: own}]
rules:
  few-dimensions: rank(tensor) <= max_dimensions
counterexamples: {}
"""
OBSERVED = """\
observed:
  - builds: ["2.0"]
    support: {Input: {types: [INT16]}}
    not_enforced: [axis-range]
    evidence: seen
"""
VALUES = """\
observed:
  - builds: 2.0..3.0
    values: {wrong: {what: it copies twice}}
    evidence: seen
"""


@pytest.fixture
def differ(folder, tmp_path):
    """Return the changes of the scratch dialect for changed files, as plain data."""

    def find(before: dict[str, str | None] | None = None, **after: str | None) -> dict[str, Any]:
        places = []
        for name, changed in (("old", before or {}), ("new", after)):
            folder(**changed).rename(tmp_path / name)
            places.append(read_tables(str(tmp_path / name)))
        result = compare(*places).to_dict()
        assert result["schema"] == "specgate-tables-diff/1"
        scratch: dict[str, Any] = result["dialects"]["scratch"]
        return scratch

    return find


def details(entries: dict[str, Any]) -> list[str]:
    """Return the changes of the only changed operator, a line each."""
    (operator,) = entries["operators"]
    assert operator["change"] == "changed"
    return [
        " ".join(
            str(part) for part in (each["levels"], each["side"], each["when"], each["field"], each["what"]) if part
        )
        for each in operator["details"]
    ]


def operator(old: str, new: str, text: str = OPERATOR) -> dict[str, str | None]:
    assert old in text
    return {"operators__COPY_yaml": text.replace(old, new)}


def test_equal_tables(differ) -> None:
    result = differ()
    assert result["before"] == result["after"]
    assert (result["facts"], result["operators"]) == ([], [])


CHANGES = {
    "a type": (
        ("Input: {ranks: 1..8, types: [INT8, INT16]}", "Input: {ranks: 1..8, types: [INT8]}"),
        ["2.0..3.0 documented Input types -INT16"],
    ),
    "ranks": (
        ("Input: {ranks: 4, types", "Input: {ranks: 1..4, types"),
        ["1.0 documented Input ranks 4 → 1 to 4"],
    ),
    "a rule": (
        ("axis-range: Axis < dimensions", "axis-range: Axis <= dimensions"),
        ["1.0..3.0 documented rule axis-range: Axis < dimensions → Axis <= dimensions"],
    ),
    "a new rule": (
        ("  axis-range: Axis", "  more: {require: rank(Input) > 1, since: '2.0'}\n  axis-range: Axis"),
        ["2.0..3.0 documented rule more: none → rank(Input) > 1"],
    ),
    "a definition": (
        ("dimensions: rank(Input)", "dimensions: rank(Output)"),
        ["1.0..3.0 documented define dimensions: rank(Input) → rank(Output)"],
    ),
    "a new field": (
        (
            "type: uint, optional: true}", "type: uint, optional: true}\n  More: {kind: attribute, type: int, since: '3.0', optional: true}"),
        ["3.0 documented More added"],
    ),
    "a default": (
        ("type: uint, optional: true}", "type: uint, optional: true, default: 1}"),
        ["1.0..3.0 documented Axis default none → 1"],
    ),
    "the level of a field": (
        ("type: uint, optional: true}", "type: uint, optional: true, since: '2.0'}"),
        ["1.0 documented Axis removed"],
    ),
    "the level of an operator": (
        ('  "1.0":\n    Input: {ranks: 4, types: [INT8]}\n    Output: {ranks: 4, types: [INT8]}\n', ""),
        ["1.0 documented operator removed"],
    ),
    "how it is computed": (
        ("index_axis: kept", "index_axis: dropped"),
        ["1.0..3.0 documented computes 2.0.index_axis kept → dropped"],
    ),
    "builds": (
        ("execute:", OBSERVED + "execute:"),
        [
            "2.0 observed Input types -INT8",
            "2.0 observed rule axis-range: Axis < dimensions → none",
        ],
    ),
    "one implementation": (
        ("execute:", OBSERVED.replace("    evidence", "    by: some\n    evidence") + "execute:"),
        [
            "2.0 some Input types -INT8",
            "2.0 some rule axis-range: Axis < dimensions → none",
        ],
    ),
    "values of builds": (
        ("execute:", VALUES + "execute:"),
        ["2.0..3.0 observed different results + it copies twice"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES.keys())
def test_each_kind_of_change(change, expected, differ) -> None:
    some = BASE["dialect.yaml"] + "implementations: {some: {what: asked}}\n"
    result = differ({"dialect_yaml": some}, dialect_yaml=some, **operator(*change))
    assert result["facts"] == []
    assert sorted(details(result)) == sorted(expected)


def test_text_changes_are_not_fact_changes(differ) -> None:
    result = differ(**operator("summary: Copies.", "summary: Copies it all."))
    assert [(each["operator"], each["change"], each["details"]) for each in result["operators"]] == [
        ("COPY", "words", [])
    ]
    assert result["before"] != result["after"]


def test_added_and_removed_operators(differ) -> None:
    two = OPERATOR.replace("COPY", "TWO")
    result = differ({"operators__TWO_yaml": two}, operators__THREE_yaml=OPERATOR.replace("COPY", "THREE"))
    assert [(each["operator"], each["change"], each["levels"]) for each in result["operators"]] == [
        ("THREE", "added", "1.0..3.0"),
        ("TWO", "removed", "1.0..3.0"),
    ]


def test_a_new_level_lists_only_its_changes(differ) -> None:
    """Every operator exists at the new level; only differences from the previous count."""
    levels = BASE["levels.yaml"] + '  "4.0": {limits: {max_dimensions: 8}}\n'
    more = '  "4.0": {Input: {types: [INT8]}}\ndefine:'
    result = differ(levels_yaml=levels, **operator("define:", more))
    assert result["facts"] == ["level 4.0 added"]
    assert details(result) == ["4.0 documented Input types -INT16"]


def test_changes_of_dialect_facts(differ) -> None:
    result = differ(
        levels_yaml=BASE["levels.yaml"].replace("max_dimensions: 8", "max_dimensions: 9"),
        types_yaml=BASE["types.yaml"].replace("bits: 16", "bits: 15") + "  INT32: {bits: 32, numpy: int32}\n",
    )
    assert result["facts"] == ["level 3.0: limits.max_dimensions 8 → 9", "type INT16: bits 16 → 15", "type INT32 added"]
    assert result["operators"] == []


def test_rules_of_every_tensor(differ) -> None:
    result = differ({"tensor_yaml": TENSOR}, tensor_yaml=TENSOR.replace("<=", "<"))
    assert [each["operator"] for each in result["operators"]] == ["tensor"]
    text = "rule few-dimensions: rank(tensor) <= max_dimensions → rank(tensor) < max_dimensions"
    assert details(result) == [f"1.0..3.0 documented {text}"]


def test_texts(folder, tmp_path, capsys) -> None:
    folder(operators__TWO_yaml=OPERATOR.replace("COPY", "TWO")).rename(tmp_path / "old")
    changed = OPERATOR.replace("Axis < dimensions", "Axis <= dimensions")
    folder(
        operators__COPY_yaml=changed,
        operators__TWO_yaml=changed.replace("COPY", "TWO"),
        operators__THREE_yaml=OPERATOR.replace("COPY", "THREE"),
    ).rename(tmp_path / "new")
    assert main(["diff", "--tables", str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("Scratch: 2026.11+")
    assert rest == [
        "  1 operator added, 2 operators changed",
        "  added (1)",
        "    THREE (1.0..3.0)",
        "  changed (2)",
        "    COPY, TWO",
        "      1.0..3.0: rule axis-range: Axis < dimensions → Axis <= dimensions",
    ]
    assert main(["diff", "--tables", str(tmp_path / "old"), str(tmp_path / "new"), "--format", "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "### Scratch"
    assert "- `COPY`, `TWO`" in lines
    assert "  - 1.0..3.0: `rule axis-range: Axis < dimensions → Axis <= dimensions`" in lines


@pytest.mark.slow
def test_exports_are_read_back_as_equal_tables(tmp_path, capsys) -> None:
    file, folder = tmp_path / "tables.json", tmp_path / "tables"
    chosen = ["--operator", "directml/ONE_HOT", "--operator", "onnx/Cast"]
    for output in (file, folder):
        assert main(["export", *chosen, "-o", str(output)]) == 0
    assert read_tables(str(file)) == read_tables(str(folder))
    installed = read_tables("installed")
    for name, operator_name in (("directml", "ONE_HOT"), ("onnx", "Cast")):
        assert read_tables(str(file))[name].operators[operator_name] == installed[name].operators[operator_name]
    capsys.readouterr()
    assert main(["diff", "--tables", str(file), str(folder), "--format", "markdown"]) == 0
    assert capsys.readouterr().out == "No table has changed.\n"


def damaged(path: Path, change: Any) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


DAMAGES: dict[str, Any] = {
    "another schema": lambda result: result.update(schema="specgate-tables/2"),
    "no dialects": lambda result: result.pop("dialects"),
    "a list": lambda result: result.update(dialects=[]),
    "no levels": lambda result: result["dialects"]["directml"].pop("levels"),
    "bounds as text": lambda result: result["dialects"]["directml"]["operators"]["ONE_HOT"]["resolved"][0][
        "documented"
    ]["fields"]["IndicesTensor"].update(ranks="4"),
    "an unknown rule": lambda result: result["dialects"]["directml"]["operators"]["ONE_HOT"]["rules"].clear(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_exports_are_rejected(damage, tmp_path, capsys) -> None:
    path = tmp_path / "tables.json"
    assert main(["export", "--operator", "directml/ONE_HOT", "-o", str(path)]) == 0
    damaged(path, damage)
    with pytest.raises(InputError, match="expected tables that `specgate export json` wrote"):
        read_tables(str(path))


@pytest.mark.parametrize("name", ["../out.json", "way/out.json", "directml/none.json", 3])
def test_an_index_names_only_files_of_its_folder(name, tmp_path, capsys) -> None:
    folder = tmp_path / "tables"
    assert main(["export", "--operator", "directml/ONE_HOT", "-o", str(folder)]) == 0
    (tmp_path / "out.json").write_bytes((folder / "directml" / "ONE_HOT.json").read_bytes())
    (folder / "way").symlink_to(tmp_path)
    damaged(folder / "index.json", lambda result: result["dialects"]["directml"]["operators"].update(ONE_HOT=name))
    with pytest.raises(InputError, match=r"index\.json: names a file that is not read"):
        read_tables(str(folder))


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "\udcff"])
def test_invalid_json_is_rejected(text, tmp_path) -> None:
    path = tmp_path / "tables.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match="expected tables"):
        read_tables(str(path))


@pytest.mark.slow
def test_missing_tables_are_rejected(tmp_path, capsys) -> None:
    assert main(["diff", "--tables", "installed", str(tmp_path / "nothing.json")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    assert main(["diff", "--tables", str(tmp_path), "installed"]) == 2
    assert "or one laid out as specs/" in capsys.readouterr().err
    assert main(["diff", "directml:4.1", "directml:5.0", "--format", "markdown"]) == 2
    assert "expected --tables" in capsys.readouterr().err
