"""Models that the runtime rejects when loading, or accepts although onnx does not."""

from __future__ import annotations

import pytest

import specgate
from specgate.runtimes.onnxruntime.load_checks import loading_of
from specgate.runtimes.onnxruntime.lowering.expressions import holds_at
from specgate.runtimes.onnxruntime.table_references import loading_problems
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx
from tests.runtimes.onnxruntime.test_place import DML, one

COMPLEX64, FLOAT8 = onnx.TensorProto.COMPLEX64, onnx.TensorProto.FLOAT8E5M2


def session(onnx_model) -> str:
    return specgate.place(onnx_model, DML).session


def place_model(onnx_model, release):
    """Return the first node of a model as placed on the CPU."""
    return next(iter(specgate.place(onnx_model, f"onnxruntime:{release}")))


@pytest.mark.parametrize("keepdims", [0, 1, 2])
def test_the_provider_rejects_other_keepdims(keepdims) -> None:
    onnx_model = one("ReduceSum", info("x", [2, 3]), opset=11, axes=[1], keepdims=keepdims)
    assert session(onnx_model) == ("fails" if keepdims == 2 else "created")


def test_rules_checked_by_every_release() -> None:
    numbers = [helper.make_tensor(name, INT64, [], [1]) for name in ("a", "d")]
    cases: list[tuple[list[int], str]] = [([], "created"), ([1], "fails")]
    for dims, expected in cases:
        limit = helper.make_tensor("b", INT64, dims, [5])
        assert (
            session(
                one("Range", "a", "b", "d", opset=11, output=info("y", None, INT64), initializers=[*numbers, limit])
            )
            == expected
        )


def test_rules_that_are_not_checked() -> None:
    for pads in ([1, 1, 1, 0], [1, 1, 1, -1]):
        onnx_model = one("MaxPool", info("x", [1, 4, 7, 9]), opset=12, kernel_shape=[3, 3], strides=[2, 1], pads=pads)
        assert session(onnx_model) == "created"


def test_checks_beyond_the_schema() -> None:
    for perm, expected in (([1, 0], "created"), ([1, 1], "fails"), ([1, 2], "fails")):
        assert session(one("Transpose", info("x", [2, 3]), opset=13, perm=perm)) == expected
    for onesided, expected in ((0, "created"), (1, "fails")):
        onnx_model = one("DFT", info("x", [1, 8, 4, 2]), opset=20, inverse=1, onesided=onesided)
        assert session(onnx_model) == expected


def test_cpu_checks_do_not_apply_to_directml() -> None:
    shape = helper.make_tensor("s", INT64, [1], [2])
    for kind, expected in ((FLOAT, "created"), (FLOAT8, "fails")):
        value = helper.make_tensor("v", kind, [1], [1.0])
        onnx_model = one(
            "ConstantOfShape", "s", opset=23, output=info("y", [2], kind), initializers=[shape], value=value
        )
        assert session(onnx_model) == expected
    assert any(check.cpu for check in loading_of("ConstantOfShape", "1.24.4").checks)


def test_constants_of_unsupported_types() -> None:
    for kind, expected in ((FLOAT, "created"), (COMPLEX64, "fails")):
        value = helper.make_tensor("v", kind, [1], [1.0])
        new_graph = graph([helper.make_node("Constant", [], ["y"], value=value)], [], [info("y", [1], kind)])
        assert session(model(new_graph, opsets=[("", 13)])) == expected


def test_pads_next_to_auto_pad_must_give_the_same_windows() -> None:
    for pads, expected in (([1, 1], "created"), ([0, 0], "fails")):
        onnx_model = one(
            "AveragePool", info("x", [1, 1, 8]), opset=10, kernel_shape=[3], auto_pad="SAME_UPPER", pads=pads
        )
        assert session(onnx_model) == expected


def make_untyped(name):
    return onnx.ValueInfoProto(name=name)


def external(location="gone.bin", **keys):
    tensor = onnx.TensorProto(name="w", data_type=FLOAT, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in {"location": location, **keys}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


RELU = helper.make_node("Relu", ["x"], ["y"])
ADD = helper.make_node("Add", ["x", "w"], ["y"])
HELD = helper.make_node("Constant", [], ["w"], value=external())
LOOPED = helper.make_graph(
    [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Abs", ["v"], ["u"])], "b",
    [make_untyped("i"), make_untyped("c"), make_untyped("v")], [make_untyped("d"), make_untyped("u")],
)  # fmt: skip
X, Y, W = info("x", [2]), info("y", [2]), helper.make_tensor("w", FLOAT, [2], [1.0, 2.0])
LOOP = (helper.make_tensor("t", INT64, [], [2]), helper.make_tensor("k", onnx.TensorProto.BOOL, [], [True]))
#: The wheels of 1.16.3 to 1.31.1 on each: nodes, inputs, outputs, initializers, and the reason of a rejection.
WHOLE = {
    "empty": ([], [], [], [], "graph: it has neither nodes nor outputs"),
    "empty but for an input": ([], [X], [], [], "graph: it has neither nodes nor outputs"),
    "empty but for a constant": ([helper.make_node("Constant", [], ["c"], value=W)], [], [], [], "graph: it has neither nodes"),
    "an input as output": ([], [X], [X], [], ""),
    "a constant as output": ([], [], [info("w", [2])], [W], ""),
    "no outputs": ([RELU], [X], [], [], ""),
    "an input without a type": ([RELU], [make_untyped("x")], [Y], [], "graph: the input 'x' has no type"),
    "and one that is an initializer": ([ADD], [X, make_untyped("w")], [Y], [W], ""),
    "inputs of a body without types": (
        [helper.make_node("Loop", ["t", "k", "x"], ["y"], body=LOOPED)], [X], [Y], LOOP, "",
    ),
    "a type that is none": ([RELU], [info("x", [2], 99)], [Y], [], "graph: the type of 'x' has the unknown element type"),
    "a missing file": ([ADD], [X], [Y], [external()], "the data of the initializer 'w' is in 'gone.bin', which does"),
    "which nothing reads": ([RELU], [X], [Y], [external()], ""),
    "which is an output": ([RELU], [X], [Y, info("w", [2])], [external()], "which does not exist"),
    "a missing file of a Constant": ([HELD, ADD], [X], [Y], [], "which does not exist"),
    "of a Constant that nothing reads": ([HELD, RELU], [X], [Y], [], ""),
    "a short file": ([ADD], [X], [Y], [external("short.bin", length=8)], "ends at byte 8"),
    "a wrong length": ([ADD], [X], [Y], [external("short.bin", length=4)], "has a length of 4 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_models_that_no_release_loads(name, tmp_path) -> None:
    nodes, inputs, outputs, initializers, why = WHOLE[name]
    new_graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    (tmp_path / "short.bin").write_bytes(b"1234")
    path = tmp_path / "model.onnx"
    path.write_bytes(model(new_graph, opsets=[("", 13)], ir=7).SerializeToString())
    for target in ("onnxruntime:1.16.3", "onnxruntime:1.24.4", "onnxruntime:1.31.1"):
        placed = specgate.place(str(path), target)
        assert placed.session == ("fails" if why else "created")
        assert len(placed.refusals) == bool(why)
        assert why in "".join(placed.refusals)


@pytest.mark.parametrize(("release", "expected"), [("1.23.2", "created"), ("1.24.4", "fails"), ("1.31.1", "fails")])
def test_data_outside_of_the_folder_is_rejected_since_a_release(release, expected, tmp_path) -> None:
    new_graph = helper.make_graph([ADD], "g", [X], [Y], [external("../data.bin", length=8)])
    path = tmp_path / "model.onnx"
    path.write_bytes(model(new_graph, opsets=[("", 13)], ir=7).SerializeToString())
    assert specgate.place(str(path), f"onnxruntime:{release}").session == expected


def test_mistakes_in_the_file_are_named() -> None:
    wrong = {
        "models": {"no-such-rule": {}},
        "operators": {
            "Nonsense": {},
            "Range": {"asks": ["no-such-rule"]},
            "DFT": {"refuses": {"one": {"when": "invers != 0", "because": "no"}}},
        },
    }
    places = [(place, text) for place, text in loading_problems(wrong)]
    assert places[0] == (("models", "no-such-rule"), "no model rule is called 'no-such-rule'")
    assert places[1] == (("operators", "Nonsense"), "unknown operator 'Nonsense'")
    assert places[2] == (("operators", "Range", "asks"), "Range does not have a rule 'no-such-rule'")
    assert places[3][0] == ("operators", "DFT", "refuses")


def test_rules_apply_to_their_releases_and_versions_only() -> None:
    pads = one("AveragePool", info("x", [1, 1, 8]), opset=10, kernel_shape=[3], pads=[1, -1])
    sessions = [specgate.place(pads, f"onnxruntime:{release}").session for release in ("1.24.4", "1.31.1")]
    assert sessions == ["created", "fails"]
    for opset, expected in ((12, True), (16, False)):
        takes = [rule for rule in loading_of("LessOrEqual", "1.24.4").takes if holds_at(rule.since, rule.until, opset)]
        assert bool(takes) is expected


def test_versions_added_late_to_an_opset_are_unknown_to_releases() -> None:
    tensors = [info(name, [1, 2, 4, 8]) for name in ("q", "k", "v")]
    for release, kernel in (("onnxruntime-directml:1.24.4", "CPU"), ("onnxruntime:1.31.1", "CPU")):
        (result,) = specgate.place(one("Attention", *tensors, opset=25, output=info("y", [1, 2, 4, 8])), release)
        assert (result.provider, result.version) == (kernel, 24)
    assert "Attention" not in [
        node.operator for node in specgate.place(one("Attention", *tensors, opset=25), "onnxruntime:1.32.0")
    ]  # it has no kernel for version 25, and expands the function


def test_checks_that_the_tables_of_the_models_do_not_have() -> None:
    axes, pads, four = (
        helper.make_tensor(n, INT64, [len(v)], v) for n, v in (("a", [-1, 1]), ("p", [0] * 4), ("s", [4, 3, 4]))
    )
    assert session(one("Pad", info("x", [2, 3]), "p", "", "a", opset=18, initializers=[pads, axes])) == "fails"
    assert session(one("Resize", info("x", [4, 3]), "", "", "s", opset=13, initializers=[four])) == "fails"
    condition = info("c", [2], onnx.TensorProto.BOOL)
    for kind, expected in ((FLOAT, "created"), (INT64, "fails")):
        assert session(one("Compress", info("x", [2]), condition, opset=9, output=info("y", None, kind))) == expected
    assert session(one("Reshape", info("x", [2, 3]), info("s", [2, 1], INT64), opset=14)) == "fails"


def test_a_constant_without_a_value() -> None:
    new_graph = graph([helper.make_node("Constant", [], ["y"])], [], [info("y", [1])])
    placement = specgate.place(model(new_graph, opsets=[("", 13)]), DML)
    assert (placement.session, placement.refusals) == ("fails", ["the constant y has no value"])


def sessions(onnx_model, *releases) -> list[str]:
    return [specgate.place(onnx_model, f"onnxruntime:{release}").session for release in releases]


def test_an_empty_auto_pad_is_accepted_and_others_are_rejected() -> None:
    for word, expected in (("", "created"), ("VALID", "created"), ("bogus", "fails")):
        for operator in ("MaxPool", "AveragePool", "LpPool"):
            onnx_model = one(operator, info("x", [2, 3, 7]), opset=11, kernel_shape=[3], auto_pad=word)
            assert sessions(onnx_model, "1.16.3", "1.31.1") == [expected] * 2


def test_rules_checked_from_a_release_on() -> None:
    axis = helper.make_tensor("a", INT64, [], [0])
    flags = one("CumSum", info("x", [2, 3]), "a", opset=14, initializers=[axis], exclusive=2)
    assert sessions(flags, "1.26.0", "1.27.0") == ["created", "fails"]
    order = one("MaxPool", info("x", [2, 3, 7]), opset=12, kernel_shape=[2], storage_order=2)
    assert sessions(order, "1.28.0", "1.29.0") == ["created", "fails"]
    zero = one("MaxPool", info("x", [2, 3, 7]), opset=12, kernel_shape=[2], dilations=[0])
    assert sessions(zero, "1.25.1", "1.26.0") == ["created", "fails"]
    size = helper.make_tensor("s", INT64, [2], [2, -3])
    below = one("ConstantOfShape", "s", opset=15, initializers=[size])
    assert [place_model(below, release).at_run for release in ("1.22.1", "1.23.2")] == [True, False]
    assert sessions(below, "1.22.1", "1.23.2") == ["fails", "fails"]
    unlike = one(
        "LessOrEqual", info("x", [2, 3]), info("z", [2]), opset=16, output=info("y", [2, 3], onnx.TensorProto.BOOL)
    )
    assert [place_model(unlike, release).at_run for release in ("1.23.2", "1.24.4")] == [True, False]
    assert sessions(unlike, "1.23.2", "1.24.4") == ["fails", "fails"]


def test_constants_of_types_that_came_later() -> None:
    for kind, last, first in ((21, "1.18.1", "1.19.2"), (23, "1.23.2", "1.24.4"), (24, "1.26.0", "1.27.0")):
        tensor = onnx.TensorProto(name="v", data_type=kind, dims=[2], raw_data=b"\x11\x11" if kind == 24 else b"\x11")
        new_graph = graph([helper.make_node("Constant", [], ["y"], value=tensor)], [], [info("y", [2], kind)])
        assert sessions(model(new_graph, opsets=[("", 13)]), last, first) == ["fails", "created"]


def test_constant_inputs_have_additional_checks() -> None:
    three, list_of_one = helper.make_tensor("p", INT64, [3], [1, 1, 1]), helper.make_tensor("s", INT64, [1], [5])
    for opset in (11, 13, 18):
        assert sessions(one("Pad", info("x", [3, 2]), "p", opset=opset, initializers=[three]), "1.31.1") == ["fails"]
        late = place_model(one("Pad", info("x", [3, 2]), info("p", [3], INT64), opset=opset), "1.31.1")
        assert (late.creation, late.at_run) == ("fails", True)
    for operator in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        assert sessions(one(operator, "s", opset=17, initializers=[list_of_one]), "1.16.3") == ["fails"]
        assert sessions(one(operator, info("s", [1], INT64), opset=17), "1.16.3") == ["created"]
    scalar = helper.make_tensor("s", INT64, [], [3])
    assert sessions(one("Expand", info("x", [1]), "s", opset=13, initializers=[scalar]), "1.16.3") == ["created"]
    assert sessions(one("Expand", info("x", [1]), info("s", [], INT64), opset=13), "1.16.3") == ["fails"]


def test_training_mode_requires_the_running_outputs() -> None:
    names = [info(name, [3]) for name in "sbmv"]
    for mode, expected in ((0, "created"), (1, "fails")):
        onnx_model = one(
            "BatchNormalization",
            info("x", [2, 3, 4]),
            *names,
            opset=15,
            output=info("y", [2, 3, 4]),
            training_mode=mode,
        )
        assert sessions(onnx_model, "1.16.3", "1.31.1") == [expected] * 2


def test_an_invalid_dtype_of_eyelike() -> None:
    for kind, output, late in ((0, FLOAT, True), (0, None, False), (99, FLOAT, False)):
        stated = info("y", [3, 4], output) if output else onnx.ValueInfoProto(name="y")
        onnx_model = one("EyeLike", info("x", [3, 4]), opset=12, output=stated, dtype=kind)
        assert (place_model(onnx_model, "1.31.1").creation, place_model(onnx_model, "1.31.1").at_run) == ("fails", late)
