"""onnx.NodeProto to descriptors and back."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specgate
from specgate.descriptors.core import Descriptor, tensor
from specgate.descriptors.read import read_dict
from specgate.dialects.onnx.protos import from_node_proto
from specgate.errors import InputError, NoTable
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from tests.paths import ROOT

onnx = pytest.importorskip("onnx", reason="THE NODEPROTO TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
from tests.dialects.onnx.node_protos import constant_protos, to_node_proto  # noqa: E402

helper, TensorProto = onnx.helper, onnx.TensorProto
NODE = helper.make_node("OneHot", ["i", "d", "v"], ["o"], name="hot", axis=0)
INFOS = {
    "i": helper.make_tensor_value_info("i", TensorProto.INT64, [2, "N", None]),
    "d": helper.make_tensor("d", TensorProto.INT64, [], [4]),
    "v": helper.make_tensor_type_proto(TensorProto.FLOAT, None),
}


def test_node_with_types():
    descriptor = from_node_proto((NODE, INFOS), opset=17)
    assert descriptor == Descriptor(
        "onnx",
        "OneHot",
        {
            "indices": tensor("INT64", [2, "N", None]),
            "depth": tensor("INT64", [], value=[4]),
            "values": tensor("FLOAT", None),
            "axis": 0,
        },
        "17",
        name="hot",
    )


def test_a_node_without_types():
    descriptor = from_node_proto(NODE)
    assert descriptor.version is None
    assert descriptor.fields["indices"] == tensor(None, None)
    assert "output" not in descriptor.fields
    assert specgate.check(NODE, "onnx:17").accepted is None


def test_check_accepts_nodes_and_pairs():
    infos = {
        name: helper.make_tensor_value_info(name, kind, shape)
        for name, kind, shape in [
            ("i", TensorProto.INT64, [3]),
            ("d", TensorProto.INT64, []),
            ("v", TensorProto.FLOAT, [2]),
            ("o", TensorProto.FLOAT, [4, 3]),
        ]
    }
    pair = (NODE, {**infos, "d": INFOS["d"]})
    assert specgate.check(pair, "onnx:17").accepted
    wrong = (NODE, {**pair[1], "o": helper.make_tensor_value_info("o", TensorProto.INT64, [4, 3])})
    assert [finding.id for finding in specgate.check(wrong, "onnx:17").findings] == ["onnx/OneHot/T3.same-type"]


#: Protos that are not converted: ValueInfoProtos of sequences, maps and optionals, and sparse tensors.
NO_PROTO = ("seq(", "map(", "optional(", "sparse_value")
EXAMPLES = [
    (operator, name)
    for operator in dialect("onnx").operators
    for name, example in dialect("onnx").operator(operator).table.examples.items()
    if not any(word in str(example["descriptor"]) for word in NO_PROTO)
]


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "name"), EXAMPLES)
def test_examples_become_valid_nodes_and_round_trip(operator, name):
    spec = dialect("onnx").operator(operator)
    example = spec.table.examples[name]
    level = levels_of_example(spec, example)[-1]
    descriptor = read_dict({**example["descriptor"], "opset": int(level)})
    node, infos = to_node_proto(descriptor)
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = 13, {spec.dialect.domain: int(level)}
    if not any(
        attribute.HasField("g") for attribute in node.attribute
    ):  # a description of a graph does not contain nodes
        onnx.checker.check_node(node, context)
    assert all(isinstance(info, onnx.ValueInfoProto) for info in infos.values())
    result = from_node_proto((node, {**infos, **constant_protos(descriptor)}), descriptor.version)
    assert (set(result.fields), result.version, result.oddities) == (set(descriptor.fields), descriptor.version, ())
    for field, stated in descriptor.fields.items():
        kept, expected = result.fields[field], stated
        if getattr(expected, "value", None) is not None:
            words = expected.type == "STRING"
            near = expected.value if words else pytest.approx(expected.value, rel=1e-7)
            assert kept.value == near, "a FLOAT keeps 24 bits"
            kept, expected = kept._replace(value=None), expected._replace(value=None)
        assert kept == expected


sizes = st.none() | st.lists(st.integers(0, 9) | st.sampled_from(["N", "M"]) | st.none(), max_size=4)
tensors = st.builds(tensor, st.sampled_from([None, "INT64", "FLOAT", "BFLOAT16", "STRING", "UINT2"]), sizes)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["indices", "depth", "values", "output"]), tensors),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.text("abc", min_size=1),
)
def test_round_trip(tensors, axis, name):
    fields = {**tensors, **({} if axis is None else {"axis": axis})}
    descriptor = Descriptor("onnx", "OneHot", fields, "17", name=name)
    node, infos = to_node_proto(descriptor)
    assert onnx.NodeProto.FromString(node.SerializeToString()) == node
    assert from_node_proto((node, infos), 17) == descriptor


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("FLOAT", [1.5, float("inf")]),
        ("INT64", [-(2**63), 7]),
        ("UINT64", [2**64 - 1, 0]),
        ("BOOL", [True, False]),
        ("DOUBLE", [0.1, -2.0]),
        ("COMPLEX64", [1 + 2j, 0j]),
        ("FLOAT16", [0.5, -2.0]),
    ],
)
def test_constants_round_trip(kind, values):
    fields = {"indices": tensor("INT64", [1]), "depth": tensor("INT64", []), "values": tensor(kind, [2], value=values)}
    descriptor = Descriptor("onnx", "OneHot", fields, "17")
    node, infos = to_node_proto(descriptor)
    result = from_node_proto((node, {**infos, **constant_protos(descriptor)}), 17)
    assert result.fields["values"].value == tuple(values)
    assert from_node_proto((node, infos), 17).fields["values"].value is None


def test_attributes_of_wrong_kind_are_oddities():
    node = helper.make_node("OneHot", ["i", "d", "v"], ["o"], axis=1.5, beta="x", gammas=[1, 2])
    descriptor = from_node_proto(node)
    assert [(o.code, o.where, o.value) for o in descriptor.oddities] == [
        ("wrong-kind", "axis", 1.5),
        ("unknown-attribute", "beta", b"x"),
        ("unknown-attribute", "gammas", [1, 2]),
    ]
    round_trip = from_node_proto(to_node_proto(descriptor)[0])
    assert [o.value for o in round_trip.oddities] == [o.value for o in descriptor.oddities]


def test_custom_domains_are_named():
    with pytest.raises(NoTable, match=r"onnx has no table for 'com\.example\.Own'"):
        from_node_proto(helper.make_node("Own", [], [], domain="com.example"))
    assert from_node_proto(helper.make_node("OneHot", ["i"], ["o"], domain="ai.onnx")).operator == "OneHot"


def test_non_tensor_types_are_written_like_in_schemas():
    element = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
    sequence = helper.make_sequence_type_proto(element)
    types = {
        "seq(tensor(float))": sequence,
        "optional(seq(tensor(float)))": helper.make_optional_type_proto(sequence),
        "map(string, float)": helper.make_map_type_proto(TensorProto.STRING, element),
        "sparse_tensor(float)": helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [1]),
    }
    for spelt, proto in types.items():
        descriptor = from_node_proto((helper.make_node("Identity", ["x"], ["y"]), {"x": proto}))
        assert (descriptor.fields["input"].type, descriptor.fields["input"].sizes) == (spelt, None)


def opaque():
    proto = onnx.TypeProto()
    proto.opaque_type.name = "x"
    return proto


OPAQUE = opaque()


@pytest.mark.parametrize(
    ("node", "complaint"),
    [
        ((NODE,), "expected a pair"),
        ((NODE, [1]), "expected a pair"),
        (17, "expected an onnx.NodeProto, found int"),
        ((NODE, {"i": 17}), "i: expected an onnx.ValueInfoProto, found int"),
        ((NODE, {"i": OPAQUE}), "i: is an opaque type, which no operator accepts"),
        ((NODE, {"d": TensorProto(name="d", data_type=7, dims=[3], raw_data=b"x")}), "the tensor cannot be read"),
    ],
)
def test_invalid_nodes_are_rejected(node, complaint):
    with pytest.raises(InputError, match=complaint):
        from_node_proto(node)


def test_sequence_is_a_separate_type():
    kind = helper.make_value_info("i", helper.make_sequence_type_proto(INFOS["v"]))
    verdict = specgate.check((NODE, {**INFOS, "i": kind}), "onnx:17")
    assert [finding.id for finding in verdict.findings] == ["onnx/OneHot/indices.type"]
    assert "seq(tensor(float))" in verdict.findings[0].message


def test_unknown_type_number_is_a_finding():
    verdict = specgate.check((NODE, {**INFOS, "i": helper.make_tensor_type_proto(99, [1])}), "onnx:17")
    assert [finding.id for finding in verdict.findings] == ["onnx/OneHot/indices.unknown-word"]


def test_reading_does_not_import_onnx():
    code = (
        "import sys, types\n"
        "from specgate.dialects.onnx.protos import from_node_proto\n"
        "node = types.SimpleNamespace(op_type='OneHot', domain='', name='', input=['i'], output=['o'], attribute=[])\n"
        "assert from_node_proto(node).operator == 'OneHot'\n"
        "assert not {'onnx', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_values_are_plain_python():
    descriptor = from_node_proto((NODE, {"v": onnx.numpy_helper.from_array(np.array([1, 2], "f4"), "v")}))
    assert [type(value) for value in descriptor.fields["values"].value] == [float, float]
