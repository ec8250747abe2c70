"""The exported tables: whole against their schema, and with the answers that specgate itself gives."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import specgate
from specgate.cli import main
from specgate.dialects import SHIPPED
from specgate.export import FORMATS, ExportScope
from specgate.export.document import export, schema_text
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from pathlib import Path

    from specgate.spec.fields import Bounds

SCHEMA = json.loads(schema_text())
EVERY = [(name, operator) for name in SHIPPED for operator in dialect(name).operators]


@cache
def whole() -> dict[str, Any]:
    (text,) = export(ExportScope(()))
    document: dict[str, Any] = json.loads(text)
    return document


def validator(part: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{part}"}]})


def problems(part: str, document: Any) -> list[str]:
    """Return what is wrong with a document; it may have no member that the schema does not describe."""
    return [f"{error.json_path}: {error.message:.200}" for error in validator(part).iter_errors(document)]


def at(document: dict[str, Any], name: str, operator: str, level: str) -> dict[str, Any]:
    """Return what the export says of an operator at a level, as an outsider would look it up."""
    (found,) = [e for e in document["dialects"][name]["operators"][operator]["resolved"] if level in e["levels"]]
    entry: dict[str, Any] = found
    return entry


@pytest.mark.slow
def test_the_whole_export_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert problems("document", whole()) == []
    assert list(whole()["dialects"]) == list(SHIPPED)
    assert {name: list(part["operators"]) for name, part in whole()["dialects"].items()} == {
        name: dialect(name).operators for name in SHIPPED
    }


BROKEN: dict[str, Any] = {
    "an unknown member": lambda made: made["dialects"]["directml"]["operators"]["ONE_HOT"].update(colour="red"),
    "no licence": lambda made: made.pop("license"),
    "a rank as text": lambda made: at(made, "directml", "ONE_HOT", "4.1")["documented"]["fields"][
        "IndicesTensor"
    ].update(ranks="1 to 8"),
    "another version": lambda made: made.update(tables_version="1.0"),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_the_schema_refuses_what_is_wrong(damage) -> None:
    (text,) = export(ExportScope(("directml",), ("ONE_HOT",)))
    made = json.loads(text)
    assert problems("document", made) == []
    damage(made)
    assert problems("document", made)


def test_every_member_is_described() -> None:
    def undescribed(part: Any, place: str) -> list[str]:
        if not isinstance(part, dict):
            return []
        members = part.get("properties", {})
        found = [f"{place}/{name}" for name, member in members.items() if not described(member)]
        return found + [one for key, value in part.items() for one in undescribed(value, f"{place}/{key}")]

    def described(member: dict[str, Any]) -> bool:
        referred = SCHEMA["$defs"].get(str(member.get("$ref", "")).rpartition("/")[2], {})
        return "description" in member or "description" in referred

    inside_written = "/written/"
    found = [place for place in undescribed(SCHEMA, "") if inside_written not in place]
    assert found == []


def test_a_question_of_the_field() -> None:
    """Does ONE_HOT take INT64 indices at 2.1? By the page it does not, but builds do."""
    found = at(whole(), "directml", "ONE_HOT", "2.1")
    assert "INT64" not in found["documented"]["fields"]["IndicesTensor"]["types"]
    assert "INT64" in found["observed"]["fields"]["IndicesTensor"]["types"]
    rules = whole()["dialects"]["directml"]["operators"]["ONE_HOT"]["rules"]
    assert rules["axis-range"]["require"] == "Axis < rank(IndicesTensor)"
    assert rules["axis-range"]["because"] == "Axis must be less than the DimensionCount of IndicesTensor"
    assert rules["axis-range"]["id"] == "directml/ONE_HOT/axis-range"
    assert whole()["dialects"]["directml"]["levels"]["4.1"]["limits"]


def test_names_in_rules_are_explained() -> None:
    """A rule may use an expression by its name, which only the definition explains."""
    gemm = whole()["dialects"]["onnx"]["operators"]["Gemm"]
    assert "rows" in gemm["rules"]["output-sizes"]["require"]
    assert gemm["define"]["rows"] == "A.sizes[0] if transA == 0 else A.sizes[1]"


def test_each_level_is_in_one_entry() -> None:
    for name, operator in EVERY:
        entries = whole()["dialects"][name]["operators"][operator]
        assert sorted(level for e in entries["resolved"] for level in e["levels"]) == sorted(entries["levels"])
        contents = [json.dumps({**e, "levels": None}) for e in entries["resolved"]]
        assert len(set(contents)) == len(contents)


def takes(bounds: dict[str, Any] | None, number: int) -> bool:
    if bounds is None:
        return True
    if "only" in bounds:
        return number in bounds["only"]
    return bool(bounds["min"] <= number <= bounds.get("max", number))


def held(bounds: Bounds | None, number: int) -> bool:
    return bounds is None or number in bounds


@given(st.data())
def test_cells_are_those_of_the_tables(data) -> None:
    name, operator = data.draw(st.sampled_from(EVERY))
    spec = dialect(name).operator(operator)
    level = data.draw(st.sampled_from(list(spec.levels)))
    side = data.draw(st.sampled_from(["documented", "observed"]))
    resolved = spec.resolve(level, side)
    assert resolved is not None
    entry = at(whole(), name, operator, level)
    found = entry.get(side, entry["documented"])
    assert list(found["fields"]) == list(resolved.fields)
    assert [whole()["dialects"][name]["operators"][operator]["rules"][key]["require"] for key in found["rules"]] == [
        form.require.text for form in resolved.rules
    ]
    cells = [(found["fields"], resolved.cells)]
    cells += [
        (one["fields"], case.resolved.cells) for one, case in zip(found.get("cases", []), resolved.cases, strict=True)
    ]
    for told, kept in cells:
        for field, cell in kept.items():
            if field not in resolved.fields:  # of other levels
                continue
            for type_ in spec.dialect.types:
                assert (type_ in told[field].get("types", spec.dialect.types)) == (
                    cell.types is None or type_ in cell.types
                )
            for number in range(-1, 12):
                assert takes(told[field].get("ranks"), number) == held(cell.ranks, number)
                assert takes(told[field].get("range"), number) == held(cell.range, number)
            if cell.values is not None:
                assert told[field]["values"] == list(cell.values)


#: Tensors of DirectML's examples, each given every type at every level: 3000 questions and more.
SAMPLE = ("ONE_HOT", "GEMM", "GATHER", "CAST", "ELEMENT_WISE_ADD", "CONVOLUTION", "GATHER_ELEMENTS", "TOP_K", "SLICE")


@pytest.mark.slow
@pytest.mark.parametrize("operator", SAMPLE)
def test_types_are_answered_as_check_answers(operator) -> None:
    spec = dialect("directml").operator(operator)
    example = next(iter(spec.table.examples.values()))["descriptor"]
    asked = 0
    for level in spec.levels:
        entry = at(whole(), "directml", operator, level)
        for side in ("documented", "observed"):
            fields = entry.get(side, entry["documented"])["fields"]
            for field, value in example["desc"].items():
                if not isinstance(value, dict) or "DataType" not in value or "types" not in fields.get(field, {}):
                    continue
                for type_ in dialect("directml").types:
                    changed = copy.deepcopy(example)
                    changed["desc"][field]["DataType"] = type_
                    verdict = specgate.check(changed, f"directml:{level}", basis=side)
                    refused = {found.id for found in verdict.findings}
                    assert (f"directml/{operator}/{field}.type" in refused) == (type_ not in fields[field]["types"])
                    asked += 1
    assert asked > 100


@pytest.mark.parametrize(("name", "operator"), [("directml", "GEMM"), ("onnx", "OneHot"), ("openvino", "Gather")])
def test_types_are_those_of_support(name, operator) -> None:
    shown = specgate.support(name, operator)
    for row in shown["rows"]:
        for level in row["levels"]:
            fields = at(whole(), name, operator, level)["documented"]["fields"]
            assert {field: told.get("types") for field, told in row["fields"].items()} == {
                field: told.get("types") for field, told in fields.items()
            }


def test_one_operator_in_a_file(tmp_path, capsys) -> None:
    path = tmp_path / "tables.json"
    assert main(["export", "json", "--operator", "onnx/one_hot", "-o", str(path)]) == 0
    made = json.loads(path.read_text(encoding="utf-8"))
    assert {name: list(part["operators"]) for name, part in made["dialects"].items()} == {"onnx": ["OneHot"]}
    assert made["dialects"]["onnx"]["operators"]["OneHot"] == whole()["dialects"]["onnx"]["operators"]["OneHot"]
    assert problems("document", made) == []
    assert (tmp_path / "tables.schema.json").read_text(encoding="utf-8") == schema_text()
    assert capsys.readouterr().out == f"1 operator, tables {specgate.tables_version}: {path}\n"


def test_a_folder_has_a_file_for_each_operator(tmp_path) -> None:
    folder = tmp_path / "made" / "tables"
    assert main(["export", "--format", "json", "--dialect", "directml", "-o", str(folder)]) == 0
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    assert problems("index", index) == []
    operators = whole()["dialects"]["directml"]["operators"]
    listed = index["dialects"]["directml"]["operators"]
    assert list(listed) == list(operators)
    for name in ("ONE_HOT", "GEMM"):
        made = json.loads((folder / listed[name]).read_text(encoding="utf-8"))
        assert problems("operator_file", made) == []
        assert made.items() >= operators[name].items()
        assert made["tables_version"] == specgate.tables_version
    assert json.loads((folder / "tables.schema.json").read_text(encoding="utf-8")) == SCHEMA


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_export_replaces_an_earlier_one(tmp_path) -> None:
    command = ["export", "-o", str(tmp_path), "--operator"]
    assert main([*command, "ONE_HOT", "--dialect", "directml"]) == 0
    first = contents(tmp_path)
    assert main([*command, "GEMM", "--dialect", "directml"]) == 0
    assert sorted(contents(tmp_path)) == ["directml/GEMM.json", "index.json", "tables.schema.json"]
    assert main([*command, "directml/one_hot"]) == 0
    assert contents(tmp_path) == first  # the same bytes, whenever they are written


@pytest.mark.parametrize("index", [None, "{}", '{"schema": "other/1", "dialects": {}}', "[" * 100_000])
def test_a_folder_of_something_else_stays_as_it_is(index, tmp_path, capsys) -> None:
    (tmp_path / "precious.txt").write_text("mine", encoding="utf-8")
    if index is not None:
        (tmp_path / "index.json").write_text(index, encoding="utf-8")
    before = contents(tmp_path)
    assert main(["export", "--operator", "ONE_HOT", "-o", str(tmp_path)]) == 2
    assert "or one that an earlier export wrote" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_an_index_takes_nothing_outside_away(tmp_path) -> None:
    folder, precious = tmp_path / "tables", tmp_path / "precious.json"
    folder.mkdir()
    precious.touch()
    listed = {"A": "../precious.json", "B": str(precious), "C": "x/../../precious.json", "D": 3}
    index = {"schema": "specgate-tables/1", "dialects": {"directml": {"operators": listed}}}
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
    assert main(["export", "--operator", "directml/ONE_HOT", "-o", str(folder)]) == 0
    assert precious.exists()


WRONG = {
    "dialect": (["--dialect", "direct"], "unknown dialect 'direct'; expected one of directml, onnx, openvino"),
    "operator": (["--operator", "ONE_HOTT"], "did you mean ONE_HOT?"),
    "operator elsewhere": (["--dialect", "onnx", "--operator", "GEMMM"], "onnx has no table for"),
    "output": (["--operator", "ONE_HOT", "-o", "/dev/null/tables"], "cannot be written"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_exported(options, message, capsys) -> None:
    assert main(["export", *options]) == 2
    caught = capsys.readouterr()
    assert message in caught.err
    assert caught.out == ""


def test_the_command_line_has_every_format(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in FORMATS)
    assert main(["spec", "schema", "export"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA


@pytest.mark.parametrize("options", [["--levels", "5.0"], ["--no-text"]])
def test_what_only_programs_that_judge_have_is_refused_elsewhere(options, capsys) -> None:
    assert main(["export", "json", "--operator", "ONE_HOT", *options]) == 2
    assert "for cpp" in capsys.readouterr().err
