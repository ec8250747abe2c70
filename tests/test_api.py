"""The functions behind `import specgate`."""

from __future__ import annotations

import json
from typing import Any

import pytest

import specgate
from specgate.targets import parse_target


def test_names() -> None:
    assert sorted(specgate.__all__) == specgate.__all__
    assert all(hasattr(specgate, name) for name in specgate.__all__)
    assert {"check", "descriptor", "execute", "lint", "minimum", "support"} <= set(specgate.__all__)


def test_three_errors() -> None:
    assert {specgate.InputError.__base__, specgate.NoTable.__base__, specgate.NoKernel.__base__} == {specgate.Error}
    error = specgate.InputError("expected x", file="f.json", place="desc.Axis")
    assert (str(error), error.file, error.place, error.message) == (
        "f.json: desc.Axis: expected x",
        "f.json",
        "desc.Axis",
        "expected x",
    )
    assert str(specgate.InputError("expected x")) == "expected x"


def test_the_same_verdict_however_it_is_asked(one_hot, tmp_path) -> None:
    path = tmp_path / "one_hot.json"
    path.write_text(json.dumps(one_hot), encoding="utf-8")
    read = specgate.descriptor(one_hot)
    assert specgate.descriptor(read) is read
    target = parse_target("directml:4.1")
    verdicts = [
        specgate.check(what, goal) for what in (one_hot, read, path, str(path)) for goal in ("directml:4.1", target)
    ]
    assert all(verdict == verdicts[0] for verdict in verdicts)
    assert verdicts[0].accepted is True


def test_checking_changes_nothing(one_hot) -> None:
    before = json.dumps(one_hot)
    specgate.check(one_hot, "directml:1.0")
    specgate.minimum(one_hot)
    assert json.dumps(one_hot) == before


def test_the_dialect_is_told_from_the_dicts_words(one_hot, onnx_one_hot, openvino_one_hot) -> None:
    found = [specgate.descriptor(data).dialect for data in (one_hot, onnx_one_hot, openvino_one_hot)]
    assert found == ["directml", "onnx", "openvino"]


def test_a_descriptor_of_another_dialect(one_hot) -> None:
    read = specgate.descriptor(one_hot)
    with pytest.raises(specgate.InputError, match="a descriptor of directml cannot be judged for onnx:17"):
        specgate.check(read, "onnx:17")
    with pytest.raises(specgate.InputError, match="a descriptor of directml cannot be executed for onnx:17"):
        specgate.execute(read, {}, "onnx:17")


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (None, "expected a descriptor as a dict, Descriptor, path or onnx.NodeProto, found NoneType"),
    "a number": (3, "expected a descriptor as a dict, Descriptor, path or onnx.NodeProto, found int"),
    "a list": ([{}], "expected a descriptor as a dict, Descriptor, path or onnx.NodeProto, found list"),
    "an empty dict": ({}, 'expected a descriptor of DirectML ("type", "desc"), ONNX ("op_type") or OpenVINO ("type", "data"); found the keys none'),
    "strange keys": ({"a": 1, 2: 3}, 'expected a descriptor of DirectML ("type", "desc"), ONNX ("op_type") or OpenVINO ("type", "data"); found the keys \'a\', 2'),
    "hostile keys": ({"\x1b[31m": 1, "x" * 9999: 3}, 'expected a descriptor of DirectML ("type", "desc"), ONNX'),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_descriptor(data: Any, message: str) -> None:
    with pytest.raises(specgate.InputError) as caught:
        specgate.descriptor(data)
    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_unknown_dialect(one_hot) -> None:
    with pytest.raises(specgate.InputError, match="unknown dialect 'tflite'; expected one of directml, onnx, openvino"):
        specgate.descriptor(one_hot, "tflite")


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_no_table(name: str) -> None:
    data = {
        "directml": {"type": "NOPE", "desc": {}},
        "onnx": {"op_type": "Nope"},
        "openvino": {"type": "Nope", "data": {}},
    }[name]
    with pytest.raises(specgate.NoTable, match=f"^{name} has no table for '(NOPE|Nope)'$"):
        specgate.check(data, {"directml": "directml:4.1", "onnx": "onnx:17", "openvino": "openvino:opset13"}[name])


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(specgate.InputError, match=r"nothing\.json: cannot be read: No such file or directory"):
        specgate.check(tmp_path / "nothing.json", "directml:4.1")


def test_support() -> None:
    table = specgate.support("directml", "ONE_HOT")
    assert table["levels"][0] == "2.0"
    assert json.loads(json.dumps(table)) == table
    with pytest.raises(specgate.NoTable):
        specgate.support("directml", "NOPE")
    with pytest.raises(specgate.InputError):
        specgate.support("nope", "ONE_HOT")


def test_execute_finds_the_newest_level(one_hot) -> None:
    arrays = {"IndicesTensor": [[[[0], [3], [2]]]], "ValuesTensor": [[[[0, 1]]]]}
    output = specgate.execute(one_hot, arrays)["OutputTensor"]
    assert output.tolist() == [[[[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]]]


@pytest.mark.parametrize("target", [3, None, ["onnx:17"], b"onnx:17"])
def test_a_target_of_another_kind_is_unusable_input(onnx_one_hot, target) -> None:
    with pytest.raises(specgate.InputError, match="expected a target"):
        specgate.check(onnx_one_hot, target)
