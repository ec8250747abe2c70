"""Fast path for attributes with long lists: counted, not decoded.

This duplicates part of `file.graph` for speed, for example for the trees of a tree ensemble. It handles attributes that
consist of a name, one list (packed or not) and a type. `file.graph` reads all others.
"""

from __future__ import annotations

import re
from array import array
from functools import cache, partial
from sys import byteorder
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.lazy_list import UnreadList
from specgate.dialects.onnx.file.schema import ATTRIBUTE_TYPES, PROTO
from specgate.dialects.onnx.file.structure import OnnxAttribute
from specgate.dialects.onnx.file.varints import I32, LEN, VARINT, WireError, int64, length_of, varint
from specgate.dialects.onnx.file.wire import FIELD_COST

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.dialects.onnx.file.wire import Reader

__all__ = ["LEAST_BYTES", "MAX_ATTRIBUTE_BYTES", "MAX_ATTRIBUTE_VALUES", "listed_attribute"]

MAX_ATTRIBUTE_BYTES = 1 << 20  # per attribute with strings; larger values are skipped
MAX_ATTRIBUTE_VALUES = 1 << 16  # per list attribute; longer lists are skipped
LEAST_BYTES: Final = 256  # for shorter attributes `file.graph` is as fast

_NAME: Final = 1 << 3 | LEN
_FLOATS, _INTS, _STRINGS = (
    next(number for number, (name, _) in PROTO["AttributeProto"].fields.items() if name == field)
    for field in ("floats", "ints", "strings")
)
_TYPE: Final = bytes([20 << 3 & 127 | 128 | VARINT, 20 << 3 >> 7])
_GO_ON: Final = bytes(range(128, 256))  # every byte of a varint but the last
_MARKS: Final = bytes(2 if byte == _INTS << 3 | VARINT else byte >> 7 for byte in range(256))
_TOO_LONG: Final = b"\x01" * 10  # in marks, a varint of more than 10 bytes
_ENDS_LIKE_KEY: Final = b"\x01\x02"
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
        if data[0] != _NAME or data[-3:-1] != _TYPE or ATTRIBUTE_TYPES[data[-1]] != kind:
            return None
        fields = data[first:-3]
        counted = count(fields)
    except (LookupError, UnicodeDecodeError, WireError):
        return None
    if counted is None or counted[0] > MAX_ATTRIBUTE_VALUES:
        return None
    length, elements = counted
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
    numbers = _packed(fields)
    return None if numbers is None or len(numbers) % 4 else (len(numbers) // 4, partial(_read_floats, numbers))


def _read_floats(numbers: bytes) -> list[float]:
    matching_array = array("f", numbers)
    if byteorder != "little":
        matching_array.byteswap()
    return matching_array.tolist()


def _ints(fields: bytes) -> Counted | None:
    last = fields.translate(None, _GO_ON)  # per element the key and the last byte of the number
    count, rest = divmod(len(last), 2)
    if rest or fields[-1] > 127 or last[::2] != bytes([_INTS << 3 | VARINT]) * count:
        return None
    if len(fields) == len(last):
        return count, partial(list, fields[1::2])
    marks = fields.translate(_MARKS)
    if _TOO_LONG in marks or not _only_numbers_end_like_keys(fields, marks):
        return None
    return count, partial(_read_ints, fields, 1)


def _only_numbers_end_like_keys(fields: bytes, marks: bytes) -> bool:
    """Return True if no key-like byte is the end of a longer key."""
    before = ends = 0
    at = marks.find(_ENDS_LIKE_KEY)
    while at >= 0:
        ends += len(fields[before:at].translate(None, _GO_ON))  # keys and numbers alternate
        if ends % 2 == 0:
            return False
        before, at = at, marks.find(_ENDS_LIKE_KEY, at + 1)
    return True


def _packed_ints(fields: bytes) -> Counted | None:
    numbers = _packed(fields)
    if not numbers or numbers[-1] > 127 or _TOO_LONG in numbers.translate(bytes(128) + b"\x01" * 128):
        return None
    count = len(numbers.translate(None, _GO_ON))
    return count, partial(list, numbers) if count == len(numbers) else partial(_read_ints, numbers, 0)


def _read_ints(numbers: bytes, keys: int) -> list[int]:
    """Decode varints; `keys` is 1 if a one-byte key precedes each, else 0."""
    known = _Varints()
    return [known[number] for number in _varints().findall(numbers)[keys :: keys + 1]]


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


def _packed(fields: bytes) -> bytes | None:
    """Return the content if `fields` is a single length-delimited field."""
    length, at = length_of(fields, 1, 0)
    return fields[at:] if len(fields) == at + length else None


#: Key of the list's first field: attribute type and function that counts the elements.
_READERS: Final[dict[int, tuple[str, Callable[[bytes], Counted | None]]]] = {
    _FLOATS << 3 | I32: ("FLOATS", _floats),
    _FLOATS << 3 | LEN: ("FLOATS", _packed_floats),
    _INTS << 3 | VARINT: ("INTS", _ints),
    _INTS << 3 | LEN: ("INTS", _packed_ints),
    _STRINGS << 3 | LEN: ("STRINGS", _texts),
}
_ELEMENTS: Final = {"FLOATS": "float", "INTS": "int", "STRINGS": "string"}
