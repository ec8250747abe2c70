"""Reader of the protobuf wire format over a seekable file.

Fields are read one at a time through a bounded buffer. Encoding: https://protobuf.dev/programming-guides/encoding/. A
sub-message is a span (begin, end) of the file, never a copy, so unneeded content is seeked over. One message may be
several spans, because a singular message that occurs again is merged into the first. Merging is equivalent to reading
the spans in sequence.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any, BinaryIO

from specgate.dialects.onnx.file.schema import (
    END_GROUP,
    GROUP,
    I32,
    I64,
    LEN,
    SCALARS,
    VARINT,
    Codec,
    Message,
    WireError,
    keep_value,
    key_of,
    length_of,
    varint,
    wire_error,
)
from specgate.dialects.onnx.file.schema import SKIPPED_CODEC as SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

BLOCK_BYTES = 1 << 14
MAX_TEXT_BYTES = 1 << 20
MAX_PACKED_BYTES = 1 << 20
MAX_NESTING = 100  # nesting of messages and groups, the default of protobuf
MAX_ODDITIES = 10
MAX_MEMORY_BYTES = 1 << 30  # estimated with FIELD_COST and Message.cost
FIELD_COST = 64  # bytes of a small object and its list entry

_HEADER_BYTES = 20  # maximum for a key and a length or number
_SCAN_CHUNK = 1 << 20  # chunk size for packed numbers
_OVERLONG_VARINT = re.compile(rb"[\x80-\xff]{10}")  # in packed varints, one of more than 10 bytes
_CONTINUATION_BYTES = bytes(range(128, 256))

Span = tuple[int, int]
Field = tuple[str, Any, int]


class Reader:
    """Block-wise reader of message fields from a seekable binary file.

    `negative_sizes` has the offsets of dimensions with a size below 0, which counts as unknown. `oddities` describes,
    by offset, the first MAX_ODDITIES fields that protobuf accepts but the writer hardly intended. `left` is the memory
    that may still be used. `pending` has the messages that `walk` still has to check: begin, end, type and nesting
    depth.
    """

    __slots__ = (
        "_base",
        "_buffer",
        "_file",
        "_level",
        "_safe",
        "left",
        "negative_sizes",
        "oddities",
        "pending",
        "size",
    )

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.size = size
        self._file = file
        self._buffer = b""
        self._base = self._safe = 0
        self.left = MAX_MEMORY_BYTES
        self.oddities: dict[int, str] = {}
        self.negative_sizes: list[int] = []
        self.pending: list[tuple[int, int, str, int]] = []
        self._level = 0  # nesting depth of the message being walked

    def fields(self, spans: Sequence[Span], message: Message) -> Iterable[Field]:
        """Return the fields of a message.

        These are (name, value, 0) per number or string and (name, begin, end) per sub-message, bytes or packed numbers.
        Unlisted fields are skipped. Raises WireError at the first invalid field, here or during iteration.
        """
        self.spend(message.cost, spans[0][0] if spans else 0)
        if len(spans) != 1:
            return self._batches([], spans, message)
        offset, stop = spans[0]
        batch, offset = self._batch(offset, stop, message)
        return self._batches(batch, [(offset, stop)], message) if offset < stop else batch  # usually one batch

    def _batches(self, batch: list[Field], spans: Sequence[Span], message: Message) -> Iterator[Field]:
        yield from batch
        for start, stop in spans:
            offset = start
            while offset < stop:
                batch, offset = self._batch(offset, stop, message)
                yield from batch

    def field(self, offset: int, stop: int, message: Message) -> tuple[list[Field], int]:
        """Return the field at a byte, as `fields` does, and the next one's offset."""
        return self._batch(offset, stop, message, first=True)

    def _batch(  # noqa: PLR0915  # one loop over bytes
        self, offset: int, stop: int, message: Message, *, first: bool = False
    ) -> tuple[list[Field], int]:
        # Returns the fields that begin in the current block and the offset of the next one. An invalid field raises
        # only if it is the first of a batch, so that the fields before it are processed first.
        batch: list[Field] = []
        if offset >= stop:
            return batch, offset
        if not 0 <= offset - self._base < self._safe:
            self._load(offset, offset)
        buffer, base, number = self._buffer, self._base, len(self._buffer)
        i = offset - base
        last = i + 1 if first else min(stop - base, self._safe)
        by_key = message.by_key
        try:
            while i < last:
                offset = base + i
                key = buffer[i]
                i += 1
                if key > 127:
                    key, i = key_of(buffer, i - 1, offset)
                value: Any = buffer[i]
                field = by_key[key] if key in by_key else self._skip_field(message, key, offset)
                end = 0
                if key & 7 == LEN:
                    i += 1
                    if value > 127:
                        value, i = length_of(buffer, i - 1, offset)
                    after = i + value
                    value = base + i
                    end = base + after
                    if key in message.walked and end <= stop:
                        self.pending.append((value, end, message.walked[key], self._level + 1))
                elif key & 7 == VARINT:
                    after = i + 1
                    if value > 127:
                        value, after = varint(buffer, i, offset)
                        value = field[1](value)
                else:
                    value, after = self._skip_rare_field(key, i, field[1], (offset, stop))
                if base + after > stop:
                    raise WireError(f"a field of {message.name} reaches to byte {base + after}, beyond {stop}", offset)
                if field[2]:
                    data = buffer[i:after] if after <= number else self._long_text(value, end, field[0])
                    self.left -= end - value
                    try:
                        text = data.decode()
                    except UnicodeDecodeError as error:
                        text = self._escape_text(error, message, offset)
                    batch.append((field[0], text, 0))
                elif field[0]:
                    batch.append((field[0], value, end))
                i = after
        except (IndexError, struct.error, WireError) as error:
            if not batch:
                raise wire_error(error, offset) from None
            return batch, offset
        self.spend(FIELD_COST * len(batch), offset)
        return batch, base + i

    def block(self, offset: int) -> tuple[bytes, int]:
        """Return the current block and its offset; b"" if `offset` is not in it."""
        return (self._buffer, self._base) if 0 <= offset - self._base < len(self._buffer) else (b"", offset)

    def span_in_block(self, begin: int, end: int) -> bytes | None:
        """Return a span's bytes if they are in the current block, else None."""
        i = begin - self._base
        if i >= 0 and end - self._base <= len(self._buffer):
            return self._buffer[i : end - self._base]
        return None

    def read(self, begin: int, end: int) -> bytes:
        """Return a span's bytes."""
        known_data = self.span_in_block(begin, end)
        if known_data is not None:
            return known_data
        data = self._fetch(begin, end - begin)
        if len(data) != end - begin:
            raise WireError(f"expected {end - begin} bytes, the file has only {len(data)} left", begin)
        return data

    def keep(self, begin: int, end: int) -> bytes:
        """Return a span's bytes, counted as memory that stays in use."""
        self.spend(end - begin, begin)
        return self.read(begin, end)

    def spend(self, cost: int, offset: int) -> None:
        """Count memory; WireError at byte `offset` above MAX_MEMORY_BYTES."""
        self.left -= cost
        if self.left < 0:
            raise WireError(f"the structure needs more than {MAX_MEMORY_BYTES >> 20} MiB of memory", offset)

    def decode_packed(self, begin: int, end: int, kind: str) -> list[Any]:
        """Decode a span of packed numbers of the .proto type `kind`."""
        if end - begin > MAX_PACKED_BYTES:
            raise WireError(f"expected at most {MAX_PACKED_BYTES} bytes of packed numbers, found {end - begin}", begin)
        data = self.read(begin, end)
        wire, convert = SCALARS[kind]
        if wire != VARINT:
            code, width = ("f", 4) if wire == I32 else ("d", 8)
            if len(data) % width:
                raise WireError(f"expected packed numbers of {width} bytes, found {len(data)} bytes", begin)
            values: list[Any] = list(struct.unpack(f"<{len(data) // width}{code}", data))
        else:
            values = []
            i = 0
            try:
                while i < len(data):
                    value, i = varint(data, i, begin)
                    values.append(convert(value))
            except IndexError:
                raise WireError("a packed number is truncated", begin) from None
        self.spend(FIELD_COST * len(values), begin)
        return values

    def count_packed(self, begin: int, end: int, kind: str) -> int:
        """Return the number of packed numbers in a span; raise WireError."""
        wire = SCALARS[kind][0]
        if wire != VARINT:
            width = 4 if wire == I32 else 8
            if (end - begin) % width:
                raise WireError(f"expected packed numbers of {width} bytes, found {end - begin} bytes", begin)
            return (end - begin) // width
        count = 0
        tail = b""
        for offset in range(begin, end, _SCAN_CHUNK):
            data = self.read(offset, min(offset + _SCAN_CHUNK, end))
            if _OVERLONG_VARINT.search(tail + data):
                raise WireError("a varint of more than 10 bytes", begin)
            count += len(data.translate(None, _CONTINUATION_BYTES))
            tail = data[-9:]
        if tail and tail[-1] > 127:
            raise WireError("a packed number is truncated", begin)
        return count

    def places(self, begin: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield key, begin, value (or length), content and end of each field.

        All but the key are offsets.
        """
        pos = begin
        while pos < end:
            offset = pos
            key, value = self._varint(offset, offset, key_of)
            wire = key & 7
            content = value
            if wire == LEN:
                size, content = self._varint(value, offset, length_of)
                pos = content + size
            elif wire == VARINT:
                pos = self._varint(value, offset)[1]
            elif wire in {I64, I32}:
                pos = value + (8 if wire == I64 else 4)
            elif wire == GROUP:
                pos = self._skip_group(key >> 3, value, (offset, end))
            else:
                raise WireError(f"expected a field, found wire type {wire}", offset)
            if pos > end:
                raise WireError(f"a field reaches to byte {pos}, beyond {end}", offset)
            yield key, offset, value, content, pos

    def walk(self, messages: Mapping[str, Message]) -> None:
        """Check the messages in `pending`; WireError if malformed or too deep."""
        left = self.left
        pending, self.pending = self.pending, []
        while pending:
            pending.sort(reverse=True)  # file order
            while pending:
                begin, end, kind, self._level = pending.pop()
                if self._level > MAX_NESTING:
                    raise WireError(f"messages are nested more than {MAX_NESTING} deep", begin)
                self._walk((begin, end), messages, messages[kind])
                self.left = left  # their content is not kept
            pending, self.pending = self.pending, []

    def _walk(self, span: Span, messages: Mapping[str, Message], message: Message) -> None:
        kinds = {name: kind.removeprefix("repeated ") for name, kind in message.bare.fields.values()}
        for name, value, end in self.fields([span], message.bare):
            if not end or (kind := kinds[name]) == "bytes":
                continue
            if kind in messages:
                self.pending.append((value, end, kind, self._level + 1))
            elif end > value:
                self.count_packed(value, end, kind)

    def _skip_field(self, message: Message, key: int, offset: int) -> Codec:
        if (oddity := message.describe_skipped(key, offset)) and len(self.oddities) < MAX_ODDITIES:
            self.oddities[offset] = oddity
        return SKIPPED

    def _escape_text(self, error: UnicodeDecodeError, message: Message, offset: int) -> str:
        # A proto2 parser accepts any bytes in a string. Escaped, different strings stay different and printable.
        if len(self.oddities) < MAX_ODDITIES:
            bad = error.object[max(0, error.start - 20) : error.start + 20]
            self.oddities[offset] = f"expected UTF-8 in a string of {message.name}, found {bad!r}"
        self.left -= 3 * len(error.object)  # escaping makes four characters per byte
        return error.object.decode(errors="backslashreplace")

    def _long_text(self, begin: int, end: int, name: str) -> bytes:
        if end - begin > MAX_TEXT_BYTES:
            raise WireError(f"expected at most {MAX_TEXT_BYTES} bytes in {name}, found {end - begin}", begin)
        return self.read(begin, end)

    def _skip_rare_field(self, key: int, i: int, convert: Callable[..., Any], window: Span) -> tuple[Any, int]:
        # Fixed-width numbers and groups: returns the value and the end of the field whose payload begins at i in the
        # block.
        offset, stop = window
        wire = key & 7
        if wire in {I64, I32}:
            end = i + (8 if wire == I64 else 4)
            complete = convert is not keep_value and self._base + end <= stop
            return convert(self._buffer, i)[0] if complete else None, end
        if wire == GROUP:
            base = self._base
            return None, self._skip_group(key >> 3, base + i, window) - base
        text = "the end of a group without its beginning" if wire == END_GROUP else f"wire type {wire}"
        raise WireError(f"expected a field, found {text}", offset)

    def _skip_group(self, number: int, pos: int, window: Span) -> int:
        offset, stop = window
        group_numbers = [number]
        while group_numbers:
            if pos >= stop:
                raise WireError(f"the group of field {group_numbers[-1]} has no end", offset)
            key, pos = self._varint(pos, offset, key_of)
            wire = key & 7
            if key >> 3 == 0:
                raise WireError("expected a field number from 1 to 536870911, found 0", offset)
            if wire == GROUP:
                group_numbers.append(key >> 3)
                if len(group_numbers) + self._level > MAX_NESTING:
                    raise WireError(f"groups are nested more than {MAX_NESTING} deep", offset)
            elif wire == END_GROUP and key >> 3 == group_numbers[-1]:
                group_numbers.pop()
            elif wire == VARINT:
                pos = self._varint(pos, offset)[1]
            elif wire == LEN:
                size, pos = self._varint(pos, offset, length_of)
                pos += size
            elif wire in {I64, I32}:
                pos += 8 if wire == I64 else 4
            else:
                raise WireError(
                    f"expected a field in the group of field {group_numbers[-1]}, found wire type {wire}", offset
                )
        return pos

    def _varint(
        self, pos: int, offset: int, decode: Callable[[bytes, int, int], tuple[int, int]] | None = None
    ) -> Span:
        if not 0 <= pos - self._base < self._safe:
            self._load(pos, offset)
        value, i = (decode or varint)(self._buffer, pos - self._base, offset)
        return value, self._base + i

    def _load(self, pos: int, offset: int) -> None:
        self._buffer = self._fetch(pos, BLOCK_BYTES)
        self._base = pos
        number = len(self._buffer)
        if not number:
            raise WireError("expected a field, found the end of the file", offset)
        self._safe = number if pos + number >= self.size else max(number - _HEADER_BYTES, 1)

    def _fetch(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        data = self._file.read(size)
        while data and len(data) < size and (chunk := self._file.read(size - len(data))):
            data += chunk
        return data
