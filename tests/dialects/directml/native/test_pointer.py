"""Structures in memory are read back; corrupt ones give an error, not a crash."""

from __future__ import annotations

import ctypes
import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specgate
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import Image, image
from specgate.dialects.directml.native.pointer import from_pointer, graph_from_pointer
from specgate.dialects.directml.native.unmarshal import describe_image
from specgate.errors import InputError, NoTable
from specgate.spec.tables import dialect
from tests.dialects.directml.native.loaded import Loaded, descriptions

DIRECTML = dialect("directml")
RELU = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}
TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
GEMM = {
    "type": "DML_OPERATOR_GEMM",
    "desc": {
        "ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR, "TransA": "NONE", "TransB": "NONE",
        "Alpha": 1.0, "Beta": 0.0, "FusedActivation": RELU,
    },
}  # fmt: skip


def read_back(result: Image) -> dict[str, Any]:
    loaded = Loaded(result)
    return from_pointer(loaded.address)


def verdict_of(descriptor: dict[str, Any], level: str) -> tuple[bool | None, list[str]]:
    verdict = specgate.check(descriptor, f"directml:{level}")
    return verdict.accepted, sorted(finding.id for finding in verdict.findings)


def test_every_operator_has_descriptions():
    assert {name for name, _, _ in descriptions()} == set(abi().operators)


@pytest.mark.slow
@pytest.mark.parametrize("operator", abi().operators)
def test_structure_reads_back_as_its_descriptor(operator):
    for _, descriptor, level in descriptions(operator):
        new_image = image(descriptor)
        result = read_back(new_image)
        assert result == describe_image(new_image)
        assert image(result) == new_image
        round_trip = json.loads(json.dumps(result, allow_nan=False))
        assert image(round_trip) == new_image
        assert verdict_of(round_trip, level) == verdict_of(descriptor, level)


@pytest.mark.parametrize(
    "pointed", ["ActivationDescs", "FusedActivation", "InputTensors", "ScaleBias", "ScaleSize", "Value"]
)
def test_the_descriptions_have_every_kind_of_member(pointed):
    given_ = [descriptor["desc"].get(pointed) for _, descriptor, _ in descriptions()]
    assert any(given_)
    assert None in given_


def test_fused_operator_is_read_without_tensors():
    assert read_back(image(GEMM))["desc"]["FusedActivation"] == RELU


class Buffer(ctypes.Structure):
    """DML_BUFFER_TENSOR_DESC, as a program that calls DirectML through ctypes defines it."""

    _fields_ = (
        ("DataType", ctypes.c_uint), ("Flags", ctypes.c_uint), ("DimensionCount", ctypes.c_uint),
        ("Sizes", ctypes.POINTER(ctypes.c_uint)), ("Strides", ctypes.POINTER(ctypes.c_uint)),
        ("TotalTensorSizeInBytes", ctypes.c_uint64), ("GuaranteedBaseOffsetAlignment", ctypes.c_uint),
    )  # fmt: skip


class Described(ctypes.Structure):
    """DML_TENSOR_DESC, DML_OPERATOR_DESC, DML_GRAPH_NODE_DESC, DML_GRAPH_EDGE_DESC.

    All have the same layout.
    """

    _fields_ = (("Type", ctypes.c_uint), ("Desc", ctypes.c_void_p))


class OneHot(ctypes.Structure):
    _fields_ = (
        ("IndicesTensor", ctypes.POINTER(Described)), ("ValuesTensor", ctypes.POINTER(Described)),
        ("OutputTensor", ctypes.POINTER(Described)), ("Axis", ctypes.c_uint),
    )  # fmt: skip


KEPT: list[Any] = []  # keeps the memory that structures point to


def tensor(kind: int, *sizes: int, what: int = 1) -> Any:
    buffer = Buffer(kind, 0, len(sizes), (ctypes.c_uint * len(sizes))(*sizes), None, 4 * sizes[-1], 0)
    KEPT.append(buffer)
    return ctypes.pointer(Described(what, ctypes.addressof(buffer)))


def operator(kind: int, fields: ctypes.Structure) -> int:
    described = Described(kind, ctypes.addressof(fields))
    KEPT.extend([fields, described])
    return ctypes.addressof(described)


def one_hot(what: int = 1) -> int:
    fields = OneHot(tensor(3, 1, 1, 1, 2), tensor(1, 1, 1, 1, 2, what=what), tensor(1, 1, 1, 3, 2), 2)
    return operator(abi().structure("ONE_HOT").number, fields)


def test_structures_built_with_ctypes_are_read():
    entries = from_pointer(one_hot())
    assert entries == {
        "type": "DML_OPERATOR_ONE_HOT",
        "desc": {
            "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 2], "TotalTensorSizeInBytes": 8},
            "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2], "TotalTensorSizeInBytes": 8},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 2], "TotalTensorSizeInBytes": 8},
            "Axis": 2,
        },
    }
    (finding,) = specgate.check(entries, "directml:6.4").findings
    assert finding.where.startswith("OutputTensor")


def test_unset_tensor_type_is_reported_as_invalid():
    entries = from_pointer(one_hot(what=0))
    assert entries["desc"]["ValuesTensor"]["Type"] == "INVALID"
    (finding,) = [f for f in specgate.check(entries, "directml:6.4").findings if "ValuesTensor" in f.message]
    assert "INVALID" in finding.message


def test_unknown_operator_keeps_its_number():
    entries = from_pointer(operator(4711, OneHot()))
    assert entries == {"type": 4711, "desc": {}}
    with pytest.raises(NoTable, match="4711"):
        specgate.check(entries, "directml:6.4")


def test_a_description_without_fields():
    assert from_pointer(ctypes.addressof(Described(17, None))) == {"type": f"DML_OPERATOR_{name(17)}", "desc": {}}


def name(number: int) -> str:
    return next(n for n in abi().operators if abi().structure(n).number == number)


@pytest.mark.parametrize("read", [from_pointer, graph_from_pointer])
@pytest.mark.parametrize(
    ("address", "message"),
    [(0, "null pointer"), (8, "0x8 cannot be read"), (2**64 - 8, "cannot be read"), (-1, "cannot"), (2**80, "cannot")],
)
def test_unmapped_address_is_rejected(read, address, message):
    with pytest.raises(InputError, match=message):
        read(address)


def test_dangling_pointer_error_names_the_field():
    fields = OneHot(tensor(3, 1, 2), tensor(1, 1, 2), tensor(1, 3, 2), 0)
    ctypes.cast(ctypes.addressof(fields) + 8, ctypes.POINTER(ctypes.c_uint64))[0] = 0x10
    with pytest.raises(InputError, match=r"^ValuesTensor: the address 0x18 cannot be read"):
        from_pointer(operator(abi().structure("ONE_HOT").number, fields))


def test_too_many_dimensions():
    wrong = tensor(1, 1, 2)
    KEPT[-1].DimensionCount = 0xDEADBEEF
    fields = OneHot(tensor(3, 1, 2), wrong, tensor(1, 3, 2), 0)
    with pytest.raises(
        InputError, match=r"^ValuesTensor: expected at most 64 dimensions, found 37\d+ in DimensionCount"
    ):
        from_pointer(operator(abi().structure("ONE_HOT").number, fields))


def test_too_many_elements():
    tensors = [{"DataType": "INT8", "Sizes": [n]} for n in (1, 2, 3)]
    loaded = Loaded(image({"type": "JOIN", "desc": {"InputTensors": tensors, "Axis": 0}}))
    loaded.poke(16, "I", 2**32 - 1)  # the structure follows the DML_OPERATOR_DESC
    with pytest.raises(
        InputError, match=r"^InputTensors: expected at most 65536 elements, found 4294967295 in InputCount"
    ):
        from_pointer(loaded.address)


def test_an_operator_that_points_to_itself():
    new_image = image(GEMM)
    fused = 16 + next(m.offset for m in abi().structure("GEMM").members if m.name == "FusedActivation")
    loaded = Loaded(new_image)
    loaded.poke(fused, "Q", loaded.address)
    with pytest.raises(InputError, match="operators nested at most 8 deep"):
        from_pointer(loaded.address)


@given(st.sampled_from(sorted(abi().operators)), st.data())
@settings(deadline=None)
def test_mutated_memory_is_read_or_rejected(operator, data):
    _, descriptor, _ = data.draw(st.sampled_from(descriptions(operator)))
    loaded = Loaded(image(descriptor))
    for _ in range(data.draw(st.integers(1, 3))):
        offset = 4 * data.draw(st.integers(0, loaded.size // 4 - 1))
        loaded.poke(offset, "I", data.draw(st.sampled_from([0, 1, 7, 0x1000, 2**31, 2**32 - 1])))
    try:
        json.dumps(from_pointer(loaded.address), allow_nan=False)
    except InputError:
        return


class Edge(ctypes.Structure):
    _fields_ = (("Indices", ctypes.c_uint * 3), ("Name", ctypes.c_char_p))


class Inner(ctypes.Structure):
    _fields_ = (("Indices", ctypes.c_uint * 4), ("Name", ctypes.c_char_p))


class OperatorNode(ctypes.Structure):
    _fields_ = (("Operator", ctypes.c_void_p), ("Name", ctypes.c_char_p))


class ConstantNode(ctypes.Structure):
    _fields_ = (("Data", ctypes.c_void_p), ("DataSize", ctypes.c_size_t), ("Name", ctypes.c_char_p))


class GraphDesc(ctypes.Structure):
    _fields_ = (
        ("InputCount", ctypes.c_uint), ("OutputCount", ctypes.c_uint),
        ("NodeCount", ctypes.c_uint), ("Nodes", ctypes.POINTER(Described)),
        ("InputEdgeCount", ctypes.c_uint), ("InputEdges", ctypes.POINTER(Described)),
        ("OutputEdgeCount", ctypes.c_uint), ("OutputEdges", ctypes.POINTER(Described)),
        ("IntermediateEdgeCount", ctypes.c_uint), ("IntermediateEdges", ctypes.POINTER(Described)),
    )  # fmt: skip


def array_of(*parts: tuple[int, ctypes.Structure]) -> tuple[int, Any]:
    array = (Described * len(parts))(*(Described(kind, ctypes.addressof(part)) for kind, part in parts))
    KEPT.extend([parts, array])
    return len(parts), array


def graph() -> GraphDesc:
    """ONE_HOT with constant values, then an operator whose creation was not observed."""
    graph_desc = GraphDesc(
        1, 1,
        *array_of((1, OperatorNode(0x1000, b"hot")), (2, ConstantNode(1, 8, b"values")), (1, OperatorNode(0x2000, None))),
        *array_of((1, Edge((0, 0, 0), b"indices"))),
        *array_of((2, Edge((2, 0, 0), None))),
        *array_of((3, Inner((1, 0, 0, 1), None)), (3, Inner((0, 0, 2, 0), b"between"))),
    )  # fmt: skip
    KEPT.append(graph_desc)
    return graph_desc


def test_graph_built_with_ctypes_is_read():
    hot = from_pointer(one_hot())
    entries = graph_from_pointer(ctypes.addressof(graph()), {0x1000: hot})
    assert entries["dispatchables"]["node_0"] == hot
    assert entries["dispatchables"]["graph"] == {
        "type": "DML_GRAPH_DESC",
        "desc": {
            "InputCount": 1,
            "OutputCount": 1,
            "NodeCount": 3,
            "Nodes": [
                {"type": "DML_GRAPH_NODE_TYPE_OPERATOR", "Operator": "node_0", "Name": "hot"},
                {"type": "DML_GRAPH_NODE_TYPE_CONSTANT", "DataSize": 8, "Name": "values"},
                {"type": "DML_GRAPH_NODE_TYPE_OPERATOR"},
            ],
            "InputEdgeCount": 1,
            "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0, "Name": "indices"}],
            "OutputEdgeCount": 1,
            "OutputEdges": [{"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0}],
            "IntermediateEdgeCount": 2,
            "IntermediateEdges": [
                {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 1},
                {
                    "FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0,
                    "Name": "between",
                },
            ],
        },
    }  # fmt: skip


def test_unknown_node_and_edge_types_are_kept():
    graph_desc = graph()
    graph_desc.Nodes[1].Type = 9
    graph_desc.InputEdges[0].Type = 2
    result = graph_from_pointer(ctypes.addressof(graph_desc))["dispatchables"]["graph"]["desc"]
    assert result["Nodes"][1] == {"type": 9}
    assert result["InputEdges"] == [{"type": "DML_GRAPH_EDGE_TYPE_OUTPUT"}]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"NodeCount": 2**32 - 1}, "^Nodes: expected at most 65536 elements"),
        ({"OutputEdgeCount": 2**31}, "^OutputEdges: expected at most 65536 elements"),
    ],
)
def test_implausible_graph_counts_are_rejected(change, message):
    new_graph = graph()
    for field, value in change.items():
        setattr(new_graph, field, value)
    with pytest.raises(InputError, match=message):
        graph_from_pointer(ctypes.addressof(new_graph))


def test_dangling_graph_pointer_error_names_the_edge():
    graph_desc = graph()
    graph_desc.IntermediateEdges[1].Desc = 0x10
    with pytest.raises(InputError, match=r"^IntermediateEdges\[1\]: the address 0x10 cannot be read"):
        graph_from_pointer(ctypes.addressof(graph_desc))


def test_graph_layout_matches_a_c_compiler():
    for name, of in [
        ("GRAPH_DESC", GraphDesc),
        ("OPERATOR_GRAPH_NODE_DESC", OperatorNode),
        ("CONSTANT_DATA_GRAPH_NODE_DESC", ConstantNode),
        ("INPUT_GRAPH_EDGE_DESC", Edge),
        ("OUTPUT_GRAPH_EDGE_DESC", Edge),
        ("INTERMEDIATE_GRAPH_EDGE_DESC", Inner),
    ]:
        structure = abi().graph(name)
        assert structure.size == ctypes.sizeof(of), name
        assert structure.members[-1].offset == getattr(of, of._fields_[-1][0]).offset, name


def test_infinity_and_nan_are_read_as_strings():
    new_image = image({"type": "ELEMENT_WISE_CLIP", "desc": {"Min": float("-inf"), "Max": float("nan")}})
    entries = read_back(new_image)
    assert (entries["desc"]["Min"], entries["desc"]["Max"]) == ("-inf", "nan")
    assert struct.calcsize("P") == 8
