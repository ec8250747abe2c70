"""The DirectML kernels that a Windows library of the runtime registers.

The registrations are an array of constant structures (OperatorRegistrationInformation in the provider's
OperatorRegistration.cpp), which the compiler stores as data. The file therefore contains exactly what the provider
registers, except for the few kernels with separate registration code. The library is not executed.
"""

from __future__ import annotations

import re
import struct
import zipfile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.table_references import MAIN_DOMAIN, type_word
from tools.import_onnxruntime.stated import Stated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["PROVIDER", "registered_in"]

#: The provider whose registrations are read.
PROVIDER: Final = "DirectML"
_LIBRARIES: Final = ("onnxruntime.dll", "onnxruntime_pybind11_state.pyd")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_DOMAIN: Final = re.compile(r"|com\.microsoft(\.[a-z]+)?")
_WHEEL: Final = re.compile(r"onnxruntime[_a-z]*-([0-9]+\.[0-9]+\.[0-9]+)-.*\.whl")
_MOST_BYTES: Final = 2**28
_FEWEST: Final = 50  # minimum number of consecutive structures in a table
_SCALARS: Final = ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double",
                   "uint32", "uint64")  # fmt: skip
_INTS4: Final = ("uint4", "int4")
_ALL: Final = 2**64 - 1
#: Never registered, although the flags for all types contain its bit. Lists of 4-bit types are not registered either.
_NEVER: Final = "string"


class _Layout(NamedTuple):
    """Offsets in a structure.

    names: the span of constraints, and the order of its two words.
    """

    names: int
    pointer_pair: bool = False


#: Layouts by the size of a structure. After the spans come flags, four inputs and their count, an optional, and the
#: query.
_LAYOUTS: Final = {120: _Layout(48, pointer_pair=True), 128: _Layout(48), 160: _Layout(80)}


def registered_in(path: Path) -> tuple[str, Stated]:
    """Return the release of a wheel and the provider's registrations.

    Raises InputError for a file that is not such a wheel or lacks the table.
    """
    match = _WHEEL.fullmatch(path.name)
    if match is None:
        raise InputError("expected a wheel of the runtime for Windows", file=str(path))
    try:
        with zipfile.ZipFile(path) as wheel:
            inside = {name.rpartition("/")[2]: name for name in wheel.namelist()}
            members = [inside[name] for name in _LIBRARIES if name in inside]
            contents = [wheel.read(name) for name in members if wheel.getinfo(name).file_size < _MOST_BYTES]
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from None
    for content in contents:
        stated = _read_kernels(content)
        if stated:
            return match[1], stated
    raise InputError("no table of registrations was found in its libraries", file=str(path))


def _read_kernels(content: bytes) -> Stated:
    try:
        image = _Image(content)
        rows = list(image.table())
        return Stated(image.registration(*row) for row in rows)
    except (struct.error, IndexError, KeyError):
        raise InputError("its library is not laid out as those that are known") from None


class _Image:
    """A library as mapped into memory, with sections at addresses."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        header = self._number("<I", 0x3C)
        count, size = self._number("<H", header + 6), self._number("<H", header + 20)
        self.base = self._number("<Q", header + 48)
        starts = (header + 24 + size + 40 * index for index in range(count))
        self.sections = [struct.unpack_from("<4I", content, start + 8) for start in starts]
        self._texts: dict[int, str | None] = {}
        self.wide = True

    def _number(self, form: str, offset: int) -> int:
        return int(struct.unpack_from(form, self.content, offset)[0])

    def offset(self, address: int) -> int | None:
        """Return the file offset of an address; None if not mapped."""
        relative = address - self.base
        for _, start, size, raw in self.sections:
            if start <= relative < start + size:
                return int(raw + relative - start)
        return None

    def text(self, address: int) -> str | None:
        """Return the text at an address; None if there is none."""
        if address not in self._texts:
            at = self.offset(address)
            end = -1 if at is None else self.content.find(b"\0", at, at + 80)
            raw = self.content[at:end] if at is not None and end >= 0 else b"\xff"
            self._texts[address] = raw.decode() if raw.isascii() else None
        return self._texts[address]

    def table(self) -> Iterator[tuple[int, int]]:
        """Yield offset and size of each structure of the longest array."""
        starts = [at for _, _, size, raw in self.sections for at in self._structures(raw, raw + size)]
        best: list[tuple[int, int]] = []
        for size in _LAYOUTS:
            addresses = set(starts)
            firsts = (at for at in starts if at - size not in addresses)
            for at in firsts:
                run = [at]
                while run[-1] + size in addresses:
                    run.append(run[-1] + size)
                if len(run) > max(len(best), _FEWEST):
                    best = [(start, size) for start in run]
        self.wide = all(mask < 1 << 34 or mask == _ALL for at, size in best for mask in self._masks(at, size))
        yield from best

    def _structures(self, start: int, end: int) -> Iterator[int]:
        """Yield offsets of possible structures.

        They start with an operator's name, a version and a domain.
        """
        end = min(end, len(self.content)) - 24
        low, high = self.base, self.base + 2**31
        words = memoryview(self.content)[start : start + (end - start) // 8 * 8].cast("Q") if end > start else ()
        for index, word in enumerate(words):
            if not low < word < high or index + 2 >= len(words) or not 0 < words[index + 1] < 1000:
                continue
            name, domain = self.text(word), self.text(words[index + 2])
            if name and domain is not None and _NAME.fullmatch(name) and _DOMAIN.fullmatch(domain):
                yield start + 8 * index

    def _span(self, at: int, layout: _Layout, width: int) -> tuple[int, int]:
        """Return the address and length of a span.

        width: the size of its elements in bytes.
        """
        first, second = (self._number("<Q", at + part) for part in (0, 8))
        return (first, (second - first) // width) if layout.pointer_pair else (second, first)

    def _masks(self, at: int, size: int) -> list[int]:
        layout = _LAYOUTS[size]
        width = 8 if self.wide and not layout.pointer_pair else 4
        address, count = self._span(at + layout.names + 16, layout, width)
        start = self.offset(address) or 0
        return [self._number("<Q" if width == 8 else "<I", start + width * index) for index in range(min(count, 16))]

    def registration(self, at: int, size: int) -> tuple[str, str, int, int | None, dict[str, Any]]:
        """Return the registration in a structure.

        It has domain, operator, version, last version, and the row.
        """
        layout = _LAYOUTS[size]
        self.wide = self.wide and not layout.pointer_pair
        address, count = self._span(at + layout.names, layout, 8)
        names = [self.text(self._number("<Q", (self.offset(address) or 0) + 8 * index)) for index in range(count)]
        masks = self._masks(at, size)
        types = {str(name): _types(mask, wide=self.wide) for name, mask in zip(names, masks, strict=True)}
        rest = at + layout.names + 32
        inputs = struct.unpack_from("<4I", self.content, rest + 4)
        row: dict[str, Any] = {"types": types}
        if constant := list(inputs[: self._number("<i", rest + 20)]):
            row["constant_inputs"] = constant
        if self._number("<I", rest) & 1:
            row["graph"] = False
        if self.content[rest + 28]:
            row["graph_inputs"] = self._number("<I", rest + 24)
        operator = self.text(self._number("<Q", at))
        domain = self.text(self._number("<Q", at + 16)) or MAIN_DOMAIN
        row["query"] = bool(self._number("<Q", rest + 32))
        return domain, str(operator), self._number("<i", at + 8), None, row


def _types(mask: int, *, wide: bool) -> list[str]:
    """Return the types of a bit mask.

    Bits for tensors start at 1, followed by those for lists of tensors. wide: the mask includes 4-bit integers, as in
    later releases.
    """
    tensors = (_SCALARS[0], *_INTS4, *_SCALARS[1:]) if wide else _SCALARS
    around = len(tensors) + 3  # skips two complex types, for which no kernel is registered
    types = [f"tensor({name})" for bit, name in enumerate(tensors, 1) if mask >> bit & 1 and name != _NEVER]
    lists = ((bit, name) for bit, name in enumerate(tensors, around) if name not in {_NEVER, *_INTS4})
    types += [f"seq(tensor({name}))" for bit, name in lists if mask >> bit & 1]
    return [type_word(kind) for kind in types]
