"""Edits of single fields in a model file; all other bytes are copied.

Weights and unknown fields stay byte for byte.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from contextlib import contextmanager
from io import RawIOBase
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, cast

from specgate.descriptors.core import format_value
from specgate.dialects.onnx.file.model import open_regular_file, read_open_file
from specgate.dialects.onnx.file.schema import I32, I64, LEN, PROTO, VARINT, WireError
from specgate.dialects.onnx.file.wire import Reader
from specgate.dialects.onnx.file.write import varint_bytes
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.errors import InputError
from specgate.files import State, state_of, unwritable_error
from specgate.verdict import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.dialects.onnx.file.schema import Message
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings

    Step = tuple[str, int | Edit]

_MAX_FIELD_TEXT: Final = 200  # longest text of a field, in characters
_NAME_FIELDS: Final = ("name", "domain")
_INSERTED: Final = ""  # used as the field name of inserted fields


class Cut(NamedTuple):
    """A byte range of a file and its replacement.

    `place` is the message that contains it; `before` and `after` are texts for the diff. Both are empty where only the
    length prefix of a message changes.
    """

    begin: int
    end: int
    data: bytes
    place: str = ""
    before: str = ""
    after: str = ""


def plan_cuts(file: BinaryIO, size: int, edits: Iterable[Edit]) -> list[Cut]:
    """Return the cuts for edits of a file of `size` bytes, in file order.

    Raise WireError if the file does not match what the edits expect.
    """
    cutter = _Cutter(Reader(file, size))
    cutter.message((0, size), PROTO["ModelProto"], _build_edit_tree(edits), "")
    return sorted(cutter.cuts, key=lambda cut: cut[:2])  # at the same offset, inner cuts were found first


def _build_edit_tree(edits: Iterable[Edit]) -> dict[Step, Any]:
    """Return edits as a tree by path steps.

    A removal overrides edits inside it. Of two numbers for one field the lower one is used, because more targets
    support a lower version.
    """
    root: dict[Step, Any] = {}
    for edit in edits:
        result: Any = root
        for step in edit.path[:-1]:
            result = result if isinstance(result, Edit) else result.setdefault(step, {})
        if isinstance(result, Edit):
            continue
        if edit.added is not None:  # identical additions from two findings are added once
            subtree = result.setdefault(edit.path[-1], {})
            if not isinstance(subtree, Edit):
                subtree[_INSERTED, edit] = edit
            continue
        previous_edit = result.get(edit.path[-1])
        keeps_order = isinstance(previous_edit, Edit) and (
            previous_edit.number is None or previous_edit.number <= (edit.number or 0)
        )
        if not keeps_order or edit.number is None:
            result[edit.path[-1]] = edit
    return root


class _Cutter:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.cuts: list[Cut] = []

    def message(self, span: tuple[int, int], message: Message, plan: Mapping[Step, Any], place: str) -> int:
        """Collect the cuts in a message; return by how many bytes it grows."""
        begin, end = span
        counts_by_field: dict[str, int] = {}
        growth = 0
        added_edits = [edit for step, edit in plan.items() if step[0] == _INSERTED]
        growth += sum(self.add(edit, begin, place) for edit in added_edits if edit.ahead)
        left = {step for step in plan if step[0] != _INSERTED}
        for key, field_begin, value, content, stop in self.reader.places(begin, end):
            name, kind = message.fields.get(key >> 3, ("", ""))
            number = counts_by_field[name] = counts_by_field.get(name, -1) + 1
            step = (name, number if kind.startswith("repeated ") else 0)
            result = plan.get(step)
            if result is None:
                continue
            inner = PROTO.get(kind.removeprefix("repeated "))
            if inner is not None and number > step[1]:
                raise WireError(f"{name} is split into several parts", field_begin)
            left.discard(step)  # if a field occurs twice, the last value counts, so both are replaced
            if isinstance(result, Edit):
                growth += self.edit(result, (key, field_begin, value, stop), message, place)
            elif inner is None or key & 7 != LEN:
                raise WireError(f"expected a message in {name}", field_begin)
            else:
                nested_size = self.message(
                    (content, stop), inner, result, self._place(place, name, number, (content, stop))
                )
                length = varint_bytes(stop - content + nested_size)
                if nested_size:
                    self.cuts.append(Cut(value, content, length))
                growth += nested_size + (len(length) - (content - value) if nested_size else 0)
        growth += sum(self.add(edit, end, place) for edit in added_edits if not edit.ahead)
        if left:
            raise WireError(f"{message.name} lacks {' and '.join(name for name, _ in sorted(left))}", begin)
        return growth

    def add(self, edit: Edit, offset: int, place: str) -> int:
        """Insert fields at an offset; return their size in bytes."""
        self.cuts.append(Cut(offset, offset, edit.added or b"", place, "", edit.text or ""))
        return len(edit.added or b"")

    def edit(self, edit: Edit, field: tuple[int, int, int, int], message: Message, place: str) -> int:
        key, offset, value, stop = field
        before = self.text(message, (offset, stop))
        if edit.text is not None:
            if self.word(message, (offset, stop)) != edit.expected:
                raise WireError(f"expected {format_value(edit.expected)}, found something else", offset)
            content = edit.text.encode()
            data = varint_bytes(len(content)) + content
            self.cuts.append(
                Cut(value, stop, data, place, before, f"{message.fields[key >> 3][0]}: {format_value(edit.text)}")
            )
            return len(data) - (stop - value)
        if edit.number is None:
            if self.name(message, (offset, stop)) != edit.expected:
                raise WireError(f"expected the name {format_value(edit.expected)}, found another", offset)
            self.cuts.append(Cut(offset, stop, b"", place, before))
            return offset - stop
        if key & 7 != VARINT:
            raise WireError("expected a number", offset)
        data = varint_bytes(edit.number)
        after = f"{message.fields[key >> 3][0]}: {edit.number}"
        self.cuts.append(Cut(value, stop, data, place, before, after))
        return len(data) - (stop - value)

    def name(self, message: Message, field: tuple[int, int]) -> str:
        """Return the name or domain in a field's message, or ""."""
        for _, kind, content, stop in self._contents(message, field):
            if kind == "string":
                return self.word(message, field) or ""
            inner = PROTO.get(kind)
            for name, text, _ in self.reader.fields([(content, stop)], inner) if inner is not None else ():
                if name in _NAME_FIELDS:
                    return str(text)
        return ""

    def word(self, message: Message, field: tuple[int, int]) -> str | None:
        """Return the value of a string field, None for other fields."""
        for _, kind, content, stop in self._contents(message, field):
            if kind == "string":
                return self.reader.read(content, stop).decode(errors="replace")
        return None

    def text(self, message: Message, field: tuple[int, int]) -> str:
        """Return a field in protobuf text format, truncated if long."""
        return shorten_text(" ".join(self._texts(message, field)))

    def _texts(self, message: Message, span: tuple[int, int]) -> Iterator[str]:
        for name, kind, content, stop in self._contents(message, span):
            inner = PROTO.get(kind)
            if inner is not None:
                texts = " ".join(self._texts(inner, (content, stop)))
                yield f"{name} {{ {texts} }}" if texts else f"{name} {{}}"
            elif kind == "string":
                text = self.reader.read(content, min(stop, content + _MAX_FIELD_TEXT)).decode(errors="replace")
                yield f"{name}: {format_value(text)}"
            else:
                yield f"{name}: {self._number(kind, content, stop)}"

    def _number(self, kind: str, content: int, stop: int) -> str:
        if kind == "bytes" or stop - content > 10:
            return f"({stop - content} bytes)"
        values = self.reader.decode_packed(content, stop, kind)
        return ", ".join(str(value) for value in values)

    def _contents(self, message: Message, span: tuple[int, int]) -> Iterator[tuple[str, str, int, int]]:
        for key, _, _, content, stop in self.reader.places(*span):
            name, kind = message.fields.get(key >> 3, ("", ""))
            if name and key & 7 in {VARINT, LEN, I32, I64}:
                yield name, kind.removeprefix("repeated "), content, stop

    def _place(self, outer: str, name: str, number: int, span: tuple[int, int]) -> str:
        """Return the path of a nested message, with its name where it has one."""
        place = f"{outer}.{name}" if outer else name
        if name in {"node", "attribute", "functions"}:
            kind = {"node": "NodeProto", "attribute": "AttributeProto", "functions": "FunctionProto"}[name]
            node_name = next(
                (str(text) for field, text, _ in self.reader.fields([span], PROTO[kind]) if field == "name"), ""
            )
            return f"{place}[{number}] {format_value(node_name)}" if node_name else f"{place}[{number}]"
        return place if name in {"graph", "g"} else f"{place}[{number}]"


def shorten_text(text: str) -> str:
    """Return a text, truncated if long."""
    return text if len(text) <= _MAX_FIELD_TEXT else f"{text[:_MAX_FIELD_TEXT]} …"


class EditedView(RawIOBase):
    """Read-only view of a file with cuts applied."""

    def __init__(self, file: BinaryIO, size: int, new_cuts: Iterable[Cut]) -> None:
        self._file = file
        self._at = 0
        self._parts: list[tuple[int, bytes]] = []  # offset in the file, or replacement bytes
        self._begins: list[int] = []
        self.size = 0
        last = 0
        for cut in new_cuts:
            self._add(last, cut.begin - last)
            self._add(0, len(cut.data), cut.data)
            last = cut.end
        self._add(last, size - last)

    def _add(self, begin: int, length: int, data: bytes = b"") -> None:
        if length:
            self._begins.append(self.size)
            self._parts.append((begin, data))
            self.size += length

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position relative to the start, the current position or the end."""
        self._at = max(offset + (0, self._at, self.size)[whence], 0)
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read at most up to the end of the current part."""
        if self._at >= self.size:
            return 0
        number = bisect_right(self._begins, self._at) - 1
        begin, data = self._parts[number]
        offset = self._at - self._begins[number]
        ends = self._begins[number + 1] if number + 1 < len(self._begins) else self.size
        count = min(len(buffer), ends - self._at)
        if not data:
            self._file.seek(begin + offset)
        matching_data = data[offset : offset + count] if data else self._file.read(count)
        buffer[: len(matching_data)] = matching_data
        self._at += len(matching_data)
        return len(matching_data)


_BLOCK: Final = 1 << 20


class EditedModel:
    """A model file with edits; see `ModifiedModel`. Later rounds edit the result.

    Raises InputError if the file does not contain what the edits expect, or if it changes on disk afterwards.
    """

    def __init__(self, name: str, edits: Iterable[Edit], before: EditedModel | None = None) -> None:
        self.name = name
        self.rounds: list[list[Cut]] = [] if before is None else list(before.rounds)
        self.state: State | None = None if before is None else before.state
        with self._open_source() as (file, size):
            try:
                self.rounds.append(plan_cuts(file, size, edits))
            except WireError as error:
                raise InputError(error.message, file=name, place=f"byte {error.offset}") from None

    def apply_edits(self, edits: Iterable[Edit]) -> EditedModel:
        """Return a copy with further edits."""
        return EditedModel(self.name, edits, self)

    @contextmanager
    def _open_source(self) -> Iterator[tuple[BinaryIO, int]]:
        with open_regular_file(self.name) as (file, file_size):
            status = os.fstat(file.fileno())
            state = state_of(status)
            if self.state not in {None, state}:
                raise InputError("the file has changed since it was read", file=self.name)
            self.state = state
            o, size = file, file_size
            for new_cuts in self.rounds:
                spliced = EditedView(o, size, new_cuts)
                o, size = cast("BinaryIO", spliced), spliced.size
            yield o, size

    def graph(self, settings: LintSettings) -> Graph:
        """Read the edited model."""
        with self._open_source() as (file, size):
            model = read_open_file(file, size, self.name)
        return onnx_units(model, settings)

    def copy_to(self, out: IO[bytes]) -> None:
        """Write the edited file."""
        with self._open_source() as (file, size):
            copied = 0
            while block := file.read(_BLOCK):
                copied += len(block)
                try:
                    out.write(block)
                except OSError as error:  # not a read error, which `_opened` would report
                    raise unwritable_error(self.name, error) from None
            if copied != size:
                raise InputError("the file has changed since it was read", file=self.name)

    def diff(self) -> list[str]:
        """Return the changes as a diff, grouped by message."""
        lines = [f"--- {self.name}", f"+++ {self.name}"]
        for new_cuts in self.rounds:
            for place, cuts in groupby((cut for cut in new_cuts if cut.before or cut.after), lambda cut: cut.place):
                lines.append(f"@@ {place or 'model'} @@")
                for cut in cuts:
                    lines += [f"{sign}{text}" for sign, text in (("-", cut.before), ("+", cut.after)) if text]
        return lines
