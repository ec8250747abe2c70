"""ONNX models run node by node: names, constants, weights, sizes, errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import specgate
from specgate.dialects.onnx.run.model import run_model
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution.memory import budget_of

ml_dtypes = pytest.importorskip("ml_dtypes", reason="THE MODEL TESTS ARE NOT RUN: pip install ml-dtypes")
onnx = pytest.importorskip("onnx", reason="THE MODEL TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
helper, numpy_helper, TensorProto = onnx.helper, onnx.numpy_helper, onnx.TensorProto

INPUTS = {"i": np.array([0, -1, 7]), "v": np.array([1, 2], "f4")}


def info(name, kind=TensorProto.INT64, shape=("N",)):
    return helper.make_tensor_value_info(name, kind, shape)


def one_hot(inputs=("i", "d", "v"), output="o", name="hot", **attributes):
    return helper.make_node("OneHot", list(inputs), [output], name=name, **attributes)


@pytest.fixture
def save(tmp_path):
    """Save a model, by default of OneHot with depth 3 as initializer; return its path."""

    def make(nodes=None, *, inputs=None, outputs=None, initializers=None, opset=17, imports=None, **more):
        graph = helper.make_graph(
            nodes or [one_hot()],
            "g",
            inputs or [info("i"), info("v", TensorProto.FLOAT, [2])],
            outputs or [info("o", TensorProto.FLOAT, None)],
            initializer=[numpy_helper.from_array(np.array(3), "d")] if initializers is None else initializers,
        )
        imports = imports or [helper.make_opsetid("", opset)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=8, **more)
        path = tmp_path / "model.onnx"
        onnx.save(model, path)
        return str(path)

    return make


def test_inputs_and_outputs_by_name(save):
    result = run_model(save(), INPUTS)
    assert list(result) == ["o"]
    assert result["o"].dtype == np.float32
    assert result["o"].tolist() == [[2, 1, 1], [1, 1, 2], [1, 1, 1]]
    assert specgate.execute(save(), INPUTS)["o"].tolist() == result["o"].tolist()


def test_nodes_run_at_the_opset_that_the_model_imports(save):
    assert run_model(save(opset=10), INPUTS)["o"].tolist()[1] == [1, 1, 1]
    with pytest.raises(InputError, match="node 'hot': OneHot does not exist at opset 8"):
        run_model(save(opset=8), INPUTS)
    with pytest.raises(InputError, match="node 'hot': unknown opset '99'"):
        run_model(save(opset=99), INPUTS)


def test_a_chain_of_nodes(save):
    nodes = [
        helper.make_node("Constant", [], ["d"], value_int=2),
        one_hot(axis=0),
        helper.make_node("Constant", [], ["pair"], value=numpy_helper.from_array(np.array([0.5, -2.5]))),
        one_hot(("o", "e", "pair"), "p", name="again"),
    ]
    path = save(
        nodes,
        initializers=[numpy_helper.from_array(np.array([3], np.float16), "e")],
        outputs=[info("p", TensorProto.DOUBLE, ["D", "N", None]), info("o", TensorProto.FLOAT, ["D", "N"])],
    )
    result = run_model(path, {"i": np.array([0, -1]), "v": np.array([1, 2], "f4")})
    assert result["o"].tolist() == [[2, 1], [1, 2]]
    assert result["p"].tolist() == [[[0.5, 0.5, -2.5], [0.5, -2.5, 0.5]], [[0.5, -2.5, 0.5], [0.5, 0.5, -2.5]]]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ({"value_float": 2.0}, np.float32(2)),
        ({"value_floats": [1.5, 2.0]}, np.array([1.5, 2], "f4")),
        ({"value_int": -(2**63)}, np.int64(-(2**63))),
        ({"value_ints": [1, 2]}, np.array([1, 2], "i8")),
        ({"value_string": "öffne"}, np.array("öffne", object)),
        ({"value_strings": ["a", "b"]}, np.array(["a", "b"], object)),
    ],
)
def test_constants(save, attribute, expected):
    kind = helper.np_dtype_to_tensor_dtype(expected.dtype) if expected.dtype != object else TensorProto.STRING
    node = helper.make_node("Constant", [], ["c"], **attribute)
    result = run_model(save([node, one_hot()], outputs=[info("c", kind, expected.shape)]), INPUTS)["c"]
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


def test_constants_in_other_attributes(save):
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0]),
        helper.make_tensor("i", TensorProto.INT64, [1], [0]),
        [3],
    )
    node = helper.make_node("Constant", [], ["c"], sparse_value=sparse)
    outputs = run_model(save([node, one_hot()], outputs=[info("c", TensorProto.FLOAT, [3])]), INPUTS)
    assert outputs["c"].tolist() == [1, 0, 0]
    with pytest.raises(InputError, match="expected a Constant of one attribute"):
        run_model(save([helper.make_node("Constant", [], ["c"]), one_hot()]), INPUTS)


SMALL, LARGE = (3,), (70, 41)
TYPES = [
    np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
    np.bool_, np.complex64, np.complex128, ml_dtypes.bfloat16,
]  # fmt: skip


def array_of(dtype, shape):
    return (np.arange(np.prod(shape)) % 251 - 100 * (np.dtype(dtype).kind != "u")).astype(dtype).reshape(shape)


def raw(array):
    return numpy_helper.from_array(array, "w")


def has_type(array):
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    values = array.reshape(-1)
    return helper.make_tensor(
        "w", kind, array.shape, values if array.dtype != ml_dtypes.bfloat16 else values.astype("f4")
    )


@pytest.mark.parametrize("make", [raw, has_type])
@pytest.mark.parametrize("shape", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_initializers_of_every_type(save, dtype, shape, make):
    array = array_of(dtype, shape)
    tensor = make(array)
    initializers = [numpy_helper.from_array(np.array(3), "d"), tensor]
    path = save(initializers=initializers, outputs=[info("w", tensor.data_type, shape)])
    result = run_model(path, INPUTS)["w"]
    assert result.dtype == array.dtype
    assert np.array_equal(result, array)


def test_large_strings_and_constants(save):
    texts = np.array([f"wörd {i}" for i in range(2000)], object)
    big = array_of(np.float32, LARGE)
    nodes = [
        one_hot(),
        helper.make_node("Constant", [], ["first"], value_int=1),
        helper.make_node("Constant", [], ["big"], value=numpy_helper.from_array(big)),
    ]
    path = save(
        nodes,
        initializers=[numpy_helper.from_array(np.array(3), "d"), numpy_helper.from_array(texts, "texts")],
        outputs=[info("texts", TensorProto.STRING, [2000]), info("big", TensorProto.FLOAT, LARGE)],
    )
    result = run_model(path, INPUTS)
    assert result["texts"].tolist() == texts.tolist()
    assert np.array_equal(result["big"], big)


def external(tmp_path, location="weights.bin", **entries):
    tensor = TensorProto(name="d", data_type=TensorProto.INT64, data_location=TensorProto.EXTERNAL)
    (tmp_path / "weights.bin").write_bytes(bytes(8) + np.int64(3).tobytes())
    for key, value in {"location": location, "offset": "8", "length": "8", **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def test_external_data(save, tmp_path):
    assert run_model(save(initializers=[external(tmp_path)]), INPUTS)["o"].shape == (3, 3)


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ({"location": "../weights.bin"}, "expected external data in a file next to the model|cannot be read"),
        ({"location": "nowhere.bin"}, "cannot be read: No such file"),
        ({"location": "."}, "expected external data in a file next to the model"),
        ({"offset": "16"}, "does not have 8 bytes from byte 16 on"),
        ({"offset": "-8"}, "does not have 8 bytes from byte -8 on"),
        ({"length": "4"}, "does not have 8 bytes"),
        ({"offset": "x"}, "cannot be read: invalid literal"),
    ],
)
def test_external_data_that_cannot_be_read(save, tmp_path, entries, complaint):
    with pytest.raises(InputError, match=f"initializer 'd': .*({complaint})"):
        run_model(save(initializers=[external(tmp_path, **entries)]), INPUTS)


def test_an_absolute_location_is_rejected(save, tmp_path):
    neighbour = tmp_path.parent / "elsewhere.bin"
    neighbour.write_bytes(bytes(16))
    with pytest.raises(InputError, match="expected external data in a file next to the model"):
        run_model(save(initializers=[external(tmp_path, location=str(neighbour))]), INPUTS)


def test_initializer_is_the_default_of_an_input(save):
    inputs = [info("i"), info("v", TensorProto.FLOAT, [2]), info("d", TensorProto.INT64, [])]
    path = save(inputs=inputs)
    assert run_model(path, INPUTS)["o"].shape == (3, 3)
    assert run_model(path, {**INPUTS, "d": 5})["o"].shape == (3, 5)


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"i": INPUTS["i"]}, "no array for the input 'v'"),
        ({**INPUTS, "x": 1}, "the model has no input 'x'; expected 'i', 'v'"),
        ({**INPUTS, "i": [[0]]}, r"input 'i': has the shape \[1, 1\], but \['N'\] is declared"),
        ({**INPUTS, "v": np.array([1, 2, 3], "f4")}, r"input 'v': has the shape \[3\], but \[2\] is declared"),
        ({**INPUTS, "v": np.array([1, 2], "f8")}, "input 'v': expected elements of type float32, found float64"),
        ({**INPUTS, "i": np.ma.MaskedArray([1], mask=[True])}, r"input 'i': has undefined \(masked\) elements"),
    ],
)
def test_unusable_inputs(save, arrays, complaint):
    with pytest.raises(InputError, match=complaint):
        run_model(save(), arrays)


def test_symbol_has_the_same_size_in_all_inputs(save):
    inputs = [info("i"), info("v", TensorProto.FLOAT, ["N"])]
    path = save(inputs=inputs)
    assert run_model(path, {"i": [0, 1], "v": np.array([1, 2], "f4")})["o"].shape == (2, 3)
    with pytest.raises(InputError, match=r"input 'v': .*\[2\].* but N is 3 in 'i'"):
        run_model(path, INPUTS)
    path = save(outputs=[info("o", TensorProto.FLOAT, ["N", "N"])])
    outputs = run_model(path, {**INPUTS, "i": [0, 1]})
    assert outputs["o"].shape == (2, 3)
    assert list(outputs.notes) == ["output o has the shape [2, 3] where ['N', 'N'] is declared, but N is 2 in 'i'"]


def test_outputs_are_checked_against_their_declaration(save):
    with pytest.raises(InputError, match="output 'o': is computed as FLOAT, but INT64 is declared"):
        run_model(save(outputs=[info("o", TensorProto.INT64, None)]), INPUTS)
    notes: list[str] = []
    for shape in ([3, 4], [3], [3, -1]):
        outputs = run_model(save(outputs=[info("o", TensorProto.FLOAT, shape)]), INPUTS)
        notes += outputs.notes
        assert outputs["o"].shape == (3, 3)
    assert notes[:2] == [f"output o has the shape [3, 3], but {shape} is declared" for shape in ([3, 4], [3])]
    assert [note.partition(" has ")[2] for note in notes[2:]] == ["a size below 0; such sizes are treated as unknown"]
    with pytest.raises(InputError, match="output 'q': is not computed by any node"):
        run_model(save(outputs=[info("q", TensorProto.FLOAT, None)]), INPUTS)


def mix(save):
    """Return the path of a model of OneHot, Einsum and Softsign."""
    nodes = [
        one_hot(axis=1),
        helper.make_node("Einsum", ["o", "o"], ["p"], name="product", equation="ij,jk->ik"),
        helper.make_node("Softsign", ["p"], ["q"]),
    ]
    return save(nodes, outputs=[info("q", TensorProto.FLOAT, ["N", "N"]), info("o", TensorProto.FLOAT, None)])


def test_mixed_model_does_not_require_onnx(save, monkeypatch):
    path = mix(save)
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = run_model(path, INPUTS)
    hot = np.array([[2, 1, 1], [1, 1, 2], [1, 1, 1]], "f4")
    assert result["o"].tolist() == hot.tolist()
    assert np.allclose(result["q"], hot @ hot / (1 + hot @ hot))


def test_node_is_executed_at_the_opset_of_its_model(save):
    """At opset 10 negative indices are ignored; from 11 on they count from the end."""
    nodes = [one_hot(), helper.make_node("Softsign", ["o"], ["q"])]
    outputs = [info("o", TensorProto.FLOAT, None), info("q", TensorProto.FLOAT, None)]
    assert run_model(save(nodes, outputs=outputs, opset=10), INPUTS)["o"].tolist()[1] == [1, 1, 1]


def test_different_nodes_share_no_results(save):
    """Shared results do not reach a node with another attribute, type, shape or version."""
    zeros = [helper.make_node("Elu", ["v"], ["o"], alpha=alpha) for alpha in (0.0, -0.0)]
    arrays_by_name, output = {**INPUTS, "v": np.array([-1, 1], "f4")}, [info("o", TensorProto.FLOAT, None)]
    items = [run_model(save([node], outputs=output), arrays_by_name)["o"] for node in (*zeros, *zeros)]
    assert [np.signbit(each).tolist() for each in items] == [[True, False], [False, False]] * 2
    node, array = helper.make_node("Softmax", ["v"], ["o"]), np.zeros((1, 2, 2), "f4")
    inputs = [info("v", TensorProto.FLOAT, array.shape)]
    for opset, each in ((12, 0.25), (13, 0.5)) * 2:  # of all elements after the first dimension; of the last one
        path = save([node], inputs=inputs, outputs=output, initializers=[], opset=opset)
        assert run_model(path, {"v": array})["o"].reshape(-1).tolist() == [each] * 4


def test_inputs_and_outputs_of_a_mixed_model_are_checked(save):
    with pytest.raises(InputError, match="no array for the input 'v'"):
        run_model(mix(save), {"i": INPUTS["i"]})
    with pytest.raises(InputError, match=r"input 'v': has the shape \[3\], but \[2\] is declared"):
        run_model(mix(save), {**INPUTS, "v": np.zeros(3, "f4")})
    node = helper.make_node("Softsign", ["v"], ["o"])
    notes: list[str] = []
    path = save([node], outputs=[info("o", TensorProto.FLOAT, [4])])
    assert specgate.execute(path, INPUTS, on_note=notes.append)["o"].shape == (2,)
    assert notes == ["output o has the shape [2], but [4] is declared"]


def test_sizes_below_zero_are_unknown_and_are_reported_once(save):
    both = {"inputs": [info("i", shape=[-1]), info("v", TensorProto.FLOAT, [-2])]}
    for _ in range(2):  # models share valid text, but not malformed text
        path = save(**both, outputs=[info("o", TensorProto.FLOAT, [-1, 3])])
        outputs = run_model(path, INPUTS)
        assert outputs["o"].shape == (3, 3)
        assert len(outputs.notes) == 1
        assert "graph.input[0]" in outputs.notes[0]
        report = specgate.lint(path, "onnx:17")
        assert [finding.id for finding in report.findings if finding.id.startswith("onnx/model")] == [
            "onnx/model/size-negative"
        ]
        assert specgate.place(path, "onnxruntime:1.24.4")
        assert not specgate.lint(path, "onnx:17", pins={"i[0]": 3, "v[0]": 2}).undecided


def test_unsupported_node_gives_a_single_message(save):
    nodes = [helper.make_node("Einsum", ["i", "v"], ["o"], equation="i,i->i")]
    with pytest.raises(InputError, match=r"node\[0\] Einsum: "):
        run_model(save(nodes), INPUTS)
    broken = [one_hot(axis=5), helper.make_node("Softsign", ["o"], ["q"])]
    with pytest.raises(InputError, match="one_hot: axis 5 is out of range"):
        run_model(save(broken), INPUTS)
    custom = [one_hot(), helper.make_node("Gelu", ["o"], ["p"], domain="com.own")]
    with pytest.raises(InputError, match=r"node\[1\] Gelu: the model imports no opset of the domain 'com.own'"):
        run_model(save(custom), {})
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.own", 1)]
    with pytest.raises(NoTable, match=r"^node\[1\] Gelu: onnx has no table for 'com\.own\.Gelu'"):
        run_model(save(custom, imports=imports), INPUTS)


def test_error_names_the_unsupported_node(tmp_path):
    """Scaler has a kernel, and Gradient does not."""
    domain = "ai.onnx.preview.training"
    nodes = [
        helper.make_node("Scaler", ["x"], ["s"], domain="ai.onnx.ml", offset=[0.0, 0.0], scale=[1.0, 1.0]),
        helper.make_node("Gradient", ["s"], ["y"], domain=domain, xs=["s"], y="s"),
    ]
    ends = [info("x", TensorProto.FLOAT, [1, 2])], [info("y", TensorProto.FLOAT, [1, 2])]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid(domain, 1)]
    path = tmp_path / "gradient.onnx"
    model = helper.make_model(helper.make_graph(nodes, "g", *ends), opset_imports=imports, ir_version=8)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(
        NoKernel, match=r"^node\[1\] Gradient: onnx ai\.onnx\.preview\.training\.Gradient is not implemented"
    ):
        run_model(str(path), {"x": np.ones((1, 2), np.float32)})


@pytest.mark.parametrize(
    ("operator", "centred"), [("LayerNormalization", True), ("SimplifiedLayerNormalization", False)]
)
def test_runtime_operators_in_the_onnx_domain_at_older_opsets(tmp_path, operator, centred):
    """Its optimizer writes these operators; check still rejects them in ai.onnx."""
    nodes = [helper.make_node(operator, ["x", "s"], ["y"], epsilon=0.0)]
    ends = (
        [info("x", TensorProto.FLOAT, [2, 4]), info("s", TensorProto.FLOAT, [4])],
        [info("y", TensorProto.FLOAT, [2, 4])],
    )
    imports = [helper.make_opsetid("", 13)]
    model = helper.make_model(helper.make_graph(nodes, "g", *ends), opset_imports=imports, ir_version=7)
    path = tmp_path / "normal.onnx"
    path.write_bytes(model.SerializeToString())
    x = np.array([[1, 2, 3, 6], [0, 4, 0, 4]], np.float32)
    result = run_model(str(path), {"x": x, "s": np.full(4, 2, np.float32)})["y"]
    middle = x - x.mean(1, keepdims=True) * centred
    np.testing.assert_allclose(result, 2 * middle / np.sqrt((middle**2).mean(1, keepdims=True)), rtol=1e-6)
    assert any(finding.severity == "error" for finding in specgate.lint(path, ["onnx:13"]).findings)


def test_functions_and_subgraphs(save):
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    inside = [
        helper.make_node("Constant", [], ["three"], value_int=3),
        helper.make_node("OneHot", ["x", "three", "w"], ["y"]),
    ]
    inside[1].attribute.append(onnx.AttributeProto(name="axis", ref_attr_name="where", type=onnx.AttributeProto.INT))
    function = helper.make_function("own", "Mine", ["x", "w"], ["y"], inside, imports[:1], ["where"])
    node = helper.make_node("Mine", ["i", "v"], ["o"], domain="own", name="call", where=0)
    result = run_model(save([node], functions=[function], imports=imports), INPUTS)
    assert result["o"].tolist() == [[2, 1, 1], [1, 1, 1], [1, 2, 1]]
    branches = [
        helper.make_graph([helper.make_node("Identity", [name], ["b"])], "branch", [], [info("b", TensorProto.FLOAT)])
        for name in ("v", "w")
    ]
    nodes = [
        helper.make_node("Neg", ["v"], ["w"]),
        helper.make_node("If", ["c"], ["o"], then_branch=branches[0], else_branch=branches[1]),
    ]
    path = save(nodes, inputs=[info("c", TensorProto.BOOL, []), info("v", TensorProto.FLOAT, [2])])
    assert run_model(path, {"c": np.array(False), "v": INPUTS["v"]})["o"].tolist() == [-1, -2]


@pytest.mark.parametrize(
    ("nodes", "complaint"),
    [
        ([one_hot(("i", "d", "nothing"))], "node 'hot': reads 'nothing', which is not an input"),
        ([one_hot(output="v")], "node 'hot': computes 'v', which already exists"),
        ([one_hot(axis=1.0)], "node 'hot': axis is 1.0, but it is stored as float, and int is expected"),
        ([one_hot(axes=1)], "node 'hot': OneHot does not have an attribute 'axes'"),
        ([one_hot(("i", "d"))], "node 'hot': values is required"),
        ([one_hot(("i", "d", "v", "v"))], "node 'hot': has 4 inputs, but accepts at most 3 at this level"),
        ([one_hot(("", "d", "v"))], "node 'hot': indices is required"),
        ([one_hot(axis=5)], "node 'hot': one_hot: axis 5 is out of range"),
    ],
)
def test_nodes_that_cannot_be_executed(save, nodes, complaint):
    with pytest.raises(InputError, match=complaint):
        run_model(save(nodes), INPUTS)


def test_undefined_elements_are_masked_and_rejected_by_the_next_node(save):
    inputs = [info("i", TensorProto.DOUBLE), info("v", TensorProto.FLOAT, [2])]
    arrays = {"i": np.array([np.nan, 1]), "v": INPUTS["v"]}
    result = run_model(save(inputs=inputs), arrays)["o"]
    assert np.ma.getmaskarray(result).tolist() == [[True] * 3, [False] * 3]
    with pytest.raises(InputError, match="node 'next': reads 'o', which has undefined elements"):
        run_model(save([one_hot(), one_hot(("o", "d", "v"), "p", name="next")], inputs=inputs), arrays)


def test_memory_is_bounded(save):
    path = save(initializers=[numpy_helper.from_array(np.array(10**9), "d")])
    with pytest.raises(InputError, match=r"node 'hot': the output of shape .* more than the limit"):
        run_model(path, INPUTS)
    path = save(initializers=[numpy_helper.from_array(np.array(3), "d")])
    with pytest.raises(InputError, match="the set of live values needs 32 bytes, more than the limit of 7"):
        run_model(path, INPUTS, budget=budget_of(7))
    large = [numpy_helper.from_array(np.zeros((1000, 3)), "d")]
    with pytest.raises(InputError, match="node 'hot': initializer 'd': a tensor needs 24000 bytes, but only 7000"):
        run_model(save(initializers=large), INPUTS, budget=budget_of(7000))


def least(path, arrays):
    """Return the memory that a model needs, by bisection."""
    low, high = 0, 2**31
    while high - low > 1:
        middle = (low + high) // 2
        try:
            run_model(path, arrays, budget=budget_of(middle))
            high = middle
        except InputError:
            low = middle
    return high


def test_only_live_values_count_toward_the_memory_limit(save):
    """Three outputs of 36, 108 and 324 bytes; the differences are exact to the byte."""
    chain = [one_hot(), one_hot(("o", "d", "v"), "p"), one_hot(("p", "d", "v"), "q")]
    outputs = [info("q", TensorProto.FLOAT, None)]
    dropped = least(save(chain, outputs=outputs), INPUTS)
    kept = least(save(chain, outputs=[*outputs, info("o", TensorProto.FLOAT, None)]), INPUTS)
    assert kept - dropped == 9 * 4
    unread = [numpy_helper.from_array(np.array(3), "d"), numpy_helper.from_array(np.zeros(100), "unread")]
    assert least(save(chain, outputs=outputs, initializers=unread), INPUTS) - dropped in range(8)  # of all at the start


@pytest.mark.parametrize(
    ("tensor", "complaint"),
    [
        (TensorProto(name="d", data_type=7, dims=[2], raw_data=bytes(8)), r"sizes \[2\] holds 1 elements"),
        (TensorProto(name="d", data_type=7, dims=[1], raw_data=bytes(9)), "9 bytes of raw data are not a whole number"),
        (TensorProto(name="d", data_type=7, dims=[1]), "expected a tensor with raw_data or int64_data"),
        (TensorProto(name="d", data_type=7, dims=[-1], raw_data=bytes(8)), r"a tensor of INT64 and sizes \[-1\]"),
        (TensorProto(name="d", data_type=99, dims=[1], raw_data=bytes(8)), r"a tensor of DataType\(99\)"),
        (
            TensorProto(name="d", data_type=7, dims=[1], string_data=[b"1"]),
            "expected a tensor with raw_data or int64_data",
        ),
        (
            TensorProto(name="d", data_type=14, dims=[1], float_data=[1.0]),
            "1 numbers of float_data, expected 1 elements of complex64",
        ),
        (TensorProto(name="d", data_type=8, dims=[1], string_data=[b"\xff"]), "expected UTF-8 in a tensor of strings"),
        (TensorProto(name="d", data_type=8, dims=[1], raw_data=b"a"), "1 bytes of raw data are not a whole number"),
        (TensorProto(name="d", data_type=7, dims=[2**62], raw_data=bytes(8)), "but only"),
        (TensorProto(name="d", data_type=7, dims=[1] * 65, raw_data=bytes(8)), "a tensor of 65 dimensions"),
        (TensorProto(name="d", data_type=7, dims=[0, 2**62, 4]), "a tensor of 3 dimensions"),
    ],
)
def test_broken_initializers(save, tensor, complaint):
    with pytest.raises(InputError, match=f"model.onnx: node 'hot': initializer 'd': .*{complaint}"):
        run_model(save(initializers=[tensor]), INPUTS)


def test_types_missing_from_numpy(save):
    path = save(inputs=[info("i", TensorProto.FLOAT8E5M2), info("v", TensorProto.FLOAT, [2])])
    with pytest.raises(InputError, match="input 'i': expected elements of type float8_e5m2, found int64"):
        run_model(path, INPUTS)
    with pytest.raises(InputError, match="node 'hot': indices: is FLOAT8E5M2, which no version of OneHot supports"):
        run_model(path, {**INPUTS, "i": np.zeros(2, ml_dtypes.float8_e5m2)})


def test_an_empty_tensor_without_data(save):
    empty = numpy_helper.from_array(np.zeros((0, 2), np.float32), "w")
    initializers = [numpy_helper.from_array(np.array(3), "d"), empty]
    assert run_model(save(initializers=initializers, outputs=[info("w", 1, [0, 2])]), INPUTS)["w"].shape == (0, 2)


def test_types_that_require_ml_dtypes(save):
    nodes = [
        helper.make_node("Abs", ["v"], ["a"]),
        helper.make_node("Cast", ["a"], ["f"], to=TensorProto.FLOAT8E4M3FN),
        helper.make_node("IsNaN", ["f"], ["o"]),
    ]
    outputs = [info("o", TensorProto.BOOL, [2]), info("f", TensorProto.FLOAT8E4M3FN, [2])]
    path = save(nodes, opset=20, inputs=[info("v", TensorProto.FLOAT, [2])], outputs=outputs)
    result = run_model(path, {"v": INPUTS["v"]})
    assert result["o"].tolist() == [False, False]
    assert result["f"].dtype == ml_dtypes.float8_e4m3fn
