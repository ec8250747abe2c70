"""Releases of ONNX Runtime as targets."""

from __future__ import annotations

import re

import pytest

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.registrations import known_releases
from specgate.targets import at_level, parse_target, parse_targets
from specgate.targets.listing import known_targets


@pytest.mark.parametrize(
    ("text", "spelt", "level", "below"),
    [
        ("onnxruntime:1.24.4", "onnxruntime:1.24.4", "25", ""),
        ("onnxruntime:1.24", "onnxruntime:1.24.4", "25", ""),
        ("ONNXRuntime-DirectML:1.24.4", "onnxruntime-directml:1.24.4", "25", "6.4"),
        ("onnxruntime-directml:1.24.4@5.0", "onnxruntime-directml:1.24.4@5.0", "25", "5.0"),
        (" onnxruntime-directml : 1.18.0 @ 0x5000 ", "onnxruntime-directml:1.18.0@5.0", "21", "5.0"),
        ("onnxruntime-directml:1.16.3", "onnxruntime-directml:1.16.3", "19", "6.1"),
    ],
)
def test_a_release_and_its_directml_level(text, spelt, level, below):
    target = parse_target(text)
    assert (str(target), target.dialect, target.level) == (spelt, "onnx", level)
    assert target.runtime is not None
    assert target.runtime.level == below
    assert target.at_level == at_level(text) == spelt


def test_properties_of_a_runtime_target():
    runtime = parse_target("onnxruntime-directml:1.24.4@5.0").runtime
    assert runtime is not None
    assert (runtime.package, runtime.release, runtime.below) == ("onnxruntime-directml", "1.24.4", "directml")
    assert runtime.providers == runtime.registered == ("DirectML", "CPU")
    assert (runtime.opsets[""], runtime.opsets["com.microsoft"], runtime.ir_version) == (25, 1, 13)
    assert parse_target("onnxruntime-directml:1.24.4@5.0").to_dict()["environment"] == (
        "ONNX Runtime 1.24.4 with DirectML at feature level 5.0"
    )


def test_the_cpu_of_an_early_release_may_be_unknown():
    runtime = parse_target("onnxruntime-directml:1.13.1").runtime
    assert runtime is not None
    assert runtime.registered == ("DirectML",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("onnxruntime-directml:1.24.9", r"unknown release '1\.24\.9' of onnxruntime-directml; did you mean 1\.24\.\d"),
        ("onnxruntime:1.9", r"unknown release '1\.9' of onnxruntime; did you mean"),
        ("onnxruntime:1.13.1", r"the kernels of CPU in onnxruntime:1\.13\.1 are unknown; known: 1\.16\.0 to 1\."),
        ("onnxruntime-directml:1.24.4@9.9", r"unknown feature level '9\.9' after @; levels: 1\.0, 2\.0"),
        ("onnxruntime-directml:1.24.4@", r"unknown feature level '' after @"),
        ("onnxruntime:1.24.4@5.0", "onnxruntime does not contain another library"),
    ],
)
def test_unknown_targets_are_rejected_with_known_releases(text, message):
    with pytest.raises(InputError, match=message):
        parse_target(text)
    assert at_level(text) == text


def test_other_spellings_of_a_release_stay_levels():
    target = parse_target("onnx:onnxruntime-1.16")
    assert (target.level, target.runtime) == ("19", None)


def test_two_levels_below_are_two_targets():
    both = parse_targets(["onnxruntime-directml:1.24", "onnxruntime-directml:1.24.4", "onnxruntime-directml:1.24@5.0"])
    assert list(map(str, both)) == ["onnxruntime-directml:1.24.4", "onnxruntime-directml:1.24.4@5.0"]


def test_every_known_release_is_listed_with_its_library():
    rows = {
        row["target"]: row for row in known_targets(["onnx"]) if row["kind"] == "runtime" and "@" not in row["name"]
    }
    first = {release.target: release.providers[0] in release.registered for release in known_releases()}
    assert {target for target, facts in first.items() if facts} <= rows.keys()
    assert not {target for target, facts in first.items() if not facts} & rows.keys()
    assert rows["onnxruntime-directml:1.24.4"]["via"] == "DirectML 1.15.4"
    assert all(re.fullmatch(r"\d+", row["level"]) for row in rows.values())
