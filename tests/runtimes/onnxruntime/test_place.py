"""`specgate.place` on small models, with the registrations of real releases."""

from __future__ import annotations

import json

import pytest

import specgate
from specgate.errors import InputError
from tests.linting.models import FLOAT, INT64, chain, graph, helper, info, model, onnx, relu

DML, CPU = "onnxruntime-directml:1.24.4", "onnxruntime:1.24.4"
FLOAT16, DOUBLE, UINT4 = onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE, onnx.TensorProto.UINT4


def node(operator, inputs, output="y", **more):
    return helper.make_node(operator, inputs, [output], name=output, **more)


def one(operator, *inputs, opset=17, output=None, initializers=(), **attributes):
    """A model of one node y; inputs as value infos, or names of initializers."""
    names = [item if isinstance(item, str) else item.name for item in inputs]
    infos = [item for item in inputs if not isinstance(item, str)]
    new_graph = graph([node(operator, names, **attributes)], infos, [output or info("y", None)], initializers)
    return model(new_graph, opsets=[("", opset)])


def place_model(onnx_model, target=DML, **more):
    (result,) = specgate.place(onnx_model, target, **more)
    return result


def test_a_placement_is_a_sequence_of_its_nodes():
    placement = specgate.place(chain("x", "a", "y"), DML)
    assert len(placement) == 2
    assert [(item.node, item.operator, item.version, item.provider, item.why) for item in placement] == [
        ("graph/Relu->a", "Relu", 14, "DirectML", ""),
        ("graph/Relu->y", "Relu", 14, "DirectML", ""),
    ]
    assert (placement.session, placement.counts, placement.other_provider_nodes) == ("created", {"DirectML": 2}, [])
    assert [(p.number, p.provider, p.place, p.nodes) for p in placement.partitions] == [
        (1, "DirectML", "graph", ("graph/Relu->a", "graph/Relu->y"))
    ]


def test_an_open_registration_applies_to_its_version_only():
    conv = [info("x", [1, 3, 8, 8]), info("w", [2, 3, 3, 3])]
    assert place_model(one("Conv", *conv, opset=21)).provider == "DirectML"
    newer = place_model(one("Conv", *conv, opset=22))
    assert (newer.provider, newer.reason, newer.creation) == ("CPU", "newer", "created")
    assert newer.why == "Conv-22, but DirectML has versions 1, 11"
    older = place_model(one("Relu", info("x"), opset=5))
    assert (older.provider, older.reason) == (None, "older")


def test_the_fix_is_the_newest_opset_that_moves_the_most():
    conv = [info("x", [1, 3, 8, 8]), info("w", [2, 3, 3, 3])]
    assert specgate.place(one("Conv", *conv, opset=23), DML).fixes == [
        "export at opset 21, which places 1 of 1 nodes on DirectML"
    ]
    assert specgate.place(one("Conv", *conv, opset=21), DML).fixes == []
    assert specgate.place(one("Conv", *conv, opset=22), CPU).fixes == []


def test_proposed_opsets_support_every_node():
    small = [helper.make_tensor("axes", INT64, [1], [0])]
    reduced = one("ReduceSum", info("x", [2, 3]), "axes", initializers=small, opset=13)
    assert place_model(reduced).provider == "DirectML"
    swish = graph([node("Swish", ["x"], "s"), node("Round", ["s"])], [info("x")], ["y"])
    assert specgate.place(model(swish, opsets=[("", 24)], ir=10), DML).fixes == []  # Swish exists from 24 on


def test_types_decide():
    result = place_model(one("Relu", info("x", kind=DOUBLE)))
    assert (result.provider, result.reason) == ("CPU", "type")
    assert result.why == "T is DOUBLE, but DirectML supports Relu only for FLOAT, FLOAT16, INT16, INT32, INT8"


def test_float16_without_a_kernel_runs_between_casts():
    half = [info("x", [1, 3, 8, 8], FLOAT16), info("w", [2, 3, 3, 3], FLOAT16)]
    result = place_model(one("Conv", *half, opset=22))
    assert (result.provider, result.casts) == ("CPU", True)
    assert result.why.endswith("; it runs in FLOAT, between Casts that the runtime inserts")


def test_float16_without_any_kernel_is_placed_on_the_cpu():
    half = [info("x", [1, 3, 8, 8], FLOAT16), info("rois", [1, 5], FLOAT16)]
    placement = specgate.place(one("MaxRoiPool", *half, opset=22, pooled_shape=[2, 2]), DML)
    (result,) = placement
    assert (result.provider, result.casts, result.has_kernel, result.creation) == ("CPU", False, False, "fails")
    assert placement.session == "fails"


def test_support_queries_decide():
    image, scales = info("x", [1, 1, 4, 4]), helper.make_tensor("s", FLOAT, [4], [1, 1, 2, 2])
    for mode, provider, reason in (("linear", "DirectML", ""), ("cubic", "CPU", "query")):
        resized = graph([helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)], [image], ["y"], [scales])
        result = place_model(model(resized, opsets=[("", 13)]))
        assert (result.provider, result.reason) == (provider, reason)
    assert "DirectML accepts Resize-13 only if" in result.why


def test_queries_see_untyped_outputs():
    for outputs, provider in ((["y"], "DirectML"), (["y", "mean"], "CPU")):
        new_node = helper.make_node("LayerNormalization", ["x", "s"], outputs, name="n")
        assert (
            place_model(model(graph([new_node], [info("x", [2, 3]), info("s", [3])], [info("y", None)]))).provider
            == provider
        )


def test_the_device_decides():
    double = one("Identity", info("x", kind=DOUBLE))
    assert place_model(double).provider == place_model(double, device="all").provider == "DirectML"
    lacking = place_model(double, device="none")
    assert (lacking.provider, lacking.reason) == ("CPU", "device")
    assert lacking.why == ("a tensor is DOUBLE, which requires a device with DoublePrecisionFloatShaderOps")
    assert specgate.place(double, DML, device="none").device == frozenset()


def test_a_kernel_may_require_extra_device_capabilities():
    grid = one("GridSample", info("x", [1, 1, 4, 4], FLOAT16), info("g", [1, 2, 2, 2], FLOAT16), opset=16)
    assert place_model(grid, device="Native16BitShaderOps").provider == "DirectML"
    typed = place_model(grid, device="TypedUAVLoadAdditionalFormats")
    assert (typed.provider, typed.reason) == ("CPU", "device")
    assert typed.why.startswith("its kernel for FLOAT16 requires a device with Native16BitShaderOps")
    plain = one("GridSample", info("x", [1, 1, 4, 4]), info("g", [1, 2, 2, 2]), opset=16)
    assert place_model(plain, device="none").provider == "DirectML"


def test_the_level_below_decides_types_and_creation():
    nibbles = one("DequantizeLinear", info("x", [2, 3], UINT4), info("s", []), opset=21)
    assert place_model(nibbles).provider == "DirectML"
    early = place_model(nibbles, f"{DML}@5.0")
    assert (early.provider, early.reason) == ("CPU", "device")
    assert "UINT4, which DirectML at feature level 5.0 does not have" in early.why


def test_a_node_without_any_kernel_fails_the_session():
    new_model = model(graph([helper.make_node("Foo", ["x"], ["a"], domain="acme", name="foo"), relu("a", "y")]),
                 opsets=[("", 17), ("acme", 1)])  # fmt: skip
    placement = specgate.place(new_model, DML)
    foo, after = placement
    assert (foo.provider, foo.reason, foo.creation) == (None, "unregistered", "fails")
    assert foo.why == "no kernel of acme.Foo is registered for DirectML; no kernel of acme.Foo is registered for CPU"
    assert placement.session == "fails"
    assert placement.counts == {None: 1, "DirectML": 1}
    assert (after.open, after.creation) == ("the type of T is unknown", "unknown")


def test_placed_but_rejected():
    result = place_model(one("MatMul", info("x", [2, 2, 2, 2, 3]), info("w", [2, 2, 2, 3, 4])))
    assert (result.provider, result.creation) == ("DirectML", "fails")
    assert result.created_by.startswith(
        "placed, but CreateOperator rejects GEMM: ATensor has rank 5, which is not supported"
    )
    assert [item.operator for item in result.lowered] == ["GEMM"]
    assert result.findings


def test_a_lower_level_rejects_more():
    onnx_model = one("DequantizeLinear", info("x", [2, 3], onnx.TensorProto.INT8), info("s", []), opset=21)
    assert place_model(onnx_model).creation == "created"
    early = place_model(onnx_model, f"{DML}@5.0")
    assert (early.provider, early.creation) == ("DirectML", "fails")
    assert "placed, but CreateOperator rejects DEQUANTIZE" in early.created_by


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (["N", 3], "the sizes of its input X depend on N"),
        (None, "the sizes of its input X are unknown"),
    ],
)
def test_unknown_sizes_defer_the_kernel(shape, message):
    result = place_model(one("Relu", info("x", shape)))
    assert (result.creation, result.created_by, result.lowered) == ("deferred", message, None)


def test_pins_give_sizes():
    assert place_model(one("Relu", info("x", ["N", 3])), pins={"N": 2}).creation == "created"


def test_missing_constants_defer_the_kernel():
    to = helper.make_tensor("to", INT64, [1], [6])
    assert place_model(one("Reshape", info("x", [2, 3]), "to", initializers=[to])).creation == "created"
    computed = place_model(one("Reshape", info("x", [2, 3]), info("to", [1], INT64)))
    assert (computed.creation, computed.created_by) == ("deferred", "its input shape is not a constant")
    left_out = place_model(one("Clip", info("x", [2, 3])))
    assert left_out.created_by == "its input min is missing, and a missing input does not count as a constant"


def test_an_overridable_initializer_is_not_a_constant():
    to = helper.make_tensor("to", INT64, [1], [6])
    onnx_model = one("Reshape", info("x", [2, 3]), info("to", [1], INT64), initializers=[to])
    assert place_model(onnx_model).creation == "deferred"


def test_a_cpu_only_target():
    placement = specgate.place(chain("x", "y"), CPU)
    assert (placement.providers, placement.partitions, placement.session) == (("CPU",), [], "created")
    assert placement.nodes[0].provider == "CPU"


def test_newer_models_than_the_release_loads():
    placement = specgate.place(model(graph([relu("x", "y")]), opsets=[("", 26)], ir=14), DML)
    assert placement.refusals == [
        "the model imports version 26 of ai.onnx; the release loads those up to 25",
        "the model has IR version 14; the release reads those up to 13",
    ]
    assert placement.session == "fails"
    assert placement.nodes[0].provider == "DirectML"


def test_an_invalid_node_is_rejected_and_others_are_placed():
    placement = specgate.place(model(graph([relu("x", "a", name="a", beta=1.0), relu("a", "y", name="y")])), DML)
    assert [(item.provider, item.creation, item.refused) for item in placement] == [
        ("DirectML", "fails", True), ("DirectML", "created", False),
    ]  # fmt: skip
    assert placement.session == "fails"


def test_a_type_that_the_file_states_wrongly_is_rejected():
    result = place_model(one("Relu", info("x"), output=info("y", [2], DOUBLE)))
    assert (result.creation, result.refused) == ("fails", True)


@pytest.mark.parametrize("shape", [[3], [2, 3], [7, 7, 7]])
def test_a_shape_that_the_file_states_wrongly_is_not(shape):
    result = place_model(one("Relu", info("x"), output=info("y", shape)))
    assert (result.creation, result.refused) == ("created", False)
    assert [onnx_model.fields["OutputTensor"].sizes for onnx_model in result.lowered or ()] == [(1, 1, 1, 2)]


def test_a_release_with_unknown_cpu_kernels_leaves_nodes_open():
    result = place_model(one("Det", info("x", [2, 2])), "onnxruntime-directml:1.13.1@5.0")
    assert (result.provider, result.open) == ("CPU", "the kernels of CPU in this release are unknown")


def test_missing_models_and_targets_without_placement():
    with pytest.raises(InputError, match="onnx:17 does not place nodes; use a runtime release"):
        specgate.place(chain("x", "y"), "onnx:17")
    with pytest.raises(InputError):
        specgate.place("missing.onnx", DML)


def test_only_onnx_models_are_placed(tmp_path):
    path = tmp_path / "d.json"
    path.write_text('{"op_type": "Relu", "inputs": [{"elem_type": "FLOAT", "shape": [2]}]}')
    with pytest.raises(InputError, match="only ONNX models can be placed"):
        specgate.place(str(path), DML)


def test_a_placement_as_plain_data():
    onnx_model = one("MatMul", info("x", [2, 2, 2, 2, 3]), info("w", [2, 2, 2, 3, 4]))
    document = json.loads(json.dumps(specgate.place(onnx_model, DML, device="none").to_dict()))
    assert document["schema"] == "specgate-placement/1"
    assert (document["target"], document["session"], document["optimisations"], document["device"]) == (
        DML,
        "fails",
        "off",
        [],
    )
    assert document["counts"] == {"DirectML": 1}
    (only,) = document["nodes"]
    assert only["lowered"][0]["type"] == "DML_OPERATOR_GEMM"
    assert (only["creation"], only["partition"]) == ("fails", 1)
    assert document["partitions"] == [{"number": 1, "provider": "DirectML", "place": "graph", "nodes": ["graph/y"]}]


def branching(kind):
    """A model with an If whose branches read `s` of the given type from outside."""
    branches = [
        helper.make_graph([helper.make_node("Size", ["s"], [name])], name, [], [info(name, [], INT64)])
        for name in ("n", "m")
    ]
    value = helper.make_node("If", ["c"], ["y"], name="if", then_branch=branches[0], else_branch=branches[1])
    inputs = [info("c", [], onnx.TensorProto.BOOL), info("s", [2], kind)]
    return model(graph([value], inputs, [info("y", [], INT64)]), opsets=[("", 16)])


@pytest.mark.parametrize(
    ("kind", "device", "provider"),
    [
        (FLOAT, None, "DirectML"), (FLOAT, "none", "DirectML"), (onnx.TensorProto.STRING, None, "CPU"),
        (DOUBLE, None, "DirectML"), (DOUBLE, "none", "CPU"), (FLOAT16, None, "DirectML"), (FLOAT16, "none", "CPU"),
    ],
)  # fmt: skip
def test_the_device_must_support_types_read_by_subgraphs(kind, device, provider):
    result = next(iter(specgate.place(branching(kind), DML, device=device)))
    assert (result.operator, result.provider) == ("If", provider)
    assert result.why.startswith("a tensor that its subgraphs read is ") == (provider == "CPU")
