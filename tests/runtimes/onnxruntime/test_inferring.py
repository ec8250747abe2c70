"""Sizes as a runtime infers them, as measured; see inference.yaml."""

from __future__ import annotations

import pytest

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.file.structure import OnnxTensor, OnnxType
from specgate.dialects.onnx.infer import inference
from specgate.dialects.onnx.infer.inference import Questions
from specgate.dialects.onnx.infer.process import InferenceFailure
from specgate.dialects.onnx.lint.graph import onnx_units, walk_again
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime import reinference
from specgate.runtimes.onnxruntime.shape_inference import as_inferred

onnx = pytest.importorskip("onnx", reason="it infers")
pytestmark = pytest.mark.oracle

CONSTANTS = (
    "<int64[1] one = {1}, int64[1] two = {2}, int64[1] zero = {0}, int64 scalar = {1}, int64 nought = {0}, "
    "int64[1] rest = {-1}>"
)


def source(nodes, x="float[2,3,4] x", opset=17, infos="", placing=False):
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g ({x}) => (y) {CONSTANTS[:-1]}{infos}> {{{nodes}}}'
    model = read_model_bytes(onnx.parser.parse_model(text).SerializeToString())
    return onnx_units(model, LintSettings(placing=placing)).source


def sizes(nodes, release="1.24.4", name="y", **more):
    """Return a value's sizes, None for an unknown size or rank."""
    if "placing" not in more:  # from lower values, or from lint's facts: both agree
        below, above = (sizes(nodes, release, name, placing=placing, **more) for placing in (True, False))
        assert below == above
        return below
    read = as_inferred(source(nodes, **more), release)
    tensor = read.scopes[id(read.model.graph)].get(name)
    if tensor is None or tensor.sizes is None:
        return None
    return [size if isinstance(size, int) else None for size in tensor.sizes]


LISTED = "s = Shape(x)"
PICKED = "s = Shape(x) p = Gather(s, scalar) u = Unsqueeze(p, zero)"


@pytest.mark.parametrize(
    ("nodes", "x", "new", "old"),
    [
        (f"{LISTED} y = ConstantOfShape(s)", "float[2,3,4] x", [2, 3, 4], [None, None, None]),
        (f"{LISTED} y = ConstantOfShape(s)", "float[b,3,4] x", [None, None, None], [None, None, None]),
        ("s = Shape<start = 1>(x) y = ConstantOfShape(s)", "float[b,3,4] x", [3, 4], [None, None]),
        (f"{LISTED} t = Slice(s, one, two) y = ConstantOfShape(t)", "float[2,3,4] x", [None], [None]),
        (f"{PICKED} y = ConstantOfShape(u)", "float[2,3,4] x", [3], [None]),
        (f"{PICKED} y = ConstantOfShape(u)", "float[b,3,4] x", [None], [None]),
        (f"{PICKED} c = Concat<axis = 0>(u, rest) y = Reshape(x, c)", "float[2,3,4] x", [None, None], [None, None]),
        (f"{PICKED} c = Concat<axis = 0>(u, u) y = ConstantOfShape(c)", "float[2,3,4] x", [3, 3], [None, None]),
        (f"{LISTED} p = Gather(s, scalar) y = Range(nought, p, scalar)", "float[2,3,4] x", [3], [None]),
        (f"{LISTED} i = Identity(s) y = ConstantOfShape(i)", "float[2,3,4] x", [None, None, None], [None, None, None]),
        (f"{LISTED} y = Tile(x, s)", "float[2,3,4] x", [4, 9, 16], [None, None, None]),
    ],
)
def test_whole_lists_are_inferred_from_a_release_on(nodes, x, new, old):
    assert (sizes(nodes, x=x), sizes(nodes, "1.20.1", x=x)) == (new, old)


def test_lists_decide_on_sizes_that_make_lists():
    step = "s{0} = Shape(v{0}) r{0} = Abs(v{0}) v{1} = Reshape(r{0}, s{0})"
    deep = " ".join(["v0 = Abs(x)", *(step.format(at, at + 1) for at in range(20)), "y = Abs(v20)"])
    assert sizes(deep) == [2, 3, 4]
    assert sizes(deep, "1.18.0") == [None, None, None]


def test_partially_known_lists_follow_the_runtime():
    nodes = f"{PICKED} c = Concat<axis = 0>(u, rest) r = Reshape(x, c) q = Shape(r) y = ConstantOfShape(q)"
    own = source(nodes)
    assert own.scopes[id(own.model.graph)]["y"].sizes[0] == 3  # as the onnx package infers
    assert sizes(nodes) == [None, None]


@pytest.mark.parametrize(
    ("stated", "x", "expected"),
    [
        ("float[2,3] r", "float[a,3] x", [2, 3]),  # the file states more
        ("float[2,5] r", "float[2,3] x", [2, None]),  # both know a size, and not the same
        ("float[2,3,4] r", "float[2,3] x", None),
    ],
)
def test_stated_and_inferred_sizes_are_merged(stated, x, expected):
    nodes = "r = Abs(x) y = Abs(r)"
    assert sizes(nodes, x=x, infos=f", {stated}") == sizes(nodes, x=x, infos=f", {stated}", name="r") == expected


def test_comparisons_have_unknown_rank_at_some_opsets():
    nodes = "y = LessOrEqual(x, x)"
    assert [sizes(nodes, opset=opset) for opset in (14, 17)] == [None, [2, 3, 4]]
    assert [sizes(nodes, "1.20.1", opset=opset) for opset in (14, 17)] == [None, None]


def test_symbols_of_the_file_stay_and_inferred_symbols_are_dropped():
    read = as_inferred(source(f"{LISTED} z = Relu(x) y = Reshape(x, s)", x="float[b,3] x"), "1.24.4")
    scope = read.scopes[id(read.model.graph)]
    assert [str(size) for size in scope["z"].sizes or ()] == ["b", "3"]
    assert scope["y"].sizes == (None, None)


def test_a_model_without_size_lists_is_not_inferred_again(monkeypatch):
    monkeypatch.setattr(reinference, "infer_question", lambda *_: pytest.fail("asked"))
    own = source("r = Relu(x) y = Add(r, r)")
    assert as_inferred(own, "1.24.4") is own


def test_a_failed_inference_changes_nothing(monkeypatch):
    def fail(*_):
        raise InferenceFailure("no answer")

    monkeypatch.setattr(reinference, "infer_question", fail)
    own = source(f"{LISTED} y = ConstantOfShape(s)")
    assert as_inferred(own, "1.24.4") is own
    quiet = onnx_units(own.model, LintSettings(infer=False)).source
    assert as_inferred(quiet, "1.24.4") is quiet


def test_nodes_are_inferred_unchanged_with_known_types():
    model = source("a = Relu(x) b = Shape(a) c = Identity(b) y = Reshape(a, b)").model
    ((first, past, data),) = model.graph.runs
    constants = [OnnxTensor("b", "INT64", (3,), data=[3, 2, 4])]
    types = {"a": OnnxType("tensor", "FLOAT", (2, 3, 4))}

    def ask():
        return Questions(model).about(model.graph.nodes[2:], types, constants)

    def write_file():
        nodes = onnx.ModelProto.FromString(ask().data).graph.node
        return [(node.op_type, list(node.input), list(node.output)) for node in nodes]

    assert write_file() == [("Identity", ["b"], ["c"]), ("Reshape", ["a", "b"], ["y"])]
    model.graph.runs = [(first, past - 1, data)]  # what they hold is unclear
    assert write_file() == [("Identity", ["b"], ["c"]), ("Reshape", ["a", "b"], ["y"])]
    assert inference.infer_question(ask())[id(model.graph)]["y"].shape == (3, 2, 4)


def test_old_models_are_inferred_with_plain_initializers():
    text = f'<ir_version: 3, opset_import: ["" : 9]> g (float[2,3,4] x) => (y) {CONSTANTS[:-1]}> {{y = Relu(x)}}'
    model = read_model_bytes(onnx.parser.parse_model(text).SerializeToString())
    question = Questions(model).about(model.graph.nodes, {"x": OnnxType("tensor", "FLOAT", (2, None))}, [])
    assert inference.infer_question(question)[id(model.graph)]["y"].shape == (2, None)


def test_only_nodes_with_new_facts_are_inferred_again(monkeypatch):
    items = []

    def record_call(question):
        items.append([node.output[0] for node in onnx.ModelProto.FromString(question.data).graph.node])
        return inference.infer_question(question)

    monkeypatch.setattr(reinference, "infer_question", record_call)
    nodes = "a = Relu(x) s = Shape(a) z = ConstantOfShape(s) b = Abs(a) q = Abs(z) r = Abs(q) t = Abs(r) y = Add(t, b)"
    assert sizes(nodes, placing=True) == [2, 3, 4]
    assert items == [["z"], ["q", "r", "t"], ["y"]]


def test_stated_sizes_override_sizes_known_only_to_lint():
    """Measured with onnxruntime 1.31.1, which rejects the model for conflicting dimensions."""
    nodes = f"{PICKED} c = Concat<axis = 0>(u, rest) r = Reshape(x, c) y = Abs(r)"
    for stated in ("float[5,4] r", "float[3,7] r"):
        expected = [int(stated[6]), int(stated[8])]
        assert sizes(nodes, placing=True, infos=f", {stated}") == expected


def test_a_declared_type_stays_without_inference():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[n] y) {y = Relu(x)}'
    own = onnx_units(read_model_bytes(onnx.parser.parse_model(text).SerializeToString()), LintSettings()).source
    for type_, expected in (
        (OnnxType("tensor"), ("FLOAT", ("n",))),
        (OnnxType("tensor", "FLOAT", (2,)), ("FLOAT", (2,))),
    ):
        read = walk_again(own, {id(own.model.graph): {"y": type_}})
        tensor = read.scopes[id(read.model.graph)]["y"]
        assert (
            tensor.type,
            tuple(size if isinstance(size, int) else str(size) for size in tensor.sizes or ()),
        ) == expected


def test_inference_of_cycles_terminates(monkeypatch):
    """Also if each iteration increases a size: the number of visits per node is linear."""
    more = " ".join(f"v{at} = Relu(v{at - 1})" for at in range(1, 30))
    nodes = f"s = Shape(x) v0 = Add(v29, w) w = ConstantOfShape(s) {more} y = Relu(v29)"
    for placing in (True, False):
        assert sizes(nodes, placing=placing) is None
    items = []

    def growing(question):
        items.append(question)
        names = [*(f"v{at}" for at in range(30)), "w", "y"]
        return {id(question.graphs[0]): dict.fromkeys(names, OnnxType("tensor", "FLOAT", (len(items),)))}

    monkeypatch.setattr(reinference, "infer_question", growing)
    assert sizes(nodes, placing=True) is not None
    assert len(items) == 4
