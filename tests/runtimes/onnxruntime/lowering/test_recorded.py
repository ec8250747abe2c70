"""The tables give the DirectML operators that one build created for hundreds of nodes."""

from __future__ import annotations

import json
from struct import pack, unpack
from typing import Any, Final

import pytest

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.dialects.directml.reader import read
from specgate.runtimes.onnxruntime.lower import NotLowered, lower, node, outline
from specgate.validate.check import check_at
from tests.paths import ROOT
from tests.runtimes.onnxruntime.lowering.nodes import attribute_of, tensor_of

RECORDED = json.loads((ROOT / "tests/runtimes/onnxruntime/lowering/recorded.json").read_text(encoding="utf-8"))["nodes"]
NAMES = [f"{entry['operator']}-{entry['version']}-{index}" for index, entry in enumerate(RECORDED)]
#: Null pointers of the record that point to nothing.
EMPTY: Final[tuple[Any, ...]] = ([], None)


def plain(value: Any) -> Any:
    """Return a value in which FLOAT numbers and operators' fields can be compared."""
    if isinstance(value, TensorDesc):
        return value.type, value.sizes, value.strides
    if isinstance(value, Descriptor):
        return value.operator, {name: plain(part) for name, part in value.fields.items() if part not in EMPTY}
    if isinstance(value, float):
        return unpack("f", pack("f", value))[0] if abs(value) < 3.5e38 else value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def lowered(entry: Any) -> Any:
    inputs, outputs = ([tensor_of(raw) for raw in entry[part]] for part in ("inputs", "outputs"))
    attributes = {name: attribute_of(raw) for name, raw in entry.get("attributes", {}).items()}
    descriptor = node(entry["operator"], inputs, outputs, attributes, entry["version"])
    assert descriptor is not None
    return lower(descriptor, entry["version"])


def test_the_record_is_complete() -> None:
    assert len(RECORDED) > 500
    assert sum("refused" in entry for entry in RECORDED) > 20
    assert len({entry["operator"] for entry in RECORDED}) > 150


@pytest.mark.slow
@pytest.mark.parametrize("entry", RECORDED, ids=NAMES)
def test_tables_reproduce_the_recorded_queries(entry: Any) -> None:
    result = lowered(entry)
    if not entry["asked"]:
        assert isinstance(result, NotLowered)
        assert result.kind == "refused"
        return
    questions = [plain(read(raw)) for raw in entry["asked"]]
    assert [plain(descriptor) for descriptor in result[: len(questions)]] == questions
    if "refused" not in entry:
        assert len(result) == len(questions)


@pytest.mark.slow
@pytest.mark.parametrize("entry", RECORDED, ids=NAMES)
def test_directml_tables_agree_with_the_recorded_build(entry: Any) -> None:
    result = lowered(entry)
    if isinstance(result, NotLowered):
        return
    accepted = [check_at(descriptor, "6.4", "observed").accepted for descriptor in result[: len(entry["asked"])]]
    assert all(accepted[:-1])
    assert accepted[-1] is ("refused" not in entry)


def forget_sizes(raw: Any) -> TensorDesc | None:
    """Return a tensor with its rank and type only."""
    tensor = tensor_of(raw)
    if tensor is None or tensor.sizes is None:
        return tensor
    return TensorDesc(tensor.type, tuple(None for _ in tensor.sizes))


@pytest.mark.slow
@pytest.mark.parametrize("entry", [each for each in RECORDED if "refused" not in each and each["asked"]])
def test_created_operators_do_not_fail_without_sizes(entry: Any) -> None:
    inputs, outputs = ([forget_sizes(raw) for raw in entry[part]] for part in ("inputs", "outputs"))
    attributes = {name: attribute_of(raw) for name, raw in entry.get("attributes", {}).items()}
    new_node = node(entry["operator"], inputs, outputs, attributes, entry["version"])
    assert new_node is not None
    result = outline(new_node, entry["version"])
    assert not isinstance(result, NotLowered)
    assert not [item for item in result if check_at(item, "6.4", "observed").accepted is False]
