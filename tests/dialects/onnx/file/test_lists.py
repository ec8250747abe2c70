"""Long attribute lists are decoded at once, with the same result as by fields."""

from __future__ import annotations

import random
import struct
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import FileList
from specgate.descriptors.lazy_list import UnreadList
from specgate.dialects.onnx.file import fast_paths, wire
from specgate.dialects.onnx.file import graph as onnx_graph
from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.infer.inference import question
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME, TYPE = b"\x0a\x04list", {"FLOATS": b"\xa0\x01\x06", "INTS": b"\xa0\x01\x07", "STRINGS": b"\xa0\x01\x08"}


def varint(value: int) -> bytes:
    out = b""
    value &= (1 << 64) - 1
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def add_size(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def floats(*values: float) -> bytes:
    return b"".join(b"\x3d" + struct.pack("<f", value) for value in values)


def ints(*values: int) -> bytes:
    return b"".join(b"\x40" + varint(value) for value in values)


def texts(*values: bytes) -> bytes:
    return b"".join(add_size(9, value) for value in values)


RNG = random.Random(0)
WIDE = [RNG.choice((1, -1)) * RNG.getrandbits(RNG.randrange(1, 64)) for _ in range(300)]
LISTS: dict[str, tuple[bytes, str]] = {
    "floats": (floats(*(RNG.uniform(-9, 9) for _ in range(200)), float("inf"), float("nan"), -0.0), "FLOATS"),
    "floats, packed": (add_size(7, struct.pack("<200f", *range(200))), "FLOATS"),
    "ints of one byte": (ints(*(RNG.randrange(128) for _ in range(300))), "INTS"),
    "ints that end like a key": (ints(*(RNG.choice((64, 8192, 8200, 3)) for _ in range(300))), "INTS"),
    "ints": (ints(*WIDE, -(2**63), 2**63 - 1), "INTS"),
    "ints, packed": (add_size(8, b"".join(map(varint, WIDE))), "INTS"),
    "ints of one byte, packed": (add_size(8, bytes(range(128)) * 3), "INTS"),
    "texts": (texts(*(RNG.choice((b"LEAF", b"BRANCH_LEQ", b"", b"J\x04J\x00", b"\n", b"\xff")) for _ in range(200))), "STRINGS"),
    "long texts": (texts(*(bytes(RNG.randrange(1, 128) for _ in range(RNG.randrange(128))) for _ in range(99))), "STRINGS"),
}  # fmt: skip
#: Lists that are not of one kind between name and type, or not contiguous.
OTHERS: dict[str, bytes] = {
    "no type": NAME + LISTS["ints"][0],
    "another type": NAME + LISTS["ints"][0] + TYPE["FLOATS"],
    "a type that there is not": NAME + LISTS["ints"][0] + b"\xa0\x01\x63",
    "a long name": add_size(1, b"n" * 128) + LISTS["ints"][0] + TYPE["INTS"],
    "a name that is no text": add_size(1, b"\xff") + LISTS["ints"][0] + TYPE["INTS"],
    "no name": LISTS["ints"][0] + TYPE["INTS"],
    "the name behind it": LISTS["ints"][0] + NAME + TYPE["INTS"],
    "a documentation": NAME + LISTS["floats"][0] + add_size(13, b"about it") + TYPE["FLOATS"],
    "another list in it": NAME + LISTS["ints"][0] + LISTS["floats"][0] + LISTS["ints"][0] + TYPE["INTS"],
    "packed twice": NAME + LISTS["ints, packed"][0] * 2 + TYPE["INTS"],
    "packed, and one by one": NAME + LISTS["ints, packed"][0] + ints(5) + TYPE["INTS"],
    "a key of two bytes": NAME + ints(*range(99), *range(99)) + b"\xc0\x00\x05" + TYPE["INTS"],
    "a key that ends like that of the list": NAME + ints(*range(128)) + b"\x80\x40\x05" + TYPE["INTS"],
    "a key of zero": NAME + ints(*range(128)) + b"\x00\x05" + TYPE["INTS"],
    "a number of 11 bytes": NAME + ints(*range(128)) + b"\x40" + b"\x80" * 10 + b"\x01" + TYPE["INTS"],
    "a number of 11 bytes, packed": NAME + add_size(8, b"\x05" * 300 + b"\x80" * 10 + b"\x01") + TYPE["INTS"],
    "a number that is cut off": NAME + ints(*range(128)) + b"\x40\x80" + TYPE["INTS"],
    "a number that is cut off, packed": NAME + add_size(8, b"\x05" * 300 + b"\x80") + TYPE["INTS"],
    "floats that are cut off": NAME + floats(*range(99)) + b"\x3d\0\0" + TYPE["FLOATS"],
    "floats that are cut off, packed": NAME + add_size(7, b"\0" * 301) + TYPE["FLOATS"],
    "texts of 128 bytes": NAME + texts(b"a" * 128, b"b" * 128) + TYPE["STRINGS"],
    "a text that is cut off": NAME + texts(*[b"LEAF"] * 99) + b"\x4a\x09LEAF" + TYPE["STRINGS"],
    "one text": NAME + add_size(4, b"a" * 300) + b"\xa0\x01\x03",
    "a type in a text": NAME + texts(*[b"LEAF"] * 99) + b"\x4a\x03\xa0\x01\x08",
}


def in_model(*attributes: bytes) -> bytes:
    node = add_size(4, b"Any") + b"".join(add_size(5, attribute) for attribute in attributes)
    return b"\x08\x08" + add_size(8, b"\x10\x11") + add_size(7, add_size(1, node))


def field_by_field(monkeypatch: pytest.MonkeyPatch, data: bytes) -> Any:
    with monkeypatch.context() as patched:
        patched.setattr(onnx_graph, "MIN_BYTES", 1 << 60)
        return read(data)


def read(data: bytes) -> Any:
    """Return the comparable result, or the error."""
    try:
        model = read_model_bytes(data)
    except InputError as error:
        return str(error)
    nodes = [node.attributes.values() for node in model.graph.nodes]
    return [
        [(a.name, a.kind, repr(a.value), a.ref_attr_name, a.spans) for a in value] for value in nodes
    ], model.oddities


def only_value(data: bytes) -> Any:
    (attribute,) = read_model_bytes(data).graph.nodes[0].attributes.values()
    return attribute.value


@pytest.mark.parametrize("name", LISTS)
def test_list_is_read_in_one_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fields, kind = LISTS[name]
    data = in_model(NAME + fields + TYPE[kind])
    value = only_value(data)
    assert value.__class__ is UnreadList
    assert len(value) == len(list(value))
    assert read(data) == field_by_field(monkeypatch, data)


@pytest.mark.parametrize("name", OTHERS)
def test_other_attributes_are_read_field_by_field(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(OTHERS[name]) >= fast_paths.MIN_BYTES
    data = in_model(OTHERS[name])
    assert read(data) == field_by_field(monkeypatch, data)


def change(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(out))
        if rng.random() < 0.6:
            out[at] = rng.choice((rng.randrange(256), 0x40, 0x80, 0x3D, 0x4A, out[at] ^ 0x80))
        elif rng.random() < 0.5:
            del out[at : at + rng.randrange(1, 4)]
        else:
            out[at:at] = rng.choice((b"\x80", b"\x40", b"\x40\x05", b"\x80" * 10, bytes([rng.randrange(256)])))
    return bytes(out)


def attributes() -> Iterator[bytes]:
    yield from (NAME + fields + TYPE[kind] for fields, kind in LISTS.values())
    yield from OTHERS.values()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(LISTS) + len(OTHERS)))
def test_mutated_bytes_read_equally_in_both_readers(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(number)
    attribute = [*attributes()][number]
    for _ in range(60):
        data = in_model(change(attribute, rng), NAME)
        assert read(data) == field_by_field(monkeypatch, data)


def test_list_limits_apply_to_fast_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = fast_paths.MAX_ATTRIBUTE_VALUES
    for count in (limit, limit + 1):
        for fields, kind in ((ints(5) * count, "INTS"), (add_size(7, b"\0" * 4 * count), "FLOATS")):
            data = in_model(NAME + fields + TYPE[kind])
            assert (only_value(data) is not None) == (count == limit)
    monkeypatch.setattr(wire, "MAX_MEMORY_BYTES", 1 << 20)
    for fields, kind in ((ints(5) * 20_000, "INTS"), (texts(b"") * 20_000, "STRINGS")):
        data = in_model(NAME + fields + TYPE[kind])
        assert "more than 1 MiB of memory" in read(data)
        assert "more than 1 MiB of memory" in field_by_field(monkeypatch, data)


def test_unread_lists_use_only_the_memory_of_their_bytes() -> None:
    data = in_model(*(add_size(1, b"%d" % i) + ints(*range(300, 40_000)) + TYPE["INTS"] for i in range(8)))
    tracemalloc.start()
    model = read_model_bytes(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(model.graph.nodes[0].attributes) == 8
    assert peak < 2.5 * len(data)


@pytest.mark.parametrize("name", LISTS)
def test_inference_request_has_the_same_list(name: str) -> None:
    onnx = pytest.importorskip("onnx")
    fields, kind = LISTS[name]
    model = read_model_bytes(in_model(NAME + fields + TYPE[kind]))
    questions = onnx.ModelProto.FromString(question(model).data)
    (attribute,) = questions.graph.node[0].attribute
    assert attribute.name == "list"
    assert list(map(repr, onnx.helper.get_attribute_value(attribute))) == list(
        map(repr, only_value(in_model(NAME + fields + TYPE[kind])))
    )


def test_a_list_of_a_node_stays_unread_in_its_descriptor() -> None:
    import specgate
    from specgate.linting.model import graph_of

    onnx = pytest.importorskip("onnx")
    numbers = list(range(1000))
    node = onnx.helper.make_node(
        "Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=map(float, numbers), scale=[1.0] * 1000
    )
    tensor = onnx.helper.make_tensor_value_info("x", 1, [2, 1000])
    graph = onnx.helper.make_graph([node], "g", [tensor], [onnx.helper.make_tensor_value_info("y", 1, [2, 1000])])
    imports = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    model = onnx.helper.make_model(graph, opset_imports=imports)
    (unit,) = graph_of(model).units
    assert unit.descriptor is not None
    assert unit.descriptor.fields["offset"].__class__ is UnreadList
    assert not specgate.lint(model, targets=["onnx:17"]).findings
    assert isinstance(unit.descriptor.fields["offset"], FileList)
    assert unit.descriptor.fields["offset"] == numbers
