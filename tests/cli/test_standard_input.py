"""Standard input and JSON texts for check, lint, run and minimum; JSON lines."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.cli import main
from specgate.linting import input_source
from tests.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

ONNX = DATA / "models/embedding_torch.onnx"
IR = DATA / "models/onehot16_openvino.xml"
DISPATCH = DATA / "dxdispatch/one_hot.json"
GOOD: dict[str, Any] = {
    "type": "DML_OPERATOR_ONE_HOT",
    "desc": {
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 3, 1]},
        "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
        "Axis": 3,
    },
}
BAD = {**GOOD, "desc": {**GOOD["desc"], "Axis": 4}}
YAML = "type: DML_OPERATOR_ONE_HOT\ndesc:\n  Axis: 4\n" + "".join(
    f"  {name}: {json.dumps(tensor)}\n" for name, tensor in list(GOOD["desc"].items())[:3]
)
AXIS = "directml/ONE_HOT/axis-range"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run_with_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command with bytes or text as standard input; return its exit code, output and errors."""

    def call(data: bytes | str, *arguments: str) -> tuple[int, str, str]:
        raw = data.encode() if isinstance(data, str) else data
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        code = main(list(arguments))
        caught = capsys.readouterr()
        return code, caught.out, caught.err

    return call


@pytest.mark.parametrize("command", ["check", "lint"])
@pytest.mark.parametrize(
    ("data", "operator", "line"),
    [
        (json.dumps(BAD), "ONE_HOT", 1),
        (json.dumps(BAD, indent=1), "ONE_HOT", 31),
        ("// a comment\n" + json.dumps(BAD).replace("}}", "},/* and a comma */}"), "ONE_HOT", 2),
        (YAML, "ONE_HOT", 3),
        (f"{json.dumps(GOOD)}\n\n{json.dumps(BAD)}\n", "ONE_HOT", 3),
        (b"\xef\xbb\xbf" + json.dumps([GOOD, BAD]).encode(), "ONE_HOT", 1),
    ],
    ids=["json", "indented", "comments", "yaml", "lines", "list"],
)
def test_text_is_detected_and_findings_have_lines(
    run_with_input: Any, command: str, data: bytes | str, operator: str, line: int
) -> None:
    code, out, _ = run_with_input(data, command, "-", "-t", "directml:4.1", "--format", "json")
    document = json.loads(out)
    (result,) = document["findings"]
    assert (code, document["files"], result["id"]) == (1, ["<stdin>"], AXIS)
    place = result["location"]
    assert (place["file"], place["operator"], place["line"]) == ("<stdin>", operator, line)


@pytest.mark.parametrize(("model", "target"), [(ONNX, "onnx:15"), (IR, "openvino:2024.0"), (DISPATCH, "directml:2.1")])
@pytest.mark.parametrize("command", ["check", "lint"])
def test_model_on_standard_input_is_checked_like_its_file(
    run_with_input: Any, command: str, model: Path, target: str
) -> None:
    code, out, _ = run_with_input(model.read_bytes(), command, "-", "-t", target, "--format", "json")
    expected, plain, _ = run_with_input(b"", command, str(model), "-t", target, "--format", "json")

    def read_output(text: str) -> list[Any]:
        return [
            (f["id"], f["message"], f["location"]["node"], f["location"]["line"]) for f in json.loads(text)["findings"]
        ]

    assert (code, read_output(out)) == (expected, read_output(plain))
    files = {result["location"]["file"] for result in json.loads(out)["findings"]}
    assert files <= {"<stdin>"}
    counts = [json.loads(text)["counts"] for text in (out, plain)]
    if model == IR:  # its weights are in a file next to it, without which rules on their values stay undecided
        assert counts[0].pop("undecided") <= counts[1].pop("undecided")
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_lint_accepts_standard_input_with_files_and_jobs(run_with_input: Any) -> None:
    arguments = ["lint", str(IR), "-", "-t", "onnx:15", "-t", "openvino:2024.0", "--format", "json"]
    code, out, _ = run_with_input(ONNX.read_bytes(), *arguments)
    assert code == 1
    assert json.loads(out)["files"] == [str(IR), "<stdin>"]
    assert run_with_input(ONNX.read_bytes(), *arguments, "-j", "2") == (code, out, "")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "specgate: <stdin>: expected a descriptor or a model, found nothing\n"),
        (b"  \n", "specgate: <stdin>: expected a descriptor or a model, found nothing\n"),
        (b'{"type": ', "specgate: <stdin>: line 1 column 10: not valid JSON: Expecting value\n"),
        (b"\xff\xfa{", "specgate: <stdin>: byte 0: expected UTF-8 text\n"),
        ("{}".encode("utf-16"), "specgate: <stdin>: expected UTF-8 text, found UTF-16\n"),
        (b"<net><layers>", "specgate: <stdin>: "),
        (b"\x08\x0a\xff\xff", "specgate: <stdin>: byte "),
    ],
)
@pytest.mark.parametrize("command", ["check", "lint", "run", "minimum"])
def test_unusable_standard_input_is_a_single_message(
    run_with_input: Any, command: str, data: bytes, message: str
) -> None:
    more = ["-t", "directml:4.1"] if command in {"check", "lint"} else []
    code, out, err = run_with_input(data, command, "-", *more)
    assert code == 2
    assert out.count("\n") <= (command == "lint")  # whose report is of no file then
    assert err.count("\n") == 1
    if not data.startswith(b"<") or command != "run":
        assert err.startswith(message)


def test_standard_input_is_read_once_and_limited_in_size(run_with_input: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_with_input("{}", "check", "-", "-")[::2] == (
        2,
        "specgate: '-' may be given only once\n",
    )
    monkeypatch.setattr(input_source, "MAX_FILE", 100)
    monkeypatch.setattr(input_source, "_BLOCK", 50)
    code, _, err = run_with_input("# text\n" * 1000, "lint", "-", "-t", "onnx:17")
    assert (code, err) == (2, "specgate: <stdin>: expected at most 100 bytes, found more\n")


def test_run_accepts_a_model_a_descriptor_and_json_text(run_with_input: Any, tmp_path: Path) -> None:
    code, out, _ = run_with_input(DISPATCH.read_bytes(), "run", "-")
    assert (code, out) == (0, run_with_input(b"", "run", str(DISPATCH))[1])
    assert run_with_input(b"", "run", DISPATCH.read_text(encoding="utf-8"))[:2] == (0, out)
    np.save(tmp_path / "i.npy", np.array([[[[0], [2], [3]]]], np.uint32))
    np.save(tmp_path / "v.npy", np.array([[[[0, 1]]]], np.float32))
    arrays = ["-i", "IndicesTensor=i.npy", "-i", "ValuesTensor=v.npy"]
    code, out, _ = run_with_input(json.dumps(GOOD), "run", "-", *arrays)
    assert (code, out.splitlines()[0]) == (0, "OutputTensor: float32 [1, 1, 3, 4]")
    assert run_with_input(b"", "run", json.dumps(GOOD), *arrays)[:2] == (0, out)


def test_run_of_an_onnx_model_leaves_no_file(
    run_with_input: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnx")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    np.save(tmp_path / "ids.npy", np.array([[1, 2, 3, 4]]))
    before = sorted(tmp_path.iterdir())
    code, out, _ = run_with_input(ONNX.read_bytes(), "run", "-", "-i", "ids=ids.npy")
    assert (code, out) == (0, run_with_input(b"", "run", str(ONNX), "-i", "ids=ids.npy")[1])
    code, _, err = run_with_input(ONNX.read_bytes(), "run", "-")
    assert (code, err) == (2, "specgate: <stdin>: no array for the input 'ids'\n")
    assert sorted(tmp_path.iterdir()) == before


def test_minimum_accepts_models_and_descriptors(run_with_input: Any) -> None:
    assert run_with_input(json.dumps(GOOD), "minimum", "-")[1].startswith(
        "directml ONE_HOT: lowest level feature level 2.0"
    )
    for model in (ONNX, IR):
        code, out, _ = run_with_input(model.read_bytes(), "minimum", "-", "--no-infer", "--format", "json")
        expected, plain, _ = run_with_input(b"", "minimum", str(model), "--no-infer", "--format", "json")
        piped, named = json.loads(out), json.loads(plain) | {"file": "<stdin>"}
        if model == IR:  # whose weights lie beside the file
            for domain in (*piped["domains"], *named["domains"]):
                del domain["undecided"]
        assert (code, piped) == (expected, named)


def test_json_lines_of_a_file_and_of_any_name(run_with_input: Any, tmp_path: Path) -> None:
    text = f"{json.dumps(GOOD)}\n{json.dumps(BAD)}\n"
    for name in ("many.jsonl", "many.json"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        code, out, _ = run_with_input(b"", "check", name, "-t", "directml:4.1")
        assert code == 1
        assert out.startswith("accepted   directml:4.1  ONE_HOT  [0]\nrejected   directml:4.1  ONE_HOT  [1]\n")
        assert "[1] (ONE_HOT, line 2)" in out
    (tmp_path / "bad.jsonl").write_text(json.dumps(GOOD) + "\n{]\n", encoding="utf-8")
    code, _, err = run_with_input(b"", "check", "bad.jsonl")
    assert code == 2
    assert err.startswith("specgate: bad.jsonl: line 2 column 2: not valid JSON")


LINES = "\n".join([
    json.dumps(GOOD), "", json.dumps(BAD), '{"type": ', json.dumps({"op_type": "NoSuch"}),
    json.dumps({"op_type": "Relu", "inputs": [{"elem_type": "FLOAT", "shape": [2]}], "outputs": [None]}), "",
])  # fmt: skip


@pytest.mark.parametrize("source", ["-", "lines.jsonl"])
def test_jsonl_has_one_verdict_per_line(run_with_input: Any, tmp_path: Path, source: str) -> None:
    (tmp_path / "lines.jsonl").write_text(LINES, encoding="utf-8")
    code, out, err = run_with_input(LINES, "check", source, "-t", "directml:4.1", "--format", "jsonl")
    file = "<stdin>" if source == "-" else source
    entries = [json.loads(line) for line in out.splitlines()]
    assert [(entry["file"], entry["line"], entry["verdict"]) for entry in entries] == [
        (file, 1, "accepted"),
        (file, 3, "rejected"),
        (file, 4, "unusable"),
        (file, 5, "no table"),
        (file, 6, "no target"),
    ]
    assert [result["id"] for result in entries[1]["findings"]] == [AXIS]
    assert entries[1]["findings"][0]["location"]["line"] == 3
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"specgate: {file}: line 4: not valid JSON")


def test_selection_and_exit_codes_of_verdict_lines(run_with_input: Any) -> None:
    texts = ["check", "-", "-t", "directml:4.1", "--format", "jsonl"]
    assert run_with_input(json.dumps(GOOD), *texts)[0] == 0
    assert run_with_input(json.dumps(BAD), *texts)[0] == 1
    code, out, _ = run_with_input(json.dumps(BAD), *texts, "--ignore", AXIS)
    assert (code, json.loads(out)["findings"], json.loads(out)["verdict"]) == (0, [], "rejected")
    assert run_with_input(json.dumps(BAD), *texts, "--fail-on", "never")[0] == 0


def test_verdict_lines_of_models_and_indented_documents(run_with_input: Any) -> None:
    code, out, _ = run_with_input(json.dumps(BAD, indent=1), "check", "-", "-t", "directml:4.1", "--format", "jsonl")
    (entry,) = map(json.loads, out.splitlines())
    assert (code, entry["verdict"], entry["findings"][0]["location"]["line"]) == (1, "rejected", 31)
    for model, target in ((ONNX, "onnx:17"), (IR, "openvino:2024.0"), (DISPATCH, "directml:4.1")):
        _, piped, _ = run_with_input(model.read_bytes(), "check", "-", "-t", target, "--format", "jsonl")
        _, named, _ = run_with_input(b"", "check", str(model), "-t", target, "--format", "jsonl")
        verdicts = [[json.loads(line)["verdict"] for line in text.splitlines()] for text in (piped, named)]
        pairs = list(zip(*verdicts, strict=True))
        assert all(item == other or (model == IR and other == "undecided") for item, other in pairs)
        assert len(verdicts[0]) > 1


def test_each_line_is_processed_before_the_next_is_read() -> None:
    command = [sys.executable, "-m", "specgate", "check", "-", "-t", "directml:4.1", "--format", "jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for entries, verdict in ((GOOD, "accepted"), (BAD, "rejected"), (GOOD, "accepted")):
            process.stdin.write(json.dumps(entries) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == verdict
        process.stdin.close()
        assert process.wait(60) == 1
