"""Python hosts that replace those in C; a test only writes how they answer."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

#: The start of every host. `take` reads; `misbehave` acts on a word if it is one of those.
_START: Final = """
import os, struct, sys, time
def take(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data
def misbehave(word):
    if word == "die":
        os._exit(7)
    if word == "hang":
        time.sleep(60)
    if word == "babble":
        os.write(1, b"wine: Unhandled page fault on read access")
        os._exit(1)
with open({STARTS}, "a") as file:
    file.write("x")
turn = os.path.getsize({STARTS})
os.write(1, struct.pack("<4sIII", {MAGIC}, 1, 0, {LEVEL}))
"""


def write_host(folder: Path, body: str, magic: bytes, level: int, **values: Any) -> list[str]:
    """Write a host into a folder and return its command.

    body: code after the hello of `level`; `turn` in it is the number of hosts started. values: replacements for
    ``{NAME}`` in it.
    """
    text = _START + textwrap.dedent(body)
    word = magic.decode()
    for name, value in {"STARTS": str(folder / f"{word}.starts"), "MAGIC": magic, "LEVEL": level, **values}.items():
        text = text.replace(f"{{{name}}}", repr(value))
    path = folder / f"{word}.py"
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]


def start(folder: Path) -> int:
    """Return the number of started hosts of a folder."""
    return sum(path.stat().st_size for path in folder.glob("*.starts"))
