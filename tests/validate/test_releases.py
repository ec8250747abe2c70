"""Types that a release does not support yet."""

from __future__ import annotations

import pytest

import specgate
from specgate.spec.tables import dialect
from specgate.targets import parse_target
from specgate.validate.releases import newer_types


def convert(kind: str) -> dict[str, object]:
    return {
        "type": "Convert",
        "version": "opset1",
        "inputs": [{"element_type": kind, "shape": [2]}],
        "outputs": [],
        "data": {"destination_type": "f32"},
    }


@pytest.mark.parametrize(
    ("kind", "last_without", "first"),
    [
        ("nf4", "2023.1", "2023.2"),
        ("f8e4m3", "2023.3", "2024.0"),
        ("u2", "2024.0", "2024.1"),
        ("f8e8m0", "2024.2", "2024.3"),
    ],
)
def test_a_type_added_in_a_release(kind: str, last_without: str, first: str) -> None:
    refused = specgate.check(convert(kind), target=f"openvino:{last_without}", basis="observed")
    (result,) = [each for each in refused.findings if each.id == "openvino/tensor/type-release"]
    assert refused.accepted is False
    assert f"{kind}, which OpenVINO {last_without} does not support; {first} is the first" in result.message
    assert result.target == f"openvino:{last_without}"
    later = specgate.check(convert(kind), target=f"openvino:{first}", basis="observed")
    assert "openvino/tensor/type-release" not in [each.id for each in later.findings]


def test_a_level_names_no_release() -> None:
    assert newer_types(parse_target("openvino:opset13")) == {}
    assert newer_types(parse_target("openvino:2026.4")) == {}
    assert newer_types(parse_target("onnx:onnxruntime-1.16")) == {}
    assert set(newer_types(parse_target("openvino:2023.2"))) >= {"string", "f8e4m3", "u6"}
    documented = specgate.check(convert("u2"), target="openvino:2024.0", basis="documented")
    assert all("release" not in each.id for each in documented.findings)


def test_releases_of_types_are_releases() -> None:
    table = dialect("openvino")
    names = {str(entry["name"]) for entry in table.environments}
    firsts = {info["release"] for info in table.types.values() if info.get("release")}
    assert firsts
    assert firsts <= names


def test_the_rule_has_a_reference() -> None:
    assert "release" in str(specgate.rule("openvino/tensor/type-release").to_dict())
