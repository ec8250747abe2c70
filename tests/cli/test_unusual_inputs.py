"""Unusual input files: JSON lines, byte-order marks, pipes, damaged exports."""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.cli import main
from tests.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

IR = DATA / "models" / "onehot16_openvino.xml"


def relu(size: int = 4) -> str:
    tensors = {
        name: {"DataType": "FLOAT32", "Sizes": [1, 1, 3, each]}
        for name, each in (("InputTensor", 4), ("OutputTensor", size))
    }
    return json.dumps({"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": tensors})


def test_run_accepts_json_lines_with_a_single_descriptor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", -np.ones((1, 1, 3, 4), np.float32))
    path = tmp_path / "d.jsonl"
    texts = ["run", str(path), "-i", f"InputTensor={tmp_path / 'x.npy'}"]
    path.write_text(f"\n{relu()}\n", encoding="utf-8")
    assert main(texts) == 0
    assert "OutputTensor: float32 [1, 1, 3, 4]" in capsys.readouterr().out
    path.write_text(f"{relu()}\n{relu()}\n", encoding="utf-8")
    assert main(texts) == 2
    assert "d.jsonl: expected one descriptor, found 2: [0], [1]" in capsys.readouterr().err


def test_verdicts_of_several_files_name_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, size in (("a", 4), ("b", 5)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "relu.jsonl").write_text(f"{relu(size)}\n{relu()}\n", encoding="utf-8")
    files = [str(tmp_path / folder / "relu.jsonl") for folder in "ab"]
    assert main(["check", *files, "-t", "directml:4.1"]) == 1
    lines = capsys.readouterr().out.split("\n")[:4]
    assert [line.split("  ")[-1] for line in lines] == [f"{file}: [{at}]" for file in files for at in (0, 1)]


@pytest.mark.parametrize("command", ["lint", "check", "minimum"])
def test_ir_with_byte_order_mark_and_another_suffix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    plain, marked = tmp_path / "without" / "net.ir", tmp_path / "bearing" / "net.ir"  # lines are wrapped alike
    for path in (plain, marked):
        path.parent.mkdir()
    plain.write_bytes(IR.read_bytes())
    marked.write_bytes(b"\xef\xbb\xbf" + IR.read_bytes())
    answers = []
    for path in (plain, marked):
        code = main([command, str(path), *([] if command == "minimum" else ["-t", "openvino:opset16"])])
        out = "".join(capsys.readouterr().out.split())  # the path decides where lines are wrapped
        answers.append((code, out.replace("".join(str(path).split()), "FILE").replace("FILE:", "")))
    assert answers[0] == answers[1]
    assert answers[0][0] in {0, 1}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "words",
    [
        ["check", "PIPE", "--format", "jsonl", "-t", "directml:4.1"],
        ["check", "PIPE", "-t", "directml:4.1"],
        ["diff", "--tables", "PIPE", "installed"],
        ["run", "PIPE"],
        ["minimum", "PIPE"],
    ],
)
def test_a_pipe_does_not_hang(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    pipe = tmp_path / "p.jsonl"
    os.mkfifo(pipe)
    assert main([str(pipe) if word == "PIPE" else word for word in words]) == 2
    assert "expected a regular file" in capsys.readouterr().err


@pytest.fixture(name="exported", scope="module")
def _exported(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("export") / "tables.json"
    assert main(["export", "json", "--dialect", "directml", "--operator", "ONE_HOT", "-o", str(path)]) == 0
    return path, json.loads(path.read_text(encoding="utf-8"))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all members of a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for key, item in pairs for inner in places(item, (*path, key)))]


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_damaged_export_is_unusable_input(exported: Any, data: st.DataObject) -> None:
    path, document = exported
    at = data.draw(st.sampled_from(places(document)[1:]))
    damaged = copy.deepcopy(document)
    value = damaged
    for key in at[:-1]:
        value = value[key]
    value[at[-1]] = data.draw(st.sampled_from([None, [[]], {}, 3, "x", {"a": [None]}]))
    other = path.with_name("damaged.json")
    other.write_text(json.dumps(damaged), encoding="utf-8")
    for sources in ((str(path), str(other)), (str(other), str(path))):
        for kind in ("text", "json", "markdown"):
            assert main(["diff", "--tables", *sources, "--format", kind]) in {0, 2}


@pytest.mark.parametrize("key", ["types", "define"])
def test_damaged_export_entry_is_named(exported: Any, capsys: pytest.CaptureFixture[str], key: str) -> None:
    path, document = exported
    damaged = copy.deepcopy(document)
    operator = damaged["dialects"]["directml"]["operators"]["ONE_HOT"]
    if key == "define":
        operator["define"] = None
    else:
        operator["resolved"][0]["documented"]["fields"]["IndicesTensor"]["types"] = [[]]
    other = path.with_name("damaged.json")
    other.write_text(json.dumps(damaged), encoding="utf-8")
    assert main(["diff", "--tables", str(other), str(path)]) == 2
    message = capsys.readouterr().err
    assert "damaged.json: expected tables that `specgate export json` wrote" in message
    assert "internal error" not in message
