"""Targets: a dialect at a level, by the level or by a release that users know."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate import targets
from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.targets import Target, at_level, known_targets, parse_target, parse_targets

LEVELS = {
    "directml:4.1": ("directml", "4.1"),
    "onnx:17": ("onnx", "17"),
    "onnx:opset17": ("onnx", "17"),
    "openvino:opset13": ("openvino", "opset13"),
    "openvino:13": ("openvino", "opset13"),
    "  directml:4.1\n": ("directml", "4.1"),
}


@pytest.mark.parametrize(("text", "wanted"), LEVELS.items(), ids=[repr(text) for text in LEVELS])
def test_levels(text: str, wanted: tuple[str, str]) -> None:
    target = parse_target(text)
    assert (target.dialect, target.level, target.alias) == (*wanted, None)
    assert str(target) == target.described == ":".join(wanted)


RELEASES = {
    "directml:windows-10-2004": ("2.0", "windows-10-2004"),
    "directml:windows-11-22h2": ("5.0", "windows-11-22h2"),
    "directml:Windows-11-22H2": ("5.0", "Windows-11-22H2"),
    "onnx:1.16": ("21", "1.16"),
    "onnx:1.16.3": ("21", "1.16.3"),
    "openvino:2024.0": ("opset14", "2024.0"),
    "openvino:2024.0.7": ("opset14", "2024.0.7"),
}


@pytest.mark.parametrize(("text", "wanted"), RELEASES.items(), ids=RELEASES.keys())
def test_releases(text: str, wanted: tuple[str, str]) -> None:
    target = parse_target(text)
    assert (target.level, target.alias) == wanted
    assert target.environment
    assert str(target) == f"{target.dialect}:{wanted[1]}"
    assert target.at_level == at_level(text) == f"{target.dialect}:{wanted[0]}"
    assert target.described == f"{target} ({dialect(target.dialect).spoken(wanted[0])})"


def test_a_release_says_what_it_reads() -> None:
    assert parse_target("onnx:17").ir_version == 8
    assert parse_target("onnx:1.16").ir_version == 10
    assert parse_target("openvino:2024.0").ir_version == 11
    assert parse_target("directml:4.1").ir_version is None


REFUSED: dict[str, tuple[Any, str]] = {
    "no colon": ("directml", "expected a target DIALECT:LEVEL such as directml:4.1 or onnx:17, found 'directml'"),
    "no level": ("directml:", "expected a target DIALECT:LEVEL such as"),
    "no dialect": (":4.1", "unknown dialect ''; expected one of directml, onnx, openvino"),
    "empty": ("", "expected a target DIALECT:LEVEL such as"),
    "unknown dialect": ("tflite:3", "unknown dialect 'tflite'; expected one of directml, onnx, openvino"),
    "another spelling": ("DirectML:4.1", "unknown dialect 'DirectML'"),
    "unknown level": ("directml:9.9", "unknown target 'directml:9.9': no feature level or release of DirectML; levels: 1.0, 2.0"),
    "near miss": ("directml:windows-11-22h1", "unknown target 'directml:windows-11-22h1': no feature level or release of DirectML; did you mean windows-11-22h2 or"),
    "opset of a feature level": ("directml:opset4.1", "unknown target 'directml:opset4.1'"),
    "opset twice": ("openvino:opsetopset13", "unknown target 'openvino:opsetopset13'"),
    "future opset": ("onnx:99", "unknown target 'onnx:99': no opset or release of ONNX; "),
    "control characters": ("onnx:\x1b[31m\n9", r"unknown target 'onnx:\x1b[31m\n9'"),
    "long": ("onnx:" + "9" * 100_000, "unknown target 'onnx:9999"),
    "long dialect": ("x" * 100_000 + ":1", "unknown dialect 'xxxx"),
    "a number": (17, "expected a target such as directml:4.1, found 17"),
    "a list": (["onnx:17"], "expected a target such as directml:4.1, found ['onnx:17']"),
    "nothing": (None, "expected a target such as directml:4.1, found None"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_target(text)
    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@given(st.text(max_size=20), st.sampled_from(["", "directml:", "onnx:", "openvino:"]))
def test_any_text_is_a_target_or_refused(text: str, start: str) -> None:
    try:
        target = parse_target(start + text)
    except InputError as error:
        assert str(error).isprintable()
    else:
        assert target.level in dialect(target.dialect).levels


def test_every_listed_target_can_be_asked_for() -> None:
    rows = known_targets()
    for row in rows:
        target = parse_target(row["target"])
        assert target.level == row["level"]
    assert {row["target"].partition(":")[0] for row in rows} == {"directml", "onnx", "openvino"}
    assert {row["kind"] for row in known_targets(["openvino"])} >= {"opset", "release"}


def test_repetitions_are_dropped() -> None:
    assert parse_targets(["onnx:17", "openvino:13", "onnx:opset17", "openvino:opset13"]) == [
        Target("onnx", "17", ir_version=8),
        Target("openvino", "opset13", ir_version=11),
    ]
    assert parse_targets([]) == []


def test_what_is_remembered_stays_small() -> None:
    for spaces in range(1200):
        parse_target("onnx:17" + " " * spaces)
    assert len(targets._parsed) <= 1001
