"""The ONNX reader against the onnx package: equal structures, one kind of error."""

from __future__ import annotations

import math
import os
import random
import re
import struct
import subprocess
import sys
import tracemalloc
import warnings
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.dialects.onnx.file import graph as onnx_graph
from specgate.dialects.onnx.file import schema as onnx_schema
from specgate.dialects.onnx.file import structure, wire
from specgate.dialects.onnx.file import tensors as onnx_tensors
from specgate.dialects.onnx.file.model import MAX_CONSTANT_BYTES, read_model, read_model_bytes
from specgate.dialects.onnx.file.structure import (
    OnnxAttribute,
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxTensor,
    OnnxType,
    OnnxValueInfo,
)
from specgate.errors import InputError

onnx = pytest.importorskip("onnx", reason="the onnx package is the oracle of the ONNX reader")
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

pytestmark = pytest.mark.oracle

# The only files that onnx.load accepts and the reader rejects: files without a graph.
REFUSALS = re.compile(r"expected a model with a graph, found no graph|expected a binary ONNX model, found")
PACKAGED = sorted((Path(onnx.__file__).parent / "backend" / "test" / "data").glob("**/*.onnx"))


# --- the oracle: the same structure from the protobuf classes ---


def escape(result: Any) -> Any:
    """Decode names; those that are not UTF-8 are bytes in protobuf and escaped here."""
    if isinstance(result, bytes):
        return result.decode(errors="backslashreplace")
    if isinstance(result, list | tuple):
        return type(result)(escape(item) for item in result)
    if isinstance(result, dict):
        return {escape(key): escape(value) for key, value in result.items()}
    if isinstance(result, OnnxAttribute | OnnxTensor):
        content = "value" if isinstance(result, OnnxAttribute) else "data"
        data = getattr(result, content)
        inside = isinstance(data, OnnxTensor | OnnxGraph | OnnxType) or (
            isinstance(data, list) and data and not isinstance(data[0], bytes | int | float)
        )
        return replace(escaped_fields(result, content), **{content: escape(data) if inside else data})
    return escaped_fields(result) if is_dataclass(result) else result


def escaped_fields(result: Any, but: str = "") -> Any:
    return replace(result, **{f.name: escape(getattr(result, f.name)) for f in fields(result) if f.name != but})


def expected_model(model: Any, file: str | None = None) -> OnnxModel:
    read: OnnxModel = escape(as_written(model, file))
    return read


def as_written(model: Any, file: str | None) -> OnnxModel:
    return OnnxModel(
        ir_version=model.ir_version if model.HasField("ir_version") else None,
        opset_imports=expected_opsets(model.opset_import),
        producer_name=model.producer_name,
        producer_version=model.producer_version,
        domain=model.domain,
        model_version=model.model_version,
        graph=expected_graph(model.graph),
        functions=[expected_function(function) for function in model.functions],
        training=[
            (expected_graph(item.initialization), expected_graph(item.algorithm)) for item in model.training_info
        ],
        file=file,
    )


def expected_opsets(opsets: Any) -> dict[str, int]:
    return {plain(opset.domain): opset.version for opset in opsets}


def plain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def expected_function(function: Any) -> OnnxFunction:
    return OnnxFunction(
        name=function.name,
        domain=plain(function.domain),
        overload=function.overload,
        inputs=list(function.input),
        outputs=list(function.output),
        attributes=list(function.attribute),
        attribute_protos=[expected_attribute(attribute) for attribute in function.attribute_proto],
        nodes=[expected_node(node) for node in function.node],
        opset_imports=expected_opsets(function.opset_import),
        value_infos=[expected_value_info(info) for info in function.value_info],
    )


def expected_graph(graph: Any) -> OnnxGraph:
    return OnnxGraph(
        name=graph.name,
        nodes=[expected_node(node) for node in graph.node],
        inputs=[expected_value_info(info) for info in graph.input],
        outputs=[expected_value_info(info) for info in graph.output],
        value_infos=[expected_value_info(info) for info in graph.value_info],
        initializers=[expected_tensor(tensor) for tensor in graph.initializer],
        sparse_initializers=[expected_sparse(sparse) for sparse in graph.sparse_initializer],
        quantization=expected_quantization(graph),
    )


def expected_quantization(graph: Any) -> dict[str, dict[str, str]]:
    entries: dict[str, dict[str, str]] = {}
    for item in graph.quantization_annotation:
        pairs = {pair.key: pair.value for pair in item.quant_parameter_tensor_names}
        entries.setdefault(item.tensor_name, {}).update(pairs)
    return entries


def expected_node(node: Any) -> OnnxNode:
    attributes: dict[str, OnnxAttribute] = {}
    duplicates = []
    for attribute in node.attribute:
        if attribute.name in attributes:
            duplicates.append(attribute.name)
        else:
            attributes[attribute.name] = expected_attribute(attribute)
    return OnnxNode(
        name=node.name,
        op_type=node.op_type,
        domain=plain(node.domain),
        overload=node.overload,
        inputs=tuple(node.input),
        outputs=tuple(node.output),
        attributes=attributes,
        duplicates=tuple(duplicates),
    )


def expected_attribute(attribute: Any) -> OnnxAttribute:
    facts = attribute.DESCRIPTOR.fields_by_name
    existing = {field for field in FIELD_OF.values() if facts[field] in dict(attribute.ListFields())}
    kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
    if kind == "UNDEFINED":
        kind = next((name for name, field in FIELD_OF.items() if field in existing), "UNDEFINED")
    value = None
    if kind != "UNDEFINED" and not attribute.ref_attr_name:
        field = FIELD_OF[kind]
        value = getattr(attribute, field)
        convert = CONVERTED.get(kind.removesuffix("S"))
        if facts[field].is_repeated:
            value = [convert(item) if convert else item for item in value]
        elif convert:
            value = convert(value) if field in existing else None
    return OnnxAttribute(name=attribute.name, kind=kind, value=value, ref_attr_name=attribute.ref_attr_name or None)


def expected_value_info(info: Any) -> OnnxValueInfo:
    return OnnxValueInfo(name=info.name, type=expected_type(info.type) if info.HasField("type") else None)


def elem_type(number: int) -> str:
    facts = onnx.TensorProto.DataType
    return str(facts.Name(number)) if number in facts.values() else f"DataType({number})"


def expected_type(proto: Any) -> OnnxType:
    case = proto.WhichOneof("value")
    if case is None:
        return OnnxType()
    content = getattr(proto, case)
    elem: str | None = None
    shape: tuple[Any, ...] | None = None
    inner: OnnxType | None = None
    if case in {"tensor_type", "sparse_tensor_type"}:
        elem = elem_type(content.elem_type) if content.HasField("elem_type") else None
        if content.HasField("shape"):
            sizes = (getattr(dim, dim.WhichOneof("value") or "dim_param") for dim in content.shape.dim)
            shape = tuple(None if isinstance(size, int) and size < 0 else size for size in sizes)
            shape = tuple(None if dim == "" else dim for dim in shape)
    elif case == "map_type":
        elem = elem_type(content.key_type) if content.HasField("key_type") else None
        inner = expected_type(content.value_type) if content.HasField("value_type") else None
    elif case != "opaque_type":
        inner = expected_type(content.elem_type) if content.HasField("elem_type") else None
    return OnnxType(case.removesuffix("_type"), elem, shape, inner)


def expected_tensor(tensor: Any) -> OnnxTensor:
    external = tensor.data_location == onnx.TensorProto.EXTERNAL
    data: Any = None
    if not external and not tensor.HasField("segment"):
        if tensor.HasField("raw_data"):
            data = tensor.raw_data
        elif tensor.data_type in onnx.TensorProto.DataType.values() and tensor.data_type:
            data = list(getattr(tensor, helper.tensor_dtype_to_field(tensor.data_type)))
    return OnnxTensor(
        name=tensor.name,
        elem_type=elem_type(tensor.data_type),
        dims=tuple(tensor.dims),
        location="external" if external else "inline",
        external={entry.key: entry.value for entry in tensor.external_data},
        data=data,
    )


def expected_sparse(sparse: Any) -> OnnxTensor:
    values, indices = expected_tensor(sparse.values), expected_tensor(sparse.indices)
    return replace(values, dims=tuple(sparse.dims), data=None, sparse=(values, indices))


CONVERTED = {
    "TENSOR": expected_tensor,
    "GRAPH": expected_graph,
    "SPARSE_TENSOR": expected_sparse,
    "TYPE_PROTO": expected_type,
}
# The order of onnx.helper.get_attribute_value before attributes had a type; later kinds follow.
FIELD_OF = {
    "FLOAT": "f",
    "INT": "i",
    "STRING": "s",
    "TENSOR": "t",
    "GRAPH": "g",
    "FLOATS": "floats",
    "INTS": "ints",
    "STRINGS": "strings",
    "TENSORS": "tensors",
    "GRAPHS": "graphs",
    "SPARSE_TENSOR": "sparse_tensor",
    "TYPE_PROTO": "tp",
    "SPARSE_TENSORS": "sparse_tensors",
    "TYPE_PROTOS": "type_protos",
}


def check(data: bytes) -> OnnxModel:
    """Read a model and compare with onnx's result by repr; return the model.

    By repr nan equals nan, and 0.0 is not -0.0.
    """
    model = read_model_bytes(data)
    assert repr(model) == repr(expected_model(onnx.load_model_from_string(data)))
    return model


# --- models ---


def model_of(nodes: list[Any], inputs: list[Any] = (), outputs: list[Any] = (), **more: Any) -> Any:  # type: ignore[assignment]
    functions = more.pop("functions", [])
    graph = helper.make_graph(nodes, "main", list(inputs), list(outputs), **more)
    return helper.make_model(graph, functions=functions, opset_imports=[helper.make_opsetid("", 21)])


def attribute_model(*attributes: Any) -> bytes:
    node = onnx.NodeProto(op_type="Op", attribute=attributes)
    return bytes(model_of([node]).SerializeToString())


def only_attribute(data: bytes) -> OnnxAttribute:
    (attribute,) = check(data).graph.nodes[0].attributes.values()
    return attribute


def small_graph(name: str = "sub") -> Any:
    node = helper.make_node("Relu", ["x"], ["y"])
    return helper.make_graph([node], name, [], [helper.make_tensor_value_info("y", 1, None)])


def sparse_tensor() -> Any:
    values = helper.make_tensor("sparse", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("indices", onnx.TensorProto.INT64, [2], [3, 7])
    return helper.make_sparse_tensor(values, indices, [4, 5])


TENSOR = helper.make_tensor("t", onnx.TensorProto.INT64, [3], [1, -2, 3])
ATTRIBUTES = {
    "FLOAT": 0.1,
    "INT": -7,
    "STRING": b"\xff text",
    "TENSOR": TENSOR,
    "GRAPH": small_graph(),
    "SPARSE_TENSOR": sparse_tensor(),
    "TYPE_PROTO": helper.make_tensor_type_proto(1, [1, "N", None]),
    "FLOATS": [0.5, -0.0, math.inf],
    "INTS": [0, 1, -1, 1 << 62],
    "STRINGS": [b"", b"a", b"\xff"],
    "TENSORS": [TENSOR, TENSOR],
    "GRAPHS": [small_graph("a"), small_graph("b")],
    "SPARSE_TENSORS": [sparse_tensor()],
    "TYPE_PROTOS": [helper.make_tensor_type_proto(1, None)],
}


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_every_kind_of_attribute(kind: str) -> None:
    attribute = helper.make_attribute("a", ATTRIBUTES[kind])
    assert onnx.AttributeProto.AttributeType.Name(attribute.type) == kind
    result = only_attribute(attribute_model(attribute))
    assert result.kind == kind
    assert result.value is not None
    attribute.ClearField("type")  # as in models of IR version 1
    assert only_attribute(attribute_model(attribute)) == result


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_attribute_without_a_value(kind: str) -> None:
    number = onnx.AttributeProto.AttributeType.Value(kind)
    result = only_attribute(attribute_model(onnx.AttributeProto(name="a", type=number)))
    defaults = {"FLOAT": 0.0, "INT": 0, "STRING": b""}
    assert result.value == (defaults.get(kind) if kind in defaults or not kind.endswith("S") else [])
    reference = onnx.AttributeProto(name="a", type=number, ref_attr_name="alpha")
    assert only_attribute(attribute_model(reference)) == OnnxAttribute("a", kind, None, "alpha")


def test_attribute_type_selects_the_value() -> None:
    attribute = onnx.AttributeProto(name="a", type=onnx.AttributeProto.INT, f=1.5, i=2, ints=[3])
    assert only_attribute(attribute_model(attribute)).value == 2
    unknown = attribute_model(onnx.AttributeProto(name="a", i=5))
    assert only_attribute(unknown).kind == "INT"
    assert only_attribute(attribute_model(onnx.AttributeProto(name="a"))) == OnnxAttribute("a")


def test_first_of_duplicate_attributes_is_kept() -> None:
    first, second = helper.make_attribute("a", 1), helper.make_attribute("a", 2.0)
    node = check(attribute_model(first, second, helper.make_attribute("b", 3), first)).graph.nodes[0]
    assert [attribute.value for attribute in node.attributes.values()] == [1, 3]
    assert node.duplicates == ("a", "a")


def test_control_flow_contains_graphs() -> None:
    branch = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "then", [], [])
    inner = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=small_graph("else"))
    body = helper.make_graph([inner], "body", [helper.make_tensor_value_info("i", 7, [])], [], [TENSOR])
    model = check(model_of([helper.make_node("Loop", ["m", ""], ["z"], body=body)]).SerializeToString())
    loop = model.graph.nodes[0]
    assert loop.inputs == ("m", "")
    result = loop.attributes["body"].value
    assert isinstance(result, OnnxGraph)
    assert result.initializers[0].values() == [1, -2, 3]
    assert result.inputs[0].type == OnnxType("tensor", "INT64", ())
    assert result.nodes[0].attributes["else_branch"].value.name == "else"


def test_functions_and_domains() -> None:
    function = helper.make_function(
        "ai.onnx",
        "Mine",
        ["x"],
        ["y"],
        [helper.make_node("Elu", ["x"], ["y"], domain="ai.onnx")],
        [helper.make_opsetid("ai.onnx", 18), helper.make_opsetid("other", 2)],
        attributes=["alpha"],
        attribute_protos=[helper.make_attribute("beta", 2.0)],
        overload="o",
        value_info=[helper.make_tensor_value_info("y", 1, ["N"])],
    )
    function.node[0].attribute.add(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT)
    proto = model_of([helper.make_node("Mine", ["a"], ["b"], domain="mine", overload="o")], functions=[function])
    proto.opset_import.add(domain="ai.onnx", version=19)
    proto.domain = "ai.onnx"
    model = check(proto.SerializeToString())
    assert model.opset_imports == {"": 19}
    assert model.domain == "ai.onnx"
    (result,) = model.functions
    assert (result.domain, result.overload, result.attributes) == ("", "o", ["alpha"])
    assert result.opset_imports == {"": 18, "other": 2}
    assert result.nodes[0].domain == ""
    assert result.nodes[0].attributes["alpha"].ref_attr_name == "alpha"
    assert result.attribute_protos == [OnnxAttribute("beta", "FLOAT", 2.0)]


def test_types() -> None:
    tensor = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT16, [1, "N", None, -1, ""])
    opaque = onnx.TypeProto(opaque_type=onnx.TypeProto.Opaque(domain="d", name="n"))
    types = [
        tensor,
        helper.make_tensor_type_proto(99, None),
        helper.make_tensor_type_proto(0, []),
        onnx.TypeProto(tensor_type=onnx.TypeProto.Tensor()),
        helper.make_sparse_tensor_type_proto(onnx.TensorProto.DOUBLE, [3]),
        helper.make_sequence_type_proto(tensor),
        helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor)),
        helper.make_map_type_proto(onnx.TensorProto.STRING, tensor),
        onnx.TypeProto(sequence_type=onnx.TypeProto.Sequence()),
        opaque,
        onnx.TypeProto(),
    ]
    infos = [helper.make_value_info(f"v{i}", proto) for i, proto in enumerate(types)]
    infos.append(onnx.ValueInfoProto(name="untyped"))
    graph = check(model_of([], infos, value_info=infos).SerializeToString()).graph
    assert graph.inputs == graph.value_infos
    plain_tensor = OnnxType("tensor", "FLOAT16", (1, "N", None, None, None))  # a negative size is unknown
    assert [info.type for info in graph.inputs] == [
        plain_tensor,
        OnnxType("tensor", "DataType(99)"),
        OnnxType("tensor", "UNDEFINED", ()),
        OnnxType("tensor"),
        OnnxType("sparse_tensor", "DOUBLE", (3,)),
        OnnxType("sequence", inner=plain_tensor),
        OnnxType("optional", inner=OnnxType("sequence", inner=plain_tensor)),
        OnnxType("map", "STRING", inner=plain_tensor),
        OnnxType("sequence"),
        OnnxType("opaque"),
        OnnxType(),
        None,
    ]


# --- tensors ---

ELEM_TYPES = [name for name, number in onnx.TensorProto.DataType.items() if number]


def tensor_model(*tensors: Any) -> bytes:
    return bytes(model_of([], initializer=list(tensors)).SerializeToString())


def values_of(*tensors: Any) -> list[list[Any] | None]:
    return [tensor.values() for tensor in check(tensor_model(*tensors)).graph.initializers]


def flat(tensor: Any) -> list[Any]:
    """Return the values as onnx decodes them, narrow types as Python numbers."""
    if tensor.data_type == onnx.TensorProto.STRING:
        return list(tensor.string_data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy warns about converting nan
        return list(_plain_array(tensor).tolist())


def _plain_array(tensor: Any) -> Any:
    array = numpy_helper.to_array(tensor).reshape(-1)
    if array.dtype.kind == "V":
        narrow = elem_type(tensor.data_type)
        array = array.astype("float64") if "FLOAT" in narrow else array.astype("int32")
    return array


@pytest.mark.parametrize("name", ELEM_TYPES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_values_of_every_type(name: str, count: int) -> None:
    number = onnx.TensorProto.DataType.Value(name)
    signed = name.startswith("INT") or "FLOAT" in name or name in {"DOUBLE", "COMPLEX64", "COMPLEX128"}
    numbers = [1, 0, 1, 1, 0][:count] if name == "BOOL" else [0, 1, -2 if signed else 3, 1, 2][:count]
    if name == "INT2":
        numbers = [0, 1, -2, -1, 1][:count]
    content: list[Any] = [b"%d\xff" % item for item in numbers] if name == "STRING" else numbers
    if name.startswith("COMPLEX"):
        content = [complex(item, item + 1) for item in numbers]
    typed = helper.make_tensor("typed", number, [count], content)
    tensors = [typed]
    if name != "STRING":
        array = numpy_helper.to_array(typed)
        tensors.append(numpy_helper.from_array(array, "raw"))
        assert tensors[1].data_type == number
        assert tensors[1].HasField("raw_data")
    for result, tensor in zip(values_of(*tensors), tensors, strict=True):
        assert repr(result) == repr(flat(tensor))
        assert len(result or []) == count


INTEGER_FIELDS = {
    "int32_data": (-(1 << 31), (1 << 31) - 1),
    "int64_data": (-(1 << 63), (1 << 63) - 1),
    "uint64_data": (0, (1 << 64) - 1),
}


@given(st.sampled_from(sorted(set(ELEM_TYPES) - {"STRING"})), st.data())
@settings(max_examples=200)
def test_arbitrary_bits_are_decoded_like_onnx(name: str, data: st.DataObject) -> None:
    number = onnx.TensorProto.DataType.Value(name)
    tensor = onnx.TensorProto(data_type=number)
    field = helper.tensor_dtype_to_field(number)
    per_item = {"UINT4": 2, "INT4": 2, "FLOAT4E2M1": 2, "UINT2": 4, "INT2": 4}.get(name, 1)
    if data.draw(st.booleans(), "raw"):
        width = struct.calcsize(structure.CODES.get(name, "B")) * (2 if "COMPLEX" in name else 1)
        tensor.raw_data = data.draw(st.binary(max_size=64 // width * width), "bytes")
        tensor.raw_data = tensor.raw_data[: len(tensor.raw_data) // width * width]
        count = len(tensor.raw_data) // width
        # onnx returns bytes unchanged; a bool is numpy's conversion
        if name == "BOOL":
            tensor.raw_data = bytes(byte & 1 for byte in tensor.raw_data)
    else:
        low, high = INTEGER_FIELDS.get(field, (0, 0))
        item = st.integers(low, high) if high else st.floats(width=32 if field == "float_data" else 64)
        items = data.draw(st.lists(item, max_size=8), "items")
        if name == "BOOL":
            items = [int(item) & ~0xFF | int(item) & 1 for item in items]
        pairs = 2 if "COMPLEX" in name else 1
        getattr(tensor, field).extend(items[: len(items) // pairs * pairs])
        count = len(items) // pairs
    size = count * per_item
    if name.startswith("FLOAT6") and tensor.HasField("raw_data"):
        size = count * 8 // 6
    tensor.dims.append(max(0, size - data.draw(st.integers(0, per_item - 1), "padding")) if size else 0)
    (result,) = values_of(tensor)
    assert repr(result) == repr(flat(tensor))


def raw(name: str, dims: list[int], data: bytes) -> Any:
    return onnx.TensorProto(data_type=onnx.TensorProto.DataType.Value(name), dims=dims, raw_data=data)


def test_values_with_mismatched_sizes_are_none() -> None:
    tensors = [
        raw("FLOAT", [2], b"\0" * 4),
        raw("FLOAT", [1], b"\0" * 5),
        raw("FLOAT", [-1], b""),
        raw("FLOAT", [-1, -1], b"\0" * 4),
        raw("FLOAT", [], b""),
        raw("COMPLEX64", [1], b"\0" * 4),
        raw("INT4", [3], b"\0"),
        raw("INT4", [1], b"\0\0"),
        raw("INT2", [1], b"\0\0"),
        raw("FLOAT", [1 << 40, 1 << 40], b"\0" * 4),
        raw("STRING", [1], b"a"),
        onnx.TensorProto(data_type=7, dims=[2], int64_data=[1]),
        onnx.TensorProto(data_type=7, dims=[1], int32_data=[1]),
        onnx.TensorProto(dims=[1], int32_data=[1]),
        onnx.TensorProto(data_type=77, dims=[1], int32_data=[1]),
        onnx.TensorProto(data_type=7, dims=[1], int64_data=[1], segment=onnx.TensorProto.Segment(begin=0, end=1)),
    ]
    assert values_of(*tensors) == [None] * len(tensors)
    assert values_of(raw("FLOAT", [1 << 40, 1 << 40, 0], b""), raw("FLOAT", [], b"\0" * 4)) == [[], [0.0]]


def test_external_data() -> None:
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[1024], data_location=onnx.TensorProto.EXTERNAL)
    for entry in (("location", "w.bin"), ("offset", "4096"), ("length", "9"), ("length", "4096")):
        tensor.external_data.add(key=entry[0], value=entry[1])
    (result,) = check(tensor_model(tensor)).graph.initializers
    external = {"location": "w.bin", "offset": "4096", "length": "4096"}
    assert result == OnnxTensor("w", "FLOAT", (1024,), "external", external, None)
    assert result.values() is None


def test_sparse_initializers() -> None:
    (tensor,) = check(model_of([], sparse_initializer=[sparse_tensor()]).SerializeToString()).graph.sparse_initializers
    values, indices = tensor.sparse or (None, None)
    assert (values and values.values(), indices and indices.values()) == ([1.0, 2.0], [3, 7])
    assert tensor == OnnxTensor("sparse", "FLOAT", (4, 5), sparse=tensor.sparse)
    assert tensor.values() is None


def test_constants_are_kept_up_to_a_size() -> None:
    count = MAX_CONSTANT_BYTES // 8

    def strings(items: list[bytes]) -> Any:
        return onnx.TensorProto(data_type=onnx.TensorProto.STRING, dims=[len(items)], string_data=items)

    def keep(tensor: Any) -> bool:
        (result,) = read_model_bytes(tensor_model(tensor)).graph.initializers
        assert (result.data is None) == (result.values() is None)
        if result.data is not None:
            assert result == expected_tensor(tensor)
        return result.data is not None

    assert keep(raw("INT64", [count], b"\1" * MAX_CONSTANT_BYTES))
    assert not keep(raw("INT64", [count + 1], b"\1" * (MAX_CONSTANT_BYTES + 8)))
    assert keep(helper.make_tensor("t", 1, [count * 2], [1.5] * (count * 2)))
    assert not keep(helper.make_tensor("t", 1, [count * 2 + 1], [1.5] * (count * 2 + 1)))
    assert keep(helper.make_tensor("t", 7, [MAX_CONSTANT_BYTES], [1] * MAX_CONSTANT_BYTES))
    assert not keep(helper.make_tensor("t", 7, [MAX_CONSTANT_BYTES + 1], [1] * (MAX_CONSTANT_BYTES + 1)))
    assert keep(strings([b"a" * 2000, b"b" * 2094]))
    assert not keep(strings([b"a" * 2000, b"b" * 2095]))
    assert not keep(strings([b""] * (MAX_CONSTANT_BYTES + 1)))


# --- freedom of the wire format ---


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def add_size(number: int, *payload: bytes) -> bytes:
    data = b"".join(payload)
    return varint(number << 3 | 2) + varint(len(data)) + data


def in_graph(*fields: bytes) -> bytes:
    return add_size(7, *fields)


def in_attribute(*fields: bytes) -> bytes:
    return in_graph(add_size(1, add_size(5, *fields)))


@pytest.mark.parametrize("repeat", [1, 2])
def test_packed_and_unpacked_numbers(repeat: int) -> None:
    ints = {
        "single": b"\x40\x05\x40\x00\x40" + b"\xff" * 9 + b"\x01",
        "packed": add_size(8, b"\x00\x85\x01"),
        "none": add_size(8),
    }
    for item in ints.values():
        for other in ints.values():
            check(in_attribute((item + other) * repeat))
            check(in_attribute((item + other) * repeat, b"\xa0\x01\x07"))
            check(
                in_graph(add_size(5, (item + other).replace(b"\x40", b"\x08").replace(b"\x42", b"\x0a"), b"\x10\x07"))
            )
    floats = {"single": b"\x3d\0\0\x80\x3f", "packed": add_size(7, b"\0\0\x80\x3f" * 3), "none": add_size(7)}
    for item in floats.values():
        for other in floats.values():
            check(in_attribute((item + other) * repeat))
    for field in (b"\x25\0\0\x80\x3f", add_size(4, b"\0\0\x80\x3f"), add_size(4)):
        check(in_graph(add_size(5, b"\x10\x01\x08\x02", field * repeat, b"\x25\0\0\0\0")))


def test_repeated_message_is_merged() -> None:
    parts = [model_of([helper.make_node(op, [], [])], initializer=[TENSOR]) for op in ("First", "Second")]
    parts[1].graph.name = "later"
    model = check(b"".join(part.SerializeToString() for part in parts))
    assert [node.op_type for node in model.graph.nodes] == ["First", "Second"]
    assert (model.graph.name, len(model.graph.initializers)) == ("later", 2)
    tensor, graph = TENSOR.SerializeToString(), small_graph().SerializeToString()
    assert only_attribute(
        in_attribute(add_size(5, tensor), add_size(5, b"\x42\x01n"), add_size(5, tensor))
    ).value.dims == (3, 3)
    assert (
        len(
            only_attribute(
                in_attribute(add_size(6, graph), b"\x18\x07", add_size(6, graph), b"\xa0\x01\x05")
            ).value.nodes
        )
        == 2
    )
    sparse = sparse_tensor().SerializeToString()
    assert only_attribute(in_attribute(add_size(22, sparse), add_size(22, sparse))).value.dims == (4, 5, 4, 5)
    shape = helper.make_tensor_type_proto(1, [1]).SerializeToString()
    other = helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [2])).SerializeToString()
    for types in ([shape, shape], [shape, other], [other, shape], [other, other], [shape, other, shape], [shape, b""]):
        check(in_graph(add_size(11, *(add_size(2, item) for item in types))))
        check(in_graph(add_size(11, add_size(2, *types))))
        check(in_attribute(*(add_size(14, item) for item in types)))
    dims = [
        add_size(1, b"\x08\x05\x12\x01N"),
        add_size(1, b"\x12\x01N\x08\x05"),
        add_size(1, b"\x08\x05\x12\x00"),
        add_size(1),
    ]
    check(in_graph(add_size(11, add_size(2, add_size(1, add_size(2, *dims))))))


def test_last_singular_field_wins() -> None:
    check(in_attribute(b"\x18\x01\x18\x02", add_size(4, b"a"), add_size(4, b"b"), add_size(1, b"x"), add_size(1, b"y")))
    check(in_attribute(add_size(4, b"a"), add_size(4)))
    check(b"\x08\x01\x08\x02" + in_graph(add_size(2, b"a"), add_size(2, b"b")))
    check(in_attribute(b"\xa0\x01\x02\xa0\x01\x63\x18\x05"))  # 99 is not a type and is ignored
    check(in_attribute(b"\xa0\x01" + b"\xff" * 9 + b"\x01\x18\x05"))
    check(in_graph(add_size(5, b"\x70\x01\x70\x07\x10\x07\x08\x00")))
    check(in_graph(add_size(5, b"\x70\x01\x70\x00\x10\x07\x08\x00")))
    check(in_graph(add_size(5, b"\x10" + varint((1 << 32) + 7) + b"\x08\x00")))


def test_unknown_fields_and_groups_are_skipped() -> None:
    unknown = b"\xc3\x3e\x08\x01\xc4\x3e" + add_size(1000, b"\xff" * 50) + b"\xc0\x3e\x01"
    model = model_of([helper.make_node("Op", ["a"], ["b"], axis=1)], initializer=[TENSOR])
    data = model.SerializeToString()
    assert check(unknown + data + unknown) == check(data)
    assert len(check(in_graph(unknown, add_size(1, unknown, add_size(5, unknown)), unknown)).graph.nodes) == 1


# --- tables ---

SCALARS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 9: "string", 12: "bytes", 14: "enum"}


def test_field_numbers_match_the_installed_onnx() -> None:
    for name, message in onnx_schema.PROTO.items():
        descriptor: Any = onnx
        for part in name.split("."):
            descriptor = getattr(descriptor, part)
        proto = {
            field.number: (
                field.name,
                ("repeated " if field.is_repeated else "")
                + (SCALARS.get(field.type) or field.message_type.full_name.removeprefix("onnx.")),
            )
            for field in descriptor.DESCRIPTOR.fields
        }
        assert message.fields.items() <= proto.items(), name
        walked = {key >> 3: f"repeated {kind}" for key, kind in message.walked.items()}
        assert walked.items() <= {number: kind for number, (_, kind) in proto.items()}.items(), name


#: The fields that are skipped, because no verdict depends on them.
SKIPPED = {
    "ModelProto": "doc_string metadata_props configuration",
    "TrainingInfoProto": "initialization_binding update_binding",
    "FunctionProto": "doc_string metadata_props",
    "GraphProto": "doc_string metadata_props",
    "NodeProto": "doc_string metadata_props device_configurations",
    "AttributeProto": "doc_string",
    "ValueInfoProto": "doc_string metadata_props",
    "TypeProto": "denotation",
    "TypeProto.Opaque": "domain name",
    "TensorShapeProto.Dimension": "denotation",
    "TensorProto": "doc_string metadata_props",
    "TensorProto.Segment": "begin end",
    "DeviceConfigurationProto": "name num_devices device",
    "NodeDeviceConfigurationProto": "configuration_id sharding_spec pipeline_stage",
    "ShardingSpecProto": "tensor_name index_to_device_group_map sharded_dim",
    "IntIntListEntryProto": "key",
    "ShardedDimProto": "axis simple_sharding",
    "SimpleShardedDimProto": "dim_value dim_param num_shards",
}


def test_every_field_is_read_or_skipped_on_purpose() -> None:
    pending, names_by_value = [onnx.ModelProto.DESCRIPTOR], {}
    while pending:
        message = pending.pop()
        name = message.full_name.removeprefix("onnx.")
        if name in names_by_value:
            continue
        read = {field for field, _ in onnx_schema.PROTO[name].fields.values()}
        skipped = set(SKIPPED.get(name, "").split())
        assert not read & skipped
        names_by_value[name] = read | skipped
        assert {field.name for field in message.fields} == names_by_value[name], (
            name
        )  # also fails for a field of a later onnx
        pending += [field.message_type for field in message.fields if field.message_type]
    assert set(names_by_value) == set(onnx_schema.PROTO)


def test_enums_match_the_installed_onnx() -> None:
    assert onnx.TensorProto.DataType.items() == [(name, i) for i, name in enumerate(onnx_schema.ELEM_TYPES)]
    kinds = {name: i for i, name in enumerate(onnx_schema.ATTRIBUTE_TYPES)}
    assert dict(onnx.AttributeProto.AttributeType.items()) == kinds
    assert onnx_schema.ATTRIBUTE_FIELDS == FIELD_OF
    for name, number in onnx.TensorProto.DataType.items():
        if number:
            assert onnx_schema.DATA_FIELDS[name] == helper.tensor_dtype_to_field(number)


# --- any model, any bytes ---


def fill(message: Any, rng: random.Random, depth: int = 0) -> Any:
    """Fill every field of a protobuf message at random, including unread ones."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.4 + 0.1 * depth:
            continue
        if field.is_repeated:
            for _ in range(rng.choice((0, 1, 1, 2, 5))):
                if field.type == field.TYPE_MESSAGE:
                    if depth < 7:
                        fill(getattr(message, field.name).add(), rng, depth + 1)
                else:
                    getattr(message, field.name).append(anything(field, rng))
        elif field.type == field.TYPE_MESSAGE:
            if depth < 7:
                fill(getattr(message, field.name), rng, depth + 1)
                getattr(message, field.name).SetInParent()
        else:
            setattr(message, field.name, anything(field, rng))
    return message


def anything(field: Any, rng: random.Random) -> Any:
    if field.type == field.TYPE_ENUM:
        return rng.choice(field.enum_type.values).number
    if field.name in {"data_type", "elem_type", "key_type"}:
        return rng.randrange(-1, 31)
    if field.type == field.TYPE_INT32:
        return rng.choice((0, 1, -1, rng.randrange(-(1 << 31), 1 << 31)))
    if field.type in {field.TYPE_INT64, field.TYPE_UINT64}:
        number = rng.choice((0, 1, 2, 300, rng.randrange(1 << 63)))
        return -number if field.type == field.TYPE_INT64 and rng.random() < 0.2 else number
    if field.type in {field.TYPE_FLOAT, field.TYPE_DOUBLE}:
        return rng.choice((0.0, -0.0, 1.5, math.inf, math.nan, rng.uniform(-9, 9)))
    text = rng.choice(("", "a", "x", "ai.onnx", "é€", "name" * 50))
    return text.encode() if field.type == field.TYPE_BYTES else text


def random_model(seed: int) -> bytes:
    model = fill(onnx.ModelProto(), random.Random(seed))
    model.graph.SetInParent()
    return bytes(model.SerializeToString())


SEEDS = st.integers(0, 1 << 32)


@pytest.mark.slow
@given(SEEDS, st.sampled_from([24, 100, 1 << 15]))
@settings(max_examples=150, deadline=None)
def test_random_models_are_read_like_onnx(seed: int, block: int) -> None:
    data = random_model(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "BLOCK_BYTES", block)
        model = check(data)
    for tensor in model.graph.initializers:
        tensor.values()


def mutate(data: bytes, draw: st.DataObject) -> bytes:
    out = bytearray(data)
    places = st.integers(0, max(len(out) - 1, 0))
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(places)
        match draw.draw(st.sampled_from(["set", "flip", "insert", "delete", "cut", "copy", "append"])):
            case "set" if out:
                out[at % len(out)] = draw.draw(st.integers(0, 255))
            case "flip" if out:
                out[at % len(out)] ^= 1 << draw.draw(st.integers(0, 7))
            case "insert":
                out[at:at] = draw.draw(st.binary(max_size=6))
            case "delete":
                del out[at : at + draw.draw(st.integers(1, 9))]
            case "cut":
                del out[at:]
            case "copy":
                out[at:at] = out[draw.draw(places) :][: draw.draw(st.integers(1, 60))]
            case "append":
                out += draw.draw(st.sampled_from([data, random_model(at), b"\0", b"\x3a\x00"]))
    return bytes(out)


@pytest.mark.slow
@given(SEEDS, st.data())
@settings(max_examples=600, deadline=None)
def test_mutated_models_are_read_like_onnx_or_rejected(seed: int, draw: st.DataObject) -> None:
    require_same_or_rejected(mutate(random_model(seed), draw))


REAL = [path for path in PACKAGED if path.stat().st_size < 20_000]


@pytest.mark.slow
@given(st.sampled_from(REAL), st.sampled_from([100, 1 << 14]), st.data())
@settings(max_examples=300, deadline=None)
def test_mutated_real_files_are_read_like_onnx_or_rejected(path: Path, block: int, draw: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "BLOCK_BYTES", block)
        patch.setattr(onnx_tensors, "MAX_CONSTANT_BYTES", 1 << 30)  # onnx keeps every constant
        require_same_or_rejected(mutate(path.read_bytes(), draw))


@given(st.binary(max_size=100))
@settings(max_examples=200)
def test_arbitrary_bytes_are_read_like_onnx_or_rejected(data: bytes) -> None:
    require_same_or_rejected(data)


def require_same_or_rejected(data: bytes) -> None:
    try:
        oracle = onnx.load_model_from_string(data)
    except DecodeError:
        oracle = None
    refusal = None
    try:
        model = read_model_bytes(data, "m.onnx")
    except InputError as error:
        refusal = error
    if refusal:
        assert refusal.file == "m.onnx"
        assert re.match(r"byte \d+", refusal.place or "")
        assert len(str(refusal)) < 600
        assert oracle is None or REFUSALS.match(refusal.message), refusal.message
    elif oracle is not None:
        assert repr(model) == repr(expected_model(oracle))


def test_every_truncation_of_a_model() -> None:
    data = model_of(
        [helper.make_node("If", ["c"], ["y"], then_branch=small_graph(), ints=[1, 300])]
    ).SerializeToString()
    for size in range(len(data)):
        require_same_or_rejected(data[:size])
    for byte in range(256):  # trailing garbage
        require_same_or_rejected(data + bytes([byte]))
        require_same_or_rejected(data + bytes([byte, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("path", PACKAGED, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_models_shipped_with_onnx(path: Path) -> None:
    model = read_model(path)
    oracle = onnx.load(path, load_external_data=False)
    expected = expected_model(oracle, str(path))
    for graph in (expected.graph,):
        for tensor in graph.initializers:
            if len(tensor.data or b"") > MAX_CONSTANT_BYTES // 8:
                tensor.data = next(t for t in model.graph.initializers if t.name == tensor.name).data
    assert repr(model) == repr(expected)


# --- hostile and large ---


def reject(data: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        read_model_bytes(data)
    return caught.value


def test_missing_graph_is_rejected() -> None:
    for data in (b"", b"\x08\x07"):
        error = reject(data)
        assert "found no graph" in str(error)
        assert error.file == "<bytes>"
    assert read_model_bytes(in_graph()) == OnnxModel()


def test_errors_name_the_location() -> None:
    node = add_size(1, add_size(4, b"Op"))
    bad = add_size(1, add_size(5, b"\x18\x01"), add_size(5, add_size(6, node, add_size(1, b"\x0a\x7f\xff\xfe"))))
    error = reject(in_graph(node, node, bad))
    assert error.place == "byte 32, graph.node[2].attribute[1].g.node[1]"
    assert error.message == "a field of NodeProto reaches to byte 161, beyond 36"
    assert str(error) == f"<bytes>: {error.place}: {error.message}"
    error = reject(add_size(7, b"\x12\x05ab"))
    assert (error.place, error.message) == ("byte 2, graph", "a field of GraphProto reaches to byte 9, beyond 6")


def test_oddities_are_reported_with_their_location() -> None:
    node = add_size(1, add_size(4, b"Op"))
    bad = add_size(1, add_size(5, b"\x18\x01"), add_size(5, add_size(6, node, add_size(1, b"\x0a\x02\xff\xfe"))))
    model = read_model_bytes(b"\x0d\0\0\0\0" + in_graph(node, node, bad) + b"\xcd\x01\0\0\0\0")
    assert model.oddities == [
        "byte 0: expected int64 in ModelProto.ir_version, found 32 bits; skipped, as protobuf does",
        r"byte 37, graph.node[2].attribute[1].g.node[1]: expected UTF-8 in a string of NodeProto, found b'\xff\xfe'",
        "byte 41: expected repeated FunctionProto in ModelProto.functions, found 32 bits; skipped, as protobuf does",
    ]
    assert read_model_bytes(in_graph(node)).oddities == []


BROKEN = b"\x0a\x7fa"  # a string that extends past its message
UNREAD = {
    "the metadata of a model": in_graph() + add_size(14, BROKEN),
    "the metadata of a node": in_graph(add_size(1, add_size(4, b"Op"), add_size(9, BROKEN))),
    "the devices of a node": in_graph(add_size(1, add_size(4, b"Op"), add_size(10, add_size(2, BROKEN)))),
    "the metadata of a value": in_graph(add_size(13, add_size(1, b"x"), add_size(4, BROKEN))),
    "the metadata of a tensor": in_graph(add_size(5, add_size(16, BROKEN))),
    "a segment": in_graph(add_size(5, add_size(3, b"\x0f"))),
    "a tensor in an attribute of another type": in_graph(
        add_size(1, add_size(5, add_size(5, BROKEN), b"\xa0\x01\x02"))
    ),
    "a type that another replaces": in_graph(add_size(11, add_size(2, add_size(1, b"\x0f"), add_size(4, b"")))),
    "floats beside raw data": in_graph(add_size(5, add_size(4, b"abc"), add_size(9, b"abcd"))),
    "a long varint beside raw data": in_graph(add_size(5, add_size(7, b"\xff" * 10 + b"\1"), add_size(9, b"abcd"))),
    "a varint that is cut off beside raw data": in_graph(add_size(5, add_size(7, b"\1\xff"), add_size(9, b"abcd"))),
    "a key of six bytes": in_graph() + b"\x88\x80\x80\x80\x80\x00\x01",
}


@pytest.mark.parametrize("what", UNREAD)
def test_skipped_fields_are_checked_like_protobuf(what: str) -> None:
    with pytest.raises(DecodeError):
        onnx.load_model_from_string(UNREAD[what])
    error = reject(UNREAD[what])
    assert re.match(r"byte \d+", error.place or "")


def test_field_beyond_the_protobuf_limit_is_rejected() -> None:
    assert reject(b"\x3a\x80\x80\x80\x80\x08").message == (
        "expected a field of at most 2147483647 bytes, found one of 2147483648"
    )


def nested_graphs(depth: int) -> bytes:
    data = b""
    for _ in range(depth - 1):
        data = add_size(1, add_size(5, add_size(6, data)))
    return in_graph(data)


def nested_types(depth: int) -> bytes:
    data = b""
    for _ in range(depth - 1):
        data = add_size(4, add_size(1, data))
    return in_graph(add_size(11, add_size(2, data)))


def test_nesting_is_bounded() -> None:
    graph = read_model_bytes(nested_graphs(34)).graph
    for _ in range(33):
        graph = graph.nodes[0].attributes[""].value
    assert graph == OnnxGraph()
    kind = read_model_bytes(nested_types(49)).graph.inputs[0].type
    depth = 0
    while kind:
        kind, depth = kind.inner, depth + 1
    assert depth == 49
    for nested in (nested_graphs, nested_types):
        for depth in (35, 50, 51, 64, 2000):
            if nested is nested_graphs or depth > 49:
                error = reject(nested(depth))
                assert error.message == "messages are nested more than 100 deep"
                assert len(error.place or "") < 250
    for data in (nested_graphs(33), nested_types(40)):
        check(data)


def deep(depth: int, *fields: bytes) -> bytes:
    """Return a node with these fields in a graph of `count` nodes."""
    data = add_size(1, *fields)
    for _ in range(depth - 1):
        data = add_size(1, add_size(5, add_size(6, data)))
    return in_graph(data)


DEEP = {
    "a name": add_size(3, b"x"),
    "metadata": add_size(9, add_size(1, b"x")),
    "a device": add_size(10, add_size(2, add_size(4, add_size(2, b"")))),
    "an attribute": add_size(5, b""),
    "a tensor": add_size(5, add_size(5, b"")),
    "external data": add_size(5, add_size(5, add_size(13, b""))),
    "a sparse tensor": add_size(5, add_size(22, add_size(1, add_size(13, b"")))),
    "a type": add_size(5, add_size(14, add_size(1, add_size(2, add_size(1, b""))))),
    "an unread tensor": add_size(5, add_size(5, add_size(13, b"")), b"\xa0\x01\x02"),
    "an unread graph": add_size(5, add_size(6, add_size(1, add_size(5, add_size(6, b"")))), b"\xa0\x01\x02"),
}


@pytest.mark.parametrize("what", DEEP)
def test_nesting_limit_matches_protobuf(what: str) -> None:
    accepted = set()
    for depth in range(28, 37):
        data = deep(depth, DEEP[what])
        try:
            onnx.load_model_from_string(data)
        except DecodeError:
            accepted.add(False)
            assert "100 deep" in reject(data).message, depth
        else:
            accepted.add(True)
            read_model_bytes(data)
    assert accepted == {True, False}


def test_nesting_uses_little_stack() -> None:
    frame, used = sys._getframe(), 0
    while frame.f_back:
        frame, used = frame.f_back, used + 1
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(used + 330)
    try:
        read_model_bytes(nested_graphs(34))
        read_model_bytes(nested_types(49))
    finally:
        sys.setrecursionlimit(limit)


def test_long_names_are_rejected() -> None:
    assert len(read_model_bytes(in_graph(add_size(2, b"a" * (1 << 20)))).graph.name) == 1 << 20
    assert "at most 1048576 bytes in name" in reject(in_graph(add_size(2, b"a" * ((1 << 20) + 1)))).message
    assert "at most 1048576 bytes in input" in reject(in_graph(add_size(1, add_size(1, b"a" * (1 << 21))))).message


def test_long_attributes_are_skipped() -> None:
    limit = onnx_graph.MAX_ATTRIBUTE_VALUES
    for field in (b"\x40\x05", b"\x3d\0\0\x80\x3f", add_size(9, b"a")):
        assert len(only_attribute(in_attribute(field * limit)).value) == limit
        (attribute,) = read_model_bytes(in_attribute(field * (limit + 1))).graph.nodes[0].attributes.values()
        assert attribute.kind in {"INTS", "FLOATS", "STRINGS"}
        assert attribute.value is None
    packed = [
        (add_size(8, b"\x05" * limit), 1),
        (add_size(8, b"\x05" * (limit + 1)), 0),
        (add_size(8, b"\x05" * (1 << 21)), 0),
    ]
    strings = [(add_size(4, b"a" * (1 << 20)), 1), (add_size(4, b"a" * ((1 << 20) + 1)), 0)]
    several = [(add_size(9, b"a" * (1 << 19)) * 2, 1), (add_size(9, b"a" * (1 << 19)) * 2 + add_size(9, b"a"), 0)]
    for data, kept in packed + strings + several:
        (attribute,) = read_model_bytes(in_attribute(data)).graph.nodes[0].attributes.values()
        assert (attribute.value is not None) == bool(kept)


BOMBS = {
    "nodes": b"\x0a\x00" * 10_000,
    "attributes": add_size(1, *[add_size(5, b"\x0a\x01%c" % (97 + i % 3)) for i in range(10_000)]),
    "inputs": add_size(1, b"\x0a\x00" * 20_000),
    "graphs": add_size(1, add_size(5, b"\x5a\x00" * 10_000)),
    "initializers": b"\x2a\x00" * 10_000,
    "infos": add_size(11, add_size(2, add_size(1, add_size(2)))) * 10_000,
    "dims": add_size(5, add_size(1, b"\x05" * 40_000)),
    "shape": add_size(11, add_size(2, add_size(1, add_size(2, add_size(1, b"\x08\x05") * 20_000)))),
    "names": add_size(2, b"a" * 100_000) * 20,
    "constants": add_size(5, add_size(9, b"a" * 4000)) * 600,
    "strings": add_size(1, *[add_size(5, add_size(1, b"%d" % i), add_size(4, b"a" * 100_000)) for i in range(20)]),
    "external": add_size(5, *[add_size(13, add_size(1, b"%d" % i)) for i in range(20_000)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_memory_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 1 << 20
    monkeypatch.setattr(wire, "MAX_MEMORY_BYTES", limit)
    bomb = in_graph(BOMBS[name])
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="needs more than 1 MiB of memory"):
            read_model_bytes(bomb)
        assert tracemalloc.get_traced_memory()[1] < 4 * limit
    finally:
        tracemalloc.stop()


def with_weights(target: Path, count: int, size: int) -> int:
    """Write a model of `count` sparse initializers of `size` bytes each.

    The last is in a subgraph's constant.
    """
    head = helper.make_model(helper.make_graph([], "g", [], []), opset_imports=[helper.make_opsetid("", 17)])
    head.ClearField("graph")
    nodes = [add_size(1, node(i)) for i in range(300)]
    payload = [varint(9 << 3 | 2) + varint(size)]

    def open_part(number: int, *before: bytes, inside: int) -> bytes:
        return varint(number << 3 | 2) + varint(sum(map(len, before)) + inside) + b"".join(before)

    tensor = [onnx.TensorProto(name=f"w{i}", dims=[size], data_type=2).SerializeToString() for i in range(count)]
    heads = [open_part(5, body, *payload, inside=size) for body in tensor]
    constant = open_part(5, tensor[0], *payload, inside=size)  # AttributeProto.t
    constant = open_part(5, add_size(1, b"value"), constant, inside=size)  # NodeProto.attribute
    constant = open_part(1, add_size(4, b"Constant"), constant, inside=size)  # GraphProto.node
    constant = open_part(6, constant, inside=size)  # AttributeProto.g
    constant = open_part(5, add_size(1, b"body"), constant, inside=size)  # NodeProto.attribute
    constant = open_part(1, add_size(4, b"Loop"), constant, inside=size)  # GraphProto.node
    total = sum(map(len, nodes)) + sum(map(len, heads)) + len(constant) + (count + 1) * size
    with target.open("wb") as file:
        file.write(head.SerializeToString() + varint(7 << 3 | 2) + varint(total) + b"".join(nodes))
        for data in [*heads, constant]:
            file.write(data)
            file.seek(size, os.SEEK_CUR)
        end = file.tell()
        file.truncate(end)
    return end


def node(i: int) -> bytes:
    proto = helper.make_node(
        "Conv", [f"x{i}", f"w{i}"], [f"y{i}"], name=f"n{i}", kernel_shape=[3, 3], pads=[1, 1, 1, 1]
    )
    return bytes(proto.SerializeToString())


def needs_holes(folder: Path) -> None:
    """Skip if sparse files use disk space."""
    probe = folder / "probe"
    with probe.open("wb") as file:
        file.truncate(1 << 24)
    if getattr(probe.stat(), "st_blocks", 1 << 24) * 512 > 1 << 23:
        pytest.skip(f"the file system of {folder} has no sparse files, and gigabytes are not written for a test")


@pytest.mark.parametrize(("count", "payload"), [(60, 5_000_000), (2, 700_000_000), (1, 1_070_000_000)])
def test_weights_are_neither_read_nor_kept(count: int, payload: int, tmp_path: Path) -> None:
    needs_holes(tmp_path)
    path = tmp_path / "large.onnx"
    size = with_weights(path, count, payload)
    assert size > (count + 1) * payload
    tracemalloc.start()
    model = read_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20
    assert [tensor.dims for tensor in model.graph.initializers] == [(payload,)] * count
    assert {tensor.data for tensor in model.graph.initializers} == {None}
    loop = model.graph.nodes[-1]
    assert (loop.op_type, len(model.graph.nodes)) == ("Loop", 301)
    constant = loop.attributes["body"].value.nodes[0].attributes["value"].value
    assert constant == OnnxTensor("w0", "UINT8", (payload,))
    os.truncate(path, 20_000)
    with pytest.raises(InputError, match="beyond 20000"):
        read_model(path)


# --- files ---


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "a model.onnx"
    path.write_bytes(in_graph(add_size(2, b"g")))
    assert read_model(path).file == read_model(str(path)).file == str(path)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert read_model(link).graph.name == "g"
    path.write_bytes(b"\x00")
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert caught.value.file == str(path)


@pytest.mark.skipif(os.name == "nt", reason="FIFOs and devices are files only elsewhere")
def test_special_files_are_rejected_without_blocking(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "empty").write_bytes(b"")
    expected: dict[str | Path, str] = {
        fifo: "expected a regular file",
        tmp_path: "expected a regular file",
        Path("/dev/zero"): "expected a regular file",
        tmp_path / "missing": "cannot be read: No such file",
        tmp_path / "empty" / "below": "cannot be read: Not a directory",
        tmp_path / "loop": "cannot be read: ",
        tmp_path / ("x" * 5000): "cannot be read: File name too long",
        tmp_path / "empty": "expected a binary ONNX model, found nothing",
        "nul\0": "path cannot be used",
        "": "expected a regular file",
    }
    for path, message in expected.items():
        with pytest.raises(InputError, match=message) as caught:
            read_model(path)
        assert "\0" not in str(caught.value)


def test_reader_imports_no_heavy_packages() -> None:
    code = (
        "import sys; import specgate.dialects.onnx.file.model\n"
        "print([m for m in ('numpy', 'onnx', 'google.protobuf', 'pydantic', 'yaml', 'rich') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240)
    assert run.stdout == "[]\n"
