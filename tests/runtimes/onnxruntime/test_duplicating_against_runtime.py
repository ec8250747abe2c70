"""Nodes that are made again, held against the models that the installed ONNX Runtime writes out: how many, and which.

The graphs are random: values that several nodes read, nodes without names, bodies that read values around them, calls.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

import specgate
from tests.linting.models import BOOL, FLOAT, graph, helper, info, model, onnx
from tests.runtimes.onnxruntime.installed import installed

runtime, TARGET = installed("WHAT IS MADE AGAIN IS NOT HELD AGAINST ONNX RUNTIME")
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
        held = [helper.make_tensor("s", FLOAT, [], [0.5]), helper.make_tensor("z", UINT8, [], [3])]
        inputs = [info("x", SIZES, UINT8), info("c", [], BOOL)]
        body = graph(nodes, inputs, [info(one, SIZES) for one in outputs], held)
        pair = [
            helper.make_node("Relu", ["p"], ["r"], name="relu"),
            helper.make_node("Sum", ["r", "p", "q"], ["t"], name="sum"),
        ]
        made = helper.make_function("local", "Pair", ["p", "q"], ["t"], pair, [helper.make_opsetid("", 14)])
        self.model = model(body, opsets=[("", 14), ("local", 1)], functions=[made] if functions else [])

    def nodes(self, count, outer):
        """Return nodes, and the values that they make."""
        nodes, values = [], list[str]()
        for _ in range(count):
            self.count += 1
            output = f"v{self.count}"
            known = values + outer
            operator = self.random.choice(self.operators) if known else "DequantizeLinear"
            operator = "Add" if operator == "If" and outer else operator
            nodes.append(self.node(operator, output, known))
            values.append(output)
        return nodes, values

    def node(self, operator, output, known):
        name = self.random.choice(["", f"n{output}"])
        if operator == "DequantizeLinear":
            return helper.make_node(operator, ["x", "s", "z"], [output], name=name)
        if operator == "If":
            bodies = {branch: self.body(known) for branch in ("then_branch", "else_branch")}
            return helper.make_node(operator, ["c"], [output], name=name, **bodies)
        inputs = [self.random.choice(known) for _ in range(1 if operator == "HardSwish" else 2)]
        return helper.make_node(operator, inputs, [output], name=name, domain="local" if operator == "Pair" else "")

    def body(self, outer):
        nodes, values = self.nodes(self.random.randint(1, 4), outer)
        return graph(nodes, [], [info(values[-1], SIZES)], name=f"b{self.count}")


def written(made, path):
    """Return the names of the nodes that the runtime adds, and how many there are of an operator."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.optimized_model_filepath = str(path)
    runtime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    nodes = list(every(onnx.load(path).graph))
    names = Counter(one.name.rpartition("/")[2] for one in nodes if "/duplicated" in one.name)
    return names, sum(one.op_type == "DequantizeLinear" for one in nodes)


def every(body):
    for one in body.node:
        yield one
        for held in one.attribute:
            if held.HasField("g"):
                yield from every(held.g)


@pytest.mark.slow
@pytest.mark.parametrize("functions", [False, True])
def test_as_many_are_made_with_the_same_numbers(functions, tmp_path):
    added = 0
    for seed in range(GRAPHS):
        made = Drawn(seed, functions=functions).model
        theirs = written(made, tmp_path / f"{seed}.onnx")
        found = specgate.place(made, TARGET)
        names = Counter(one.node.rpartition("/")[2] for one in found.every if one.reader)
        assert (names, sum(one.operator == "DequantizeLinear" for one in found.every)) == theirs, seed
        added += names.total()
    assert added > GRAPHS
