from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specgate.dialects.directml.oracle import oracle as directml
from specgate.dialects.directml.oracle.builds import find_builds
from tests.fake_hosts import write_host

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: A Python host whose behaviour depends on the first size of the question.
FAKE_HOST = """
    REPLIES = {SIZES}
    asked = 0
    while True:
        number, size, pointers, root = struct.unpack("<IIII", take(16))
        take(4 * pointers)
        image = take(size)
        asked += 1
        word = REPLIES.get(struct.unpack_from("<I", image)[0], 0)
        misbehave("die" if word == "die later" and asked > 1 else word)
        os.write(1, struct.pack("<II", number, word if isinstance(word, int) else 0))
"""


@pytest.fixture
def fake_host(tmp_path: Path) -> Callable[[dict[int, int | str]], list[str]]:
    """Return the command of a host that answers images by their first number.

    The answer is an HRESULT or a failure.
    """

    def make(replies: dict[int, int | str]) -> list[str]:
        return write_host(tmp_path, FAKE_HOST, b"SGDM", 0x6200, SIZES=replies)

    return make


@pytest.fixture
def fake_oracle(
    fake_host: Callable[[dict[int, int | str]], list[str]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., directml.DirectMLOracle]:
    """Return an oracle of level 6.2 with a fake host."""

    def make(replies: dict[int, int | str], **options: Any) -> directml.DirectMLOracle:
        command = fake_host(replies)
        monkeypatch.setattr(directml, "_require_build", lambda *_: find_builds("6.2", "linux")[0])
        monkeypatch.setattr(directml, "_command", lambda *_: (command, {}))
        return directml.DirectMLOracle("6.2", **options)

    return make
