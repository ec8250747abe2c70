"""Values of ONNX operators: all kernels on onnx's node tests, OneHot on every type."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import warnings
from collections import Counter
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from specgate.conform.cases import fill
from specgate.conform.compare import compare_outputs
from specgate.conform.values import classify
from specgate.descriptors.core import Descriptor, tensor
from specgate.descriptors.read import read_dict
from specgate.dialects.onnx.run.model import run_model
from specgate.errors import NoKernel
from specgate.execution.engine import execute_at
from specgate.execution.observed import find_differences, tolerance_of
from specgate.spec.tables import dialect

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")),
        reason="onnx or onnxruntime is not installed: pip install 'specgate-ml[oracles]'",
    ),
]

#: The number of combinations with a kernel in ONNX Runtime 1.31 at each version, directly or after a cast.
COMBINATIONS = {"9": 30, "11": 30, "28": 0}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["9", "11", "28"])
def test_every_combination_of_types(level):
    from specgate.dialects.onnx.oracle.oracle import ONNXOracle

    spec = dialect("onnx").operator("OneHot")
    resolved = spec.resolve(level)
    assert resolved
    types = [resolved.cells[name].types or () for name in ("indices", "depth", "values")]
    random = Random(level)
    computed: Counter[str] = Counter()
    with ONNXOracle(level) as oracle:
        for indices, depth, values in product(*types):
            fields = {
                "indices": tensor(indices, [3]),
                "depth": tensor(depth, [], value=[4]),
                "values": tensor(values, [2]),
                "axis": random.choice([-1, 0, 1]),
            }
            descriptor = Descriptor("onnx", "OneHot", fields)
            try:
                arrays = fill(descriptor, level, random)
            except NoKernel:
                continue
            ours = execute_at(descriptor, arrays, level)
            for name, answer in oracle.values(descriptor, arrays).items():
                if answer.arrays is None:
                    continue
                computed[name] += 1
                problem, result = compare_outputs(ours, answer.arrays, descriptor, 0.0)
                assert not problem
                if result:
                    kind, _, _ = classify(spec, level, name, descriptor, arrays, result)
                    assert kind == "bug", (name, indices, depth, values, str(result[0]))
    assert computed["onnxruntime"] >= COMBINATIONS[level]
    assert computed["reference"] >= 1000


#: Operators with a kernel but without a one-node test in the package.
WITHOUT_NODE_TEST = {
    "GlobalLpPool", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
    "MaxRoiPool",
    "ConcatFromSequence", "Optional", "SequenceAt", "SequenceConstruct",
    "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength", "SplitToSequence",
    *(f"ai.onnx.ml.{name}" for name in (
        "CastMap", "CategoryMapper", "DictVectorizer", "FeatureVectorizer", "Imputer", "LinearClassifier",
        "LinearRegressor", "Normalizer", "OneHotEncoder", "SVMClassifier", "SVMRegressor", "Scaler",
        "TreeEnsembleClassifier", "TreeEnsembleRegressor", "ZipMap",
    )),
    # operators of a runtime, unknown to the package; test_onnx_contrib_values.py
    *(name for name in dialect("onnx").operators if name.rpartition(".")[0] in dialect("onnx").tables.foreign),
}  # fmt: skip
#: Random operators: the package's outputs come from another generator.
RANDOM = {"Bernoulli"}
#: Node tests whose outputs have few decimals, with their deviations.
WRITTEN_DOWN = {
    "test_averagepool_2d_ceil_last_window_starts_on_pad": 6e-5,
    **dict.fromkeys(("test_gridsample_bicubic", "test_roialign_aligned_false", "test_roialign_aligned_true"), 1e-4),
}
EXECUTED = [
    name
    for name in dialect("onnx").operators
    if dialect("onnx").operator(name).table.recipe and not name.startswith("com.microsoft.")  # not of the package
]


@cache
def node_tests():
    """Return the one-node backend tests by operator: (name, model, inputs, outputs)."""
    package = importlib.import_module("onnx.backend.test.case.node")
    with warnings.catch_warnings(action="ignore"):  # expected overflows while collecting the cases
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):  # those of domains lie deeper
            importlib.import_module(module.name)
    result: dict[str, Any] = {}
    for case in package._NodeTestCases:
        ends = (*case.model.graph.input, *case.model.graph.output)
        plain = all(info.type.HasField("tensor_type") for info in ends)  # test_onnx_backend has those of sequences
        if len(case.model.graph.node) == 1 and plain:
            node = case.model.graph.node[0]
            name = f"{node.domain}.{node.op_type}".removeprefix(".")
            result.setdefault(name, []).extend((case.name, case.model, *pair) for pair in case.data_sets)
    return result


def as_given(array):
    """Convert a test's data to an array, with texts as objects."""
    if hasattr(array, "data_type"):
        array = importlib.import_module("onnx.numpy_helper").to_array(array)
    array = np.asarray(array)
    return array.astype(object) if array.dtype.kind in "US" else array


def describe(operator, model, inputs, outputs):
    """Return the test's node as a descriptor with its arrays' types and sizes; opset."""
    from onnx import TensorProto, helper

    node, arguments = model.graph.node[0], iter(inputs)
    read = [as_given(next(arguments)) if name else None for name in node.input]
    tables = [
        array and {"elem_type": TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(array[0])), "shape": array[1]}
        for array in (a if a is None else (a.dtype, list(a.shape)) for a in read)
    ]
    stated = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in stated.items()}
    entries = {"op_type": node.op_type, "domain": node.domain, "inputs": tables, "attributes": attributes}
    entries["outputs"] = [
        {"elem_type": TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(a.dtype)), "shape": list(a.shape)}
        for a in map(as_given, outputs)
    ]
    (opset,) = (entry.version for entry in model.opset_import if entry.domain == node.domain)
    return read_dict(entries, "onnx"), str(opset)


@pytest.mark.slow
@pytest.mark.parametrize("operator", EXECUTED)
def test_backend_node_tests(operator, tmp_path):
    import onnx

    cases = node_tests().get(operator, [])
    assert bool(cases) is (operator not in WITHOUT_NODE_TEST)
    for name, model, inputs, outputs in cases:
        onnx.save(model, tmp_path / "model.onnx")
        arrays = dict(zip((info.name for info in model.graph.input), map(as_given, inputs), strict=True))
        result = run_model(str(tmp_path / "model.onnx"), arrays)
        tolerance = WRITTEN_DOWN.get(name) or tolerance_of(*describe(operator, model, inputs, outputs))
        for mine, theirs in zip(result.values(), map(as_given, outputs), strict=True):
            if operator in RANDOM:
                assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), name
                continue
            assert not find_differences(theirs, mine, tolerance).any(), name
