"""Nodes and value infos decoded at once equal those decoded field by field."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from specgate.dialects.onnx.file import graph as onnx_graph
from specgate.dialects.onnx.file.fast_paths import plain_node
from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

onnx = pytest.importorskip("onnx", reason="the models are written with it")

RNG = random.Random(11)
HELD: dict[str, dict[str, Any]] = {"Softmax": {"axis": -1}, "Cast": {"to": 1}, "LeakyRelu": {"alpha": 0.5}}


def model_of(nodes: int) -> bytes:
    """Return nodes with common endings and value infos, some without."""
    from onnx import TensorProto, helper

    protos, infos, last = [], [], "x"
    for number in range(nodes):
        output = f"value_{number}" * (1 + 20 * (number % 17 == 5))
        kind = ("Relu", "Gelu", "Clip", "Softmax", "Cast", "LeakyRelu")[number % 6]
        attributes = HELD.get(kind, {})
        node = helper.make_node(
            kind, [last, ""] if kind == "Clip" else [last], [output], f"node {number}", **attributes
        )
        if kind == "Gelu":
            node.domain = "com.microsoft"
        if number % 13 == 4:
            node.doc_string = "said of this one"
        protos.append(node)
        infos.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, [2, 3 + number % 3]))
        last = output
    graph = helper.make_graph(
        protos,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        infos[-1:],
        value_info=infos[:-1],
    )
    data: bytes = helper.make_model(graph).SerializeToString()
    return data


def read(data: bytes) -> tuple[Any, ...]:
    try:
        model = read_model_bytes(data)
    except InputError as error:
        return (str(error),)
    model.graph.runs = []  # only nodes decoded at once are copied
    return repr(model), model.oddities


@pytest.fixture
def read_field_by_field(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], tuple[Any, ...]]:
    def reading(data: bytes) -> tuple[Any, ...]:
        with monkeypatch.context() as patch:
            for name in ("plain_node", "plain_info"):
                patch.setattr(onnx_graph, name, lambda *_: None)
            return read(data)

    return reading


def test_written_models_are_read_the_same(read_field_by_field: Callable[[bytes], tuple[Any, ...]]) -> None:
    data = model_of(600)
    assert read(data) == read_field_by_field(data)
    assert len(read(data)) == 2


@pytest.mark.slow
def test_mutated_bytes_read_like_the_field_by_field_reader(
    read_field_by_field: Callable[[bytes], tuple[Any, ...]],
) -> None:
    whole = model_of(80)
    read(whole)
    outcomes = set()
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(RNG.choice((1, 1, 2, 5))):
            at = RNG.randrange(len(data))
            options = RNG.randrange(4)
            if options == 0:
                data[at : at + RNG.randrange(1, 6)] = b""
            elif options == 1:
                data[at:at] = RNG.randbytes(RNG.randrange(1, 4))
            else:
                data[at] = RNG.randrange(256)
        result = read(bytes(data))
        assert result == read_field_by_field(bytes(data))
        outcomes.add(len(result))
    assert outcomes == {1, 2}, "some are refused and some are read"


def add_size(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


def test_oddities_are_reported_for_every_file() -> None:
    malformed = add_size(1, b"a") + b"\x1a\x01x" + b"\xa0\x01\x02"  # an int in a field of bytes
    node = add_size(1, add_size(2, b"y") + add_size(4, b"Op") + add_size(5, malformed))
    data = b"\x08\x08" + add_size(7, node + node + add_size(2, b"g")) + add_size(8, b"\x10\x11")
    first, second = read_model_bytes(data), read_model_bytes(data)
    assert first.oddities
    assert second.oddities == first.oddities


def test_fast_parser_is_tried_once_per_irregular_node(monkeypatch: pytest.MonkeyPatch) -> None:
    spans: list[tuple[int, int]] = []

    def count_span(source: Any, data: bytes, begin: int, end: int, base: int) -> Any:
        spans.append((begin, end))
        return plain_node(source, data, begin, end, base)

    monkeypatch.setattr(onnx_graph, "plain_node", count_span)
    node = add_size(1, add_size(2, b"y") + add_size(4, b"Op") + add_size(7, b"ai.onnx"))
    model = read_model_bytes(b"\x08\x08" + add_size(7, node * 3 + add_size(2, b"g")) + add_size(8, b"\x10\x11"))
    assert [(each.op_type, each.domain) for each in model.graph.nodes] == [("Op", "")] * 3
    assert len(spans) == 3


def test_equal_attributes_are_shared_between_models() -> None:
    node, other = (read_model_bytes(model_of(12)).graph.nodes[3] for _ in range(2))
    assert node.attributes["axis"] is other.attributes["axis"]
