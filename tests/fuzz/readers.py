"""The readers under test: their inputs, and the requirements on their answers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specgate.descriptors.files import read_placed
from specgate.descriptors.text import load_relaxed
from specgate.dialects.directml.dxdispatch.read import entries as read_entries
from specgate.dialects.directml.dxdispatch.read import read_dx_model, write_dx_model
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.native.pointer import graph_from_pointer
from specgate.dialects.directml.native.unmarshal import describe_image
from specgate.dialects.directml.serialized.graph import graph_of_file
from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.dialects.openvino.graph import openvino_units
from specgate.dialects.openvino.ir import read_ir
from specgate.errors import Error
from specgate.spec.tables import dialect
from tests.fuzz.mutate import TOKENS, as_text, lengths_edited, noisy, restructure
from tests.paths import ROOT

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

DATA = ROOT / "tests" / "data"
XML_TOKENS = [
    b"<",
    b">",
    b'"',
    b"&j;",
    b"<!DOCTYPE a>",
    b"<dim>-5</dim>",
    b"</layer>",
    b"<body>",
    b'id="0"',
    b"<edge/>",
]
XML_TOKENS += [b"\x00", b"9" * 30, b"<![CDATA[4]]>", b"-1", b"Const", b'shape="1,..,"', b"<!--", b'offset="99"', b"f32"]


class Fuzzed(AssertionError):
    """Forbidden behaviour of a reader."""


def refusal(read: Callable[[], Any]) -> str | None:
    """Return the message of a specgate error, None if `read` accepts the input.

    Other exceptions are raised.
    """
    try:
        read()
    except Error as error:
        text = str(error)
        if not text or len(text) > 2000 or not text.isprintable():
            raise Fuzzed(f"the message is empty, long or not printable: {text[:300]!r}") from error
        return text
    return None


@cache
def _onnx_seeds() -> list[bytes]:
    import onnx

    from tests.dialects.onnx.file.test_model import random_model

    folder = Path(onnx.__file__).parent / "backend" / "test" / "data"
    packaged = sorted(path for path in folder.rglob("*.onnx") if path.stat().st_size < 3000)
    return [path.read_bytes() for path in packaged[::20]] + [random_model(seed) for seed in range(60)]


def _onnx_input(rng: random.Random) -> bytes:
    seeds = _onnx_seeds()
    data = rng.choice(seeds)
    if rng.random() < 0.6:
        data = lengths_edited(rng, data)
    return noisy(rng, data, seeds) if rng.random() < 0.6 else data


def _onnx_holds(data: bytes, _folder: Path) -> str:
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    read: list[Any] = []
    ours = refusal(lambda: read.append(read_model_bytes(data, "m.onnx")))
    try:
        onnx.load_model_from_string(data)
    except DecodeError:
        if ours is None:
            raise Fuzzed("protobuf refuses these bytes, specgate takes them") from None
        return "refused by both"
    if ours is not None:
        return "refused by specgate alone: " + ours.partition(": ")[2].partition(": ")[2][:30]
    refusal(lambda: onnx_units(read[0]))
    return "taken by both"


@cache
def _ir_seeds() -> list[tuple[bytes, bytes]]:
    from tests.dialects.openvino.test_ir import HANDWRITTEN

    paths = sorted((DATA / "models").glob("*_openvino.xml"))
    pairs = [(path.read_bytes(), path.with_suffix(".bin").read_bytes()) for path in paths]
    return [(HANDWRITTEN.encode(), bytes(64)), *pairs]


def _ir_input(rng: random.Random) -> bytes:
    """Return the .bin part's length in four bytes, that part, and the XML."""
    seeds = _ir_seeds()
    xml, weights = rng.choice(seeds)
    if rng.random() < 0.9:
        xml = noisy(rng, xml, [seed for seed, _ in seeds], XML_TOKENS)
    if rng.random() < 0.3:
        weights = weights[: rng.randrange(len(weights) + 1)]
    return len(weights).to_bytes(4, "little") + weights + xml


def _ir_holds(data: bytes, folder: Path) -> str:
    size = int.from_bytes(data[:4], "little")
    path = folder / "m.xml"
    path.with_suffix(".bin").write_bytes(data[4 : 4 + size])
    path.write_bytes(data[4 + size :])
    read: list[Any] = []
    if refusal(lambda: read.append(read_ir(path))) is not None:
        return "refused"
    refusal(lambda: openvino_units(read[0]))
    return "taken"


@cache
def _dx_seeds() -> list[Any]:
    from tests.dialects.directml.native.graphs import GRAPH
    from tests.dialects.directml.native.loaded import Loaded, descriptions

    loaded = Loaded(GRAPH)
    graph = graph_from_pointer(loaded.address, {0x1000: describe_image(image(descriptions("ONE_HOT")[0][1]))})
    return [graph] + [
        load_relaxed(path.read_text(), path.name) for path in sorted((DATA / "dxdispatch").glob("*.json"))
    ]


def _json_input(rng: random.Random, seeds: list[Any]) -> bytes:
    document = rng.choice(seeds)
    if rng.random() < 0.7:
        document = restructure(rng, document, seeds)
    data = as_text(document)
    if rng.random() < 0.2:
        import yaml

        data = yaml.safe_dump(json.loads(data), allow_unicode=False).encode()
    if rng.random() < 0.4:
        data = noisy(rng, data, [as_text(rng.choice(seeds))], TOKENS)
    return data


def _dx_holds(data: bytes, _folder: Path) -> str:
    text = data.decode(errors="replace")
    read: list[Any] = []
    if refusal(lambda: read.append(read_dx_model(text + "\n", file="m.json"))) is not None:
        return "refused"
    refusal(lambda: list(read_entries(write_dx_model(read[0]), "m.json")))
    return "taken"


@cache
def _descriptor_seeds() -> list[Any]:
    outcome: list[Any] = []
    for name in ("directml", "onnx", "openvino"):
        operators = [dialect(name).operator(operator) for operator in dialect(name).operators]
        result = [e["descriptor"] for spec in operators for e in spec.table.examples.values()]
        outcome += result[:: max(1, len(result) // 40)]
    seeds = [*outcome, {"descriptors": {"a": outcome[0], "b": outcome[-1]}}, outcome[:3]]
    return list(json.loads(json.dumps(seeds, default=str)))


def _descriptors_hold(data: bytes, folder: Path) -> str:
    path = folder / ("d.json" if data[:1] in b"{[" else "d.yaml")
    path.write_bytes(data)
    return "taken" if refusal(lambda: list(read_placed(path))) is None else "refused"


@cache
def _graph_seeds() -> list[bytes]:
    from tests.dialects.directml.native.loaded import descriptions
    from tests.dialects.directml.serialized.written import Constant, graph

    result = [describe_image(image(descriptor)) for _, descriptor, _ in descriptions()]
    constants = (Constant("w"), Constant("b", bytes(40)))
    return [graph(*constants, *result[i : i + 3], inputs=["x"], outputs=["y"]) for i in range(0, len(result), 40)]


def _graph_input(rng: random.Random) -> bytes:
    """Changes of any bytes, or of words: offsets, lengths and numbers of fields."""
    data = bytearray(rng.choice(_graph_seeds()))
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data) // 4) * 4
        data[at : at + 4] = rng.choice((0, 1, 4, 2**31, 2**32 - 1, rng.randrange(len(data)))).to_bytes(4, "little")
    return bytes(data) if rng.random() < 0.6 else noisy(rng, bytes(data), _graph_seeds())


def _graph_holds(data: bytes, folder: Path) -> str:
    path = folder / "g.dml"
    path.write_bytes(data)
    return "taken" if refusal(lambda: graph_of_file(str(path))) is None else "refused"


#: By name: draws an input, checks a reader with it, and returns the outcome. The seeds are drawn at once.
READERS: dict[str, tuple[Callable[[random.Random], bytes], Callable[[bytes, Path], str]]] = {
    "onnx": (_onnx_input, _onnx_holds),
    "openvino_ir": (_ir_input, _ir_holds),
    "dxdispatch": (lambda rng: _json_input(rng, _dx_seeds()), _dx_holds),
    "dml_graph": (_graph_input, _graph_holds),
    "descriptors": (lambda rng: _json_input(rng, _descriptor_seeds()), _descriptors_hold),
}
