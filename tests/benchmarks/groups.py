"""The benchmark groups.

Examples come from the tables, and every timed result is also checked.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

import specgate
from specgate.spec.tables import dialect
from tests.benchmarks.cpp_groups import cpp_groups
from tests.benchmarks.directml_groups import directml_groups
from tests.benchmarks.execute_groups import execute_groups
from tests.benchmarks.lint_groups import lint_groups
from tests.benchmarks.many_groups import LEVEL, many_groups
from tests.benchmarks.peers import directml_creates, onnx_check, openvino_construct, peer, run
from tests.benchmarks.place_groups import place_groups
from tests.benchmarks.timing import Contender, Group, ended_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["GROUPS"]

ROWS, COLUMNS, DEPTH = 1024, 1024, 64


def check_group() -> Iterator[Group]:
    """Single checks against OpenVINO's constructor and onnx.checker; columns."""
    data = _example("directml", "ONE_HOT")
    built = specgate.descriptor(data)
    target = f"directml:{LEVEL}"
    if not specgate.check(built, target).accepted:
        raise specgate.Error("the example of the table is not accepted, so timing it would mean nothing")
    with directml_creates(built, LEVEL) as created:
        contenders = [
            Contender("specgate.check, built descriptor", lambda: specgate.check(built, target), own=True),
            Contender("specgate.check, plain dict", lambda: specgate.check(data, target), own=True),
            created,
            peer("openvino opset1.one_hot, node constructed", openvino_construct),
            peer("onnx.checker.check_node", onnx_check),
        ]
        yield Group("one check of one node", contenders, clock=process_time)
    yield from many_groups()


def execute_group() -> Iterator[Group]:
    """The executor against numpy.full and three runtimes; nodes of real models."""
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
        peer("onnx.reference", lambda: _reference_run(arrays)),
        peer("onnxruntime, CPU", lambda: _runtime_run(arrays)),
        peer("openvino, CPU", lambda: _openvino_run(arrays)),
    ]
    yield Group(f"one-hot of {ROWS}x{COLUMNS} indices, depth {DEPTH}, float32, last axis", contenders, 0.0)
    yield from execute_groups()


def cold_group() -> Iterator[Group]:
    """The process of one check against a Python that imports numpy and pydantic."""
    with tempfile.TemporaryDirectory(prefix="specgate-bench-") as folder:
        file = Path(folder, "descriptor.json")
        file.write_text(json.dumps(_example("directml", "ONE_HOT")), encoding="utf-8")
        command = [sys.executable, "-m", "specgate", "check", str(file), "--target", "directml:4.1"]
        imports = [sys.executable, "-c", "import numpy, pydantic"]
        yield Group(
            "a cold start, whole process, in a folder without a configuration",
            [
                Contender("specgate check FILE", lambda: run(command, folder), own=True),
                Contender("python -c 'import numpy, pydantic'", lambda: run(imports, folder)),
                Contender("python -c 'pass'", lambda: run([sys.executable, "-c", "pass"], folder)),
            ],
            0.0,
            clock=ended_time,
        )


#: Each yields its groups in turn; a group is measured before the next one is built.
GROUPS: dict[str, Callable[[], Iterable[Group]]] = {
    "check": check_group,
    "execute": execute_group,
    "cold": cold_group,
    "directml": directml_groups,
    "cpp": cpp_groups,
    "lint": lint_groups,
    "place": place_groups,
}


def _example(name: str, operator: str) -> dict[str, Any]:
    example: dict[str, Any] = next(iter(dialect(name).operator(operator).table.examples.values()))["descriptor"]
    return example


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
