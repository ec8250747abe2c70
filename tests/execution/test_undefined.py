"""Undefined input elements: the results they make undefined, and kernels that ignore them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from specgate.conform.cases import fill
from specgate.descriptors.core import TensorDesc
from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict
from specgate.dialects.onnx.run.model import run_model
from specgate.errors import InputError
from specgate.execution import undefined
from specgate.execution.arguments import array_fields
from specgate.execution.engine import execute_at
from specgate.spec.tables import dialect
from specgate.validate.check import accepts

TABLES = dialect("onnx")


def kernels() -> dict[str, list[str]]:
    """Return the operators of each kernel that accepts undefined elements."""
    texts_by_name: dict[str, list[str]] = {}
    for name in TABLES.tables.operators:
        recipe = TABLES.operator(name).table.recipe
        kernel = recipe["kernel"] if recipe else ""
        if (
            kernel in undefined._ELEMENTWISE_KERNELS
            or kernel in undefined._MOVED_ARGUMENTS
            or kernel in undefined._SIZES
        ):
            texts_by_name.setdefault(kernel, []).append(name)
    return texts_by_name


def test_listed_kernels_belong_to_operators() -> None:
    assert kernels().keys() == undefined._ELEMENTWISE_KERNELS | undefined._MOVED_ARGUMENTS.keys() | undefined._SIZES


def examples(name: str):
    """Yield table, newest level, and descriptors without outputs, of an operator."""
    spec = TABLES.operator(name)
    level = spec.dialect.levels[-1]
    outputs = {info.name for info in spec.outputs}
    for example in spec.table.examples.values():
        descriptor = read_dict(example["descriptor"], "onnx")
        if accepts(descriptor, level, "documented"):
            kept = {n: [TensorDesc(None, None) for _ in v] for n, v in descriptor.fields.items() if isinstance(v, list)}
            fields = {name: value for name, value in descriptor.fields.items() if name not in outputs}
            fields |= {name: value for name, value in kept.items() if name in outputs}
            yield spec, level, reordered_for(replace(descriptor, fields=fields, plain=False), spec, level)


@pytest.mark.parametrize("kernel", sorted(kernels()))
def test_only_masked_results_depend_on_masked_elements(kernel) -> None:
    pick, tried, kept = np.random.default_rng(3), 0, 0
    for name in kernels()[kernel]:
        for spec, level, descriptor in examples(name):
            for field, arrays in maskable(spec, level, descriptor, kernel):
                whole = np.ones(first(arrays[field]).shape, np.bool_)
                mask = whole & (pick.random(whole.shape) < 0.5)
                mask = mask if mask.any() else whole
                result, other = both_ways(spec, level, descriptor, arrays, field, mask)
                for output in result:
                    for mine, its in zip(list_all(result[output]), list_all(other[output]), strict=True):
                        open_ = np.ma.getmaskarray(mine)
                        item, two = np.ma.getdata(mine), np.ma.getdata(its)
                        assert ((item == two) | (item != item) | open_).all(), (name, field, output)  # noqa: PLR0124
                        kept += int((~open_).sum())
                tried += 1
    assert tried, kernel
    assert kept, kernel


def list_all(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def first(value: Any) -> Any:
    return list_all(value)[0]


def maskable(spec, level, descriptor, kernel):
    """Yield the inputs that may have undefined elements, with all arrays."""
    arguments = {field: argument for argument, field in array_fields(spec, level).items()}
    arrays = fill(descriptor, level, Random(5), tame=True)  # repeatable on purpose
    try:
        execute_at(descriptor, arrays, level)
    except InputError:  # sizes that are no constants
        return
    moved = undefined._MOVED_ARGUMENTS.get(kernel)
    for field, array in arrays.items():
        if first(array).dtype.kind in "biuf" and first(array).size and (moved is None or arguments[field] in moved):
            yield field, arrays


def both_ways(spec, level, descriptor, arrays, field, mask) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a node's masked outputs, and those with other numbers at the masked elements."""

    def run(inputs):
        return execute_at(descriptor, inputs, level)

    def with_first(array):
        return {**arrays, field: [array, *arrays[field][1:]] if isinstance(arrays[field], list) else array}

    array = first(arrays[field])
    entries = undefined.mask_undefined_outputs(spec, level, with_first(np.ma.MaskedArray(array, mask=mask)), run, run)
    assert entries is not None
    changed = np.where(mask, ~array if array.dtype.kind == "b" else array + 1, array).astype(array.dtype)
    return entries, run(with_first(changed))


def bucket_model(folder, *, dropped: bool):
    """Return T5's relative position bucket: the logarithm of 0, cast, is selected for 0."""
    from onnx import TensorProto, helper, numpy_helper

    node = helper.make_node
    constants = {
        "few": np.array(8, np.int64), "most": np.array(15, np.int64), "eight": np.float32(8),
        "scale": np.float32(8 / np.log(128 / 8)),
    }  # fmt: skip
    nodes = [
        node("Abs", ["distance"], ["far"]), node("Less", ["far", "few"], ["near"]),
        node("Cast", ["far"], ["float"], to=TensorProto.FLOAT), node("Div", ["float", "eight"], ["part"]),
        node("Log", ["part"], ["log"]), node("Mul", ["log", "scale"], ["scaled"]),
        node("Cast", ["scaled"], ["steps"], to=TensorProto.INT64), node("Add", ["steps", "few"], ["large"]),
        node("Shape", ["large"], ["shape"]), node("Expand", ["most", "shape"], ["full"]),
        node("Min", ["large", "full"], ["held"]),
        node("Where", ["near", "far", "held"] if dropped else ["near", "held", "far"], ["bucket"], name="choice"),
        node("Transpose", ["bucket"], ["turned"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("distance", TensorProto.INT64, ["n", "m"])],
        [helper.make_tensor_value_info("turned", TensorProto.INT64, ["m", "n"])],
        initializer=[numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()],
    )  # fmt: skip
    path = folder / "bucket.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    return str(path)


DISTANCE = np.arange(-3, 4)[:, None] * np.array([1, 5, 40])


def test_undefined_elements_dropped_by_where(tmp_path) -> None:
    pytest.importorskip("onnx")
    result = run_model(bucket_model(tmp_path, dropped=True), {"distance": DISTANCE})["turned"]
    assert not undefined.is_undefined(result)
    far = np.abs(DISTANCE)
    with np.errstate(divide="ignore"):
        steps = np.trunc(np.log(far / 8) * 8 / np.log(16))
    assert np.array_equal(result, np.where(far < 8, far, np.minimum(8 + steps, 15)).astype(int).T)


def test_undefined_elements_selected_by_where_stay_undefined(tmp_path) -> None:
    pytest.importorskip("onnx")
    result = run_model(bucket_model(tmp_path, dropped=False), {"distance": DISTANCE})["turned"]
    assert np.array_equal(np.ma.getmaskarray(result), (DISTANCE == 0).T)


def test_kernels_that_mix_undefined_elements_are_rejected(tmp_path) -> None:
    onnx = pytest.importorskip("onnx")
    path = bucket_model(tmp_path, dropped=False)
    model = onnx.load(path)
    model.graph.node[-1].CopyFrom(onnx.helper.make_node("CumSum", ["bucket", "axis"], ["turned"], name="sum"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0, np.int64), "axis"))
    onnx.save(model, path)
    with pytest.raises(InputError, match="node 'sum': reads 'bucket', which has undefined elements"):
        run_model(path, {"distance": DISTANCE})
