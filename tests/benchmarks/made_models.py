"""Generated models: chains of any length, and an encoder with computed shapes."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["OPSET", "SIZES", "chain", "encoder"]

#: Operators of the chains.
SIZES: Final = (100, 5_000, 50_000)
OPSET: Final = 17
_ROWS, _COLUMNS = 4, 8
_HEADS, _WIDTH, _LENGTH = 4, 32, 16


def chain(nodes: int) -> Any:
    """Return a chain of `nodes` common operators with shared initializers.

    Shapes are stated.
    """
    import onnx
    from onnx import TensorProto, helper

    floats = helper.make_tensor_value_info("x", TensorProto.FLOAT, [_ROWS, _COLUMNS])
    protos, infos, last = [], [], "x"
    for number in range(nodes):
        operator, inputs, attributes = _STEPS[number % len(_STEPS)]
        output = f"{operator}_{number}_output"
        protos.append(
            helper.make_node(operator, [last, *inputs], [output], f"/block.{number}/{operator}", **attributes)
        )
        infos.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, [_ROWS, _COLUMNS]))
        last = output
    initializers = [
        helper.make_tensor("weight", TensorProto.FLOAT, [_COLUMNS, _COLUMNS], [0.5] * _COLUMNS**2),
        helper.make_tensor("bias", TensorProto.FLOAT, [_COLUMNS], [0.5] * _COLUMNS),
        helper.make_tensor("shape", TensorProto.INT64, [2], [_ROWS, _COLUMNS]),
        helper.make_tensor("low", TensorProto.FLOAT, [], [-1.0]),
        helper.make_tensor("high", TensorProto.FLOAT, [], [1.0]),
    ]
    graph = helper.make_graph(protos, "chain", [floats], infos[-1:], initializers, value_info=infos[:-1])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=onnx.IR_VERSION_2021_7_30
    )


_STEPS: tuple[tuple[str, list[str], dict[str, Any]], ...] = (
    ("MatMul", ["weight"], {}),
    ("Add", ["bias"], {}),
    ("LayerNormalization", ["bias", "bias"], {"axis": -1, "epsilon": 1e-5}),
    ("Relu", [], {}),
    ("Reshape", ["shape"], {}),
    ("Gemm", ["weight", "bias"], {"alpha": 1.0, "beta": 1.0, "transB": 1}),
    ("Clip", ["low", "high"], {}),
    ("Softmax", [], {"axis": 1}),
    ("Transpose", [], {"perm": [0, 1]}),
    ("Mul", ["x"], {}),
)


def encoder(layers: int) -> Any:
    """Return a transformer encoder without normalization.

    Attention with computed shapes, and two matrix products.
    """
    import onnx
    from onnx import TensorProto, helper

    nodes, last = [], "x"

    def add(operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], output, **attributes))
        return output

    for number in range(layers):
        at = f"layer.{number}/"
        batch = add("Gather", [add("Shape", [last], f"{at}shape"), "zero"], f"{at}batch")
        expected = add("Concat", [add("Unsqueeze", [batch, "axis"], f"{at}first"), "heads"], f"{at}sizes", axis=0)
        parts = []
        for part in ("query", "key", "value"):
            split = add("Reshape", [add("MatMul", [last, "square"], f"{at}{part}"), expected], f"{at}{part}/heads")
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
