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
    made = graph([node(operator, names, **attributes)], infos, [output or info("y", None)], initializers)
    return model(made, opsets=[("", opset)])


def placed(made, target=DML, **more):
    (found,) = specgate.place(made, target, **more)
    return found


def test_a_placement_is_a_sequence_of_its_nodes():
    found = specgate.place(chain("x", "a", "y"), DML)
    assert len(found) == 2
    assert [(one.node, one.operator, one.version, one.provider, one.why) for one in found] == [
        ("graph/Relu->a", "Relu", 14, "DirectML", ""),
        ("graph/Relu->y", "Relu", 14, "DirectML", ""),
    ]
    assert (found.session, found.counts, found.other_provider_nodes) == ("created", {"DirectML": 2}, [])
    assert [(p.number, p.provider, p.place, p.nodes) for p in found.partitions] == [
        (1, "DirectML", "graph", ("graph/Relu->a", "graph/Relu->y"))
    ]


def test_a_registration_without_an_end_holds_for_its_own_version_alone():
    conv = [info("x", [1, 3, 8, 8]), info("w", [2, 3, 3, 3])]
    assert placed(one("Conv", *conv, opset=21)).provider == "DirectML"
    newer = placed(one("Conv", *conv, opset=22))
    assert (newer.provider, newer.reason, newer.creation) == ("CPU", "newer", "created")
    assert newer.why == "Conv-22, but DirectML has versions 1, 11"
    older = placed(one("Relu", info("x"), opset=5))
    assert (older.provider, older.reason) == (None, "older")


def test_the_fix_is_the_newest_opset_that_moves_the_most():
    conv = [info("x", [1, 3, 8, 8]), info("w", [2, 3, 3, 3])]
    assert specgate.place(one("Conv", *conv, opset=23), DML).fixes == [
        "export at opset 21, which places 1 of 1 nodes on DirectML"
    ]
    assert specgate.place(one("Conv", *conv, opset=21), DML).fixes == []
    assert specgate.place(one("Conv", *conv, opset=22), CPU).fixes == []


def test_no_opset_is_proposed_at_which_a_node_cannot_be():
    small = [helper.make_tensor("axes", INT64, [1], [0])]
    reduced = one("ReduceSum", info("x", [2, 3]), "axes", initializers=small, opset=13)
    assert placed(reduced).provider == "DirectML"
    swish = graph([node("Swish", ["x"], "s"), node("Round", ["s"])], [info("x")], ["y"])
    assert specgate.place(model(swish, opsets=[("", 24)], ir=10), DML).fixes == []  # there is no Swish before 24


def test_types_decide():
    found = placed(one("Relu", info("x", kind=DOUBLE)))
    assert (found.provider, found.reason) == ("CPU", "type")
    assert found.why == "T is DOUBLE, but DirectML supports Relu only for FLOAT, FLOAT16, INT16, INT32, INT8"


def test_float16_without_a_kernel_runs_between_casts():
    half = [info("x", [1, 3, 8, 8], FLOAT16), info("w", [2, 3, 3, 3], FLOAT16)]
    found = placed(one("Conv", *half, opset=22))
    assert (found.provider, found.casts) == ("CPU", True)
    assert found.why.endswith("; it runs in FLOAT, between Casts that the runtime inserts")


def test_float16_without_any_kernel_is_left_to_the_cpu():
    half = [info("x", [1, 3, 8, 8], FLOAT16), info("rois", [1, 5], FLOAT16)]
    placement = specgate.place(one("MaxRoiPool", *half, opset=22, pooled_shape=[2, 2]), DML)
    (found,) = placement
    assert (found.provider, found.casts, found.has_kernel, found.creation) == ("CPU", False, False, "fails")
    assert placement.session == "fails"


def test_support_queries_decide():
    image, scales = info("x", [1, 1, 4, 4]), helper.make_tensor("s", FLOAT, [4], [1, 1, 2, 2])
    for mode, provider, reason in (("linear", "DirectML", ""), ("cubic", "CPU", "query")):
        resized = graph([helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)], [image], ["y"], [scales])
        found = placed(model(resized, opsets=[("", 13)]))
        assert (found.provider, found.reason) == (provider, reason)
    assert "DirectML accepts Resize-13 only if" in found.why


def test_queries_see_outputs_that_no_type_is_stated_of():
    for outputs, provider in ((["y"], "DirectML"), (["y", "mean"], "CPU")):
        made = helper.make_node("LayerNormalization", ["x", "s"], outputs, name="n")
        assert placed(model(graph([made], [info("x", [2, 3]), info("s", [3])], [info("y", None)]))).provider == provider


def test_the_device_decides():
    double = one("Identity", info("x", kind=DOUBLE))
    assert placed(double).provider == placed(double, device="all").provider == "DirectML"
    lacking = placed(double, device="none")
    assert (lacking.provider, lacking.reason) == ("CPU", "device")
    assert lacking.why == ("a tensor is DOUBLE, which requires a device with DoublePrecisionFloatShaderOps")
    assert specgate.place(double, DML, device="none").device == frozenset()


def test_a_kernel_may_need_more_of_the_device_than_its_types():
    grid = one("GridSample", info("x", [1, 1, 4, 4], FLOAT16), info("g", [1, 2, 2, 2], FLOAT16), opset=16)
    assert placed(grid, device="Native16BitShaderOps").provider == "DirectML"
    typed = placed(grid, device="TypedUAVLoadAdditionalFormats")
    assert (typed.provider, typed.reason) == ("CPU", "device")
    assert typed.why.startswith("its kernel for FLOAT16 requires a device with Native16BitShaderOps")
    plain = one("GridSample", info("x", [1, 1, 4, 4]), info("g", [1, 2, 2, 2]), opset=16)
    assert placed(plain, device="none").provider == "DirectML"


def test_the_level_below_decides_types_and_creation():
    nibbles = one("DequantizeLinear", info("x", [2, 3], UINT4), info("s", []), opset=21)
    assert placed(nibbles).provider == "DirectML"
    early = placed(nibbles, f"{DML}@5.0")
    assert (early.provider, early.reason) == ("CPU", "device")
    assert "UINT4, which DirectML at feature level 5.0 does not have" in early.why


def test_a_node_without_any_kernel_fails_the_session():
    made = model(graph([helper.make_node("Foo", ["x"], ["a"], domain="acme", name="foo"), relu("a", "y")]),
                 opsets=[("", 17), ("acme", 1)])  # fmt: skip
    found = specgate.place(made, DML)
    foo, after = found
    assert (foo.provider, foo.reason, foo.creation) == (None, "unregistered", "fails")
    assert foo.why == "no kernel of acme.Foo is registered for DirectML; no kernel of acme.Foo is registered for CPU"
    assert found.session == "fails"
    assert found.counts == {None: 1, "DirectML": 1}
    assert (after.open, after.creation) == ("the type of T is unknown", "unknown")


def test_placed_but_refused():
    found = placed(one("MatMul", info("x", [2, 2, 2, 2, 3]), info("w", [2, 2, 2, 3, 4])))
    assert (found.provider, found.creation) == ("DirectML", "fails")
    assert found.created_by.startswith(
        "placed, but CreateOperator rejects GEMM: ATensor has rank 5, which is not supported"
    )
    assert [one.operator for one in found.lowered] == ["GEMM"]
    assert found.findings


def test_a_lower_level_refuses_more():
    made = one("DequantizeLinear", info("x", [2, 3], onnx.TensorProto.INT8), info("s", []), opset=21)
    assert placed(made).creation == "created"
    early = placed(made, f"{DML}@5.0")
    assert (early.provider, early.creation) == ("DirectML", "fails")
    assert "placed, but CreateOperator rejects DEQUANTIZE" in early.created_by


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (["N", 3], "the sizes of its input X depend on N"),
        (None, "the sizes of its input X are unknown"),
    ],
)
def test_sizes_that_are_not_known_defer_the_kernel(shape, said):
    found = placed(one("Relu", info("x", shape)))
    assert (found.creation, found.created_by, found.lowered) == ("deferred", said, None)


def test_pins_give_sizes():
    assert placed(one("Relu", info("x", ["N", 3])), pins={"N": 2}).creation == "created"


def test_constants_that_are_missing_defer_the_kernel():
    to = helper.make_tensor("to", INT64, [1], [6])
    assert placed(one("Reshape", info("x", [2, 3]), "to", initializers=[to])).creation == "created"
    computed = placed(one("Reshape", info("x", [2, 3]), info("to", [1], INT64)))
    assert (computed.creation, computed.created_by) == ("deferred", "its input shape is not a constant")
    left_out = placed(one("Clip", info("x", [2, 3])))
    assert left_out.created_by == "its input min is missing, and a missing input does not count as a constant"


def test_an_initializer_that_is_an_input_too_is_no_constant():
    to = helper.make_tensor("to", INT64, [1], [6])
    made = one("Reshape", info("x", [2, 3]), info("to", [1], INT64), initializers=[to])
    assert placed(made).creation == "deferred"


def test_the_cpu_alone():
    found = specgate.place(chain("x", "y"), CPU)
    assert (found.providers, found.partitions, found.session) == (("CPU",), [], "created")
    assert found.nodes[0].provider == "CPU"


def test_newer_models_than_the_release_loads():
    found = specgate.place(model(graph([relu("x", "y")]), opsets=[("", 26)], ir=14), DML)
    assert found.refusals == [
        "the model imports version 26 of ai.onnx; the release loads those up to 25",
        "the model has IR version 14; the release reads those up to 13",
    ]
    assert found.session == "fails"
    assert found.nodes[0].provider == "DirectML"


def test_a_node_that_is_not_what_onnx_takes_is_refused_and_the_rest_is_placed():
    found = specgate.place(model(graph([relu("x", "a", name="a", beta=1.0), relu("a", "y", name="y")])), DML)
    assert [(one.provider, one.creation, one.refused) for one in found] == [
        ("DirectML", "fails", True), ("DirectML", "created", False),
    ]  # fmt: skip
    assert found.session == "fails"


def test_a_type_that_the_file_states_wrongly_is_refused():
    found = placed(one("Relu", info("x"), output=info("y", [2], DOUBLE)))
    assert (found.creation, found.refused) == ("fails", True)


@pytest.mark.parametrize("shape", [[3], [2, 3], [7, 7, 7]])
def test_a_shape_that_the_file_states_wrongly_is_not(shape):
    found = placed(one("Relu", info("x"), output=info("y", shape)))
    assert (found.creation, found.refused) == ("created", False)
    assert [made.fields["OutputTensor"].sizes for made in found.lowered or ()] == [(1, 1, 1, 2)]


def test_a_release_whose_cpu_is_unknown_takes_the_rest_for_granted():
    found = placed(one("Det", info("x", [2, 2])), "onnxruntime-directml:1.13.1@5.0")
    assert (found.provider, found.open) == ("CPU", "the kernels of CPU in this release are unknown")


def test_what_is_no_model_and_what_places_nothing():
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
    made = one("MatMul", info("x", [2, 2, 2, 2, 3]), info("w", [2, 2, 2, 3, 4]))
    found = json.loads(json.dumps(specgate.place(made, DML, device="none").to_dict()))
    assert found["schema"] == "specgate-placement/1"
    assert (found["target"], found["session"], found["optimisations"], found["device"]) == (DML, "fails", "off", [])
    assert found["counts"] == {"DirectML": 1}
    (only,) = found["nodes"]
    assert only["lowered"][0]["type"] == "DML_OPERATOR_GEMM"
    assert (only["creation"], only["partition"]) == ("fails", 1)
    assert found["partitions"] == [{"number": 1, "provider": "DirectML", "place": "graph", "nodes": ["graph/y"]}]


def branching(kind):
    """A model with an If both of whose branches read `s` of the given type, which no input of the If is."""
    branches = [
        helper.make_graph([helper.make_node("Size", ["s"], [name])], name, [], [info(name, [], INT64)])
        for name in ("n", "m")
    ]
    held = helper.make_node("If", ["c"], ["y"], name="if", then_branch=branches[0], else_branch=branches[1])
    inputs = [info("c", [], onnx.TensorProto.BOOL), info("s", [2], kind)]
    return model(graph([held], inputs, [info("y", [], INT64)]), opsets=[("", 16)])


@pytest.mark.parametrize(
    ("kind", "device", "provider"),
    [
        (FLOAT, None, "DirectML"), (FLOAT, "none", "DirectML"), (onnx.TensorProto.STRING, None, "CPU"),
        (DOUBLE, None, "DirectML"), (DOUBLE, "none", "CPU"), (FLOAT16, None, "DirectML"), (FLOAT16, "none", "CPU"),
    ],
)  # fmt: skip
def test_the_device_must_have_the_types_that_bodies_read(kind, device, provider):
    found = next(iter(specgate.place(branching(kind), DML, device=device)))
    assert (found.operator, found.provider) == ("If", provider)
    assert found.why.startswith("a tensor that its subgraphs read is ") == (provider == "CPU")
