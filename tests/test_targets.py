"""Targets: a dialect at a level, by the level or by a known release."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.targets import Target, _parsed, at_level, parse_target, parse_targets
from specgate.targets.listing import known_targets

LEVELS = {
    "directml:4.1": ("directml", "4.1"),
    "onnx:17": ("onnx", "17"),
    "onnx:opset17": ("onnx", "17"),
    "openvino:opset13": ("openvino", "opset13"),
    "openvino:13": ("openvino", "opset13"),
    "  directml:4.1\n": ("directml", "4.1"),
    "DirectML:4.1": ("directml", "4.1"),
    "directml:DML_FEATURE_LEVEL_5_0": ("directml", "5.0"),
    "directml:dml_feature_level_5_0": ("directml", "5.0"),
    "directml:0x5000": ("directml", "5.0"),
    "5.0": ("directml", "5.0"),
    "DML_FEATURE_LEVEL_5_0": ("directml", "5.0"),
    "0x6200": ("directml", "6.2"),
}


@pytest.mark.parametrize(("text", "expected"), LEVELS.items(), ids=[repr(text) for text in LEVELS])
def test_levels(text: str, expected: tuple[str, str]) -> None:
    target = parse_target(text)
    assert (target.dialect, target.level, target.alias) == (*expected, None)
    assert str(target) == target.described == ":".join(expected)


RELEASES = {
    "directml:windows-10-2004": ("2.0", "windows-10-2004"),
    "directml:windows-11-22h2": ("5.0", "windows-11-22h2"),
    "directml:Windows-11-22H2": ("5.0", "Windows-11-22H2"),
    "directml:Windows 11 24H2": ("6.2", "Windows 11 24H2"),
    "directml:Windows 11, version 24H2": ("6.2", "Windows 11, version 24H2"),
    "directml:win11-24h2": ("6.2", "win11-24h2"),
    "windows-11-24h2": ("6.2", "windows-11-24h2"),
    "onnxruntime-1.20": ("21", "onnxruntime-1.20"),
    "onnx:ONNX Runtime 1.20": ("21", "ONNX Runtime 1.20"),
    "2024.0": ("opset14", "2024.0"),
    "onnx:1.16": ("21", "1.16"),
    "onnx:1.16.3": ("21", "1.16.3"),
    "openvino:2024.0": ("opset14", "2024.0"),
    "openvino:2024.0.7": ("opset14", "2024.0.7"),
}


@pytest.mark.parametrize(("text", "expected"), RELEASES.items(), ids=RELEASES.keys())
def test_releases(text: str, expected: tuple[str, str]) -> None:
    target = parse_target(text)
    assert (target.level, target.alias) == expected
    assert target.environment
    assert str(target) == f"{target.dialect}:{expected[1]}"
    assert target.at_level == at_level(text) == f"{target.dialect}:{expected[0]}"
    assert target.described == f"{target} ({dialect(target.dialect).label(expected[0])})"


def test_a_release_has_its_ir_version() -> None:
    assert parse_target("onnx:17").ir_version == 8
    assert parse_target("onnx:1.16").ir_version == 10
    assert parse_target("openvino:2024.0").ir_version == 11
    assert parse_target("directml:4.1").ir_version is None


REFUSED: dict[str, tuple[Any, str]] = {
    "no colon": ("directml", "expected a target DIALECT:LEVEL such as directml:4.1 or onnx:17, found 'directml'"),
    "in several dialects": ("17", "expected a target DIALECT:LEVEL such as directml:4.1 or onnx:17, found '17'; did you mean onnx:17 or openvino:17?"),
    "in no dialect": ("opset99", "expected a target DIALECT:LEVEL such as directml:4.1 or onnx:17, found 'opset99'"),
    "latest of what": ("latest", "expected a target DIALECT:LEVEL such as directml:4.1 or onnx:17, found 'latest'; did you mean directml:latest or"),
    "no level": ("directml:", "expected a target DIALECT:LEVEL such as"),
    "no dialect": (":4.1", "unknown dialect ''; expected one of directml, onnx, openvino"),
    "empty": ("", "expected a target DIALECT:LEVEL such as"),
    "unknown dialect": ("tflite:3", "unknown dialect 'tflite'; expected one of directml, onnx, openvino"),
    "unknown level": ("directml:9.9", "unknown target 'directml:9.9': no feature level or release of DirectML; did you mean 6."),
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
def test_rejected(text: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_target(text)
    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@given(st.text(max_size=20), st.sampled_from(["", "directml:", "onnx:", "openvino:"]))
def test_any_text_is_a_target_or_rejected(text: str, start: str) -> None:
    try:
        target = parse_target(start + text)
    except InputError as error:
        assert str(error).isprintable()
    else:
        assert target.level in dialect(target.dialect).levels


def test_every_listed_target_is_accepted() -> None:
    rows = known_targets()
    for row in rows:
        target = parse_target(row["target"])
        assert target.level == row["level"]
    assert {row["target"].partition(":")[0] for row in rows} == {
        "directml", "onnx", "openvino", "openvino-cpu", "onnxruntime", "onnxruntime-directml",
    }  # fmt: skip
    assert {row["kind"] for row in known_targets(["openvino"])} >= {"opset", "release"}


def test_repetitions_are_dropped() -> None:
    assert parse_targets(["onnx:17", "openvino:13", "onnx:opset17", "openvino:opset13"]) == [
        Target("onnx", "17", ir_version=8),
        Target("openvino", "opset13", ir_version=11),
    ]
    assert parse_targets([]) == []


def test_the_target_cache_is_bounded() -> None:
    for spaces in range(1200):
        parse_target("onnx:17" + " " * spaces)
    assert len(_parsed) <= 1001


def test_latest_is_the_newest_level_that_is_finished() -> None:
    for name in ("directml", "onnx", "openvino"):
        table = dialect(name)
        target = parse_target(f"{name}:latest")
        newer = table.levels[table.position[target.level] + 1 :]
        infos = table.tables.levels
        assert all(infos[level].get("unfinished") for level in newer)
        assert not infos[target.level].get("unfinished")
        assert target.described == f"{name}:latest ({dialect(name).label(target.level)})"


def test_a_level_of_a_known_dialect() -> None:
    assert parse_target("5.0", "directml") == parse_target("directml:5.0")
    assert parse_target("17", "onnx") == parse_target("onnx:17")
    assert parse_target("17", "openvino") == parse_target("openvino:17")
    assert parse_target("onnx:17", "openvino") == parse_target("onnx:17")


def test_a_target_string_is_not_a_list_of_letters() -> None:
    assert parse_targets("onnx:17") == [parse_target("onnx:17")]
    assert parse_targets(parse_target("onnx:17")) == [parse_target("onnx:17")]


@pytest.mark.parametrize(
    "name", ["windows-10-22h2", "Windows 11 23H2", "win11 25h2", "Windows Server 2022", "server 2025"]
)
def test_a_release_without_a_documented_level(name: str) -> None:
    """Unknown releases are not guessed: the message names the way to look them up."""
    for text in (f"directml:{name}", name):
        with pytest.raises(InputError) as caught:
            parse_target(text)
        message = str(caught.value)
        assert message.startswith("no source states which version of DirectML Windows ")
        assert "DML_FEATURE_FEATURE_LEVELS" in message
        assert message.endswith("windows-11-22h2, windows-11-24h2")


@pytest.mark.parametrize(
    ("name", "expected", "level"),
    [
        ("directml", 5.0, "5.0"), ("directml", 5, "5.0"), ("directml", "5.0", "5.0"), ("directml", 4.1, "4.1"),
        ("onnx", 17, "17"), ("onnx", 17.0, "17"), ("openvino", 13, "opset13"), ("openvino", "13", "opset13"),
        ("onnx", True, None), ("onnx", None, None), ("onnx", [17], None), ("onnx", 99, None), ("onnx", "17.0", None),
        ("directml", "5", None), ("onnx", float("nan"), None), ("onnx", 10**50, None),
    ],
)  # fmt: skip
def test_a_level_by_a_number(name: str, expected: object, level: str | None) -> None:
    assert dialect(name).level_named(expected) == level


def test_a_number_too_long_to_print_is_not_a_level() -> None:
    assert dialect("onnx").level_named(10**5000) is None


def test_targets_of_one_implementation() -> None:
    target = parse_target("openvino-cpu:2026.4")
    assert (target.dialect, target.level, target.by) == ("openvino", "opset16", "cpu")
    assert str(target) == "openvino-cpu:2026.4"
    assert target.at_level == at_level("openvino-cpu:2026.4.1") == "openvino-cpu:opset16"
    assert parse_target("OpenVINO-CPU:latest").by == "cpu"
    assert parse_target("openvino:2026.4").by is None
    both = parse_targets(["openvino:2026.4", "openvino-cpu:2026.4", "openvino-cpu:2026.4.1"])
    assert [str(each) for each in both][:2] == ["openvino:2026.4", "openvino-cpu:2026.4"]
    rows = {row["target"]: row for row in known_targets(["openvino"])}
    assert rows["openvino-cpu:2026.4"]["level"] == "opset16"


@pytest.mark.parametrize("expected", ["2024.0", "opset16", "none", "2019.1"])
def test_releases_without_observations_of_an_implementation(expected: str) -> None:
    with pytest.raises(InputError, match=r"is known of 2026\.4 and 2026\.4\.1; for others: openvino:RELEASE"):
        parse_target(f"openvino-cpu:{expected}")
    assert at_level(f"openvino-cpu:{expected}") == f"openvino-cpu:{expected}"
