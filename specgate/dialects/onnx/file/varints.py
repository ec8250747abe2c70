"""Basics of the protobuf wire format: wire types, varints, keys, lengths."""

from __future__ import annotations

__all__ = [
    "END_GROUP",
    "GROUP",
    "I32",
    "I64",
    "LEN",
    "VARINT",
    "WIRES",
    "WireError",
    "explained",
    "int32",
    "int64",
    "key_of",
    "length_of",
    "varint",
]

VARINT, I64, LEN, GROUP, END_GROUP, I32 = range(6)
WIRES = ("a varint", "64 bits", "a length and bytes", "a group", "the end of a group", "32 bits")
_MOST_LENGTH = (1 << 31) - 1  # of a field, as in protobuf
_MOST_PREFIX = 5  # bytes of a key or a length


class WireError(Exception):
    """Bytes at `offset` that violate the wire format or the message type."""

    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        super().__init__(f"byte {offset}: {message}")


def int64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def int32(value: int) -> int:
    return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def explained(error: Exception, at: int) -> WireError:
    if isinstance(error, WireError):
        return error
    return WireError("a field is truncated at the end of the file", at)


def varint(buffer: bytes, i: int, at: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := buffer[i]) > 127:
        value |= (byte & 127) << shift
        shift += 7
        i += 1
        if shift > 63:
            raise WireError("a varint of more than 10 bytes", at)
    return (value | byte << shift) & 0xFFFFFFFFFFFFFFFF, i + 1


def key_of(buffer: bytes, i: int, at: int) -> tuple[int, int]:
    key, after = varint(buffer, i, at)
    if after - i > _MOST_PREFIX or key >> 32:
        raise WireError(f"expected a field's key in at most {_MOST_PREFIX} bytes and 32 bits, found a longer one", at)
    return key, after


def length_of(buffer: bytes, i: int, at: int) -> tuple[int, int]:
    length, after = varint(buffer, i, at)
    if after - i > _MOST_PREFIX:
        raise WireError(f"expected a field's length in at most {_MOST_PREFIX} bytes, found a longer one", at)
    if length > _MOST_LENGTH:
        raise WireError(f"expected a field of at most {_MOST_LENGTH} bytes, found one of {length}", at)
    return length, after
