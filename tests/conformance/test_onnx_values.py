"""OneHot's values on every combination of types, against ONNX Runtime and onnx.reference, at each of its versions."""

from __future__ import annotations

import importlib.util
from collections import Counter
from itertools import product
from random import Random

import pytest

from specgate.conform.elements import compare_outputs
from specgate.conform.fill import fill
from specgate.conform.known import explained
from specgate.descriptors.core import Descriptor, tensor
from specgate.errors import NoKernel
from specgate.execution.engine import execute_at
from specgate.spec.tables import dialect

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")),
        reason="onnx or onnxruntime is not installed: pip install 'specgate-ml[oracles]'",
    ),
]

#: How many combinations ONNX Runtime 1.31 has a kernel for at each version, itself or after a cast.
COMBINATIONS = {"9": 30, "11": 30, "28": 0}


@pytest.mark.parametrize("level", ["9", "11", "28"])
def test_every_combination_of_types(level):
    from specgate.oracles.onnx_oracle import ONNXOracle

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
                problem, found = compare_outputs(ours, answer.arrays, descriptor, 0.0)
                assert not problem
                if found:
                    kind, _, _ = explained(spec, level, name, descriptor, arrays, found)
                    assert kind == "bug", (name, indices, depth, values, str(found[0]))
    assert computed["onnxruntime"] >= COMBINATIONS[level]
    assert computed["reference"] >= 1000
