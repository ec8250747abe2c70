"""The JSON report matches its schema, without undocumented members."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from specgate.cli import main
from specgate.report import RenderOptions, render
from specgate.verdict import Location, Report
from tests.paths import DATA
from tests.report.test_report_properties import reports, slow

SCHEMA = json.loads(files("specgate.report").joinpath("report.schema.json").read_text(encoding="utf-8"))


def close_all(schema: Any) -> Any:
    """Return the schema with every object limited to its documented members."""
    if isinstance(schema, list):
        return [close_all(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    entries = {key: close_all(part) for key, part in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        entries["unevaluatedProperties"] = False
    return entries


def strict() -> jsonschema.Draft202012Validator:
    shut = copy.deepcopy(SCHEMA)
    ignored = shut["properties"]["ignored"]["items"]
    finding, more = shut["$defs"]["finding"], ignored.pop("allOf")[1]
    ignored.update(finding | {"properties": finding["properties"] | more["properties"]})
    ignored["required"] = finding["required"] + more["required"]
    return jsonschema.Draft202012Validator(close_all(shut))


STRICT = strict()


def problems(text: str) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in STRICT.iter_errors(json.loads(text))]


def test_the_schema_is_valid_and_has_its_id() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:specgate:report:1"
    assert SCHEMA["properties"]["schema"]["enum"] == ["specgate-report/1", "specgate-check/1"]


def test_every_member_is_described() -> None:
    def list_undescribed(part: Any, place: str) -> list[str]:
        texts = []
        for name, member in part.get("properties", {}).items():
            own = f"{place}.{name}"
            if "description" not in member and "$ref" not in member and "anyOf" not in member and place != "counts":
                texts.append(own)
            texts += list_undescribed(member, name)
            texts += list_undescribed(member.get("items", {}), name)
        return texts

    assert list_undescribed(SCHEMA, "") == []
    assert [name for name, part in SCHEMA["$defs"].items() if list_undescribed(part, name)] == []


def test_a_whole_report(sample: Report) -> None:
    sample.unusable.append("c.onnx: cannot be read")
    assert problems(render(sample, "json", options=RenderOptions())) == []
    assert problems(render(Report(), "json", options=RenderOptions())) == []


def test_the_schema_detects_mistakes(sample: Report) -> None:
    document = json.loads(render(sample, "json", options=RenderOptions()))
    for change in (
        lambda d: d.pop("unusable"),
        lambda d: d.update(more=1),
        lambda d: d["findings"][0].update(severity="fatal"),
        lambda d: d["findings"][0].update(fingerprint="x"),
        lambda d: d["ignored"][0].pop("ignored"),
        lambda d: d["context"][0]["inputs"][0].update(sizes=[1.5]),
        lambda d: d["counts"].update(errors=-1),
        lambda d: d.update(schema="specgate-check/1"),
    ):
        wrong = copy.deepcopy(document)
        change(wrong)
        assert problems(json.dumps(wrong))


@pytest.mark.slow
@slow
@given(reports.filter(lambda report: all(_usable(f.location) for f in [*report.findings, *report.ignored])))
def test_any_report(report: Report) -> None:
    assert problems(render(report, "json", options=RenderOptions())) == []


def _usable(place: Location | None) -> bool:
    return place is None or place.line is None or place.line > 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint", str(DATA / "models"), "-t", "onnx:15", "-t", "openvino:opset13"],
        ["check", str(DATA / "dxdispatch/one_hot.json"), "-t", "directml:2.1"],
    ],
)
def test_json_output_of_commands_matches_the_schema(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--format", "json"]) == 1
    text = capsys.readouterr().out
    assert json.loads(text)["findings"]
    assert problems(text) == []


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "schema", "report"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA


def test_baselines_have_a_schema_too(capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = str(DATA / "models/embedding_torch.onnx")
    assert main(["lint", model, "-t", "onnx:15", "--baseline", "b.json", "--update-baseline"]) == 0
    capsys.readouterr()
    assert main(["spec", "schema", "baseline"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    written = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert sum(map(len, written["findings"].values())) > 0
    jsonschema.validate(written, schema)
    next(iter(written["findings"].values()))[0]["count"] = 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written, schema)
