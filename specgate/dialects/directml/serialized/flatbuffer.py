"""Bounds-checked reading of flatbuffers: tables, vectors and texts.

The flatbuffers package for Python is not used, as its reader trusts every offset.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, Final

from specgate.errors import InputError

#: The limit of bytes read, as a multiple of the data's length. Many offsets may refer to one large part.
_MAX_READ_FACTOR: Final = 64
_U16, _U32, _I32 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<i")


@dataclass(slots=True)
class Data:
    """The bytes, and the number of bytes that may still be read."""

    content: bytes
    left: int = 0
    texts: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = _MAX_READ_FACTOR * len(self.content)

    def take(self, layout: struct.Struct, offset: int) -> tuple[Any, ...]:
        """Return the numbers of a layout; raise InputError past the end."""
        self.left -= layout.size
        if self.left < 0:
            raise InputError("expected each table once, found a table that is referenced too often")
        if not 0 <= offset <= len(self.content) - layout.size:
            raise InputError(
                f"expected {layout.size} bytes at {offset}, found the end of the data at {len(self.content)}"
            )
        return layout.unpack_from(self.content, offset)

    def number(self, code: str, offset: int) -> Any:
        """Return one number."""
        return self.take(struct.Struct(f"<{code}"), offset)[0]

    def follow_offset(self, offset: int) -> int:
        """Return the target of the offset at `offset`; offsets only point forward."""
        return offset + int(self.take(_U32, offset)[0])

    def length(self, offset: int, size: int) -> int:
        """Return a vector's length; raise InputError if it exceeds the data."""
        count = int(self.take(_U32, offset)[0])
        if count * size > len(self.content) - offset - 4:
            raise InputError(f"expected the {count} elements of the vector at {offset}, found the end of the data")
        return count

    def text(self, offset: int) -> str:
        """Return the text at `offset`; invalid UTF-8 is replaced."""
        if offset not in self.texts:
            count = self.length(offset, 1)
            self.left -= count
            self.texts[offset] = self.content[offset + 4 : offset + 4 + count].decode("utf-8", "replace")
        return self.texts[offset]


class Table:
    """One table; fields are identified by their number in the schema.

    Omitted fields have their default.
    """

    __slots__ = ("_at", "_data", "_fields", "_room")

    def __init__(self, data: Data, offset: int) -> None:
        self._data, self._at = data, offset
        start = offset - int(data.take(_I32, offset)[0])
        size, self._room = (int(data.take(_U16, start + k)[0]) for k in (0, 2))
        if size < 4 or size % 2:
            raise InputError(f"expected a table at {offset}, found an invalid vtable")
        self._fields = data.take(struct.Struct(f"<{size // 2 - 2}H"), start + 4)

    def _place(self, number: int) -> int | None:
        offset = int(self._fields[number]) if number < len(self._fields) else 0
        if offset >= max(self._room, 4):
            raise InputError(f"expected the fields of the table at {self._at} inside it, found one at {offset}")
        return self._at + offset if offset else None

    def number(self, number: int, code: str) -> Any:
        """Return a number, 0 if it is omitted."""
        place = self._place(number)
        return 0 if place is None else self._data.number(code, place)

    def text(self, number: int) -> str | None:
        """Return a text, None if it is omitted."""
        place = self._place(number)
        return None if place is None else self._data.text(self._data.follow_offset(place))

    def table(self, number: int) -> Table | None:
        """Return a table, None if it is omitted."""
        place = self._place(number)
        return None if place is None else Table(self._data, self._data.follow_offset(place))

    def record(self, number: int, code: str) -> tuple[Any, ...] | None:
        """Return the numbers of a structure in a union, None if it is omitted."""
        place = self._place(number)
        return None if place is None else self._data.take(struct.Struct(f"<{code}"), self._data.follow_offset(place))

    def numbers(self, number: int, code: str) -> list[Any] | None:
        """Return a vector of numbers, None if it is omitted."""
        place = self._place(number)
        if place is None:
            return None
        offset = self._data.follow_offset(place)
        count = self._data.length(offset, struct.calcsize(code))
        return list(self._data.take(struct.Struct(f"<{count}{code}"), offset + 4))

    def size(self, number: int) -> int:
        """Return the length of a byte vector without reading it."""
        place = self._place(number)
        return 0 if place is None else self._data.length(self._data.follow_offset(place), 1)

    def texts(self, number: int) -> list[str]:
        """Return a vector of texts, empty if it is omitted."""
        return [self._data.text(offset) for offset in self._targets(number)]

    def tables(self, number: int) -> list[Table]:
        """Return a vector of tables, empty if it is omitted."""
        return [Table(self._data, offset) for offset in self._targets(number)]

    def _targets(self, number: int) -> list[int]:
        place = self._place(number)
        if place is None:
            return []
        offset = self._data.follow_offset(place)
        return [self._data.follow_offset(offset + 4 + 4 * i) for i in range(self._data.length(offset, 4))]


def root_table(content: bytes) -> Table:
    """Return the root table; raise InputError."""
    data = Data(content)
    return Table(data, data.follow_offset(0))
