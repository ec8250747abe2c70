"""What ONNX Runtime asked of DirectML for hundreds of nodes, recorded with one build, is what the tables say."""

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
#: What the record has as a null pointer where there is nothing to point at.
EMPTY: Final[tuple[Any, ...]] = ([], None)


def plain(value: Any) -> Any:
    """Return a value so that FLOAT numbers compare as such, and operators by their fields."""
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
    made = node(entry["operator"], inputs, outputs, attributes, entry["version"])
    assert made is not None
    return lower(made, entry["version"])


def test_the_record_is_whole() -> None:
    assert len(RECORDED) > 500
    assert sum("refused" in entry for entry in RECORDED) > 20
    assert len({entry["operator"] for entry in RECORDED}) > 150


@pytest.mark.slow
@pytest.mark.parametrize("entry", RECORDED, ids=NAMES)
def test_the_tables_say_what_was_asked(entry: Any) -> None:
    found = lowered(entry)
    if not entry["asked"]:
        assert isinstance(found, NotLowered)
        assert found.kind == "refused"
        return
    asked = [plain(read(raw)) for raw in entry["asked"]]
    assert [plain(descriptor) for descriptor in found[: len(asked)]] == asked
    if "refused" not in entry:
        assert len(found) == len(asked)


@pytest.mark.slow
@pytest.mark.parametrize("entry", RECORDED, ids=NAMES)
def test_the_tables_of_directml_judge_as_the_build_did(entry: Any) -> None:
    found = lowered(entry)
    if isinstance(found, NotLowered):
        return
    taken = [check_at(descriptor, "6.4", "observed").accepted for descriptor in found[: len(entry["asked"])]]
    assert all(taken[:-1])
    assert taken[-1] is ("refused" not in entry)


def forgotten(raw: Any) -> TensorDesc | None:
    """Return a tensor with its rank and type alone."""
    found = tensor_of(raw)
    if found is None or found.sizes is None:
        return found
    return TensorDesc(found.type, tuple(None for _ in found.sizes))


@pytest.mark.slow
@pytest.mark.parametrize("entry", [each for each in RECORDED if "refused" not in each and each["asked"]])
def test_nothing_that_was_created_is_certain_to_fail_without_sizes(entry: Any) -> None:
    inputs, outputs = ([forgotten(raw) for raw in entry[part]] for part in ("inputs", "outputs"))
    attributes = {name: attribute_of(raw) for name, raw in entry.get("attributes", {}).items()}
    made = node(entry["operator"], inputs, outputs, attributes, entry["version"])
    assert made is not None
    found = outline(made, entry["version"])
    assert not isinstance(found, NotLowered)
    assert not [one for one in found if check_at(one, "6.4", "observed").accepted is False]
