"""Invalid, endless or huge models and wrong targets: findings or one line, no crash."""

from __future__ import annotations

import pytest

import specgate
from specgate.cli import main

onnx = pytest.importorskip("onnx", reason="the onnx package makes the models")
helper, FLOAT = onnx.helper, onnx.TensorProto.FLOAT
TARGET = "onnxruntime-directml:1.24.4"
OWN = (("", 17), ("own", 1))


def info(name, shape=None, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def node(operator, inputs, outputs, **more):
    return helper.make_node(operator, inputs, outputs, **more)


def model(nodes, outputs=(), inputs=(), *, initializers=(), opsets=(("", 17),), functions=(), ir_version=8):
    items = [info("x", [2, 3]), *inputs]
    graph = helper.make_graph(list(nodes), "g", items, [info(name) for name in outputs], list(initializers))
    imports = [helper.make_opsetid(*item) for item in opsets]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=ir_version)


def function(name, *nodes):
    return helper.make_function("own", name, ["a"], ["b"], list(nodes), [helper.make_opsetid(*pair) for pair in OWN])


def calling(name, *functions):
    return model(
        [node(name, ["x"], ["y"], domain="own", name="call"), node("Relu", ["x"], ["z"], name="relu")],
        ["y", "z"],
        opsets=OWN,
        functions=functions,
    )


def providers(placed):
    return {item.node.rpartition("/")[2]: item.provider for item in placed}


CYCLE = (node("Relu", ["b"], ["a"], name="one"), node("Abs", ["a"], ["b"], name="two"))
TENSOR = onnx.TensorProto
REFUSED = {
    "cycle": lambda: model([*CYCLE, node("Relu", ["x"], ["y"], name="relu")], ["y"]),
    "itself": lambda: model([node("Relu", ["y"], ["y"], name="one"), node("Relu", ["x"], ["z"], name="relu")], ["z"]),
    "recursion": lambda: calling("F", function("F", node("F", ["a"], ["b"], domain="own"))),
    "mutual recursion": lambda: calling(
        "F", function("F", node("G", ["a"], ["b"], domain="own")), function("G", node("F", ["a"], ["b"], domain="own"))
    ),
    "doubling recursion": lambda: calling(
        "F", function("F", node("F", ["a"], ["t"], domain="own"), node("F", ["t"], ["b"], domain="own"))
    ),
    "values twice": lambda: model(
        [node("Abs", ["x"], ["y"]), node("Neg", ["x"], ["y"]), node("Relu", ["x"], ["z"], name="relu")], ["y"]
    ),
    "names twice": lambda: model(
        [node("Abs", ["x"], ["y"], name="same"), node("Neg", ["y"], ["z"], name="same"),
         node("Relu", ["x"], ["r"], name="relu")], ["z"],
    ),
    "nothing read": lambda: model([node("Abs", ["gone"], ["y"]), node("Relu", ["x"], ["z"], name="relu")], ["y"]),
    "nothing given": lambda: model([node("Relu", ["x"], ["z"], name="relu")], ["gone"]),
    "negative sizes": lambda: model(
        [node("Abs", ["w"], ["y"]), node("Relu", ["x"], ["z"], name="relu")], ["y"],
        initializers=[TENSOR(name="w", data_type=1, dims=[-1, 5])],
    ),
    "short data": lambda: model(
        [node("Abs", ["w"], ["y"]), node("Relu", ["x"], ["z"], name="relu")], ["y"],
        initializers=[TENSOR(name="w", data_type=1, dims=[3], raw_data=b"123")],
    ),
    "opset 999": lambda: model([node("Relu", ["x"], ["y"], name="other"), *CYCLE[:0]], ["y"], opsets=(("", 999),)),
    "IR version 999": lambda: model([node("Relu", ["x"], ["y"], name="relu")], ["y"], ir_version=999),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_rejections_are_reported_and_other_nodes_are_placed(name):
    onnx_model = REFUSED[name]()
    placed = specgate.place(onnx_model, TARGET)
    assert placed.session == "fails"
    assert placed.refusals
    assert all("\n" not in item for item in placed.refusals)
    assert len(placed) >= len(onnx_model.graph.node)
    if name != "opset 999":  # where nothing is known of any operator
        assert providers(placed)["relu"] == "DirectML"
    errors = {result.id for result in specgate.lint(onnx_model, [TARGET]).findings if result.severity == "error"}
    assert errors, "lint refuses the file as well"


@pytest.mark.parametrize("name", REFUSED)
def test_the_runtime_itself_rejects_them(name):
    runtime = pytest.importorskip("onnxruntime", reason="the runtime that is asked")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    with pytest.raises(Exception, match=r"ONNXRuntimeError|mismatch|Invalid|endian"):
        runtime.InferenceSession(REFUSED[name]().SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("opset", [0, -1, -(2**63), 2**62])
def test_invalid_opset_numbers(opset):
    new_model = model([node("Relu", ["x"], ["y"]), node("Gelu", ["x"], ["z"], domain="com.microsoft")], ["y"],
                 opsets=(("", opset), ("com.microsoft", opset)))  # fmt: skip
    assert specgate.place(new_model, TARGET).session == "fails"
    assert specgate.lint(new_model, [TARGET]).findings


def test_unknown_operators_do_not_affect_other_nodes():
    nodes = [
        node("Foo", ["x"], ["y"], domain="acme", name="foreign"), node("Reluu", ["x"], ["z"], name="unknown"),
        node("Relu", ["x"], ["r"], name="relu"), onnx.NodeProto(),
    ]  # fmt: skip
    placed = specgate.place(model(nodes, ["y", "z", "r"]), TARGET)
    result = providers(placed)
    assert (result["foreign"], result["unknown"], result["relu"]) == (None, None, "DirectML")
    assert placed.session == "fails"


def test_functions_that_call_each_other_deeply_are_replaced():
    def at(depth):
        last = depth == 59
        return function(
            f"F{depth}", node("Relu" if last else f"F{depth + 1}", ["a"], ["b"], domain="" if last else "own")
        )

    placed = specgate.place(calling("F0", *map(at, range(60))), TARGET)
    assert [item.operator for item in placed] == ["Relu", "Relu"]


def test_exponentially_growing_functions_are_rejected_quickly():
    def at(depth):
        name, domain = ("Relu", "") if depth == 39 else (f"F{depth + 1}", "own")
        return function(f"F{depth}", node(name, ["a"], ["t"], domain=domain), node(name, ["t"], ["b"], domain=domain))

    with pytest.raises(specgate.InputError, match=r"expand to more than 500,000 nodes"):
        specgate.place(calling("F0", *map(at, range(40))), TARGET)


def count_call(call):
    """Return the number of Python function calls in a call, a measure without noise."""
    import sys

    count = 0

    def one(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(one)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def chain_nodes(operator, count, **more):
    return [node(operator, [f"v{i}" if i else "x"], [f"v{i + 1}"], **more) for i in range(count)]


GROWING = {
    "calls": lambda n: model(chain_nodes("F", n, domain="own"), [f"v{n}"], opsets=OWN,
                             functions=[function("F", node("Relu", ["a"], ["t"]), node("Abs", ["t"], ["b"]))]),
    "calls of ONNX's functions": lambda n: model(chain_nodes("HardSwish", n), [f"v{n}"], opsets=(("", 18),)),
    "backwards": lambda n: model(chain_nodes("Relu", n)[::-1], [f"v{n}"]),
    "one reads all": lambda n: model(
        [*(node("Relu", ["x"], [f"r{i}"]) for i in range(n)), node("Sum", [f"r{i}" for i in range(n)], ["y"])], ["y"]
    ),
    "partitions joined late": lambda n: model(
        [*(node("Relu", ["x"], [f"r{i}"]) for i in range(n)),
         *(node("Add", [f"r{i}", f"a{i - 1}" if i > 1 else "r0"], [f"a{i}"]) for i in range(1, n))], [f"a{n - 1}"]
    ),
    "branches": lambda n: model(
        [node("If", ["c"], [f"v{i}"], then_branch=branch(i), else_branch=branch(i)) for i in range(n)],
        [f"v{i}" for i in range(n)], [info("c", [], onnx.TensorProto.BOOL)],
        initializers=[helper.make_tensor(f"w{i}", FLOAT, [1], [0.0]) for i in range(n)],
    ),
}  # fmt: skip


def branch(number):
    return helper.make_graph([node("Relu", ["x"], [f"b{number}"])], "b", [], [info(f"b{number}")])


@pytest.mark.slow
@pytest.mark.parametrize("kind", GROWING)
def test_work_grows_with_the_nodes(kind):
    small, large = (GROWING[kind](count) for count in (200, 1600))
    specgate.place(GROWING[kind](20), TARGET, infer=False)
    few, many = (
        count_call(lambda onnx_model=onnx_model: specgate.place(onnx_model, TARGET, infer=False))
        for onnx_model in (small, large)
    )
    assert many < 8 * 1.3 * few


@pytest.mark.slow
def test_twenty_thousand_calls():
    placed = specgate.place(GROWING["calls"](20_000), TARGET)
    assert placed.counts == {"DirectML": 40_000}
    assert len(placed.partitions) == 1


@pytest.mark.parametrize("kind", ["If", "Loop"])
def test_deeply_nested_subgraphs(kind):
    inner = helper.make_graph([node("Relu", ["x"], ["w0"])], "g", [], [info("w0")])
    for depth in range(1, 30):
        if kind == "If":
            bodies = {
                "then_branch": inner,
                "else_branch": helper.make_graph([node("Abs", ["x"], [f"e{depth}"])], "e", [], [info(f"e{depth}")]),
            }
            value = node("If", ["c"], [f"w{depth}"], **bodies)
        else:
            ends = [info(f"i{depth}", [], onnx.TensorProto.INT64), info(f"c{depth}", [], onnx.TensorProto.BOOL)]
            more = [node("Identity", [f"c{depth}"], [f"o{depth}"])]
            body = helper.make_graph(
                [*more, *inner.node], "b", ends, [info(f"o{depth}", [], onnx.TensorProto.BOOL), *inner.output]
            )
            value = node("Loop", ["m", "c"], [f"w{depth}"], body=body)
        inner = helper.make_graph([value], "g", [], [info(f"w{depth}")])
    more = [info("c", [], onnx.TensorProto.BOOL), info("m", [], onnx.TensorProto.INT64)]
    placed = specgate.place(model(inner.node, ["w29"], more), TARGET)
    assert len(placed) == 59
    assert placed.session == "created"


def huge(dims):
    tensor = TENSOR(name="w", data_type=1, dims=dims, data_location=TENSOR.EXTERNAL)
    for key, value in (("location", "w.bin"), ("length", str(4 << 40))):
        tensor.external_data.add(key=key, value=value)
    return model([node("Gemm", ["a", "w"], ["y"], name="gemm"), node("Relu", ["w"], ["z"])], ["y"],
                 [info("a", [1, 1 << 20])], initializers=[tensor])  # fmt: skip


@pytest.mark.parametrize("dims", [[1 << 20, 1 << 20], [2**62, 2**62, 2**62]])
def test_huge_weights_are_not_read(dims):
    assert providers(specgate.place(huge(dims), TARGET))["gemm"] == "DirectML"


@pytest.mark.parametrize("value", [[2**62, 2**62], [-(2**63), 2**63 - 1]])
def test_huge_sizes_and_numbers(value):
    contents = [helper.make_tensor("k", onnx.TensorProto.INT64, [2], value)]
    nodes = [
        node("Tile", ["x", "k"], ["t"]), node("Expand", ["x", "k"], ["e"]), node("Reshape", ["x", "k"], ["r"]),
        node("ConstantOfShape", ["k"], ["c"]), node("Transpose", ["x"], ["p"], perm=[7, 7]),
        node(
            "MaxPool", ["x"], ["m"], kernel_shape=value), node("Conv", ["x", "x"], ["v"], pads=[-(2**63)] * 4, group=0),
        node("Einsum", ["x", "x"], ["s"], equation="i" * 999 + ",,->"), node("Cast", ["x"], ["q"], to=99),
    ]  # fmt: skip
    assert len(specgate.place(model(nodes, ["t"], initializers=contents), TARGET)) == len(nodes)


def test_an_empty_graph():
    placed = specgate.place(helper.make_model(helper.make_graph([], "g", [], [])), TARGET)
    assert len(placed) == 0


WRONG = {
    "near release": ((), "onnxruntime-directml:1.24.44", "did you mean 1.24.4"),
    "release": ((), "onnxruntime:99", "unknown release"),
    "no release": ((), "onnxruntime-directml:", "expected a target"),
    "package": ((), "onnxruntime-directm1:1.24.4", "onnxruntime-directml"),
    "level": ((), f"{TARGET}@99", "levels: "),
    "no level": ((), f"{TARGET}@", "levels: "),
    "levels": ((), f"{TARGET}@5.0@6.0", "levels: "),
    "level of the CPU": ((), "onnxruntime:1.24.4@5.0", "is not allowed"),
    "dialect": ((), "onnx:17", "does not place nodes"),
    "device": (("--device", "nonsense"), TARGET, "nonsense"),
}


@pytest.mark.parametrize("command", ["place", "lint"])
@pytest.mark.parametrize("kind", WRONG)
def test_invalid_targets_and_devices_are_reported_in_a_line(kind, command, tmp_path, capsys):
    options, target, message = WRONG[kind]
    if (kind, command) == ("dialect", "lint"):
        pytest.skip("lint takes it")
    path = tmp_path / "model.onnx"
    onnx.save(model([node("Relu", ["x"], ["y"])], ["y"]), path)
    assert main([command, str(path), "--target", target, *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize("data", [b"", b"hello world, no model", b"PK\x03\x04" + bytes(99), b"\x08\x08", bytes(999)])
def test_invalid_models_are_reported_in_a_line(data, tmp_path, capsys):
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    for command in ("place", "lint"):
        assert main([command, str(path), "--target", TARGET]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_unknown_sizes_defer_the_kernel():
    new_model = model([node("Relu", ["n"], ["y"], name="named"), node("Relu", ["u"], ["z"], name="unknown"),
                  node("Relu", ["x"], ["r"], name="known")], ["y", "z", "r"],
                 [info("n", ["N", 3]), info("u")])  # fmt: skip
    texts_by_name = {
        placed.node.rpartition("/")[2]: (placed.creation, placed.created_by)
        for placed in specgate.place(new_model, TARGET)
    }
    assert texts_by_name["known"] == ("created", "")
    assert texts_by_name["named"] == ("deferred", "the sizes of its input X depend on N")
    assert texts_by_name["unknown"] == ("deferred", "the sizes of its input X are unknown")
