"""The wire format: fields across blocks, merged spans, groups, invalid bytes."""

from __future__ import annotations

import re
import struct
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.dialects.onnx.file import schema, wire
from specgate.dialects.onnx.file.model import locate
from specgate.dialects.onnx.file.schema import Message, WireError, enum, messages
from specgate.dialects.onnx.file.wire import Reader

MESSAGES = messages("""
Outer 10: 1 int64 number; 2 string text; 3 repeated Inner inner; 4 bytes data; 5 int32 small; 6 enum choice;
    7 uint64 big; 8 float single; 9 double twice; 10 repeated int64 numbers; 11 repeated float singles;
    300 string far; 12 Inner one
Inner 0: 1 repeated string text; 2 Outer outer
""")
OUTER, INNER = MESSAGES["Outer"], MESSAGES["Inner"]
NUMBERS = {name: number for number, (name, _) in OUTER.fields.items()}
BLOCKS = st.sampled_from([24, 25, 40, 64, 1 << 15])
INT64 = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-200, 200))


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def key(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def add_size(number: int, payload: bytes) -> bytes:
    return key(number, schema.LEN) + varint(len(payload)) + payload


def scalar(name: str, value: Any) -> bytes:
    number = NUMBERS[name]
    if name in {"single", "singles"}:
        return key(number, schema.I32) + struct.pack("<f", value)
    if name == "twice":
        return key(number, schema.I64) + struct.pack("<d", value)
    if name in {"text", "far"}:
        return add_size(number, value.encode())
    if name == "data":
        return add_size(number, value)
    return key(number, schema.VARINT) + varint(value)


def reader(data: bytes) -> Reader:
    return Reader(BytesIO(data), len(data))


def read(data: bytes, message: Message = OUTER) -> list[tuple[str, Any]]:
    """Return every field's name and value.

    Bytes of spans are looked up before later fields arrive.
    """
    source = reader(data)
    fields = source.fields([(0, len(data))], message)
    return [(name, source.read(value, end) if end else value) for name, value, end in fields]


FIELDS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["number", "numbers"]), INT64),
        st.tuples(st.sampled_from(["small", "choice"]), st.integers(-(1 << 31), (1 << 31) - 1)),
        st.tuples(st.just("big"), st.integers(0, (1 << 64) - 1)),
        st.tuples(st.sampled_from(["single", "singles"]), st.floats(width=32, allow_nan=False)),
        st.tuples(st.just("twice"), st.floats(allow_nan=False)),
        st.tuples(st.sampled_from(["text", "far"]), st.text(max_size=200)),
        st.tuples(st.just("data"), st.binary(min_size=1, max_size=200)),
    ),
    max_size=30,
)


@given(FIELDS, BLOCKS, st.lists(st.integers(0, 29), max_size=4))
def test_every_field_is_read_with_any_block_size(
    fields: list[tuple[str, Any]], block: int, strangers: list[int]
) -> None:
    parts = [scalar(name, value) for name, value in fields]
    unknown = (
        key(99, schema.LEN) + varint(70) + b"\xff" * 70 + key(98, schema.I64) + b"\xff" * 8 + key(97, 0) + b"\xff\x01"
    )
    for at in strangers:
        parts.insert(min(at, len(parts)), unknown)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "BLOCK_BYTES", block)
        assert read(b"".join(parts)) == fields


@given(st.lists(INT64, max_size=40), st.lists(st.floats(width=32), max_size=40), st.lists(st.floats(), max_size=9))
def test_packed_numbers(integers: list[int], singles: list[float], doubles: list[float]) -> None:
    data = b"".join(map(varint, integers))
    assert reader(data).decode_packed(0, len(data), "int64") == integers
    assert reader(data).decode_packed(0, len(data), "uint64") == [number % (1 << 64) for number in integers]
    data = struct.pack(f"<{len(singles)}f", *singles)
    assert repr(reader(data).decode_packed(0, len(data), "float")) == repr(singles)
    data = struct.pack(f"<{len(doubles)}d", *doubles)
    assert repr(reader(data).decode_packed(0, len(data), "double")) == repr(doubles)


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (b"\x01\x80", "int64", "truncated"),
        (b"\xff" * 11, "int64", "more than 10 bytes"),
        (b"12345", "float", "4 bytes, found 5"),
        (b"123456789", "double", "8 bytes, found 9"),
        (b"\x01" * ((1 << 20) + 1), "int64", "at most 1048576 bytes of packed"),
    ],
)
def test_invalid_packed_numbers_are_rejected(data: bytes, kind: str, expected: str) -> None:
    with pytest.raises(WireError, match=expected):
        reader(data).decode_packed(0, len(data), kind)


def test_numbers_are_truncated_to_their_width() -> None:
    assert read(key(5, 0) + varint((1 << 32) + 7)) == [("small", 7)]
    assert read(key(5, 0) + varint(0xFFFFFFFF)) == [("small", -1)]
    assert read(key(1, 0) + b"\xff" * 9 + b"\x7f") == [("number", -1)]
    assert read(key(1, 0) + b"\x81" + b"\x80" * 8 + b"\x00") == [("number", 1)]


def test_repeated_field_accepts_packed_and_single_numbers() -> None:
    data = add_size(10, b"\x05\x06") + key(10, 0) + b"\x07" + add_size(11, b"\0\0\x80\x3f")
    assert read(data) == [("numbers", b"\x05\x06"), ("numbers", 7), ("singles", b"\0\0\x80\x3f")]


@pytest.mark.parametrize("block", [24, 1 << 15])
def test_spans_are_read_in_order(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "BLOCK_BYTES", block)
    first, second = scalar("text", "a" * 50) + scalar("number", 1), scalar("number", 2)
    data = first + b"\xff" * 100 + second
    spans = [(0, len(first)), (len(first), len(first)), (len(first) + 100, len(data))]
    assert list(reader(data).fields(spans, OUTER)) == [("text", "a" * 50, 0), ("number", 1, 0), ("number", 2, 0)]


@pytest.mark.parametrize("block", [24, 1 << 15])
def test_children_are_read_between_their_siblings(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "BLOCK_BYTES", block)
    data = b"".join(
        add_size(3, add_size(1, b"x" * n) + add_size(1, b"%d" % n)) + scalar("number", n) for n in range(60)
    )
    source = reader(data)
    result: list[Any] = []
    for name, value, end in source.fields([(0, len(data))], OUTER):
        result.append([text for _, text, _ in source.fields([(value, end)], INNER)] if name == "inner" else value)
    assert result == [item for n in range(60) for item in (["x" * n, str(n)], n)]


def group(number: int, content: bytes) -> bytes:
    return key(number, schema.GROUP) + content + key(number, schema.END_GROUP)


@pytest.mark.parametrize("block", [24, 1 << 15])
def test_unknown_groups_are_skipped(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "BLOCK_BYTES", block)
    content = key(1, 0) + b"\x85\x01" + key(2, 1) + b"\xff" * 8 + key(3, 5) + b"\xff" * 4 + add_size(4, b"\xff" * 300)
    data = group(40, content + group(41, content) + group(42, b"")) + scalar("number", 3)
    assert read(data) == [("number", 3)]
    nested = content
    for number in range(100, 200):
        nested = group(number, nested)
    assert read(nested + scalar("number", 3)) == [("number", 3)]
    with pytest.raises(WireError, match="more than 100 deep"):
        read(group(200, nested))


def test_deeply_nested_groups_are_rejected_immediately() -> None:
    with pytest.raises(WireError, match="more than 100 deep"):
        read(key(40, schema.GROUP) * 100_000)


HOSTILE = [
    (b"\x08", "truncated at the end"),
    (b"\x12", "truncated at the end"),
    (b"\x80", "truncated at the end"),
    (b"\x08\x80", "truncated at the end"),
    (b"\x08" + b"\xff" * 10 + b"\x01", "more than 10 bytes"),
    (b"\x80" * 10 + b"\x01\x00", "more than 10 bytes"),
    (b"\x12\x05ab", "reaches to byte 7, beyond 4"),
    (b"\x22\xff\xff\xff\xff\x07", "beyond 6"),
    (b"\x22\xff\xff\xff\xff\x0f", "at most 2147483647 bytes, found one of 4294967295"),
    (b"\x22" + b"\xff" * 9 + b"\x01", "length in at most 5 bytes"),
    (b"\x45\0\0\0", "reaches to byte 5, beyond 4"),
    (b"\x49\0\0\0\0", "beyond 5"),
    (b"\x9d\x06\0", "reaches to byte"),
    (b"\x00\x01", "field number from 1 to 536870911, found 0"),
    (b"\x02\x00", "found 0"),
    (b"\x80\x80\x80\x80\x10\x00", "key in at most 5 bytes and 32 bits"),
    (b"\x88\x80\x80\x80\x80\x00\x01", "key in at most 5 bytes and 32 bits"),
    (b"\x9b\x06\x00\x01\x9c\x06", "field number from 1 to 536870911, found 0"),
    (b"\x0e\x00", "expected a field, found wire type 6"),
    (b"\x9f\x06\x00", "expected a field, found wire type 7"),
    (b"\x9c\x06\x00", "end of a group without its beginning"),
    (b"\x9b\x06\x08\x01", "group of field 99 has no end"),
    (b"\x9b\x06\x08\x01\xa4\x06", "found wire type 4"),
    (b"\x9b\x06\x0e\x01", "found wire type 6"),
    (b"\x9b\x06\x12\x7fab", "group of field 99 has no end"),
    (b"\x0c\x00", "found the end of a group"),
    (add_size(2, b"a" * (1 << 20) + b"b"), "at most 1048576 bytes in text, found 1048577"),
]


@pytest.mark.parametrize(("data", "expected"), HOSTILE)
@pytest.mark.parametrize("block", [24, 1 << 15])
def test_hostile_bytes_raise_a_single_error(
    data: bytes, expected: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "BLOCK_BYTES", block)
    with pytest.raises(WireError, match=expected) as caught:
        read(data)
    assert len(str(caught.value)) < 250
    good = scalar("number", 5) * 30
    fields, error = outcome(good + data, block)
    assert fields == [("number", 5)] * 30  # earlier fields are read, wherever the block ends
    assert error is not None
    assert len(good) <= error.offset < len(good + data)


ODD = [
    (b"\x0d\0\0\0\0", "expected int64 in Outer.number, found 32 bits"),
    (b"\x09\0\0\0\0\0\0\0\0", "found 64 bits"),
    (b"\x0a\x00", "found a length-delimited field"),
    (b"\x10\x00", "expected string in Outer.text, found a varint"),
    (b"\x18\x00", "expected repeated Inner in Outer.inner, found a varint"),
    (b"\x0b\x0c", "expected int64 in Outer.number, found a group"),
    (b"\x12\x02\xff\xfe", r"expected UTF-8 in a string of Outer, found b'\\xff\\xfe'"),
    (b"\x12\x03\xed\xa0\x80", "expected UTF-8"),
    (add_size(2, b"\xff" * 40_000), "expected UTF-8"),
]


@pytest.mark.parametrize(("data", "expected"), ODD)
@pytest.mark.parametrize("block", [24, 1 << 15])
def test_bytes_accepted_by_protobuf_are_accepted_and_reported(
    data: bytes, expected: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "BLOCK_BYTES", block)
    good = scalar("number", 5) * 30
    source = reader(good + data + good)
    result = [(name, value) for name, value, _ in source.fields([(0, source.size)], OUTER)]
    assert [item for item in result if item[0] == "number"] == [("number", 5)] * 60
    assert [value.startswith("\\x") for name, value in result if name == "text"] == [True] * ("UTF-8" in expected)
    ((at, message),) = source.oddities.items()
    assert at == len(good)
    assert re.match(f".*{expected}", message)
    assert len(message) < 250
    many = reader(data * 50)
    list(many.fields([(0, many.size)], OUTER))
    assert len(many.oddities) == wire.MAX_ODDITIES


def outcome(data: bytes, block: int) -> tuple[list[tuple[str, Any]], WireError | None]:
    """Return the fields before the error, and the error."""
    pairs: list[tuple[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "BLOCK_BYTES", block)
        source = reader(data)
        try:
            for name, value, end in source.fields([(0, len(data))], OUTER):
                pairs.append((name, source.read(value, end) if end else value))
        except WireError as error:
            return pairs, error
    return pairs, None


@given(st.binary(max_size=60), BLOCKS)
@settings(max_examples=300)
def test_arbitrary_bytes_read_equally_with_any_block_size(data: bytes, block: int) -> None:
    fields, error = outcome(data, block)
    assert error is None or 0 <= error.offset < len(data)
    repeated, other = outcome(data, 1 << 15)
    assert repr(repeated) == repr(fields)
    assert str(other) == str(error)


def test_long_string_is_read_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "BLOCK_BYTES", 24)
    assert read(scalar("text", "é" * (1 << 19)))[0][1] == "é" * (1 << 19)


def test_unneeded_payload_is_not_read() -> None:
    class Counting(BytesIO):
        taken = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.taken += len(data)
            return data

    data = add_size(4, bytes(10_000_000)) + scalar("number", 7)
    file = Counting(data)
    texts = [name for name, _, _ in Reader(file, len(data)).fields([(0, len(data))], OUTER)]
    assert texts == ["data", "number"]
    assert file.taken <= 2 * wire.BLOCK_BYTES


@pytest.mark.parametrize("left", [0, 1, 5, 40_000])
def test_file_that_shrinks_while_reading_is_an_error(left: int) -> None:
    data = scalar("text", "abcdef") * 20_000
    with pytest.raises(WireError, match=r"end of the file|truncated|bytes, the file has only"):
        list(Reader(BytesIO(data[:left]), len(data)).fields([(0, len(data))], OUTER))
    with pytest.raises(WireError, match="expected 9 bytes, the file has only 1 left"):
        Reader(BytesIO(b"a"), 10).read(0, 9)


def test_short_reads_are_continued() -> None:
    class Slow(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 0, 7))

    data = scalar("text", "abcdef") * 20
    assert len(list(Reader(Slow(data), len(data)).fields([(0, len(data))], OUTER))) == 20


def test_memory_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_MEMORY_BYTES", 1 << 20)
    assert len(read(scalar("number", 1) * 16_000)) == 16_000
    with pytest.raises(WireError, match="needs more than 1 MiB of memory"):
        read(scalar("number", 1) * 17_000)
    with pytest.raises(WireError, match="needs more than 1 MiB"):
        read(scalar("text", "a" * 1000) * 1100)
    data = scalar("number", 1)
    source = reader(data)
    source.keep(0, 2)
    for _ in range((1 << 20) // (OUTER.cost + wire.FIELD_COST)):
        list(source.fields([(0, 2)], OUTER))
    with pytest.raises(WireError, match="needs more than 1 MiB"):
        source.fields([(0, 2)], OUTER)


def test_path_of_a_byte_offset() -> None:
    inner = add_size(3, b"") + add_size(
        3, add_size(1, b"a") + add_size(2, scalar("text", "here") + add_size(12, b"\x0a\x01b"))
    )
    data = scalar("text", "x" * 300) + inner
    at = data.index(b"here")
    assert locate(reader(data), OUTER, MESSAGES, at) == "inner[1].outer"
    assert locate(reader(data), OUTER, MESSAGES, len(data) - 1) == "inner[1].outer.one"
    assert locate(reader(data), OUTER, MESSAGES, 10) == ""
    assert locate(reader(data + b"\0"), OUTER, MESSAGES, len(data)) == ""
    assert locate(reader(b""), OUTER, MESSAGES, 0) == ""


def test_tables_are_read() -> None:
    assert list(MESSAGES) == ["Outer", "Inner"]
    assert OUTER.cost == 10
    assert OUTER.fields[3] == ("inner", "repeated Inner")
    assert OUTER.fields[300] == ("far", "string")
    assert messages("Empty 5:")["Empty"].fields == {}
    assert enum("A B\n C") == ("A", "B", "C")
