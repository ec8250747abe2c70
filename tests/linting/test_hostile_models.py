"""Whatever a model's fields contain, lint answers or rejects the file in one line."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

import specgate
from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.file.schema import GRAPH_KINDS
from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxGraph, OnnxModel, OnnxNode, OnnxValueInfo
from specgate.dialects.onnx.infer.inference import holds_weights, question
from specgate.linting.settings import LintSettings
from specgate.lowest.model import model_minimum
from tests.dialects.onnx.infer.samples import hide
from tests.dialects.onnx.lint import test_names as test_onnx_names
from tests.dialects.onnx.lint import test_versions as test_onnx_versions
from tests.linting.models import INT64, info, onnx

SEEDS = {
    "names": [onnx_model for onnx_model, _, _ in test_onnx_names.CASES.values()],
    "versions": [onnx_model for onnx_model, _, _ in test_onnx_versions.CASES.values()],
    "inference": [hide(value_info=[info("ids", ["batch", 3], INT64)])],
}
WORDS = ["", "x", "y", "w", "ids", "d", "F", "If", "OneHot", "Constant", "ai.onnx.ml", "\n\x1b[31m", "長" * 300]
NUMBERS = [-(2**63), -1, 0, 1, 3, 99, 2**31 - 1, 2**62]


def fields(message):
    """Yield (message, field, value) for everything in a message."""
    for field, value in message.ListFields():
        yield message, field, value
        if field.message_type is not None:
            for item in value if field.is_repeated else [value]:
                yield from fields(item)


def mutate(onnx_model, draw):
    """Return the serialized model with some fields changed, repeated or removed."""
    changed = onnx.ModelProto.FromString(onnx_model.SerializeToString())
    for _ in range(draw.randint(1, 5)):
        message, field, value = draw.choice(list(fields(changed)))
        if draw.random() < 0.15 and field.name != "graph":
            message.ClearField(field.name)
        elif field.is_repeated:
            item = draw.randrange(len(value))
            if draw.random() < 0.3:
                del value[item]
            elif field.message_type is not None:
                value.append(value[item])
            else:
                value[item] = word(draw, value[item])
        elif field.message_type is None:
            with suppress(ValueError, TypeError):  # a size that a field cannot hold
                setattr(message, field.name, word(draw, value))
    return changed.SerializeToString()


def word(draw, like):
    return draw.choice(
        [w.encode() for w in WORDS] if isinstance(like, bytes) else WORDS if isinstance(like, str) else NUMBERS
    )


class Held:
    """An object that lint treats as a ModelProto."""

    def __init__(self, data):
        self.data = data

    def SerializeToString(self):
        return self.data


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_mutated_models_are_linted_or_rejected(kind):
    draw = random.Random(kind)
    read = 0
    for number in range(100):
        data = mutate(draw.choice(SEEDS[kind]), draw)
        try:
            report = specgate.lint(Held(data), ["onnx:17"], infer=False, pins={"batch": 3, "x": 1})
            model_minimum(Held(data), LintSettings(infer=False))
            model = read_model_bytes(data)
            stripped = question(model).data
        except specgate.InputError as error:
            assert "\n" not in str(error), number
            continue
        read += 1
        for finding in report.findings:
            assert len(finding.message) < 2000
            assert finding.message.isprintable(), (number, finding.message)
        # Nodes are copied or written again with the same result; nodes with weights are left out.
        assert [list_messages(node) for node in read_model_bytes(stripped).graph.nodes] == [
            list_messages(node) for node in model.graph.nodes if not holds_weights(node)
        ]
    assert read > 30


def list_messages(node):
    graphs = {name for name, value in node.attributes.items() if value.kind in GRAPH_KINDS}
    attributes = {name: repr(value) for name, value in node.attributes.items() if name not in graphs}
    return node.name, node.op_type, node.domain, node.overload, node.inputs, node.outputs, attributes, graphs


def test_mutated_models_do_not_end_inference():
    draw = random.Random(1)
    for _ in range(20):
        try:
            specgate.lint(Held(mutate(SEEDS["inference"][0], draw)), ["onnx:17"])
        except specgate.InputError:
            continue
    assert specgate.lint(SEEDS["inference"][0], ["onnx:17"]).undecided == []


def test_deeply_nested_graphs():
    inner = OnnxGraph(name="g", nodes=[OnnxNode(op_type="Relu", inputs=["x"], outputs=["w"])])
    for _ in range(30):
        attributes_by_name = {"then_branch": OnnxAttribute("then_branch", "GRAPH", inner)}
        node = OnnxNode(op_type="If", inputs=["x"], outputs=["w"], attributes=attributes_by_name)
        inner = OnnxGraph(name="g", nodes=[node], outputs=[OnnxValueInfo("w")])
    data = question(OnnxModel(ir_version=8, opset_imports={"": 17}, graph=inner)).data
    report = specgate.lint(Held(data), ["onnx:17"])
    rules = {"name-undefined", "output-missing"}
    assert {f.id for f in report.findings} == {
        *(f"onnx/model/{rule}" for rule in rules),
        "onnx/If/else_branch.required",
        "onnx/If/output-count",  # the innermost branch has none
    }
