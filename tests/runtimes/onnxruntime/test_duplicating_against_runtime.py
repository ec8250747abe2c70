"""Duplicated nodes against the models that the installed ONNX Runtime writes.

The graphs are random: values with several consumers, unnamed nodes, bodies that read outer values, calls.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

import specgate
from tests.linting.models import BOOL, FLOAT, graph, helper, info, model, onnx
from tests.runtimes.onnxruntime.installed import list_installed

runtime, TARGET = list_installed("WHAT IS MADE AGAIN IS NOT HELD AGAINST ONNX RUNTIME")
UINT8 = onnx.TensorProto.UINT8
SIZES = [2, 3]
GRAPHS = 40


class Drawn:
    """A random model."""

    def __init__(self, seed, *, functions):
        self.random = random.Random(seed)
        self.count = 0
        self.operators = ["DequantizeLinear", "DequantizeLinear", "Add", "HardSwish", "If", *["Pair"] * functions]
        nodes, values = self.nodes(self.random.randint(4, 14), [])
        outputs = self.random.sample(values, min(len(values), self.random.randint(1, 4)))
        items = [helper.make_tensor("s", FLOAT, [], [0.5]), helper.make_tensor("z", UINT8, [], [3])]
        inputs = [info("x", SIZES, UINT8), info("c", [], BOOL)]
        body = graph(nodes, inputs, [info(item, SIZES) for item in outputs], items)
        pair = [
            helper.make_node("Relu", ["p"], ["r"], name="relu"),
            helper.make_node("Sum", ["r", "p", "q"], ["t"], name="sum"),
        ]
        function = helper.make_function("local", "Pair", ["p", "q"], ["t"], pair, [helper.make_opsetid("", 14)])
        self.model = model(body, opsets=[("", 14), ("local", 1)], functions=[function] if functions else [])

    def nodes(self, count, outer):
        """Return nodes, and their output values."""
        nodes, values = [], list[str]()
        for _ in range(count):
            self.count += 1
            output = f"v{self.count}"
            facts = values + outer
            operator = self.random.choice(self.operators) if facts else "DequantizeLinear"
            operator = "Add" if operator == "If" and outer else operator
            nodes.append(self.node(operator, output, facts))
            values.append(output)
        return nodes, values

    def node(self, operator, output, facts):
        name = self.random.choice(["", f"n{output}"])
        if operator == "DequantizeLinear":
            return helper.make_node(operator, ["x", "s", "z"], [output], name=name)
        if operator == "If":
            bodies = {branch: self.body(facts) for branch in ("then_branch", "else_branch")}
            return helper.make_node(operator, ["c"], [output], name=name, **bodies)
        inputs = [self.random.choice(facts) for _ in range(1 if operator == "HardSwish" else 2)]
        return helper.make_node(operator, inputs, [output], name=name, domain="local" if operator == "Pair" else "")

    def body(self, outer):
        nodes, values = self.nodes(self.random.randint(1, 4), outer)
        return graph(nodes, [], [info(values[-1], SIZES)], name=f"b{self.count}")


def write_file(onnx_model, path):
    """Return the names of the nodes that the runtime adds, and counts by operator."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.optimized_model_filepath = str(path)
    runtime.InferenceSession(onnx_model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    nodes = list(every(onnx.load(path).graph))
    names = Counter(item.name.rpartition("/")[2] for item in nodes if "/duplicated" in item.name)
    return names, sum(item.op_type == "DequantizeLinear" for item in nodes)


def every(body):
    for item in body.node:
        yield item
        for value in item.attribute:
            if value.HasField("g"):
                yield from every(value.g)


@pytest.mark.slow
@pytest.mark.parametrize("functions", [False, True])
def test_duplicate_counts_and_names_match_the_runtime(functions, tmp_path):
    added = 0
    for seed in range(GRAPHS):
        onnx_model = Drawn(seed, functions=functions).model
        theirs = write_file(onnx_model, tmp_path / f"{seed}.onnx")
        placement = specgate.place(onnx_model, TARGET)
        names = Counter(item.node.rpartition("/")[2] for item in placement.every if item.reader)
        assert (names, sum(item.operator == "DequantizeLinear" for item in placement.every)) == theirs, seed
        added += names.total()
    assert added > GRAPHS
