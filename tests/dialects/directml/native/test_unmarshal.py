"""Images are read back completely; data that is not a description is rejected."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given

from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import Image, image
from specgate.dialects.directml.native.unmarshal import describe_image, pointer_layout
from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.testing import descriptors

RELU = {
    "type": "DML_OPERATOR_ACTIVATION_RELU",
    "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2], "Strides": [0, 1], "TotalTensorSizeInBytes": 8},
        "OutputTensor": {
            "DataType": "FLOAT16",
            "Sizes": [1, 2],
            "TotalTensorSizeInBytes": 4,
            "GuaranteedBaseOffsetAlignment": 16,
            "Flags": 1,
        },
    },
}


def test_dict_round_trips():
    assert describe_image(image(RELU)) == RELU


def test_every_table_example_round_trips():
    table = dialect("directml")
    examples = [e["descriptor"] for name in table.operators for e in table.operator(name).table.examples.values()]
    images = [image(example) for example in examples]
    assert len(images) > 300
    assert [image(describe_image(each)) for each in images] == images


@given(descriptors("directml", "CONVOLUTION", "6.4"))
def test_omitted_optional_fields_round_trip(descriptor):
    new_image = image(descriptor)
    assert image(describe_image(new_image)) == new_image


def test_unknown_enum_value_stays_a_number():
    data = bytearray(image(RELU).data)
    new_image = image(RELU)
    struct.pack_into("<I", data, new_image.root, 4711)
    assert describe_image(new_image._replace(data=bytes(data))) == {"type": 4711, "desc": {}}


@pytest.mark.parametrize("length", [0, 8, 40, 100])
def test_truncated_image_is_rejected(length):
    new_image = image(RELU)
    with pytest.raises(InputError, match="expected"):
        describe_image(Image(new_image.data[:length], new_image.pointers, new_image.root))


def test_tensor_without_a_description_is_omitted():
    # Some providers point to an empty description for an omitted tensor.
    new_image = image(RELU)
    head = next(p for p in new_image.pointers if p > new_image.root + 8 and p % 16 == 8)
    entries = describe_image(new_image._replace(pointers=tuple(p for p in new_image.pointers if p < head)))
    assert entries["type"] == "DML_OPERATOR_ACTIVATION_RELU"
    assert "OutputTensor" not in entries["desc"]


def test_the_layout_names_every_pointer_of_every_operator():
    words = list(struct.unpack(f"<{len(pointer_layout()) // 4}I", pointer_layout()))
    assert words[0] == len(abi().operators)
    at = 1
    for name in abi().operators:
        structure = abi().structure(name)
        number, size, count = words[at : at + 3]
        pointers = [tuple(words[at + 3 + 3 * i : at + 6 + 3 * i]) for i in range(count)]
        assert (number, size) == (structure.number, structure.size)
        assert [offset for _, offset, _ in pointers] == [m.offset for m in structure.members if m.pointer]
        at += 3 + 3 * count
    assert at == len(words)


def test_layout_names_pointer_targets():
    words = list(struct.unpack(f"<{len(pointer_layout()) // 4}I", pointer_layout()))
    join = abi().structure("JOIN")
    at = next(i for i in range(1, len(words)) if words[i : i + 2] == [join.number, join.size])
    offsets = {member.name: member.offset for member in join.members}
    several, number = 2, 1
    assert words[at + 2 : at + 9] == [
        2, several, offsets["InputTensors"], offsets["InputCount"], number, offsets["OutputTensor"], 0,
    ]  # fmt: skip
