"""The inference process, called directly: its answers and its end."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from specgate.dialects.onnx.infer.child import HEADER
from specgate.dialects.onnx.infer.process import _CHILD

if TYPE_CHECKING:
    from collections.abc import Iterator

onnx = pytest.importorskip("onnx", reason="THE PROCESS IS NOT TESTED: pip install onnx (it is in the test extra)")
helper, FLOAT = onnx.helper, onnx.TensorProto.FLOAT
PATIENCE = 60.0  # seconds on a busy machine


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-P", _CHILD, str(PATIENCE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        try:
            assert answer(process) == (b"+", b"")  # it is ready
            yield process
        finally:
            process.kill()


def answer(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    assert process.stdout is not None
    sign, length = read(process, 1), int.from_bytes(read(process, 8), "little")
    return sign, read(process, length)


def read(process: subprocess.Popen[bytes], size: int) -> bytes:
    assert process.stdout is not None
    data = b""
    while len(data) < size:
        part = process.stdout.read(size - len(data))
        assert part, "it is gone"
        data += part
    return data


def ask(process: subprocess.Popen[bytes], data: bytes, *, nested: bool = True) -> tuple[bytes, bytes]:
    assert process.stdin is not None
    process.stdin.write(HEADER.pack(nested, True, True, PATIENCE, PATIENCE, len(data)) + data)
    return answer(process)


def model() -> bytes:
    inner = helper.make_graph(
        [helper.make_node("Neg", ["a"], ["r"])], "b", [], [helper.make_tensor_value_info("r", FLOAT, None)]
    )
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
    ]
    inputs = [
        helper.make_tensor_value_info("x", FLOAT, [2, 3]),
        helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", FLOAT, None)])
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    return data


@pytest.mark.parametrize(("nested", "graphs"), [(True, 3), (False, 1)])
def test_reply_contains_the_types_of_each_graph(child, nested: bool, graphs: int) -> None:
    sign, data = ask(child, model(), nested=nested)
    assert sign == b"+"
    message, sizes = json.loads(data.partition(b"\n")[0])
    kinds, at = [], len(data) - sum(sizes)
    for size in sizes:
        kinds.append(onnx.TypeProto.FromString(data[at : at + size]))
        at += size
    assert len(message) == graphs
    names, places = message[0]
    shapes = {
        name: [d.dim_value for d in kinds[place].tensor_type.shape.dim]
        for name, place in zip(names, places, strict=True)
    }
    assert shapes == {"a": [2, 3], "y": [2, 3]}


def test_invalid_model_does_not_stop_the_subprocess(child) -> None:
    sign, data = ask(child, b"\xff" * 20)
    assert sign == b"-"
    assert data
    assert ask(child, model())[0] == b"+"


def test_subprocess_ends_with_its_input(child) -> None:
    ask(child, model())
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(PATIENCE) == 0


def test_import_failure_of_onnx_is_reported(tmp_path) -> None:
    """Shadow the real onnx package with another one."""
    (tmp_path / "onnx.py").write_text("raise RuntimeError('broken on purpose')", encoding="utf-8")
    code = f"import sys, runpy; sys.path.insert(0, {str(tmp_path)!r}); sys.argv[1:] = ['60']; runpy.run_path({_CHILD!r}, run_name='__main__')"
    run = subprocess.run([sys.executable, "-P", "-c", code], input=b"", capture_output=True, timeout=PATIENCE)
    assert run.stdout[:1] == b"-"
    assert b"RuntimeError: broken on purpose" in run.stdout
    assert run.returncode == 0
