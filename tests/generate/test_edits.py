"""Changes of one thing at a time."""

from __future__ import annotations

import pytest

from specgate.descriptors.core import Descriptor, GraphDesc, tensor
from specgate.generate.moves import (
    Mutator,
    add_dimensions,
    change_depth,
    change_fields,
    linked_tensors,
    replace_tensors,
    resize_dimension,
    resize_tensor,
    retype_tensors,
    retyped_within,
)
from specgate.spec.tables import dialect

POOLING = dialect("directml").operator("AVERAGE_POOLING")


def pooling() -> Descriptor:
    return Descriptor(
        "directml",
        "AVERAGE_POOLING",
        {
            "InputTensor": tensor("FLOAT32", (1, 2, 5, 6)),
            "OutputTensor": tensor("FLOAT32", (1, 2, 4, 5)),
            "DimensionCount": 2,
            "Strides": [1, 1],
            "WindowSize": [2, 2],
            "StartPadding": [0, 0],
            "EndPadding": [0, 0],
            "IncludePadding": False,
        },
    )


def test_fields_stay_in_the_order_of_the_table() -> None:
    without = change_fields(pooling(), POOLING, {"InputTensor": None})
    assert "InputTensor" not in without.fields
    descriptor = change_fields(without, POOLING, {"InputTensor": tensor("FLOAT16", (1,))})
    assert list(descriptor.fields) == list(pooling().fields)
    assert descriptor.fields["InputTensor"].type == "FLOAT16"


def test_tensors_are_replaced_by_path_including_arrays() -> None:
    item, two = tensor("FLOAT32", (1,)), tensor("FLOAT32", (2,))
    joined = Descriptor("directml", "JOIN", {"InputTensors": [item, item], "OutputTensor": two, "Axis": 0})
    descriptor = replace_tensors(joined, {"InputTensors[1]": two})
    assert descriptor.fields["InputTensors"] == [item, two]
    assert joined.fields["InputTensors"] == [item, item]


def test_resized_constant_matches_its_tensor_size() -> None:
    constant = tensor("INT64", (3,), value=(7, 8, 9))
    assert resize_tensor(constant, (5,)).value == (7, 8, 9, 7, 8)
    assert resize_tensor(constant, (2,)).value == (7, 8)
    assert resize_tensor(tensor("INT64", (0,), value=()), (2,)).value == (0, 0)


def test_another_size_keeps_strides_and_drops_the_total_size() -> None:
    laid_out = tensor("FLOAT32", (2, 3), strides=(3, 1), size_in_bytes=24)
    assert resize_dimension(laid_out, 1, 2) == tensor("FLOAT32", (2, 2), strides=(3, 1))
    assert resize_tensor(laid_out, (2, 3, 1)) == tensor("FLOAT32", (2, 3, 1))


@pytest.mark.parametrize(("steps", "sizes"), [(2, (1, 1, 4, 5)), (-1, (5,)), (-3, ()), (0, (4, 5))])
def test_leading_dimensions_are_added_and_removed(steps: int, sizes: tuple[int, ...]) -> None:
    result = add_dimensions(Descriptor("onnx", "Relu", {"X": tensor("FLOAT", (4, 5))}), ["X"], steps)
    assert result.fields["X"].sizes == sizes


def test_equal_tensors_change_together_or_separately() -> None:
    base = Descriptor(
        "onnx", "Add", {"A": tensor("FLOAT", (2,)), "B": tensor("FLOAT", (1, 2)), "C": tensor("INT8", (2,))}
    )
    assert list(linked_tensors(base, "A", "type")) == [["A", "B"], ["A"]]
    assert list(linked_tensors(base, "A", "rank")) == [["A", "C"], ["A"], ["A", "B", "C"]]
    assert {t.type for _, t in retype_tensors(base, ["A", "B"], "DOUBLE").tensors()} == {"DOUBLE", "INT8"}


def test_added_dimension_extends_every_array() -> None:
    descriptor = change_depth(pooling(), POOLING, 1)
    assert descriptor.fields["InputTensor"].sizes == (1, 2, 5, 6, 6)
    assert descriptor.fields["OutputTensor"].sizes == (1, 2, 4, 5, 5)
    assert [descriptor.fields[name] for name in ("Strides", "WindowSize")] == [[1, 1, 1], [2, 2, 2]]
    assert descriptor.fields["DimensionCount"] == 3
    assert change_depth(descriptor, POOLING, 1, drop_dimension=True) == pooling()


def test_added_dimension_extends_both_halves_of_pads() -> None:
    pads = Descriptor("onnx", "Pad", {"data": tensor("FLOAT", (2, 3)), "pads": [1, 2, 3, 4]})
    descriptor = change_depth(pads, dialect("onnx").operator("Pad"), 1)
    assert descriptor.fields["pads"] == [1, 2, 2, 3, 4, 4]


def test_type_changes_inside_graphs() -> None:
    """A loop's body must accept the loop's inputs."""
    number, truth = tensor("INT64", ()), tensor("BOOL", ())
    body = GraphDesc((number, truth, tensor("FLOAT", (2,))), (truth, tensor("FLOAT", (2,))))
    fields = {"M": number, "v_initial": [tensor("FLOAT", (2,))], "body": body}
    descriptor = retyped_within(Descriptor("onnx", "Loop", fields), ["v_initial[0]"], "DOUBLE")
    assert [each.type for each in descriptor.fields["v_initial"]] == ["DOUBLE"]
    assert [each.type for each in descriptor.fields["body"].inputs] == ["INT64", "BOOL", "DOUBLE"]
    assert [each.type for each in descriptor.fields["body"].outputs] == ["BOOL", "DOUBLE"]
    assert descriptor.fields["M"] == number


def test_changed_strides_fit_into_32_bits() -> None:
    mutator = Mutator(POOLING, lambda least, most: most, [2**32], [])
    desc = tensor("FLOAT32", (1, 2, 5, 6))._replace(strides=(2**32 - 1,) * 4)
    assert mutator._strides(desc) == (2**32 - 1,) * 4
