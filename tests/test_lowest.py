"""The lowest accepting level, and what blocks each lower one."""

from __future__ import annotations

import pytest

import specgate
from specgate.spec.tables import dialect


def test_behaves_like_the_level_itself(one_hot) -> None:
    lowest = specgate.minimum(one_hot)
    assert lowest == "2.0"
    assert lowest != "3.0"
    assert bool(lowest)
    assert str(lowest) == "2.0"
    assert hash(lowest) == hash("2.0")
    assert lowest == specgate.minimum(specgate.descriptor(one_hot))
    assert str(lowest.levels) == "2.0..6.4"
    assert str(lowest.undecided) == "none"


def test_blockers_exist_for_every_lower_level(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["DataType"] = "INT64"
    lowest = specgate.minimum(one_hot)
    assert lowest == "3.0"
    assert {level: [f.id for f in blocked] for level, blocked in lowest.blockers.items()} == {
        "1.0": ["directml/ONE_HOT/level"],
        "2.0": ["directml/ONE_HOT/IndicesTensor.type"],
        "2.1": ["directml/ONE_HOT/IndicesTensor.type"],
    }


def test_no_level(one_hot) -> None:
    one_hot["desc"]["Axis"] = 9
    lowest = specgate.minimum(one_hot)
    assert not lowest
    assert lowest == None  # noqa: E711  # it compares as the level
    assert str(lowest) == "none"
    assert list(lowest.blockers) == list(dialect("directml").levels)
    assert all(lowest.blockers.values())


def test_answers_compare_by_all_their_contents(one_hot) -> None:
    first = specgate.minimum(one_hot)
    one_hot["desc"]["Axis"] = 9
    assert first != specgate.minimum(one_hot)
    assert specgate.minimum(one_hot) == specgate.minimum(one_hot)


@pytest.mark.parametrize(("name", "level"), [("onnx", "9"), ("openvino", "opset1")])
def test_other_dialects(name: str, level: str, onnx_one_hot, openvino_one_hot) -> None:
    data = {"onnx": onnx_one_hot, "openvino": openvino_one_hot}[name]
    assert specgate.minimum(data) == level
    assert specgate.minimum(data, name) == level


def test_no_table() -> None:
    with pytest.raises(specgate.NoTable):
        specgate.minimum({"op_type": "NoSuchOp"})
