"""The level of each Windows build, from descriptors on which two levels differ."""

from __future__ import annotations

from typing import Any

import pytest

from specgate.dialects.directml.oracle import builds
from specgate.dialects.directml.oracle.builds import BUILDS, find_builds
from specgate.dialects.directml.oracle.oracle import DirectMLOracle

TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}
SOFTMAX: dict[str, Any] = {
    "type": "ACTIVATION_SOFTMAX1",
    "desc": {"InputTensor": TENSOR, "OutputTensor": TENSOR, "AxisCount": 1, "Axes": [3]},
}


def test_build_folders_are_unique() -> None:
    folders = [builds.library(build) for build in BUILDS]
    assert len(set(folders)) == len(folders)


def test_cached_5_1_build_is_not_used_as_5_0() -> None:
    (build,) = find_builds("5.0", "windows")
    assert builds.library(build).parent.name != build.level


@pytest.mark.oracle
@pytest.mark.parametrize(("level", "accepted"), [("5.0", False), ("5.1", True), ("5.2", True)])
def test_operators_of_5_1_exist_from_5_1_on(level: str, accepted: bool) -> None:
    (build,) = find_builds(level, "windows")
    missing = builds.missing(build)
    if missing:
        pytest.skip(f"DirectML {build.title} is not asked: {'; '.join(missing)}")
    with DirectMLOracle(level, build="windows") as oracle:
        assert oracle.accepts(SOFTMAX).accepted is accepted
