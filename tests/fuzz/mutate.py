"""Random changes of bytes, protobuf messages and JSON, from one random.Random."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

MOST_BYTES = 200_000
LENGTHS = [
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\xff\x01",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\x80" * 9 + b"\x01",
]
LENGTHS += [b"\x80" * 5 + b"\x00", b"\xff" * 11, b"\x81\x00"]
WORDS: list[Any] = [None, True, False, 0, -1, 1, 2**31, 2**32, 2**63, 2**64, 10**400, 0.5, 1e308, -0.0, "", "x", "INT8"]
WORDS += ["\ud800", "é", "a" * 300, "type", "desc", "Sizes", "DML_OPERATOR_IDENTITY", [], {}, [[]], {"": {}}, [0] * 40]
WORDS += [
    "\x00",
    "nan",
    "-inf",
    "2**64",
    "opset1",
    {"value": 1, "valueCount": 2**32},
    {"type": "x"},
    "deferred",
    float("nan"),
]
TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"',
    b"\\",
    b"null",
    b"1e999",
    b"//",
    b"/*",
    b"*/",
    b"\\u",
    b"\xff",
    b"\x00",
]
TOKENS += [
    b"\n",
    b"\t",
    b"- ",
    b"&a ",
    b"*a",
    b"<<: ",
    b"!!python/object ",
    b"? ",
    b"|",
    b"%",
    b"@",
    b"`",
    b"#",
    b"---\n",
]
TOKENS += [b"9" * 5000, b"[" * 300, b'{"":' * 300]


def noisy(rng: random.Random, data: bytes, pool: Sequence[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """Flip, set, insert, remove, repeat, cut, or splice bytes; one to four times."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(out) + 1)
        kind = rng.choice(("flip", "flip", "set", "insert", "remove", "cut", "repeat", "splice", "token"))
        if kind == "flip" and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == "set" and at < len(out):
            out[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        elif kind == "insert":
            out[at:at] = rng.randbytes(rng.randint(1, 6))
        elif kind == "remove":
            del out[at : at + rng.randint(1, 12)]
        elif kind == "cut":
            del out[at:]
        elif kind == "repeat":
            out[at:at] = out[at : at + rng.randint(1, 80)] * rng.randint(1, 3)
        elif kind == "splice":
            other = rng.choice(pool)
            start = rng.randrange(len(other) + 1)
            out[at : at + rng.randint(0, 40)] = other[start : start + rng.randint(1, 200)]
        elif tokens:
            out[at:at] = rng.choice(tokens)
    return bytes(out[:MOST_BYTES])


def lengths_edited(rng: random.Random, data: bytes) -> bytes:
    """Change the length, key or content of one field in a protobuf message."""
    numbers = list(_fields(data, 0, len(data), 0))
    if not numbers:
        return data
    key, length, begin, end = rng.choice(numbers)
    kind = rng.randrange(6)
    if kind == 0:  # another length
        return data[:length] + rng.choice(LENGTHS) + data[begin:]
    if kind == 1:  # a length off by a little
        return data[:length] + bytes([max(0, min(127, end - begin + rng.choice((-2, -1, 1, 2, 9))))]) + data[begin:]
    if kind == 2:  # another wire type or number
        return (
            data[:key]
            + bytes([data[key] & 0xF8 | rng.randrange(8) if rng.random() < 0.7 else rng.randrange(256)])
            + data[key + 1 :]
        )
    if kind == 3:  # only the content is wrong: all enclosing lengths are adjusted
        return data[:begin] + rng.randbytes(end - begin) + data[end:]
    if kind == 4 and end > begin:
        at = rng.randrange(begin, end)
        return data[:at] + bytes([rng.choice((0x0F, 0xFF, 0x80, 0, rng.randrange(256)))]) + data[at + 1 :]
    return data[:begin] + data[end:]


def _fields(data: bytes, begin: int, end: int, depth: int) -> list[tuple[int, int, int, int]]:
    """Return key, length and content positions of each length-delimited field.

    Includes those of inner messages.
    """
    numbers: list[tuple[int, int, int, int]] = []
    at = begin
    while at < end:
        key = at
        number, at = _varint(data, at, end)
        if number & 7 == 2:
            length = at
            size, at = _varint(data, at, end)
            if at < 0 or at + size > end:
                return []
            numbers.append((key, length, at, at + size))
            if depth < 12:
                numbers += _fields(data, at, at + size, depth + 1)
            at += size
        elif number & 7 in {0, 1, 5}:
            at = _varint(data, at, end)[1] if number & 7 == 0 else at + (8 if number & 7 == 1 else 4)
        else:
            return []
        if not begin < at <= end or not number >> 3:
            return []
    return numbers


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while 0 <= at < end and shift < 64:
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7
    return 0, -1


def restructure(rng: random.Random, document: Any, pool: Sequence[Any]) -> Any:
    """Replace, remove, rename, repeat or wrap values of a JSON document, 1 to 4 times."""
    result = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = list(_places(result, 0))
        if not places:
            return rng.choice(WORDS)
        holder, key = rng.choice(places)
        kind = rng.randrange(7)
        if kind <= 1:
            holder[key] = copy.deepcopy(rng.choice(WORDS))
        elif kind == 2:
            del holder[key]
        elif kind == 3:
            holder[key] = rng.choice(([holder[key]], {"desc": holder[key]}, [holder[key]] * 3))
        elif kind == 4:
            holder[key] = copy.deepcopy(rng.choice(list(_places(rng.choice(pool), 0)) or [([None], 0)])[0])
        elif isinstance(holder, dict):
            name = rng.choice((key[:-1], key + "s", key.lower(), key.upper(), "", "value", rng.choice(list(holder))))
            holder[name] = holder.pop(key)
        elif isinstance(holder[key], int):
            holder[key] += rng.choice((-1, 1, 2**32))
    return result


def _places(value: Any, depth: int) -> list[tuple[Any, Any]]:
    if depth > 30:
        return []
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    values = [(value, key) for key, _ in pairs]
    for _, item in pairs:
        values += _places(item, depth + 1)
    return values


def as_text(document: Any) -> bytes:
    """Return a document as JSON in UTF-8, whatever strings it contains."""
    return json.dumps(document, ensure_ascii=True).encode()
