"""Layers read by patterns are what the XML parser reads of them, whatever stands there and wherever a block ends."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from specgate.dialects.openvino import ir, limits, regular
from specgate.dialects.openvino.ir import read_ir_bytes
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).parents[2] / "data" / "models"
WRITTEN = [path.read_bytes() for path in sorted(SAMPLES.glob("*_openvino.xml"))]
INFORMED = WRITTEN[0].replace(
    b"<input>", b'<rt_info>\n<attribute name="fused_names_0" version="0" value="a" />\n</rt_info>\n<input>'
)
#: What takes the place of something else, or comes beside it.
PIECES = [
    b"", b" ", b"\n", b"\r", b"\t", b"\0", b"<", b">", b"&", b"&amp;", b'"', b"'", b"/", b"-1", b"?", b"..", b"1..3", b"007",
    b"9223372036854775808", b"\xff", "é".encode(), "\ufffe".encode(), b"<!-- -->", b"<!-- <layers> -->", b"<![CDATA[", b"<?x ?>",
    b"]]>", b"<x/>", b"<dim>3</dim>", b"<rt_info>", b'<rt_info><attribute a="1" a="2"/></rt_info>', b' a="1" a="2"', b' id="0"',
    b' precision="x y"', b' names="a\\,b,,c"', b' shape=""', b' element_type="dynamic"', b"</layer>", b"</layers><layers>",
    b"<layers>", b"</edges>", b"<input>", b"</input>",
]  # fmt: skip


def outcome(data: bytes) -> Any:
    try:
        return read_ir_bytes(data)
    except InputError as error:
        return str(error)


def both(data: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """What is read with patterns, and without."""
    found = outcome(data)
    with monkeypatch.context() as patch:
        patch.setattr(regular, "_HEAD", re.compile(rb"(?!)"))
        return found, outcome(data)


def changed(seed: int) -> Iterator[bytes]:
    """Yield IRs with a few changes each, at tags, quotes and anywhere."""
    rng = random.Random(seed)
    for _ in range(60):
        data = rng.choice([*WRITTEN, INFORMED])
        for _ in range(rng.choice((1, 1, 2, 3))):
            spots = [found.start() + rng.choice((0, 1)) for found in re.finditer(rb'[<>" ]', data)]
            start = rng.choice(spots) if rng.random() < 0.8 else rng.randrange(len(data))
            stop = start + rng.choice((0, 0, 1, 2, 9))
            data = data[:start] + rng.choice(PIECES) + data[stop:]
        yield data


@pytest.mark.parametrize("seed", range(20))
def test_changed_irs_are_read_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir, "_BLOCK", random.Random(seed).choice((17, 100, 1000, 64 * 1024)))
    for data in changed(seed):
        found, expected = both(data, monkeypatch)
        assert found == expected, data


@pytest.mark.parametrize("data", [*WRITTEN, INFORMED], ids=lambda data: f"{len(data)} bytes")
def test_what_openvino_writes_is_matched(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is left to the parser but what stands around layers and edges."""
    seen: list[bytes] = []
    parse = ir._Reader.parse

    def watched(self: ir._Reader, part: bytes) -> None:
        seen.append(part)
        parse(self, part)

    monkeypatch.setattr(ir._Reader, "parse", watched)
    model = read_ir_bytes(data)
    assert model.net.layers
    assert model.net.edges
    assert not re.search(rb"<(layer|edge|port|data) ", b"".join(seen))


def test_limits_hold_for_what_is_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MAX_ELEMENTS", 9), ("MAX_KEPT", 9), ("MAX_BYTES", 900), ("MAX_LAYERS", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, value)
            found, expected = both(WRITTEN[0], monkeypatch)
        assert "at most" in found
        assert found == expected


def test_a_layer_longer_than_the_window_is_left_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular, "_WINDOW", 200)
    monkeypatch.setattr(ir, "_BLOCK", 64)
    found, expected = both(WRITTEN[0], monkeypatch)
    assert found == expected
