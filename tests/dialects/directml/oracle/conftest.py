from __future__ import annotations

import copy
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from specgate.dialects.directml.oracle import oracle as directml
from specgate.dialects.directml.oracle.builds import find_builds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: A host in Python: what it answers is in the question's first size, so that tests can make it misbehave.
FAKE_HOST = """
    import os, struct, sys, time
    REPLIES = {SIZES}
    def take(size):
        data = b""
        while len(data) < size:
            more = os.read(0, size - len(data))
            if not more:
                sys.exit(0)
            data += more
        return data
    os.write(1, struct.pack("<4sIII", b"SGDM", 1, 0, 0x6200))
    asked = 0
    while True:
        number, size, pointers, root = struct.unpack("<IIII", take(16))
        take(4 * pointers)
        image = take(size)
        asked += 1
        word = REPLIES.get(struct.unpack_from("<I", image)[0], 0)
        if word == "die" or (word == "die later" and asked > 1):
            os._exit(7)
        if word == "hang":
            time.sleep(60)
        if word == "babble":
            os.write(1, b"wine: Unhandled page fault on read access")
            os._exit(1)
        os.write(1, struct.pack("<II", number, word if isinstance(word, int) else 0))
"""


@pytest.fixture
def fake_host(tmp_path: Path) -> Callable[[dict[int, int | str]], list[str]]:
    """Make the command of a host that answers images by their first number: an HRESULT, or what it does instead."""

    def make(replies: dict[int, int | str]) -> list[str]:
        path = tmp_path / "host.py"
        path.write_text(textwrap.dedent(FAKE_HOST).replace("{SIZES}", repr(replies)), encoding="utf-8")
        return [sys.executable, str(path)]

    return make


@pytest.fixture
def fake_oracle(
    fake_host: Callable[[dict[int, int | str]], list[str]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., directml.DirectMLOracle]:
    """Make an oracle of level 6.2 that asks a fake host."""

    def make(replies: dict[int, int | str], **options: Any) -> directml.DirectMLOracle:
        command = fake_host(replies)
        monkeypatch.setattr(directml, "_installed", lambda *_: find_builds("6.2", "linux")[0])
        monkeypatch.setattr(directml, "_command", lambda *_: (command, {}))
        return directml.DirectMLOracle("6.2", **options)

    return make


@pytest.fixture
def changed(one_hot: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Change fields of an accepted ONE_HOT: ``changed(OutputTensor_Flags=1, Axis=2)``; None takes one away."""

    def change(**changes: Any) -> dict[str, Any]:
        made = copy.deepcopy(one_hot)
        for name, value in changes.items():
            field, _, part = name.partition("_")
            owner, key = (made["desc"][field], part) if part else (made["desc"], field)
            if value is None:
                del owner[key]
            else:
                owner[key] = value
        return made

    return change
