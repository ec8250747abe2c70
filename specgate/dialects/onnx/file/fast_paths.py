"""Fast paths for ordinary nodes and for attributes with long lists."""

from __future__ import annotations

import re
from array import array
from functools import cache, partial
from sys import byteorder
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from specgate.descriptors.lazy_list import UnreadList
from specgate.dialects.onnx.file.schema import (
    ATTRIBUTE_TYPES,
    I32,
    LEN,
    PROTO,
    VARINT,
    WireError,
    int64,
    length_of,
    varint,
)
from specgate.dialects.onnx.file.structure import NO_ATTRIBUTES, OnnxAttribute, OnnxNode
from specgate.dialects.onnx.file.wire import FIELD_COST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specgate.dialects.onnx.file.model import Source
    from specgate.dialects.onnx.file.wire import Reader

MAX_ATTRIBUTE_BYTES = 1 << 20  # per attribute with strings; larger values are skipped
MAX_ATTRIBUTE_VALUES = 1 << 16  # per list attribute; longer lists are skipped
MIN_BYTES: Final = 256  # for shorter attributes `file.graph` is as fast

_ATTRIBUTE_NAME: Final = 1 << 3 | LEN
_FLOATS, _INTS, _STRINGS = (
    next(number for number, (name, _) in PROTO["AttributeProto"].fields.items() if name == field)
    for field in ("floats", "ints", "strings")
)
_TYPE: Final = bytes([20 << 3 & 127 | 128 | VARINT, 20 << 3 >> 7])
_CONTINUATION_BYTES: Final = bytes(range(128, 256))  # every byte of a varint but the last
_MARKS: Final = bytes(2 if byte == _INTS << 3 | VARINT else byte >> 7 for byte in range(256))
_OVERLONG_VARINT: Final = b"\x01" * 10  # in marks, a varint of more than 10 bytes
_KEY_LIKE_END: Final = b"\x01\x02"
_HEADER_BYTES: Final = 130  # key and length of the name, the name, key of the list


def listed_attribute(reader: Reader, begin: int, end: int) -> OnnxAttribute | None:
    """Return a list attribute from a span, or None if it is not that simple."""
    if end - begin > MAX_ATTRIBUTE_BYTES:
        return None
    try:
        head = reader.read(begin, min(begin + _HEADER_BYTES, end))
        first = 2 + head[1]
        kind, count = _READERS[head[first]]
        name = head[2:first].decode()
        data = reader.read(begin, end)
        if data[0] != _ATTRIBUTE_NAME or data[-3:-1] != _TYPE or ATTRIBUTE_TYPES[data[-1]] != kind:
            return None
        fields = data[first:-3]
        field_count = count(fields)
    except (LookupError, UnicodeDecodeError, WireError):
        return None
    if field_count is None or field_count[0] > MAX_ATTRIBUTE_VALUES:
        return None
    length, elements = field_count
    reader.spend(PROTO["AttributeProto"].cost + FIELD_COST * (length + 2) + len(data), begin)
    return OnnxAttribute(name, kind, UnreadList(_ELEMENTS[kind], fields, length, elements))


@cache
def _varints() -> re.Pattern[bytes]:
    return re.compile(rb"[\x80-\xff]*[\x00-\x7f]")


@cache
def _text() -> re.Pattern[bytes]:
    """Match a string field of less than 128 bytes: key, length, content."""
    texts = b"|".join(re.escape(bytes([length])) + b".{%d}" % length for length in range(128))
    return re.compile(re.escape(bytes([_STRINGS << 3 | LEN])) + b"(?:" + texts + b")", re.DOTALL)


Counted = tuple[int, "Callable[[], list[Any]]"]  # number of elements, and a function that decodes them


def _floats(fields: bytes) -> Counted | None:
    count, rest = divmod(len(fields), 5)
    if rest or fields[::5] != bytes([_FLOATS << 3 | I32]) * count:
        return None
    return count, partial(_unpacked_floats, fields)


def _unpacked_floats(fields: bytes) -> list[float]:
    numbers = bytearray(fields)
    del numbers[::5]
    return _read_floats(bytes(numbers))


def _packed_floats(fields: bytes) -> Counted | None:
    numbers = _single_field_content(fields)
    return None if numbers is None or len(numbers) % 4 else (len(numbers) // 4, partial(_read_floats, numbers))


def _read_floats(numbers: bytes) -> list[float]:
    matching_array = array("f", numbers)
    if byteorder != "little":
        matching_array.byteswap()
    return matching_array.tolist()


def _ints(fields: bytes) -> Counted | None:
    last = fields.translate(None, _CONTINUATION_BYTES)  # per element the key and the last byte of the number
    count, rest = divmod(len(last), 2)
    if rest or fields[-1] > 127 or last[::2] != bytes([_INTS << 3 | VARINT]) * count:
        return None
    if len(fields) == len(last):
        return count, partial(list, fields[1::2])
    marks = fields.translate(_MARKS)
    if _OVERLONG_VARINT in marks or not _only_numbers_end_like_keys(fields, marks):
        return None
    return count, partial(_read_ints, fields, 1)


def _only_numbers_end_like_keys(fields: bytes, marks: bytes) -> bool:
    """Return True if no key-like byte is the end of a longer key."""
    before = ends = 0
    position = marks.find(_KEY_LIKE_END)
    while position >= 0:
        ends += len(fields[before:position].translate(None, _CONTINUATION_BYTES))  # keys and numbers alternate
        if ends % 2 == 0:
            return False
        before, position = position, marks.find(_KEY_LIKE_END, position + 1)
    return True


def _packed_ints(fields: bytes) -> Counted | None:
    numbers = _single_field_content(fields)
    if not numbers or numbers[-1] > 127 or _OVERLONG_VARINT in numbers.translate(bytes(128) + b"\x01" * 128):
        return None
    count = len(numbers.translate(None, _CONTINUATION_BYTES))
    return count, partial(list, numbers) if count == len(numbers) else partial(_read_ints, numbers, 0)


def _read_ints(numbers: bytes, keys: int) -> list[int]:
    """Decode varints; `keys` is 1 if a one-byte key precedes each, else 0."""
    numbers_by_varint = _Varints()
    return [numbers_by_varint[number] for number in _varints().findall(numbers)[keys :: keys + 1]]


class _Varints(dict[bytes, int]):
    """Cache of decoded varints by their bytes."""

    def __missing__(self, data: bytes) -> int:
        number = self[data] = int64(varint(data, 0, 0)[0])
        return number


def _texts(fields: bytes) -> Counted | None:
    rest, count = _text().subn(b"", fields)
    return None if rest else (count, partial(_read_texts, fields))


def _read_texts(fields: bytes) -> list[bytes]:
    return [text[2:] for text in _text().findall(fields)]


def _single_field_content(fields: bytes) -> bytes | None:
    """Return the content if `fields` is a single length-delimited field."""
    length, position = length_of(fields, 1, 0)
    return fields[position:] if len(fields) == position + length else None


#: Key of the list's first field: attribute type and function that counts the elements.
_READERS: Final[dict[int, tuple[str, Callable[[bytes], Counted | None]]]] = {
    _FLOATS << 3 | I32: ("FLOATS", _floats),
    _FLOATS << 3 | LEN: ("FLOATS", _packed_floats),
    _INTS << 3 | VARINT: ("INTS", _ints),
    _INTS << 3 | LEN: ("INTS", _packed_ints),
    _STRINGS << 3 | LEN: ("STRINGS", _texts),
}
_ELEMENTS: Final = {"FLOATS": "float", "INTS": "int", "STRINGS": "string"}


_MAX_HEADER = 6  # bytes of a field's key and length; a larger gap contains skipped fields
_NODE_COST, _INFO_COST = 400, 60  # as in `schema.PROTO`

# Keys of NodeProto and ValueInfoProto (field number << 3 | 2).
_INPUT, _OUTPUT, _NAME, _OP_TYPE, _DOC, _ATTRIBUTE, _DOMAIN, _METADATA, _DEVICES = 10, 18, 26, 34, 50, 42, 58, 74, 82
_FIRST_KEYS: Final = frozenset((_INPUT, _OUTPUT, _NAME))
_INFO_NAME, _INFO_TYPE = 10, 18

#: A node, the attributes that are not decoded yet (their bytes and offsets), and whether it has no other fields. Then
#: the bytes from `op_type` on if only attributes and a domain follow and these bytes are not cached, else None.
Plain: TypeAlias = tuple[OnnxNode, "Sequence[tuple[bytes, int]]", bool, bytes | None]


def plain_node(  # noqa: PLR0915  # one loop over bytes
    source: Source, data: bytes, begin: int, end: int, base: int
) -> Plain | None:
    """Return the NodeProto in a span of `data`, or None if it is not ordinary.

    base: the offset of `data` in the file.
    """
    name = op_type = domain = ""
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: list[tuple[bytes, int]] = []
    texts = source.texts
    is_bare = True
    start, ends = -1, 0  # of `op_type`: its offset, and the inputs and outputs before it
    i = begin
    try:
        # Most nodes are inputs, outputs and a name with short lengths, and an end that earlier nodes have, too.
        while i < end and (key := data[i]) != _OP_TYPE:
            size, position = data[i + 1], i + 2
            if size > 127 or key not in _FIRST_KEYS:
                break
            i = position + size
            text = data[position:i].decode()
            if key == _INPUT:
                inputs.append(texts.setdefault(text, text))
            elif key == _OUTPUT:
                outputs.append(texts.setdefault(text, text))
            else:
                name = text
        known_end = source.ends.get(data[i:end])
        if known_end is not None:
            op_type, domain, decoded, is_bare = known_end
            source.left -= _NODE_COST + end - begin + FIELD_COST * (len(inputs) + len(outputs) + len(decoded))
            return OnnxNode(name, op_type, domain, "", tuple(inputs), tuple(outputs), decoded), (), is_bare, None
        while i < end:
            key, size = data[i], data[i + 1]
            i += 2
            if size > 127:
                if data[i] > 127:
                    return None
                size += (data[i] << 7) - 128
                i += 1
            position = i
            i += size
            if key == _INPUT:
                text = data[position:i].decode()
                inputs.append(texts.setdefault(text, text))
            elif key == _OUTPUT:
                text = data[position:i].decode()
                outputs.append(texts.setdefault(text, text))
            elif key == _NAME:
                name = data[position:i].decode()
                start = -1
            elif key == _OP_TYPE:
                start = position - 2 if size < 128 and is_bare and not attributes and not domain else -1
                ends = len(inputs) + len(outputs)
                op_type = source.text(data[position:i])
            elif key == _ATTRIBUTE:
                attributes.append((data[position:i], base + position))
            elif key == _DOMAIN:
                domain = source.text(data[position:i])
            elif key == _METADATA:
                is_bare = False
                if not plain_entry(data, position, i):
                    source.pending.append((base + position, base + i, "StringStringEntryProto", 0))
            elif key == _DEVICES:
                is_bare = False
                source.pending.append((base + position, base + i, "NodeDeviceConfigurationProto", 0))
            elif key == _DOC:
                is_bare = False
            else:
                return None
    except (IndexError, UnicodeDecodeError):
        return None
    if i > end or domain == "ai.onnx":
        return None
    source.left -= _NODE_COST + end - begin + FIELD_COST * (len(inputs) + len(outputs) + len(attributes))
    node = OnnxNode(name, op_type, domain, "", tuple(inputs), tuple(outputs), NO_ATTRIBUTES)
    is_end = is_bare and start >= 0 and ends == len(inputs) + len(outputs)
    return node, attributes, is_bare, data[start:end] if is_end else None


class Runs:
    """Collector of runs of adjacent nodes, which are copied unchanged.

    See `OnnxGraph.runs`.
    """

    __slots__ = ("_begin", "_end", "_first", "_past", "spans")

    def __init__(self) -> None:
        self.spans: list[tuple[int, int, int, int]] = []  # first node, end of the run (exclusive), and their span
        self._begin = self._end = self._first = self._past = -1

    def add(self, index: int, begin: int, end: int) -> None:
        """Add a node that can be copied, by its index and span."""
        if index == self._past and begin - self._end <= _MAX_HEADER:
            self._past += 1
        else:
            self.close()
            self._first = self._past = index + 1  # the first node's field start is unknown, so the run begins after it
            self._begin = end
        self._end = end

    def close(self) -> None:
        """End the current run."""
        if self._first < self._past:
            self.spans.append((self._first, self._past, self._begin, self._end))


def plain_info(source: Source, data: bytes, begin: int, end: int) -> tuple[str, bytes] | None:
    """Return the name and the type's bytes of the ValueInfoProto in a span.

    None if it has other fields or long ones.
    """
    try:
        position = begin + 2 + data[begin + 1]
        size = data[position + 1]
        if data[begin] != _INFO_NAME or data[position] != _INFO_TYPE or size > 127 or position + 2 + size != end:
            return None
        name = data[begin + 2 : position].decode()
    except (IndexError, UnicodeDecodeError):
        return None
    source.left -= _INFO_COST + end - begin + 2 * FIELD_COST
    return source.texts.setdefault(name, name), data[position + 2 : end]


def plain_entry(data: bytes, position: int, end: int) -> bool:
    """Return True for a StringStringEntryProto with a short key and value."""
    value = position + 2 + data[position + 1] if position + 2 < end else end
    return (
        value + 2 <= end
        and data[position] == 10
        and data[value] == 18
        and value + 2 + data[value + 1] == end < position + 127
    )
