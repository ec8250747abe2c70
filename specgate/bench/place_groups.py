"""Placing generated models, lowering included, against linting the same files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any, Final

import specgate
from specgate.bench.lint_groups import OPSET, SIZES, chain
from specgate.bench.timing import Contender, Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["encoder", "place_groups"]

TARGET: Final = "onnxruntime-directml:1.24.4"
LAYERS: Final = 12
_HEADS, _WIDTH, _LENGTH = 4, 32, 16


def place_groups() -> Iterator[Group]:
    """Yield one group for each size of a chain, and one for an encoder; CPU time counts."""
    try:
        import onnx
    except ImportError:
        yield Group("place", [Contender("onnx", None, missing="not installed (onnx), which the models are made with")])
        return
    per_node: dict[int, float] = {}
    with TemporaryDirectory(prefix="specgate-bench-") as folder:
        for size in SIZES:
            path = Path(folder, f"{size}.onnx")
            onnx.save(chain(size), path)
            yield _group(f"placing a model of {size:,} nodes", size, str(path), per_node)
        path = Path(folder, "encoder.onnx")
        made = encoder(LAYERS)
        onnx.save(made, path)
        yield _group(f"placing an encoder of {LAYERS} layers", len(made.graph.node), str(path), {})


def _group(title: str, size: int, path: str, per_node: dict[int, float]) -> Group:
    place = Contender("specgate.place", lambda: specgate.place(path, TARGET), own=True)
    lint = Contender("specgate.lint", lambda: specgate.lint(path, targets=[f"onnx:{OPSET}"]))
    contenders = [place, lint]
    return Group(title, contenders, 0.1, size, "nodes", _remarks(place, lint, size, per_node), process_time)


def _remarks(
    place: Contender, lint: Contender, size: int, per_node: dict[int, float]
) -> Callable[[], list[tuple[str, str]]]:
    def remarks() -> list[tuple[str, str]]:
        assert place.typical is not None and lint.typical is not None  # noqa: S101, PT018  # both were measured
        said = [("placing against linting", f"{place.typical / lint.typical:.2f}x")]
        per_node[size] = place.typical / size
        return said + [
            (f"time per node against the model of {other:,} nodes", f"{per_node[size] / per_node[other]:.2f}x")
            for other in per_node
            if other < size
        ]

    return remarks


def encoder(layers: int) -> Any:
    """Return a transformer's encoder without norms of its own: attention with shapes computed, and two products."""
    import onnx
    from onnx import TensorProto, helper

    nodes, last = [], "x"

    def add(operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], output, **attributes))
        return output

    for number in range(layers):
        at = f"layer.{number}/"
        batch = add("Gather", [add("Shape", [last], f"{at}shape"), "zero"], f"{at}batch")
        wanted = add("Concat", [add("Unsqueeze", [batch, "axis"], f"{at}first"), "heads"], f"{at}sizes", axis=0)
        parts = []
        for part in ("query", "key", "value"):
            split = add("Reshape", [add("MatMul", [last, "square"], f"{at}{part}"), wanted], f"{at}{part}/heads")
            turned = [0, 2, 3, 1] if part == "key" else [0, 2, 1, 3]
            parts.append(add("Transpose", [split], f"{at}{part}/turned", perm=turned))
        scores = add("Softmax", [add("MatMul", parts[:2], f"{at}scores")], f"{at}weights", axis=-1)
        mixed = add("Transpose", [add("MatMul", [scores, parts[2]], f"{at}mixed")], f"{at}back", perm=[0, 2, 1, 3])
        flat = add("Reshape", [mixed, "flat"], f"{at}flat")
        normed = add("LayerNormalization", [add("Add", [flat, last], f"{at}sum"), "ones", "ones"], f"{at}norm")
        wide = add("Relu", [add("MatMul", [normed, "square"], f"{at}wide")], f"{at}relu")
        last = add("Add", [add("MatMul", [wide, "square"], f"{at}narrow"), normed], f"{at}output")
    sizes = [1, _LENGTH, _WIDTH]
    initializers = [
        helper.make_tensor("square", TensorProto.FLOAT, [_WIDTH, _WIDTH], [0.5] * _WIDTH**2),
        helper.make_tensor("ones", TensorProto.FLOAT, [_WIDTH], [1.0] * _WIDTH),
        helper.make_tensor("zero", TensorProto.INT64, [], [0]),
        helper.make_tensor("axis", TensorProto.INT64, [1], [0]),
        helper.make_tensor("heads", TensorProto.INT64, [3], [_LENGTH, _HEADS, _WIDTH // _HEADS]),
        helper.make_tensor("flat", TensorProto.INT64, [3], [-1, _LENGTH, _WIDTH]),
    ]
    begin, end = (helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in ("x", last))
    graph = helper.make_graph(nodes, "encoder", [begin], [end], initializers)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=onnx.IR_VERSION_2021_7_30
    )
