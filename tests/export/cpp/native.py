"""The header as a library of this process, and descriptors in memory."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects.directml.cpp.compilers import Compiler, compilers
from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.cpp.levels import Levels
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.native.unmarshal import describe_image
from specgate.dialects.directml.reader import read
from specgate.errors import Error
from specgate.spec.tables import dialect
from specgate.validate.device import capabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.directml.native.marshal import Image

BASES: Final = ("documented", "observed", "both")
HARNESS: Final = Path(__file__).with_name("harness.cpp")
FLAGS: Final = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
QUICK: Final = ("-O0",)  # compiles in a third of the time; for few questions
#: Operators that most tests use, in one library: arrays of tensors, fused operators, cases, scalars, strides, pairs,
#: optional tensors, crashing descriptors. A library takes five seconds, however few operators it has.
OPERATORS: Final = (
    "ONE_HOT", "GATHER", "GEMM", "CONVOLUTION", "REDUCE", "JOIN", "SPLIT", "FILL_VALUE_CONSTANT", "LSTM", "GRU",
    "MULTIHEAD_ATTENTION", "MEAN_VARIANCE_NORMALIZATION1", "SLICE1", "ROI_ALIGN", "ACTIVATION_RELU_GRAD", "SCATTER_ND", "ELEMENT_WISE_IDENTITY",
    "MAX_POOLING_GRAD", "UPSAMPLE_2D", "VALUE_SCALE_2D", "QUANTIZED_LINEAR_CONVOLUTION", "ACTIVATION_SOFTMAX1",
    "ELEMENT_WISE_CLIP", "PADDING", "DEQUANTIZE",
)  # fmt: skip


def compiler(*, sanitizing: bool = False) -> Compiler | None:
    """Return the compiler for libraries of this process, or None.

    sanitizing: one with sanitizers.
    """
    return next((result for result in compilers(windows=False) if result.sanitizes or not sanitizing), None)


def build(folder: Path, operators: Sequence[str] | None = None, flags: Sequence[str] = ()) -> Native:
    """Write the header into `folder`, compile it there and load it."""
    (folder / "specgate_dml.h").write_text(write_header(operators), encoding="utf-8")
    library = folder / "specgate_dml.so"
    chosen = compiler()
    assert chosen is not None
    chosen.run([*FLAGS, *flags, f"-I{folder}", str(HARNESS), "-o", str(library)])
    return Native(library)


@dataclass
class Held:
    """A description in memory; `root` is the address of its DML_OPERATOR_DESC.

    It is valid as long as this object exists.
    """

    memory: Any
    root: int


def place_model(result: Image) -> Held:
    """Copy an image into memory, with addresses in place of offsets."""
    data = bytearray(result.data)
    memory = (ctypes.c_char * len(data)).from_buffer(data)
    base = ctypes.addressof(memory)
    for at in result.pointers:
        struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + base)
    return Held(memory, base + result.root)


def as_held(descriptor: Descriptor) -> tuple[Image, Descriptor | None] | None:
    """Return a descriptor's image and its reading, None if structures cannot hold it.

    The reading is None if no reader accepts it.
    """
    try:
        new_image = image(descriptor)
    except Error:
        return None
    try:
        return new_image, read(describe_image(new_image))
    except Error:
        return new_image, None


@dataclass
class Answer:
    """The header's answer: findings, sentences, fixes, and accepting levels.

    Findings have an id, place and side.
    """

    accepted: bool
    findings: list[tuple[str, str, str]]
    messages: list[str]
    fixes: list[str]
    levels: tuple[str, ...]
    text: str


def parse(text: str) -> Answer:
    """Return the text of the harness's `explain`."""
    names = {numbers["target_version"]: level for level, numbers in dialect("directml").tables.levels.items()}
    first, *lines = text.split("\n")
    findings, messages, fixes = [], [], []
    while lines[0].count("\t") == 4:
        rule, where, side, message, fix = lines.pop(0).split("\t")
        findings.append((rule, where, BASES[int(side)]))
        messages.append(message)
        fixes.append(fix)
    levels = tuple(names[f"{int(number):#06x}"] for number in lines.pop(0).split())
    return Answer(first == "accepted", findings, messages, fixes, levels, "\n".join(lines))


class Created(NamedTuple):
    """create_operator's result, the number of device calls, and the message."""

    result: int
    asked: int
    told: str


class Native:
    """The compiled header."""

    def __init__(self, library: Path) -> None:
        table = dialect("directml")
        self.implementations = Levels(table, table.levels).implementations
        self._library = ctypes.CDLL(str(library))
        self._levels = {level: int(table.tables.levels[level]["target_version"], 16) for level in table.levels}
        self._bits = {name: 1 << number for number, name in enumerate(capabilities("directml"))}
        self._library.accepts.argtypes = [
            ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_int, ctypes.c_uint, ctypes.c_uint,
        ]  # fmt: skip

        self._library.explain.argtypes = [*self._library.accepts.argtypes, ctypes.c_char_p, ctypes.c_size_t]
        self._library.explain.restype = ctypes.c_size_t

    def check(
        self, value: Held, level: str, basis: str, device: frozenset[str] | None = None, by: str | None = None
    ) -> Answer:
        """Return the whole answer of the header."""
        room = ctypes.create_string_buffer(1 << 16)
        assert self._library.explain(*self._asked(value, level, basis, device, by), room, len(room)) < len(room)
        return parse(room.value.decode())

    def fixes(self, value: Held, level: str, *, searched: bool) -> list[str]:
        """Return the proposed fixes, with or without those that need a search."""
        room = ctypes.create_string_buffer(1 << 16)
        self._library.fixes.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
        self._library.fixes.restype = ctypes.c_size_t
        assert self._library.fixes(value.root, self._levels[level], searched, room, len(room)) < len(room)
        return room.value.decode().splitlines()

    def json(self, value: Held) -> str:
        """Return the header's to_json of a description."""
        room = ctypes.create_string_buffer(1 << 22)
        self._library.json.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self._library.json.restype = ctypes.c_size_t
        assert self._library.json(value.root, room, len(room)) < len(room)
        return room.value.decode()

    def create(self, value: Held, level: str, *, refusing: bool, stated: bool = True) -> Created:
        """Return create_operator's result for a device that rejects everything or nothing.

        stated: whether the caller states the level; if not, the device is queried.
        """
        room, c_int = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
        options = self._levels[level], int(stated), int(refusing), ctypes.byref(c_int)
        self._library.create.argtypes = [
            ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
        ]  # fmt: skip
        result = self._library.create(value.root, *options, room, len(room))
        return Created(result & 0xFFFFFFFF, c_int.value, room.value.decode())

    def accepts(
        self, value: Held, level: str, basis: str, device: frozenset[str] | None = None, by: str | None = None
    ) -> bool:
        """Return the header's verdict on a description."""
        return bool(self._library.accepts(*self._asked(value, level, basis, device, by)))

    def _asked(
        self, value: Held, level: str, basis: str, device: frozenset[str] | None, by: str | None
    ) -> tuple[Any, ...]:
        bits = sum(self._bits[name] for name in device or ())
        own = 0 if by is None else 1 << self.implementations.index(by)
        return value.root, self._levels[level], BASES.index(basis), device is not None, bits, own
