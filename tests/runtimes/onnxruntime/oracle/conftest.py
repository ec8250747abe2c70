from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specgate.runtimes.onnxruntime.oracle import oracle
from tests.fake_hosts import start, write_host

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: A Python host. A model's text is its script: words are records, in order, or failures.
FAKE_HOST = """
    def put(kind, data):
        os.write(1, struct.pack("<II", kind, len(data)) + data)
    assert take(4) == struct.pack("<I", 1)
    for _ in range(struct.unpack("<I", take(4))[0]):
        take(12 * struct.unpack("<III", take(12))[2])
    asked = 0
    while True:
        assert take(4) == struct.pack("<I", 2)
        optimisation, fused, run, size = struct.unpack("<IIII", take(16))
        model = take(size).split(b"|")[0].decode()
        asked += 1
        for word in model.split():
            misbehave("die" if word == "die-later" and asked > 1 else word)
            if word == "operator":
                put(1, {IMAGE})
            elif word.startswith("made="):
                put(2, struct.pack("<I", int(word[5:], 16)))
            elif word == "compiled":
                put(4, struct.pack("<I", 0))
            elif word == "running":
                put(6, b"")
            elif word == "node":
                put(3, b" Node(s) placed on [DmlExecutionProvider]. Number of nodes: 1")
                put(3, b"  Relu (r)")
            elif word == "settings":
                put(3, b" Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1")
                put(3, b"  %d (%d %d)" % (optimisation, fused, run))
            elif word == "gone-later" and asked > 1:
                put(5, struct.pack("<I", 6) + b"887A0005 The GPU device instance has been suspended.")
                break
            elif word.startswith("fails="):
                put(5, struct.pack("<I", 6) + word[6:].encode())
                break
        else:
            put(5, struct.pack("<I", 0))
"""


@pytest.fixture
def starts(tmp_path: Path) -> Callable[[], int]:
    """Return the number of started fake hosts."""
    return lambda: start(tmp_path)


@pytest.fixture
def fake_oracle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., oracle.PlacementOracle]:
    """Return an oracle of the newest release with a fake host."""
    from specgate.dialects.directml.native.marshal import image

    tensor = {"DataType": "FLOAT32", "Sizes": [1]}
    relu = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": tensor, "OutputTensor": tensor}}
    new_image = image(relu)
    words = [new_image.root, len(new_image.pointers), *new_image.pointers]
    data = b"".join(word.to_bytes(4, "little") for word in words) + new_image.data

    def make(level: int = 0x6400, **options: Any) -> oracle.PlacementOracle:
        command = write_host(tmp_path, FAKE_HOST, b"SGDP", level, IMAGE=data)

        class Place:
            def environment(self) -> dict[str, str]:
                return {}

        class Ready:
            place = Place()

        monkeypatch.setattr(oracle, "installed_host", lambda *_: Ready())
        monkeypatch.setattr(oracle, "_command", lambda *_: command)
        monkeypatch.setattr(oracle, "add_markers", lambda model: model)
        return oracle.PlacementOracle(**options)

    return make
