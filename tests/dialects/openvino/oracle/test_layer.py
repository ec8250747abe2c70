"""Layers sent to OpenVINO, and those that cannot be expressed; without OpenVINO."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from specgate.descriptors.core import Descriptor, Malformed
from specgate.dialects.openvino.oracle.layer import Layer, NotExpressibleError, ir_of, layer_of
from specgate.dialects.openvino.oracle.values import blobs_of, narrowing_reason
from specgate.dialects.openvino.reader import read


def reject(descriptor, level="opset1"):
    with pytest.raises(NotExpressibleError) as caught:
        layer_of(descriptor, level)
    return str(caught.value)


def test_a_layer(openvino_one_hot):
    openvino_one_hot["inputs"][0] |= {"shape": [-1, "N", 4]}
    openvino_one_hot["inputs"][2] |= {"element_type": None, "shape": None}
    layer = layer_of(read(openvino_one_hot), "opset16")
    assert (layer.kind, layer.version, layer.data, layer.ports) == ("OneHot", "opset1", {"axis": -1}, 1)
    assert layer.inputs[0] == ("i64", "I64", (None, None, 4), None)
    assert layer.inputs[1] == ("i64", "I64", (), (3,))
    assert layer.inputs[2] == (None, "UNSPECIFIED", None, None)


def test_ir_of_a_layer(openvino_one_hot):
    openvino_one_hot["inputs"][0] |= {"shape": [-1, 4]}
    openvino_one_hot["inputs"][3] |= {"shape": None}
    openvino_one_hot["data"] |= {"a": [1, 2], "b": True, "c": 0.5, "d": '"<\n'}
    layer = layer_of(read(openvino_one_hot), "opset1")
    xml, weights = ir_of(layer, [b"12345678", b"abc", None, None])
    net = ET.fromstring(xml)
    data = [element.attrib for element in net.iterfind("layers/layer/data")]
    assert data[0] == {"element_type": "i64", "shape": "?,4", "offset": "0", "size": "8"}
    assert data[1] == {"element_type": "i64", "shape": "", "offset": "64", "size": "3"}
    assert [d["shape"] for d in data[2:4]] == ["", "..."]
    assert data[4] == {"axis": "-1", "a": "1,2", "b": "true", "c": "0.5", "d": '"<\n'}
    assert (weights[:8], weights[64:]) == (b"12345678", b"abc")
    node = net.findall("layers/layer")[4]
    assert (node.get("type"), node.get("version")) == ("OneHot", "opset1")
    assert [dim.text for dim in node.iterfind("output/port/dim")] == ["4", "3"]
    assert len(net.findall("edges/edge")) == 5


@pytest.mark.parametrize("value", [{}, None, [[1]], "\0", "\ud800"])
def test_attributes_without_a_string_form(value, openvino_one_hot):
    layer = layer_of(read(openvino_one_hot), "opset1")
    with pytest.raises(NotExpressibleError, match="an IR cannot express the attribute 'axis'"):
        ir_of(layer._replace(data={"axis": value}), [None] * 4)


def test_attribute_name_that_xml_does_not_allow():
    with pytest.raises(NotExpressibleError, match="'a b' is not a valid XML attribute name"):
        ir_of(Layer("ReLU", "opset1", (), (), 1, {"a b": 1}), [])


def test_input_omitted_before_another(openvino_one_hot):
    openvino_one_hot["inputs"][1] = None
    assert "cannot omit an input" in reject(read(openvino_one_hot))


def test_a_layer_of_a_later_opset(openvino_one_hot):
    openvino_one_hot["version"] = "opset16"
    assert "cannot be limited to opset1" in reject(read(openvino_one_hot))
    assert layer_of(read(openvino_one_hot), "opset16").version == "opset16"


def test_too_many_inputs(openvino_one_hot):
    openvino_one_hot["inputs"].append(openvino_one_hot["inputs"][0])
    assert "does not contain the others" in reject(read(openvino_one_hot))


def test_hand_made_descriptors_are_rejected(openvino_one_hot):
    good = read(openvino_one_hot)
    cycle: list = []
    cycle.append(cycle)
    assert "no table for" in reject(replace(good, operator="Nope"))
    assert "a descriptor of onnx" in reject(Descriptor("onnx", "OneHot", {}))
    assert "is not a tensor" in reject(replace(good, fields={"indices": 3}))
    assert "the attribute 'x' is" in reject(replace(good, oddities=(Malformed("unknown-attribute", "x", "", cycle),)))
    assert "the attribute 'x' is" in reject(replace(good, oddities=(Malformed("unknown-attribute", "x", "", 9**99),)))
    indices = good.fields["indices"]
    assert "not an element type" in reject(replace(good, fields={"indices": indices._replace(type="int")}))
    for size in (-1, 2**63 - 1, 2**80):
        message = reject(replace(good, fields={"indices": indices._replace(sizes=(size,))}))
        assert "sizes are from 0 to 2**63 - 2" in message


@pytest.mark.parametrize(
    ("kind", "shape", "value", "reason"),
    [
        (None, [], 3, "needs its type and sizes"),
        ("i64", None, 3, "needs its type and sizes"),
        ("i64", [-1], [3], "needs its type and sizes"),
        ("i64", [2], [3], "does not have 1 elements"),
        ("i8", [], 128, "a constant of i8 cannot hold 128"),
        ("u4", [], -1, "a constant of u4 cannot hold -1"),
        ("i64", [], 1.5, "a constant of i64 cannot hold 1.5"),
        ("f32", [], "x", "a constant of f32 cannot hold 'x'"),
        ("boolean", [], 2, "a constant of boolean cannot hold 2"),
        ("string", [], 2, "a constant of string cannot hold 2"),
        ("string", [], "a\0", "a constant of string cannot hold"),
    ],
)
def test_invalid_constants_are_rejected(kind, shape, value, reason, openvino_one_hot):
    openvino_one_hot["inputs"][2] = {"element_type": kind, "shape": shape, "value": value}
    assert reason in reject(read(openvino_one_hot))


def arrays(**changes):
    return {"indices": np.array([0, 3, 1, 2]), "on_value": np.array(1), "off_value": np.array(2)} | changes


def test_arrays(openvino_one_hot):
    blobs = blobs_of(read(openvino_one_hot), arrays())
    assert [blob.type for blob in blobs] == ["i64"] * 4
    assert [blob.shape for blob in blobs] == [(4,), (), (), ()]
    assert blobs[1].data == np.int64(3).tobytes()
    assert blobs_of(read(openvino_one_hot), arrays(depth=np.array(3))) == blobs


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"indices": None}, "missing array for indices"),
        ({"indices": np.array([0.0] * 4)}, "expected elements of type int64, found float64"),
        ({"indices": np.array([0] * 5)}, "indices is declared as (4,), the array has [5]"),
        ({"depth": np.array(4)}, "depth is a constant of the descriptor, but the array differs from it"),
        ({"axis": np.array(4)}, "'axis' is not an input of OneHot"),
    ],
)
def test_mismatched_arrays_are_rejected(changes, reason, openvino_one_hot):
    with pytest.raises(NotExpressibleError) as caught:
        blobs_of(read(openvino_one_hot), arrays(**changes))
    assert reason in str(caught.value)


@pytest.mark.parametrize("kind", ["u6", "nf4", None])
def test_types_without_arrays(kind, openvino_one_hot):
    openvino_one_hot["inputs"][2]["element_type"] = kind
    with pytest.raises(NotExpressibleError, match=r"numpy|unknown"):
        blobs_of(read(openvino_one_hot), arrays())


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("i64", 2**31 - 1, True),
        ("i64", 2**31, False),
        ("i64", -(2**31) - 1, False),
        ("u32", 2**31, False),
        ("u64", 2**31 - 1, True),
        ("i32", -(2**31), True),
        ("f64", 0.5, True),
        ("f64", float("nan"), True),
        ("f64", 0.1, False),
        ("f64", 1e300, False),
        ("f64", float("-inf"), False),
        ("f32", float("inf"), True),
    ],
)
def test_values_narrowed_by_the_plugin(kind, value, fits, openvino_one_hot):
    for port in openvino_one_hot["inputs"][2:]:
        port["element_type"] = kind
    dtype = {"i64": "int64", "u32": "uint32", "u64": "uint64", "i32": "int32", "f64": "float64", "f32": "float32"}[kind]
    value = np.array(value, dtype)
    reason = narrowing_reason(blobs_of(read(openvino_one_hot), arrays(on_value=value, off_value=value)))
    assert (not reason) == fits
    assert fits or f"narrows {kind} to " in reason


def test_importing_the_module_loads_neither_openvino_nor_numpy():
    code = (
        "import sys, specgate.dialects.openvino.oracle.oracle; sys.exit(bool({'openvino', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_referenced_weight_bytes_are_zeros():
    layer = Layer("Const", "opset1", (), (), 1, {"element_type": "f32", "shape": [2], "offset": 4, "size": 8})
    xml, weights = ir_of(layer, [])
    assert weights == bytes(12)
    assert b'shape="2" offset="4" size="8"' in xml
    with pytest.raises(NotExpressibleError, match="its bytes would end at 1099511627780"):
        ir_of(layer._replace(data={"offset": 4, "size": 2**40}), [])


def test_documents_are_padded_for_readers_of_older_releases():
    xml, _ = ir_of(Layer("Parameter", "opset1", (), (), 1, {"element_type": "f32", "shape": []}), [])
    assert len(xml) >= 512
    assert xml.endswith(b" </net>")  # text after the root is ignored


def test_assign_gets_a_read_value_of_its_variable():
    state = {"element_type": "f32", "shape": [-1, 4]}
    descriptor = read({"type": "Assign", "version": "opset6", "inputs": [state], "data": {"variable_id": "v"}})
    xml = ET.fromstring(ir_of(layer_of(descriptor, "opset6"), [None])[0])
    kinds = {layer.get("id"): layer.get("type") for layer in xml.iter("layer")}
    edges = {(kinds[edge.get("from-layer")], kinds[edge.get("to-layer")]) for edge in xml.iter("edge")}
    assert edges == {("Parameter", "ReadValue"), ("ReadValue", "Assign"), ("Assign", "Result")}
    data = {layer.get("type"): dict(element.attrib) for layer in xml.iter("layer") for element in layer.iter("data")}
    assert data["ReadValue"] == {"variable_id": "v", "variable_type": "f32", "variable_shape": "?,4"}
    nameless = read({"type": "Assign", "version": "opset6", "inputs": [state]})
    assert b"variable_id" not in ir_of(layer_of(nameless, "opset6"), [None])[0]


END = {"element_type": "f32", "shape": [2]}
GOES_ON = {"element_type": "boolean", "shape": []}


def map_all(kind, version, inputs, outputs, **bodies):
    """Return the port maps of a layer's IR, and its text.

    A port map is (input or output, outer number, type of the inner layer).
    """
    descriptor = read({"type": kind, "version": version, "inputs": inputs, "outputs": outputs, "data": bodies})
    text = ir_of(layer_of(descriptor, version), [None] * len(inputs))[0]
    xml = next(layer for layer in ET.fromstring(text).iter("layer") if layer.get("type") == kind)
    kinds = {each.get("id"): each.get("type") for each in xml.iter("layer")}
    entries = [e for e in xml.iter() if e.tag in {"input", "output"} and e.get("external_port_id")]
    return [(e.tag, int(e.attrib["external_port_id"]), kinds[e.get("internal_layer_id")]) for e in entries], text


def test_body_inputs_and_outputs_are_mapped_in_order():
    body = {"inputs": [END], "outputs": [END]}
    entries, text = map_all("If", "opset8", [GOES_ON, END], [END], then_body=body, else_body=body)
    assert entries == [("input", 1, "Parameter"), ("output", 2, "Result")] * 2
    assert text.count(b"<then_port_map>") == text.count(b"<else_port_map>") == 1


def test_loop_has_a_condition_and_a_repeated_result():
    body = {"inputs": [END], "outputs": [END, GOES_ON]}
    count = {"element_type": "i64", "shape": []}
    entries, text = map_all("Loop", "opset5", [count, GOES_ON, END], [END, END], body=body)
    assert entries == [
        ("input", 2, "Parameter"), ("output", -1, "Result"), ("output", 3, "Result"), ("output", 4, "Result"),
    ]  # fmt: skip
    assert b'purpose="execution_condition"' in text


def test_unsupported_bodies_are_rejected():
    body = {"inputs": [END], "outputs": [END]}
    with pytest.raises(NotExpressibleError, match="has fewer inputs than the layer passes"):
        map_all("TensorIterator", "opset1", [END, END], [END], body=body)
    with pytest.raises(NotExpressibleError, match="the reader drops layers without outputs"):
        map_all("TensorIterator", "opset1", [END], [], body=body)
