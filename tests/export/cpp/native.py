"""The header compiled as a library of this process, and descriptors laid out in memory to ask it about."""

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
QUICK: Final = ("-O0",)  # what compiles in a third of the time, for few questions
#: What most tests ask about, in one library: arrays of tensors, fused operators, cases, scalars, strides, pairs, words,
#: optional tensors, crashing descriptors. Each library takes five seconds, however few operators it has.
OPERATORS: Final = (
    "ONE_HOT", "GATHER", "GEMM", "CONVOLUTION", "REDUCE", "JOIN", "SPLIT", "FILL_VALUE_CONSTANT", "LSTM", "GRU",
    "MULTIHEAD_ATTENTION", "MEAN_VARIANCE_NORMALIZATION1", "SLICE1", "ROI_ALIGN", "ACTIVATION_RELU_GRAD", "SCATTER_ND", "ELEMENT_WISE_IDENTITY",
    "MAX_POOLING_GRAD", "UPSAMPLE_2D", "VALUE_SCALE_2D", "QUANTIZED_LINEAR_CONVOLUTION", "ACTIVATION_SOFTMAX1",
    "ELEMENT_WISE_CLIP", "PADDING", "DEQUANTIZE",
)  # fmt: skip


def compiler(*, sanitizing: bool = False) -> Compiler | None:
    """Return the compiler whose libraries are loaded here, None where there is none. sanitizing: one with sanitizers."""
    return next((found for found in compilers(windows=False) if found.sanitizes or not sanitizing), None)


def built(folder: Path, operators: Sequence[str] | None = None, flags: Sequence[str] = ()) -> Native:
    """Write the header into `folder`, compile it there and load it."""
    (folder / "specgate_dml.h").write_text(write_header(operators), encoding="utf-8")
    library = folder / "specgate_dml.so"
    chosen = compiler()
    assert chosen is not None
    chosen.run([*FLAGS, *flags, f"-I{folder}", str(HARNESS), "-o", str(library)])
    return Native(library)


@dataclass
class Held:
    """A description that stays in memory as long as this object: `root` is the address of its DML_OPERATOR_DESC."""

    memory: Any
    root: int


def placed(made: Image) -> Held:
    """Copy an image into memory, with addresses in place of offsets."""
    data = bytearray(made.data)
    memory = (ctypes.c_char * len(data)).from_buffer(data)
    base = ctypes.addressof(memory)
    for at in made.pointers:
        struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + base)
    return Held(memory, base + made.root)


def as_held(descriptor: Descriptor) -> tuple[Image, Descriptor | None] | None:
    """Return a descriptor's image with what the structures then say of it, None where they cannot hold it.

    What they say is None where no descriptor says it: a reader refuses it.
    """
    try:
        made = image(descriptor)
    except Error:
        return None
    try:
        return made, read(describe_image(made))
    except Error:
        return made, None


@dataclass
class Answer:
    """What the header says: findings by id, place and side, with their sentences and fixes; the levels that accept."""

    accepted: bool
    findings: list[tuple[str, str, str]]
    messages: list[str]
    fixes: list[str]
    levels: tuple[str, ...]
    text: str


def parsed(text: str) -> Answer:
    """Return what `explain` of the harness wrote."""
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
    """What create_operator returned, how often it asked the device, and what it told."""

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
        self, held: Held, level: str, basis: str, device: frozenset[str] | None = None, by: str | None = None
    ) -> Answer:
        """Return the whole answer of the header."""
        room = ctypes.create_string_buffer(1 << 16)
        assert self._library.explain(*self._asked(held, level, basis, device, by), room, len(room)) < len(room)
        return parsed(room.value.decode())

    def fixes(self, held: Held, level: str, *, searched: bool) -> list[str]:
        """Return what is proposed, with or without what takes a search."""
        room = ctypes.create_string_buffer(1 << 16)
        self._library.fixes.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
        self._library.fixes.restype = ctypes.c_size_t
        assert self._library.fixes(held.root, self._levels[level], searched, room, len(room)) < len(room)
        return room.value.decode().splitlines()

    def json(self, held: Held) -> str:
        """Return what to_json says of a description."""
        room = ctypes.create_string_buffer(1 << 22)
        self._library.json.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self._library.json.restype = ctypes.c_size_t
        assert self._library.json(held.root, room, len(room)) < len(room)
        return room.value.decode()

    def create(self, held: Held, level: str, *, refusing: bool, stated: bool = True) -> Created:
        """Return what create_operator does with a device that refuses everything, or nothing.

        stated: whether the caller states the level; if not, the device is asked.
        """
        room, asked = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
        how = self._levels[level], int(stated), int(refusing), ctypes.byref(asked)
        self._library.create.argtypes = [
            ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
        ]  # fmt: skip
        result = self._library.create(held.root, *how, room, len(room))
        return Created(result & 0xFFFFFFFF, asked.value, room.value.decode())

    def accepts(
        self, held: Held, level: str, basis: str, device: frozenset[str] | None = None, by: str | None = None
    ) -> bool:
        """Return what the header says of a description."""
        return bool(self._library.accepts(*self._asked(held, level, basis, device, by)))

    def _asked(
        self, held: Held, level: str, basis: str, device: frozenset[str] | None, by: str | None
    ) -> tuple[Any, ...]:
        bits = sum(self._bits[name] for name in device or ())
        own = 0 if by is None else 1 << self.implementations.index(by)
        return held.root, self._levels[level], BASES.index(basis), device is not None, bits, own
