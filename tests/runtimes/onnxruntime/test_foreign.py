"""Contrib nodes that a release rejects when loading, as measured."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import graph, helper, info, model, onnx

UINT8, DOUBLE = onnx.TensorProto.UINT8, onnx.TensorProto.DOUBLE
OLD, NEW = "1.16.3", "1.31.1"
MATRIX = [info("a", [2, 3]), info("b", [3, 4])]
#: Inputs of MatMulNBits: the first three, zero points, g_idx and a bias, which only newer releases have.
BITS = [
    info("a", [3, 32]), info("b", [6, 1, 16], UINT8), info("s", [6]), info("z", [6], UINT8),
    info("g", [32], onnx.TensorProto.INT32), info("c", [6]),
]  # fmt: skip


def one(operator, inputs, *, outputs=("y",), **attributes):
    """A model of one com.microsoft node; None omits an input."""
    names = ["" if each is None else each.name for each in inputs]
    node = helper.make_node(operator, names, list(outputs), name="n", domain="com.microsoft", **attributes)
    infos = [each for each in inputs if each is not None]
    value = graph([node], infos, [onnx.ValueInfoProto(name=name) for name in outputs if name])
    return model(value, opsets=[("", 17), ("com.microsoft", 1)])


def session(onnx_model, release=NEW, package="onnxruntime"):
    """Return whether a session is created, regardless of its first run."""
    placement = specgate.place(onnx_model, f"{package}:{release}")
    early = placement.refusals or any(node.fails and not node.at_run for node in placement)
    return "fails" if early else "created"


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "expected"),
    [
        ("FusedMatMul", MATRIX, {}, "created"),
        ("FusedMatMul", [MATRIX[0], None], {}, "fails"),
        ("FusedMatMul", MATRIX, {"unknown": 1}, "fails"),
        ("FusedMatMul", MATRIX, {"alpha": "x"}, "fails"),
        ("FusedMatMul", [MATRIX[0], info("b", [3, 4], DOUBLE)], {}, "fails"),
        ("FusedMatMul", [info("a", [2, 3], UINT8), info("b", [3, 4], UINT8)], {}, "fails"),
    ],
)
@pytest.mark.parametrize("release", [OLD, NEW])
def test_contrib_schemas_are_checked(operator, inputs, attributes, expected, release):
    assert session(one(operator, inputs, **attributes), release) == expected


def test_inputs_of_newer_schemas_only():
    numbers_by_name = {"N": 6, "K": 32, "block_size": 32, "bits": 4}
    assert [session(one("MatMulNBits", BITS[:4], **numbers_by_name), release) for release in (OLD, NEW)] == [
        "created"
    ] * 2
    assert [session(one("MatMulNBits", BITS, **numbers_by_name), release) for release in (OLD, NEW)] == [
        "fails",
        "created",
    ]
    del numbers_by_name["bits"]  # it has had a default since 1.23
    assert [session(one("MatMulNBits", BITS[:3], **numbers_by_name), release) for release in (OLD, NEW)] == [
        "fails",
        "created",
    ]
    heads = [info(name, [2, 3, 8]) for name in "qkv"]
    onnx_model = one("MultiHeadAttention", heads, num_heads=2, unidirectional=1)
    assert [session(onnx_model, release) for release in (OLD, NEW)] == ["fails", "created"]


def test_rules_checked_before_a_run_and_at_the_run():
    wrong = one("FusedMatMul", [info("a", [2, 3]), info("b", [5, 4])])
    assert [session(wrong, release) for release in (OLD, NEW)] == ["fails"] * 2
    later = one("BiasGelu", [info("a", [2, 3]), info("b", [4])])  # the kernel checks the bias when it runs
    for release in (OLD, NEW):
        (node,) = specgate.place(later, f"onnxruntime:{release}")
        assert (node.creation, node.at_run) == ("fails", True)


def test_rules_checked_from_a_release_on():
    onnx_model = one("NhwcMaxPool", [info("x", [1, 7, 9, 4], UINT8)], kernel_shape=[3, 3], pads=[1, 1, 1, -1])
    assert [session(onnx_model, release) for release in ("1.27.0", "1.28.0")] == ["created", "fails"]
    half = one("MatMulNBits", BITS[:3], N=6, K=32, block_size=24, bits=8)
    assert [session(half, release) for release in ("1.24.4", "1.26.0", "1.27.0")] == ["created", "created", "fails"]


def test_cpu_kernel_checks_do_not_apply_to_directml():
    heads = [info(name, [2, 3, 8]) for name in "qkv"]
    onnx_model = one("MultiHeadAttention", heads, num_heads=0)
    placement = specgate.place(onnx_model, "onnxruntime:1.24.4")
    assert (placement.session, [node.refused for node in placement]) == ("fails", [True])
    assert not any(node.refused for node in specgate.place(onnx_model, "onnxruntime-directml:1.24.4"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "created"),
        ({"num_heads": 0}, "fails"),
        ({"x": [4, 4]}, "fails"),
        ({"x": [1, 1, 2, 4]}, "fails"),
        ({"b": [1, 12]}, "fails"),
        ({"b": [11]}, "created"),
        ({"p": [1, 2, 6, 2]}, "created"),
        ({"p": [1, 2, 6, 2], "outputs": ("y", "present")}, "fails"),
        ({"p": [2, 1, 2, 6, 2], "outputs": ("y", "present")}, "created"),
    ],
)
@pytest.mark.parametrize("release", [OLD, NEW])
def test_checks_of_attention_with_packed_weights(arguments, expected, release):
    arguments = {"x": [1, 2, 4], "b": [12], "p": [2, 1, 2, 6, 2], "num_heads": 2, "outputs": ("y",), **arguments}
    x, b, p = (arguments.pop(name) for name in "xbp")
    inputs = [info("x", x), info("w", [4, 12]), info("b", b), None, info("p", p)]
    assert session(one("Attention", inputs, **arguments), release) == expected
    if arguments["num_heads"]:
        inputs[2] = None  # without a bias nothing is asked
        assert session(one("Attention", inputs, **arguments), release) == "created"
        for sizes, same_kind in (([4, 4], "fails"), ([4, 4, 4], expected)):
            inputs[2] = info("b", b)
            assert session(one("Attention", inputs, qkv_hidden_sizes=sizes, **arguments), release) == same_kind
    inputs = [info("x", x, UINT8), info("w", [4, 12], UINT8), info("b", b), info("s", []), info("t", [])]
    assert session(one("QAttention", [*inputs, None, None, None, info("p", p)], **arguments), release) == expected


def test_checks_that_the_tables_do_not_have():
    scales = [info("a", [2], UINT8), info("as", []), info("az", [], UINT8), info("b", [2], UINT8), info("bs", [])]
    rest = [info("bz", [], UINT8), info("cs", []), info("cz", [], UINT8)]
    assert session(one("QLinearAdd", [*scales, *rest])) == "created"
    assert session(one("QLinearAdd", [*scales, *rest[:2]])) == "created"
    assert session(one("QLinearAdd", [*scales, None, *rest[1:]])) == "fails"
    assert session(one("QLinearAdd", [*scales, *rest[:2], info("cz", [1], UINT8)])) == "fails"


def test_an_operator_without_a_table_is_never_rejected():
    onnx_model = one("LongformerAttention", [info("q", [1, 2, 8])], num_heads=1, window=1)
    assert not any(node.refused for node in specgate.place(onnx_model, f"onnxruntime:{NEW}"))
