"""What is measured, against whom. The examples come from the tables; nothing is timed that is not also checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import specgate
from specgate.bench.timing import Contender, Group
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GROUPS"]

ROWS, COLUMNS, DEPTH = 1024, 1024, 64


def check_group() -> Group:
    """A built descriptor and a plain dict against constructing OpenVINO's node and against onnx.checker."""
    data = _example("directml", "ONE_HOT")
    built = specgate.descriptor(data)
    if not specgate.check(built, "directml:4.1").accepted:
        raise specgate.Error("the example of the table is not accepted, so timing it would mean nothing")
    contenders = [
        Contender("specgate.check, built descriptor", lambda: specgate.check(built, "directml:4.1"), own=True),
        Contender("specgate.check, plain dict", lambda: specgate.check(data, "directml:4.1"), own=True),
        _peer("openvino opset1.one_hot, node constructed", _openvino_construct),
        _peer("onnx.checker.check_node", _onnx_check),
    ]
    return Group("one check of one node", contenders)


def execute_group() -> Group:
    """The executor against numpy.full of the same output and against three runtimes."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, DEPTH, (ROWS, COLUMNS), dtype=np.int64)
    values = np.array([0, 1], np.float32)
    node = {
        "op_type": "OneHot",
        "inputs": [
            {"elem_type": "INT64", "shape": [ROWS, COLUMNS]},
            {"elem_type": "INT64", "shape": []},
            {"elem_type": "FLOAT", "shape": [2]},
        ],
        "attributes": {"axis": -1},
    }
    built = specgate.descriptor(node)
    arrays = {"indices": indices, "depth": np.array(DEPTH, np.int64), "values": values}
    shape = (ROWS, COLUMNS, DEPTH)
    contenders = [
        Contender("specgate.execute", lambda: specgate.execute(built, arrays, "onnx:17"), own=True),
        Contender("numpy.full of the output", lambda: np.full(shape, np.float32(0))),
        _peer("onnx.reference", lambda: _reference_run(arrays)),
        _peer("onnxruntime, CPU", lambda: _runtime_run(arrays)),
        _peer("openvino, CPU", lambda: _openvino_run(arrays)),
    ]
    return Group(f"one-hot of {ROWS}x{COLUMNS} indices, depth {DEPTH}, float32, last axis", contenders, 0.0)


def cold_group() -> Group:
    """The whole process of one check against a Python that only imports numpy and pydantic."""
    folder = Path(tempfile.mkdtemp(prefix="specgate-bench-"))
    file = folder / "descriptor.json"
    file.write_text(json.dumps(_example("directml", "ONE_HOT")), encoding="utf-8")
    command = [sys.executable, "-m", "specgate", "check", str(file), "--target", "directml:4.1"]
    return Group(
        "a cold start, whole process",
        [
            Contender("specgate check FILE", lambda: _run(command), own=True),
            Contender(
                "python -c 'import numpy, pydantic'", lambda: _run([sys.executable, "-c", "import numpy, pydantic"])
            ),
            Contender("python -c 'pass'", lambda: _run([sys.executable, "-c", "pass"])),
        ],
        0.0,
    )


GROUPS = {"check": check_group, "execute": execute_group, "cold": cold_group}


def _run(command: list[str]) -> None:
    # Both sides may keep their bytecode, whatever the caller's environment says: that is how they are installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, capture_output=True, env=environment)


def _example(name: str, operator: str) -> dict[str, Any]:
    example: dict[str, Any] = next(iter(dialect(name).operator(operator).raw["examples"].values()))["descriptor"]
    return example


def _peer(name: str, prepare: Callable[[], Callable[[], object]]) -> Contender:
    """Prepare a peer, or say that it is not installed."""
    try:
        return Contender(name, prepare())
    except ImportError as error:
        return Contender(name, None, missing=f"not installed ({error.name})")


def _openvino_construct() -> Callable[[], object]:
    from openvino import opset1

    def construct() -> object:
        indices = opset1.parameter([3], np.int64)
        return opset1.one_hot(indices, opset1.constant(np.int64(4)), opset1.constant(1.0), opset1.constant(0.0), -1)

    return construct


def _onnx_check() -> Callable[[], object]:
    import onnx

    node = onnx.helper.make_node("OneHot", ["indices", "depth", "values"], ["output"], axis=-1)
    return lambda: onnx.checker.check_node(node)


def _onnx_model(arrays: dict[str, Any]) -> Any:
    import onnx

    names = ["indices", "depth", "values"]
    node = onnx.helper.make_node("OneHot", names, ["output"], axis=-1)
    inputs = [
        onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(arrays[n].dtype), arrays[n].shape)
        for n in names
    ]
    output = onnx.helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([node], "one_hot", inputs, [output])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def _reference_run(arrays: dict[str, Any]) -> Callable[[], object]:
    from onnx.reference import ReferenceEvaluator

    session = ReferenceEvaluator(_onnx_model(arrays))
    return lambda: session.run(None, arrays)


def _runtime_run(arrays: dict[str, Any]) -> Callable[[], object]:
    import onnxruntime

    session = onnxruntime.InferenceSession(_onnx_model(arrays).SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda: session.run(None, arrays)


def _openvino_run(arrays: dict[str, Any]) -> Callable[[], object]:
    import openvino
    from openvino import opset1

    indices = opset1.parameter(list(arrays["indices"].shape), np.int64)
    node = opset1.one_hot(
        indices, opset1.constant(np.int64(DEPTH)), opset1.constant(np.float32(1)), opset1.constant(np.float32(0)), -1
    )
    compiled = openvino.Core().compile_model(openvino.Model([node], [indices]), "CPU")
    return lambda: compiled([arrays["indices"]])
