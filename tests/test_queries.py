"""Target queries: their targets, where they are allowed, and reports."""

from __future__ import annotations

import json

import pytest

import specgate
from specgate.cli import main
from specgate.targets import expand_query, is_query, parse_target, parse_targets
from specgate.targets.listing import known_targets
from tests.linting import models
from tests.paths import DATA
from tests.report.test_report_schema import problems


def names(query):
    return [target.partition(":")[2] for target in expand_query(query)]


def test_releases_of_a_runtime_from_a_release_on():
    result = names("onnxruntime>=1.16")
    assert result[:3] == ["1.16.3", "1.17.3", "1.18.1"]  # of each minor release the newest patch
    items = {row["name"] for row in known_targets(["onnx"]) if row["target"].startswith("onnxruntime:")}
    assert {name.rpartition(".")[0] for name in items} == {name.rpartition(".")[0] for name in result}


@pytest.mark.parametrize(
    ("query", "targets"),
    [
        ("onnxruntime>=1.16,<1.18", ["onnxruntime:1.16.3", "onnxruntime:1.17.3"]),
        ("onnxruntime >= 1.16 , < 1.16.3", ["onnxruntime:1.16.2"]),
        ("onnxruntime>1.16,<=1.18", ["onnxruntime:1.17.3", "onnxruntime:1.18.1"]),  # a minor version has its patches
        ("onnxruntime!=1.17,<1.19", ["onnxruntime:1.16.3", "onnxruntime:1.18.1"]),
        ("onnxruntime==1.17", ["onnxruntime:1.17.3"]),
        ("ONNXRuntime 1.16 - 1.17", ["onnxruntime:1.16.3", "onnxruntime:1.17.3"]),
        ("onnxruntime-directml>=1.18,<1.19@5.0", ["onnxruntime-directml:1.18.1@5.0"]),
        ("onnx>=13,<15", ["onnx:13", "onnx:14"]),
        ("onnx>1.14,<1.16", ["onnx:1.15"]),
        ("onnx:onnxruntime>=1.16,<1.18", ["onnx:onnxruntime-1.16", "onnx:onnxruntime-1.17"]),
        ("directml<3", ["directml:1.0", "directml:2.0", "directml:2.1"]),  # no release has such a number
        ("directml<=2", ["directml:1.0", "directml:2.0", "directml:2.1"]),
        ("directml>=6.3,<7", ["directml:6.3", "directml:6.4"]),
        ("directml 5 - 6.0", ["directml:5.0", "directml:5.1", "directml:5.2", "directml:6.0"]),
        ("onnx>26,<100", ["onnx:27", "onnx:28"]),
        ("openvino>2026.2,<2030", ["openvino:2026.3.1", "openvino:2026.4.1"]),
        ("directml<=2.1", ["directml:1.0", "directml:2.0", "directml:2.1"]),
        ("directml>1.9,<1.12", ["directml:1.10.1", "directml:1.11.0"]),
        ("windows<11", ["directml:windows-10-1903", "directml:windows-10-2004"]),
        ("openvino>=2023.0,<2023.2", ["openvino:2023.0.2", "openvino:2023.1"]),
        ("openvino<opset3", ["openvino:opset1", "openvino:opset2"]),
    ],
)
def test_queries_expand_to_targets(query, targets):
    assert expand_query(query) == targets
    assert [str(target) for target in parse_targets(query)] == targets


def test_the_last_releases():
    releases = [row["name"] for row in known_targets(["openvino"]) if row["kind"] == "release"]
    minors = list(dict.fromkeys(".".join(name.split(".")[:2]) for name in releases))
    result = names("last 2 openvino")
    assert [".".join(name.split(".")[:2]) for name in result] == minors[-2:]
    assert result[-1] == releases[-1]
    assert names("last 2 openvino releases") == names("LAST 2 openvino versions") == result
    finished = parse_target("openvino:latest").level
    assert names("last 1 openvino opsets") == [finished]  # none in the making
    assert names("last 1 directml") == [parse_target("directml:latest").level]
    assert expand_query("last 1 onnxruntime") == ["onnxruntime:" + names("onnxruntime>=1.16")[-1]]


def test_target_names_are_not_queries():
    for row in known_targets():
        assert not is_query(str(row["target"]))
        assert not is_query(str(row.get("title", "")))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("onnxrutime>=1.16", "did you mean onnxruntime"),
        ("last 2 opnvino", "did you mean openvino"),
        ("last 2 foo", "known are directml"),
        ("last 0 onnx", "last 1 onnx or more"),
        ("last 2 onnx levels", "expected releases or opsets"),
        ("onnx>=99", "known are opsets 1 to 28"),
        ("onnxruntime<1", "known are releases 1.16.0 to"),
        ("onnx>=1.16,<20", "opsets or releases of onnx, not both"),
        ("openvino>=opset99", "openvino has no opset 'opset99'"),
        ("onnx>>3", "expected a query such as"),
        ("onnx>=", "expected a query such as"),
        (">=1.16", "expected a query such as"),
        ("onnx>=13,", "expected a query such as"),
        ("last two onnx", "expected a query such as"),
    ],
)
def test_messages(query, message):
    with pytest.raises(specgate.InputError) as error:
        parse_targets(query)
    assert message in str(error.value)


def test_a_single_target_rejects_queries_for_several():
    assert str(parse_target("onnxruntime==1.17")) == "onnxruntime:1.17.3"
    with pytest.raises(specgate.InputError, match="expected one target, found a query for"):
        parse_target("onnxruntime>=1.17")


def test_queries_in_python():
    model = DATA / "models/embedding_torch.onnx"
    assert specgate.lint(model, ["onnx>=16,<18"]).targets == ["onnx:16", "onnx:17"]
    assert [str(target) for target in specgate.targets("onnx>=16,<18")] == ["onnx:16", "onnx:17"]


def test_the_command_prints_the_expansion(capsys):
    assert main(["targets", "onnxruntime>=1.16,<1.18", "onnx:13"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["onnxruntime:1.16.3", "onnxruntime:1.17.3", "onnx:13"]
    main(["targets", "last 2 directml", "--format", "json"])
    assert [entry["given"] for entry in json.loads(capsys.readouterr().out)["resolved"]] == expand_query(
        "last 2 directml"
    )


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "m.onnx").write_bytes((DATA / "models/embedding_torch.onnx").read_bytes())
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read_output(capsys, *arguments):
    main(["lint", "m.onnx", *arguments])
    return capsys.readouterr().out


def test_equal_findings_of_a_query_are_shown_once(model, capsys):
    text = read_output(capsys, "-t", "onnx:onnxruntime>=1.6,<1.12")
    assert "targets: onnx:onnxruntime>=1.6,<1.12 (6)" in text
    assert text.count("onnx/model/opset-import") == 1  # except for the opsets of the releases they are the same
    flat = " ".join(text.split())
    assert "supports up to 13; all 6 nodes exist unchanged at 13 (likewise up to onnx:onnxruntime-1.11)" in flat
    assert "ONNX Runtime 1.6 reads those up to 7 (likewise up to onnx:onnxruntime-1.8)" in flat
    plain = read_output(
        capsys, *(part for target in expand_query("onnx:onnxruntime>=1.6,<1.12") for part in ("-t", target))
    )
    assert plain.count("onnx/model/opset-import") == 6
    assert plain.splitlines()[-2] == text.splitlines()[-2]  # the counts


@pytest.mark.parametrize("chosen", ["text", "github", "html"])
def test_findings_of_all_targets_of_a_query_are_shown_once(model, capsys, chosen):
    chain = models.chain("x", "m", "y", value_info=[models.info("m", (7, 7))])
    (model / "m.onnx").write_bytes(chain.SerializeToString())
    shown = read_output(capsys, "-t", "onnx>=17", "--format", chosen)
    assert shown.count("X has rank 1 and Y has rank 2") == 1
    document = json.loads(read_output(capsys, "-t", "onnx>=17", "--format", "json"))  # programs have each target
    assert document["targets"] == expand_query("onnx>=17")
    assert {item["target"] for item in document["findings"] if item["id"] == "onnx/Relu/same-rank"} >= {
        "onnx:17",
        "onnx:28",
    }


def test_findings_that_differ_by_more_than_levels_stay_separate(model, capsys):
    node = models.helper.make_node("Gelu", ["x"], ["y"])
    new_model = models.model(models.graph([node, models.relu("y", "z")], ["x"], ["z"]), opsets=[("", 24)])
    (model / "m.onnx").write_bytes(new_model.SerializeToString())
    text = " ".join(read_output(capsys, "-t", "onnx>=18,<24").split())
    assert "Gelu does not exist at opset 18; it exists from 20 on (likewise at onnx:19)" in text
    assert "1 of 2 nodes exists unchanged at 18 (likewise at onnx:19)" in text
    assert "all 2 nodes exist unchanged at 20 (likewise up to onnx:23)" in text


def test_json_groups_equal_findings(model, capsys):
    document = json.loads(read_output(capsys, "-t", "onnx:onnxruntime>=1.6,<1.12", "-t", "onnx:5", "--format", "json"))
    marks = {item["fingerprint"]: item for item in document["findings"]}
    assert [(len(item["targets"]), item["id"]) for item in document["grouped"]] == [
        (3, "onnx/model/ir-version"), (6, "onnx/model/opset-import"),
    ]  # fmt: skip
    for group in document["grouped"]:
        assert [marks[mark]["target"] for mark in group["fingerprints"]] == group["targets"]
        assert {marks[mark]["id"] for mark in group["fingerprints"]} == {group["id"]}
    assert problems(json.dumps(document)) == []
    assert "grouped" not in json.loads(read_output(capsys, "-t", "onnx:5", "--format", "json"))
    main(
        [
            "check",
            str(DATA / "dxdispatch/one_hot.json"),
            "-t",
            "directml<3",
            "--basis",
            "documented",
            "--format",
            "json",
        ]
    )
    assert {len(group["targets"]) for group in json.loads(capsys.readouterr().out)["grouped"]} == {2}


@pytest.mark.parametrize("chosen", ["text", "json", "sarif", "github", "junit"])
def test_the_targets_of_a_query_are_idle_together(model, capsys, chosen):
    text = read_output(capsys, "-t", "directml>=5.0", "-t", "onnx:17", "--format", chosen)
    assert text.count("the file has no directml node") == {"junit": 2}.get(chosen, 1)
    if chosen == "json":
        (result,) = json.loads(text)["findings"]
        assert (result["id"], result["target"]) == ("specgate/target-idle", "directml>=5.0")
        assert result["values"] == {"targets": expand_query("directml>=5.0")}
        assert problems(text) == []


def test_queries_in_the_configuration(model, capsys):
    (model / "specgate.toml").write_text('targets = ["onnx>=14,<17"]\n', encoding="utf-8")
    document = json.loads(read_output(capsys, "--format", "json"))
    assert document["targets"] == ["onnx:14", "onnx:15", "onnx:16"]
    assert {entry["target"] for entry in document["findings"]} == {"onnx:14", "onnx:15", "onnx:16"}
    ignore = '\n[[ignore]]\nrule = "onnx/model/opset-import"\nreason = "r"\ntarget = "onnx<16"\n'
    (model / "specgate.toml").write_text('targets = ["onnx>=14,<17"]\n' + ignore, encoding="utf-8")
    document = json.loads(read_output(capsys, "--format", "json"))
    assert {entry["target"] for entry in document["findings"]} == {"onnx:16"}
    assert {entry["target"] for entry in document["ignored"]} == {"onnx:14", "onnx:15"}
    (model / "specgate.toml").write_text('targets = ["onx>=14"]\n', encoding="utf-8")
    assert main(["lint", "m.onnx"]) == 2
    assert "did you mean onnx" in capsys.readouterr().err
