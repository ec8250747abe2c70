"""The exported tables match their schema and give specgate's answers."""

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
from specgate.dialects import BUILT_IN
from specgate.export import FORMATS, ExportScope
from specgate.export.document import export, schema_text
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from pathlib import Path

    from specgate.spec.fields import Bounds

SCHEMA = json.loads(schema_text())
EVERY = [(name, operator) for name in BUILT_IN for operator in dialect(name).operators]


@cache
def whole() -> dict[str, Any]:
    (text,) = export(ExportScope(()))
    document: dict[str, Any] = json.loads(text)
    return document


def validator(part: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{part}"}]})


def problems(part: str, document: Any) -> list[str]:
    """Return the errors of a document; members outside the schema are errors."""
    return [f"{error.json_path}: {error.message:.200}" for error in validator(part).iter_errors(document)]


def at(document: dict[str, Any], name: str, operator: str, level: str) -> dict[str, Any]:
    """Return the exported facts of an operator at a level, as another program reads them."""
    (result,) = [e for e in document["dialects"][name]["operators"][operator]["resolved"] if level in e["levels"]]
    entry: dict[str, Any] = result
    return entry


@pytest.mark.slow
def test_the_whole_export_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert problems("document", whole()) == []
    assert list(whole()["dialects"]) == list(BUILT_IN)
    assert {name: list(part["operators"]) for name, part in whole()["dialects"].items()} == {
        name: dialect(name).operators for name in BUILT_IN
    }


BROKEN: dict[str, Any] = {
    "an unknown member": lambda result: result["dialects"]["directml"]["operators"]["ONE_HOT"].update(colour="red"),
    "no licence": lambda result: result.pop("license"),
    "a rank as text": lambda result: at(result, "directml", "ONE_HOT", "4.1")["documented"]["fields"][
        "IndicesTensor"
    ].update(ranks="1 to 8"),
    "another version": lambda result: result.update(tables_version="1.0"),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_schema_rejects_damaged_documents(damage) -> None:
    (text,) = export(ExportScope(("directml",), ("ONE_HOT",)))
    document = json.loads(text)
    assert problems("document", document) == []
    damage(document)
    assert problems("document", document)


def test_every_member_is_described() -> None:
    def list_undescribed(part: Any, place: str) -> list[str]:
        if not isinstance(part, dict):
            return []
        members = part.get("properties", {})
        texts = [f"{place}/{name}" for name, member in members.items() if not describe(member)]
        return texts + [text for key, value in part.items() for text in list_undescribed(value, f"{place}/{key}")]

    def describe(member: dict[str, Any]) -> bool:
        referred = SCHEMA["$defs"].get(str(member.get("$ref", "")).rpartition("/")[2], {})
        return "description" in member or "description" in referred

    inside_written = "/written/"
    texts = [place for place in list_undescribed(SCHEMA, "") if inside_written not in place]
    assert texts == []


@pytest.mark.slow
def test_query_of_a_field() -> None:
    """INT64 indices of ONE_HOT at 2.1 are documented as unsupported, but builds accept them."""
    entries = at(whole(), "directml", "ONE_HOT", "2.1")
    assert "INT64" not in entries["documented"]["fields"]["IndicesTensor"]["types"]
    assert "INT64" in entries["observed"]["fields"]["IndicesTensor"]["types"]
    rules = whole()["dialects"]["directml"]["operators"]["ONE_HOT"]["rules"]
    assert rules["axis-range"]["require"] == "Axis < rank(IndicesTensor)"
    assert rules["axis-range"]["because"] == "Axis must be less than the DimensionCount of IndicesTensor"
    assert rules["axis-range"]["id"] == "directml/ONE_HOT/axis-range"
    assert whole()["dialects"]["directml"]["levels"]["4.1"]["limits"]


def test_names_in_rules_are_explained() -> None:
    """A rule may use an expression by its name; the definition explains it."""
    gemm = whole()["dialects"]["onnx"]["operators"]["Gemm"]
    assert "rows" in gemm["rules"]["output-sizes"]["require"]
    assert gemm["define"]["rows"] == "A.sizes[0] if transA == 0 else A.sizes[1]"


def test_each_level_has_exactly_one_entry() -> None:
    for name, operator in EVERY:
        entries = whole()["dialects"][name]["operators"][operator]
        assert sorted(level for e in entries["resolved"] for level in e["levels"]) == sorted(entries["levels"])
        contents = [json.dumps({**e, "levels": None}) for e in entries["resolved"]]
        assert len(set(contents)) == len(contents)


def bounds_accept(bounds: dict[str, Any] | None, number: int) -> bool:
    if bounds is None:
        return True
    if "only" in bounds:
        return number in bounds["only"]
    return bool(bounds["min"] <= number <= bounds.get("max", number))


def parsed_bounds_accept(bounds: Bounds | None, number: int) -> bool:
    return bounds is None or number in bounds


@given(st.data())
def test_cells_match_the_tables(data) -> None:
    name, operator = data.draw(st.sampled_from(EVERY))
    spec = dialect(name).operator(operator)
    level = data.draw(st.sampled_from(list(spec.levels)))
    side = data.draw(st.sampled_from(["documented", "observed"]))
    resolved = spec.resolve(level, side)
    assert resolved is not None
    entry = at(whole(), name, operator, level)
    result = entry.get(side, entry["documented"])
    assert list(result["fields"]) == list(resolved.fields)
    assert [whole()["dialects"][name]["operators"][operator]["rules"][key]["require"] for key in result["rules"]] == [
        form.require.text for form in resolved.rules
    ]
    cells = [(result["fields"], resolved.cells)]
    cells += [
        (item["fields"], case.resolved.cells)
        for item, case in zip(result.get("cases", []), resolved.cases, strict=True)
    ]
    for message, kept in cells:
        for field, cell in kept.items():
            if field not in resolved.fields:  # of other levels
                continue
            for type_ in spec.dialect.types:
                assert (type_ in message[field].get("types", spec.dialect.types)) == (
                    cell.types is None or type_ in cell.types
                )
            for number in range(-1, 12):
                assert bounds_accept(message[field].get("ranks"), number) == parsed_bounds_accept(cell.ranks, number)
                assert bounds_accept(message[field].get("range"), number) == parsed_bounds_accept(cell.range, number)
            if cell.values is not None:
                assert message[field]["values"] == list(cell.values)


#: Tensors of DirectML's examples with every type at every level: more than 3000 questions.
SAMPLE = ("ONE_HOT", "GEMM", "GATHER", "CAST", "ELEMENT_WISE_ADD", "CONVOLUTION", "GATHER_ELEMENTS", "TOP_K", "SLICE")


@pytest.mark.slow
@pytest.mark.parametrize("operator", SAMPLE)
def test_types_match_the_verdicts_of_check(operator) -> None:
    spec = dialect("directml").operator(operator)
    example = next(iter(spec.table.examples.values()))["descriptor"]
    questions = 0
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
                    refused = {result.id for result in verdict.findings}
                    assert (f"directml/{operator}/{field}.type" in refused) == (type_ not in fields[field]["types"])
                    questions += 1
    assert questions > 100


@pytest.mark.parametrize(("name", "operator"), [("directml", "GEMM"), ("onnx", "OneHot"), ("openvino", "Gather")])
def test_types_match_the_support_rows(name, operator) -> None:
    shown = specgate.support(name, operator)
    for row in shown["rows"]:
        for level in row["levels"]:
            fields = at(whole(), name, operator, level)["documented"]["fields"]
            assert {field: message.get("types") for field, message in row["fields"].items()} == {
                field: message.get("types") for field, message in fields.items()
            }


def test_one_operator_in_a_file(tmp_path, capsys) -> None:
    path = tmp_path / "tables.json"
    assert main(["export", "json", "--operator", "onnx/one_hot", "-o", str(path)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    assert {name: list(part["operators"]) for name, part in document["dialects"].items()} == {"onnx": ["OneHot"]}
    assert document["dialects"]["onnx"]["operators"]["OneHot"] == whole()["dialects"]["onnx"]["operators"]["OneHot"]
    assert problems("document", document) == []
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
        document = json.loads((folder / listed[name]).read_text(encoding="utf-8"))
        assert problems("operator_file", document) == []
        assert document.items() >= operators[name].items()
        assert document["tables_version"] == specgate.tables_version
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
    assert contents(tmp_path) == first  # the same bytes at any time


@pytest.mark.parametrize("index", [None, "{}", '{"schema": "other/1", "dialects": {}}', "[" * 100_000])
def test_unrelated_folder_is_not_overwritten(index, tmp_path, capsys) -> None:
    (tmp_path / "precious.txt").write_text("mine", encoding="utf-8")
    if index is not None:
        (tmp_path / "index.json").write_text(index, encoding="utf-8")
    before = contents(tmp_path)
    assert main(["export", "--operator", "ONE_HOT", "-o", str(tmp_path)]) == 2
    assert "or one that an earlier export wrote" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_hostile_index_removes_no_files_outside(tmp_path) -> None:
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
def test_invalid_exports_are_rejected(options, message, capsys) -> None:
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
def test_cpp_options_are_rejected_for_other_formats(options, capsys) -> None:
    assert main(["export", "json", "--operator", "ONE_HOT", *options]) == 2
    assert "for cpp" in capsys.readouterr().err
