"""A copy of the runtime's files for imports, and a handmade library with a table."""

from __future__ import annotations

import struct
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.paths import SPECS, copy_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASE = 0x180000000
RAW, START = 0x400, 0x1000  # offset of the only section, in the file and in memory


class Section:
    """Data that refers to itself by addresses, as a linker lays it out."""

    def __init__(self) -> None:
        self.data = bytearray(8)

    def put(self, content: bytes) -> int:
        """Append data and return its address."""
        self.data += bytes(-len(self.data) % 8)
        at = len(self.data)
        self.data += content
        return BASE + START + at


def span(section: Section, items: list[int], form: str) -> tuple[int, int]:
    return len(items), section.put(struct.pack(f"<{len(items)}{form}", *items))


def library(rows: list[dict[str, Any]], size: int, *, wide: bool) -> bytes:
    """Return a library whose structures have `size` bytes.

    Each has name, version, types and the rest of a row. wide: flags of types have 64 bits, not 32.
    """
    section = Section()
    blocks = []
    for row in rows:
        names = [section.put(name.encode() + b"\0") for name in row["types"]]
        name, domain = (section.put(text.encode() + b"\0") for text in (row["name"], row.get("domain", "")))
        spans = [span(section, names, "Q"), span(section, list(row["types"].values()), "Q" if wide else "I")]
        if size == 120:  # begin and end instead of count and begin
            spans = [(at, at + count * width) for (count, at), width in zip(spans, (8, 4), strict=True)]
        inputs = [*row.get("inputs", []), 0, 0, 0, 0][:4]
        head = struct.pack("<QiIQQQ", name, row["version"], 0, domain, 1, 1)
        head += bytes((80 if size == 160 else 48) - len(head)) + struct.pack("<4Q", *spans[0], *spans[1])
        tail = struct.pack(
            "<I4IiIIQ",
            row.get("graph", 0),
            *inputs,
            len(row.get("inputs", [])),
            row.get("graph_inputs", 0),
            int("graph_inputs" in row),
            row.get("query", 0),
        )
        blocks.append((head + tail).ljust(size, b"\0"))
    section.put(b"".join(blocks))
    header = bytearray(RAW)
    header[0x3C:0x40] = struct.pack("<I", 0x40)
    header[0x46:0x48] = struct.pack("<H", 1)
    header[0x54:0x56] = struct.pack("<H", 0x20)
    header[0x70:0x78] = struct.pack("<Q", BASE)
    header[0x40 + 24 + 0x20 + 8 : 0x40 + 24 + 0x20 + 24] = struct.pack(
        "<4I", len(section.data), START, len(section.data), RAW
    )
    return bytes(header + section.data)


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that builds wheels with one library."""

    def make(rows: list[dict[str, Any]], size: int = 160, release: str = "1.24.4", *, wide: bool = True) -> Path:
        path = tmp_path / f"onnxruntime_directml-{release}-cp312-cp312-win_amd64.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("onnxruntime/capi/onnxruntime.dll", library(rows, size, wide=wide))
        return path

    return make


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """Return a copy of the runtime's files."""
    copy_tree(SPECS / "onnxruntime", tmp_path / "onnxruntime")
    return tmp_path / "onnxruntime"
